"""Faults at system calls: strace kills a process at one call of it, or makes that call fail.

A point is a call that one traced run made: its name, the file that it is about, and how many calls of that name on
that file came before it. strace counts only calls about that file (``-P``), so a point stays the same call when
something else in the program changes.
"""

import functools
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.kit.repo import PATIENCE
from tests.kit.result import Result

KILL = "signal=KILL"
ERRORS = tuple(f"error={name}" for name in ("ENOSPC", "EIO", "EACCES", "EMFILE", "EROFS", "EINTR"))

INTERRUPTED = "error=EINTR"  # Python tries again: one that lasts is a loop that no kernel makes

_CALL = re.compile(r"(\w+)\((.*)")


class Point(NamedTuple):
    """The ``number``-th call of ``name``, among all calls or, where there is a ``path`` (below the repository), among
    those about it."""

    name: str
    path: str
    number: int


class Fault(NamedTuple):
    """What happens at a point: strace's word for it, and whether it goes on happening from there on."""

    point: Point
    what: str
    lasting: bool = False

    def __str__(self) -> str:
        about = f" on {self.point.path}" if self.point.path else ""
        plus = " and on" if self.lasting else ""
        return f"{self.what} at {self.point.name} number {self.point.number}{about}{plus}"


@functools.cache
def can_trace() -> bool:
    """Whether strace is here, and may trace."""
    if shutil.which("strace") is None:
        return False
    probe = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def traced(
    argv: Sequence[str], repository: Path, env: Mapping[str, str], log: Path, done: tuple[int, ...] = (0,)
) -> list[Point]:
    """Runs it once and lists its calls: those about files of the repository as such, all others by number alone."""
    ended = subprocess.run(
        ["strace", "-qq", "-y", "-s", "4096", "-o", str(log), "--", *argv],
        cwd=repository, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode in done, ended.stderr.decode("utf-8", "replace")
    below = re.compile(r'["<]' + re.escape(str(repository)) + r'/([^">]+)')
    plain: Counter[str] = Counter()
    about: Counter[tuple[str, str]] = Counter()
    points = []
    for line in log.read_text(errors="replace").splitlines():
        found = _CALL.match(line)
        if found is None or found[1] in ("execve", "exit_group", "exit"):
            continue
        name = found[1]
        plain[name] += 1
        paths = list(dict.fromkeys(below.findall(re.sub(r"AT_FDCWD<[^>]*>", "", found[2]))))
        about.update((name, path) for path in paths)
        # A random name is another one each time.
        fixed = next((path for path in paths if "/.times-" not in path), "")
        points.append(Point(name, fixed, about[name, fixed] if fixed else plain[name]))
    return points


def injected(argv: Sequence[str], repository: Path, env: Mapping[str, str], fault: Fault) -> Result:
    """Runs it with the fault; the code of a process that was killed is -9."""
    point = fault.point
    only = ["-P", str(repository / point.path)] if point.path else []
    when = f"{point.number}{'+' if fault.lasting else ''}"
    # Stopping only at the call in question is twice as fast, and loses injected signals; it needs -f, which counts for
    # each process by itself.
    quick = [] if fault.what == KILL else ["-f", "--seccomp-bpf"]
    strace = [
        "strace", *quick, "-qq", "-o", "/dev/null", *only,
        "-e", f"trace={point.name}", "-e", f"inject={point.name}:{fault.what}:when={when}",
    ]  # fmt: skip
    done = subprocess.run(
        [*strace, "--", *argv],
        cwd=repository, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return Result(tuple(argv), done.returncode, done.stdout, done.stderr, repository)
