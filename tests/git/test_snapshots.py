"""Snapshots of worktrees in a state that is hard to put into words, and what must never get into one."""

import os
import subprocess
from pathlib import Path

import pytest

from gitlock.errors import RepositoryError
from gitlock.git.snapshots import Snapshot, put_back, read, take
from gitlock.git.snapshots.manifest import FORMAT, parse
from tests.kit.repo import Repo
from tests.kit.worktrees import files_of, git_of, sight

TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, {"a": "1\n", "d/b": "1\n", "d/c": "1\n"})


def taken(repo: Repo) -> Snapshot:
    snapshot = take(git_of(repo.path), message="kept")
    assert snapshot is not None
    return snapshot


def brought_back(repo: Repo, snapshot: Snapshot, *options: str) -> Repo:
    there = Repo(repo.path.parent / "there")
    repo.git(*options, "worktree", "add", "-q", "--detach", "--no-checkout", str(there.path), snapshot.head or "HEAD")
    put_back(git_of(there.path), read(git_of(there.path), snapshot.commit))
    return there


def in_conflict(repo: Repo) -> None:
    """Both sides changed one file, one removed what the other changed, and one has a folder in a file's place."""
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("theirs", {"a": "theirs\n", "d/b": "theirs\n", "x": "file\n"})
    repo.git("checkout", "-q", "main")
    repo.git("rm", "-q", "d/b")
    repo.commit("ours", {"a": "ours\n", "x/y": "folder\n"})
    repo.git("merge", "other", check=False).ended(1)


def test_a_conflict_comes_back_with_its_sides(repo: Repo) -> None:
    in_conflict(repo)
    before = sight(repo.path)
    assert b"u UU" in before["status"] and b"u UD" not in before["status"]  # type: ignore[operator]
    assert sight(brought_back(repo, taken(repo)).path) == before


def test_the_source_is_not_touched(repo: Repo) -> None:
    repo.write("a", "2\n")
    repo.git("add", "a")
    repo.write("a", "3\n")
    index = repo.path / ".git/index"
    before = (index.read_bytes(), index.stat().st_mtime_ns, sorted(os.listdir(repo.path / ".git")))
    taken(repo)
    assert (index.read_bytes(), index.stat().st_mtime_ns, sorted(os.listdir(repo.path / ".git"))) == before


def test_a_clean_worktree_needs_no_snapshot(repo: Repo) -> None:
    assert take(git_of(repo.path), message="kept") is None


def test_detached_commits_live_as_long_as_the_snapshot(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.commit("on no branch", {"a": "2\n"})
    head = repo.head
    snapshot = take(git_of(repo.path), message="kept", keep=(head,))
    assert snapshot is not None
    repo.git("update-ref", "refs/gitlock/snapshots/x", snapshot.commit)
    repo.git("checkout", "-q", "main")
    repo.git("-c", "gc.reflogExpire=now", "-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
    repo.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    repo.git("prune", "--expire=now")
    assert repo.git("cat-file", "-t", head).out == "commit\n"
    assert brought_back(repo, snapshot).head == head


def test_the_bytes_of_every_file_survive_garbage_collection(repo: Repo) -> None:
    repo.write("a", "staged\n")
    repo.git("add", "a")
    repo.write("a", "not staged\n")
    repo.write("new", "new\n")
    before, snapshot = sight(repo.path), taken(repo)
    repo.git("update-ref", "refs/gitlock/snapshots/x", snapshot.commit)
    repo.git("reset", "-q", "--hard")
    (repo.path / "new").unlink()
    repo.git("gc", "-q", "--prune=now")
    assert sight(brought_back(repo, snapshot).path) == before


@pytest.mark.parametrize(
    ("settings", "attributes", "content"),
    [
        ({"core.autocrlf": "true"}, "", b"1\r\n2\n3\r\n"),
        ({"core.autocrlf": "input"}, "", b"1\r\n2\r\n"),
        ({}, "* text=auto eol=crlf\n", b"1\n2\n"),
        ({}, "* text=auto\n", b"1\r\n2\r\n"),
        ({"filter.up.clean": "tr a-z A-Z", "filter.up.smudge": "tr A-Z a-z"}, "f filter=up\n", b"MiXeD\n"),
    ],
)
def test_files_come_back_byte_for_byte_whatever_git_would_make_of_them(
    repo: Repo, settings: dict[str, str], attributes: str, content: bytes
) -> None:
    for name, value in settings.items():
        repo.git("config", name, value)
    repo.commit("text", {".gitattributes": attributes or "\n", "f": "1\n2\n", "unchanged": "1\n2\n"})
    repo.write("f", content)
    repo.write("unchanged", b"1\r\n2\r\n" if settings or attributes != "* text=auto eol=crlf\n" else b"1\n2\n")
    before = files_of(repo.path)
    assert files_of(brought_back(repo, take_all(repo)).path) == before


def take_all(repo: Repo) -> Snapshot:
    """A snapshot, also where git sees nothing changed."""
    snapshot = take(git_of(repo.path), message="kept", keep=(repo.head,))
    assert snapshot is not None
    return snapshot


def test_what_is_left_out_is_named(repo: Repo) -> None:
    inner = Repo.new(repo.path.parent, name="inner")
    repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit("sub")
    Repo(repo.path / "sub").write("README.md", "changed\n")
    Repo.new(repo.path, name="nested")
    repo.write("a", "2\n")
    assert taken(repo).left_out == (
        ("sub", "a submodule with changes of its own"),
        ("nested/", "a repository of its own"),
    )


def test_a_moved_submodule_pointer_comes_back(repo: Repo) -> None:
    inner = Repo.new(repo.path.parent, name="inner")
    repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit("sub")
    repo.git("update-index", "--cacheinfo", f"160000,{repo.head},sub")
    there = brought_back(repo, taken(repo))
    assert there.git("diff", "--cached", "--raw").out == repo.git("diff", "--cached", "--raw").out


def test_a_sparse_worktree_comes_back_as_sparse_as_it_was(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/a")
    repo.write("a", "2\n")
    before = sight(repo.path)
    assert set(before["files"]) == {b"a"}  # type: ignore[call-overload]
    assert sight(brought_back(repo, taken(repo)).path) == before


def test_names_that_no_tree_may_have_are_kept_all_the_same(repo: Repo) -> None:
    repo.write("git~1", "odd\n")
    before = files_of(repo.path)
    assert files_of(brought_back(repo, taken(repo)).path) == before


def test_kept_files_can_be_looked_at_by_name(repo: Repo) -> None:
    repo.write("d/new", "new\n")
    repo.write("a", "2\n")
    repo.git("add", "a")
    repo.write("a", "3\n")
    commit = taken(repo).commit
    assert [repo.git("show", f"{commit}:{path}").out for path in ("files/d/new", "files/a", "staged/a")] == [
        "new\n", "3\n", "2\n",
    ]  # fmt: skip


def test_a_sha256_repository_has_snapshots_as_well(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, {"a": "1\n", "d/b": "1\n"}, options=("--object-format=sha256",))
    in_conflict(repo)
    before = sight(repo.path)
    assert sight(brought_back(repo, taken(repo)).path) == before


def test_a_split_index_is_read_and_left_as_it_is(repo: Repo) -> None:
    repo.git("update-index", "--split-index")
    repo.write("a", "2\n")
    repo.git("add", "a")
    before, listed = sight(repo.path), sorted(os.listdir(repo.path / ".git"))
    snapshot = taken(repo)
    assert sorted(os.listdir(repo.path / ".git")) == listed
    assert sight(brought_back(repo, snapshot).path) == before


def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
    repo = Repo(tmp_path / "new")
    repo.write("a", "1\n")
    repo.git("add", "a")
    before, snapshot = sight(repo.path), taken(repo)
    assert snapshot.head is None
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    Repo(tmp_path / "other").git("fetch", "-q", str(repo.path), f"{snapshot.commit}:refs/x", check=False)
    repo.git("rm", "-q", "--cached", "a")
    (repo.path / "a").unlink()
    (repo.path / ".git/index").unlink()
    put_back(git_of(repo.path), read(git_of(repo.path), snapshot.commit))
    assert sight(repo.path) == before


def test_nothing_that_is_there_is_overwritten(repo: Repo) -> None:
    repo.write("new", "ours\n")
    snapshot = taken(repo)
    there = repo.worktree("there")
    there.write("new", "theirs\n")
    before = sight(there.path)
    with pytest.raises(RepositoryError, match="'new' is there already"):
        put_back(git_of(there.path), snapshot)
    assert sight(there.path) == before


def test_nothing_is_written_through_a_link(repo: Repo, tmp_path: Path) -> None:
    repo.write("out/new", "ours\n")
    snapshot = taken(repo)
    there = repo.worktree("there")
    (tmp_path / "elsewhere").mkdir()
    (there.path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RepositoryError, match="is a symbolic link"):
        put_back(git_of(there.path), snapshot)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_worktree_at_another_commit_is_refused(repo: Repo) -> None:
    repo.write("a", "2\n")
    snapshot = taken(repo)
    there = repo.worktree("there")
    there.commit("more", {"d/b": "2\n"})
    with pytest.raises(RepositoryError, match="another commit"):
        put_back(git_of(there.path), snapshot)


def test_a_worktree_with_changes_is_refused(repo: Repo) -> None:
    repo.write("a", "2\n")
    snapshot = taken(repo)
    there = repo.worktree("there")
    there.write("d/b", "mine\n")
    with pytest.raises(RepositoryError, match="changes of its own"):
        put_back(git_of(there.path), snapshot)
    assert there.read("d/b") == "mine\n"


@pytest.mark.parametrize(
    "record",
    [
        "file 644 %s\t../x", "file 644 %s\t/etc/x", "file 644 %s\ta/.git/config", "file 644 %s\t.GIT/hooks/x",
        "file 644 nonsense\tx", "file %s\tx", "link %s\ta//b", "gone\t", "stage 100644 %s 4\tx", "stage 99 %s 1\tx",
        "what\tx",
    ],
)  # fmt: skip
def test_a_manifest_that_leads_astray_is_refused(record: str) -> None:
    row = record.replace("%s", TREE)
    with pytest.raises(RepositoryError, match="the snapshot holds"):
        parse(FORMAT + f"staged {TREE}\0{row}\0".encode())


@pytest.mark.parametrize("data", [b"", b"gitlock-snapshot 2\n", FORMAT, FORMAT + b"staged " + TREE.encode()])
def test_a_manifest_that_is_not_whole_is_refused(data: bytes) -> None:
    with pytest.raises(RepositoryError):
        parse(data)


def test_what_is_no_snapshot_is_not_taken_for_one(repo: Repo) -> None:
    with pytest.raises(RepositoryError, match="is no snapshot"):
        read(git_of(repo.path), "HEAD")
