"""What a spawned worktree is furnished with: ignored files, a part of the files only, uncommitted work."""

import os
import socket
import sys
from pathlib import Path

import pytest

from gitlock.usecases.spawning.seeding import seed
from tests.kit.processes import Job, run_at_once
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits
from tests.kit.worktrees import files_of, git_of

FILES = {
    ".gitignore": "*.local\n.env*\nnode_modules/\n",
    ".worktreeinclude": ".env\n*.local\nnode_modules/\n*.json\n",
    "a.json": "{}\n",
    "src/a.py": "a\n",
    "src/b.py": "b\n",
    "docs/x.md": "x\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, FILES)


def spawned(repo: Repo, *args: str, agent: str = "fix") -> tuple[Repo, dict[str, object]]:
    answer = repo.json("spawn", agent, *args)
    assert answer["ok"], answer
    assert_fits("spawn", answer)
    return Repo(Path(answer["data"]["worktree"]["path"])), answer["data"]


def files(repo: Repo) -> set[str]:
    return {os.fsdecode(path) for path in files_of(repo.path)}


# -- ignored files


def test_listed_ignored_files_are_copied_with_their_modes(repo: Repo) -> None:
    repo.write(".env", "SECRET=1\n").chmod(0o600)
    repo.write(".envrc", "not listed\n")
    repo.write("node_modules/x/y.js", "y\n").chmod(0o755)
    os.symlink("../x/y.js", repo.path / "node_modules/link")
    there, data = spawned(repo)
    assert data["seeded"] == 3
    assert (there.path / ".env").stat().st_mode & 0o777 == 0o600
    assert os.readlink(there.path / "node_modules/link") == "../x/y.js"
    assert (there.path / "node_modules/x/y.js").stat().st_mode & 0o777 == 0o755
    assert not (there.path / ".envrc").exists()
    assert there.git("status", "--porcelain").out == ""


def test_a_tracked_file_is_never_taken_for_a_listed_one(repo: Repo) -> None:
    repo.write("a.json", "changed\n")
    repo.write("src/local.json", "untracked, not ignored\n")
    there, data = spawned(repo)
    assert (data["seeded"], there.read("a.json")) == (0, "{}\n")
    assert there.git("status", "--porcelain").out == ""


def test_a_file_that_the_base_tracks_is_not_overwritten(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "tracks")
    repo.write("x.local", "tracked\n")
    repo.git("add", "-f", "x.local")
    repo.git("commit", "-q", "-m", "tracked")
    repo.git("checkout", "-q", "main")
    repo.write("x.local", "ignored\n")
    there, _ = spawned(repo, "--base", "tracks")
    assert there.read("x.local") == "tracked\n"


def test_the_list_is_the_base_commits_and_nobody_elses(repo: Repo) -> None:
    repo.write(".env", "1\n")
    repo.write(".envrc", "2\n")
    repo.write(".worktreeinclude", ".envrc\n")
    there, _ = spawned(repo)
    assert {".env", ".envrc"} & files(there) == {".env"}


def test_a_file_that_the_base_does_not_ignore_is_not_copied(repo: Repo) -> None:
    old = repo.head
    repo.commit("ignore more", {".gitignore": FILES[".gitignore"] + "*.json\n"})
    repo.write("more.json", "ignored here\n")
    there, data = spawned(repo, "--base", old)
    assert "more.json" not in files(there)
    assert any("not ignored in the new worktree" in text for text in data["warnings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", ["source", "target"])
def test_nothing_is_copied_through_a_link_at_either_end(repo: Repo, tmp_path: Path, end: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.local").write_text("outside\n")
    there = repo.worktree("there")
    repo.write("deep/x.local", "inside\n")
    if end == "source":
        (repo.path / "deep/x.local").unlink()
        (repo.path / "deep").rmdir()
        (repo.path / "deep").symlink_to(outside)
    else:
        (outside / "x.local").unlink()
        (there.path / "deep").symlink_to(outside)
    done = seed(git_of(repo.path), str(repo.path), str(there.path), repo.head)
    assert done.copied == 0
    assert os.listdir(outside) == (["x.local"] if end == "source" else [])


def test_what_is_neither_file_nor_link_is_passed_over_with_one_warning(repo: Repo) -> None:
    repo.write("node_modules/x", "x\n")
    os.mkfifo(repo.path / "node_modules/pipe")
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(repo.path / "node_modules", os.O_RDONLY)
        one.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    there, data = spawned(repo)
    assert files(there) - set(FILES) == {"node_modules/x"}
    assert [text for text in data["warnings"] if "neither" in text] == [  # type: ignore[attr-defined]
        "neither a file nor a link, so not copied: 'node_modules/pipe' and 1 more"
    ]
    assert data["worktree"]["setup"] == "partial"  # type: ignore[index]


def test_another_repository_below_an_ignored_folder_is_not_copied(repo: Repo) -> None:
    repo.write("node_modules/x", "x\n")
    repo.git("worktree", "add", "-q", "--detach", str(repo.path / "node_modules/tree"))
    there, _ = spawned(repo)
    assert {path for path in files(there) if path.startswith("node_modules")} == {"node_modules/x"}


def test_files_that_come_and_go_meanwhile_stop_nothing(repo: Repo) -> None:
    for number in range(200):
        repo.write(f"node_modules/{number}", "x\n")
    churn = "for i in $(seq 200); do rm -f $i; echo y > new$i; done"
    churn = f"cd node_modules; {churn}"
    there = repo.worktree("there")
    code = (
        "import os, sys; from gitlock.git.process import Git; from gitlock.usecases.spawning.seeding import seed;"
        "done = seed(Git(sys.argv[1], os.environ), sys.argv[1], sys.argv[2], sys.argv[3]); print(done.copied)"
    )
    here = str(repo.path)
    first, second = run_at_once([
        Job([sys.executable, "-c", code, here, str(there.path), repo.head], cwd=repo.path),
        Job(["sh", "-c", churn], cwd=repo.path),
    ])  # fmt: skip
    assert (first.code, second.code) == (0, 0)
    assert first.err == ""


@pytest.mark.parametrize(
    ("list_file", "said"),
    [
        (b".env\n[z-a].local\n", "2 is no pattern"),
        (b".env\n" + b"*a" * 40 + b"\n", "2 is no pattern"),
        (b".env\n" + b"\xff\n", ""),
        (b".env\n" + b"#" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_a_hostile_list_is_a_warning_at_most(repo: Repo, list_file: bytes, said: str) -> None:
    repo.commit("list", {".worktreeinclude": list_file})
    repo.write(".env", "1\n")
    there, data = spawned(repo)
    assert (".env" in files(there)) == ("larger" not in said)
    assert any(said in text for text in data["warnings"]) or not said  # type: ignore[attr-defined]


def test_a_list_that_is_a_link_is_not_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(".env\n")
    (repo.path / ".worktreeinclude").unlink()
    (repo.path / ".worktreeinclude").symlink_to(tmp_path / "list")
    repo.git("add", ".worktreeinclude")
    repo.git("commit", "-q", "-m", "link")
    repo.write(".env", "1\n")
    there, data = spawned(repo)
    assert ".env" not in files(there)
    assert data["seeded"] == 0


# -- sparse


def test_sparse_checks_out_what_is_claimed_and_what_git_needs(repo: Repo) -> None:
    config = (repo.path / ".git/config").read_bytes()
    there, data = spawned(repo, "--sparse", "--claim", "docs/**")
    assert files(there) == {".gitignore", ".worktreeinclude", "docs/x.md"}
    assert there.git("status", "--porcelain").out == ""
    assert (repo.path / ".git/config").read_bytes() == config
    assert not list((repo.path / ".git").rglob("config.worktree"))
    assert data["worktree"]["sparse"] is True  # type: ignore[index]


def test_what_a_sparse_worktree_leaves_out_is_not_deleted_by_a_commit(repo: Repo) -> None:
    there, _ = spawned(repo, "--sparse", "--claim", "docs/**")
    there.write("docs/x.md", "changed\n")
    there.git("commit", "-q", "-a", "-m", "only that")
    assert there.git("diff", "--name-status", "HEAD~1", "HEAD").out == "M\tdocs/x.md\n"


def test_claims_outside_of_a_sparse_worktree_still_conflict(repo: Repo) -> None:
    spawned(repo, "--sparse", "--claim", "docs/**", agent="one")
    repo.lock("claim", "src/a.py").ok()
    there = repo.path.parent / "repo.agents/one"
    assert repo.json("claim", "src/**", cwd=there, agent=None)["error"]["id"] == "held"


def test_sparse_without_a_path_is_refused_before_anything_is_made(repo: Repo) -> None:
    for claim in ((), ("--claim", "deploy:x")):
        assert repo.json("spawn", "fix", "--sparse", *claim)["code"] == 2
    assert repo.git("worktree", "list").out.count("\n") == 1


def test_sparsity_is_handed_on_by_a_sparse_source_alone(repo: Repo) -> None:
    first, _ = spawned(repo, "--sparse", "--claim", "docs/**", agent="one")
    second, _ = spawned(first, "--base", "main", agent="two")
    third, _ = spawned(repo, agent="three")
    assert (files(second), files(third)) == (files(first), set(FILES))


def test_gits_own_sparsity_is_handed_on_and_gives_way_to_the_claims(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "src")
    patterns = (repo.path / ".git/info/sparse-checkout").read_bytes()
    first, data = spawned(repo, agent="one")
    second, _ = spawned(repo, "--sparse", "--claim", "docs/**", agent="two")
    assert ("docs/x.md" in files(first), data["worktree"]["sparse"]) == (False, True)  # type: ignore[index]
    assert files(second) == {".gitignore", ".worktreeinclude", "docs/x.md"}
    assert (repo.path / ".git/info/sparse-checkout").read_bytes() == patterns
    assert "docs/x.md" not in files(repo)


# -- uncommitted work


def changed(repo: Repo) -> None:
    repo.write("src/a.py", "staged\n")
    repo.git("add", "src/a.py")
    repo.write("src/a.py", "not staged\n")
    repo.write("new.py", "untracked\n")
    (repo.path / "docs/x.md").unlink()


def test_uncommitted_work_goes_along_and_stays(repo: Repo) -> None:
    changed(repo)
    before = (repo.git("status", "--porcelain=v2").out, files_of(repo.path))
    there, data = spawned(repo, "--with-changes", "--claim", "src/a.py")
    assert there.git("status", "--porcelain=v2").out == before[0]
    assert files_of(there.path) == files_of(repo.path)
    assert (repo.git("status", "--porcelain=v2").out, files_of(repo.path)) == before
    assert (data["carried"], data["warnings"]) == (3, [])


def test_work_goes_along_to_another_base_where_it_fits(repo: Repo) -> None:
    repo.git("branch", "old")
    repo.commit("ahead", {"src/b.py": "ahead\n"})
    changed(repo)
    there, _ = spawned(repo, "--with-changes", "--base", "old")
    assert there.git("status", "--porcelain=v2").out == repo.git("status", "--porcelain=v2").out
    assert there.read("src/b.py") == "b\n"


@pytest.mark.parametrize("path", ["src/a.py", "new.py/below", "docs/x.md"])
def test_work_that_does_not_fit_the_base_is_refused_and_nothing_is_lost(repo: Repo, path: str) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("other", {path: "other\n"})
    repo.git("checkout", "-q", "main")
    changed(repo)
    before = (repo.git("status", "--porcelain=v2").out, files_of(repo.path))
    answer = repo.json("spawn", "fix", "--with-changes", "--base", "other")
    assert (answer["code"], answer["error"]["id"]) == (17, "changes-clash")
    assert (repo.git("status", "--porcelain=v2").out, files_of(repo.path)) == before
    assert repo.git("worktree", "list").out.count("\n") == 1
    assert repo.git("branch", "--list", "agent/*").out == ""


def test_conflicts_do_not_go_along(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("theirs", {"src/a.py": "theirs\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {"src/a.py": "ours\n"})
    repo.git("merge", "other", check=False).ended(1)
    answer = repo.json("spawn", "fix", "--with-changes")
    assert (answer["code"], answer["error"]["id"]) == (17, "conflicts")


def test_work_outside_of_the_claims_is_seen_in_a_sparse_worktree(repo: Repo) -> None:
    changed(repo)
    there, _ = spawned(repo, "--with-changes", "--sparse", "--claim", "src/b.py")
    assert there.git("status", "--porcelain=v2").out == repo.git("status", "--porcelain=v2").out
    assert there.read("src/a.py") == "not staged\n"
