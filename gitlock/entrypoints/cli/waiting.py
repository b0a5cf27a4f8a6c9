"""What every command that waits shares: the time, the signals, and the words for a queue, a ticket and a ring."""

import os

from gitlock.domain.duration import parse_duration, show_duration
from gitlock.domain.queue import OFFER
from gitlock.domain.turn import Deadlock, Queued
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.granting import refusal
from gitlock.entrypoints.cli.options import VALUE, Given, Option
from gitlock.entrypoints.cli.output import Answer, write
from gitlock.entrypoints.wording import visible
from gitlock.errors import Interrupted, UsageError
from gitlock.usecases.claim import Wish
from gitlock.usecases.wait import Waited, claim_in_turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from gitlock.wiring.site import Site

WAITING = (
    Option("--wait", help="Wait for it, first come, first served."),
    Option("--no-wait", help="Refuse at once if it is held."),
    Option("--timeout", kind=VALUE, metavar="TIME", help="Wait at most that long: 90s, 20m."),
)


def wanted_timeout(given: Given) -> float | None:
    """Seconds to wait at most; None for as long as it takes."""
    text = given.text("timeout")
    if text is None:
        return None
    if given.flag("no_wait"):
        raise UsageError("--timeout and --no-wait exclude each other")
    return parse_duration(text, what="timeout")


def chain_of(site: "Site") -> frozenset[str]:
    """The leases that are held by the commands that we run under."""
    return frozenset(site.environ.get("GITLOCK_LEASES", "").split())


def wait_for(given: Given, site: "Site", wish: Wish, *, quiet: bool = False) -> Waited:
    """Claims in turn, as a process that says so on standard error. A signal gives up the place."""

    def queued(place: Queued) -> None:
        if quiet or given.flag("json") or given.flag("quiet"):
            return
        who = [conflict.lease.agent for conflict in place.conflicts] + [one.agent for one in place.ahead]
        write(2, f"git-lock: waiting for {', '.join(visible(name) for name in dict.fromkeys(who))}")

    process = site.here.holder(pid=os.getpid(), worktree=None, branch=None, session=None, clone=site.clone)
    restore = _raise_on_signals()
    try:
        return claim_in_turn(
            site.store, wish, process=process, timeout=wanted_timeout(given), queued=queued, chain=chain_of(site)
        )
    finally:
        restore()


def not_granted(site: "Site", waited: Waited, typed: str, notes: list[str]) -> Answer | None:
    """The answer where the wait ended without a lease; None where there is one (or a refusal of another kind)."""
    answer = waited.outcome.answer
    if isinstance(answer, Deadlock):
        return deadlock(answer, notes)
    if waited.timed_out is not None:
        prefix = f"waited {show_duration(waited.seconds)} in vain: "
        return refusal(
            site, waited.timed_out.last, typed, notes, code=exitcodes.TIMED_OUT, id="timed-out", prefix=prefix
        )
    return None


def deadlock(answer: Deadlock, notes: list[str]) -> Answer:
    """A wait that would never end, with its ring."""
    steps = answer.ring.steps
    ring = [f"{visible(agent)} (wants '{visible(want)}')" for agent, want in steps]
    message = f"this wait would never end: {' -> '.join([*ring, visible(steps[0][0])])}"
    fault = envelope.error("deadlock", message, "git lock mine")
    data = {"ring": [{"agent": agent, "claim": envelope.name(want)} for agent, want in steps]}
    return Answer(exitcodes.DEADLOCK, notes=notes, fault=fault, data=data)


def ticket(site: "Site", place: Queued, ahead: int, notes: list[str]) -> Answer:
    """A durable place in the queue."""
    waiter = place.waiter
    now = site.now()
    resume = f"git lock claim --resume {waiter.id}"
    turn = waiter.offered is not None
    message = (
        f"it is your turn: take it within {show_duration(OFFER - now.since(waiter.offered))}"
        if waiter.offered is not None
        else f"queued for '{visible(waiter.title)}', {ahead} before you"
    )
    data = {"ticket": {"id": waiter.id, "claim": envelope.name(waiter.title), "ahead": ahead, "offered": turn}}
    conflicts = [envelope.conflict_json(one, now) for one in place.conflicts]
    fault = envelope.error("queued", message, resume, conflicts)
    return Answer(exitcodes.QUEUED, lines=[waiter.id], notes=notes, data=data, fault=fault)


def _raise_on_signals() -> "Callable[[], None]":
    import signal

    def interrupt(number: int, _: "FrameType | None") -> None:
        raise Interrupted(number)

    before = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            before[name] = signal.signal(getattr(signal, name), interrupt)

    def restore() -> None:
        for name, old in before.items():
            signal.signal(getattr(signal, name), old)

    return restore
