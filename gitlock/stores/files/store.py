"""The files store: one state document, replaced whole under one guard."""

import os
import time

from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.errors import StoreUnavailable
from gitlock.stores.files.layout import MEND, Layout, read_whole, remedy
from gitlock.stores.files.mark import Mark, read_mark, write_mark
from gitlock.stores.files.state import SIZE_LIMIT, State, format_state, fresh, parse_state
from gitlock.stores.files.table import EndedLines, LineTable, NoWaiters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from gitlock.domain.instant import Instant
    from gitlock.domain.snapshot import Event, Plan, WaiterTable
    from gitlock.domain.taint import Taint
    from gitlock.stores.files.bell import PipeBell
    from gitlock.stores.files.requests import RequestBook

    T = TypeVar("T")

GUARD_TIMEOUT = 5.0  # seconds; a guard is held for milliseconds, so this long means a stopped process
POLL = 0.05  # seconds between looks at the state's inode while waiting; a look costs microseconds


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
        try:
            self.layout.check()
            return self._snapshot(self._load())
        except OSError as error:
            raise self._unavailable(error) from None

    def update(self, plan: "Plan[T]") -> "T":
        """Reads, plans and writes under the guard. History is written after it was dropped."""
        try:
            return self._update(plan)
        except OSError as error:
            raise self._unavailable(error) from None

    def _update(self, plan: "Plan[T]") -> "T":
        from gitlock.stores.files.atomic import replace_file  # readers, commit hooks above all, need neither
        from gitlock.stores.files.guard import Guard

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
        if edits.leave or edits.ended:
            from gitlock.stores.files.bell import sweep_pipes

            # who died did not take its own away
            sweep_pipes(self.layout.waiting, (*edits.leave, *(one.lease.id for one in edits.ended)))
        if edits.events and not edits.is_empty:
            from gitlock.stores.files.journal import append_events

            append_events(self.layout, edits.events, state.revision, snapshot.now.wall)
        return outcome

    def note(self, events: "tuple[Event, ...]") -> None:
        """Adds to history; nothing else changes, and nothing fails."""
        if os.path.isdir(self.layout.folder):
            from gitlock.stores.files.journal import append_events

            append_events(self.layout, events, 0, self._now().wall)

    def wait(self, revision: int, timeout: float) -> None:
        """Looks at the state's trace, and reads the state only when that changed."""
        trace = self.trace()
        if self.read().revision == revision:
            self.watch(trace, timeout)

    def watch(self, trace: object, timeout: float) -> None:
        """Looks every 50 ms."""
        end = time.monotonic() + timeout
        while self.trace() == trace and time.monotonic() < end:
            time.sleep(min(POLL, max(0.0, end - time.monotonic())))

    def trace(self) -> tuple[int, int, int]:
        """What tells one state file from the next: it is replaced by every write."""
        try:
            found = os.stat(self.layout.state, follow_symlinks=False)
        except OSError:
            return (0, 0, 0)
        return (found.st_ino, found.st_mtime_ns, found.st_size)

    def bell(self, waiter: str) -> "PipeBell":
        """A pipe of the waiter's own, under ``waiting/``."""
        from gitlock.stores.files.bell import PipeBell

        self.layout.make()
        layout = self.layout
        return PipeBell(layout.waiting, waiter, layout.folder_mode, layout.file_mode, layout.state)

    def ring(self, waiters: "Iterable[str]") -> None:
        """A byte to each waiter's pipe."""
        from gitlock.stores.files.bell import ring_pipes

        ring_pipes(self.layout.waiting, waiters)

    def has_requests(self) -> bool:
        """Whether there is a request, or an answer that nobody has heard."""
        try:
            names = os.listdir(self.layout.requests)
        except OSError:
            return False
        return any(name.endswith(".json") for name in names)

    @property
    def requests(self) -> "RequestBook":
        """Requests and their answers, beside the state."""
        from gitlock.stores.files.requests import RequestBook

        return RequestBook(self.layout, self._guard_timeout)

    def check_all(self) -> None:
        """Reads every record, not only those that a question needs; ``StoreError`` for the first that can't be."""
        try:
            self.layout.check()
            state = self._load()
        except OSError as error:
            raise self._unavailable(error) from None
        found = self._snapshot(state)
        for records in (found.leases.all(), found.ended.all(), found.waiters.ordered()):
            for _ in records:
                pass

    def close(self) -> None:
        """Nothing is held open."""

    def _unavailable(self, error: OSError) -> StoreUnavailable:
        """What becomes of an error that nobody foresaw: the store is out of reach, never empty."""
        return StoreUnavailable(
            f"can't use '{self.layout.folder}': {error.strerror or error}", hint=remedy(error, self.layout.folder)
        )

    def _load(self, *, begin: bool = False) -> State:
        """The state, judged against the mark. ``begin`` starts a new epoch where it was lost; readers refuse."""
        layout = self.layout
        mark = read_mark(layout.mark)  # before the state, which is written first: the mark is never ahead by itself
        data = read_whole(layout.state, SIZE_LIMIT, hint=MEND, judge=layout.judge)
        if data is not None:
            state = parse_state(data, layout.state)
            fits = mark is None or (mark.store == state.store and mark.revision <= state.revision)
            if fits and state.header.get("home", layout.folder) == layout.folder:
                return state
        elif mark is None and not os.path.lexists(layout.mark):
            return fresh(os.urandom(8).hex())  # nothing was written yet
        from gitlock.stores.files.losing import settled

        return settled(layout, self._now().wall, begin=begin)

    def _home(self) -> dict[str, object]:
        """Where this store lives, so that a copy of the repository can tell that it is one."""
        return {"home": self.layout.folder, "home_inode": os.stat(self.layout.folder).st_ino}

    def _snapshot(self, state: State) -> Snapshot:
        where = self.layout.state
        now = self._now()
        notice, until = state.header.get("notice", ""), state.header.get("notice_until", 0.0)
        if type(notice) is not str or type(until) is not float or now.wall > until:
            notice = ""
        return Snapshot(
            now=now,
            leases=LineTable(state.sections["leases"], where),
            ended=EndedLines(state.sections["ended"], where),
            waiters=_queue(state.sections["waiters"], where),
            taints=_taints(state.sections.get("taints", []), where),
            revision=state.revision,
            epoch=state.epoch,
            counter=state.counter,
            order=state.order,
            store=state.store,
            notice=notice,
        )


def _queue(rows: list[bytes], where: str) -> "WaiterTable":
    if not rows:
        return NoWaiters()
    from gitlock.stores.files.queue_rows import WaiterLines

    return WaiterLines(rows, where)


def _taints(rows: list[bytes], where: str) -> "tuple[Taint, ...]":
    if not rows:
        return ()
    from gitlock.stores.files.taint_rows import read_taints

    return read_taints(rows, where)


def _edited(state: State, snapshot: Snapshot, edits: Edits, home: dict[str, object]) -> State:
    leases, ended = snapshot.leases, snapshot.ended
    assert isinstance(leases, LineTable)
    assert isinstance(ended, EndedLines)
    sections = {
        **state.sections,
        "leases": leases.edited(edits.drop, edits.put, None if edits.counter is None else state.counter),
        "ended": ended.edited(edits.forget, edits.told, edits.ended),
    }
    if edits.queue or edits.leave:
        from gitlock.stores.files.queue_rows import edited_queue

        sections["waiters"] = edited_queue(state.sections["waiters"], edits.leave, edits.queue)
    if edits.taint or edits.untaint:
        from gitlock.stores.files.taint_rows import edited_taints

        sections["taints"] = edited_taints(snapshot.taints, edits.taint, edits.untaint)
    header = {
        **state.header,
        "revision": state.revision + 1,
        "counter": state.counter if edits.counter is None else edits.counter,
        "order": state.order if edits.order is None else edits.order,
        **home,
    }
    return State(header, sections, "new state")
