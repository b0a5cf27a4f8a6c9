"""A spawn that is killed at any call leaves a half; the next spawn of that agent, or the doctor, takes it back."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.injecting import KILL, Fault, Point, can_trace, injected
from tests.kit.processes import until
from tests.kit.program import child_environment, is_soak
from tests.kit.repo import PATIENCE, Repo

KILLS = 12  # of all calls, spread evenly, in a short run
# Calls that change something, or stand between two steps.
CALLS = ("rename", "unlink", "mkdir", "fsync", "flock", "vfork", "clone3", "clone", "wait4", "pidfd_open")
WORDS = ("spawn", "a", "--claim", "src/**")
ARGV = [sys.executable, "-m", "gitlock", *WORDS]

pytestmark = [
    pytest.mark.skipif(not can_trace(), reason="strace can't trace here"),
    pytest.mark.timeout(7200 if is_soak() else 300),
]


def calls_of(repo: Repo, log: Path) -> list[Point]:
    """Every call of these that one spawn makes, by its number."""
    trace = ["strace", "-qq", "-e", f"trace={','.join(CALLS)}", "-o", str(log), "--", *ARGV]
    subprocess.run(trace, cwd=repo.path, env=child_environment(), check=True, capture_output=True, timeout=PATIENCE)
    names = Counter(found[1] for line in log.read_text().splitlines() if (found := re.match(r"(\w+)\(", line)))
    return [Point(name, "", number) for name, count in sorted(names.items()) for number in range(1, count + 1)]


class World(NamedTuple):
    repo: Repo

    @property
    def beside(self) -> Path:
        return self.repo.path.parent / "repo.agents"

    def left(self) -> dict[str, object]:
        """Everything that a spawn makes, as far as it is there."""
        return {
            "branch": self.repo.git("for-each-ref", "refs/heads/agent").out,
            "entries": len(self.repo.git("worktree", "list").lines) - 1,
            "admin": sorted(path.name for path in (self.repo.common_dir / "worktrees").glob("*")),
            "folders": sorted(path.name for path in self.beside.glob("*")) if self.beside.exists() else None,
            "leases": [lease["agent"] for lease in self.repo.json("list")["data"]["leases"]],
            "records": len(list((self.repo.store / "worktrees").glob("*.json"))),
        }


NOTHING = {"branch": "", "entries": 0, "admin": [], "folders": None, "leases": [], "records": 0}


def whole(world: World) -> bool:
    left = world.left()
    return (left["entries"], left["folders"], left["leases"], left["records"]) == (1, ["a"], ["a"], 1) and (
        not Repo(world.beside / "a").git("status", "--porcelain").out
    )


def taken_back(repo: Repo) -> None:
    """The git that the killed one had started may still be at it."""
    until(lambda: "died half way" not in repo.lock("doctor", "--fix", "--here").out, "the half is taken back")


def made_again(repo: Repo) -> None:
    until(lambda: repo.lock(*WORDS).code == 0, "the same is made")


def test_a_killed_spawn_is_taken_back_or_made_again(tmp_path: Path) -> None:
    points = calls_of(Repo.new(tmp_path, {"src/x": "1\n", "y": "2\n"}, name="traced"), tmp_path / "log")
    step = 1 if is_soak() else max(1, len(points) // KILLS)
    faults = [Fault(point, KILL) for point in points[::step]]
    halves = 0
    for number, fault in enumerate(faults):
        world = World(Repo.new(tmp_path / str(number), {"src/x": "1\n", "y": "2\n"}))
        killed = injected(ARGV, world.repo.path, child_environment(), fault)
        if killed.code >= 0 or whole(world):
            continue  # it was over before that call, or as good as
        halves += world.left() != NOTHING
        if number % 2:
            made_again(world.repo)
            assert whole(world), (fault, world.left())
        else:
            taken_back(world.repo)
            assert world.left() == NOTHING or whole(world), (fault, world.left())
    assert halves > len(faults) // 5, "the kills did not leave enough halves to prove anything"


def test_work_in_a_half_is_never_taken_back(tmp_path: Path) -> None:
    world = World(Repo.new(tmp_path, {"src/x": "1\n"}))
    world.repo.lock("spawn", "a").ok()
    (record,) = (world.repo.store / "worktrees").glob("*.json")
    record.write_text(record.read_text().replace('"ready"', '"creating"'))
    (world.beside / "a" / "idea.txt").write_text("mine\n")
    said = world.repo.lock("doctor", "--fix", "--here").out
    assert "idea.txt" in said and (world.beside / "a" / "idea.txt").read_text() == "mine\n"
    assert '"ready"' in record.read_text()


def test_an_ignored_file_that_nothing_else_has_is_work_in_a_half(tmp_path: Path) -> None:
    world = World(Repo.new(tmp_path, {"src/x": "1\n", ".gitignore": ".env\n"}))
    world.repo.lock("spawn", "a").ok()
    (record,) = (world.repo.store / "worktrees").glob("*.json")
    record.write_text(record.read_text().replace('"ready"', '"creating"'))
    (world.beside / "a" / ".env").write_text("secret\n")
    world.repo.lock("doctor", "--fix", "--here")
    assert (world.beside / "a" / ".env").read_text() == "secret\n"


def test_a_branch_that_moved_since_is_kept(tmp_path: Path) -> None:
    world = World(Repo.new(tmp_path, {"src/x": "1\n"}))
    world.repo.lock("spawn", "a").ok()
    (record,) = (world.repo.store / "worktrees").glob("*.json")
    record.write_text(record.read_text().replace('"ready"', '"creating"'))
    world.repo.git("worktree", "remove", "--force", "--force", str(world.beside / "a"))
    world.repo.commit("second", {"z": "3\n"})
    world.repo.git("update-ref", "refs/heads/agent/a", world.repo.head)
    assert "moved" in world.repo.lock("doctor", "--fix", "--here").out
    assert world.repo.git("rev-parse", "agent/a").out.strip() == world.repo.head


def test_a_branch_of_that_name_that_somebody_else_made_is_kept(tmp_path: Path) -> None:
    world = World(Repo.new(tmp_path, {"src/x": "1\n"}))
    world.repo.lock("spawn", "a").ok()
    (record,) = (world.repo.store / "worktrees").glob("*.json")
    record.write_text(record.read_text().replace('"ready"', '"creating"'))
    world.repo.git("worktree", "remove", "--force", "--force", str(world.beside / "a"))
    world.repo.git("branch", "-D", "agent/a")
    world.repo.git("branch", "agent/a")
    world.repo.lock("doctor", "--fix", "--here")
    assert world.repo.git("branch", "--list", "agent/a").out.strip() == "agent/a"
