"""Repairing a store: explicit, keeps the evidence, and begins a new epoch where what was held can't be told."""

import os
import stat

from gitlock.domain.lease import EPOCH_LIMIT, EPOCH_STEP
from gitlock.domain.value import Value
from gitlock.errors import StoreCorrupt, StoreError, StoreForeign, StoreTooNew
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.evidence import keep, put_aside
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import MEND, Layout, read_whole
from gitlock.stores.files.losing import new_epoch
from gitlock.stores.files.mark import Mark, read_mark, write_mark
from gitlock.stores.files.state import SIZE_LIMIT, State, format_state, parse_state
from gitlock.stores.files.store import FileStore

GUARD_TIMEOUT = 5.0  # seconds
HOUR = 3600  # seconds: in the long run no store begins epochs faster than this,
REPAIRS = 100_000  # and this many it may have begun on top


class Repaired(Value):
    """``evidence`` lists where the broken things are kept; ``epoch`` is the new one, None where none had to begin."""

    __slots__ = ("epoch", "evidence")

    def __init__(self, evidence: tuple[str, ...], epoch: int | None) -> None:
        self.evidence = evidence
        self.epoch = epoch


def diagnose(store: FileStore) -> StoreError | None:
    """What is wrong with any file or record, not only with what a question needs; None where all is well."""
    layout = store.layout
    try:
        store.check_all()
        for path in (layout.guard, layout.state + ".tmp"):
            if _foreign(path):
                return StoreForeign(f"'{path}' is not a regular file", hint=MEND)
    except StoreError as error:
        return error
    if os.path.lexists(layout.mark) and read_mark(layout.mark) is None:
        return StoreCorrupt(f"the mark '{layout.mark}' can't be read: a lost store would not be noticed", hint=MEND)
    return None


def is_mendable(fault: StoreError) -> bool:
    """Whether ``repair`` can do something about it; permissions and full disks are for people to mend."""
    return fault.hint == MEND


def repair(store: FileStore, wall: float) -> Repaired:
    """Puts aside what is broken or foreign. Where what was held can't be told from what is left, begins a new epoch
    above every fence that can be seen, and ends as lost whatever lease can still be read.

    ``StoreTooNew`` is not repaired: it is not broken.
    """
    layout = store.layout
    evidence = [_make_room_for_folder(layout)]
    layout.make()
    evidence += [put_aside(layout, path) for path in (layout.guard, layout.state + ".tmp") if _foreign(path)]
    with Guard(layout.guard, GUARD_TIMEOUT, layout.file_mode):
        fault = _fault_of_state(store)
        if isinstance(fault, StoreTooNew) or (fault is not None and not is_mendable(fault)):
            raise fault
        mark = read_mark(layout.mark)
        if mark is None:
            evidence.append(put_aside(layout, layout.mark))
        data = _bytes_of(layout.state)
        state = None
        if fault is not None:
            state = _anew(mark, data, wall)
            evidence.append(keep(layout, layout.state))
            replace_file(layout.state, format_state(state), layout.file_mode)
        elif data is not None:
            state = parse_state(data, layout.state)
        if state is not None:
            write_mark(layout.mark, Mark(state.store, state.epoch, state.counter, state.revision), layout.file_mode)
    epoch = state.epoch if fault is not None and state is not None else None
    return Repaired(tuple(path for path in evidence if path is not None), epoch)


def _fault_of_state(store: FileStore) -> StoreError | None:
    try:
        store.check_all()
    except StoreError as error:
        return error
    return None


def _anew(mark: Mark | None, data: bytes | None, wall: float) -> State:
    by_time = 1 + int(wall) // HOUR  # above what anything could have counted to by now
    epoch, counter = (mark.epoch, mark.counter) if mark is not None else (0, 0)
    seen = _seen_in(data or b"", min(by_time + REPAIRS, EPOCH_LIMIT - 1))
    counter = max(counter, seen[1])
    epoch = max(epoch, seen[0], -(-counter // EPOCH_STEP)) or by_time
    store, revision = (mark.store, mark.revision) if mark is not None else (os.urandom(8).hex(), 0)
    return new_epoch(store, epoch + 1, counter, revision + 1, "was repaired", data, wall)


def _make_room_for_folder(layout: Layout) -> str | None:
    """Something else in the folder's place is moved beside it: there is no folder of evidence yet."""
    try:
        if stat.S_ISDIR(os.lstat(layout.folder).st_mode):
            return None
    except OSError:
        return None
    for number in range(1000):
        kept = f"{layout.folder}.aside-{number}"
        if not os.path.lexists(kept):
            os.rename(layout.folder, kept)
            return kept
    raise StoreError(f"too much lies beside '{layout.folder}': move it away")


def _foreign(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _bytes_of(path: str) -> bytes | None:
    try:
        return read_whole(path, SIZE_LIMIT)
    except StoreError:
        return None


def _seen_in(data: bytes, most: int) -> tuple[int, int]:
    """The highest epoch and fence that a broken document still shows, read as text. More than ``most`` epochs no store
    has had: that is damage, and must not use up the fences."""
    fences = [_highest(data, name, most * EPOCH_STEP) for name in (b'"counter":', b'"fence":')]
    return _highest(data, b'"epoch":', most), max(fences)


def _highest(data: bytes, name: bytes, limit: int) -> int:
    best, at = 0, data.find(name)
    while at >= 0:
        digits = data[at + len(name) : at + len(name) + 20].lstrip()
        end = 0
        while end < len(digits) and digits[end : end + 1].isdigit():
            end += 1
        if end and int(digits[:end]) < limit:
            best = max(best, int(digits[:end]))
        at = data.find(name, at + 1)
    return best
