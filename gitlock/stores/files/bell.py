"""Waking waiters: one named pipe each, under ``waiting/``. Nobody polls, so a thousand waiters cost nothing.

Whoever frees something writes a byte to the pipes of those whose turn it may be. A pipe without a reader says that
its waiter is gone, whatever container it was in. Where there are no named pipes, waiters look at the state from time
to time instead.
"""

import os
import stat
import time

from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK, give_to_owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

POLL = 0.05  # seconds between looks where there are no named pipes


class PipeBell:
    """A waiter's own pipe. Opened for writing as well: its reading end never sees an end of file."""

    __slots__ = ("_fd", "_path", "_rung", "_state")

    def __init__(self, folder: str, waiter: str, folder_mode: int, mode: int, state: str) -> None:
        self._path = os.path.join(folder, waiter)
        self._state = state
        self._rung = False
        self._fd = -1
        if not hasattr(os, "mkfifo"):
            return
        try:
            if not os.path.isdir(folder):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                os.chmod(folder, folder_mode)
                give_to_owner(folder, os.path.dirname(folder))
            os.mkfifo(self._path, mode)
            os.chmod(self._path, mode)
            give_to_owner(self._path, folder)
            self._fd = os.open(self._path, os.O_RDWR | NONBLOCK | CLOEXEC | NOFOLLOW)
        except OSError:  # a file system without pipes; where nothing can be written, joining the queue says so
            self._fd = -1

    def wait(self, timeout: float, also: "Iterable[int]" = ()) -> bool:
        if self._fd < 0:
            return self._watch(timeout)
        import select

        waking = select.poll()  # select knows no descriptor above 1,023
        for fd in (self._fd, *also):
            waking.register(fd, select.POLLIN)
        if not any(fd == self._fd for fd, _ in waking.poll(max(0.0, timeout) * 1000)):
            return False
        try:
            os.read(self._fd, 4096)  # several rings are one
        except BlockingIOError:
            return False
        return True

    def ring(self) -> None:
        """Wakes whoever sleeps on it, in this very process; for a signal handler."""
        self._rung = True
        if self._fd >= 0:
            try:
                os.write(self._fd, b".")
            except OSError:
                return  # full of rings already

    def fileno(self) -> int:
        return self._fd

    def give_word(self) -> None:
        """Says to those who can't see our process that we are still here."""
        if self._fd >= 0:
            try:
                os.utime(self._path)
            except OSError:
                return

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
        while time.monotonic() < end and not self._rung:
            time.sleep(min(POLL, max(0.0, end - time.monotonic())))
            if _identity(self._state) != seen:
                return True
        rung, self._rung = self._rung, False
        return rung


def ring_pipes(folder: str, waiters: "Iterable[str]") -> None:
    """A byte to each; a pipe that nobody reads belongs to a waiter that died, and is swept."""
    for waiter in waiters:
        fd = _open(folder, waiter)
        if fd is None:
            continue
        try:
            os.write(fd, b".")
        except OSError:
            pass  # full of rings already
        finally:
            os.close(fd)


def sweep_pipes(folder: str, waiters: "Iterable[str] | None" = None) -> int:
    """Removes the pipes of these waiters (or of all) that nobody reads any more; answers how many."""
    count = 0
    if waiters is None:
        try:
            waiters = os.listdir(folder)
        except OSError:
            return 0
    for waiter in waiters:
        there = os.path.lexists(os.path.join(folder, waiter))
        fd = _open(folder, waiter)
        if fd is not None:
            os.close(fd)
        elif there:
            count += not os.path.lexists(os.path.join(folder, waiter))
    return count


def listens(folder: str, waiter: str) -> bool | None:
    """Whether somebody on this machine reads the waiter's pipe; None where that can't be told."""
    path = os.path.join(folder, waiter)
    try:
        if not waiter.isalnum() or not stat.S_ISFIFO(os.lstat(path).st_mode):
            return None
        os.close(os.open(path, os.O_WRONLY | NONBLOCK | CLOEXEC | NOFOLLOW))
    except FileNotFoundError:
        return False
    except OSError as error:
        import errno

        return False if error.errno == errno.ENXIO else None
    return True


def last_word(folder: str, waiter: str) -> float:
    """When a waiter gave its word last, wall clock; 0 where that can't be told."""
    try:
        found = os.lstat(os.path.join(folder, waiter))
    except OSError:
        return 0.0
    return found.st_mtime if waiter.isalnum() and stat.S_ISFIFO(found.st_mode) else 0.0


def _open(folder: str, waiter: str) -> int | None:
    """The pipe, for writing; one that nobody reads is removed."""
    path = os.path.join(folder, waiter)
    try:
        if not waiter.isalnum() or not stat.S_ISFIFO(os.lstat(path).st_mode):
            return None
        return os.open(path, os.O_WRONLY | NONBLOCK | CLOEXEC | NOFOLLOW)
    except OSError as error:
        import errno

        if error.errno == errno.ENXIO:
            try:
                os.unlink(path)
            except OSError:
                return None
        return None


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)
