"""Going on holding: the heartbeat that every command gives, and ``renew``."""

from gitlock.domain.beat import Beat, plan_beat, plan_told, with_beat
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.errors import StoreBusy, StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.beat import SeatOf
    from gitlock.domain.holding import Renewed, Wanted
    from gitlock.domain.pattern import Fold
    from gitlock.stores.protocol import LeaseStore


class Pulse(Value):
    """A reading with the agent's leases renewed in it. ``fault`` says why the renewal could not be written down; what
    is held then still counts, from the reading."""

    __slots__ = ("beat", "fault", "snapshot")

    def __init__(self, snapshot: Snapshot, beat: Beat, fault: str | None = None) -> None:
        self.snapshot = snapshot
        self.beat = beat
        self.fault = fault


def pulse(store: "LeaseStore", agent: str, seat_of: "SeatOf | None" = None) -> Pulse:
    """Reads the store, and renews the agent's leases where that is due, or where they are held from by ``seat_of`` is
    news; a disk that can't be written only costs the renewal. Raises ``StoreError`` where nothing can be read."""
    snapshot = store.read()
    edits, beat = plan_beat(snapshot, agent, seat_of)
    if edits.is_empty:
        return Pulse(snapshot, beat)

    def plan(now: Snapshot) -> tuple[Edits, Beat]:
        return plan_beat(now, agent, seat_of)

    try:
        beat = store.update(plan)
    except (StoreBusy, StoreUnavailable) as error:
        return Pulse(snapshot, beat, str(error))
    return Pulse(store.read(), beat)


def mine(store: "LeaseStore", agent: str, seat_of: "SeatOf | None" = None) -> Pulse:
    """As a pulse, and marks as reported what ended: ``beat.ended`` lists it this once."""
    snapshot = store.read()
    edits, beat = plan_told(snapshot, agent, seat_of)
    if edits.is_empty:
        return Pulse(snapshot, beat)

    def plan(now: Snapshot) -> tuple[Edits, Beat]:
        return plan_told(now, agent, seat_of)

    try:
        beat = store.update(plan)
    except (StoreBusy, StoreUnavailable) as error:
        return Pulse(snapshot, beat, str(error))
    return Pulse(store.read(), beat)


def renew(
    store: "LeaseStore", agent: str, wanted: "tuple[Wanted, ...]", ttl: float | None, fold: "Fold",
    seat_of: "SeatOf | None" = None,
) -> "Renewed":  # fmt: skip
    """Extends what is named, or everything of the agent's. ``UsageError`` for an argument that names no lease and
    can't be read as a claim either."""
    from gitlock.domain.holding import plan_renew

    def plan(snapshot: Snapshot) -> "tuple[Edits, Renewed]":
        edits, answer = plan_renew(snapshot, agent, wanted, ttl, fold)
        edits, beat = with_beat(edits, snapshot, agent, seat_of)
        return edits, answer.replace(beat=beat)

    outcome = store.update(plan)
    complain(outcome.missing)
    return outcome


def complain(missing: "tuple[Wanted, ...]") -> None:
    """Raises the fault of the first argument that names nothing and can't even be read."""
    for want in missing:
        if want.fault is not None:
            raise want.fault
