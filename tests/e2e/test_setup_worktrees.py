"""Settings that git does not know do not travel with a branch: every worktree has its own, and loses nothing by it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.repo import Repo

LOCAL = ".claude/settings.local.json"
CURSOR = ".cursor/hooks.json"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"src/a.py": "1\n"})


def at_work(repo: Repo, agent: str) -> Repo:
    """The worktree that was spawned for an agent."""
    (record,) = [one for one in repo.json("agents")["data"]["agents"] if one["agent"] == agent]
    return Repo(Path(record["worktree"]["path"]))


def spawned(repo: Repo, agent: str) -> Repo:
    return Repo(Path(repo.json("spawn", agent, agent=None)["data"]["worktree"]["path"]))


def test_every_worktree_that_is_there_gets_it(repo: Repo) -> None:
    other = repo.worktree("other")
    result = other.lock("setup", "claude", "cursor", agent=None, cwd="src").ok()
    assert "1 other worktree" in result.out
    for tree in (repo, other):
        assert (tree.path / LOCAL).exists() and (tree.path / CURSOR).exists()
        assert tree.git("status", "--porcelain", "--untracked-files=all").out == ""
    repo.lock("setup", "claude", "--remove", agent=None).ok()
    assert not (other.path / ".claude").exists() and (other.path / CURSOR).exists()


def test_a_worktree_that_can_not_have_it_stops_no_other(repo: Repo, tmp_path: Path) -> None:
    first, second = repo.worktree("first"), repo.worktree("second")
    (first.path / ".claude").symlink_to(tmp_path)
    result = repo.lock("setup", "claude", agent=None).ok()
    assert "first" in result.err and "is a link" in result.err
    assert (repo.path / LOCAL).exists() and (second.path / LOCAL).exists()


def test_where_a_branch_has_the_file_it_is_left_alone(repo: Repo) -> None:
    other = repo.worktree("other")
    other.commit("theirs", files={CURSOR: '{"version": 1, "hooks": {}}\n'})
    result = repo.lock("setup", "cursor", agent=None).ok()
    assert "part of the project" in result.err
    assert other.git("status", "--porcelain").out == ""


def test_a_new_worktree_of_an_agent_gets_what_is_set_up(repo: Repo) -> None:
    repo.lock("setup", "claude", "cursor", agent=None).ok()
    tree = spawned(repo, "bob")
    assert (tree.path / LOCAL).exists() and (tree.path / CURSOR).exists()
    assert tree.git("status", "--porcelain", "--untracked-files=all").out == ""
    assert tree.lock("setup", "claude", "--check", agent=None).code == 0
    repo.lock("setup", "claude", "cursor", "--remove", agent=None).ok()
    assert not (tree.path / LOCAL).exists()
    assert not (spawned(repo, "eve").path / ".claude").exists()


def test_a_worktree_with_nothing_but_our_settings_is_retired_without_a_question(repo: Repo) -> None:
    repo.lock("setup", "claude", "cursor", "opencode", agent=None).ok()
    tree = spawned(repo, "bob")
    repo.write(LOCAL, json.dumps({**json.loads((repo.path / LOCAL).read_text()), "model": "x"}))
    assert repo.json("retire", "bob", agent=None)["data"] is not None
    assert not tree.path.exists()
    assert str(tree.path) not in (repo.store / "setup.json").read_text()


def test_what_a_person_added_to_them_is_not_thrown_away(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    tree = spawned(repo, "bob")
    mine = json.dumps({**json.loads((tree.path / LOCAL).read_text()), "permissions": {"allow": ["a"]}})
    tree.write(LOCAL, mine)
    refused = repo.lock("retire", "bob", agent=None)
    assert refused.code == 17 and LOCAL in refused.err + refused.out
    saved = repo.json("retire", "bob", "--force", agent=None)["data"]
    repo.lock("restore", _snapshot(saved), agent=None).ok()
    assert (tree.path / LOCAL).read_text() == mine


def _snapshot(data: Any) -> str:
    (retired,) = data["worktrees"]
    return str(retired["snapshot"])


def test_a_restored_worktree_has_them_again(repo: Repo) -> None:
    repo.lock("setup", "cursor", agent=None).ok()
    tree = spawned(repo, "bob")
    tree.write("new.txt", "work\n")
    saved = repo.json("retire", "bob", "--force", agent=None)["data"]
    repo.lock("restore", _snapshot(saved), agent=None).ok()
    assert (tree.path / CURSOR).exists() and (tree.path / "new.txt").read_text() == "work\n"


def test_half_a_spawn_with_nothing_but_our_settings_is_taken_back(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    tree = spawned(repo, "bob")
    repo.write(LOCAL, json.dumps({**json.loads((repo.path / LOCAL).read_text()), "model": "x"}))
    (record,) = (repo.store / "worktrees").glob("*.json")
    record.write_text(json.dumps({**json.loads(record.read_text()), "state": "creating"}))
    repo.lock("doctor", "--fix", "--here", agent=None)
    assert not tree.path.exists() and not record.exists()
    assert str(tree.path) not in (repo.store / "setup.json").read_text()


def test_a_worktree_made_by_hand_is_told_from_those_that_have_it(repo: Repo) -> None:
    repo.lock("setup", "claude", agent=None).ok()
    other = repo.worktree("other")
    assert "not in 1 other worktree" in repo.lock("setup", agent=None).ok().out
    assert other.lock("setup", "claude", "--check", agent=None).code == 1
    other.lock("setup", "claude", agent=None).ok()
    assert other.lock("setup", "claude", "--check", agent=None).code == 0
