"""Whether a target contains what a branch has done."""

from pathlib import Path

import pytest

from gitlock.git.integration import is_integrated
from gitlock.git.process import Git
from tests.kit.program import child_environment
from tests.kit.repo import Repo


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """A branch with two commits of its own; main has gone on meanwhile."""
    repo = Repo.new(tmp_path, files={"a": "1\n2\n3\n", "b": "1\n"})
    repo.git("switch", "-q", "-c", "branch")
    repo.commit("one", {"a": "1\n2\n3\n4\n"})
    repo.commit("two", {"c": "c\n"})
    repo.git("switch", "-q", "main")
    repo.commit("main's", {"b": "2\n"})
    return repo


def proof(repo: Repo, tip: str = "branch", target: str = "main") -> tuple[str, str]:
    found = is_integrated(Git(str(repo.path), child_environment()), tip, target)
    return found.answer, found.proof


def test_work_that_is_not_there_is_not_integrated(world: Repo) -> None:
    assert proof(world) == ("no", "")


def test_a_part_of_it_is_not_all_of_it(world: Repo) -> None:
    world.git("cherry-pick", "branch~")
    assert proof(world) == ("no", "")


def test_a_merged_branch_is_an_ancestor(world: Repo) -> None:
    world.git("merge", "-q", "--no-edit", "branch")
    assert proof(world) == ("yes", "ancestor")
    assert proof(world, "main", "main") == ("yes", "same commit")


def test_a_squashed_branch_is_integrated(world: Repo) -> None:
    world.git("merge", "-q", "--squash", "branch")
    world.commit("squashed")
    assert proof(world)[0] == "yes"


def test_a_squashed_branch_is_recognised_after_its_files_changed_again(world: Repo) -> None:
    world.git("merge", "-q", "--squash", "branch")
    world.commit("squashed")
    world.commit("later", {"a": "1\n2\n3\nfour\n", "c": "other\n"})
    assert proof(world) == ("yes", "squashed")


def test_a_rebased_branch_is_recognised_after_its_files_changed_again(world: Repo) -> None:
    world.git("cherry-pick", "branch~", "branch")
    world.commit("later", {"a": "1\n2\n3\nfour\n", "c": "other\n"})
    assert proof(world) == ("yes", "every patch is there")


def test_what_was_reverted_is_not_there(world: Repo) -> None:
    world.git("merge", "-q", "--squash", "branch")
    world.commit("squashed")
    world.git("switch", "-q", "branch")
    world.commit("three", {"d": "d\n"})
    world.git("switch", "-q", "main")
    assert proof(world) == ("no", "")


def test_the_same_content_made_by_somebody_else_counts(world: Repo) -> None:
    world.commit("by hand", {"a": "1\n2\n3\n4\n"})
    world.commit("and this", {"c": "c\n"})
    world.git("switch", "-q", "branch")
    world.git("merge", "-q", "--no-edit", "main~2")
    assert proof(world)[0] == "yes"


def test_cut_history_is_unknown_and_never_no(world: Repo, tmp_path: Path) -> None:
    world.git("clone", "-q", "--depth", "1", "--no-single-branch", world.path.as_uri(), str(tmp_path / "shallow"))
    assert proof(Repo(tmp_path / "shallow"), "origin/branch", "origin/main")[0] == "unknown"


def test_a_missing_commit_is_unknown(world: Repo) -> None:
    assert proof(world, "0" * 39 + "1")[0] == "unknown"


def test_work_that_was_taken_back_again_has_not_landed(world: Repo) -> None:
    world.git("switch", "--quiet", "-c", "tried", "main")
    world.commit("a try", {"try.py": "t\n"})
    world.git("revert", "--no-edit", "HEAD")
    assert proof(world, "tried") == ("no", "")


def test_commits_that_change_nothing_have_nothing_to_land(world: Repo) -> None:
    world.git("switch", "--quiet", "-c", "empty", "main")
    world.git("commit", "--quiet", "--allow-empty", "-m", "nothing")
    assert proof(world, "empty")[0] == "yes"


def test_squashed_work_counts_also_after_the_target_was_merged_back(world: Repo) -> None:
    world.git("switch", "--quiet", "-c", "back", "main")
    world.commit("work", {"back.py": "b\n"})
    world.git("switch", "--quiet", "main")
    world.git("merge", "--quiet", "--squash", "back")
    world.git("commit", "--quiet", "-m", "squashed")
    world.git("switch", "--quiet", "back")
    world.git("merge", "--quiet", "--no-edit", "main")
    assert proof(world, "back")[0] == "yes"


def test_a_merge_driver_of_somebodys_proves_nothing(world: Repo) -> None:
    world.git("config", "merge.ours.driver", "true")
    world.write(".git/info/attributes", "* merge=ours\n")
    world.git("switch", "--quiet", "-c", "driven", "main")
    world.commit("mine", {"a": "mine\n"})
    world.git("switch", "--quiet", "main")
    world.commit("theirs", {"a": "theirs\n"})
    assert proof(world, "driven") == ("no", "")
