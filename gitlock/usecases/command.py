"""A command, and all that it starts, as one thing that can be told to end.

Without a terminal it gets a process group of its own, so that all of it can be stopped at once. With one it stays in
ours, as under any shell: the keyboard's Ctrl-C and Ctrl-Z reach it and us and the script around us alike, it may read
from the terminal, and a pager behind a pipe works. What belongs to it is then found by descent: orphans of a
subreaper come back to it.

On Linux the command is told to end (TERM) when we die without having been able to tell it.
"""

import os
import signal
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Prctl = Callable[[int, int], object]

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class Command:
    """A command that was started. ``shares_group`` says that it is in our own process group."""

    def __init__(
        self,
        argv: list[str],
        environ: "Mapping[str, str]",
        *,
        stdout: int | None = None,
        folder: str | None = None,
    ) -> None:
        """Starts it, in ``folder`` or where we are; ``OSError`` if that can't be done. ``stdout`` is a descriptor that
        takes its standard output."""
        self.shares_group = has_terminal()
        self.code: int | None = None
        prctl = _prctl()
        self._adopts = prctl is not None
        if prctl is not None:
            prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(environ),
            stdout=stdout,
            process_group=None if self.shares_group else 0,
            close_fds=False,  # what was passed on to us (a job server's pipe) goes on to it; ours close by themselves
            preexec_fn=_dies_with_us(prctl),  # noqa: PLW1509 - we have no threads
        )
        self.pid = self._process.pid

    def reap(self) -> int | None:
        """The exit code once it has ended, 128 + n where signal n ended it. Orphans that came back to us are reaped."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.code = self._process.returncode
        return self.code

    def send(self, number: int) -> None:
        """A signal to all of it."""
        members = self.members()
        if not self.shares_group and (members or self.code is None):
            _send(os.killpg, self.pid, number)
            members = [] if _group_of(self.pid) == self.pid else [self.pid]  # it may have left its group
        for pid in members:
            _send(os.kill, pid, number)

    def members(self) -> list[int]:
        """The processes of it that are still there, as far as the system tells."""
        table = _table()
        if table is None:
            return [self.pid] if self.code is None else []
        group = os.getpgrp() if self.shares_group else self.pid
        found = [pid for pid, row in table.items() if row[2] == group and row[0] not in ("Z", "X")]
        if self.shares_group or self._adopts:
            found = [pid for pid in found if _descends(pid, os.getpid(), table)]
        return found


def has_terminal() -> bool:
    """Whether there is a terminal that controls us; its input and output may well be elsewhere."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _send(how: "Callable[[int, int], None]", target: int, number: int) -> None:
    try:
        how(target, number)
    except (ProcessLookupError, PermissionError):
        return


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return pid  # it is gone: there is nobody to be told


def _descends(pid: int, above: int, table: dict[int, tuple[str, int, int]]) -> bool:
    for _ in table:
        row = table.get(pid)
        if row is None:
            return False
        pid = row[1]
        if pid == above:
            return True
    return False


def _table() -> dict[int, tuple[str, int, int]] | None:
    """Every process: its state, its parent, its group; None where the system has no such table."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
    found = {}
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    row = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            found[int(name)] = (row[0].decode(), int(row[1]), int(row[2]))
    return found or None


def _prctl() -> "Prctl | None":
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        function = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return lambda option, value: function(option, value, 0, 0, 0)


def _dies_with_us(prctl: "Prctl | None") -> "Callable[[], None] | None":
    if prctl is None:
        return None
    parent = os.getpid()

    def before_it_runs() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)  # we died before it could be set

    return before_it_runs
