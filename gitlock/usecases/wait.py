"""Standing in the queue until it is our turn, or until the time is up.

A waiter sleeps on its bell. Whoever frees something rings for those whose turn it is (``hand_on``). What nobody rings
for is found by looking: once a second at the one process that we wait for (the holder's, or that of the waiter before
us), which costs microseconds; at the store when a lease in the way expires, and now and then where it has changed (a
ringer that was killed).
"""

import os
import time

from gitlock.domain.claim import Clash, Granted, Refused
from gitlock.domain.holding import Wanted, plan_release
from gitlock.domain.lease import Holder
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.standing import DEAD, LIVE, may_end_in
from gitlock.domain.turn import Deadlock, Queued, deadlock_of, plan_join, plan_leave, plan_offers
from gitlock.domain.value import Value
from gitlock.errors import Interrupted, StoreBusy, StoreError, StoreUnavailable
from gitlock.usecases.claim import ClaimOutcome, Wish, ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.conflict import Conflict
    from gitlock.domain.lease import Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.stores.protocol import Bell, LeaseStore
    from gitlock.usecases.claim import Join

LOOK = 1.0  # seconds between looks at the process that we wait for: a dead holder is noticed within that
STOPPED_LOOK = 10.0  # the same where the system tells us that it ended, and only a stopped one has to be looked for
WATCHED = 16  # processes that one waiter watches at most
CHECK = 15.0  # seconds between looks at the store, where it has changed since: a ring may have been lost
TICKET_LOOK = 2.0  # seconds between looks of whoever stands behind a ticket, which has no process and is not rung for
WORD_EVERY = 20.0  # seconds between words to those who can't see our process; they believe three times as long
TROUBLE = 60.0  # seconds that a store may be out of reach before the wait is given up


class Stop:
    """A wish to give up the wait, made by a signal handler at any moment; heard where nothing is half done."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.bell: Bell | None = None

    def ask(self, number: int) -> None:
        """The first one counts."""
        if self.number is None:
            self.number = number
        if self.bell is not None:
            self.bell.ring()

    def attach(self, bell: "Bell") -> "Callable[[], None]":
        """From now on a signal wakes whoever sleeps on the bell, also in the moment before it falls asleep; answers
        what undoes that."""
        import _signal as signal  # type: ignore[import-not-found]  # the public module imports enum, dearer than the wait

        self.bell = bell
        try:
            before = signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
        except ValueError:  # not in the main thread, where no signals arrive
            return lambda: None
        resumed = getattr(signal, "SIGCONT", None)  # we were stopped, and may have lost our place: a ring as well
        old = signal.signal(resumed, lambda *_: bell.ring()) if resumed is not None else None

        def detach() -> None:
            self.bell = None
            signal.set_wakeup_fd(before)
            if resumed is not None:
                signal.signal(resumed, old)

        return detach


class TimedOut(Value):
    """The time was up first. ``last`` is what stood in the way then."""

    __slots__ = ("last", "waited")

    def __init__(self, last: Refused, waited: float) -> None:
        self.last = last
        self.waited = waited


class Waited(Value):
    """``outcome`` as of a claim; its answer may be ``TimedOut``'s ``last``. ``timed_out`` is set then."""

    __slots__ = ("outcome", "seconds", "timed_out")

    def __init__(self, outcome: ClaimOutcome, seconds: float, timed_out: TimedOut | None = None) -> None:
        self.outcome = outcome
        self.seconds = seconds
        self.timed_out = timed_out


def new_waiter_id() -> str:
    """A name for a place in the queue; also that of a ticket."""
    return "t" + os.urandom(6).hex()


def claim_in_turn(
    store: "LeaseStore",
    wish: Wish,
    *,
    process: Holder,
    timeout: float | None,
    queued: "Callable[[Queued], None]",
    stop: Stop,
) -> Waited:
    """Claims, and waits if it must: first come, first served. ``queued`` is told once, when the waiting begins.

    Whatever ends the wait gives up the place; ``Interrupted`` where that was a signal. A wait that would never end is
    refused at once.
    """
    began = time.monotonic()
    waiter_id = new_waiter_id()
    bell = store.bell(waiter_id)
    detach = stop.attach(bell)
    try:
        join = joining(wish, waiter_id, process)
        waited = Waited(ask(store, wish, join=join), time.monotonic() - began)
        if isinstance(waited.outcome.answer, Queued):
            try:
                queued(waited.outcome.answer)
                waited = _stand(store, wish, bell, waited.outcome, join, began, timeout, stop)
            except BaseException:
                _leave_quietly(store, waiter_id, "gave up", wish)
                raise
        if stop.number is not None:
            _undo(store, wish, waited.outcome)
            raise Interrupted(stop.number)
        return waited
    finally:
        detach()
        bell.close()


def joining(wish: Wish, waiter_id: str, process: Holder | None) -> "Join":
    """What makes a refusal into a place in the queue: of a process, or (None) of a ticket.

    Who has a place keeps it, unless its wait has come to close a ring since, and it was the last to come.
    """

    def join(
        snapshot: Snapshot, refused: Refused, place: Waiter | None
    ) -> "tuple[Edits, Refused | Queued | Deadlock]":
        conflicts = refused.conflicts
        if place is None:
            return plan_join(
                snapshot, wish.claim, waiter_id, process, conflicts, refused.ahead, wish.fold, wish.facts
            )
        found = deadlock_of(place, snapshot, conflicts, wish.fold, wish.facts)
        if found is None or found.ring.last != place.order:
            return NOTHING, refused
        event = Event("leave", place.agent, place.title, place.id, note="deadlock")
        return Edits(leave=(place.id,), events=(event,)), found

    return join


def _stand(
    store: "LeaseStore",
    wish: Wish,
    bell: "Bell",
    outcome: ClaimOutcome,
    join: "Join",
    began: float,
    timeout: float | None,
    stop: Stop,
) -> Waited:
    assert isinstance(outcome.answer, Queued)
    waiter = outcome.answer.waiter
    end = None if timeout is None else began + timeout
    trouble: float | None = None
    while True:
        rung = bell.wait(LOOK) if trouble is not None else _sleep(store, wish.facts, bell, outcome, end, stop)
        waited = time.monotonic() - began
        if stop.number is not None:
            raise Interrupted(stop.number)
        try:
            outcome = ask(store, wish, place=waiter, join=join, peek=not rung)
        except (StoreBusy, StoreUnavailable):
            trouble = waited if trouble is None else trouble
            if waited - trouble > TROUBLE or (end is not None and time.monotonic() >= end):
                raise
            continue
        trouble = None
        answer = outcome.answer
        if isinstance(answer, Queued):  # we were stopped meanwhile, and lost the place: this is a new one
            waiter = answer.waiter
        elif not isinstance(answer, Refused):
            if isinstance(answer, Granted):
                hand_on(store, wish.fold, wish.facts)  # who stands behind somebody that this blocks may go before it
            return Waited(outcome, waited)
        elif end is not None and time.monotonic() >= end:
            leave(store, waiter.id, "timed out", wish.fold, wish.facts)
            return Waited(outcome, waited, TimedOut(answer, waited))


def _sleep(
    store: "LeaseStore", facts: "Facts", bell: "Bell", outcome: ClaimOutcome, end: float | None, stop: Stop
) -> bool:
    """Returns when rung (True), or when there may be something new."""
    answer = outcome.answer
    assert isinstance(answer, (Queued, Refused))
    ahead = answer.ahead[0] if answer.ahead else None
    now = time.monotonic()
    until = [] if end is None else [end]
    until += [now + lease.ttl / 3 for lease in outcome.beat.held]  # who waits is alive: what it holds is renewed
    watched: list[Holder] = []
    if ahead is None:
        until += [now + max(0.01, _may_end_in(one, outcome) + 0.005) for one in answer.conflicts]
        watched = [one.lease.holder for one in answer.conflicts if one.standing == LIVE]
    elif ahead.process is None:
        until.append(now + TICKET_LOOK)
    else:
        watched = [ahead.process]
    fds = [facts.watch(holder) for holder in watched if holder.pid is not None]
    pause = STOPPED_LOOK
    if -1 in fds or len(fds) > WATCHED:
        pause = LOOK
    fds = [fd for fd in fds if fd >= 0]
    check, trace, word = now + CHECK, store.trace(), now
    try:
        while stop.number is None and all(now < moment for moment in until):
            if bell.wait(min([pause, *(moment - now for moment in until)]), fds):
                return True
            now = time.monotonic()
            if _gone(answer, facts) if ahead is None else not facts.process_waits(ahead):
                return False
            if now >= check:
                if store.trace() != trace:
                    return False
                check = now + CHECK
            if now - word >= WORD_EVERY:
                bell.give_word()
                word = now
        return False
    finally:
        for fd in fds:
            os.close(fd)


def until_free(
    store: "LeaseStore", wish: Wish, timeout: float | None, waiting: "Callable[[Refused], object]"
) -> "tuple[Granted | Clash | Refused, float]":
    """Blocks until the wish could be granted; takes nothing, and no place either. ``waiting`` is told once. Answers
    what would become of it (``Refused`` where the time was up), and how many seconds that took."""
    began = time.monotonic()
    first = True
    while True:
        trace = store.trace()
        outcome = ask(store, wish, dry_run=True)
        answer, now = outcome.answer, time.monotonic()
        assert isinstance(answer, (Granted, Clash, Refused))
        if not isinstance(answer, Refused) or (timeout is not None and now - began >= timeout):
            return answer, now - began
        if first:
            waiting(answer)
            first = False
        ends = [] if timeout is None else [began + timeout]
        ends += [now + max(0.01, _may_end_in(one, outcome) + 0.005) for one in answer.conflicts]
        ahead = [one for one in answer.ahead if not one.is_ticket]
        ends += [now + TICKET_LOOK] if answer.ahead and not ahead else []
        while now < min(ends, default=now + 1) and store.trace() == trace:
            store.watch(trace, min([LOOK, *(end - now for end in ends)]))
            now = time.monotonic()
            if _gone(answer, wish.facts) or not all(wish.facts.process_waits(one) for one in ahead):
                break


def _may_end_in(conflict: "Conflict", outcome: ClaimOutcome) -> float:
    return may_end_in(conflict.lease, outcome.now, conflict.standing)


def _gone(answer: "Refused | Queued", facts: "Facts") -> bool:
    """Whether the process of somebody who holds it has died since it was looked at."""
    return any(
        one.standing == LIVE and one.lease.holder.pid is not None and facts.liveness(one.lease) == DEAD
        for one in answer.conflicts
    )


def leave(store: "LeaseStore", waiter_id: str, why: str, fold: "Fold", facts: "Facts") -> Waiter | None:
    """Gives up a place, and rings for whoever is next."""

    def plan(snapshot: Snapshot) -> tuple[Edits, Waiter | None]:
        return plan_leave(snapshot, waiter_id, why)

    left = store.update(plan)
    if left is not None:
        hand_on(store, fold, facts, (left,))
    return left


def _leave_quietly(store: "LeaseStore", waiter_id: str, why: str, wish: Wish) -> None:
    try:
        leave(store, waiter_id, why, wish.fold, wish.facts)
    except StoreError:
        return  # our process ends now, and with it the place


def _undo(store: "LeaseStore", wish: Wish, outcome: ClaimOutcome) -> None:
    """Gives back what was granted in the very moment of the signal: who is told of an interrupt holds nothing new."""
    answer = outcome.answer
    if not isinstance(answer, Granted) or answer.already or answer.upgraded:
        return
    lease = answer.lease
    named = (Wanted(lease.id, frozenset((lease.id,))),)

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        return plan_release(snapshot, lease.agent, named, wish.fold)[0], None

    store.update(plan)
    hand_on(store, wish.fold, wish.facts, (lease,))


def hand_on(
    store: "LeaseStore", fold: "Fold", facts: "Facts", freed: "tuple[Lease | Waiter, ...] | None" = None
) -> None:
    """After something was freed: rings for those whose turn it is, and stamps the offers of tickets among them.

    What was freed stays so, and waiters also look by themselves: a store that is out of reach now is no failure.
    """

    def plan(now: Snapshot) -> tuple[Edits, list[Waiter]]:
        return plan_offers(now, fold, facts, freed)

    try:
        snapshot = store.read()
        if not snapshot.waiters.count():
            return
        edits, ready = plan(snapshot)
        if not edits.is_empty:
            ready = store.update(plan)
    except StoreError:
        return
    store.ring([waiter.id for waiter in ready if not waiter.is_ticket])
