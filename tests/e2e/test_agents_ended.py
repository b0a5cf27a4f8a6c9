"""Sessions that are over: one that said goodbye is done, one that went without a word is dead, and neither counts."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.kit.programs import Living, Program
from tests.kit.repo import Repo
from tests.kit.retiring import house
from tests.kit.schemas import assert_fits

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"

named = pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="needs a kernel where a process names itself")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


def row(repo: Repo, agent: str = "claude-5b0cf1e2") -> dict[str, Any]:
    """What is said of an agent."""
    answer = repo.json("agents", agent=None)
    assert_fits("agents", answer)
    (found,) = [one for one in answer["data"]["agents"] if one["agent"] == agent]
    assert isinstance(found, dict)
    return found


@named
def test_a_session_that_ended_is_done_though_its_process_is_gone(repo: Repo, tmp_path: Path) -> None:
    with Living("claude", repo, ONE, tmp_path) as claude:
        claude.does("src/a.py", "2\n")
        claude.tells("end", reason="other")
    found = row(repo)
    assert (found["liveness"], found["state"], found["counts"], found["guard"]) == ("dead", "done", False, None)
    shown = repo.lock("agents", agent=None).ok().out
    assert "done" in shown and "dead" not in shown


@named
def test_one_that_went_without_a_word_is_dead(repo: Repo, tmp_path: Path) -> None:
    with Living("claude", repo, ONE, tmp_path) as claude:
        claude.does("src/a.py", "2\n")
    assert row(repo)["state"] == "working" and not row(repo)["counts"]
    assert " dead " in repo.lock("agents", agent=None).ok().out


def test_what_it_left_behind_is_named_as_long_as_it_is_changed(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    assert row(repo)["orphaned"] == []
    claude.tells("end", reason="other")
    assert row(repo)["orphaned"] == ["src/a.py"]
    assert "left behind, still changed (orphaned, at most until " in repo.lock("agents", agent=None).ok().out
    repo.git("checkout", "--quiet", "src/a.py")
    assert row(repo)["orphaned"] == []


def test_a_program_under_presence_that_ended_is_done(repo: Repo) -> None:
    repo.lock("run", "--presence", "--", "sh", "-c", "echo 2 > src/a.py", agent=None).ok()
    (found,) = repo.json("agents", agent=None)["data"]["agents"]
    assert (found["state"], found["counts"], found["orphaned"]) == ("done", False, ["src/a.py"])


def test_whose_session_has_ended_is_not_counted_as_at_work(repo: Repo) -> None:
    claude, codex = Program("claude", repo, ONE), Program("codex", repo, TWO)
    claude.does("src/a.py", "2\n")
    codex.does("src/b.py", "2\n")
    assert "2 agents are at work" in repo.lock("doctor", agent=None).out
    claude.tells("end", reason="other")
    assert "agents are at work" not in repo.lock("doctor", agent=None).out
    assert [row(repo, name)["shared"] for name in ("claude-5b0cf1e2", "codex-77aa55cc")] == [False, False]


def test_a_refusal_says_that_the_holders_session_has_ended(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    claude.tells("end", reason="other")
    refusal = Program("codex", repo, TWO).edits("src/a.py").refusal
    assert "whose session has ended" in refusal
    said = (refusal, *(repo.lock(verb, "src/a.py", agent="bob").out for verb in ("who", "status")))
    assert [text.count("session has ended") for text in said] == [1, 1, 1]


@named
def test_an_ended_session_of_a_living_process_does_not_keep_a_worktree(repo: Repo, tmp_path: Path) -> None:
    alice = house(repo, "alice")
    with Living("claude", repo, ONE, tmp_path) as claude:  # its own folder is not there
        claude.tells("start", source="startup", cwd=alice.path)
        assert "alice" in repo.lock("retire", "alice", agent=None).ended(17).err
        claude.tells("end", reason="other", cwd=alice.path)
        repo.lock("retire", "alice", agent=None).ok()
    assert not alice.path.exists()
