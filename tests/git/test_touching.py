"""What a worktree has touched, by git's own word; asked of many at once, where one may hang or be broken."""

import os
from pathlib import Path

import pytest

from gitlock.domain.touched import Sight
from gitlock.git.process import Git
from gitlock.git.together import Asked, Unknown, ask_together
from gitlock.git.touching import touching
from gitlock.git.trial import Side, try_merges
from tests.kit.processes import is_gone, until
from tests.kit.repo import Repo

MAIN = "refs/heads/main"


def git_in(repo: Repo) -> Git:
    return Git(str(repo.path), os.environ)


def seen(repo: Repo, base: str | None = None, name: str | None = MAIN) -> Sight:
    (found,) = ask_together([(git_in(repo), touching(base, name, False))], deadline=30.0)
    assert isinstance(found, Sight), found
    return found


def kinds(sight: Sight) -> dict[str, tuple[tuple[str, ...], bool]]:
    return {one.path: (one.kinds, one.gone) for one in sight.touched}


@pytest.fixture
def work(tmp_path: Path) -> Repo:
    """A worktree on its own branch."""
    repo = Repo.new(tmp_path, files={name: f"{name}\n" * 9 for name in "abcefgm"})
    return repo.worktree("work")


def test_every_kind_of_change_is_seen_and_both_names_of_a_rename(work: Repo) -> None:
    work.commit("a", {"a": "committed\n"})
    work.write("b", "staged\n")
    work.git("add", "b")
    work.write("c", "edited\n")
    work.write("d", b"\0binary untracked")
    work.git("mv", "e", "e2")
    work.git("rm", "-q", "g")
    (work.path / "m").chmod(0o755)
    assert kinds(seen(work)) == {
        "a": (("committed",), False), "b": (("staged",), False), "c": (("unstaged",), False),
        "d": (("untracked",), False), "e": (("staged",), True), "e2": (("staged",), False),
        "g": (("staged",), True), "m": (("unstaged",), False),
    }  # fmt: skip


def test_a_path_may_be_changed_in_several_ways(work: Repo) -> None:
    work.commit("a", {"a": "1\n"})
    work.write("a", "2\n")
    work.git("add", "a")
    work.write("a", "3\n")
    assert kinds(seen(work)) == {"a": (("staged", "unstaged", "committed"), False)}


def test_a_committed_rename_touches_both_names(work: Repo) -> None:
    work.git("mv", "e", "e2")
    work.commit("renamed")
    assert kinds(seen(work)) == {"e": (("committed",), True), "e2": (("committed",), False)}


def test_what_others_did_since_is_not_touched_here(work: Repo) -> None:
    main = Repo(work.path.parent / "repo")
    main.commit("theirs", {"b": "theirs\n"})
    work.commit("ours", {"a": "ours\n"})
    found = seen(work)
    assert (list(kinds(found)), found.ahead, found.behind) == (["a"], 1, 1)


def test_what_was_merged_from_the_base_is_not_touched_here(work: Repo) -> None:
    Repo(work.path.parent / "repo").commit("theirs", {"b": "theirs\n"})
    work.commit("ours", {"a": "ours\n"})
    work.git("merge", "-q", "--no-edit", "main")
    assert list(kinds(seen(work))) == ["a"]


def test_without_a_base_only_what_is_not_committed_is_known(work: Repo) -> None:
    work.commit("ours", {"a": "ours\n"})
    work.write("b", "dirty\n")
    found = seen(work, name=None)
    assert (list(kinds(found)), found.ahead, found.behind) == (["b"], None, None)


def test_the_recorded_base_counts_where_no_branch_does(work: Repo) -> None:
    base = work.head
    work.commit("ours", {"a": "ours\n"})
    assert list(kinds(seen(work, base, "refs/heads/gone"))) == ["a"]


def test_a_name_that_is_not_utf_8_is_seen_as_its_bytes(work: Repo) -> None:
    (work.path / os.fsdecode(b"\xff.py")).write_text("x")
    assert list(kinds(seen(work))) == [os.fsdecode(b"\xff.py")]


def test_a_worktree_without_a_commit_is_seen(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "-q")
    repo.write("x", "x")
    found = seen(repo)
    assert (found.head, list(kinds(found))) == (None, ["x"])


# -- asked of many at once


def test_a_broken_worktree_costs_its_own_answer_alone(work: Repo, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/.git").write_text("gitdir: /nowhere\n")
    asked = [(git_in(one), touching(None, MAIN, False)) for one in (Repo(tmp_path / "broken"), work)]
    first, second = ask_together(asked, deadline=30.0)
    assert (type(first), type(second)) == (Unknown, Sight)


def test_a_git_that_hangs_is_ended_with_all_that_it_started(work: Repo, tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def hang(git: Asked) -> bytes:
        return git.run("-c", f"alias.hang=!trap '' TERM; echo $$ >{note}; while :; do read -r _ || :; done </dev/zero",
                       "hang")  # fmt: skip

    def quick(git: Asked) -> bytes:
        return git.run("rev-parse", "--is-inside-work-tree")

    found = ask_together([(git_in(work), hang), (git_in(work), quick)], deadline=1.0)
    assert isinstance(found[0], Unknown) and "did not answer in time" in found[0].why
    assert found[1] == b"true\n"
    until(lambda: is_gone(int(note.read_text())))


# -- trial merges


def tried(repo: Repo, one: Side, other: Side) -> object:
    sides = {"one": one, "other": other}
    return try_merges(str(repo.common_dir), sides, [("one", "other")], 30.0)["one", "other"]


@pytest.fixture
def pair(work: Repo) -> tuple[Repo, Repo]:
    other = Repo(work.path.parent / "repo").worktree("other")
    return work, other


def test_uncommitted_work_is_merged_for_a_try_and_nothing_is_left_behind(pair: tuple[Repo, Repo]) -> None:
    work, other = pair
    work.write("a", "mine\n")
    other.commit("theirs", {"a": "theirs\n"})
    looks = [("count-objects",), ("status", "--porcelain"), ("for-each-ref",)]
    before = [work.git(*words).out for words in looks]
    found = tried(work, Side(git_in(work), work.head, ("a",)), Side(git_in(other), other.head, ()))
    assert found == frozenset(["a"])
    assert before == [work.git(*words).out for words in looks]


def test_changes_that_go_together_do_not_conflict(pair: tuple[Repo, Repo]) -> None:
    work, other = pair
    text = work.read("a").split("\n")
    work.write("a", "\n".join(["first", *text]))
    other.commit("theirs", {"a": "\n".join([*text, "last\n"])})
    assert tried(work, Side(git_in(work), work.head, ("a",)), Side(git_in(other), other.head, ())) == frozenset()


def test_what_one_removed_and_the_other_changed_conflicts(pair: tuple[Repo, Repo]) -> None:
    work, other = pair
    (work.path / "a").unlink()
    other.write("a", "theirs\n")
    sides = [Side(git_in(one), one.head, ("a",)) for one in pair]
    assert tried(work, *sides) == frozenset(["a"])


def test_two_new_files_of_one_name_conflict_though_no_commit_has_them(pair: tuple[Repo, Repo]) -> None:
    for number, one in enumerate(pair):
        one.write("new", f"{number}\n")
    sides = [Side(git_in(one), one.head, ("new",)) for one in pair]
    assert tried(pair[0], *sides) == frozenset(["new"])


def test_a_commit_that_is_not_there_is_unknown(pair: tuple[Repo, Repo]) -> None:
    work, other = pair
    gone = Side(git_in(work), "1" * 40, ())
    assert isinstance(tried(work, gone, Side(git_in(other), other.head, ())), Unknown)
