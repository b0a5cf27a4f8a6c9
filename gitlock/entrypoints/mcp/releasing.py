"""The tool ``release``: gives leases back, whole or in part."""

from gitlock.entrypoints import outcomes
from gitlock.entrypoints.mcp.claiming import publish
from gitlock.entrypoints.mcp.shapes import ReleaseAnswer
from gitlock.entrypoints.mcp.telling import Json, beside, call, fault, lease_of
from gitlock.errors import UsageError
from gitlock.usecases.reading import Argument, read_wanted
from gitlock.usecases.release import release as give_back
from gitlock.wiring.attendance import attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.serving import Served


def release(served: "Served", claims: list[str], everything: bool) -> ReleaseAnswer:
    """Gives back what is named, as ``git lock release`` does. Only what is the caller's own: a token never is an
    argument of a tool."""
    if claims and everything:
        raise UsageError("all gives back everything: name no claims beside it")
    if not claims and not everything:
        raise UsageError("say what to release in claims, or set all for everything that you hold")
    site = served.site
    wanted = read_wanted(tuple(map(Argument, claims)), site.repository, site.policy, site.fold)
    outcome = give_back(site.store, site.agent.id, wanted, site.fold, site.facts, seat_of=site.seat_of)
    attend(site)
    if outcome.released or outcome.narrowed:
        publish(site)
    now = site.now()
    answer: Json = {} if outcome.beat is None else beside(site, outcome.beat.replace(ended=()), now)
    answer["released"] = [lease_of(lease, now, "released") for lease in outcome.released]
    answer["narrowed"] = [lease_of(lease, now) for lease in outcome.narrowed]
    if (outcome.released or outcome.narrowed) and not (outcome.foreign or outcome.missing or outcome.ended):
        return ReleaseAnswer.of(**answer)
    code, name, message = outcomes.not_released(outcome, site.agent.id, now)
    helps = call("request_release", claims=claims, message="why you need it") if outcome.foreign else call("status")
    return ReleaseAnswer.of(**answer, code=code, error=fault(name, message, helps))
