"""Tickets: places in the queue that outlive the process, for agents that can't block between turns."""

from gitlock.domain.agent import related
from gitlock.domain.claim import Claim, Refused
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.turn import Deadlock, Queued, place_of
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.granting import save_token, worded
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.cli.waiting import chain_of, deadlock, ticket
from gitlock.errors import NoSuchLease, NotTheHolder, UsageError
from gitlock.usecases.claim import ClaimOutcome, Wish, ask, prepare
from gitlock.usecases.covered import Covered
from gitlock.usecases.reading import Reading
from gitlock.usecases.wait import joining, new_waiter_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def draw(given: Given, site: "Site", wish: Wish) -> tuple[Answer | None, ClaimOutcome]:
    """Claims at once if that can be; else a ticket, or the one that this agent has for the same claim already."""
    same = _ticket_for(site, wish)
    if same is not None:
        return _take(site, wish, same)
    outcome = ask(site.store, wish, join=joining(wish, new_waiter_id(), None, chain_of(site)))
    notes = told(site, outcome.beat, site.now(), outcome.notice)
    if isinstance(outcome.answer, Deadlock):
        return deadlock(outcome.answer, notes), outcome
    if isinstance(outcome.answer, Queued):
        place = outcome.answer
        return ticket(site, place, _ahead(site, place.waiter), notes), outcome
    return None, outcome


def resume(given: Given) -> Answer:
    """Takes what the ticket was offered, or says how many are before it."""
    if given.arguments or given.many("path") or given.many("glob") or given.many("key"):
        raise UsageError("--resume names a ticket: name no claim beside it")
    site = site_of(given)
    name = given.text("resume") or ""
    waiter = next((one for one in site.store.read().waiters.ordered() if one.id == name and one.is_ticket), None)
    if waiter is None:
        raise NoSuchLease(
            f"there is no ticket '{name}': it was used, or lost its place (an offer stands for two minutes)",
            hint="git lock claim --ticket CLAIM",
        )
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
    ended, outcome = _take(site, wish, waiter)
    if ended is not None:
        return ended
    token_file = given.text("token_file")
    if outcome.token is not None and token_file is not None:
        save_token(token_file, outcome.token)
    return worded(given, site, reading, outcome, Covered(None))


def _take(site: "Site", wish: Wish, waiter: Waiter) -> tuple[Answer | None, ClaimOutcome]:
    _still_wanted(site, waiter)
    outcome = ask(site.store, wish, place=waiter)
    if not isinstance(outcome.answer, Refused):
        return None, outcome
    place = Queued(waiter, outcome.answer.conflicts, outcome.answer.ahead)
    notes = told(site, outcome.beat, site.now(), outcome.notice)
    return ticket(site, place, _ahead(site, waiter), notes), outcome


def _still_wanted(site: "Site", waiter: Waiter) -> None:
    """The agent's word that it still wants the ticket: a silent one loses its place after a day."""

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        kept = [one for one in snapshot.waiters.ordered() if one.id == waiter.id]
        return Edits(queue=tuple(one.replace(seen=snapshot.now) for one in kept if one.offered is None)), None

    site.store.update(plan)


def _ticket_for(site: "Site", wish: Wish) -> Waiter | None:
    claim: Claim = wish.claim
    for waiter in site.store.read().waiters.of((claim.agent,)):
        if waiter.is_ticket and (waiter.keys, waiter.exclude, waiter.mode) == (claim.keys, claim.exclude, claim.mode):
            return waiter
    return None


def _ahead(site: "Site", waiter: Waiter) -> int:
    return place_of(waiter, site.store.read(), site.fold, site.facts)
