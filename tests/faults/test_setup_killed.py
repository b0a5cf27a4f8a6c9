"""A setup that is killed at any call leaves each settings file as it was or as it should be; the next one goes on."""

import re
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.injecting import KILL, Fault, Point, can_trace, injected
from tests.kit.program import child_environment, is_soak
from tests.kit.repo import PATIENCE, Repo

KILLS = 8  # of all calls, spread evenly, in a short run
CALLS = ("rename", "link", "unlink", "mkdir", "rmdir", "fsync", "openat")
THEIRS = '{\n  // mine\n  "model": "x"\n}\n'
LOCAL = ".claude/settings.local.json"

pytestmark = [
    pytest.mark.skipif(not can_trace(), reason="strace can't trace here"),
    pytest.mark.timeout(7200 if is_soak() else 300),
]


def world(folder: Path, name: str) -> Repo:
    repo = Repo.new(folder, name=name)
    repo.write(LOCAL, THEIRS)
    return repo


def points(repo: Repo, log: Path, argv: list[str]) -> list[Point]:
    """Every call that changes something, and the openings in between, by number."""
    trace = ["strace", "-qq", "-e", f"trace={','.join(CALLS)}", "-o", str(log), "--", *argv]
    subprocess.run(trace, cwd=repo.path, env=child_environment(), check=True, capture_output=True, timeout=PATIENCE)
    rows = [row for row in log.read_text().splitlines() if re.match(rf"({'|'.join(CALLS)})\(", row)]
    numbers: Counter[str] = Counter()
    found = []
    for row in rows:
        name = row.partition("(")[0]
        numbers[name] += 1
        if name != "openat" or "O_CREAT" in row:
            found.append(Point(name, "", numbers[name]))
    return found


@pytest.mark.parametrize("removing", [False, True], ids=["setup", "remove"])
def test_a_killed_setup_loses_nothing_and_is_finished_by_the_next(tmp_path: Path, removing: bool) -> None:
    words = ("setup", "claude", "cursor", *(("--remove",) if removing else ()))
    argv = [sys.executable, "-m", "gitlock", *words]

    def made(name: str) -> Repo:
        repo = world(tmp_path, name)
        if removing:
            repo.lock("setup", "claude", "cursor", agent=None).ok()
        return repo

    whole = points(made("traced"), tmp_path / "log", argv)
    step = 1 if is_soak() else max(1, len(whole) // KILLS)
    wanted = (Repo(tmp_path / "traced").path / LOCAL).read_text()
    for number, point in enumerate(whole[::step]):
        repo = made(f"killed-{number}")
        before = (repo.path / LOCAL).read_text()
        exclude = world(tmp_path, f"plain-{number}").common_dir / "info/exclude"
        injected(argv, repo.path, child_environment(), Fault(point, KILL))
        assert (repo.path / LOCAL).read_text() in (before, wanted), point
        assert ".cursor" not in repo.git("status", "--porcelain", "--untracked-files=all").out.replace(
            ".cursor/hooks.json.git-lock-new", ""
        ), point
        repo.lock("setup", "claude", "cursor", agent=None).ok()
        repo.lock("setup", "claude", "cursor", "--remove", agent=None).ok()
        assert (repo.path / LOCAL).read_text() == THEIRS, point
        assert not (repo.path / ".cursor/hooks.json").exists(), point
        assert (repo.common_dir / "info/exclude").read_bytes() == exclude.read_bytes(), point


def test_what_a_killed_setup_leaves_of_a_secret_nobody_else_can_read(tmp_path: Path) -> None:
    repo = world(tmp_path, "secret")
    (repo.path / LOCAL).chmod(0o600)
    fresh = LOCAL + ".git-lock-new"
    injected(
        [sys.executable, "-m", "gitlock", "setup", "claude"], repo.path, child_environment(),
        Fault(Point("fchmod", fresh, 1), KILL),
    )  # fmt: skip
    assert stat.S_IMODE((repo.path / fresh).stat().st_mode) == 0o600
