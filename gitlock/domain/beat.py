"""The heartbeat that every command and hook gives: an agent's leases are renewed, and it hears what ended."""

from gitlock.domain.agent import lineage
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.seat import reseated
from gitlock.domain.snapshot import NOTHING, Edits, Snapshot
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.lease import Holder
    from gitlock.domain.queue import Waiter
    from gitlock.domain.seat import Seat

    SeatOf = Callable[[Holder], Seat | None]


class Beat(Value):
    """A heartbeat's outcome: what is held, which of it had lapsed and was revived, what ended unreported, and which
    tickets are offered what they wait for."""

    __slots__ = ("ended", "held", "offers", "revived")

    def __init__(
        self,
        held: tuple[Lease, ...],
        revived: tuple[Lease, ...],
        ended: tuple[Ended, ...],
        offers: "tuple[Waiter, ...]" = (),
    ) -> None:
        self.held = held
        self.revived = revived
        self.ended = ended
        self.offers = offers


def plan_beat(snapshot: Snapshot, agent: str, seat_of: "SeatOf | None" = None) -> tuple[Edits, Beat]:
    """Renews all leases of the agent (and of those that it works under) in one write, if a write is due: by their
    time, or since ``seat_of`` knows that one is held from another branch or place by now.

    A lapsed lease that is still in the table was overlapped by nobody, since a claim that overlaps it drops it:
    it goes on under the same fence.
    """
    now = snapshot.now
    held: list[Lease] = []
    put: list[Lease] = []
    revived: list[Lease] = []
    own = list(snapshot.leases.of(lineage(agent)))
    due = any(lease.due(now) or lease.is_left for lease in own)
    if seat_of is not None:
        seated = [reseated(lease, seat_of) for lease in own]
        due = due or any(new is not old for new, old in zip(seated, own, strict=True))
        own = seated
    for lease in own:
        if due:
            if lease.left(now) <= 0:
                revived.append(lease)
            lease = lease.renewed_at(now).taken_up()
            put.append(lease)
        held.append(lease)
    offers = tuple(one for one in snapshot.waiters.of((agent,)) if one.offered is not None)
    beat = Beat(tuple(held), tuple(revived), unreported(snapshot, agent), offers)
    return Edits(put=tuple(put)) if put else NOTHING, beat


def with_beat(
    edits: Edits, snapshot: Snapshot, agent: str, seat_of: "SeatOf | None" = None
) -> tuple[Edits, Beat]:
    """The edits of another plan of the agent's, and the heartbeat of whatever they leave alone, in one write."""
    rest, beat = plan_beat(snapshot, agent, seat_of)
    if seat_of is not None and edits.put:
        edits = edits.replace(put=tuple(reseated(lease, seat_of) for lease in edits.put))
    touched = {*edits.drop, *(lease.id for lease in edits.put)}
    renewed = tuple(lease for lease in rest.put if lease.id not in touched)
    if renewed:
        edits = edits.replace(put=edits.put + renewed)
    held = tuple(lease for lease in beat.held if lease.id not in touched)
    revived = tuple(lease for lease in beat.revived if lease.id not in touched)
    return edits, Beat(held, revived, beat.ended, beat.offers)


def unreported(snapshot: Snapshot, agent: str) -> tuple[Ended, ...]:
    """The agent's ended leases that ``mine`` has not reported yet."""
    return tuple(ended for ended in snapshot.ended.of((agent,)) if not ended.told)


def plan_told(snapshot: Snapshot, agent: str, seat_of: "SeatOf | None" = None) -> tuple[Edits, Beat]:
    """As a beat, and marks the ended leases as reported."""
    edits, beat = plan_beat(snapshot, agent, seat_of)
    told = tuple(ended.lease.id for ended in beat.ended)
    return (edits.replace(told=told) if told else edits), beat
