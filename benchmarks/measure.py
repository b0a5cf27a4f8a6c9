"""How long processes take, as ratios: interleaved rounds (A B C A B C …), so that a busy moment hits all alike.

    table = compare({"check": ["git-lock", "check"], "claim": claim_once}, rounds=15)
    table.show()

Each round runs every command once, the baseline too. A command's figure is the median of its *pair-by-pair* ratios to
the baseline of the same round: milliseconds drift with the machine's load, these ratios hardly do. Beside it stands the
same of CPU time, of all processes together: a busy machine changes that least. The baseline, if no other is named, is a
bare interpreter: ``python -c pass``, the one that runs this, behind any version manager's shim.

As a program: ``python measure.py [--rounds N] [--json] 'NAME=COMMAND LINE'…``.
"""

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

Argv = Sequence[str | os.PathLike[str]]
Work = Argv | Callable[[], object]  # what to run as a process, or a function that does it all

BARE = "bare python"
WARM_UP = 2  # rounds that are not counted: they fill the page cache and write byte code
ROUNDS = 15  # the fewest for a median that repeats within a tenth


class Row(NamedTuple):
    """One command: times in milliseconds, ratios to the baseline."""

    name: str
    median_ms: float
    ratio: float
    lowest: float
    highest: float
    cpu: float = 0.0  # ratio of CPU time; 0 where it cannot be told


class Table(NamedTuple):
    """What was measured."""

    baseline: str
    rounds: int
    rows: list[Row]

    def __getitem__(self, name: object) -> Row:  # type: ignore[override]
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def text(self) -> str:
        """An aligned table; low and high are the quartiles of the ratio."""
        head = ("", "ms", f"x {self.baseline}", "quartiles", "CPU x")
        lines = [
            (
                row.name,
                f"{row.median_ms:.1f}",
                f"{row.ratio:.2f}",
                f"{row.lowest:.2f} - {row.highest:.2f}",
                f"{row.cpu:.2f}" if row.cpu else "",
            )
            for row in self.rows
        ]
        widths = [max(len(cell) for cell in column) for column in zip(head, *lines, strict=True)]
        layout = "  ".join([f"{{:<{widths[0]}}}", *(f"{{:>{width}}}" for width in widths[1:])])
        return "\n".join(layout.format(*cells) for cells in (head, *lines))

    def as_json(self) -> str:
        """The same for a program."""
        return json.dumps(
            {"baseline": self.baseline, "rounds": self.rounds, "rows": [row._asdict() for row in self.rows]}, indent=2
        )

    def show(self) -> None:
        """Prints the table; as JSON where --json is among the program's arguments."""
        print(self.as_json() if "--json" in sys.argv[1:] else self.text(), flush=True)


def bare_python() -> list[str]:
    """``python -c pass`` of the interpreter that runs this, which is never a shim."""
    return [sys.executable, "-c", "pass"]


def beside(program: str) -> str:
    """A program that was installed beside this interpreter, else the one on PATH."""
    here = Path(sys.executable).parent / program
    found = str(here) if here.exists() else shutil.which(program)
    if not found:
        raise FileNotFoundError(f"'{program}' is neither beside {sys.executable} nor on PATH")
    return found


def compare(
    works: Mapping[str, Work],
    *,
    baseline: str | Mapping[str, Work] | None = None,
    rounds: int = ROUNDS,
    warm_up: int = WARM_UP,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    expect: Mapping[str, int] | None = None,
    before_each: Callable[[str], object] | None = None,
) -> Table:
    """Runs all of them in turn, ``rounds`` times.

    ``baseline`` names one of ``works``, or is one more with its name; without it, bare Python is added.
    ``expect`` gives the exit code of those that do not end with 0: a command that fails is fast and means nothing.
    ``before_each`` is called with the name before each run, and is not timed.
    """
    every: dict[str, Work] = dict(works)
    if baseline is None:
        name = BARE
        every = {BARE: bare_python(), **every}
    elif isinstance(baseline, str):
        name = baseline
    else:
        ((name, work),) = baseline.items()
        every = {name: work, **every}
    if name not in every:
        raise KeyError(f"the baseline {name!r} is not among {list(every)}")
    codes = dict(expect or {})
    timers = {each: _timer(each, work, codes.get(each, 0), env, cwd) for each, work in every.items()}

    seconds: dict[str, list[float]] = {each: [] for each in every}
    used: dict[str, list[float]] = {each: [] for each in every}
    for round_number in range(warm_up + rounds):
        for each, timed in timers.items():
            if before_each is not None:
                before_each(each)
            before = _cpu()
            took = timed()
            after = _cpu()
            if round_number >= warm_up:
                seconds[each].append(took)
                used[each].append(after[1] - before[1] or after[0] - before[0])
    return Table(name, rounds, [_row(each, seconds[each], seconds[name], used[each], used[name]) for each in every])


def _cpu() -> tuple[float, float]:
    """CPU time of this process, and of those that it has started and that are done."""
    here, there = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return here.ru_utime + here.ru_stime, there.ru_utime + there.ru_stime


def _row(name: str, took: list[float], base: list[float], used: list[float], base_used: list[float]) -> Row:
    ratios = [mine / theirs for mine, theirs in zip(took, base, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
    worked = [mine / theirs for mine, theirs in zip(used, base_used, strict=True) if theirs]
    cpu = statistics.median(worked) if worked else 0.0
    return Row(name, statistics.median(took) * 1000, statistics.median(ratios), low, high, cpu)


def _timer(
    name: str, work: Work, code: int, env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None
) -> Callable[[], float]:
    if callable(work):
        call = work

        def timed_call() -> float:
            begin = time.perf_counter()
            call()
            return time.perf_counter() - begin

        return timed_call

    argv = [os.fspath(word) for word in work]
    environment = dict(os.environ if env is None else env)
    program = shutil.which(argv[0], path=environment.get("PATH"))
    if program is None:
        raise FileNotFoundError(f"{name}: no program '{argv[0]}'")
    program = os.path.abspath(program)

    def timed_process() -> float:
        # posix_spawn costs the same whatever this process has grown to; subprocess would fork or build lists first.
        back = os.getcwd()
        if cwd is not None:
            os.chdir(cwd)
        try:
            begin = time.perf_counter()
            pid = os.posix_spawn(program, argv, environment, file_actions=_SILENT)
            _, status = os.waitpid(pid, 0)
            took = time.perf_counter() - begin
        finally:
            os.chdir(back)
        ended = os.waitstatus_to_exitcode(status)
        if ended != code:
            raise RuntimeError(f"{name} ended with {ended}, expected {code}: {shlex.join(argv)}")
        return took

    return timed_process


_SILENT = [
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]


def main() -> int:
    """Compares command lines with bare Python."""
    parser = argparse.ArgumentParser(description="Times commands against bare Python, in interleaved rounds.")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND LINE")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    works = {}
    for word in asked.commands:
        name, equals, line = word.partition("=")
        works[name] = shlex.split(line if equals else name)
    compare(works, rounds=asked.rounds).show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
