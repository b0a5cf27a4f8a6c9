"""Whose turn it is: a claim against the queue that stands before it, and the plans of those who wait."""

from gitlock.domain.agent import related
from gitlock.domain.conflict import Conflict, meeting
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import Holder
from gitlock.domain.pattern import Fold
from gitlock.domain.queue import Ring, Waiter, closed_ring, excludes, keeps_place, may_pass
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot, anchors_of
from gitlock.domain.standing import EXPIRED, GONE, Facts, standing
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.claim import Claim


class Front(Value):
    """What a claim finds before it: ``ahead`` are live waiters that it must let go first (the search ends at the
    first one), ``gone`` ids of waiters that lost their place, ``passing`` those that it may go before, ``offers``
    tickets whose turn has come and who have to be told so."""

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


def front_of(
    snapshot: Snapshot,
    agent: str,
    mode: str,
    names: tuple[str, ...],
    footprint: Footprint,
    fold: Fold,
    facts: Facts,
    own: Waiter | None,
) -> Front:
    """Looks at the waiters that came before ``own`` (before now, for one who does not wait)."""
    gone: list[str] = []
    passing: list[Waiter] = []
    for waiter in snapshot.waiters.ordered():
        if own is not None and waiter.order >= own.order:
            break
        if not excludes(waiter, agent, mode, names, footprint, fold):
            continue
        if not keeps_place(waiter, snapshot.now, facts.process_waits):
            gone.append(waiter.id)
            continue
        blocked = bool(blocking(waiter, snapshot, fold, facts))
        if may_pass(waiter, blocked, names, footprint, fold):
            passing.append(waiter)
            continue
        offers = (offered(waiter, snapshot),) if not blocked and waiter.is_ticket and waiter.offered is None else ()
        return Front((waiter,), tuple(gone), (), offers)
    return Front((), tuple(gone), tuple(passing), ())


def blocking(waiter: Waiter, snapshot: Snapshot, fold: Fold, facts: Facts) -> list[Conflict]:
    """The leases that a waiter waits for."""
    names, footprint = waiter.names, waiter.footprint
    found = []
    for lease in snapshot.leases.around(anchors_of(footprint), frozenset(name.lower() for name in names)):
        conflict = meeting(lease, waiter.agent, waiter.mode, names, footprint, fold)
        if conflict is not None and standing(lease, snapshot.now, facts) not in (EXPIRED, GONE):
            found.append(conflict)
    return found


def offered(waiter: Waiter, snapshot: Snapshot) -> Waiter:
    """A ticket whose turn has come, from now."""
    return waiter.replace(offered=snapshot.now, seen=snapshot.now)


def turns(snapshot: Snapshot, fold: Fold, facts: Facts) -> list[Waiter]:
    """Every live waiter whose turn it is: no lease and no earlier live waiter excludes it."""
    ready: list[Waiter] = []
    before: list[Waiter] = []
    for waiter in snapshot.waiters.ordered():
        names, footprint = waiter.names, waiter.footprint
        if any(excludes(one, waiter.agent, waiter.mode, names, footprint, fold) for one in before):
            before.append(waiter)
            continue
        if not keeps_place(waiter, snapshot.now, facts.process_waits):
            continue
        if not blocking(waiter, snapshot, fold, facts):
            ready.append(waiter)
        before.append(waiter)
    return ready


def plan_offers(snapshot: Snapshot, fold: Fold, facts: Facts) -> tuple[Edits, list[Waiter]]:
    """Whose turn it is now, to be woken; tickets among them are stamped with the offer."""
    ready = turns(snapshot, fold, facts)
    stamped = tuple(offered(one, snapshot) for one in ready if one.is_ticket and one.offered is None)
    return (Edits(queue=stamped) if stamped else NOTHING), ready


class Queued(Value):
    """A place in the queue was given: ``conflicts`` are the leases that it waits for, ``ahead`` a live waiter before
    it (there may be more)."""

    __slots__ = ("ahead", "conflicts", "waiter")

    def __init__(self, waiter: Waiter, conflicts: tuple[Conflict, ...], ahead: tuple[Waiter, ...]) -> None:
        self.waiter = waiter
        self.conflicts = conflicts
        self.ahead = ahead


class Deadlock(Value):
    """The wait would never end: it closes this ring."""

    __slots__ = ("ring",)

    def __init__(self, ring: Ring) -> None:
        self.ring = ring


def plan_join(
    snapshot: Snapshot,
    claim: "Claim",
    waiter_id: str,
    process: Holder | None,
    conflicts: tuple[Conflict, ...],
    ahead: tuple[Waiter, ...],
    fold: Fold,
    facts: Facts,
    chain: frozenset[str] = frozenset(),
) -> "tuple[Edits, Queued | Deadlock]":
    """Gives the claim the next place, unless its wait would close a cycle of those who wait for one another.

    ``chain`` are ids of leases that are held until we end: to wait for one of them would be to wait for ourselves.
    """
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
    for conflict in conflicts:
        if conflict.lease.id in chain:
            return NOTHING, Deadlock(Ring(((claim.agent, waiter.title), (conflict.lease.agent, conflict.lease.title))))
    blockers = [conflict.lease.agent for conflict in conflicts] + [one.agent for one in ahead]
    ring = closed_ring(claim.agent, waiter.title, blockers, lambda agent: waiting_for(agent, snapshot, fold, facts))
    if ring is not None:
        return NOTHING, Deadlock(ring)
    event = Event("wait", claim.agent, waiter.title, waiter.id, note=claim.reason)
    return Edits(queue=(waiter,), order=waiter.order, events=(event,)), Queued(waiter, conflicts, ahead)


def waiting_for(agent: str, snapshot: Snapshot, fold: Fold, facts: Facts) -> list[tuple[str, str]]:
    """Who waits for ``agent`` now, and for what: because of its leases, or of its earlier places in the queue."""
    now = snapshot.now
    leases = [one for one in snapshot.leases.of((agent,)) if standing(one, now, facts) not in (EXPIRED, GONE)]
    places = [one for one in snapshot.waiters.of((agent,)) if keeps_place(one, now, facts.process_waits)]
    if not leases and not places:
        return []
    found = []
    for waiter in snapshot.waiters.ordered():
        if related(waiter.agent, agent) or not keeps_place(waiter, now, facts.process_waits):
            continue
        names, footprint = waiter.names, waiter.footprint
        behind = any(
            one.order < waiter.order and excludes(one, waiter.agent, waiter.mode, names, footprint, fold)
            for one in places
        )
        if behind or any(meeting(one, waiter.agent, waiter.mode, names, footprint, fold) for one in leases):
            found.append((waiter.agent, waiter.title))
    return found


def plan_leave(snapshot: Snapshot, waiter_id: str, why: str) -> tuple[Edits, Waiter | None]:
    """Gives up a place; None where it is not there any more."""
    waiter = next((one for one in snapshot.waiters.ordered() if one.id == waiter_id), None)
    if waiter is None:
        return NOTHING, None
    event = Event("leave", waiter.agent, waiter.title, waiter.id, note=why)
    return Edits(leave=(waiter_id,), events=(event,)), waiter


def place_of(waiter: Waiter, snapshot: Snapshot, fold: Fold, facts: Facts) -> int:
    """How many live waiters stand before it, and exclude it."""
    names, footprint = waiter.names, waiter.footprint
    return sum(
        1
        for one in snapshot.waiters.ordered()
        if one.order < waiter.order
        and excludes(one, waiter.agent, waiter.mode, names, footprint, fold)
        and keeps_place(one, snapshot.now, facts.process_waits)
    )
