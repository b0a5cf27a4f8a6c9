"""What the merge check costs: 1,000 changed paths against 1,000 leases in a repository of 20,000 files.

The bound is that of the specification: at most three times `git diff-tree` over the same range, and three bare Pythons.
The leases are in a ledger of the repository itself, as on a server; with a remote, its answer comes on top.

    python benchmarks/ci.py [--rounds N]
"""

import argparse
import os
import sys
import time
from pathlib import Path

from ground import Scratch, ground
from measure import BARE, ROUNDS, bare_python, beside, compare

from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.ledger import Ledger
from gitlock.git.ledgers import PUBLISHED, commit_of, put_text
from gitlock.git.process import Git
from gitlock.stores.ledger import format_ledger

FILES, CHANGED, LEASES = 20_000, 1_000, 1_000
WRITER = "0123456789ab"
MOST = 3.0  # of either


def lease(number: int, now: float) -> Lease:
    """One that lies beside what is changed."""
    path = f"pkg{number % 100}/held{number}.py"
    return Lease(
        id=f"{number:012x}", agent=f"agent-{number}", kind="agent", mode=EXCLUSIVE, keys=(f"file:{path}",),
        include=(path,), exclude=(), reason="", fence=number + 1, acquired=now, renewed=Instant(now, 0.0, ""),
        ttl=86400.0, token_hash="", holder=Holder("", branch=f"branch-{number}"),
    )  # fmt: skip


def prepare(repo: Scratch) -> None:
    """A base of many files, a branch that changes some of them under a receipt, and a ledger."""
    repo.run("git", "config", "gc.auto", "0")
    for number in range(FILES):
        place = repo.path / f"pkg{number % 100}/mod{number % 1000}/file{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{number}\n")
    (repo.path / ".gitlock.toml").write_text("version = 1\n")
    repo.run("git", "add", "-A")
    repo.run("git", "commit", "--quiet", "-m", "base")
    repo.run("git", "branch", "base")
    for number in range(CHANGED):
        (repo.path / f"pkg{number % 100}/mod{number % 1000}/file{number}.py").write_text("changed\n")
    receipt = "Lock-Agent: alice\nLock-Lease: aa store=s1 fence=2000 pkg*/mod*/"
    repo.run("git", "commit", "--quiet", "-a", "-m", f"work\n\n{receipt}")
    repo.run("git", "gc", "--quiet")
    now = time.time()
    ledger = Ledger(
        writer=WRITER, store="s1", epoch=1, fence=3000, published=now,
        leases=tuple(lease(number, now) for number in range(LEASES)),
    )  # fmt: skip
    git = Git(str(repo.path), os.environ)
    commit = commit_of(git, put_text(git, format_ledger(ledger)), now)
    repo.run("git", "update-ref", f"{PUBLISHED}{WRITER}", commit)


def main() -> int:
    """Prints the figures; 1 where the bound is not kept."""
    parser = argparse.ArgumentParser(description="Times the merge check against git diff-tree and a bare Python.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with ground() as place:
        repo = place.repository("big")
        prepare(repo)
        out = str(Path(place.folder) / "out")
        table = compare(
            {
                BARE: repo.process(bare_python()),
                "git diff-tree": repo.process(
                    ["git", "diff-tree", "-r", "--no-renames", "--name-status", "-z", "base", "HEAD"], stdout=out
                ),
                "git lock ci": repo.process(
                    [beside("git-lock"), "ci", "--base", "base", "--head", "HEAD"], stdout=out
                ),
            },
            baseline=BARE,
            rounds=given.rounds,
        )
        assert f"all {CHANGED} paths may land" in Path(out).read_text()
    table.show()
    took = {row.name: row.median_ms for row in table.rows}
    bare, tree, check = took[BARE], took["git diff-tree"], took["git lock ci"]
    bound = MOST * tree + MOST * bare
    print(f"  {check:.1f} ms of at most {bound:.1f} ms: {check / bound:.2f} of the bound")
    return int(check > bound)


if __name__ == "__main__":
    sys.exit(main())
