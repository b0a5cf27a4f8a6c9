"""A lease is held from where its holder is by now: after a switch, a rename, a move; and the merge check knows it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.kit.repo import Repo

A, B = "src/a.py", "src/b.py"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """alice has claimed a file on main."""
    repo = Repo.new(tmp_path, {A: "1\n", B: "1\n", ".gitlock.toml": "version = 1\n"})
    repo.lock("claim", A).ok()
    return repo


def _holder(repo: Repo, agent: str = "alice") -> dict[str, Any]:
    (found,) = [one["holder"] for one in repo.state()["leases"] if one["agent"] == agent]
    assert isinstance(found, dict)
    return found


def _branch(repo: Repo) -> object:
    return _holder(repo)["branch"]


def _published(repo: Repo) -> object:
    """The branch that others are told of."""
    repo.lock("publish").ok()
    ledger = repo.git("ls-remote", "origin", "refs/agentlocks/*").out.split()[0]
    (lease,) = [row for row in repo.git("show", f"{ledger}:ledger").out.splitlines() if row.startswith('{"lease"')]
    return lease.partition('"branch":')[2].partition(",")[0].strip('"}')


@pytest.mark.parametrize("hooks", [True, False], ids=["with hooks", "without hooks"])
@pytest.mark.parametrize("receipts", [True, False], ids=["with receipts", "without receipts"])
def test_whoever_claims_and_then_makes_a_branch_may_land_it(hooks: bool, receipts: bool, tmp_path: Path) -> None:
    more = "" if receipts else "\n[policy]\nreceipts = false\n"
    origin = Repo.new(tmp_path, {A: "1\n", ".gitlock.toml": f"version = 1\n{more}"}, bare=True, name="origin.git")
    repo = origin.clone("dev")
    if hooks:
        repo.install()
    repo.lock("claim", A).ok()
    repo.lock("publish").ok()
    repo.git("switch", "--quiet", "--create", "feat", agent="alice")
    repo.commit("work", {A: "2\n"}, agent="alice")
    repo.lock("publish").ok()
    repo.git("push", "--quiet", "origin", "feat", agent="alice")
    for place in (repo, origin.clone("runner")):
        place.git("checkout", "--quiet", "feat")
        place.lock("ci", agent=None).ok()


def test_a_switch_moves_what_is_held_there_in_one_write(repo: Repo) -> None:
    repo.install()
    before = repo.state()["revision"]
    repo.git("switch", "--quiet", "--create", "feat", agent="alice")
    assert (_branch(repo), repo.state()["revision"]) == ("feat", before + 1)
    repo.git("switch", "--quiet", "--create", "same", agent="bob")
    assert _branch(repo) == "feat"  # whose it is has not been seen since


@pytest.mark.parametrize("command", [["mine"], ["check", A], ["claim", A], ["claim", B], ["renew"], ["list"]])
def test_without_hooks_the_next_command_notices(command: list[str], repo: Repo) -> None:
    repo.git("branch", "--move", "trunk")
    repo.lock(*command).ok()
    assert {one["holder"]["branch"] for one in repo.state()["leases"]} == {"trunk"}
    before = repo.state()["revision"]
    repo.lock("mine").ok()
    assert repo.state()["revision"] == before


def test_on_no_branch_it_is_held_from_none(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--detach")
    repo.lock("mine").ok()
    assert _branch(repo) is None


@pytest.mark.parametrize("how", ["--apply", "--merge"])
def test_in_the_middle_of_a_rebase_it_stays(how: str, repo: Repo) -> None:
    repo.install()
    repo.git("switch", "--quiet", "--create", "feat", agent="alice")
    bypass = {"GITLOCK_BYPASS": "set up"}
    repo.commit("work", {A: "2\n"}, agent="alice")
    repo.git("checkout", "--quiet", "main", agent="bob")
    repo.commit("theirs", {A: "3\n"}, agent="bob", env=bypass)
    repo.git("checkout", "--quiet", "feat", agent="alice")
    assert repo.git("rebase", how, "main", agent="alice", check=False).code
    repo.lock("mine").ok()
    assert _branch(repo) == "feat"


def test_a_worktree_that_was_moved_is_followed_and_one_that_is_merely_elsewhere_is_not(repo: Repo) -> None:
    other = repo.worktree("other")
    other.lock("claim", B, agent="bob").ok()
    repo.lock("mine", agent="bob").ok()
    assert _holder(repo, "bob")["worktree"] == str(other.path)
    moved = other.path.with_name("moved")
    repo.git("worktree", "move", str(other.path), str(moved))
    Repo(moved).lock("mine", agent="bob").ok()
    assert _holder(repo, "bob")["worktree"] == str(moved)


def test_a_worktree_that_is_not_there_just_now_was_not_moved(repo: Repo) -> None:
    other = repo.worktree("other")
    other.lock("claim", B, agent="bob").ok()
    shutil.move(other.path, other.path.with_name("unmounted"))
    repo.lock("mine", agent="bob").ok()
    assert _holder(repo, "bob")["worktree"] == str(other.path)


def test_a_publication_says_where_everybody_is_by_now(repo: Repo, tmp_path: Path) -> None:
    repo.git("init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    assert _published(repo) == "main"
    repo.git("switch", "--quiet", "--create", "feat")
    assert _published(repo) == "feat"
    assert _branch(repo) == "feat"


def test_a_claim_until_its_branch_is_merged_stays_with_it(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "feat")
    repo.commit("work", {"src/c.py": "1\n"})
    repo.lock("release", A).ok()
    repo.lock("claim", "--until-merged", B).ok()
    repo.git("switch", "--quiet", "main")
    repo.lock("mine").ok()
    assert _branch(repo) == "feat"
