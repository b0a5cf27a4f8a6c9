"""Serialises updates of one store on one machine.

Held for one read and one write (milliseconds), never while user code runs; nothing is forked, waited for, logged or
sent while it is held. The kernel drops it when the process dies. It is not a lease, and does not work across hosts.

The wait blocks in ``flock`` under a timer: a kernel queue is fair, polling is not (measured: the luckiest of 32
pollers got 1,686 times the turns of the unluckiest). After locking, the file is looked at again: where somebody
replaced or removed it, two processes could each hold "the" guard.
"""

import os

from gitlock.errors import StoreBusy, StoreUnavailable
from gitlock.stores.files.layout import CLOEXEC, MEND, NOFOLLOW, NONBLOCK, give_to_owner, open_regular, remedy

try:
    import fcntl
except ImportError:  # Windows; untested there
    fcntl = None  # type: ignore[assignment]

TICK = 0.05  # seconds between repeats of the timer: a signal that came just before flock began must come again


class _OutOfTime(Exception):
    pass


class Guard:
    """``with Guard(path, timeout, mode):`` or ``StoreBusy`` after ``timeout`` seconds, naming who is in the way."""

    __slots__ = ("_fd", "_mode", "_path", "_timeout")

    def __init__(self, path: str, timeout: float, mode: int) -> None:
        self._path = path
        self._timeout = timeout
        self._mode = mode
        self._fd = -1

    def __enter__(self) -> "Guard":
        while True:
            fd = self._open()
            try:
                if not _lock_now(fd):
                    self._wait(fd)
                if _still_there(fd, self._path):
                    self._fd = fd
                    return self
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def __exit__(self, *_: object) -> None:
        try:
            os.close(self._fd)  # closing drops the lock: nobody else has this descriptor
        except OSError:
            pass  # the descriptor is gone whatever close answers (close(2)), and what was done is done

    def lend(self) -> None:
        """Whatever is started from now on holds it as well, to its own end: should we be killed, nobody gets it before
        what we have started is over."""
        os.set_inheritable(self._fd, True)

    def _open(self) -> int:
        while (opened := open_regular(self._path, os.O_RDWR, hint=MEND)) is None:
            try:
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | NONBLOCK | CLOEXEC, 0o600)
            except FileExistsError:
                continue  # somebody else made it in this moment
            except OSError as error:
                raise StoreUnavailable(
                    f"can't make '{self._path}': {error.strerror}", hint=remedy(error, self._path)
                ) from None
            if hasattr(os, "fchmod"):
                os.fchmod(fd, self._mode)
            give_to_owner(self._path, os.path.dirname(self._path))
            return fd
        return opened[0]

    def _wait(self, fd: int) -> None:
        inode = os.fstat(fd).st_ino
        if not (_lock_under_timer if fcntl is not None else _lock_by_polling)(fd, self._timeout):
            who, hint = in_the_way(inode)
            raise StoreBusy(f"the store is locked for more than {self._timeout:g} s{who and f' by {who}'}", hint=hint)


def _lock_now(fd: int) -> bool:
    if fcntl is None:
        return _lock_by_polling(fd, 0)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StoreUnavailable(f"this file system can't lock files: {error.strerror}") from None
    return True


def _lock_under_timer(fd: int, timeout: float) -> bool:
    import _signal as signal  # type: ignore[import-not-found]  # the public module imports enum, dearer than the wait

    def out_of_time(*_: object) -> None:
        raise _OutOfTime

    try:
        before = signal.signal(signal.SIGALRM, out_of_time)
    except ValueError:
        return _lock_by_polling(fd, timeout)  # only the main thread may set a timer
    timer = signal.setitimer(signal.ITIMER_REAL, max(timeout, 0.001), TICK)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return True
    except _OutOfTime:
        return False
    finally:
        signal.signal(signal.SIGALRM, before)
        if timer[0]:
            signal.setitimer(signal.ITIMER_REAL, *timer)


def _lock_by_polling(fd: int, timeout: float) -> bool:
    """The last resort, for other threads than the main one and for systems without flock; it is not fair."""
    import time

    end = time.monotonic() + timeout
    while True:
        try:
            if fcntl is not None:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                import msvcrt

                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.005)
        else:
            return True


def _still_there(fd: int, path: str) -> bool:
    mine = os.fstat(fd)
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (found.st_ino, found.st_dev) == (mine.st_ino, mine.st_dev) and mine.st_nlink > 0


def in_the_way(inode: int) -> tuple[str, str]:
    """Which process holds a lock on the file, in words, and a command about it; empty where the system does not say
    who it is (Linux does)."""
    try:
        with open("/proc/locks", encoding="ascii") as file:
            rows = [row.split() for row in file]
    except OSError:
        rows = []
    for row in rows:
        if "->" not in row and len(row) > 5 and row[1] == "FLOCK" and row[5].rpartition(":")[2] == str(inode):
            pid = int(row[4])
            if pid <= 0:
                return "a process outside this container", "git lock list"
            doing = _doing(pid)
            return f"process {pid}{doing}", f"kill -CONT {pid}" if "stopped" in doing else f"ps -fp {pid}"
    return "", "git lock list"


def _doing(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, tail = file.read().rpartition(")")
    except OSError:
        return ""
    name = "".join(c if c.isprintable() else "?" for c in head.partition("(")[2])
    return f" ({name}{', stopped' if tail.split()[:1] in (['T'], ['t']) else ''})"
