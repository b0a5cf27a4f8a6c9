"""A command that changes what another holds: its holder is told so, once, at the next of its commands or hooks."""

from pathlib import Path

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"
SAID = "your 'src/a.py' was changed by codex-77aa55cc in this worktree, "


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n", "src/c.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


def trespass(repo: Repo, path: str = "src/a.py") -> None:
    """A shell command of codex writes to it."""
    codex = Program("codex", repo, TWO)
    codex.runs(f"echo 3 > {path}")
    repo.write(path, "3\n")
    assert "changed files that others hold" in codex.ran(f"echo 3 > {path}").context


def test_the_holder_is_told_at_its_next_hook_and_once(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    trespass(repo)
    told = claude.does("src/b.py", "2\n").context
    assert SAID in told and "(by a shell command): read it again" in told
    assert "was changed by" not in claude.does("src/b.py", "3\n").context
    assert "was changed by" not in claude.tells("prompt").context


def test_or_at_its_next_command(repo: Repo) -> None:
    repo.lock("claim", "src/*").ok()
    trespass(repo)
    assert "warning: " + SAID in repo.lock("mine").ok().err
    assert "was changed by" not in repo.lock("mine").ok().err
    assert repo.json("inbox")["data"]["requests"] == []  # nothing is asked


def test_nobody_else_is_told(repo: Repo) -> None:
    repo.lock("claim", "src/a.py").ok()
    trespass(repo)
    assert "was changed" not in repo.lock("mine", agent="bob").ok().err
    assert "was changed" not in Program("codex", repo, TWO).tells("prompt").context
    assert "your 'src/a.py'" in repo.lock("mine").ok().err


def test_what_happened_meanwhile_is_told_together(repo: Repo) -> None:
    repo.lock("claim", "src/*").ok()
    trespass(repo)
    trespass(repo, "src/b.py")
    assert "your 'src/a.py', 'src/b.py' were changed by codex-77aa55cc" in repo.lock("mine").ok().err
    trespass(repo, "src/c.py")
    assert "your 'src/c.py' was changed by" in repo.lock("mine").ok().err


def test_a_program_under_presence_is_told_of_as_well(repo: Repo) -> None:
    repo.lock("claim", "src/a.py").ok()
    script = "echo 3 > src/a.py"
    repo.lock("run", "--presence", "--agent", "aider-1", "--", "sh", "-c", script, agent=None).ok()
    assert "your 'src/a.py' was changed by aider-1 in this worktree, " in repo.lock("mine").ok().err
    assert repo.lock("inbox", "--all").ok().out.count("aider-1 changed 'src/a.py'") == 1


def test_whoever_works_in_another_worktree_has_lost_nothing_and_is_told_nothing(repo: Repo) -> None:
    there = repo.worktree("there")
    repo.lock("claim", "src/a.py").ok()
    codex = Program("codex", there, TWO)
    codex.runs("echo 3 > src/a.py")
    there.write("src/a.py", "3\n")
    codex.ran("echo 3 > src/a.py")
    assert "was changed by" not in repo.lock("mine").ok().err


def test_hostile_names_are_shown_as_text(repo: Repo) -> None:
    path = "src/`x`\x1b[2J\n.py"
    repo.write(path, "1\n")
    repo.lock("claim", "--path", path).ok()
    repo.lock("run", "--presence", "--agent", "aider-1", "--", "sh", "-c", 'echo 3 > "$0"', path, agent=None).ok()
    said = repo.lock("mine").ok().err
    assert "was changed by aider-1" in said and "\x1b" not in said
