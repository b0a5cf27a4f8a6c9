"""Where the server works: folders, worktrees, and what it says where it can't."""

from pathlib import Path

import pytest

from tests.kit.mcp import Client
from tests.kit.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"src/a.py": "a\n", "src/deep/b.py": "b\n"})


def test_paths_are_relative_to_where_it_was_started(repo: Repo) -> None:
    with Client.of(repo, agent="alice", cwd="src") as client:
        assert client.claims("a.py")["lease"]["include"] == ["src/a.py"]
        assert client.claims("b.py", folder="deep")["lease"]["include"] == ["src/deep/b.py"]
        assert client.claims(str(repo.path / "README.md"))["lease"]["include"] == ["README.md"]


@pytest.mark.parametrize("way", ["--repo", "CLAUDE_PROJECT_DIR"])
def test_the_repository_can_be_named(repo: Repo, tmp_path: Path, way: str) -> None:
    words = [way, str(repo.path)] if way == "--repo" else []
    env = {} if way == "--repo" else {way: str(repo.path)}
    with Client.of(repo, *words, agent="alice", env=env, cwd=tmp_path) as client:
        assert client.call("whoami")["worktree"] == str(repo.path)


def test_an_absolute_path_decides_the_worktree(repo: Repo) -> None:
    there = repo.worktree("feature")
    other = Repo.new(repo.path.parent, name="other")
    with Client.of(repo, agent="alice") as client:
        lease = client.claims(str(there.path / "src/a.py"))["lease"]
        assert (lease["holder"]["worktree"], lease["holder"]["branch"]) == (str(there.path), "feature")
        pattern = client.claims(str(there.path / "src/deep") + "/*.py")["lease"]
        assert (pattern["include"], pattern["holder"]["branch"]) == (["src/deep/*.py"], "feature")
        assert client.claims(str(other.path / "x"))["lease"]["holder"]["worktree"] == str(other.path)
        assert client.refused("claim", 2, claims=["src/a.py", str(other.path / "x")])["id"] == "bad-path"
    assert [one["include"] for one in other.json("list")["data"]["leases"]] == [["x"]]


def test_it_works_in_a_linked_worktree(repo: Repo) -> None:
    there = repo.worktree("feature")
    with Client.of(there, agent="alice") as client:
        client.claims("src/a.py")
        assert [one["claim"] for one in client.read("gitlock://leases")] == ["src/a.py"]
    assert repo.json("who", "src/a.py")["data"]["results"][0]["state"] == "held"


def test_what_can_t_be_known_is_said_and_the_server_lives_on(repo: Repo, tmp_path: Path) -> None:
    gone = tmp_path / "moved"
    with Client.of(repo, agent="alice", mode="2026-07-28") as client:
        client.claims("src/a.py")
        state = repo.store / "state.json"
        good = state.read_bytes()

        state.write_bytes(b"{")
        assert client.refused("claim", 20, claims=["src/deep/b.py"])["id"] == "store-corrupt"
        assert client.refused("status", 20)["id"] == "store-corrupt"
        state.write_bytes(good)

        repo.write(".gitlock.toml", "version = 1\nnonsense = 2\n")
        error = client.refused("claim", 20, claims=["src/deep/b.py"])
        assert error["id"] == "bad-map-file" and ".gitlock.toml:2" in error["message"]
        (repo.path / ".gitlock.toml").unlink()

        repo.path.rename(gone)
        error = client.refused("status", 20, folder=str(repo.path))
        assert error["id"] == "not-a-repository" and "there is no folder" in error["message"]
        gone.rename(repo.path)

        assert client.call("status")["mine"][0]["claim"] == "src/a.py"


def test_a_place_that_is_no_repository_is_an_answer(repo: Repo, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with Client.of(repo, agent="alice", cwd=empty) as client:
        assert client.refused("status", 20)["id"] == "not-a-repository"
        repository = Repo(empty)
        repository.git("init", "--quiet")
        assert client.claims("new.py")["covers_files"] == 0


def test_under_warn_nobody_is_stopped(repo: Repo) -> None:
    repo.write(".gitlock.toml", 'version = 1\n[policy]\nmode = "warn"\n')
    repo.lock("claim", "src/a.py", agent="bob").ok()
    with Client.of(repo, agent="alice") as client:
        answer = client.claims("src/a.py")
        assert answer["lease"]["mode"] == "intent" and "held by bob" in answer["warnings"][0]


def test_who_subscribes_is_told_of_a_change(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    with Client.of(repo, agent="alice", mode="2026-07-28") as client:
        assert client.hears("gitlock://leases", lambda: repo.lock("release", "--all", agent="bob")) == "gitlock://leases"
        told = client.hears("gitlock://inbox", lambda: repo.lock("escalate", "src/a.py", "-m", "who?", agent="bob"))
        assert told == "gitlock://inbox"
