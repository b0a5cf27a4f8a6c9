"""``claim --ticket`` and ``claim --resume``, in words."""

from gitlock.domain.turn import Deadlock
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.granting import save_token, worded
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import deadlock, ticket
from gitlock.errors import UsageError
from gitlock.usecases import ticketing
from gitlock.usecases.claim import ClaimOutcome, Wish
from gitlock.usecases.covered import Covered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.usecases.ticketing import Ticketed
    from gitlock.wiring.site import Site


def draw(site: "Site", wish: Wish) -> tuple[Answer | None, ClaimOutcome]:
    """Claims at once if that can be, else a ticket."""
    found = ticketing.draw(site.store, wish)
    return _without_lease(site, found), found.outcome


def resume(given: Given) -> Answer:
    """Takes what the ticket was offered, or says how many are before it."""
    if given.arguments or given.flag("staged") or any(given.many(form) for form in ("path", "glob", "key")):
        raise UsageError("--resume names a ticket: name no claim beside it")
    site = site_of(given)
    waiter = ticketing.find_ticket(site.store, given.text("resume") or "", site.agent.id)
    wish = ticketing.wish_of(
        waiter, agent=site.agent, holder=site.holder(), policy=site.policy, fold=site.fold, facts=site.facts,
        git=site.repository.git,
    )  # fmt: skip
    found = ticketing.put(site.store, wish, None, waiter)
    ended = _without_lease(site, found)
    if ended is not None:
        return ended
    outcome = found.outcome
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        save_token(token_file, outcome.token)
    return worded(given, site, ticketing.claim_of(waiter), outcome, Covered(None))


def _without_lease(site: "Site", found: "Ticketed") -> Answer | None:
    """The answer where there is no lease in the end."""
    answer = found.outcome.answer
    if found.place is None and not isinstance(answer, Deadlock):
        return None
    notes = told(site, found.outcome.beat, site.now(), found.outcome.notice)
    if isinstance(answer, Deadlock):
        return deadlock(answer, notes)
    assert found.place is not None
    return ticket(site, found.place, found.ahead, notes)
