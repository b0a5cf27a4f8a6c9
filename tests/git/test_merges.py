"""What somebody did in a merge, apart from what git did."""

import os
import sys
from pathlib import Path

import pytest

from gitlock.errors import GitFailed
from gitlock.git.merges import HumanPart, human_part, mechanical_merge, other_parents_in_pre_merge
from gitlock.git.process import Git
from tests.kit.program import ROOT
from tests.kit.repo import Repo

LINES = "".join(f"{n}\n" for n in range(1, 21))


def changed(text: str, line: int, to: str) -> str:
    rows = text.splitlines(keepends=True)
    rows[line - 1] = to + "\n"
    return "".join(rows)


class Sides:
    """A repository whose branches ``main`` (checked out) and ``side`` have each gone their way."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.repo = Repo.new(folder, {"both": LINES, "ours": "1\n", "theirs": "1\n", "moved": LINES}, options=options)
        self.repo.git("branch", "side")

    def on_main(self, **files: str) -> None:
        self.repo.commit("main", files)

    def on_side(self, **files: str) -> None:
        self.repo.git("checkout", "--quiet", "side")
        self.repo.commit("side", files)
        self.repo.git("checkout", "--quiet", "main")

    def merge(self, *options: str, other: str = "side", ends: int = 0) -> None:
        self.repo.git("merge", "--no-commit", "--no-ff", *options, other, check=False).ended(ends)

    def stage(self, path: str, content: str) -> None:
        self.repo.write(path, content)
        self.repo.git("add", "--", path)

    def git(self, **env: str) -> Git:
        return Git(str(self.repo.path), {**os.environ, **env})

    def human(self, **env: str) -> HumanPart:
        git_dir = str(self.repo.path / ".git")
        return human_part(self.git(**env), other_parents_in_pre_merge(os.environ, git_dir))


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


@pytest.fixture
def apart(sides: Sides) -> Sides:
    """Both edited ``both``, far from one another, and each a file of its own."""
    sides.on_main(both=changed(LINES, 1, "main"), ours="2\n", added_by_main="m\n")
    sides.on_side(both=changed(LINES, 20, "side"), theirs="2\n", added_by_side="s\n")
    return sides


@pytest.fixture
def conflict(sides: Sides) -> Sides:
    """Both edited the same line of ``both``."""
    sides.on_main(both=changed(LINES, 5, "main"), ours="2\n")
    sides.on_side(both=changed(LINES, 5, "side"), theirs="2\n")
    return sides


def told(part: HumanPart) -> tuple[list[str], bool]:
    return [f"{change.status} {change.path}" for change in part.changes], part.exact


# -- one other parent


def test_a_clean_merge_has_no_human_part(apart: Sides) -> None:
    apart.merge()
    assert told(apart.human()) == ([], True)


def test_a_merge_that_only_brings_the_other_side_has_no_human_part(sides: Sides) -> None:
    sides.on_side(theirs="2\n", new="n\n")
    sides.merge()
    assert told(sides.human()) == ([], True)


def test_an_edit_during_a_merge_is_the_human_part(apart: Sides) -> None:
    apart.merge()
    apart.stage("theirs", "3\n")
    apart.stage("both", "3\n")
    apart.stage("unrelated", "u\n")
    apart.repo.git("rm", "--quiet", "moved")
    assert told(apart.human()) == (["M both", "D moved", "M theirs", "A unrelated"], True)


def test_a_conflict_that_was_settled_by_hand_is_the_human_part(conflict: Sides) -> None:
    conflict.merge(ends=1)
    conflict.stage("both", "settled\n")
    assert told(conflict.human()) == (["M both"], True)


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_a_conflict_that_was_settled_by_taking_one_side_is_inherited(conflict: Sides, side: str) -> None:
    conflict.merge(ends=1)
    conflict.repo.git("checkout", side, "both")
    conflict.repo.git("add", "both")
    assert told(conflict.human()) == ([], True)


def test_a_conflict_is_listed_while_it_is_open(conflict: Sides) -> None:
    conflict.merge(ends=1)
    assert told(conflict.human()) == (["U both"], True)


def test_conflict_markers_are_not_gits_merge(conflict: Sides) -> None:
    other = conflict.repo.git("rev-parse", "side").out.strip()
    conflict.merge(other=other, ends=1)  # by its full name, so that the markers are the same as merge-tree's
    conflict.repo.git("add", "both")
    assert "<<<<<<<" in conflict.repo.read("both")
    assert told(conflict.human()) == (["M both"], True)


def test_leaving_out_a_file_of_the_other_side_is_inherited(apart: Sides) -> None:
    apart.merge()
    apart.repo.git("rm", "--quiet", "-f", "added_by_side")
    assert told(apart.human()) == ([], True)


def test_a_merge_that_ignores_the_other_side_is_inherited(conflict: Sides) -> None:
    conflict.merge("-s", "ours")
    assert told(conflict.human()) == ([], True)


@pytest.mark.parametrize("option", ["theirs", "ours"])
def test_a_conflict_that_an_option_settled_is_listed(sides: Sides, option: str) -> None:
    sides.on_main(both=changed(changed(LINES, 5, "main"), 1, "main"))
    sides.on_side(both=changed(changed(LINES, 5, "side"), 20, "side"), theirs="2\n")
    sides.merge("-X", option)
    assert told(sides.human()) == (["M both"], True)


def test_an_option_that_settles_nothing_changes_nothing(apart: Sides) -> None:
    apart.merge("-X", "theirs", "-X", "patience")
    assert told(apart.human()) == ([], True)


@pytest.mark.parametrize("renamer", ["main", "side"])
def test_a_rename_on_one_side_with_an_edit_on_the_other_is_gits_merge(sides: Sides, renamer: str) -> None:
    edited = changed(LINES, 7, "edited")
    if renamer == "main":
        sides.repo.git("mv", "moved", "there")
        sides.repo.commit("rename")
        sides.on_side(moved=edited)
    else:
        sides.on_main(moved=edited)
        sides.repo.git("checkout", "--quiet", "side")
        sides.repo.git("mv", "moved", "there")
        sides.repo.commit("rename")
        sides.repo.git("checkout", "--quiet", "main")
    sides.merge()
    assert sides.repo.read("there") == edited
    assert told(sides.human()) == ([], True)
    sides.stage("there", "more\n")
    assert told(sides.human())[0] in (["A there"], ["M there"])


def test_a_file_that_went_along_with_a_renamed_folder_is_gits_merge(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    sides.repo.commit("folder", {"old/a": LINES, "old/b": LINES + "b\n"})
    sides.repo.git("branch", "--force", "side")
    sides.repo.git("mv", "old", "new")
    sides.repo.commit("rename the folder")
    sides.on_side(**{"old/c": "c\n"})
    sides.repo.git("config", "merge.directoryRenames", "true")
    sides.merge()
    assert sides.repo.read("new/c") == "c\n"
    assert told(sides.human()) == ([], True)


def test_a_deletion_against_an_edit_is_inherited_whichever_is_kept(sides: Sides) -> None:
    sides.repo.git("rm", "--quiet", "both")
    sides.repo.commit("delete")
    sides.on_side(both=changed(LINES, 5, "side"))
    sides.merge(ends=1)
    sides.repo.git("add", "both")
    assert told(sides.human()) == ([], True)
    sides.repo.git("rm", "--quiet", "-f", "both")
    assert told(sides.human()) == ([], True)
    sides.stage("both", "neither\n")
    assert told(sides.human()) == (["A both"], True)


def test_a_mode_that_both_left_alone_is_a_human_change(apart: Sides) -> None:
    apart.merge()
    apart.repo.git("update-index", "--chmod=+x", "both")
    assert told(apart.human()) == (["M both"], True)


def test_criss_cross_histories_are_merged_as_git_merges_them(sides: Sides) -> None:
    sides.on_main(both=changed(LINES, 1, "main"))
    sides.on_side(both=changed(LINES, 20, "side"))
    main, side = sides.repo.git("rev-parse", "main", "side").lines
    sides.repo.git("merge", "--quiet", "--no-edit", side)
    sides.repo.git("checkout", "--quiet", "side")
    sides.repo.git("merge", "--quiet", "--no-edit", main)
    sides.repo.git("checkout", "--quiet", "main")
    sides.on_main(both=changed(sides.repo.read("both"), 5, "main again"))
    sides.on_side(both=changed(changed(changed(LINES, 1, "main"), 20, "side"), 15, "side again"))
    assert len(sides.repo.git("merge-base", "--all", "main", "side").lines) == 2
    sides.merge()
    assert told(sides.human()) == ([], True)
    sides.stage("both", "3\n")
    assert told(sides.human()) == (["M both"], True)


def test_unrelated_histories_are_merged_as_git_merges_them(sides: Sides) -> None:
    sides.repo.git("checkout", "--quiet", "--orphan", "other")
    sides.repo.git("rm", "--quiet", "-rf", ".")
    sides.repo.commit("other", {"its own": "o\n", "ours": "another\n"})
    sides.repo.git("checkout", "--quiet", "main")
    sides.merge("--allow-unrelated-histories", other="other", ends=1)
    sides.stage("ours", "settled\n")
    assert told(sides.human()) == (["M ours"], True)


def _with_submodule(folder: Path) -> tuple[Repo, Repo]:
    """A repository with the submodule ``sm``, and the library, which has two more commits and two forks of them."""
    library = Repo.new(folder, name="library")
    repo = Repo.new(folder)
    repo.git("submodule", "--quiet", "add", "../library", "sm")
    repo.commit("with sm")
    library.commit("one", {"one": "1\n"})
    library.commit("two", {"two": "2\n"})
    library.git("checkout", "--quiet", "-b", "fork", "HEAD~1")
    library.commit("three", {"three": "3\n"})
    repo.git("-C", "sm", "fetch", "--quiet", "origin")
    return repo, library


def _point(repo: Repo, oid: str) -> None:
    repo.git("-C", "sm", "checkout", "--quiet", oid)
    repo.git("add", "sm")
    repo.git("commit", "--quiet", "-m", f"sm at {oid}")


def test_a_submodule_pointer_that_git_moves_forward_is_gits_merge(tmp_path: Path) -> None:
    repo, library = _with_submodule(tmp_path)
    one, two = library.git("rev-parse", "main~1", "main").lines
    repo.git("branch", "side")
    _point(repo, one)
    repo.git("checkout", "--quiet", "side")
    repo.git("submodule", "--quiet", "update")
    _point(repo, two)
    repo.git("checkout", "--quiet", "main")
    repo.git("submodule", "--quiet", "update")
    repo.git("merge", "--no-commit", "--no-ff", "side")
    others = other_parents_in_pre_merge({}, str(repo.path / ".git"))
    git = Git(str(repo.path), os.environ)
    assert told(human_part(git, others)) == ([], True)
    repo.git("update-index", "--cacheinfo", f"160000,{library.git('rev-parse', 'fork').out.strip()},sm")
    assert told(human_part(git, others)) == (["M sm"], True)


def test_a_submodule_pointer_that_was_chosen_is_a_human_change(tmp_path: Path) -> None:
    repo, library = _with_submodule(tmp_path)
    two, three, one = library.git("rev-parse", "main", "fork", "main~1").lines
    repo.git("branch", "side")
    _point(repo, two)
    repo.git("checkout", "--quiet", "side")
    repo.git("submodule", "--quiet", "update")
    _point(repo, three)
    repo.git("checkout", "--quiet", "main")
    repo.git("submodule", "--quiet", "update")
    repo.git("merge", "--no-commit", "--no-ff", "side", check=False).ended(1)
    repo.git("update-index", "--cacheinfo", f"160000,{one},sm")
    others = other_parents_in_pre_merge({}, str(repo.path / ".git"))
    assert told(human_part(Git(str(repo.path), os.environ), others)) == (["M sm"], True)


def test_a_sha256_repository_is_merged_too(tmp_path: Path) -> None:
    sides = Sides(tmp_path, "--object-format=sha256")
    sides.on_main(both=changed(LINES, 1, "main"))
    sides.on_side(both=changed(LINES, 20, "side"))
    sides.merge()
    assert told(sides.human()) == ([], True)
    sides.stage("both", "3\n")
    assert told(sides.human()) == (["M both"], True)


def test_names_of_any_kind_come_through_a_merge(sides: Sides) -> None:
    name = os.fsdecode(b"a \n\t\"'\\\xe9*[x]")
    sides.on_main(**{name: "main\n"})
    sides.on_side(**{name: "side\n"})
    sides.merge(ends=1)
    sides.stage(name, "settled\n")
    assert told(sides.human()) == ([f"M {name}"], True)


def test_a_merge_is_judged_by_the_index_that_is_committed(apart: Sides) -> None:
    apart.merge()
    other = apart.repo.path / ".git/other-index"
    other.write_bytes((apart.repo.path / ".git/index").read_bytes())
    apart.stage("ours", "3\n")
    assert told(apart.human()) == (["M ours"], True)
    assert told(apart.human(GIT_INDEX_FILE=".git/other-index")) == ([], True)


def test_a_merge_without_another_parent_is_all_human(apart: Sides) -> None:
    apart.stage("ours", "3\n")
    assert told(human_part(apart.git(), [])) == (["M ours"], True)


# -- where git's own merge is not known


def _octopus(sides: Sides) -> list[str]:
    sides.on_side(theirs="2\n")
    sides.repo.git("checkout", "--quiet", "-b", "third", "main")
    sides.repo.commit("third", {"third": "3\n", "moved": changed(LINES, 20, "third")})
    sides.repo.git("checkout", "--quiet", "main")
    sides.on_main(ours="2\n", moved=changed(LINES, 1, "main"))
    sides.repo.git("merge", "--no-commit", "side", "third")
    return other_parents_in_pre_merge({}, str(sides.repo.path / ".git"))


def test_an_octopus_lists_what_differs_from_all_parents_and_says_so(sides: Sides) -> None:
    others = _octopus(sides)
    assert len(others) == 2
    assert told(human_part(sides.git(), others)) == (["M moved"], False)
    sides.stage("ours", "3\n")
    assert told(human_part(sides.git(), others)) == (["M moved", "M ours"], False)


@pytest.fixture
def older_git(tmp_path: Path) -> str:
    """A PATH on which git does not know ``merge-tree --write-tree``, and answers as git 2.37 does."""
    folder = tmp_path / "older"
    folder.mkdir()
    script = folder / "git"
    found = os.environ["PATH"]
    script.write_text(
        f"#!/bin/sh\nPATH='{found}'\ncase \" $* \" in *' merge-tree '*)\n"
        "echo 'usage: git merge-tree <base-tree> <branch1> <branch2>' >&2; exit 129;; esac\nexec git \"$@\"\n"
    )
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{found}"


def test_an_older_git_lists_what_differs_from_both_parents_and_says_so(
    apart: Sides, older_git: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart.merge()
    monkeypatch.setenv("PATH", older_git)
    assert told(apart.human()) == (["M both"], False)
    apart.stage("theirs", "3\n")
    assert told(apart.human()) == (["M both", "M theirs"], False)


def test_an_older_git_is_enough_where_each_path_is_a_parents(
    sides: Sides, older_git: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides.on_main(ours="2\n")
    sides.on_side(theirs="2\n")
    sides.merge()
    monkeypatch.setenv("PATH", older_git)
    assert told(sides.human()) == ([], True)


def test_a_parent_that_is_missing_is_an_error(apart: Sides) -> None:
    with pytest.raises(GitFailed):
        human_part(apart.git(), ["1" * 40])


# -- the other parents

RECORDER = """\
#!{python} -P
import os, sys
sys.path.insert(0, {root!r})
from gitlock.git.merges import human_part, other_parents_in_pre_merge
from gitlock.git.process import Git
others = other_parents_in_pre_merge(os.environ, os.environ.get("GIT_DIR", ".git"))
part = human_part(Git(None, os.environ), others)
with open({log!r}, "a") as log:
    print(os.path.basename(sys.argv[0]), *others, *(change.path for change in part.changes), file=log)
"""


def _record(repo: Repo, log: Path) -> None:
    for name in ("pre-commit", "pre-merge-commit", "prepare-commit-msg"):
        hook = repo.write(
            f".git/hooks/{name}", RECORDER.format(python=sys.executable, root=str(ROOT), log=str(log))
        )
        hook.chmod(0o755)


@pytest.mark.parametrize("linked", [False, True])
def test_every_hook_of_a_merge_finds_the_other_parents_and_no_human_part(
    apart: Sides, tmp_path: Path, linked: bool
) -> None:
    _record(apart.repo, tmp_path / "log")
    repo = apart.repo.worktree("linked") if linked else apart.repo
    side = repo.git("rev-parse", "side").out.strip()
    repo.git("merge", "--quiet", "--no-edit", "side")
    assert (tmp_path / "log").read_text().splitlines() == [f"pre-merge-commit {side}", f"prepare-commit-msg {side}"]


def test_every_hook_of_a_settled_conflict_finds_the_same(conflict: Sides, tmp_path: Path) -> None:
    _record(conflict.repo, tmp_path / "log")
    side = conflict.repo.git("rev-parse", "side").out.strip()
    conflict.repo.git("merge", "side", check=False).ended(1)
    conflict.repo.write("both", "settled\n")
    conflict.repo.git("commit", "--quiet", "--all", "--no-edit")
    assert (tmp_path / "log").read_text().splitlines() == [
        f"pre-commit {side} both",
        f"prepare-commit-msg {side} both",
    ]


def test_every_hook_of_an_octopus_finds_all_other_parents(sides: Sides, tmp_path: Path) -> None:
    sides.on_side(theirs="2\n")
    sides.repo.git("checkout", "--quiet", "-b", "third", "main")
    sides.repo.commit("third", {"third": "3\n"})
    sides.repo.git("checkout", "--quiet", "main")
    sides.on_main(ours="2\n")
    _record(sides.repo, tmp_path / "log")
    sides.repo.git("merge", "--quiet", "--no-edit", "side", "third")
    side, third = sides.repo.git("rev-parse", "side", "third").lines
    for line in (tmp_path / "log").read_text().splitlines():
        assert set(line.split()[1:]) == {side, third}


def test_a_leftover_of_another_merge_is_no_parent(sides: Sides) -> None:
    git_dir = sides.repo.path / ".git"
    (git_dir / "AUTO_MERGE").write_text(sides.repo.head + "\n")
    assert other_parents_in_pre_merge({}, str(git_dir)) == []


def test_the_file_of_a_merge_comes_before_the_environment(conflict: Sides) -> None:
    conflict.merge(ends=1)
    side = conflict.repo.git("rev-parse", "side").out.strip()
    environ = {f"GITHEAD_{'1' * 40}": "somebody else's"}
    assert other_parents_in_pre_merge(environ, str(conflict.repo.path / ".git")) == [side]


@pytest.mark.parametrize("name", ["GITHEAD_", "GITHEAD_--output=x", "GITHEAD_HEAD", "GITHEAD_" + "g" * 40, "GITHEAD"])
def test_only_names_of_objects_are_taken_from_the_environment(tmp_path: Path, name: str) -> None:
    assert other_parents_in_pre_merge({name: "x"}, str(tmp_path)) == []


def test_conflicts_have_their_whole_names_also_from_a_folder_below(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, files={"src/x": "1\n", "top": "1\n"})
    repo.git("switch", "-q", "-c", "side")
    repo.commit("theirs", {"src/x": "2\n", "top": "2\n"})
    repo.git("switch", "-q", "main")
    repo.commit("ours", {"src/x": "3\n", "top": "3\n"})
    found = mechanical_merge(Git(str(repo.path / "src"), os.environ), "main", "side")
    assert found is not None and found[1] == ["src/x", "top"]
