"""Runs the approved set-up commands in a new worktree, one after the other, until one fails.

Each in a process group of its own, without input, and with all that it says on standard error: standard output is our
answer's. What it has left running in the background when it ends is left alone.
"""

import os
import signal
import subprocess
import time

from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OK, FAILED, LATE, STOPPED, NOT_STARTED = "ok", "failed", "late", "stopped", "not-started"

LOOK = 0.1  # seconds between looks whether we are to stop; the end of the command itself wakes us at once
GRACE = 2.0  # seconds between the request to end and the kill


class SetUp(Value):
    """How it went: ``ok``; else ``command`` is the one that did not work, ``code`` its exit status (negative for a
    signal, None where it did not end by itself), ``done`` how many had worked before."""

    __slots__ = ("code", "command", "done", "why")

    def __init__(self, why: str, *, done: int, command: str | None = None, code: int | None = None) -> None:
        self.why = why
        self.done = done
        self.command = command
        self.code = code

    @property
    def is_fine(self) -> bool:
        return self.why == OK


def run_setup(
    commands: tuple[str, ...],
    top: str,
    environ: "Mapping[str, str]",
    *,
    deadline: float,
    stop: "Callable[[], bool]" = lambda: False,
) -> SetUp:
    """Runs them at ``top`` by the system's shell; ``deadline`` is how many seconds each may take.

    ``environ`` is all that they see: who calls has taken out what says where and who the caller is.
    """
    for number, command in enumerate(commands):
        try:
            child = subprocess.Popen(
                ("/bin/sh", "-c", command), cwd=top, env=dict(environ), stdin=subprocess.DEVNULL, stdout=2,
                process_group=0,
            )  # fmt: skip
        except OSError:
            return SetUp(NOT_STARTED, done=number, command=command)
        why = _wait(child, time.monotonic() + deadline, stop)
        if why != OK:
            return SetUp(why, done=number, command=command, code=child.returncode if why == FAILED else None)
    return SetUp(OK, done=len(commands))


def _wait(child: "subprocess.Popen[bytes]", end: float, stop: "Callable[[], bool]") -> str:
    while True:
        try:
            return FAILED if child.wait(LOOK) else OK
        except subprocess.TimeoutExpired:
            why = STOPPED if stop() else LATE if time.monotonic() >= end else ""
        if why:
            _end(child)
            return why


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Tells all of its group to end, before it is reaped: until then its number can't be another's."""
    _send(child.pid, signal.SIGTERM)
    _send(child.pid, signal.SIGCONT)  # one that is stopped could not hear it
    patience = time.monotonic() + GRACE
    while time.monotonic() < patience and os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(LOOK / 10)
    _send(child.pid, signal.SIGKILL)
    child.wait()


def _send(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
