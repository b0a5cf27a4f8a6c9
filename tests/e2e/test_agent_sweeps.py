"""Commands of git that change a whole worktree, where others are at work in it: a warning, and silence when alone."""

from pathlib import Path

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"
SWEEPS = (
    "git switch topic", "git switch -c new", "git checkout topic", "git checkout topic/two", "git checkout -b new",
    "git reset --hard", "git stash", "git clean -fd", "git checkout .", "git rebase main", "git pull",
    "git merge topic", "cd src && git switch -", "git -C src stash -u",
)  # fmt: skip
HARMLESS = (
    "git status", "git stash list", "git merge --help", "git checkout src/a.py", "git checkout src/gone.py",
    "git switch --help", "git reset src/a.py", "git fetch", "git clean -n", "git log main..topic", "git branch topic2",
)  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/gone.py": "1\n"})
    repo.lock("install", agent=None).ok()
    (repo.path / "src/gone.py").unlink()
    return repo


def answers(repo: Repo, commands: tuple[str, ...]) -> dict[str, str]:
    """What codex is told before each of them, none of which is refused."""
    codex = Program("codex", repo, TWO)
    heard = {command: codex.runs(command) for command in commands}
    assert [command for command, one in heard.items() if not one.may_run] == []
    return {command: one.context for command, one in heard.items()}


def test_who_is_at_work_there_is_named_before_it(repo: Repo) -> None:
    Program("claude", repo, ONE).tells("start", source="startup")
    told = answers(repo, SWEEPS)
    assert [command for command, text in told.items() if "at work: claude-5b0cf1e2 (idle" not in text] == []
    assert "git lock spawn" in told["git pull"]


def test_not_before_others(repo: Repo) -> None:
    Program("claude", repo, ONE).tells("start", source="startup")
    assert [command for command, text in answers(repo, HARMLESS).items() if text] == []


def test_who_is_alone_hears_nothing(repo: Repo) -> None:
    there = repo.worktree("there")
    Program("claude", there, ONE).tells("start", source="startup")  # in a worktree of its own
    Program("gemini", repo, ONE).tells("start", source="startup")
    Program("gemini", repo, ONE).tells("end", reason="exit")
    assert [command for command, text in answers(repo, SWEEPS).items() if text] == []


def test_nothing_is_said_where_the_clone_says_so(repo: Repo) -> None:
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    repo.git("config", "gitlock.shellWrites", "off")
    assert [command for command, text in answers(repo, SWEEPS).items() if text] == []


def test_what_they_hold_is_named_as_well_and_nobody_is_refused(repo: Repo) -> None:
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    repo.git("config", "gitlock.shellWrites", "enforce")
    said = answers(repo, ("git switch topic",))["git switch topic"]
    assert "at work: claude-5b0cf1e2 (working" in said and "'src/a.py' is held by claude-5b0cf1e2" in said


def test_a_sub_agent_is_no_other(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    codex.tells("start", source="startup")
    codex.does("src/a.py", "2\n", child="a17f")
    assert codex.runs("git switch topic").context == ""
