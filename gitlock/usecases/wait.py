"""Standing in the queue until it is our turn, or until the time is up.

A waiter sleeps on its bell. Whoever frees something rings for those whose turn it is (``hand_on``). What nobody rings
for - a lease that expires, a holder that dies, a ringer that was killed - is found by looking: the first in line looks
once a second, those behind it ever more rarely.
"""

import os
import time

from gitlock.domain.claim import Refused
from gitlock.domain.lease import Holder
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.turn import Deadlock, Queued, plan_join, plan_leave, plan_offers
from gitlock.domain.value import Value
from gitlock.usecases.claim import ClaimOutcome, Wish, ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.stores.protocol import Bell, LeaseStore
    from gitlock.usecases.claim import Join

LOOK = 1.0  # seconds between looks of the first in line: a dead holder is noticed within that
PATIENCE = 30.0  # seconds between looks, at most, of those behind it


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
    chain: frozenset[str] = frozenset(),
) -> Waited:
    """Claims, and waits if it must: first come, first served. ``queued`` is told once, when the waiting begins.

    Whatever ends the wait (a signal included) gives up the place. A wait that would never end is refused at once.
    """
    began = time.monotonic()
    waiter_id = new_waiter_id()
    bell = store.bell(waiter_id)
    try:
        outcome = ask(store, wish, join=joining(wish, waiter_id, process, chain))
        answer = outcome.answer
        if not isinstance(answer, Queued):
            return Waited(outcome, time.monotonic() - began)
        try:
            queued(answer)
            return _stand(store, wish, bell, answer, began, timeout)
        except BaseException:
            leave(store, waiter_id, "interrupted", wish.fold, wish.facts)
            raise
    finally:
        bell.close()


def joining(
    wish: Wish, waiter_id: str, process: Holder | None, chain: frozenset[str] = frozenset()
) -> "Join":
    """What makes a refusal into a place in the queue: of a process, or (None) of a ticket."""

    def join(snapshot: Snapshot, refused: Refused) -> "tuple[Edits, Queued | Deadlock]":
        return plan_join(
            snapshot, wish.claim, waiter_id, process, refused.conflicts, refused.ahead, wish.fold, wish.facts, chain
        )

    return join


def _stand(
    store: "LeaseStore", wish: Wish, bell: "Bell", place: Queued, began: float, timeout: float | None
) -> Waited:
    waiter = place.waiter
    pause = LOOK
    while True:
        left = None if timeout is None else timeout - (time.monotonic() - began)
        rung = bell.wait(pause if left is None else max(0.0, min(pause, left)))
        outcome = ask(store, wish, place=waiter)
        answer = outcome.answer
        if not isinstance(answer, Refused):
            return Waited(outcome, time.monotonic() - began)
        waited = time.monotonic() - began
        if timeout is not None and waited >= timeout:
            leave(store, waiter.id, "timed out", wish.fold, wish.facts)
            return Waited(outcome, waited, TimedOut(answer, waited))
        pause = _pause(answer, store, rung=rung, before=pause)


def _pause(answer: Refused, store: "LeaseStore", *, rung: bool, before: float) -> float:
    """How long to sleep: until the first lease in the way expires, or until it is time to look again."""
    if answer.ahead and not rung:
        return min(PATIENCE, before * 2)
    if answer.ahead:
        return LOOK * 2
    now = store.read().now
    ends = [conflict.lease.left(now) for conflict in answer.conflicts]
    return max(0.01, min([LOOK, *(left + 0.005 for left in ends if left > 0)]))


def leave(store: "LeaseStore", waiter_id: str, why: str, fold: "Fold", facts: "Facts") -> Waiter | None:
    """Gives up a place, and rings for whoever is next."""

    def plan(snapshot: Snapshot) -> tuple[Edits, Waiter | None]:
        return plan_leave(snapshot, waiter_id, why)

    left = store.update(plan)
    hand_on(store, fold, facts)
    return left


def hand_on(store: "LeaseStore", fold: "Fold", facts: "Facts") -> None:
    """After something was freed: rings for those whose turn it is, and stamps the offers of tickets among them."""
    snapshot = store.read()
    if not snapshot.waiters.count():
        return
    edits, ready = plan_offers(snapshot, fold, facts)
    if not edits.is_empty:

        def plan(now: Snapshot) -> tuple[Edits, list[Waiter]]:
            return plan_offers(now, fold, facts)

        ready = store.update(plan)
    store.ring([waiter.id for waiter in ready if not waiter.is_ticket])
