"""A session that works in several repositories: what concerns all of it concerns each of them."""

import os
import shutil
from pathlib import Path

import pytest

from tests.kit.programs import Living, Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"


@pytest.fixture
def repos(tmp_path: Path) -> tuple[Repo, Repo]:
    """Two managed repositories side by side, in a folder that is none."""
    files = {"a.py": "1\n", "b.py": "1\n"}
    repo, other = Repo.new(tmp_path, name="repo", files=files), Repo.new(tmp_path, name="other", files=files)
    repo.lock("install", agent=None).ok()
    other.lock("install", agent=None).ok()
    return repo, other


def held(repo: Repo) -> dict[str, str]:
    """Who holds what."""
    return {" ".join(one["include"]): one["agent"] for one in repo.json("list")["data"]["leases"]}


def does(program: Program, repo: Repo, path: str, text: str) -> None:
    """A whole edit of a file in any repository."""
    file = str(repo.path / path)
    assert program.edits(file).may_run
    repo.write(path, text)
    program.edited(file)


def remembered() -> list[str]:
    """The sessions whose repositories are remembered."""
    folder = Path(os.environ["XDG_STATE_HOME"], "git-lock", "sessions")
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_the_end_of_a_session_gives_back_what_it_holds_in_other_repositories(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    claude.tells("start", source="startup")
    does(claude, other, "a.py", "1\n")
    does(claude, other, "b.py", "2\n")
    claude.tells("end", reason="other")
    assert held(other) == {"b.py": "claude-5b0cf1e2"}  # still changed
    assert remembered() == []


def test_also_where_it_never_stood_in_a_repository(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    for one in repos:
        assert claude.edits(str(one.path / "a.py"), cwd=repo.path.parent).may_run
    claude.tells("end", reason="other", cwd=repo.path.parent)
    assert held(repo) == held(other) == {}


def test_also_where_it_ends_in_another_folder_than_it_began_in(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    does(claude, repo, "a.py", "1\n")
    claude.edits("a.py", cwd=other.path)
    claude.tells("end", reason="other", cwd=other.path)
    assert held(repo) == held(other) == {}


def test_a_clear_keeps_the_leases_in_other_repositories(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    before, after = Program("claude", repo, ONE), Program("claude", repo, TWO)
    before.tells("start", source="startup")
    does(before, other, "a.py", "1\n")
    before.tells("end", reason="clear")
    after.tells("start", source="clear")
    assert after.edits(str(other.path / "a.py")).may_run
    assert held(other) == {"a.py": "claude-5b0cf1e2"}
    after.tells("end", reason="other")
    assert held(other) == {}


def test_a_question_to_a_person_is_seen_in_every_repository(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    does(claude, other, "a.py", "2\n")
    claude.tells("asks", tool_name="Bash", tool_input={"command": "make deploy"})
    assert "it waits for a person" in Program("codex", other, TWO).edits("a.py").refusal
    claude.tells("prompt")
    assert "waits for a person" not in Program("codex", other, TWO).edits("a.py").refusal


def test_a_request_from_another_repository_is_told_at_the_next_prompt(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    does(claude, other, "a.py", "2\n")
    other.lock("request", "a.py", "-m", "please", agent="bob").ok()
    assert "bob asks you to let go of 'a.py'" in claude.tells("prompt").context


def test_a_repository_that_is_gone_stands_in_nobodys_way(repos: tuple[Repo, Repo]) -> None:
    repo, other = repos
    claude = Program("claude", repo, ONE)
    does(claude, other, "a.py", "1\n")
    does(claude, repo, "a.py", "1\n")
    shutil.rmtree(other.path)
    claude.tells("end", reason="other")
    assert held(repo) == {}


def test_a_folder_for_it_that_can_not_be_written_costs_nothing_else(repos: tuple[Repo, Repo], tmp_path: Path) -> None:
    repo, other = repos
    (tmp_path / "in-the-way").write_text("")
    claude = Program("claude", repo, ONE, env={"XDG_STATE_HOME": str(tmp_path / "in-the-way")})
    does(claude, other, "a.py", "1\n")
    claude.tells("end", reason="other", cwd=other.path)
    assert held(other) == {}


@pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="needs a kernel that lets a process name itself")
def test_a_crash_frees_what_is_held_in_other_repositories(repos: tuple[Repo, Repo], tmp_path: Path) -> None:
    repo, other = repos
    with Living("claude", repo, ONE, tmp_path) as claude:
        claude.edits(str(other.path / "a.py"))
        assert not Program("codex", other, TWO).edits("a.py").may_run
    assert Program("codex", other, TWO).edits("a.py").may_run
