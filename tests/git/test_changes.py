"""Changed paths, as real repositories have them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.domain.change import Change
from gitlock.errors import GitFailed, RepositoryError, UsageError
from gitlock.git.changes import (
    changed_between,
    changed_in_range,
    finish_staged,
    merge_base,
    parse_name_status,
    parse_range,
    parse_status,
    rename_sources,
    resolve_commit,
    staged,
    staged_against,
    start_staged,
    still_changed,
    worktree_changes,
)
from gitlock.git.process import Git
from tests.kit.program import ROOT
from tests.kit.repo import Repo


def here(repo: Repo, **env: str) -> Git:
    return Git(str(repo.path), {**os.environ, **env})


def seen(changes: list[Change]) -> set[str]:
    """Each change as ``letter path``; no path twice."""
    paths = [change.path for change in changes]
    assert len(paths) == len(set(paths))
    return {f"{change.status} {change.path}" for change in changes}


def story(folder: Path, files: dict[str, str | bytes], **more: str) -> Repo:
    return Repo.new(folder, files, **more)  # type: ignore[arg-type]


def with_submodule(folder: Path, ignore: str | None = None) -> Repo:
    """A repository with the submodule ``sm``, whose second commit is checked out there and not staged."""
    library = Repo.new(folder, name="library")
    repo = Repo.new(folder)
    repo.git("submodule", "--quiet", "add", "../library", "sm")
    if ignore:
        repo.git("config", "-f", ".gitmodules", "submodule.sm.ignore", ignore)
        repo.git("config", "submodule.sm.ignore", ignore)
        repo.git("config", "diff.ignoreSubmodules", ignore)
        repo.git("add", ".gitmodules")
    repo.git("commit", "--quiet", "-m", "with sm")
    library.commit("second", {"new": "new\n"})
    repo.git("-C", "sm", "pull", "--quiet")
    return repo


# -- what is staged


def test_nothing_staged_is_an_empty_list(repo: Repo) -> None:
    repo.write("README.md", "not staged\n")
    repo.write("untracked", "")
    assert staged(here(repo)) == []


def test_each_kind_of_change_has_its_letter(tmp_path: Path) -> None:
    repo = story(tmp_path, {"edited": "1\n", "removed": "r\n", "moded": "m\n", "linked": "l\n"})
    repo.write("edited", "2\n")
    repo.write("added", "a\n")
    (repo.path / "moded").chmod(0o755)
    (repo.path / "removed").unlink()
    (repo.path / "linked").unlink()
    (repo.path / "linked").symlink_to("edited")
    repo.git("add", "--all")
    assert seen(staged(here(repo))) == {"M edited", "A added", "M moded", "D removed", "T linked"}


def test_a_link_that_points_elsewhere_is_a_change(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "a\n"})
    (repo.path / "link").symlink_to("a")
    repo.git("add", "link")
    repo.commit("link")
    (repo.path / "link").unlink()
    (repo.path / "link").symlink_to("/absent")
    repo.git("add", "link")
    assert seen(staged(here(repo))) == {"M link"}


@pytest.mark.parametrize("setting", ["diff.renames=copies", "diff.relative=true", "diff.noprefix=true", "x.y=z"])
def test_a_rename_is_both_sides_whatever_is_configured(tmp_path: Path, setting: str) -> None:
    repo = story(tmp_path, {"src/auth/login.py": "1\n" * 20, "docs/a.md": "a\n"})
    repo.git("config", *setting.split("="))
    repo.git("mv", "src/auth/login.py", "docs/login.py")
    assert seen(staged(here(repo))) == {"D src/auth/login.py", "A docs/login.py"}
    below = Git(str(repo.path / "docs"), os.environ)
    assert seen(staged(below)) == {"D src/auth/login.py", "A docs/login.py"}


def test_a_renamed_folder_is_both_sides_of_each_file(tmp_path: Path) -> None:
    repo = story(tmp_path, {"old/a": "a\n", "old/b/c": "c\n"})
    repo.git("mv", "old", "new")
    assert seen(staged(here(repo))) == {"D old/a", "A new/a", "D old/b/c", "A new/b/c"}


def test_a_name_that_changes_its_case_is_both_sides(tmp_path: Path) -> None:
    repo = story(tmp_path, {"Readme": "r\n"})
    repo.git("mv", "-f", "Readme", "README")
    assert seen(staged(here(repo))) == {"D Readme", "A README"}


def test_a_copy_is_its_target_alone(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n" * 20})
    repo.git("config", "diff.renames", "copies")
    repo.write("b", "1\n" * 20)
    repo.git("add", "b")
    assert seen(staged(here(repo))) == {"A b"}


def test_a_commit_that_only_deletes_is_seen(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "a\n", "b": "b\n"})
    repo.git("rm", "--quiet", "a")
    assert seen(staged(here(repo))) == {"D a"}
    repo.git("rm", "--quiet", "b")
    assert seen(staged(here(repo))) == {"D a", "D b"}


def test_a_file_that_becomes_a_folder_is_both_and_so_is_the_way_back(tmp_path: Path) -> None:
    repo = story(tmp_path, {"thing": "file\n"})
    (repo.path / "thing").unlink()
    repo.write("thing/inside", "inside\n")
    repo.git("add", "--all")
    assert seen(staged(here(repo))) == {"D thing", "A thing/inside"}
    repo.commit("folder")
    (repo.path / "thing/inside").unlink()
    (repo.path / "thing").rmdir()
    repo.write("thing", "file\n")
    repo.git("add", "--all")
    assert seen(staged(here(repo))) == {"D thing/inside", "A thing"}


@pytest.mark.parametrize("ignore", [None, "none", "dirty", "untracked", "all"])
def test_a_submodule_pointer_is_one_path_whatever_the_ignore_setting(tmp_path: Path, ignore: str | None) -> None:
    repo = with_submodule(tmp_path, ignore)
    repo.git("update-index", "--cacheinfo", f"160000,{repo.git('-C', 'sm', 'rev-parse', 'HEAD').out.strip()},sm")
    assert seen(staged(here(repo))) == {"M sm"}


def test_a_submodule_that_is_removed_or_replaced_is_a_change(tmp_path: Path) -> None:
    repo = with_submodule(tmp_path, "all")
    repo.git("rm", "--quiet", "-f", "sm")
    assert seen(staged(here(repo))) == {"D sm", "M .gitmodules"}
    repo.write("sm", "a file now\n")
    repo.git("add", "sm")
    assert seen(staged(here(repo))) == {"T sm", "M .gitmodules"}


def test_what_is_inside_a_submodule_is_not_staged(tmp_path: Path) -> None:
    repo = with_submodule(tmp_path)
    repo.write("sm/README.md", "edited\n")
    assert staged(here(repo)) == []


def test_an_announced_file_is_not_staged(repo: Repo) -> None:
    repo.write("announced", "a\n")
    repo.git("add", "--intent-to-add", "announced")
    assert staged(here(repo)) == []


NAMES = [
    b"with space", b" leading space", b"trailing space ", b"new\nline", b"tab\there", b'quo"te', b"back\\slash",
    b"latin-\xe9", "nfc-\u00e9".encode(), "nfd-e\u0301".encode(), b"glob*", b"[id]", b"what?", b"-dash", b"--all",
    b":(top)colon", b":!not", b"!not", b"#hash", b"~tilde", b"$HOME", b"%s", b"R100", b"\x01control", b"a -> b",
    b"\xff\xfe", "\U0001f600".encode(), "\u202edirection".encode(), b"d/-x", b"d/ ", b"deep/" * 40 + b"file",
]  # fmt: skip


def test_any_name_comes_as_it_is(repo: Repo) -> None:
    for name in NAMES:
        path = os.path.join(os.fsencode(repo.path), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"x\n")
    names = {os.fsdecode(name) for name in NAMES}
    assert {change.path for change in worktree_changes(here(repo), str(repo.path))} == names
    assert {change.path for change in still_changed(here(repo), str(repo.path), names)} == names
    repo.git("add", "--all")
    assert {change.path for change in staged(here(repo))} == names
    assert {change.path for change in worktree_changes(here(repo), str(repo.path))} == names
    before = repo.head
    repo.commit("names")
    assert {change.path for change in changed_between(here(repo), before, repo.head)} == names
    assert {os.fsencode(change.path) for change in changed_between(here(repo), repo.head, before)} == set(NAMES)


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
def test_before_the_first_commit_everything_in_the_index_is_new(tmp_path: Path, options: tuple[str, ...]) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet", *options)
    assert staged(here(repo)) == []
    repo.write("a/b", "b\n")
    repo.git("add", "--all")
    assert seen(staged(here(repo))) == {"A a/b"}
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"A a/b"}
    assert rename_sources(here(repo)) == {}


def test_an_orphan_branch_is_before_its_first_commit(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    assert seen(staged(here(repo))) == {"A README.md"}


def test_a_base_that_is_not_there_is_an_error_also_before_the_first_commit(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet")
    with pytest.raises(GitFailed):
        staged(here(repo), "HEAD~1")


def test_a_head_whose_commit_is_missing_is_an_error_and_not_unborn(repo: Repo) -> None:
    (repo.path / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    with pytest.raises(GitFailed):
        staged(here(repo))


def test_a_branch_file_that_cannot_be_read_is_an_error(repo: Repo) -> None:
    (repo.path / ".git/refs/heads/main").write_text("not a name\n")
    with pytest.raises(GitFailed):
        staged(here(repo))


@pytest.mark.parametrize("content", [b"", b"DIRC", b"not an index"])
def test_an_index_that_cannot_be_read_is_an_error(repo: Repo, content: bytes) -> None:
    (repo.path / ".git/index").write_bytes(content or b"\0")
    with pytest.raises(GitFailed):
        staged(here(repo))
    with pytest.raises(GitFailed):
        worktree_changes(here(repo), str(repo.path))


def test_a_repository_that_git_refuses_is_an_error_with_gits_remedy(repo: Repo) -> None:
    stranger = here(repo, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    questions: list[Callable[[], object]] = [
        lambda: staged(stranger),
        lambda: worktree_changes(stranger, str(repo.path)),
        lambda: changed_between(stranger, "HEAD", "HEAD"),
        lambda: resolve_commit(stranger, "HEAD"),
    ]
    for question in questions:
        with pytest.raises(RepositoryError) as refusal:
            question()
        assert refusal.value.id == "git-refused"
        assert "safe.directory" in str(refusal.value.hint)


def test_no_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError):
        staged(Git(str(tmp_path), os.environ))


@pytest.mark.parametrize(
    "settings", [("index.version", "4"), ("core.splitIndex", "true"), ("core.untrackedCache", "true")]
)
def test_the_form_of_the_index_does_not_matter(tmp_path: Path, settings: tuple[str, str]) -> None:
    repo = story(tmp_path, {f"dir/file{n}": "1\n" for n in range(20)})
    repo.git("config", *settings)
    repo.git("update-index", "--force-write-index")
    repo.write("dir/file7", "2\n")
    repo.git("add", "dir/file7")
    repo.git("mv", "dir/file3", "dir/moved")
    repo.write("dir/file9", "3\n")
    assert seen(staged(here(repo))) == {"M dir/file7", "D dir/file3", "A dir/moved"}
    assert seen(worktree_changes(here(repo), str(repo.path))) == {
        "M dir/file7", "M dir/file9", "D dir/file3", "A dir/moved",
    }  # fmt: skip


def test_a_sparse_index_is_seen_in_full(tmp_path: Path) -> None:
    repo = story(tmp_path, {"in/a": "a\n", "out/b": "b\n", "out/deep/c": "c\n", "top": "t\n"})
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert repo.git("ls-files", "--sparse").lines == ["in/a", "out/", "top"]
    assert staged(here(repo)) == []
    repo.write("in/a", "edited\n")
    repo.git("add", "in/a")
    blob = repo.git("rev-parse", "HEAD:in/a").out.strip()
    repo.git("update-index", "--cacheinfo", f"100644,{blob},out/deep/c")
    assert seen(staged(here(repo))) == {"M in/a", "M out/deep/c"}
    assert "M in/a" in seen(worktree_changes(here(repo), str(repo.path)))


def test_a_sha256_repository_is_a_repository(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, options=("--object-format=sha256",))
    before = repo.head
    repo.write("README.md", "2\n")
    repo.git("add", "--all")
    assert seen(staged(here(repo))) == {"M README.md"}
    repo.commit("second")
    assert seen(changed_in_range(here(repo), f"{before}..HEAD")) == {"M README.md"}
    assert len(resolve_commit(here(repo), "HEAD")) == 64


def test_a_linked_worktree_has_its_own_index(repo: Repo) -> None:
    there = repo.worktree("there")
    there.write("README.md", "there\n")
    there.git("add", "--all")
    assert staged(here(repo)) == []
    assert seen(staged(here(there))) == {"M README.md"}


def test_another_tree_can_be_the_base(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    first = repo.head
    repo.commit("second", {"b": "b\n"})
    repo.write("c", "c\n")
    repo.git("add", "c")
    assert seen(staged_against(here(repo), f"{first}^{{tree}}")) == {"A b", "A c"}
    assert seen(staged(here(repo), first)) == {"A b", "A c"}


def test_several_questions_run_at_once(repo: Repo) -> None:
    repo.write("a", "a\n")
    repo.git("add", "a")
    git = here(repo)
    children = [start_staged(git) for _ in range(8)]
    assert [seen(finish_staged(git, child)) for child in children] == [{"A a"}] * 8


def test_very_many_changes_come_whole(repo: Repo) -> None:
    paths = [f"folder{n % 100}/file with a rather long name {n}" for n in range(30_000)]
    blob = repo.git("rev-parse", "HEAD:README.md").out.strip()
    repo.git("update-index", "--add", "--index-info", input="".join(f"100644 {blob}\t{path}\n" for path in paths))
    assert {change.path for change in staged(here(repo))} == set(paths)


def test_an_unmerged_path_is_one_change(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.git("branch", "side")
    repo.commit("main", {"a": "2\n"})
    repo.git("checkout", "--quiet", "side")
    repo.commit("side", {"a": "3\n"})
    repo.git("merge", "main", check=False).ended(1)
    assert seen(staged(here(repo))) == {"U a"}
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"U a"}


# -- the index of a commit that is being made

RECORDER = """\
#!{python} -P
import os, sys
sys.path.insert(0, {root!r})
from gitlock.git.changes import staged
from gitlock.git.process import Git
with open({log!r}, "w") as log:
    log.write("\\n".join(sorted(change.status + " " + change.path for change in staged(Git(None, os.environ)))))
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("commit", "-m", "m"), "M b"),
        (("commit", "-am", "m"), "M a\nM b\nM c"),
        (("commit", "-i", "a", "-m", "m"), "M a\nM b"),
        (("commit", "a", "-m", "m"), "M a"),
        (("commit", "--amend", "--no-edit", "a"), "M a"),
    ],
)
@pytest.mark.parametrize("place", ["main", "linked"])
def test_what_a_hook_checks_is_what_git_commits(
    tmp_path: Path, place: str, words: tuple[str, ...], expected: str
) -> None:
    repo = story(tmp_path, {"a": "1\n", "b": "1\n", "c": "1\n"})
    log = tmp_path / "log"
    hook = repo.write(
        ".git/hooks/pre-commit", RECORDER.format(python=sys.executable, root=str(ROOT), log=str(log))
    )
    hook.chmod(0o755)
    if place == "linked":
        repo = repo.worktree("linked")
    for name in ("a", "b", "c"):
        repo.write(name, "2\n")
    repo.git("add", "b")
    repo.git(*words)
    assert log.read_text() == expected


# -- renames, for words


def test_a_rename_can_be_told_by_its_old_name(tmp_path: Path) -> None:
    repo = story(tmp_path, {"old name": "1\n" * 20, "other\nold": "2\n" * 20, "kept": "k\n"})
    repo.git("mv", "old name", "new name")
    repo.git("mv", "other\nold", "other\nnew")
    repo.write("kept", "edited\n")
    repo.git("add", "--all")
    assert rename_sources(here(repo)) == {"new name": "old name", "other\nnew": "other\nold"}


def test_without_a_rename_there_is_nothing_to_tell(repo: Repo) -> None:
    repo.write("README.md", "2\n")
    repo.git("add", "--all")
    assert rename_sources(here(repo)) == {}
    assert rename_sources(here(repo), "absent") == {}


# -- what is changed in a worktree


def test_a_worktree_is_staged_and_unstaged_and_untracked_and_announced(tmp_path: Path) -> None:
    repo = story(tmp_path, {"staged": "1\n", "edited": "1\n", "gone": "1\n", "old": "1\n" * 20, "same": "1\n"})
    repo.write("staged", "2\n")
    repo.git("add", "staged")
    repo.git("mv", "old", "new")
    repo.write("edited", "2\n")
    (repo.path / "gone").unlink()
    repo.write("announced", "a\n")
    repo.git("add", "--intent-to-add", "announced")
    repo.write("folder/untracked", "u\n")
    repo.write(".git/info/exclude", "*.log\n")
    repo.write("ignored.log", "i\n")
    for setting in ("status.renames", "status.relativePaths", "diff.relative"):
        repo.git("config", setting, "true")
    repo.git("config", "status.showUntrackedFiles", "no")
    assert seen(worktree_changes(here(repo), str(repo.path))) == {
        "M staged", "D old", "A new", "M edited", "D gone", "A announced", "? folder/untracked",
    }  # fmt: skip


def test_a_change_that_was_taken_back_only_in_the_worktree_still_counts(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.write("a", "2\n")
    repo.git("add", "a")
    repo.write("a", "1\n")
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"M a"}


def test_a_file_that_was_only_removed_from_the_index_is_one_change(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.git("rm", "--quiet", "--cached", "a")
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"D a"}


@pytest.mark.parametrize("ignore", [None, "all"])
def test_a_submodule_counts_in_its_worktree_whatever_the_ignore_setting(tmp_path: Path, ignore: str | None) -> None:
    repo = with_submodule(tmp_path, ignore)
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"M sm"}
    repo.git("submodule", "--quiet", "update")
    assert worktree_changes(here(repo), str(repo.path)) == []
    repo.write("sm/README.md", "edited inside\n")
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"M sm"}


def test_a_repository_inside_that_is_no_submodule_is_one_path(repo: Repo) -> None:
    Repo.new(repo.path, name="inner")
    assert seen(worktree_changes(here(repo), str(repo.path))) == {"? inner"}


def test_looking_at_a_worktree_leaves_its_index_alone(repo: Repo) -> None:
    os.utime(repo.path / "README.md", (1, 1))
    before = (repo.path / ".git/index").read_bytes()
    worktree_changes(here(repo), str(repo.path))
    assert (repo.path / ".git/index").read_bytes() == before


def test_the_variables_of_a_running_commit_do_not_reach_another_worktree(repo: Repo) -> None:
    there = repo.worktree("there")
    there.write("new", "n\n")
    hooked = here(
        repo,
        GIT_DIR=str(repo.path / ".git"),
        GIT_INDEX_FILE=str(repo.path / ".git/index.lock"),
        GIT_PREFIX="src/",
        GIT_WORK_TREE=".",
    )
    assert seen(worktree_changes(hooked, str(there.path))) == {"? new"}
    assert seen(still_changed(hooked, str(there.path), ["new"])) == {"? new"}


def test_a_worktree_that_is_gone_is_an_error(repo: Repo) -> None:
    with pytest.raises(RepositoryError):
        worktree_changes(here(repo), str(repo.path / "gone"))


def test_only_the_paths_that_were_asked_for_and_what_is_below_them_are_still_changed(tmp_path: Path) -> None:
    repo = story(tmp_path, {"src/a": "1\n", "src/b": "1\n", "srcs": "1\n", "[s]rc": "1\n"})
    for name in ("src/a", "srcs", "[s]rc", "src/deep/new"):
        repo.write(name, "2\n")
    git, top = here(repo), str(repo.path)
    assert seen(still_changed(git, top, ["src"])) == {"M src/a", "? src/deep/new"}
    assert seen(still_changed(git, top, ["src/"])) == {"M src/a", "? src/deep/new"}
    assert seen(still_changed(git, top, ["src/b", "absent"])) == set()
    assert seen(still_changed(git, top, ["[s]rc"])) == {"M [s]rc"}
    assert still_changed(git, top, []) == []
    assert still_changed(git, top, ["", "/"]) == []
    assert seen(still_changed(here(repo, GIT_GLOB_PATHSPECS="1"), top, ["src*"])) == set()


def test_asking_for_more_paths_than_a_command_line_holds_works(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.write("a", "2\n")
    repo.write("b", "2\n")
    many = [f"some/rather/long/name/of/a/file/{n}" for n in range(100_000)]
    assert seen(still_changed(here(repo), str(repo.path), [*many, "a"])) == {"M a"}


# -- what is changed between commits


def test_two_commits_differ_in_both_sides_of_a_rename(tmp_path: Path) -> None:
    repo = story(tmp_path, {"src/a": "1\n" * 20, "src/b": "b\n"})
    before = repo.head
    repo.git("mv", "src/a", "a")
    repo.git("rm", "--quiet", "src/b")
    repo.commit("moved")
    repo.git("config", "diff.renames", "true")
    assert seen(changed_between(here(repo), before, repo.head)) == {"D src/a", "A a", "D src/b"}
    assert seen(changed_between(here(repo), repo.head, before)) == {"A src/a", "D a", "A src/b"}
    assert changed_between(here(repo), before, before) == []


def test_a_submodule_pointer_differs_between_commits_whatever_the_ignore_setting(tmp_path: Path) -> None:
    repo = with_submodule(tmp_path, "all")
    repo.git("update-index", "--cacheinfo", f"160000,{repo.git('-C', 'sm', 'rev-parse', 'HEAD').out.strip()},sm")
    repo.git("commit", "--quiet", "--allow-empty", "-m", "pointer")  # git takes it for an empty one
    assert seen(changed_in_range(here(repo), "HEAD~1..HEAD")) == {"M sm"}


def test_three_dots_leave_out_what_the_other_side_did(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.git("branch", "side")
    repo.commit("main", {"m": "m\n"})
    repo.git("checkout", "--quiet", "side")
    repo.commit("side", {"s": "s\n"})
    assert seen(changed_in_range(here(repo), "main..side")) == {"D m", "A s"}
    assert seen(changed_in_range(here(repo), "main...side")) == {"A s"}
    assert seen(changed_in_range(here(repo), "main...")) == {"A s"}
    assert seen(changed_in_range(here(repo), "..main")) == {"A m", "D s"}


def test_three_dots_without_a_common_ancestor_are_an_error(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("other")
    with pytest.raises(RepositoryError) as fault:
        changed_in_range(here(repo), "main...other")
    assert fault.value.id == "no-merge-base"
    with pytest.raises(GitFailed):
        merge_base(here(repo), "1" * 40, "2" * 40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a..b", ("a", "b", False)),
        ("a...b", ("a", "b", True)),
        ("a..", ("a", "HEAD", False)),
        ("...b", ("HEAD", "b", True)),
        ("v1.0..v1.1", ("v1.0", "v1.1", False)),
        ("HEAD~2..HEAD^2~1", ("HEAD~2", "HEAD^2~1", False)),
    ],
)
def test_a_range_has_two_ends(text: str, expected: tuple[str, str, bool]) -> None:
    assert parse_range(text) == expected


@pytest.mark.parametrize(
    "text", ["", "a", "..", "...", "-a..b", "a..-b", "a...--output=x", "--all", "a\0..b", "a..b\0"]
)
def test_what_is_no_range_or_looks_like_an_option_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_range(text)


@pytest.mark.parametrize("text", ["absent", "", "-x", "--all", "a\0b", "HEAD^{tree}", "HEAD:README.md", "a b", "x\ny"])
def test_what_names_no_commit_is_refused(repo: Repo, text: str) -> None:
    with pytest.raises(UsageError):
        resolve_commit(here(repo), text)


def test_a_range_cannot_name_a_file_or_an_option(repo: Repo, tmp_path: Path) -> None:
    target = tmp_path / "written"
    with pytest.raises(UsageError):
        changed_between(here(repo), f"--output={target}", "HEAD")
    with pytest.raises(UsageError):
        changed_between(here(repo), "HEAD", f"--output={target}")
    with pytest.raises(UsageError):
        changed_in_range(here(repo), "README.md..HEAD")
    assert not target.exists()


def test_a_branch_that_is_named_like_a_file_is_the_branch(tmp_path: Path) -> None:
    repo = story(tmp_path, {"a": "1\n"})
    repo.git("branch", "a")
    repo.commit("second", {"b": "b\n"})
    assert seen(changed_in_range(here(repo), "a..main")) == {"A b"}
    assert seen(changed_between(here(repo), "a", "main")) == {"A b"}


# -- git's answers


@pytest.mark.parametrize("out", [b"M", b"M\0", b"M\0a", b"M\0a\0D\0", b"M\0a\0D\0b"])
def test_an_answer_that_is_cut_short_is_an_error(out: bytes) -> None:
    with pytest.raises(RepositoryError):
        parse_name_status(out)


@pytest.mark.parametrize("out", [b"? a", b"x a\0", b"2 R. N... 1 1 1 a b R100 new\0old\0"])
def test_a_status_that_is_not_understood_is_an_error(out: bytes) -> None:
    with pytest.raises(RepositoryError):
        parse_status(out)


def test_nothing_costly_is_imported() -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules);"
        "import gitlock.git.changes, gitlock.git.merges, gitlock.git.operation;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-IS", "-c", code, str(ROOT)], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("gitlock")} == set()
