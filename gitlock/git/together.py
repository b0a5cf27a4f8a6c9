"""Git asked in many worktrees at once, each with a deadline: a broken or hung one costs its own answer, nobody else's.

Each worktree's questions are a function that asks one git after another. Every git is in a process group of its own,
which is told to end when the deadline is over, and killed when it does not. Nothing is written, and no lock taken.
"""

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from gitlock.domain.value import Value
from gitlock.errors import GitlockError
from gitlock.git.process import CONFIG_SAFE, failure, tell_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from gitlock.git.process import Git

    T = TypeVar("T")

GRACE = 0.5  # seconds between the request to end and the kill: readers have nothing to tidy up
LEFT_ALONE = 1.0  # seconds after the kill: what hangs in the kernel (a network disk) can't be waited for


class Unknown(Value):
    """No answer, and why: git failed, or the deadline was over."""

    __slots__ = ("why",)

    def __init__(self, why: str) -> None:
        self.why = why


class Asked:
    """Git in one worktree, for as long as its deadline leaves it. Raises ``GitlockError`` where there is no answer."""

    def __init__(self, git: "Git", end: float, started: "set[subprocess.Popen[bytes]]") -> None:
        self.git = git
        self._end = end
        self._started = started

    def run(self, *words: str, stdin: bytes = b"", environ: "dict[str, str] | None" = None) -> bytes:
        """What ``git words`` prints; an error unless its status is 0."""
        status, out, err = self.try_run(*words, stdin=stdin, environ=environ)
        if status != 0:
            raise failure(words, status, err)
        return out

    def try_run(
        self, *words: str, stdin: bytes = b"", environ: "dict[str, str] | None" = None
    ) -> tuple[int, bytes, str]:
        """Status, output and complaints; an error only where the time is over."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise _late(words)
        place = ("-C", self.git.folder) if self.git.folder else ()
        child = subprocess.Popen(
            ("git", *place, *CONFIG_SAFE, *words), env={**self.git.environ, **(environ or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._started.add(child)
        try:
            out, err = child.communicate(stdin, timeout=left)
        except subprocess.TimeoutExpired:
            _end(child)
            raise _late(words) from None
        finally:
            self._started.discard(child)
        return child.returncode, out, err.decode("utf-8", "replace")


def ask_together(
    asked: "Sequence[tuple[Git, Callable[[Asked], T]]]", *, deadline: float, width: int | None = None
) -> "list[T | Unknown]":
    """What each function answered, or ``Unknown``; in their order. ``deadline`` is in seconds, and for each by itself,
    from its first git on. ``width`` are at work at once: twice as many as there are processors if it is not given,
    since a status waits for the disk as well."""
    started: set[subprocess.Popen[bytes]] = set()
    stop = threading.Event()

    def answer(git: "Git", questions: "Callable[[Asked], T]") -> "T | Unknown":
        if stop.is_set():
            return Unknown("it was not asked")
        try:
            return questions(Asked(git, time.monotonic() + deadline, started))
        except GitlockError as error:
            return Unknown(error.message)
        except OSError as error:
            return Unknown(error.strerror or str(error))

    if not asked:
        return []
    with ThreadPoolExecutor(max_workers=width or 2 * (os.cpu_count() or 1)) as pool:
        try:
            return list(pool.map(lambda one: answer(*one), asked))
        except BaseException:  # a signal: nobody waits for the answers any more
            stop.set()
            for child in list(started):
                tell_group(child, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            raise


def _late(words: tuple[str, ...]) -> GitlockError:
    return GitlockError(f"git {words[0]} did not answer in time", id="late")


def _end(child: "subprocess.Popen[bytes]") -> None:
    tell_group(child, signal.SIGTERM)
    try:
        child.communicate(timeout=GRACE)
        return
    except subprocess.TimeoutExpired:
        tell_group(child, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    try:
        child.communicate(timeout=LEFT_ALONE)
    except subprocess.TimeoutExpired:
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                stream.close()
