"""A store that was deleted, put back from an older copy, replaced by another, or copied with its repository.

The mark beside the folder and the place that the state says it lives in tell. Loaded only when they disagree with what
was read.
"""

import os
import time

from gitlock import jsontext
from gitlock.domain.holding import ENDED_LIMIT
from gitlock.domain.lease import EPOCH_LIMIT, TTL_LIMIT, Ended
from gitlock.errors import StoreCorrupt, StoreError
from gitlock.stores.codec import decode_ended, decode_lease, encode_ended
from gitlock.stores.files.evidence import keep
from gitlock.stores.files.layout import MEND, Layout, read_whole
from gitlock.stores.files.mark import Mark, read_mark
from gitlock.stores.files.state import SIZE_LIMIT, State, fresh, parse_state


def settled(layout: Layout, wall: float, *, begin: bool) -> State:
    """What counts. A store that was lost is ``StoreCorrupt`` to readers; ``begin`` starts a new epoch there, keeps what
    was found as evidence, and tells those who held something in it."""
    mark = read_mark(layout.mark)  # once more, and before the state: it can't be ahead since a writer came between
    data = read_whole(layout.state, SIZE_LIMIT, hint=MEND, judge=layout.judge)
    state = parse_state(data, layout.state) if data is not None else None
    if state is not None and (mark is None or mark.store == state.store):  # the mark was copied with it
        origin = _copied_from(layout, state)
        if origin:
            return _copy(state, origin, wall)
    if mark is None:
        if state is not None:
            return state
        if os.path.lexists(layout.mark):
            raise _lost(layout, f"is gone, and its mark '{layout.mark}' can't be read")
        return fresh(os.urandom(8).hex())
    if state is not None and _fits(state, mark):
        return state
    why = "was deleted" if state is None else "was replaced"
    if state is not None and state.store == mark.store:
        why = "was replaced by an older copy"
    if not begin:
        raise _lost(layout, why)
    if data is not None:
        keep(layout, layout.state)
    seen = (state.epoch, state.counter) if state is not None else (0, 0)
    epoch, counter = max(mark.epoch, seen[0]), max(mark.counter, seen[1])
    return new_epoch(mark.store, epoch + 1, counter, mark.revision, why, data, wall)


def new_epoch(store: str, epoch: int, counter: int, revision: int, why: str, data: bytes | None, wall: float) -> State:
    """A state without leases whose fences are above all that were seen. The holders of leases that can still be read
    in ``data`` find them ended as lost."""
    if epoch >= EPOCH_LIMIT:
        raise StoreError(f"there is no epoch after {epoch - 1}", hint="git lock doctor")
    day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall))
    notice = (
        f"the lease store {why}, and a new epoch began at {day}: leases of before are not known any more; "
        "claim again what you work on"
    )
    ended = _salvaged(data, why, wall) if data else []
    return fresh(store, epoch, counter, revision, notice, until=wall + TTL_LIMIT, ended=ended)


def _salvaged(data: bytes, why: str, wall: float) -> list[bytes]:
    """What a document that does not count still tells: its leases as lost, and those that had ended before."""
    found: dict[str, bytes] = {}
    for line in data.split(b"\n"):
        row = line.rstrip(b"\r").removesuffix(b",")
        try:
            if row.startswith(b'{"agent":'):
                ended = decode_ended(jsontext.loads(row.decode("utf-8")), "")
            elif row.startswith(b'{"at":') and b'"token_sha256":' in row:
                lease = decode_lease(jsontext.loads(row.decode("utf-8")), "")
                ended = Ended(lease, "lost", wall, note=f"the lease store {why}")
            else:
                continue
            found[ended.lease.id] = jsontext.dumps(encode_ended(ended)).encode()
        except (StoreError, ValueError):
            continue
    return list(found.values())[-ENDED_LIMIT:]


def _fits(state: State, mark: Mark) -> bool:
    if state.store == mark.store:
        return mark.revision <= state.revision or mark.epoch < state.epoch
    # The first write in a copy gives the store a new name; a crash may have kept the mark from following.
    return state.header.get("copied_from") == mark.store


def _copy(state: State, origin: str, wall: float) -> State:
    """What a copied repository begins with: nothing is held, and the fences go on."""
    notice = f"this repository is a copy of '{origin}': the leases of that one are not held here"
    copy = fresh(os.urandom(8).hex(), state.epoch + 1, state.counter, state.revision, notice, until=wall + TTL_LIMIT)
    copy.header["copied_from"] = state.store
    return copy


def _copied_from(layout: Layout, state: State) -> str:
    """The folder that this one is a copy of, while the original is still there; else empty (it was moved)."""
    home, inode = state.header.get("home"), state.header.get("home_inode")
    if type(home) is not str or home == layout.folder:
        return ""
    try:
        original = os.stat(home)
        if original.st_ino != inode or os.path.samestat(original, os.stat(layout.folder)):
            return ""
        # Two disks may give one number to two folders: only a store of the same name is the original.
        data = read_whole(os.path.join(home, os.path.basename(layout.state)), SIZE_LIMIT)
        return home if data is not None and parse_state(data, home).store == state.store else ""
    except (OSError, StoreError):
        return ""


def _lost(layout: Layout, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the lease store {why}: what was held can't be told ('{layout.state}'); a new epoch must begin, in which "
        "holders claim again",
        hint=MEND,
    )
