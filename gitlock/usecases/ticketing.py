"""Tickets: places in the queue that outlive the process, for agents that can't block between turns."""

from gitlock.domain.agent import related
from gitlock.domain.claim import Refused
from gitlock.domain.duration import show_duration
from gitlock.domain.queue import OFFER, Waiter
from gitlock.domain.turn import Deadlock, Queued, place_of, ticket_of
from gitlock.domain.value import Value
from gitlock.errors import NoSuchLease, NotTheHolder
from gitlock.usecases.claim import ClaimOutcome, Wish, ask, prepare
from gitlock.usecases.reading import Reading
from gitlock.usecases.wait import joining, new_waiter_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.lease import Holder
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore
    from gitlock.usecases.claim import Join

# What helps where a ticket is none any more.
ANEW = "to see whether you hold it already: git lock mine; for a new one: git lock claim --ticket CLAIM"


class Ticketed(Value):
    """What became of a wish. ``place`` is set where it stands in the queue, with ``ahead`` live waiters before it."""

    __slots__ = ("ahead", "outcome", "place")

    def __init__(self, outcome: ClaimOutcome, place: Queued | None = None, ahead: int = 0) -> None:
        self.outcome = outcome
        self.place = place
        self.ahead = ahead


def draw(store: "LeaseStore", wish: Wish) -> Ticketed:
    """Claims at once if that can be; else a ticket, or the one that this agent has for the same claim already.

    A ticket keeps nobody waiting: unlike a wait, it may be for what the command holds that this runs under.
    """
    same = ticket_of(store.read(), wish.claim)
    return put(store, wish, joining(wish, new_waiter_id(), None), same)


def put(store: "LeaseStore", wish: Wish, join: "Join | None", place: Waiter | None) -> Ticketed:
    """Puts the wish to the store, at its place in the queue."""
    outcome = ask(store, wish, place=place, join=join)
    answer = outcome.answer
    if isinstance(answer, Deadlock) or not isinstance(answer, (Queued, Refused)):
        return Ticketed(outcome)
    snapshot = store.read()
    found = answer.waiter if isinstance(answer, Queued) else place
    waiter = None if found is None else snapshot.waiters.find(found.id)
    if waiter is None:
        raise _no_ticket("" if found is None else found.id)
    queued = Queued(waiter, answer.conflicts, answer.ahead)
    return Ticketed(outcome, queued, place_of(waiter, snapshot, wish.fold, wish.facts))


def find_ticket(store: "LeaseStore", name: str, agent: str) -> Waiter:
    """The ticket of that name; ``NoSuchLease`` where it has lost its place, ``NotTheHolder`` where it is another's."""
    waiter = store.read().waiters.find(name)
    if waiter is None or not waiter.is_ticket:
        raise _no_ticket(name)
    if not related(waiter.agent, agent):
        raise NotTheHolder(f"the ticket '{name}' is {waiter.agent}'s", hint="git lock whoami")
    return waiter


def claim_of(waiter: Waiter) -> Reading:
    """What a ticket is for."""
    return Reading(()).replace(include=waiter.include, exclude=waiter.exclude, names=waiter.names, keys=waiter.keys)


def wish_of(
    waiter: Waiter, *, agent: "Agent", holder: "Holder", policy: "Policy", fold: "Fold", facts: "Facts", git: "Git"
) -> Wish:
    """A ticket's claim, as it was made."""
    return prepare(
        claim_of(waiter),
        agent=agent.replace(id=waiter.agent),
        mode=waiter.mode,
        ttl=waiter.ttl,
        reason=waiter.reason,
        holder=holder,
        policy=policy,
        fold=fold,
        facts=facts,
        git=git,
        same_agent=True,
    )


def _no_ticket(name: str) -> NoSuchLease:
    return NoSuchLease(
        f"there is no ticket '{name}': it was used, or lost its place (an offer stands for {show_duration(OFFER)})",
        hint=ANEW,
    )
