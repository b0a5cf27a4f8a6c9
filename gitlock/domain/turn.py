"""Whose turn it is: a claim against the queue that stands before it, and the plans of those who wait."""

from gitlock.domain.agent import lineage, related
from gitlock.domain.conflict import Conflict, meeting
from gitlock.domain.lease import EXCLUSIVE, Holder
from gitlock.domain.pattern import Fold
from gitlock.domain.queue import (
    Ring,
    Wait,
    Waiter,
    Want,
    closed_ring,
    excludes,
    has_place,
    keeps_place,
    may_pass,
)
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot, anchors_of
from gitlock.domain.standing import EXPIRED, GONE, Facts, standing
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from typing import TypeAlias

    from gitlock.domain.claim import Claim
    from gitlock.domain.lease import Lease

    Wished: TypeAlias = Claim | Waiter
    Held: TypeAlias = Lease | Waiter


_COMMAND, _PLACE = "command", "place"  # what may have to go on, beside an agent


class Front(Value):
    """What a claim finds before it: ``ahead`` is the nearest live waiter that it must let go first (there may be more),
    ``gone`` are ids of waiters that lost their place, ``passing`` those that it may go before, ``offers`` tickets whose
    turn has come and who have to be told so."""

    __slots__ = ("ahead", "gone", "offers", "passing")

    def __init__(
        self,
        ahead: tuple[Waiter, ...] = (),
        gone: tuple[str, ...] = (),
        passing: tuple[Waiter, ...] = (),
        offers: tuple[Waiter, ...] = (),
    ) -> None:
        self.ahead = ahead
        self.gone = gone
        self.passing = passing
        self.offers = offers


def front_of(snapshot: Snapshot, wish: "Wished", fold: Fold, facts: Facts, own: Waiter | None) -> Front:
    """Looks at the waiters that came before ``own`` (before now, for one who does not wait), the nearest first.

    Where that is a ticket whose turn came by itself (a lease expired: nobody rang), whoever looks makes the offer.
    """
    front = _before(snapshot, wish, fold, facts, own)
    if front.ahead and front.ahead[0].is_ticket and front.ahead[0].offered is None:
        return front.replace(offers=plan_offers(snapshot, fold, facts)[0].queue)
    return front


def _before(snapshot: Snapshot, wish: "Wished", fold: Fold, facts: Facts, own: Waiter | None) -> Front:
    gone: list[str] = []
    passing: list[Waiter] = []

    def blocked(waiter: Waiter) -> bool:
        return bool(blocking(waiter, snapshot, fold, facts))

    for waiter in _excluding(snapshot, wish, fold, own):
        if not keeps_place(waiter, snapshot.now, facts.process_waits):
            gone.append(waiter.id)
        elif may_pass(waiter, wish.names, wish.footprint, fold, blocked):
            passing.append(waiter)
        else:
            return Front((waiter,), tuple(gone))
    return Front((), tuple(gone), tuple(passing))


def _excluding(snapshot: Snapshot, wish: "Wished", fold: Fold, own: Waiter | None) -> "Iterator[Waiter]":
    """The waiters before ``own`` that could not hold theirs together with the wish, dead ones too; nearest first."""
    names, footprint = wish.names, wish.footprint
    before = None if own is None else own.order
    for waiter in snapshot.waiters.backwards(before, anchors_of(footprint), _folded(names)):
        if excludes(waiter, wish.agent, wish.mode, names, footprint, fold, wish.apart):
            yield waiter


def blocking(waiter: Waiter, snapshot: Snapshot, fold: Fold, facts: Facts) -> list[Conflict]:
    """The leases that a waiter waits for."""
    names, footprint = waiter.names, waiter.footprint
    found = []
    for lease in snapshot.leases.around(anchors_of(footprint), _folded(names)):
        conflict = meeting(lease, waiter.agent, waiter.mode, names, footprint, fold, waiter.apart)
        if conflict is not None and standing(lease, snapshot.now, facts) not in (EXPIRED, GONE):
            found.append(conflict)
    return found


def turns(
    snapshot: Snapshot, fold: Fold, facts: Facts, freed: "tuple[Held, ...] | None" = None
) -> list[tuple[Waiter, Front]]:
    """Every live waiter whose turn it is, with what it goes before: no lease and no earlier live waiter excludes it.

    With ``freed``, only those that may want something of it. Many wait for the same as a rule: of those that exclude
    one another only the first is looked at.
    """
    anchors, names = None, frozenset[str]()
    if freed is not None:
        anchors = frozenset(anchor for one in freed for anchor in anchors_of(one.footprint))
        names = frozenset(name for one in freed for name in _folded(one.names))
    ready: list[tuple[Waiter, Front]] = []
    first: dict[object, list[str]] = {}  # what is wanted exclusively → by whom, who keep it from all that come later
    for want, agent, whole in snapshot.waiters.outlines(anchors, names):
        if any(not related(agent, other) for other in first.get(want, ())):
            continue
        waiter = whole()
        if not keeps_place(waiter, snapshot.now, facts.process_waits):
            continue
        if waiter.mode == EXCLUSIVE:
            first.setdefault(want, []).append(agent)
        if blocking(waiter, snapshot, fold, facts):
            continue
        front = _before(snapshot, waiter, fold, facts, waiter)
        if not front.ahead:
            ready.append((waiter, front))
    return ready


def plan_offers(
    snapshot: Snapshot, fold: Fold, facts: Facts, freed: "tuple[Held, ...] | None" = None
) -> tuple[Edits, list[Waiter]]:
    """Whose turn it is now, to be woken; tickets among them are stamped with the offer. A ticket that could only pass
    somebody is not: before it comes, that may be past."""
    ready = turns(snapshot, fold, facts, freed)
    stamped = tuple(
        one.replace(offered=snapshot.now, seen=snapshot.now)
        for one, front in ready
        if one.is_ticket and one.offered is None and not front.passing
    )
    return (Edits(queue=stamped) if stamped else NOTHING), [one for one, _ in ready]


class Queued(Value):
    """A place in the queue was given: ``conflicts`` are the leases that it waits for, ``ahead`` the nearest live waiter
    before it (there may be more)."""

    __slots__ = ("ahead", "conflicts", "waiter")

    def __init__(self, waiter: Waiter, conflicts: tuple[Conflict, ...], ahead: tuple[Waiter, ...]) -> None:
        self.waiter = waiter
        self.conflicts = conflicts
        self.ahead = ahead


class Deadlock(Value):
    """The wait would never end: it closes this ring. ``outer`` is a lease in the way under which we run ourselves."""

    __slots__ = ("outer", "ring")

    def __init__(self, ring: Ring, outer: "Lease | None" = None) -> None:
        self.ring = ring
        self.outer = outer


def plan_join(
    snapshot: Snapshot,
    claim: "Claim",
    waiter_id: str,
    process: Holder | None,
    conflicts: tuple[Conflict, ...],
    ahead: tuple[Waiter, ...],
    fold: Fold,
    facts: Facts,
) -> "tuple[Edits, Queued | Deadlock]":
    """Gives the claim the next place, unless its wait would close a cycle of those who wait for one another.

    A ticket (no ``process``) is given once: who has one for the same claim keeps it.
    """
    if process is None:
        same = ticket_of(snapshot, claim)
        if same is not None:
            return NOTHING, Queued(same, conflicts, ahead)
    else:
        claim = claim.below(snapshot.leases.of((claim.agent,)), facts)
        if claim.chain:
            process = process.replace(extra={**process.extra, "chain": sorted(claim.chain)})
    waiter = Waiter(
        id=waiter_id,
        order=snapshot.order + 1,
        agent=claim.agent,
        kind=claim.kind,
        mode=claim.mode,
        keys=claim.keys,
        include=claim.include,
        exclude=claim.exclude,
        reason=claim.reason,
        ttl=claim.ttl,
        since=snapshot.now.wall,
        seen=snapshot.now,
        holder=claim.holder,
        process=process,
    )
    found = deadlock_of(waiter, snapshot, conflicts, fold, facts)
    if found is not None:
        return NOTHING, found
    event = Event("wait", claim.agent, waiter.title, waiter.id, note=claim.reason)
    return Edits(queue=(waiter,), order=waiter.order, events=(event,)), Queued(waiter, conflicts, ahead)


def ticket_of(snapshot: Snapshot, claim: "Claim") -> Waiter | None:
    """The ticket that an agent has for the very same claim, if it has kept its place."""
    return next((one for one in tickets_of(snapshot, claim) if has_place(one, snapshot.now)), None)


def tickets_of(snapshot: Snapshot, claim: "Claim") -> list[Waiter]:
    """All of them, those that lost their place too."""
    wanted = (claim.keys, claim.exclude, claim.mode)
    mine = [one for one in snapshot.waiters.of((claim.agent,)) if one.is_ticket]
    return [one for one in mine if (one.keys, one.exclude, one.mode) == wanted]


def deadlock_of(
    waiter: Waiter, snapshot: Snapshot, conflicts: tuple[Conflict, ...], fold: Fold, facts: Facts
) -> Deadlock | None:
    """The ring that somebody's wait closes, or None.

    Who holds nothing, and stands nowhere else, keeps nobody waiting: as a rule that is all that is looked at. A ring
    that is there already is found by the one who came last to it, since that one is waited for because of a lease.
    """
    want, chain = Want(waiter.agent, waiter.title, waiter.order), waiter.chain
    family = set(lineage(waiter.agent))
    if chain:
        for conflict in conflicts:
            if conflict.lease.id in chain:
                ring = Ring((want, Want(conflict.lease.agent, conflict.lease.title, 0)))
                return Deadlock(ring, conflict.lease)
        outer = [lease for lease in snapshot.leases.all() if lease.id in chain]
        family.update(name for lease in outer for name in lineage(lease.agent))
    kept: list[Held] = [
        lease
        for lease in snapshot.leases.of(family)
        if standing(lease, snapshot.now, facts) not in (EXPIRED, GONE)
        and (lease.id in chain or not lease.holder.is_apart)  # another command goes on whatever becomes of us
    ]
    kept += [
        one
        for one in snapshot.waiters.of(family)
        if one.id != waiter.id and not one.holder.is_apart and keeps_place(one, snapshot.now, facts.process_waits)
    ]
    if not kept:
        return None
    graph = _Graph(snapshot, fold, facts, waiter.id, kept)
    blockers = [_held_by(one.lease) for one in conflicts] + [_stood_by(one) for one in graph.before(waiter)]
    ring_or_none = closed_ring(want, blockers, graph.waits_of)
    return None if ring_or_none is None else Deadlock(ring_or_none)


def _held_by(lease: "Lease") -> "Hashable":
    """Who has to go on, that a lease be given back: its agent, or just the command that holds it apart."""
    return (_COMMAND, lease.id) if lease.holder.is_apart and lease.holder.pid is not None else lease.agent


def _stood_by(waiter: Waiter) -> "Hashable":
    return (_PLACE, waiter.id) if waiter.holder.is_apart else waiter.agent


class _Graph:
    """Who waits for whom. ``kept`` is what the one asked about (whose place is ``own``) keeps from others."""

    def __init__(self, snapshot: Snapshot, fold: Fold, facts: Facts, own: str, kept: "list[Held]") -> None:
        self._snapshot = snapshot
        self._fold = fold
        self._facts = facts
        self._own = own
        self._kept = kept
        self._known: dict[object, int] = {}  # what is wanted → the latest place from which that was followed
        self._places: dict[str, list[Callable[[], Waiter]]] = {}
        self._alike = True  # whoever wants the same waits for the same: so it is where nobody works for another
        for _, agent, whole in snapshot.waiters.outlines(None, frozenset()):
            for name in lineage(agent):
                self._places.setdefault(name, []).append(whole)
            self._alike = self._alike and "/" not in agent

    def before(self, waiter: Waiter) -> "Iterator[Waiter]":
        """Those who stand before a waiter, and live."""
        return _live_before(self._snapshot, waiter, self._fold, self._facts)

    def waits_of(self, node: "Hashable") -> "Iterator[Wait]":
        """The waits that keep an agent, a command, or somebody before us from going on."""
        if isinstance(node, str):
            found = [whole() for whole in self._places.get(node, ())]
        else:
            assert isinstance(node, tuple)
            kind, name = node
            everyone = self._snapshot.waiters.ordered()
            found = [one for one in everyone if (name in one.chain if kind == _COMMAND else name == one.id)]
        for waiter in found:
            if waiter.id != self._own and keeps_place(waiter, self._snapshot.now, self._facts.process_waits):
                want = Want(waiter.agent, waiter.title, waiter.order)
                yield Wait(want, any(self._keeps(one, waiter) for one in self._kept), self._blockers(waiter))

    def _keeps(self, one: "Held", waiter: Waiter) -> bool:
        """Whether a lease, or a place, of the one asked about keeps this waiter waiting."""
        names, footprint, apart = waiter.names, waiter.footprint, waiter.apart
        if isinstance(one, Waiter):
            before = one.order < waiter.order
            return before and excludes(one, waiter.agent, waiter.mode, names, footprint, self._fold, apart)
        return meeting(one, waiter.agent, waiter.mode, names, footprint, self._fold, apart) is not None

    def _blockers(self, waiter: Waiter) -> "Callable[[], Iterable[Hashable]]":
        def found() -> "Iterator[Hashable]":
            for conflict in blocking(waiter, self._snapshot, self._fold, self._facts):
                yield _held_by(conflict.lease)
            what = (waiter.mode, waiter.keys, waiter.exclude)
            if self._alike and self._known.get(what, 0) >= waiter.order:
                return  # whoever stands before this one stands before somebody who came later and wants the same
            self._known[what] = waiter.order
            for one in self.before(waiter):
                yield _stood_by(one)

        return found


def _live_before(snapshot: Snapshot, waiter: Waiter, fold: Fold, facts: Facts) -> "Iterator[Waiter]":
    for one in _excluding(snapshot, waiter, fold, waiter):
        if keeps_place(one, snapshot.now, facts.process_waits):
            yield one


def plan_leave(snapshot: Snapshot, waiter_id: str, why: str) -> tuple[Edits, Waiter | None]:
    """Gives up a place; None where it is not there any more."""
    waiter = snapshot.waiters.find(waiter_id)
    if waiter is None:
        return NOTHING, None
    event = Event("leave", waiter.agent, waiter.title, waiter.id, note=why)
    return Edits(leave=(waiter_id,), events=(event,)), waiter


def place_of(waiter: Waiter, snapshot: Snapshot, fold: Fold, facts: Facts) -> int:
    """How many live waiters stand before it, and exclude it."""
    return sum(1 for _ in _live_before(snapshot, waiter, fold, facts))


def _folded(names: "Iterable[str]") -> frozenset[str]:
    return frozenset(name.lower() for name in names)
