"""In a worktree that was made for an agent every command is that agent's, and only there; slots; commands; adoption."""

import shutil
import signal
import socket
from pathlib import Path

import pytest

from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

FILES = {"src/a.py": "a\n", "docs/x.md": "x\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, FILES)


def spawned(repo: Repo, agent: str, *words: str) -> Repo:
    return Repo(Path(repo.json("spawn", agent, *words)["data"]["worktree"]["path"]))


def who(repo: Repo, cwd: str | None = None) -> str:
    found = repo.json("whoami", agent=None, cwd=cwd)["data"]["agent"]["id"]
    assert isinstance(found, str)
    return found


# -- identity


def test_it_is_the_agent_from_a_subfolder_by_dash_c_and_by_an_alias(repo: Repo) -> None:
    there = spawned(repo, "a")
    repo.git("config", "alias.lk", "!git lock")
    assert who(there, cwd="src") == "a"
    for words in (["-C", str(there.path), "lock"], ["-C", str(there.path / "src"), "lk"]):
        assert repo.git(*words, "whoami").out.startswith("a ")


def test_it_is_still_the_agent_after_the_worktree_was_moved(repo: Repo) -> None:
    there = spawned(repo, "a")
    moved = repo.path.parent / "moved"
    repo.git("worktree", "move", "--force", "--force", str(there.path), str(moved))
    assert who(Repo(moved)) == "a"


def test_its_commits_are_judged_as_the_agents(repo: Repo) -> None:
    repo.install()
    there = spawned(repo, "a", "--claim", "src/**")
    there.commit("its own", {"src/a.py": "2\n"})
    there.commit("not its own", {"docs/x.md": "2\n"}, check=False).ended(1)
    assert there.git("log", "-1", "--format=%s").out == "its own\n"


def test_a_worktree_of_the_same_name_inherits_nothing(repo: Repo) -> None:
    there = spawned(repo, "a", "--claim", "src/**")
    repo.git("worktree", "remove", "--force", "--force", str(there.path))
    repo.git("worktree", "add", "--quiet", str(there.path), "agent/a")
    assert who(there) == "dana@example.com"


def test_an_agent_whose_worktree_is_gone_begins_anew_and_hears_of_its_leases(repo: Repo) -> None:
    there = spawned(repo, "a", "--claim", "src/**")
    shutil.rmtree(there.path)
    answer = repo.json("spawn", "a", "--claim", "src/**")
    assert [(one["became"], one["leases_ended"]) for one in answer["data"]["recovered"]] == [("forgotten", 1)]
    assert answer["data"]["lease"]["fence"] == 2
    assert "worktree" in repo.lock("mine", agent="a").ended(13).err


def test_what_was_staged_in_a_worktree_that_is_gone_is_kept_aside(repo: Repo) -> None:
    there = spawned(repo, "a")
    there.write("src/a.py", "staged\n")
    there.git("add", "--all")
    shutil.rmtree(there.path)
    repo.lock("spawn", "a").ok()
    (aside,) = (repo.store / "evidence").glob("a-*")
    kept = {"GIT_INDEX_FILE": str(aside / "index")}
    assert repo.git("diff-index", "--cached", "--name-only", "HEAD", env=kept).lines == ["src/a.py"]


# -- slots and ports


def test_slots_are_disjoint_and_given_back(repo: Repo) -> None:
    first, second = (repo.json("spawn", name)["data"]["worktree"] for name in ("a", "b"))
    shutil.rmtree(first["path"])
    again = repo.json("spawn", "a")["data"]["worktree"]
    assert (first["slot"], second["slot"], again["slot"]) == (first["slot"], first["slot"] + 1, first["slot"])
    assert second["port_base"] - first["port_base"] == first["ports"]


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_block_in_which_a_stranger_listens_is_passed_over(repo: Repo, family: socket.AddressFamily) -> None:
    free = repo.json("spawn", "a")["data"]["worktree"]
    with socket.socket(family) as stranger:
        stranger.bind(("127.0.0.1" if family == socket.AF_INET else "::1", free["port_base"] + free["ports"] + 3))
        stranger.listen()
        assert repo.json("spawn", "b")["data"]["worktree"]["slot"] >= free["slot"] + 2


# -- a command


def test_a_command_runs_there_as_the_agent_and_its_code_is_passed_on(repo: Repo) -> None:
    told = 'git lock whoami; pwd; ls -d "$GITLOCK_SCRATCH"; echo $GITLOCK_PORT_BASE $GITLOCK_SLOT; exit 7'
    ran = repo.lock("spawn", "a", "--", "sh", "-c", told, env={"CLAUDE_CODE_SESSION_ID": "5b0cf1e2"}).ended(7)
    who_line, place, scratch, numbers = ran.lines
    assert who_line.startswith("a ") and place == str(repo.path.parent / "repo.agents/a")
    assert Path(scratch).stat().st_mode & 0o777 == 0o700 and int(numbers.split()[0]) >= 20_000


def test_presence_ends_with_the_command(repo: Repo) -> None:
    def states() -> list[str]:
        found = [path.read_text() for path in (repo.store / "sessions").glob("*.json")]
        return [word for text in found for word in ("working", "done") if f'"{word}"' in text]

    with repo.start("spawn", "a", "--", "sleep", "60") as running:
        until(lambda: states() == ["working"], "it is present")
        running.signal(signal.SIGTERM).wait().ended(128 + signal.SIGTERM)
    assert states() == ["done"]


def test_a_command_that_cannot_be_started_leaves_the_worktree(repo: Repo) -> None:
    answer = repo.json("spawn", "a", "--", "no-such-program-of-anybody")
    assert_fits("spawn", answer)
    assert answer["code"] == 127 and (repo.path.parent / "repo.agents/a/src/a.py").exists()


def test_with_json_the_command_speaks_on_standard_error(repo: Repo) -> None:
    answer = repo.json("spawn", "a", "--", "sh", "-c", "echo noise; exit 4")
    assert_fits("spawn", answer)
    assert (answer["code"], answer["data"]["child_code"]) == (4, 4)


# -- adoption


def test_a_worktree_of_anybodys_is_adopted_as_it_is(repo: Repo) -> None:
    there = repo.worktree("foreign")
    there.write("src/a.py", "work\n")
    before = there.git("status", "--porcelain", "--branch").out
    answer = repo.json("spawn", "--adopt", str(there.path), "a", "--claim", "src/**")
    assert_fits("spawn", answer)
    assert (who(there), there.git("status", "--porcelain", "--branch").out) == ("a", before)
    assert answer["data"]["worktree"]["origin"] == "adopted"


def test_a_detached_worktree_is_adopted(repo: Repo) -> None:
    there = repo.worktree("foreign")
    there.git("checkout", "--quiet", "--detach")
    assert repo.json("spawn", "a", "--adopt", str(there.path))["data"]["worktree"]["branch"] is None


def test_somebody_elses_lock_is_left_as_it_is(repo: Repo) -> None:
    there = repo.worktree("foreign")
    repo.git("worktree", "lock", "--reason", "theirs", str(there.path))
    repo.lock("spawn", "a", "--adopt", str(there.path)).ok()
    assert (repo.common_dir / "worktrees/foreign/locked").read_text().strip() == "theirs"


@pytest.mark.parametrize("what", ["main", "nothing", "owned", "other"])
def test_what_cannot_be_adopted(repo: Repo, what: str, tmp_path: Path) -> None:
    places = {
        "main": repo.path,
        "nothing": tmp_path,
        "owned": spawned(repo, "owner").path,
        "other": Repo.new(tmp_path, name="other").path,
    }
    repo.lock("spawn", "a", "--adopt", str(places[what])).ended(17)
    assert "a" not in {lease["agent"] for lease in repo.json("list")["data"]["leases"]}


@pytest.mark.parametrize("words", [["--branch", "b"], ["--path", "p"]])
def test_adoption_takes_no_word_about_a_new_worktree(repo: Repo, words: list[str]) -> None:
    repo.lock("spawn", "a", "--adopt", ".", *words).ended(2)


@pytest.mark.parametrize("words", [["--ttl", "1h"], ["-m", "why"]])
def test_words_about_a_claim_need_one(repo: Repo, words: list[str]) -> None:
    repo.lock("spawn", "a", *words).ended(2)


def test_commits_that_only_a_missing_worktree_was_on_are_not_given_up(repo: Repo) -> None:
    tree = spawned(repo, "a")
    tree.git("switch", "--quiet", "--detach")
    tree.commit("mine", {"b.py": "b\n"})
    far = repo.path.parent / "far" / "away"
    far.mkdir(parents=True)
    tree.path.rename(far / "a")
    answer = repo.json("spawn", "a", agent="boss")
    assert (answer["code"], answer["error"]["id"]) == (17, "lost-commits")


# -- a folder that was moved by hand


def test_a_worktree_that_was_moved_beside_is_found_and_the_hint_brings_it_back(repo: Repo) -> None:
    tree = spawned(repo, "a")
    moved = repo.path.parent / "moved by hand"
    tree.path.rename(moved)
    error = repo.json("spawn", "a")["error"]
    assert (error["id"], str(moved) in error["message"]) == ("worktree-moved", True)
    repo.run("sh", "-c", error["next"]).ok()
    assert Repo(moved).json("whoami", agent=None)["data"]["agent"]["id"] == "a"


def test_one_that_was_moved_where_nobody_looks_shares_nothing_with_its_successor(repo: Repo, tmp_path: Path) -> None:
    tree = spawned(repo, "a")
    moved = tmp_path / "far" / "away" / "a"
    moved.parent.mkdir(parents=True)
    for _ in range(2):
        tree.path.rename(moved)
        tree = spawned(repo, "a")
        tree.write("new.py", "x\n")
        tree.git("add", "new.py")
        assert Repo(moved).git("status", check=False).code == 128
        moved = moved.with_name(moved.name + "x")
