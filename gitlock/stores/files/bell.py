"""Waking waiters: one named pipe each, under ``waiting/``. Nobody polls, so a thousand waiters cost nothing.

Whoever frees something writes a byte to the pipes of those whose turn it may be. A pipe without a reader says that
its waiter is gone. Where there are no named pipes, waiters look at the state from time to time instead.
"""

import os
import stat
import time

from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

POLL = 0.05  # seconds between looks where there are no named pipes


class PipeBell:
    """A waiter's own pipe. Opened for writing as well: its reading end never sees an end of file."""

    __slots__ = ("_fd", "_path", "_state")

    def __init__(self, folder: str, waiter: str, mode: int, state: str) -> None:
        self._path = os.path.join(folder, waiter)
        self._state = state
        self._fd = -1
        if hasattr(os, "mkfifo"):
            os.makedirs(folder, mode=mode | 0o100 | (mode & 0o44) >> 2, exist_ok=True)
            os.mkfifo(self._path, mode)
            os.chmod(self._path, mode)
            self._fd = os.open(self._path, os.O_RDWR | NONBLOCK | CLOEXEC | NOFOLLOW)

    def wait(self, timeout: float) -> bool:
        if self._fd < 0:
            return self._watch(timeout)
        import select

        if not select.select([self._fd], (), (), max(0.0, timeout))[0]:
            return False
        try:
            os.read(self._fd, 4096)  # several rings are one
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            try:
                os.unlink(self._path)
            except OSError:
                return

    def _watch(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        seen = _identity(self._state)
        while time.monotonic() < end:
            time.sleep(min(POLL, max(0.0, end - time.monotonic())))
            if _identity(self._state) != seen:
                return True
        return False


def ring_pipes(folder: str, waiters: "Iterable[str]") -> None:
    """A byte to each; a pipe that nobody reads belongs to a waiter that died, and is swept."""
    for waiter in waiters:
        path = os.path.join(folder, waiter)
        try:
            fd = os.open(path, os.O_WRONLY | NONBLOCK | CLOEXEC | NOFOLLOW)
        except OSError:
            _sweep(path)
            continue
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.write(fd, b".")
        except OSError:
            pass  # full of rings already
        finally:
            os.close(fd)


def _sweep(path: str) -> None:
    try:
        if stat.S_ISFIFO(os.lstat(path).st_mode):
            os.unlink(path)
    except OSError:
        return


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)
