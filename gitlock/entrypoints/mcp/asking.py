"""The tools ``request_release`` and ``inbox``: agents ask one another, and answer."""

from gitlock.domain.claim import Granted, Refused
from gitlock.domain.duration import show_duration
from gitlock.domain.lease import EXCLUSIVE, SHARED
from gitlock.domain.request import GRANTED, OPEN, NotHeld
from gitlock.domain.session import session_id
from gitlock.entrypoints import exitcodes, outcomes
from gitlock.entrypoints.mcp.shapes import InboxAnswer, RequestAnswer
from gitlock.entrypoints.mcp.telling import Json, beside, call, conflict_of, fault, lease_of, request_of
from gitlock.entrypoints.wording import stamp, visible
from gitlock.errors import NoSuchLease, UsageError
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.asked import wish_of
from gitlock.usecases.claim import prepare
from gitlock.usecases.hearing import hear
from gitlock.usecases.negotiate import ask_holders, decline, grant, grant_if_idle, require_request
from gitlock.usecases.reading import Argument, read_claims
from gitlock.usecases.renew import pulse
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.request import Request
    from gitlock.wiring.serving import Served
    from gitlock.wiring.site import Site


def request_release(served: "Served", claims: list[str], message: str, shared: bool) -> RequestAnswer:
    """Asks the holders to let go, as ``git lock request`` does."""
    site = served.site
    reading = read_claims(tuple(map(Argument, claims)), site.repository, site.policy, site.fold)
    wish = prepare(
        reading, agent=site.agent, mode=SHARED if shared else EXCLUSIVE, ttl=None, reason="",
        holder=site.holder(served.pid), policy=site.policy, fold=site.fold, facts=site.facts, git=site.repository.git,
    )  # fmt: skip
    try:
        request = ask_holders(site.store, wish, reading.title, message)
    except NoSuchLease as error:
        raise NoSuchLease(error.message, hint=call("claim", claims=claims)) from None
    attend(site)
    answer = _head(site)
    grace = site.policy.grant_after
    if grace is not None:
        if grant_if_idle(site.store, site.agent, wish, grace):
            request = site.store.requests.find(request.id) or request.replace(state=GRANTED)
            return RequestAnswer.of(**answer, request=request_of(request))
        _texts(answer).append(
            f"unanswered for {show_duration(grace)}, it may be granted by itself: call request_release again then"
        )
    return RequestAnswer.of(**answer, request=request_of(request), holders=_holders(site, request))


def inbox(served: "Served", id: str | None, answer: str | None, message: str) -> InboxAnswer:
    """What is asked of the caller; or its answer to one of these."""
    if (id is None) != (answer is None):
        raise UsageError("an answer needs both: id (of the request) and answer (grant or decline)")
    site = served.site
    if id is None:
        heard = hear(site.store, site.agent, site.fold, site.facts) if site.store.has_requests() else []
        head = _head(site)
        asked = [request_of(one) for one in heard if one.state == OPEN]
        answers = [request_of(one) for one in heard if one.state != OPEN]
        return InboxAnswer.of(**{**head, "inbox": len(asked)}, requests=asked, answers=answers)
    request = require_request(site.store, id)
    attend(site)
    if answer == "decline":
        request = decline(site.store, site.agent, request, message)
        return InboxAnswer.of(**_head(site), requests=[request_of(request)])
    return _granted(site, request)


def _granted(site: "Site", request: "Request") -> InboxAnswer:
    """Hands the asked part over to the asker, in one step."""
    wish = wish_of(
        request, agent=site.agent, policy=site.policy, fold=site.fold, facts=site.facts, git=site.repository.git
    )
    request, outcome = grant(site.store, site.agent, request, wish)
    now = site.now()
    shown: Json = {**_head(site), "requests": [request_of(request)]}
    if outcome is None:
        return InboxAnswer.of(**shown)
    if isinstance(outcome, Granted):
        return InboxAnswer.of(**shown, lease=lease_of(outcome.lease, now))
    if isinstance(outcome, NotHeld):
        message = f"you hold nothing of '{visible(request.claim)}' any more"
        helps = call("inbox", id=request.id, answer="decline", message="given back already")
        return InboxAnswer.of(**shown, code=exitcodes.NO_SUCH_LEASE, error=fault("no-such-lease", message, helps))
    if isinstance(outcome, Refused):
        lines = "; ".join(line.strip() for line in outcomes.refused_lines(outcome, now))
        conflicts = [conflict_of(one, now, site.facts.liveness) for one in outcome.conflicts]
        error = fault("held", f"can't hand it over: {lines}", call("status", claims=[request.claim]), conflicts)
        return InboxAnswer.of(**shown, code=exitcodes.HELD, error=error)
    message = f"'{visible(request.asker)}' is at work in another place: it can't be handed over"
    return InboxAnswer.of(**shown, code=exitcodes.REFUSED, error=fault("agent-elsewhere", message))


def _holders(site: "Site", request: "Request") -> list[Json]:
    """Those who were asked, and what each is doing by its own record."""
    snapshot = site.store.read()
    book = SessionBook(site.store.layout)
    found: dict[str, Json] = {}
    for lease in snapshot.leases.of(request.to):
        holder = lease.holder
        session = book.find(session_id(lease.agent, holder.session, holder.worktree))
        if lease.agent not in found or session is not None:
            found[lease.agent] = {
                "agent": lease.agent,
                "state": None if session is None else session.state,
                "since": None if session is None else stamp(session.since),
                "liveness": site.facts.liveness(lease),
            }
    return list(found.values())


def _head(site: "Site") -> Json:
    found = pulse(site.store, site.agent.id, site.seat_of)
    return beside(site, found.beat, found.snapshot.now, found.snapshot.notice)


def _texts(answer: Json) -> list[str]:
    found = answer["warnings"]
    assert isinstance(found, list)
    return found
