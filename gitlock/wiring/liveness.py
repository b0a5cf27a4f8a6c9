"""Is a holder's process still there? ``alive``, ``dead`` or ``unknown``, and doubt is ``unknown``.

A process id means something only with its boot, its PID namespace and its start time: ids are reused (also within
one clock tick), a container's 303 is not ours, and a zombie still answers signals. Only Linux tells all of it; on
other systems a process that is gone is dead, and one that is there is unknown.
"""

import os
import sys
import time

from gitlock.domain.lease import Holder, Lease
from gitlock.domain.standing import ALIVE, DEAD, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.queue import Waiter

WORD = 60.0  # seconds that the word of a waiter elsewhere counts; it gives one three times as often
PARENTS_LIMIT = 64  # how far up the ancestors are followed


class Here:
    """This machine, boot and PID namespace: what a holder's must equal before its process id says anything."""

    __slots__ = ("boot", "host", "pid_space")

    def __init__(self, boot: str) -> None:
        self.boot = _machine() + ":" + boot.partition("+")[0] if boot else ""
        self.host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
        self.pid_space = _pid_space()

    def liveness(self, lease: Lease) -> str:
        """What can be proved about the lease's holder now."""
        return self.holder_liveness(lease.holder)

    def holder_liveness(self, holder: Holder) -> str:
        """The same for any holder: that of a session."""
        if holder.pid is None or not holder.boot:
            return UNKNOWN
        if holder.host != self.host:
            return UNKNOWN
        if holder.pid_space != self.pid_space or (self.pid_space is None and sys.platform == "linux"):
            return UNKNOWN
        started = start_time(holder.pid)
        if holder.boot != self.boot:
            machine = holder.boot.partition(":")[0]
            # This very machine was started anew: no process of before is left. Where one is, somebody shows us
            # another name of the boot that we are in.
            is_same = bool(machine) and machine == self.boot.partition(":")[0]
            is_there = started is not None and started == holder.started
            return DEAD if is_same and not is_there else UNKNOWN
        if started is None:
            return DEAD if _surely_gone(holder.pid) else UNKNOWN
        if holder.started is None:
            return UNKNOWN
        return ALIVE if started == holder.started else DEAD

    def process_waits(self, waiter: "Waiter", pipes: str) -> bool:
        """Whether a waiter's process is still at it. One that is stopped is not: it would keep everyone behind it.

        In another container of this machine, it is at it for as long as somebody reads its pipe, in the folder
        ``pipes``. On another machine nothing can be proved: there it is for as long as its word is fresh.
        """
        process = waiter.process
        if process is None or process.pid is None:
            return True
        if (process.host, process.boot, process.pid_space) == (self.host, self.boot, self.pid_space):
            row = _stat_row(process.pid)
            if row is None:
                return not _surely_gone(process.pid)
            if row[0] in ("Z", "X", "x", "T"):
                return False
            return process.started is None or _started(row) == process.started
        from gitlock.stores.files.bell import last_word, listens

        machine, _, boot = process.boot.partition(":")
        here, _, this_boot = self.boot.partition(":")
        if boot and boot == this_boot:
            return listens(pipes, waiter.id) is not False
        if machine and machine == here:
            return False  # this very machine was started anew
        return time.time() - max(waiter.seen.wall, last_word(pipes, waiter.id)) <= WORD

    def watch(self, holder: Holder) -> int:
        """A descriptor that can be read once the holder's process has ended; -1 where the system has none, or the
        process is not of here."""
        if holder.pid is None or not hasattr(os, "pidfd_open"):
            return -1
        if (holder.host, holder.boot, holder.pid_space) != (self.host, self.boot, self.pid_space):
            return -1
        try:
            fd = os.pidfd_open(holder.pid)
        except OSError:
            return -1
        if holder.started is not None and start_time(holder.pid) != holder.started:
            os.close(fd)  # another process of that number, or one that has ended already
            return -1
        return fd

    def runs_under(self, holder: Holder) -> bool:
        """Whether the holder's process is one of our ancestors."""
        if holder.pid is None or (holder.host, holder.boot, holder.pid_space) != (self.host, self.boot, self.pid_space):
            return False
        return holder.pid in ancestors() and holder.started in (None, start_time(holder.pid))

    def holder(
        self, *, pid: int | None, worktree: str | None, branch: str | None, session: str | None, clone: str | None
    ) -> Holder:
        """A holder that works here."""
        return Holder(
            host=self.host,
            worktree=worktree,
            branch=branch,
            session=session,
            pid=pid,
            started=start_time(pid) if pid is not None else None,
            pid_space=self.pid_space if pid is not None else None,
            boot=self.boot,
            clone=clone,
        )


def start_time(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None for one that is gone or a zombie."""
    row = _stat_row(pid)
    if row is None or row[0] in ("Z", "X", "x"):
        return None
    return _started(row)


def _started(row: list[str]) -> int:
    """The kernel tells it in the reader's own time: in a time namespace that is shifted (whole seconds, as a rule)."""
    return int(row[19]) - _shift()


def _shift() -> int:
    global _ticks
    if _ticks is None:
        _ticks = 0
        try:
            with open("/proc/self/timens_offsets", "rb") as file:
                rows = [row.split() for row in file]
        except OSError:
            rows = []
        for name, seconds, nanoseconds in (row for row in rows if len(row) == 3):
            if name == b"boottime":
                _ticks = (int(seconds) * 1_000_000_000 + int(nanoseconds)) * os.sysconf("SC_CLK_TCK") // 1_000_000_000
    return _ticks


_ticks: int | None = None


def parent_of(pid: int) -> int:
    """The parent's process id; 0 where there is none or it can't be told."""
    row = _stat_row(pid)
    return int(row[1]) if row is not None else 0


def ancestors() -> list[int]:
    """Our parents, nearest first, without the first process of all."""
    found: list[int] = []
    pid = os.getppid()
    while pid > 1 and len(found) < PARENTS_LIMIT:
        found.append(pid)
        pid = parent_of(pid)
    return found


def command_of(pid: int) -> str:
    """The process's name as the kernel keeps it (15 characters)."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read(64).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def words_of(pid: int) -> list[str]:
    """The first words of the process's command line; empty where it can't be told."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsdecode(file.read(4096)).split("\0")[:8]
    except OSError:
        return []


def _stat_row(pid: int) -> list[str] | None:
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        text = os.read(fd, 4096).decode("ascii", "replace")
    except OSError:
        return None  # it ended in this moment
    finally:
        os.close(fd)
    row = text.rpartition(")")[2].split()
    return row if len(row) > 19 else None


def _surely_gone(pid: int) -> bool:
    if os.name == "nt" or (sys.platform == "linux" and not os.path.exists("/proc/self/stat")):
        return False  # no process table to look at, and signal 0 means something else on Windows
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    row = _stat_row(pid)
    return row is not None and row[0] in ("Z", "X", "x")


def _machine() -> str:
    """What tells this machine from another of the same host name; empty where nothing does (most containers)."""
    try:
        with open("/etc/machine-id", "rb") as file:
            return file.read(64).decode("ascii").strip()[:12]
    except (OSError, ValueError):
        return ""


def _pid_space() -> str | None:
    """None where it can't be told, also since /proc shows the processes of another PID namespace than ours."""
    try:
        return os.readlink("/proc/self/ns/pid") if os.readlink("/proc/self") == str(os.getpid()) else None
    except OSError:
        return None
