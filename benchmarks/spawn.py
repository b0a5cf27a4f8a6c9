"""What a worktree with everything costs, over what git alone takes for a bare one.

One at a time on a small repository: ``git lock spawn`` and ``git worktree add`` in the same rounds as a bare Python;
the bound is five of those more than git. And two dozen at one moment, on a repository whose checkout takes its time,
against two dozen plain adds in a row (git's own, at one moment, fail one another): the bound is 1.2 times as long.

    python benchmarks/spawn.py [--rounds N] [--files N]
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import BARE, ROUNDS, bare_python, beside, compare

MORE_BOUND = 5.0  # bare interpreters that a spawn may take beyond git's own add
CROWD_BOUND = 1.2  # times as long as plain adds in a row
CROWD, CROWD_ROUNDS = 24, 3
FILES = 1_000  # of the repository that two dozen check out


def repository(folder: Path, files: int) -> Path:
    """A repository of so many files of 2 kB."""
    top = folder / "repo"
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    for number in range(files):
        place = top / f"d{number % 40}"
        place.mkdir(exist_ok=True)
        (place / f"f{number}.txt").write_text(f"{number}\n" * 400)
    subprocess.run(["git", "-C", str(top), "add", "."], check=True)
    who = ["-c", "user.name=Dana Dev", "-c", "user.email=dana@example.com"]
    subprocess.run(["git", "-C", str(top), *who, "commit", "--quiet", "-m", "first"], check=True)
    return top


def one_at_a_time(program: str, rounds: int) -> float:
    """Prints the table; answers how many bare interpreters a spawn takes beyond git's own."""
    with tempfile.TemporaryDirectory() as name:
        top = repository(Path(name), 20)
        count = itertools.count()

        def run(*words: str) -> None:
            subprocess.run(words, cwd=top, check=True, stdout=subprocess.DEVNULL)

        def plain() -> None:
            n = next(count)
            run("git", "worktree", "add", "--quiet", "--no-track", "-b", f"plain/{n}", str(top.parent / f"plain-{n}"))

        def spawn() -> None:
            run(program, "spawn", f"a{next(count)}")

        table = compare({BARE: bare_python(), "git worktree add": plain, "git lock spawn": spawn}, rounds=rounds)
    print(table.text())
    ratios = {row.name: row.ratio for row in table.rows}
    return ratios["git lock spawn"] - ratios["git worktree add"]


def crowd(program: str, files: int) -> float:
    """How long two dozen at once take, in times of two dozen plain adds in a row; the median of some rounds."""
    ratios = []
    for _ in range(CROWD_ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            top = repository(Path(name), files)
            begin = time.monotonic()
            for n in range(CROWD):
                words = ["git", "worktree", "add", "--quiet", "--no-track", "-b", f"p/{n}", str(top.parent / f"p-{n}")]
                subprocess.run(words, cwd=top, check=True)
            plain = time.monotonic() - begin
        with tempfile.TemporaryDirectory() as name:
            top = repository(Path(name), files)
            begin = time.monotonic()
            running = [
                subprocess.Popen([program, "spawn", f"a{n}", "--claim", f"own/{n}"], cwd=top, stdout=subprocess.DEVNULL)
                for n in range(CROWD)
            ]
            assert [one.wait() for one in running] == [0] * CROWD
            ratios.append((time.monotonic() - begin) / plain)
    return statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--files", type=int, default=FILES)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITLOCK_"))]:
        del os.environ[name]
    program = str(beside("git-lock"))
    more = one_at_a_time(program, given.rounds)
    print(f"a spawn takes {more:.1f} bare interpreters more than git worktree add (bound {MORE_BOUND:g})")
    times = crowd(program, given.files)
    print(f"{CROWD} at once on {given.files} files: {times:.2f} x {CROWD} plain adds in a row (bound {CROWD_BOUND:g})")
    return 0 if more <= MORE_BOUND and times <= CROWD_BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
