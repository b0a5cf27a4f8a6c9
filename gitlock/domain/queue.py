"""Waiting: who stands in the queue, whose turn it is, and which wait would never end.

First come, first served, by a counter and never by a clock: a claim is granted when it conflicts with no live lease
and with no earlier live waiter. A broad waiter may not freeze everyone behind it: a later claim that lies within what
the broad one wants may pass it, at most ``PASSES`` times, and only while a lease still blocks the broad one.
"""

from gitlock.domain.conflict import at_odds
from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Holder
from gitlock.domain.overlap import contains
from gitlock.domain.pattern import Fold
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

PASSES = 8  # times that narrower claims may pass a waiter: enough to keep others at work, too few to starve it
OFFER = 120.0  # seconds that an offer to a ticket stands: an agent takes a turn of a minute or so
TICKET_TTL = 24 * 3600.0  # seconds that a ticket keeps its place without a word from its agent


class Waiter(Value):
    """A place in the queue. ``order`` is the counter's; ``process`` is the one that waits, None for a ticket.

    ``seen`` is the last word from the agent of a ticket; ``offered`` the instant at which it was the ticket's turn.
    ``passed`` counts the narrower claims that went before it.
    """

    __slots__ = (
        "agent", "exclude", "extra", "holder", "id", "include", "keys", "kind", "mode", "offered", "order", "passed",
        "process", "reason", "seen", "since", "ttl",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        order: int,
        agent: str,
        kind: str,
        mode: str,
        keys: tuple[str, ...],
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        reason: str,
        ttl: float,
        since: float,
        seen: Instant,
        holder: Holder,
        process: Holder | None,
        offered: Instant | None = None,
        passed: int = 0,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.id = id
        self.order = order
        self.agent = agent
        self.kind = kind
        self.mode = mode
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.reason = reason
        self.ttl = ttl
        self.since = since
        self.seen = seen
        self.holder = holder
        self.process = process
        self.offered = offered
        self.passed = passed
        self.extra = extra or {}

    @property
    def is_ticket(self) -> bool:
        """Whether it is a durable place that no process stands for."""
        return self.process is None

    @property
    def footprint(self) -> Footprint:
        """The set of paths that it asks for."""
        return Footprint.of(self.include, self.exclude)

    @property
    def chain(self) -> frozenset[str]:
        """The leases under which its process runs."""
        return frozenset() if self.process is None else self.process.chain

    @property
    def apart(self) -> frozenset[str] | None:
        """As of a claim."""
        return self.chain if self.holder.is_apart else None

    @property
    def names(self) -> tuple[str, ...]:
        """Its semantic keys."""
        return tuple(key for key in self.keys if key[:5] not in ("file:", "glob:"))

    @property
    def title(self) -> str:
        """What people call it."""
        return " ".join([*self.names, *self.include, *("!" + text for text in self.exclude)])


def keeps_place(waiter: Waiter, now: Instant, process_waits: "Callable[[Waiter], bool]") -> bool:
    """Whether a waiter still counts. A ticket loses its place when an offer was not taken in its window, or its agent
    was silent for a day; a process when it is dead, stopped or silent."""
    return has_place(waiter, now) if waiter.is_ticket else process_waits(waiter)


def has_place(waiter: Waiter, now: Instant) -> bool:
    """Whether a ticket still counts; whoever stands there itself always does, in its own eyes."""
    if not waiter.is_ticket:
        return True
    if waiter.offered is not None and now.since(waiter.offered) > OFFER:
        return False
    return now.since(waiter.seen) <= TICKET_TTL


def excludes(
    waiter: Waiter,
    agent: str,
    mode: str,
    names: tuple[str, ...],
    footprint: Footprint,
    fold: Fold,
    apart: frozenset[str] | None = None,
) -> bool:
    """Whether a waiter's claim and another could not be held at once: the same rule as between lease and claim."""
    both_apart = apart is not None and waiter.agent == agent and waiter.holder.is_apart
    return at_odds(waiter, agent, mode, names, footprint, fold, own_apart=both_apart) is not None


def may_pass(
    waiter: Waiter, names: tuple[str, ...], footprint: Footprint, fold: Fold, blocked: "Callable[[Waiter], object]"
) -> bool:
    """Whether a later claim may go before a waiter: the claim asks for strictly less than the waiter does, the waiter
    was not passed too often, and it is blocked by a lease anyway (which is asked last, since it costs most)."""
    if waiter.passed >= PASSES or not set(names) <= set(waiter.names):
        return False
    theirs = waiter.footprint
    if footprint.is_empty:
        less = bool(waiter.include) or set(names) < set(waiter.names)
    else:
        less = contains(theirs, footprint, fold) and (
            set(names) < set(waiter.names) or not contains(footprint, theirs, fold)
        )
    return less and bool(blocked(waiter))


class Want(Value):
    """Somebody who waits, for what, and since which place."""

    __slots__ = ("agent", "claim", "order")

    def __init__(self, agent: str, claim: str, order: int) -> None:
        self.agent = agent
        self.claim = claim
        self.order = order


class Wait(Value):
    """A wait that is there already: ``closes`` says that it is for whoever is asked about, ``blockers`` gives those
    that it is for (agents, commands, other waiters)."""

    __slots__ = ("blockers", "closes", "want")

    def __init__(self, want: Want, closes: bool, blockers: "Callable[[], Iterable[Hashable]]") -> None:
        self.want = want
        self.closes = closes
        self.blockers = blockers


class Ring(Value):
    """A cycle of those who wait for one another: each wants something of the next, and the last of the first."""

    __slots__ = ("steps",)

    def __init__(self, steps: tuple[Want, ...]) -> None:
        self.steps = steps

    @property
    def last(self) -> int:
        """The latest place in it: whoever came last closed the ring, and gives way."""
        return max(step.order for step in self.steps)


def closed_ring(
    want: Want, blockers: "Iterable[Hashable]", waits_of: "Callable[[Hashable], Iterable[Wait]]"
) -> Ring | None:
    """The shortest cycle that ``want`` closes by waiting for ``blockers``, or None.

    ``waits_of(x)`` lists the waits that keep ``x`` from going on: its own, and those of whoever works for it.
    """
    came: dict[Hashable, tuple[Want, ...]] = dict.fromkeys(blockers, (want,))
    for at in (line := list(came)):  # grows while it is walked
        for wait in waits_of(at):
            steps = (*came[at], wait.want)
            if wait.closes:
                return Ring(steps)
            for name in wait.blockers():
                if name not in came:
                    came[name] = steps
                    line.append(name)
    return None
