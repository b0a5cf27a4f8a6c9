"""What every command that waits shares: the time, the signals, and the words for a queue, a ticket and a ring."""

import os
import signal

from gitlock.domain.duration import parse_duration
from gitlock.domain.turn import Deadlock, Queued
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import told
from gitlock.entrypoints.cli.granting import refusal
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer, write
from gitlock.entrypoints.outcomes import deadlock_line, queued_line, vain_line
from gitlock.entrypoints.wording import visible
from gitlock.errors import UsageError
from gitlock.usecases.claim import Wish
from gitlock.usecases.wait import Stop, Waited, claim_in_turn
from gitlock.wiring.attendance import attend_waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from gitlock.domain.claim import Refused
    from gitlock.wiring.site import Site

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # signals that end a wait, unless they were ignored when we came (nohup)


def wanted_timeout(given: Given) -> float | None:
    """Seconds to wait at most; None for as long as it takes."""
    text = given.text("timeout")
    if text is None:
        return None
    if given.flag("no_wait"):
        raise UsageError("--timeout and --no-wait exclude each other")
    return parse_duration(text, what="timeout")


def wait_for(given: Given, site: "Site", wish: Wish, stop: Stop | None = None) -> Waited:
    """Claims in turn, as a process that says so on standard error. A signal gives up the place: ``Interrupted``."""
    taken_back: list[Callable[[], None]] = []

    def queued(place: Queued) -> None:
        waiting_line(given, site, place)
        taken_back.append(attend_waiting(site, place.waiter.title))

    process = site.here.holder(pid=os.getpid(), worktree=None, branch=None, session=None, clone=site.clone)
    given_up = Stop() if stop is None else stop
    restore = catch(given_up.ask)
    try:
        return claim_in_turn(
            site.store, wish, process=process, timeout=wanted_timeout(given), queued=queued, stop=given_up
        )
    finally:
        restore()
        for take_back in taken_back:
            take_back()


def waiting_line(given: Given, site: "Site", found: "Queued | Refused") -> None:
    """Says, once, who is waited for."""
    if given.flag("json") or given.flag("quiet"):
        return
    names = [conflict.lease.agent for conflict in found.conflicts] + [one.agent for one in found.ahead]
    own = f"{site.agent.id} (another command of yours)"
    who = [own if name == site.agent.id else name for name in dict.fromkeys(names)]
    write(2, f"git-lock: waiting for {', '.join(map(visible, who))}")


def catch(act: "Callable[[int], object]") -> "Callable[[], None]":
    """Has ``act`` called with the number of each signal that would end us; answers what undoes that."""
    before = {}

    def handle(number: int, _: "FrameType | None") -> None:
        act(number)

    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handle)

    def restore() -> None:
        for number, old in before.items():
            signal.signal(number, old)

    return restore


def not_granted(site: "Site", waited: Waited, typed: str) -> Answer | None:
    """The answer where the wait ended without a lease; None where there is one (or a refusal of another kind), and
    then nobody was told anything yet."""
    answer = waited.outcome.answer
    if not isinstance(answer, Deadlock) and waited.timed_out is None:
        return None
    notes = told(site, waited.outcome.beat, site.now(), waited.outcome.notice)
    if isinstance(answer, Deadlock):
        return deadlock(answer, notes)
    if waited.timed_out is not None:
        prefix = vain_line(waited.seconds)
        return refusal(
            site, waited.timed_out.last, typed, notes, code=exitcodes.TIMED_OUT, id="timed-out", prefix=prefix
        )
    return None


def deadlock(answer: Deadlock, notes: list[str]) -> Answer:
    """A wait that would never end, with its ring."""
    steps = answer.ring.steps
    data = {"ring": [{"agent": step.agent, "claim": envelope.name(step.claim)} for step in steps]}
    fault = envelope.error("deadlock", deadlock_line(answer), "git lock mine")
    return Answer(exitcodes.DEADLOCK, notes=notes, fault=fault, data=data)


def ticket(site: "Site", place: Queued, ahead: int, notes: list[str]) -> Answer:
    """A durable place in the queue."""
    waiter = place.waiter
    now = site.now()
    resume = f"git lock claim --resume {waiter.id}"
    turn = waiter.offered is not None
    data = {"ticket": {"id": waiter.id, "claim": envelope.name(waiter.title), "ahead": ahead, "offered": turn}}
    conflicts = [envelope.conflict_json(one, now) for one in place.conflicts]
    fault = envelope.error("queued", queued_line(waiter, ahead, now), resume, conflicts)
    return Answer(exitcodes.QUEUED, lines=[waiter.id], notes=notes, data=data, fault=fault)
