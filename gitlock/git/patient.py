"""A git that works for long: in a process group of its own, with a deadline, and told to end when we are.

Hooks and filters that are somebody else's run inside it, and may fail, hang or leave children behind. Whatever
happens, only its own group is ever told to end. How it ended is a value, never an exception: with ``git worktree``
the status says little, and what is so is read back.
"""

import os
import select
import signal
import time

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.process import CONFIG_SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.git.process import Git

ENDED, LATE, STOPPED = "ended", "late", "stopped"

GRACE = 2.0  # seconds between the request to end and the kill
LOOK = 0.1  # seconds between looks whether we are to stop; the end of the process itself wakes us at once


class Worked(Value):
    """``why`` is ``ended``, ``late`` (its time was over) or ``stopped`` (somebody wanted that); ``status`` is its exit
    status, negative for a signal; ``said`` is all that it wrote, to whichever stream."""

    __slots__ = ("said", "status", "why")

    def __init__(self, why: str, status: int, said: str) -> None:
        self.why = why
        self.status = status
        self.said = said

    @property
    def is_fine(self) -> bool:
        return self.why == ENDED and self.status == 0

    @property
    def last_words(self) -> str:
        """The line that most likely says what went wrong; empty where it said nothing."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
        return (telling or lines or [""])[0]


def work(
    git: "Git", *args: str, deadline: float, stop: "Callable[[], bool]", environ: "dict[str, str] | None" = None
) -> Worked:
    """Runs ``git args`` to its end, at most ``deadline`` seconds, or until ``stop`` says so.

    ``environ`` takes the place of the environment that git's readers get.
    """
    place = ("-C", git.folder) if git.folder else ()
    argv = ("git", *place, *CONFIG_SAFE, *args)
    seen = {**(git.environ if environ is None else environ), "GIT_TERMINAL_PROMPT": "0"}
    out = _scratch()
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        pid = _start(argv, seen, null, out)
        why = _wait(pid, time.monotonic() + deadline, stop)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.lseek(out, 0, os.SEEK_SET)
        said = os.read(out, 1 << 16).decode("utf-8", "replace")
    except FileNotFoundError:
        raise RepositoryError("the git program was not found", hint="put git on the PATH") from None
    finally:
        os.close(null)
        os.close(out)
    return Worked(why, status, said)


def _start(argv: tuple[str, ...], environ: dict[str, str], stdin: int, out: int) -> int:
    if not hasattr(os, "posix_spawnp"):
        import subprocess

        group = {"process_group": 0} if hasattr(os, "setpgid") else {}
        return subprocess.Popen(argv, env=environ, stdin=stdin, stdout=out, stderr=out, **group).pid  # type: ignore[call-overload, no-any-return]
    moves = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    return os.posix_spawnp("git", argv, environ, file_actions=moves, setpgroup=0)


def _wait(pid: int, end: float, stop: "Callable[[], bool]") -> str:
    """Until it has ended, which is not reaped yet: its number can't be another's while we signal its group."""
    watch = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    try:
        why = ENDED
        while not _has_ended(pid, watch, LOOK):
            if stop():
                why = STOPPED
            elif time.monotonic() >= end:
                why = LATE
            else:
                continue
            _end(pid, watch)
            break
        return why
    finally:
        if watch >= 0:
            os.close(watch)


def _end(pid: int, watch: int) -> None:
    _send(pid, signal.SIGTERM)
    _send(pid, signal.SIGCONT)  # one that is stopped could not hear it
    patience = time.monotonic() + GRACE
    while time.monotonic() < patience:
        if _has_ended(pid, watch, LOOK):
            break
    _send(pid, signal.SIGKILL)  # also what is left of its group: nobody else can be in it before it is reaped
    while not _has_ended(pid, watch, LOOK):
        continue


def _has_ended(pid: int, watch: int, patience: float) -> bool:
    if watch >= 0:
        return bool(select.select((watch,), (), (), patience)[0])
    if hasattr(os, "waitid"):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        time.sleep(patience / 10)
    return False


def _send(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _scratch() -> int:
    """A file without a name, which can't fill up as a pipe would while nobody reads."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("git-says", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
