"""The files store: one state document, replaced whole under one guard."""

import os
import time

from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.errors import StoreCorrupt
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.journal import append_events
from gitlock.stores.files.layout import Layout, read_whole
from gitlock.stores.files.mark import Mark, read_mark, write_mark
from gitlock.stores.files.state import SIZE_LIMIT, State, format_state, fresh, parse_state
from gitlock.stores.files.table import EndedLines, LineTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from gitlock.domain.instant import Instant
    from gitlock.domain.snapshot import Event, Plan

    T = TypeVar("T")

GUARD_TIMEOUT = 5.0  # seconds; a guard is held for milliseconds, so this long means a stopped process
POLL = 0.02  # seconds between looks at the state's inode while waiting; a look costs microseconds


class FileStore:
    """Leases under one folder of one machine. Keeps ``LeaseStore``'s promises."""

    def __init__(
        self, folder: str, now: "Callable[[], Instant]", *, shared: int = 0, guard_timeout: float = GUARD_TIMEOUT
    ) -> None:
        self.layout = Layout(folder, shared)
        self._now = now
        self._guard_timeout = guard_timeout

    def read(self) -> Snapshot:
        """One revision. Takes no lock: a rename shows either the old document or the new one."""
        if not self.layout.check():
            state = self._absent()
        else:
            state = self._load()
        return self._snapshot(state)

    def update(self, plan: "Plan[T]") -> "T":
        """Reads, plans and writes under the guard. History is written after it was dropped."""
        self.layout.make()
        with Guard(self.layout.guard, self._guard_timeout, self.layout.file_mode):
            self.layout.check()
            state = self._load(begin=True)
            snapshot = self._snapshot(state)
            edits, outcome = plan(snapshot)
            if not edits.is_empty:
                state = _edited(state, snapshot, edits, self._home())
                replace_file(self.layout.state, format_state(state), self.layout.file_mode)
                mark = Mark(state.store, state.epoch, state.counter, state.revision)
                write_mark(self.layout.mark, mark, self.layout.file_mode)
        if edits.events and not edits.is_empty:
            append_events(self.layout, edits.events, state.revision, snapshot.now.wall)
        return outcome

    def note(self, events: "tuple[Event, ...]") -> None:
        """Adds to history; nothing else changes, and nothing fails."""
        if os.path.isdir(self.layout.folder):
            append_events(self.layout, events, 0, self._now().wall)

    def wait(self, revision: int, timeout: float) -> None:
        """Looks at the state's identity every 20 ms and reads it only when that changed."""
        end = time.monotonic() + timeout
        seen = self._identity()
        if self.read().revision != revision:
            return
        while time.monotonic() < end:
            time.sleep(min(POLL, max(0.0, end - time.monotonic())))
            if self._identity() != seen:
                return

    def close(self) -> None:
        """Nothing is held open."""

    def _identity(self) -> tuple[int, int]:
        try:
            found = os.stat(self.layout.state, follow_symlinks=False)
        except OSError:
            return (0, 0)
        return (found.st_ino, found.st_mtime_ns)

    def _load(self, *, begin: bool = False) -> State:
        """The state, judged against the mark. ``begin`` starts a new epoch where it was lost; readers refuse."""
        data = read_whole(self.layout.state, SIZE_LIMIT)
        if data is None:
            return self._absent(begin=begin)
        state = parse_state(data, self.layout.state)
        origin = self._copied_from(state)
        if origin:
            notice = f"this repository is a copy of '{origin}': the leases of that one are not held here"
            return fresh(os.urandom(8).hex(), state.epoch + 1, state.counter, state.revision, notice)
        mark = read_mark(self.layout.mark)
        if mark is not None and mark.store != state.store:
            if not begin:
                raise _lost(self.layout, "was replaced by another one")
            return self._new_epoch(mark, max(mark.counter, state.counter), "was replaced by another one")
        if mark is not None and mark.revision > state.revision:
            again = read_whole(self.layout.state, SIZE_LIMIT)  # a writer may have come between the two readings
            state = parse_state(again, self.layout.state) if again is not None else state
            if mark.revision > state.revision and mark.epoch >= state.epoch:
                why = "was replaced by an older copy"
                if not begin:
                    raise _lost(self.layout, why)
                return self._new_epoch(mark, max(mark.counter, state.counter), why)
        return state

    def _absent(self, *, begin: bool = False) -> State:
        mark = read_mark(self.layout.mark)
        if mark is None or mark.revision == 0:
            return fresh(os.urandom(8).hex())
        if not begin:
            raise _lost(self.layout, "is gone")
        return self._new_epoch(mark, mark.counter, "was gone")

    def _new_epoch(self, mark: Mark, counter: int, why: str) -> State:
        day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        notice = (
            f"the lease store {why}, and a new epoch began at {day}: leases of before are not known any more; "
            "claim again what you work on"
        )
        return fresh(mark.store, mark.epoch + 1, counter, mark.revision, notice)

    def _home(self) -> dict[str, object]:
        """Where this store lives, so that a copy of the repository can tell that it is one."""
        return {"home": self.layout.folder, "home_inode": os.stat(self.layout.folder).st_ino}

    def _copied_from(self, state: State) -> str:
        """The folder that this one is a copy of, while the original is still there; else empty (it was moved)."""
        home, inode = state.header.get("home"), state.header.get("home_inode")
        if type(home) is not str or home == self.layout.folder:
            return ""
        try:
            original = os.stat(home)
            if original.st_ino == inode and not os.path.samestat(original, os.stat(self.layout.folder)):
                return home
        except OSError:
            pass
        return ""

    def _snapshot(self, state: State) -> Snapshot:
        where = self.layout.state
        notice = state.header.get("notice", "")
        return Snapshot(
            now=self._now(),
            leases=LineTable(state.sections["leases"], where),
            ended=EndedLines(state.sections["ended"], where),
            revision=state.revision,
            epoch=state.epoch,
            counter=state.counter,
            store=state.store,
            notice=notice if type(notice) is str else "",
        )


def _edited(state: State, snapshot: Snapshot, edits: Edits, home: dict[str, object]) -> State:
    leases, ended = snapshot.leases, snapshot.ended
    assert isinstance(leases, LineTable)
    assert isinstance(ended, EndedLines)
    sections = {
        **state.sections,
        "leases": leases.edited(edits.drop, edits.put),
        "ended": ended.edited(edits.forget, edits.told, edits.ended),
    }
    header = {
        **state.header,
        "revision": state.revision + 1,
        "counter": state.counter if edits.counter is None else edits.counter,
        **home,
    }
    return State(header, sections, "new state")


def _lost(layout: Layout, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the lease store {why}: what was held can't be told ('{layout.state}')",
        hint="git lock doctor --fix (begins a new epoch; holders must claim again)",
    )
