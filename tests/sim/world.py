"""A simulated machine: one disk, one guard, clocks, processes, and a scheduler that picks from a tape of choices.

Nothing here is random by itself: a ``Tape`` gives every decision, from a seed or as it was recorded, so that a run can
be repeated and cut down. Zero always means that nothing special happens.
"""

import random
from collections.abc import Generator
from typing import NamedTuple

from gitlock.domain.instant import Instant
from gitlock.domain.lease import Holder, Lease
from gitlock.domain.queue import Waiter
from gitlock.domain.standing import ALIVE, DEAD, UNKNOWN
from gitlock.stores.files.mark import Mark

Steps = Generator[str, None, None]


class Tape:
    """Decisions, recorded as they are made."""

    def __init__(self, seed: int | None = None, recorded: list[int] | None = None) -> None:
        self._random = random.Random(seed) if recorded is None else None
        self._recorded = recorded or []
        self.choices: list[int] = []

    def pick(self, count: int) -> int:
        """One of 0 … count-1."""
        if self._random is not None:
            choice = int(self._random.random() * count)
        else:
            at = len(self.choices)
            choice = self._recorded[at] % count if at < len(self._recorded) else 0
        self.choices.append(choice)
        return choice

    def rarely(self, times: int, of: int) -> bool:
        """Whether something special happens."""
        return self.pick(of) >= of - times


class Disk:
    """What every process sees, and what a power cut would leave: they differ until something is synced."""

    def __init__(self) -> None:
        self.state: bytes | None = None
        self.temporary: bytes | None = None
        self.mark: Mark | None = None
        self.safe: bytes | None = None  # the state that is on the plate
        self._synced: bytes | None = None  # the content of the temporary file that is on the plate
        self._renamed = False  # the new name is not on the plate yet
        self._content: bytes = b""  # what that name will show from the plate

    def write(self, data: bytes) -> None:
        self.temporary = data
        self._synced = None

    def sync(self) -> None:
        self._synced = self.temporary

    def rename(self) -> None:
        self.state, self.temporary = self.temporary, None
        self._renamed = True
        self._content = self._synced if self._synced is not None else b""

    def sync_folder(self) -> None:
        if self._renamed:
            self.safe = self._content
            self._renamed = False

    def remove(self) -> None:
        """Somebody deletes the folder; the mark beside it stays."""
        self.state = self.temporary = self.safe = None
        self._renamed = False

    def cut(self, tape: Tape) -> None:
        """The power goes: what was not synced may be there, in part, or not at all."""
        if self._renamed and tape.pick(2):
            self.safe = self._content
        self.state, self.temporary, self._renamed = self.safe, None, False


class Process:
    """One command of an agent's, or (without steps) the agent program that stands behind it."""

    def __init__(self, pid: int, started: int, agent: str, steps: Steps | None = None) -> None:
        self.pid = pid
        self.started = started
        self.agent = agent
        self.steps = steps
        self.alive = True
        self.paused = False
        self.name = f"{agent}#{pid}"


class Saw(NamedTuple):
    """What was true at the instant at which a plan was made."""

    mono: float
    boots: int
    waiting: frozenset[str]  # ids of those that surely wait


class World:
    """Everything that is."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.disk = Disk()
        self.mono = 1000.0
        self.wall = 1_893_553_445.0
        self.boots = 1
        self.guard: list[Process] = []  # the first one has it
        self.processes: list[Process] = []
        self.programs: dict[str, Process] = {}
        self.dirty: set[str] = set()  # leases whose paths are changed, and not committed
        self.lost = False  # the store was deleted or put back
        self.trace: list[str] = []
        self._number = 1
        self._ids = 0

    def say(self, text: str) -> None:
        self.trace.append(text)

    def now(self) -> Instant:
        """As the store asks for it."""
        return Instant(round(self.wall, 3), round(self.mono, 3), f"boot-{self.boots}")

    def new_id(self) -> str:
        self._ids += 1
        return f"{self._ids:012x}"

    def start(self, agent: str, steps: Steps | None = None) -> Process:
        """A new process. Numbers are few, so that they are soon used again."""
        taken = {one.pid for one in (*self.processes, *self.programs.values()) if one.alive}
        self._number += 1
        pid = next(2 + (self._number + more) % 23 for more in range(23) if 2 + (self._number + more) % 23 not in taken)
        process = Process(pid, self._number, agent, steps)
        if steps is not None:
            self.processes.append(process)
        return process

    def program_of(self, agent: str) -> Process:
        """The agent program, started anew where it has died."""
        found = self.programs.get(agent)
        if found is None or not found.alive:
            found = self.programs[agent] = self.start(agent)
        return found

    def kill(self, process: Process) -> None:
        """SIGKILL: not one line more of it runs, and the kernel drops its locks."""
        process.alive = False
        self.guard = [one for one in self.guard if one is not process]
        if process in self.processes:
            self.processes.remove(process)

    def holder(self, agent: str, process: Process | None) -> Holder:
        """What a lease or a place in the queue keeps of its process. One agent works where nobody sees it."""
        return Holder(
            "host", worktree=f"/{agent}", boot=f"boot-{self.boots}",
            pid=None if process is None else process.pid, started=None if process is None else process.started,
            pid_space="hidden" if agent == "hid" else "here",
        )  # fmt: skip

    def liveness(self, lease: Lease) -> str:
        """What can be proved about a lease's holder."""
        holder = lease.holder
        if holder.pid is None or holder.pid_space != "here":
            return UNKNOWN
        if holder.boot != f"boot-{self.boots}":
            return DEAD
        found = self._running(holder)
        return ALIVE if found is not None else DEAD

    def waits(self, waiter: Waiter) -> bool:
        """What is taken for true of a waiter's process."""
        process = waiter.process
        if process is None:
            return True
        found = self._running(process) if process.boot == f"boot-{self.boots}" else None
        return found is not None and not found.paused

    def _running(self, holder: Holder) -> Process | None:
        for one in (*self.processes, *self.programs.values()):
            if one.pid == holder.pid and one.started == holder.started and one.alive:
                return one
        return None

    def reboot(self) -> None:
        """The power goes and comes back."""
        for process in [*self.processes, *self.programs.values()]:
            self.kill(process)
        self.disk.cut(self.tape)
        self.boots += 1
        self.wall += 30.0
        self.mono = 5.0
