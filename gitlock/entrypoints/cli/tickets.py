"""Tickets: places in the queue that outlive the process, for agents that can't block between turns."""

from gitlock.domain.agent import related
from gitlock.domain.claim import Refused
from gitlock.domain.duration import show_duration
from gitlock.domain.queue import OFFER, Waiter
from gitlock.domain.turn import Deadlock, Queued, place_of, ticket_of
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.granting import save_token, worded
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import deadlock, ticket
from gitlock.errors import NoSuchLease, NotTheHolder, UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, ask, prepare
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import Reading
from gitlock.usecases.wait import joining, new_waiter_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.usecases.claim import Join
    from gitlock.wiring.site import Site


def draw(site: "Site", wish: Wish) -> tuple[Answer | None, ClaimOutcome]:
    """Claims at once if that can be; else a ticket, or the one that this agent has for the same claim already.

    A ticket keeps nobody waiting: unlike a wait, it may be for what the command holds that this runs under.
    """
    same = ticket_of(site.store.read(), wish.claim)
    return _put(site, wish, joining(wish, new_waiter_id(), None), same)


def resume(given: Given) -> Answer:
    """Takes what the ticket was offered, or says how many are before it."""
    if given.arguments or given.flag("staged") or any(given.many(form) for form in ("path", "glob", "key")):
        raise UsageError("--resume names a ticket: name no claim beside it")
    site = site_of(given)
    name = given.text("resume") or ""
    waiter = site.store.read().waiters.find(name)
    if waiter is None or not waiter.is_ticket:
        raise _no_ticket(name)
    if not related(waiter.agent, site.agent.id):
        raise NotTheHolder(f"the ticket '{name}' is {waiter.agent}'s", hint="git lock whoami")
    reading = Reading(()).replace(
        include=waiter.include, exclude=waiter.exclude, names=waiter.names, keys=waiter.keys
    )
    wish = prepare(
        reading,
        agent=site.agent.replace(id=waiter.agent),
        mode=waiter.mode,
        ttl=waiter.ttl,
        reason=waiter.reason,
        holder=site.holder(),
        policy=site.policy,
        fold=site.fold,
        facts=site.facts,
        git=site.repository.git,
        same_agent=True,
    )
    ended, outcome = _put(site, wish, None, waiter)
    if ended is not None:
        return ended
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        save_token(token_file, outcome.token)
    return worded(given, site, reading, outcome, Covered(None))


def _put(
    site: "Site", wish: Wish, join: "Join | None", place: Waiter | None
) -> tuple[Answer | None, ClaimOutcome]:
    """Puts the wish to the store, at its place in the queue. The answer is set where there is no lease in the end."""
    outcome = ask(site.store, wish, place=place, join=join)
    answer = outcome.answer
    if not isinstance(answer, (Deadlock, Queued, Refused)):
        return None, outcome
    notes = told(site, outcome.beat, site.now(), outcome.notice)
    if isinstance(answer, Deadlock):
        return deadlock(answer, notes), outcome
    snapshot = site.store.read()
    found = answer.waiter if isinstance(answer, Queued) else place
    waiter = None if found is None else snapshot.waiters.find(found.id)
    if waiter is None:
        raise _no_ticket("" if found is None else found.id)
    queued = Queued(waiter, answer.conflicts, answer.ahead)
    return ticket(site, queued, place_of(waiter, snapshot, site.fold, site.facts), notes), outcome


def _no_ticket(name: str) -> NoSuchLease:
    return NoSuchLease(
        f"there is no ticket '{name}': it was used, or lost its place (an offer stands for {show_duration(OFFER)})",
        hint="git lock claim --ticket CLAIM",
    )
