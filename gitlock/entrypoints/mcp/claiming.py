"""The tool ``claim``: takes a lease, waits for it, or lists everything that stands in the way."""

import logging
import os
import threading
from functools import partial

from gitlock.domain.claim import Clash, Granted, Refused
from gitlock.domain.duration import parse_duration
from gitlock.domain.footprint import Footprint
from gitlock.domain.holding import Wanted
from gitlock.domain.lease import TTL_LIMIT
from gitlock.domain.quoting import word
from gitlock.domain.turn import Deadlock
from gitlock.entrypoints import exitcodes, outcomes
from gitlock.entrypoints.mcp.shapes import ClaimAnswer
from gitlock.entrypoints.mcp.telling import beside, call, conflict_of, fault, lease_of, plain
from gitlock.entrypoints.wording import REASON_LIMIT, taint_line, visible
from gitlock.errors import GitlockError, UsageError
from gitlock.usecases import ticketing
from gitlock.usecases.claim import ClaimOutcome, Wish, ask, prepare
from gitlock.usecases.covered import Covered, finish_counting, start_counting
from gitlock.usecases.negotiate import grant_if_idle
from gitlock.usecases.reading import Argument, Reading, read_claims
from gitlock.usecases.release import release
from gitlock.usecases.wait import Waited, claim_in_turn
from gitlock.wiring.attendance import attend, attend_waiting
from gitlock.wiring.background import publish_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.turn import Queued
    from gitlock.entrypoints.mcp.calls import Halt
    from gitlock.usecases.ticketing import Ticketed
    from gitlock.wiring.serving import Served
    from gitlock.wiring.site import Site

PATIENCE = "50s"  # a wait without a timeout of its own: some programs give up a tool call after a minute


class Typed:
    """The arguments of one call, as they came."""

    __slots__ = ("claims", "dry_run", "mode", "reason", "resume", "ticket", "timeout", "ttl", "wait")

    def __init__(
        self,
        claims: list[str],
        reason: str,
        ttl: str | None,
        mode: str,
        *,
        wait: bool,
        timeout: str | None,
        ticket: bool,
        resume: str | None,
        dry_run: bool,
    ) -> None:
        self.claims = claims
        self.reason = reason
        self.ttl = ttl
        self.mode = mode
        self.wait = wait or timeout is not None
        self.timeout = timeout
        self.ticket = ticket
        self.resume = resume
        self.dry_run = dry_run

    def check(self) -> None:
        """``UsageError`` for what makes no sense together, before anything is done."""
        if sum((self.wait, self.ticket, self.resume is not None)) > 1:
            raise UsageError("wait, ticket and resume exclude one another")
        if self.dry_run and (self.wait or self.ticket or self.resume is not None):
            raise UsageError("dry_run neither waits nor takes a ticket: leave wait, ticket and resume out")
        if self.resume is not None and self.claims:
            raise UsageError("resume names a ticket: name no claims beside it")

    @property
    def patience(self) -> float:
        """Seconds to wait at most."""
        return parse_duration(PATIENCE if self.timeout is None else self.timeout, what="timeout")


def claim(served: "Served", typed: Typed, halt: "Halt", queued: "Callable[[Queued], None]") -> ClaimAnswer:
    """Claims as ``git lock claim`` does. ``queued`` is told, once, when a wait begins."""
    typed.check()
    site = served.site
    if typed.resume is not None:
        return _resumed(served, typed.resume, halt)
    patience = typed.patience
    reading = read_claims(tuple(map(Argument, typed.claims)), site.repository, site.policy, site.fold)
    wish = _wish(served, typed, reading)
    if typed.ticket:
        found = ticketing.draw(site.store, wish)
        if found.place is not None:
            return _placed(site, found)
        return _worded(site, typed, reading, found.outcome, halt)
    if not typed.wait:
        return _worded(site, typed, reading, _at_once(site, wish, dry_run=typed.dry_run), halt)
    waited = _in_turn(site, wish, patience, halt, queued)
    if waited.timed_out is not None:
        prefix, last = outcomes.vain_line(waited.seconds), waited.timed_out.last
        return _refused(site, typed.claims, last, waited.outcome, exitcodes.TIMED_OUT, "timed-out", prefix)
    return _worded(site, typed, reading, waited.outcome, halt)


def _wish(served: "Served", typed: Typed, reading: Reading) -> Wish:
    site = served.site
    return prepare(
        reading,
        agent=site.agent,
        mode=typed.mode,
        ttl=parse_duration(typed.ttl, limit=TTL_LIMIT, what="TTL") if typed.ttl is not None else None,
        reason=typed.reason,
        holder=site.holder(served.pid),
        policy=site.policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
        chain=frozenset(site.environ.get("GITLOCK_LEASES", "").split()),
    )


def _at_once(site: "Site", wish: Wish, *, dry_run: bool) -> ClaimOutcome:
    outcome = ask(site.store, wish, dry_run=dry_run)
    grace = site.policy.grant_after
    if not isinstance(outcome.answer, Refused) or grace is None or dry_run:
        return outcome
    return ask(site.store, wish) if grant_if_idle(site.store, site.agent, wish, grace) else outcome


def _in_turn(
    site: "Site", wish: Wish, patience: float, halt: "Halt", queued: "Callable[[Queued], None]"
) -> Waited:
    """Waits as a place in the queue that ends with this very process, should nothing else end it."""
    taken_back: list[Callable[[], None]] = []

    def begun(place: "Queued") -> None:
        taken_back.append(attend_waiting(site, place.waiter.title))
        queued(place)

    process = site.here.holder(pid=os.getpid(), worktree=None, branch=None, session=None, clone=site.clone)
    try:
        return claim_in_turn(site.store, wish, process=process, timeout=patience, queued=begun, stop=halt)
    finally:
        for take_back in taken_back:
            take_back()


def _undo(site: "Site", granted: Granted) -> None:
    """Gives back what was granted to a call that was given up in the same moment: nobody would know of it."""
    own = Wanted(granted.lease.id, frozenset((granted.lease.id,)))
    try:
        release(site.store, site.agent.id, (own,), site.fold, site.facts)
    except (GitlockError, OSError) as error:
        logging.warning("'%s' stays held, nobody knows of it: %s", visible(granted.lease.title, REASON_LIMIT), error)


def _resumed(served: "Served", name: str, halt: "Halt") -> ClaimAnswer:
    site = served.site
    waiter = ticketing.find_ticket(site.store, name, site.agent.id)
    wish = ticketing.wish_of(
        waiter, agent=site.agent, holder=site.holder(served.pid), policy=site.policy, fold=site.fold,
        facts=site.facts, git=site.repository.git,
    )  # fmt: skip
    found = ticketing.put(site.store, wish, None, waiter)
    if found.place is not None:
        return _placed(site, found)
    return _worded(site, None, ticketing.claim_of(waiter), found.outcome, halt)


def _worded(
    site: "Site", typed: Typed | None, reading: Reading, outcome: ClaimOutcome, halt: "Halt"
) -> ClaimAnswer:
    result = outcome.answer
    claims = [one.text for one in reading.taken]
    if isinstance(result, Refused):
        return _refused(site, claims, result, outcome, exitcodes.HELD, "held")
    now = site.now()
    head = beside(site, outcome.beat, now, outcome.notice)
    if isinstance(result, Clash):
        message = outcomes.clash_line(site.agent.id, result.lease)
        helps = f"start this server with another name: git-lock mcp --agent {word(site.agent.id + '-2')}"
        error = fault("agent-elsewhere", message, helps)
        return ClaimAnswer.of(**head, code=exitcodes.REFUSED, error=error)
    if isinstance(result, Deadlock):
        ring = [{"agent": step.agent, "claim": plain(step.claim)} for step in result.ring.steps]
        error = fault("deadlock", outcomes.deadlock_line(result), call("status"))
        return ClaimAnswer.of(**head, code=exitcodes.DEADLOCK, error=error, ring=ring)
    assert isinstance(result, Granted)
    if not (result.already or result.upgraded or (typed is not None and typed.dry_run)):
        halt.taken_back = partial(_undo, site, result)
    covered = Covered(None)
    if typed is not None:
        covered = finish_counting(
            start_counting(site.repository, reading.include), Footprint.of(reading.include, reading.exclude), site.fold
        )
    head["warnings"] = [
        *outcomes.claim_warnings(site, reading, result, covered),
        *(taint_line(one, max(0.0, outcome.now.wall - one.at)) for one in outcome.marks),
        *_texts(head["warnings"]),
    ]
    if typed is None or not typed.dry_run:
        attend(site)
        if outcome.token is not None:
            publish(site)
    return ClaimAnswer.of(
        **head,
        lease=lease_of(result.lease, now, "live", site.facts.liveness(result.lease)),
        already=result.already,
        taken_for=[{"argument": visible(one.text), "kind": one.kind} for one in reading.taken],
        covers_files=covered.files,
        dry_run=typed is not None and typed.dry_run,
    )


def _refused(
    site: "Site", claims: list[str], refused: Refused, outcome: ClaimOutcome, code: int, id: str, prefix: str = ""
) -> ClaimAnswer:
    """What others hold, and whoever waits before us."""
    now = site.now()
    conflicts = [conflict_of(one, now, site.facts.liveness) for one in refused.conflicts]
    message = prefix + "; ".join(line.strip() for line in outcomes.refused_lines(refused, now))
    if refused.conflicts:
        helps = call("request_release", claims=claims, message="why you need it")
    else:
        helps = call("claim", claims=claims, wait=True)
    head = beside(site, outcome.beat, now, outcome.notice)
    return ClaimAnswer.of(**head, code=code, error=fault(id, message, helps, conflicts))


def _placed(site: "Site", found: "Ticketed") -> ClaimAnswer:
    """A durable place in the queue."""
    assert found.place is not None
    now = site.now()
    waiter = found.place.waiter
    ticket = {
        "id": waiter.id, "claim": plain(waiter.title), "ahead": found.ahead, "offered": waiter.offered is not None,
    }  # fmt: skip
    conflicts = [conflict_of(one, now, site.facts.liveness) for one in found.place.conflicts]
    message = outcomes.queued_line(waiter, found.ahead, now)
    head = beside(site, found.outcome.beat, now, found.outcome.notice)
    error = fault("queued", message, call("claim", resume=waiter.id), conflicts)
    return ClaimAnswer.of(**head, code=exitcodes.QUEUED, error=error, ticket=ticket)


def publish(site: "Site") -> None:
    """Tells other clones, in a thread of its own, where the policy wants that."""
    if site.policy.publish == "auto":
        threading.Thread(target=publish_now, args=(site,), daemon=True).start()


def _texts(found: object) -> list[str]:
    assert isinstance(found, list)
    return [str(one) for one in found]
