"""Every lease of a clone as it is held by now: its worktrees may have switched branches without any hook."""

from gitlock.domain.seat import reseated
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.errors import StoreBusy, StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.beat import SeatOf
    from gitlock.stores.protocol import LeaseStore


def settle(store: "LeaseStore", seat_of: "SeatOf") -> Snapshot:
    """A reading in which every lease says where it is held from by now; written down where that is news. A store that
    can't be written is read as it is."""

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        pairs = [(lease, reseated(lease, seat_of)) for lease in snapshot.leases.all()]
        return Edits(put=tuple(new for old, new in pairs if new is not old)), None

    snapshot = store.read()
    if plan(snapshot)[0].is_empty:
        return snapshot
    try:
        store.update(plan)
    except (StoreBusy, StoreUnavailable):
        return snapshot
    return store.read()
