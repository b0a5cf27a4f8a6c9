"""The file store's protocol, one step at a time. Reading, planning and editing are the store's own functions on the
store's own bytes; what is simulated is the order of its system calls (``STEPS``), which the traces of the real program
are compared with.

Everything that a mutant replaces is an attribute.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

from gitlock.domain.beat import plan_told, with_beat
from gitlock.domain.breaking import plan_break
from gitlock.domain.claim import plan_claim
from gitlock.domain.holding import plan_release, plan_renew, plan_sweep
from gitlock.domain.request import plan_grant
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts
from gitlock.domain.turn import plan_join, plan_leave
from gitlock.errors import StoreError
from gitlock.stores.files.losing import _fits, new_epoch
from gitlock.stores.files.mark import Mark
from gitlock.stores.files.state import State, format_state, fresh, parse_state
from gitlock.stores.files.store import FileStore, _edited
from tests.sim.checker import Checker, Op
from tests.sim.world import Process, World

T = TypeVar("T")

HOME: dict[str, object] = {"home": "/sim/agentlocks", "home_inode": 1}
STEPS = (
    "lock guard", "read mark", "read state", "write tmp", "sync tmp", "rename", "sync folder", "write mark", "unlock",
)  # fmt: skip


class Protocol:
    """The store as processes of one world use it."""

    guarded = True

    def __init__(self, world: World, checker: Checker) -> None:
        self.world = world
        self.checker = checker
        self.files = FileStore("/sim/agentlocks", world.now)
        self.plan_claim = plan_claim
        self.plan_join = plan_join
        self.plan_leave = plan_leave
        self.plan_renew = plan_renew
        self.plan_release = plan_release
        self.plan_grant = plan_grant
        self.plan_break = plan_break
        self.plan_sweep = plan_sweep
        self.plan_told = plan_told
        self.with_beat = with_beat
        self.liveness: Callable[..., str] = world.liveness
        self.is_dirty: Callable[[str], bool] = lambda lease: lease in world.dirty

    def facts(self) -> Facts:
        """What plans may know of the world."""
        return Facts(self.liveness, process_waits=self.world.waits)

    # -- one update

    def update(
        self, process: Process, op: Op, plan: Callable[[Snapshot], tuple[Edits, T]]
    ) -> Generator[str, None, T]:
        """Reads, plans and writes under the guard."""
        yield from self.lock(process)
        state = yield from self.load(begin=True)
        snapshot = self.snapshot(state)
        op.saw = self.checker.saw()
        edits, outcome = plan(snapshot)
        if not edits.is_empty:
            after = self.edited(state, snapshot, edits)
            yield from self.publish(op, format_state(after))
            self.world.disk.mark = Mark(after.store, after.epoch, after.counter, after.revision)
            yield "write mark"
        self.unlock(process)
        return outcome

    def lock(self, process: Process) -> Generator[str, None, None]:
        """A kernel queue."""
        if not self.guarded:
            yield "lock guard"
            return
        self.world.guard.append(process)
        while self.world.guard[0] is not process:
            yield "blocked"
        yield "lock guard"

    def unlock(self, process: Process) -> None:
        """Also when it dies (``World.kill``)."""
        self.world.guard = [one for one in self.world.guard if one is not process]

    def publish(self, op: Op, data: bytes) -> Generator[str, None, None]:
        """Whole or not at all, and to last."""
        disk = self.world.disk
        disk.write(data[: len(data) // 2])
        yield "write tmp"
        disk.write(data)
        yield "write tmp"
        disk.sync()
        yield "sync tmp"
        self.rename(op)
        yield "rename"
        disk.sync_folder()
        yield "sync folder"

    def rename(self, op: Op) -> None:
        """From now on everybody sees it."""
        self.world.disk.rename()
        assert self.world.disk.state is not None
        self.checker.published(op, self.world.disk.state)

    def snapshot(self, state: State) -> Snapshot:
        """The store's own."""
        return self.files._snapshot(state)

    def edited(self, state: State, snapshot: Snapshot, edits: Edits) -> State:
        """The store's own."""
        return _edited(state, snapshot, edits, HOME)

    # -- reading

    def load(self, *, begin: bool) -> Generator[str, None, State]:
        """The state, judged against the mark, which is read first."""
        disk = self.world.disk
        lost = False
        for _ in range(2):  # once more where they don't fit: a writer may have come between
            mark = disk.mark
            yield "read mark"
            data = disk.state
            lost |= self.world.lost
            yield "read state"
            state = self.parsed(data)
            if state is not None and (mark is None or _fits(state, mark)):
                return state
            if state is None and mark is None:
                return fresh("simulated")
        self.checker.found_lost(truly=lost)
        if not begin:
            raise StoreError("lost")
        assert mark is not None
        seen = (state.epoch, state.counter) if state is not None else (0, 0)
        return self.begun(mark, seen, data)

    def begun(self, mark: Mark, seen: tuple[int, int], data: bytes | None) -> State:
        """A new epoch above everything that was seen."""
        epoch, counter = max(mark.epoch, seen[0]) + 1, max(mark.counter, seen[1])
        return new_epoch(mark.store, epoch, counter, mark.revision, "was gone", data, self.world.wall)

    def parsed(self, data: bytes | None) -> State | None:
        """A reader never sees half a document."""
        if data is None:
            return None
        try:
            return parse_state(data, "the state")
        except StoreError as error:
            raise self.checker.broken("torn", str(error)) from None
