"""What a branch would change in its base, whatever was merged, picked, squashed, moved or cut short on the way."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitlock.errors import GitlockError, RemoteUnreachable, RepositoryError
from gitlock.git.branching import (
    Ends,
    Parted,
    branch_changes,
    file_at,
    find_ends,
    first_changed_line,
    other_branches,
)
from gitlock.git.process import Git
from gitlock.git.testimony import landed_commits, own_commits, work_of
from tests.kit.repo import Repo

SIGNED = "\n\nLock-Agent: {0}\nLock-Lease: aa11 store=s1 fence={1} {2}\n"


def git(repo: Repo) -> Git:
    return Git(str(repo.path), os.environ)


def parted(repo: Repo, base: str = "main", head: str = "work", remote: str | None = None) -> Parted:
    return find_ends(git(repo), Ends(base, head), remote)


def changed(repo: Repo, base: str = "main", head: str = "work") -> dict[str, str]:
    """The paths that the branch changes, and how."""
    return {change.path: change.status for change in branch_changes(git(repo), parted(repo, base, head))}


def on(repo: Repo, branch: str, files: Mapping[str, str | bytes], message: str = "more") -> None:
    """A commit on a branch, which is made where we are if it is not there."""
    if repo.git("rev-parse", "-q", "--verify", branch, check=False).code:
        repo.git("checkout", "--quiet", "-b", branch)
    repo.git("checkout", "--quiet", branch)
    repo.commit(message, files)


def merge(repo: Repo, into: str, *what: str) -> None:
    repo.git("checkout", "--quiet", into)
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", *what)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A branch that has changed one file, and a base that has changed another since."""
    repo = Repo.new(tmp_path, {"a": "1\n2\n3\n", "b": "1\n", "dir/c": "1\n", "dir/d": "1\n"})
    on(repo, "work", {"a": "1\n2\nx\n"})
    on(repo, "main", {"b": "2\n"})
    return repo


# -- what the base holds


def test_a_file_whose_content_is_missing_is_not_a_file_that_is_not_there(repo: Repo) -> None:
    blob = repo.git("rev-parse", "main:b").out.strip()
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitlockError):
        file_at(git(repo), "main", "b")
    assert file_at(git(repo), "main", "nothing") is None and file_at(git(repo), "main", "dir") is None


# -- what the branch changes


def test_what_the_base_has_changed_since_is_none_of_it(repo: Repo) -> None:
    assert changed(repo) == {"a": "M"}


def test_what_the_branch_merges_in_from_its_base_is_none_of_it(repo: Repo) -> None:
    merge(repo, "work", "main")
    on(repo, "main", {"dir/c": "2\n"})
    assert changed(repo) == {"a": "M"}


def test_what_was_settled_in_that_merge_is(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "work")
    repo.git("merge", "--no-commit", "--no-ff", "main")
    repo.commit("merged", {"b": "settled\n"})
    assert changed(repo) == {"a": "M", "b": "M"}


def test_a_merge_that_throws_the_base_s_work_away_changes_it(repo: Repo) -> None:
    merge(repo, "work", "-s", "ours", "main")
    assert changed(repo) == {"a": "M", "b": "M"}


def test_what_other_branches_bring_in_an_octopus_is_part_of_it(repo: Repo) -> None:
    for name, path in (("one", "dir/c"), ("two", "dir/d")):
        repo.git("checkout", "--quiet", "-b", name, "main~1")
        repo.commit(name, {path: name})
    merge(repo, "work", "one", "two")
    assert changed(repo) == {"a": "M", "dir/c": "M", "dir/d": "M"}


def test_after_merges_both_ways_only_its_own_is(repo: Repo) -> None:
    """Criss-cross: two merge bases, neither of which has it all."""
    main, work = repo.git("rev-parse", "main").out.strip(), repo.git("rev-parse", "work").out.strip()
    merge(repo, "work", main)
    merge(repo, "main", work)
    on(repo, "work", {"dir/c": "mine"})
    on(repo, "main", {"b": "3\n"})
    assert len(parted(repo).merge_bases) == 2
    assert changed(repo) == {"dir/c": "M"}


def criss_cross(repo: Repo) -> None:
    main, work = repo.git("rev-parse", "main").out.strip(), repo.git("rev-parse", "work").out.strip()
    merge(repo, "work", main)
    merge(repo, "main", work)


@pytest.mark.parametrize(("end", "path", "before"), [("work", "b", "1\n"), ("work", "a", "1\n2\n3\n")])
def test_what_is_taken_back_after_merges_both_ways_is_a_change(repo: Repo, end: str, path: str, before: str) -> None:
    """It is as in one of the merge bases again, and not as in git's own merge of them."""
    criss_cross(repo)
    on(repo, end, {path: before})
    assert changed(repo) == {path: "M"}


def test_what_was_picked_from_the_base_is_in_it_already(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "work")
    repo.git("cherry-pick", "main")
    assert changed(repo) == {"a": "M"}


def test_what_was_squashed_into_the_base_is_in_it_already(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--squash", "work")
    repo.commit("squashed")
    on(repo, "work", {"dir/c": "2\n"})
    assert changed(repo) == {"dir/c": "M"}


def test_after_a_rebase_onto_the_moved_base_it_is_the_same(repo: Repo) -> None:
    repo.git("rebase", "--quiet", "main", "work")
    assert changed(repo) == {"a": "M"}


def test_what_was_changed_and_taken_back_is_no_change(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "work")
    repo.git("revert", "--no-edit", "HEAD")
    assert changed(repo) == {}


def test_a_revert_of_somebodys_commit_is_a_change(repo: Repo) -> None:
    repo.git("rebase", "--quiet", "main", "work")
    repo.git("revert", "--no-edit", "main")
    assert changed(repo) == {"a": "M", "b": "M"}


def test_a_rename_changes_both_names(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "work")
    repo.git("mv", "dir", "elsewhere")
    repo.commit("moved")
    assert changed(repo) == {"a": "M", "dir/c": "D", "dir/d": "D", "elsewhere/c": "A", "elsewhere/d": "A"}


def test_a_deletion_alone_is_a_change(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "gone", "main")
    repo.git("rm", "--quiet", "dir/c")
    repo.commit("gone")
    assert changed(repo, head="gone") == {"dir/c": "D"}


def test_a_file_in_a_folder_s_place_changes_both(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "swap", "main")
    repo.git("rm", "--quiet", "-r", "dir")
    repo.commit("swapped", {"dir": "a file now"})
    assert changed(repo, head="swap") == {"dir": "A", "dir/c": "D", "dir/d": "D"}


def test_a_submodule_s_pointer_is_a_path(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "sub", "main")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.head},lib")
    repo.commit("pointer")
    assert changed(repo, head="sub") == {"lib": "A"}


def test_a_name_that_is_not_utf8_is_kept(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "odd", "main")
    (repo.path / os.fsdecode(b"caf\xe9\n")).write_text("1")
    repo.git("add", "-A")
    repo.commit("odd")
    assert changed(repo, head="odd") == {os.fsdecode(b"caf\xe9\n"): "A"}


# -- what was said


def test_the_receipts_of_the_branch_are_found_and_those_of_the_base_are_not(repo: Repo) -> None:
    on(repo, "main", {"b": "3\n"}, "main's" + SIGNED.format("bob", 2, "b"))
    on(repo, "work", {"a": "y\n"}, "work's" + SIGNED.format("alice", 1, "a"))
    assert [one.declared.agents for one in own_commits(git(repo), parted(repo))] == [("alice",), ()]


def test_what_a_merge_has_brought_in_is_told_apart_from_the_branch_s_own(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "theirs", "main")
    repo.commit("theirs", {"dir/c": "2\n"})
    repo.git("checkout", "--quiet", "work")
    repo.git("merge", "--quiet", "--no-edit", "-m", "merged", "theirs")
    on(repo, "work", {"a": "z\n"}, "after")
    own = own_commits(git(repo), parted(repo))
    assert {repo.git("log", "-1", "--format=%s", one.id).out.strip(): one.part > 0 for one in own} == {
        "after": False, "merged": False, "theirs": True, "more": False,
    }  # fmt: skip
    work = work_of(git(repo), own)
    assert sorted(path for paths in work.values() for path in paths) == ["a", "a", "dir/c"]


def test_what_has_landed_comes_with_its_paths(repo: Repo) -> None:
    on(repo, "main", {"a": "0\n", "b": "3\n"}, "main's" + SIGNED.format("bob", 2, "a"))
    (landed,) = landed_commits(git(repo), parted(repo), ["a"])
    assert (landed.paths, landed.declared.agents) == (("a",), ("bob",))


def test_what_has_landed_and_was_taken_back_leaves_nothing(repo: Repo) -> None:
    on(repo, "main", {"a": "0\n"}, "main's" + SIGNED.format("bob", 2, "a"))
    repo.git("revert", "--no-edit", "HEAD")
    assert landed_commits(git(repo), parted(repo), ["a"]) == ()


@pytest.mark.parametrize(("path", "before"), [("b", "1\n"), ("a", "1\n2\n3\n")])
def test_what_the_base_takes_back_after_merges_both_ways_has_landed(repo: Repo, path: str, before: str) -> None:
    criss_cross(repo)
    on(repo, "main", {path: before}, "back" + SIGNED.format("bob", 7, path))
    assert [one.paths for one in landed_commits(git(repo), parted(repo), ["a", "b"])] == [(path,)]


def test_a_squash_in_the_base_is_one_commit_with_the_receipts_of_all(repo: Repo) -> None:
    text = "squashed\n\n" + "".join("    " + row for row in SIGNED.format("bob", 2, "a").strip().splitlines(True))
    on(repo, "main", {"a": "0\n"}, text)
    (landed,) = landed_commits(git(repo), parted(repo), ["a"])
    assert landed.declared.agents == ("bob",)


def test_a_merge_in_the_base_is_about_what_was_settled_in_it(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "theirs", "main")
    repo.commit("theirs", {"dir/c": "2\n"})
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--no-ff", "--no-commit", "theirs")
    repo.commit("merged" + SIGNED.format("bob", 2, "**"), {"a": "settled\n"})
    (landed,) = landed_commits(git(repo), parted(repo), ["a", "dir/c"])
    assert landed.paths == ("a",)


# -- others


def test_another_open_branch_that_changes_the_same_is_found(repo: Repo) -> None:
    repo.git("branch", "copy", "work")
    on(repo, "main", {"dir/c": "2\n"})
    on(repo, "theirs", {"a": "0\n"})
    repo.git("branch", "merged", "main")
    found = other_branches(git(repo), parted(repo), ["a"], None)
    assert [(one.name, one.paths) for one in found] == [("theirs", ("a",))]


def test_the_first_line_that_the_branch_changes_is_found(repo: Repo) -> None:
    assert first_changed_line(git(repo), parted(repo), "a") == 3


# -- what can't be known


@pytest.fixture
def origin(repo: Repo) -> Repo:
    """One whose branch is some commits long, and whose base has gone on."""
    for number in range(4):
        on(repo, "work", {"a": f"{number}\n"})
        on(repo, "main", {"b": f"{number}\n"})
    return repo


def shallow(origin: Repo, name: str = "shallow") -> Repo:
    there = Repo(origin.path.parent / name)
    options = ("--quiet", "--depth", "1", "--no-single-branch")
    origin.git("clone", *options, f"file://{origin.path}", str(there.path))
    return there


def test_a_shallow_clone_fetches_what_it_lacks(origin: Repo) -> None:
    clone = shallow(origin)
    found = parted(clone, "origin/main", "origin/work", "origin")
    assert found.merge_base == origin.git("merge-base", "main", "work").out.strip()


def test_a_shallow_clone_that_can_fetch_nothing_does_not_know(origin: Repo) -> None:
    clone = shallow(origin)
    clone.git("remote", "set-url", "origin", str(origin.path.parent / "gone"))
    with pytest.raises(RemoteUnreachable):
        parted(clone, "origin/main", "origin/work", "origin")


def test_a_shallow_clone_without_a_remote_does_not_know(origin: Repo) -> None:
    with pytest.raises(RepositoryError) as raised:
        parted(shallow(origin), "origin/main", "origin/work", None)
    assert raised.value.id == "no-merge-base"


def test_a_wrong_merge_base_of_a_shallow_clone_is_not_believed(origin: Repo) -> None:
    """Status 0, and an older commit: the way to the true one is cut, and there is a longer one around it."""
    root = origin.git("rev-list", "--max-parents=0", "main").out.strip()
    merge(origin, "work", "main")
    true = origin.git("rev-parse", "main").out.strip()
    on(origin, "main", {"b": "later\n"})
    cut = origin.head
    origin.git("checkout", "--quiet", "-b", "old", root)
    origin.commit("old", {"z": "1"})
    merge(origin, "main", "old")
    clone = origin.clone("cut")
    (clone.path / ".git/shallow").write_text(f"{cut}\n")
    assert clone.git("merge-base", "origin/main", "origin/work").out.strip() == root
    with pytest.raises(RepositoryError, match="shallow"):
        parted(clone, "origin/main", "origin/work", None)
    assert parted(clone, "origin/main", "origin/work", "origin").merge_base == true


def test_a_depth_that_reaches_the_merge_base_is_enough(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, {"a": "0"})
    for number in range(4):
        repo.commit("before", {"a": f"before {number}"})
    true = repo.head
    on(repo, "work", {"b": "1"})
    on(repo, "main", {"a": "later"})
    clone = Repo(tmp_path / "deep")
    repo.git("clone", "--quiet", "--depth", "3", "--no-single-branch", f"file://{repo.path}", str(clone.path))
    assert clone.git("rev-parse", "--is-shallow-repository").out.strip() == "true"
    assert find_ends(git(clone), Ends("origin/main", "origin/work"), None).merge_base == true


def test_two_merge_bases_need_all_that_lies_below(repo: Repo) -> None:
    """What git makes of them depends on where they parted themselves."""
    below = repo.git("merge-base", "main", "work").out.strip()
    criss_cross(repo)
    assert len(parted(repo).merge_bases) == 2
    (repo.path / ".git/shallow").write_text(f"{below}\n")
    with pytest.raises(RepositoryError, match="shallow"):
        parted(repo)


def test_two_histories_have_nothing_in_common(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "new")
    repo.commit("new", {"z": "1"})
    with pytest.raises(RepositoryError, match="two histories"):
        parted(repo, "main", "new")


def test_a_commit_that_is_missing_is_fetched_by_its_name(origin: Repo) -> None:
    clone = Repo(origin.path.parent / "single")
    origin.git("clone", "--quiet", "--single-branch", "-b", "main", f"file://{origin.path}", str(clone.path))
    head = origin.git("rev-parse", "work").out.strip()
    assert find_ends(git(clone), Ends("HEAD", head), "origin").head == head


def test_the_target_is_the_tip_of_now(origin: Repo) -> None:
    clone = origin.clone()
    on(origin, "main", {"b": "later\n"})
    found = find_ends(git(clone), Ends("HEAD~3", "origin/work", target="main"), "origin")
    assert found.base == origin.git("rev-parse", "main").out.strip()


@pytest.mark.parametrize("name", ["nothing", "-x", "--upload-pack=x", "a..b", "0" * 40, "HEAD:a"])
def test_what_names_no_commit_is_said(name: str, repo: Repo) -> None:
    with pytest.raises(GitlockError):
        parted(repo, name, "work")
