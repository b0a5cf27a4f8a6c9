"""A branch goes only with proof that its work has landed, and only from where it was seen; else it is said why it
stays: S44, S45, S49, S52."""

from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.worktree import Worktree
from tests.kit.repo import Repo
from tests.kit.retiring import book_of, house, land, meddling, reasons, record_of


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"a.py": "1\n", "b.py": "1\n"})


def retired(repo: Repo, *words: str, env: Any = None) -> dict[str, Any]:
    """What became of the worktree of a, which must be gone."""
    answer = repo.json("retire", "a", *words, env=env)
    assert answer["code"] == 0, answer
    one = answer["data"]["worktrees"][0]
    assert one["removed"] and record_of(repo) is None
    assert isinstance(one, dict)
    return one


def worked(repo: Repo) -> Repo:
    """A worktree with two commits."""
    tree = house(repo)
    tree.commit("one", {"a.py": "2\n"})
    tree.commit("two", {"new.py": "n\n"})
    return tree


def test_a_merged_branch_goes(repo: Repo) -> None:
    worked(repo)
    land(repo, "agent/a")
    assert retired(repo)["branch_deleted"]


def test_a_squashed_branch_goes(repo: Repo) -> None:
    worked(repo)
    land(repo, "agent/a", squash=True)
    assert retired(repo)["branch_deleted"]


def test_a_squashed_branch_goes_also_when_the_target_went_on_in_the_same_file(repo: Repo) -> None:
    worked(repo)
    land(repo, "agent/a", squash=True)
    repo.commit("later", {"a.py": "3\n"})
    (fate,) = retired(repo)["branches"]
    assert (fate["deleted"], fate["because"]) == (True, "squashed (main)")


def test_a_branch_whose_work_was_gone_on_with_elsewhere_stays_unless_all_of_it_landed(repo: Repo) -> None:
    worked(repo)
    repo.git("branch", "agent/a-r2", "agent/a")
    other = house(repo, "r2", branch="next", path=repo.path.parent / "r2")
    other.git("reset", "--quiet", "--hard", "agent/a-r2")
    other.commit("three", {"a.py": "quite another\n"})
    land(repo, "next", squash=True)
    answer = repo.json("retire", "a")
    assert (answer["code"], reasons(answer)) == (17, ["unmerged"])
    assert repo.git("log", "-1", "--format=%s", "agent/a").out == "two\n"


def test_a_rebased_branch_goes(repo: Repo) -> None:
    worked(repo)
    repo.commit("meanwhile", {"b.py": "2\n"})
    repo.git("cherry-pick", "main..agent/a")
    assert retired(repo)["branch_deleted"]


def test_a_branch_that_moves_at_the_last_moment_stays(repo: Repo, tmp_path: Path) -> None:
    house(repo)
    elsewhere = repo.git("commit-tree", "-m", "elsewhere", "HEAD^{tree}").out.strip()
    act = f"env -u GIT_DIR git -C {repo.path} update-ref refs/heads/agent/a {elsewhere}"
    env = meddling(tmp_path / "bin", " update-ref -d --no-deref ", act.replace("git", _real_git(), 1))
    one = retired(repo, env=env)
    assert (one["branch_deleted"], one["branch_kept_because"]) == (False, "it points elsewhere by now")
    assert repo.git("rev-parse", "agent/a").out.strip() == elsewhere


def _real_git() -> str:
    import shutil

    found = shutil.which("git")
    assert found is not None
    return found


def test_a_branch_that_is_checked_out_elsewhere_stays(repo: Repo) -> None:
    house(repo)
    repo.git("worktree", "add", "--quiet", "--force", "../second", "agent/a")
    one = retired(repo)
    assert not one["branch_deleted"]
    assert one["branch_kept_because"] == f"it is checked out in '{repo.path.parent / 'second'}'"


def test_a_branch_stays_where_that_is_wished(repo: Repo) -> None:
    worked(repo)
    one = retired(repo, "--keep-branch")
    assert not one["branch_deleted"]
    assert repo.git("log", "-1", "--format=%s", "agent/a").out == "two\n"


def test_by_force_a_branch_that_has_not_landed_stays_all_the_same(repo: Repo) -> None:
    worked(repo)
    one = retired(repo, "--force")
    assert (one["branch_deleted"], one["branch_kept_because"]) == (False, "its work is not merged")


def test_work_that_landed_on_the_remotes_default_branch_is_merged(repo: Repo) -> None:
    clone = repo.clone()
    tree = house(clone)
    tree.commit("mine", {"a.py": "2\n"})
    tree.git("push", "--quiet", "origin", "agent/a:refs/heads/landing")
    land(repo, "landing")
    repo.git("branch", "-D", "landing")
    clone.git("fetch", "--quiet", "--prune")
    (fate,) = retired(clone)["branches"]
    assert (fate["deleted"], fate["because"]) == (True, "ancestor (origin/main)")


def test_the_other_branches_that_were_worked_on_stay(repo: Repo) -> None:
    tree = worked(repo)
    tree.git("switch", "--quiet", "-c", "side")
    tree.commit("three", {"c.py": "c\n"})
    land(repo, "side")
    fates = {fate["name"]: fate["deleted"] for fate in retired(repo)["branches"]}
    assert fates == {"agent/a": True, "side": False}


# -- one command for all


def _names(records: list[Worktree]) -> list[str]:
    return [one.agent for one in records]


def test_all_whose_work_has_landed_go_in_one_command(repo: Repo) -> None:
    for agent in ("done", "dirty", "open"):
        house(repo, agent).commit(agent, {f"{agent}.py": "x\n"})
    house(repo, "fresh")
    land(repo, "agent/done", squash=True)
    land(repo, "agent/dirty")
    (repo.path.parent / "repo.agents/dirty/more.py").write_text("more\n")
    answer = repo.json("retire", "--all-merged")
    fates = {one["agent"]: [reason["id"] for reason in one["refusals"]] for one in answer["data"]["worktrees"]}
    assert fates == {"done": [], "dirty": ["untracked"], "open": ["unmerged"], "fresh": ["not-begun"]}
    assert (answer["code"], _names(book_of(repo).all())) == (0, ["dirty", "open", "fresh"])


def test_a_dry_run_of_all_removes_none(repo: Repo) -> None:
    house(repo, "done").commit("done", {"d.py": "x\n"})
    land(repo, "agent/done")
    assert "1 of 1 worktrees would be retired" in repo.lock("retire", "--all-merged", "-n").ok().out
    assert _names(book_of(repo).all()) == ["done"]


def test_a_branch_that_is_being_rebased_elsewhere_stays(repo: Repo) -> None:
    tree = worked(repo)
    tree.git("switch", "--quiet", "--detach")
    land(repo, "agent/a")
    repo.git("worktree", "add", "--quiet", "../other", "agent/a")
    other = Repo(repo.path.parent / "other")
    other.git("rebase", "--quiet", "--force-rebase", "--exec", "false", "HEAD~1", check=False)
    retired(repo)
    assert "agent/a" in repo.git("branch", "--list", "agent/a").out


def test_what_was_configured_for_a_branch_goes_with_it(repo: Repo) -> None:
    worked(repo)
    repo.git("config", "branch.agent/a.remote", "origin")
    land(repo, "agent/a")
    assert retired(repo)["branch_deleted"]
    assert repo.git("config", "--get-regexp", "^branch[.]agent/a[.]", check=False).out == ""


@pytest.mark.parametrize("how", [("merge", "-q", "--ff-only"), ("rebase", "-q"), ("reset", "-q", "--hard")])
def test_a_branch_that_only_followed_its_base_has_not_landed(repo: Repo, how: tuple[str, ...]) -> None:
    tree = house(repo, "fresh")
    repo.commit("theirs", {"t.py": "x\n"})
    tree.git(*how, "main")
    answer = repo.json("retire", "--all-merged")
    assert reasons(answer) == ["not-begun"] and _names(book_of(repo).all()) == ["fresh"]


def test_one_that_was_merged_into_it_has_landed_even_if_it_followed_since(repo: Repo) -> None:
    tree = house(repo, "done")
    tree.commit("done", {"d.py": "x\n"})
    land(repo, "agent/done")
    tree.git("merge", "--quiet", "--ff-only", "main")
    repo.json("retire", "--all-merged")
    assert _names(book_of(repo).all()) == []
