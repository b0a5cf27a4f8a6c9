"""The git that git-lock asks is killed, or fails, at any of its calls: never taken for an answer."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.faults.places import LAUNCH
from tests.faults.seeing import look
from tests.kit.processes import start
from tests.kit.program import ROOT
from tests.kit.repo import Repo
from tests.kit.result import Result

REFUSED, UNCHECKED, VIOLATION = 10, 20, 22
OTHERS = [("install",), ("uninstall",), ("release", "b"), ("renew",), ("list", "--json"), ("mine",)]
MOST = 40  # calls of git that a command makes, at most

# Stands before git on the PATH. Some calls are made at one moment: making a folder numbers them one after the other.
DYING_GIT = """\
#!/bin/sh
number=1
until mkdir "$DYING/call-$number" 2>/dev/null; do number=$((number + 1)); done
if [ "$number" -eq "$DIES_AT" ]; then
    touch "$DYING/died"
    $HOW
fi
exec "$REAL_GIT" "$@"
"""
WAYS = {"killed": "kill -9 $$", "failing": "exit 128", "speaking in riddles": "eval printf '\\377\\000?'; exit 3"}


class Dying:
    """A git that dies at one of its calls."""

    def __init__(self, folder: Path, way: str) -> None:
        self.folder = folder
        self.way = way
        self.folder.mkdir()
        git = folder / "git"
        git.write_text(DYING_GIT.replace("$HOW", WAYS[way]))
        git.chmod(0o755)

    def run(self, repo: Repo, at: int, *words: str, agent: str) -> Result:
        """A command during which the call of that number goes wrong."""
        for call in self.folder.glob("call-*"):
            call.rmdir()
        (self.folder / "died").unlink(missing_ok=True)
        real = shutil.which("git")
        assert real is not None
        env = {
            "DYING": str(self.folder), "DIES_AT": str(at), "REAL_GIT": real,
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        start = str(ROOT / "gitlock/entrypoints/hooks/start.py")
        what = [start, *words[1:]] if words[0] == "hook" else ["-c", LAUNCH, *words]
        return repo.run(sys.executable, "-I", "-S", *what, env=env, agent=agent)

    @property
    def died(self) -> bool:
        """Whether it came to that call at all."""
        return (self.folder / "died").exists()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Alice holds what bob has staged."""
    repo = Repo.new(tmp_path, {"src/a": "1\n", "b": "1\n"})
    repo.lock("claim", "src/*", agent="alice").ok()
    repo.lock("claim", "b", agent="bob").ok()
    repo.write("src/a", "2\n")
    repo.git("add", "src/a")
    return repo


@pytest.fixture(params=WAYS)
def dying(request: pytest.FixtureRequest, tmp_path: Path) -> Dying:
    return Dying(tmp_path / "dying", request.param)


def answers(repo: Repo, dying: Dying, *words: str, agent: str = "bob") -> list[Result]:
    """The same command, with each of its calls of git going wrong in turn."""
    found = []
    for at in range(1, MOST):
        result = dying.run(repo, at, *words, agent=agent)
        if not dying.died:
            break
        found.append(result)
    assert found, "it never asks git"
    assert [one for one in found if "Traceback" in one.err] == []
    return found


@pytest.mark.parametrize("words", [("hook", "pre-commit"), ("check",)], ids=" ".join)
def test_a_gate_whose_git_goes_wrong_never_says_that_all_is_well(
    repo: Repo, dying: Dying, words: tuple[str, ...]
) -> None:
    assert {result.code for result in answers(repo, dying, *words)} <= {1, 2, UNCHECKED, VIOLATION}


def test_a_claim_whose_git_goes_wrong_is_taken_whole_or_not_at_all(repo: Repo, dying: Dying) -> None:
    for at in range(1, MOST):
        before = look(repo.path).leases.keys()
        result = dying.run(repo, at, "claim", f"new-{at}/*", f"more-{at}", agent="bob")
        new = look(repo.path).leases.keys() - before
        assert new == ({f"bob: new-{at}/* more-{at}"} if result.code == 0 else set()), result
        assert "Traceback" not in result.err, result
        if not dying.died:
            return


def test_a_dead_holder_s_files_that_git_can_t_tell_about_count_as_changed(repo: Repo, dying: Dying) -> None:
    with start(["sleep", "600"]) as holder:
        repo.lock("claim", "c", "--pid", str(holder.pid), agent="dave").ok()
    repo.write("c", "not committed\n")
    for result in answers(repo, dying, "claim", "c"):
        assert result.code in (1, 2, REFUSED, UNCHECKED), result


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_whatever_git_does_the_store_stays_whole(repo: Repo, dying: Dying, words: tuple[str, ...]) -> None:
    answers(repo, dying, *words)
    assert "alice: src/*" in look(repo.path).leases
    repo.lock("install", agent="bob").ok()
    repo.commit("bob's", agent="bob", check=False).ended(1)
