"""What looking at every worktree costs, over a ``git status`` in each of them, one after the other.

Thirty worktrees of a repository of 20,000 files. Each has a commit of its own, an edited file and a new one; every
third edits a file that others edit as well, so that there are trial merges to be made. The bound for ``agents`` and for
``overlap`` is one and a half times as long as the statuses.

    python benchmarks/presence.py [--rounds N] [--files N] [--worktrees N]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import ROUNDS, beside, compare

BOUND = 1.5
FILES, WORKTREES = 20_000, 30
WHO = ("-c", "user.name=Dana Dev", "-c", "user.email=dana@example.com")


def git(folder: Path, *words: str) -> None:
    """Runs git there, and says nothing unless it fails."""
    subprocess.run(["git", "-C", str(folder), *WHO, *words], check=True, stdout=subprocess.DEVNULL)


def world(folder: Path, files: int, worktrees: int) -> list[Path]:
    """The repository and its worktrees, each with some work in it."""
    top = folder / "repo"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(top)], check=True)
    for number in range(files):
        place = top / f"d{number % 200}"
        place.mkdir(exist_ok=True)
        (place / f"f{number}.txt").write_text(f"{number}\n")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "first")
    found = [top]
    for number in range(worktrees - 1):
        there = folder / f"w{number}"
        git(top, "worktree", "add", "--quiet", "-b", f"w/{number}", str(there))
        (there / f"d{number}/committed.txt").write_text("committed\n")
        git(there, "add", ".")
        git(there, "commit", "--quiet", "-m", "work")
        (there / f"d{number}/f{number}.txt").write_text("edited\n")
        (there / f"d{number}/new.txt").write_text("new\n")
        if number % 3 == 0:
            (there / "d199/f199.txt").write_text(f"edited by {number}\n")
        found.append(there)
    for there in found:
        git(there, "status")  # writes down what was looked at, as any later status may rely on
    return found


def main() -> int:
    """Prints the table; whether the bounds are kept is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--worktrees", type=int, default=WORKTREES)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITLOCK_"))]:
        del os.environ[name]
    program = str(beside("git-lock"))
    with tempfile.TemporaryDirectory() as name:
        trees = world(Path(name), given.files, given.worktrees)

        def statuses() -> None:
            for there in trees:
                git(there, "status")

        def ask(*words: str) -> None:
            subprocess.run([program, *words], cwd=trees[0], check=True, stdout=subprocess.DEVNULL)

        plain = f"git status in {len(trees)} worktrees, in a row"
        table = compare(
            {plain: statuses, "git lock agents": lambda: ask("agents"), "git lock overlap": lambda: ask("overlap")},
            rounds=given.rounds, baseline=plain,
        )  # fmt: skip
    print(table.text())
    return 0 if all(row.ratio <= BOUND for row in table.rows if row.name.startswith("git lock")) else 1


if __name__ == "__main__":
    sys.exit(main())
