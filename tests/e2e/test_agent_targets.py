"""The edited file decides the repository and the name that is claimed, wherever the session stands and whatever the
program's variables say. Each refusal here has its twin: the same edit, once the lease is gone."""

import shutil
from pathlib import Path

import pytest

from tests.kit.programs import Heard, Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"
HOLDER = "claude-5b0cf1e2"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository in which one session has edited src/a.py."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n", "docs/x.md": "1\n"})
    repo.lock("install", agent=None).ok()
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    return repo


def held(repo: Repo) -> dict[str, str]:
    """Who holds what."""
    return {" ".join(one["include"]): one["agent"] for one in repo.json("list")["data"]["leases"]}


def assert_is_the_held_file(repo: Repo, path: str, cwd: Path) -> None:
    """Asserts that this is src/a.py by another name: refused while that is held, and not any more afterwards."""
    codex = Program("codex", repo, TWO)
    refused = codex.edits(path, cwd=cwd)
    assert not refused.may_run and "'src/a.py' is held by" in refused.refusal
    repo.lock("release", "src/a.py", agent=HOLDER).ok()
    assert codex.edits(path, cwd=cwd).may_run
    (claimed,) = [paths.split() for paths, agent in held(repo).items() if agent == "codex-77aa55cc"]
    assert "src/a.py" in claimed


@pytest.mark.parametrize(
    "path",
    ["{repo}/src/a.py", "{repo}/src/../src/a.py", "{repo}/docs/../src/./a.py", "{repo}//src//a.py", "{link}/src/a.py",
     "{folder}/a.py", "{leaf}"],
)  # fmt: skip
def test_every_spelling_of_a_path_is_the_same_file(repo: Repo, tmp_path: Path, path: str) -> None:
    link, folder, leaf = tmp_path / "link", tmp_path / "folder", tmp_path / "leaf.py"
    link.symlink_to(repo.path)
    folder.symlink_to(repo.path / "src")
    leaf.symlink_to(repo.path / "src/a.py")
    assert_is_the_held_file(repo, path.format(repo=repo.path, link=link, folder=folder, leaf=leaf), tmp_path)


def test_a_link_in_the_tree_is_the_file_that_it_leads_to(repo: Repo) -> None:
    (repo.path / "alias.py").symlink_to("src/a.py")
    assert_is_the_held_file(repo, "alias.py", repo.path)


@pytest.mark.parametrize("stands", ["src", "docs", "."])
def test_a_relative_path_is_one_of_the_folder_that_the_event_names(repo: Repo, stands: str) -> None:
    path = {"src": "a.py", "docs": "../src/a.py", ".": "src/a.py"}[stands]
    assert_is_the_held_file(repo, path, repo.path / stands)


def test_the_folder_in_which_the_hook_runs_says_nothing(repo: Repo) -> None:
    assert Program("codex", repo, TWO).edits("a.py", cwd=repo.path / "src").may_run is False
    assert Program("codex", repo, TWO).edits("a.py", cwd=repo.path / "docs").may_run
    assert held(repo)["docs/a.py"] == "codex-77aa55cc"


def test_a_checkout_that_is_a_link_is_the_repository_that_it_leads_to(repo: Repo, tmp_path: Path) -> None:
    link = tmp_path / "checkout"
    link.symlink_to(repo.path)
    assert_is_the_held_file(repo, "src/a.py", link)


def test_the_variables_of_a_program_do_not_decide(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other", files={"src/a.py": "1\n"})
    other.lock("install", agent=None).ok()
    stray = {"CLAUDE_PROJECT_DIR": str(other.path), "GIT_DIR": str(other.path / ".git"),
             "GIT_WORK_TREE": str(other.path)}  # fmt: skip
    two = Program("claude", repo, TWO, env=stray)
    assert not two.edits(str(repo.path / "src/a.py")).may_run
    assert two.edits(str(other.path / "src/a.py")).may_run
    assert held(other) == {"src/a.py": "claude-77aa55cc"}


# -- worktrees


def test_a_worktree_inside_the_repository_is_a_worktree_of_its_own(repo: Repo) -> None:
    inside = repo.path / ".worktrees/auth"
    repo.git("worktree", "add", "--quiet", "-b", "auth", str(inside))
    codex = Program("codex", repo, TWO)
    heard = codex.edits(str(inside / "src/a.py"))  # it stands in the main checkout
    assert heard.may_run and "in another worktree (main)" in heard.context
    codex.edits(str(inside / "src/b.py"))
    assert held(repo)["src/b.py"] == "codex-77aa55cc"  # by the same name as everywhere, and not by .worktrees/…
    (lease,) = [one for one in repo.state()["leases"] if one["include"] == ["src/b.py"]]
    assert (lease["holder"]["worktree"], lease["holder"]["branch"]) == (str(inside), "auth")


def test_a_session_in_a_worktree_that_edits_the_main_checkout_is_judged_there(repo: Repo) -> None:
    there = repo.worktree("there")
    codex = Program("codex", there, TWO)
    assert codex.edits("src/a.py").may_run
    assert not codex.edits(str(repo.path / "src/a.py")).may_run


def test_a_link_that_leaves_the_worktree_is_judged_by_where_it_leads(repo: Repo, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (repo.path / "data").symlink_to(shared)
    (repo.path / "sources").symlink_to(repo.path / "src")
    codex = Program("codex", repo, TWO)
    assert codex.edits("data/x.csv").may_run  # in no repository
    assert not codex.edits("sources/a.py").may_run


# -- other repositories, and none


def test_a_sibling_repository_decides_for_itself(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other", files={"src/a.py": "1\n"})
    codex = Program("codex", repo, TWO)
    assert codex.edits("../other/src/a.py").may_run
    assert not other.store.exists()  # git-lock does not manage it
    other.lock("install", agent=None).ok()
    Program("claude", other, ONE).does("src/a.py", "2\n")
    assert not codex.edits("../other/src/a.py").may_run


def test_a_repository_inside_another_one_decides_for_itself(repo: Repo) -> None:
    inner = Repo.new(repo.path, name="vendor", files={"src/a.py": "1\n"})
    inner.lock("install", agent=None).ok()
    codex = Program("codex", repo, TWO)
    assert codex.edits("vendor/src/a.py").may_run
    assert held(inner) == {"src/a.py": "codex-77aa55cc"}
    assert "vendor/src/a.py" not in held(repo)


def test_outside_of_every_repository_there_is_no_opinion(repo: Repo, tmp_path: Path) -> None:
    codex = Program("codex", repo, TWO)
    heard = codex.edits(str(tmp_path / "notes.txt"))
    assert (heard.may_run, heard.result.out) == (True, "")
    heard = codex.edits("notes.txt", cwd=tmp_path)
    assert (heard.may_run, heard.result.out) == (True, "")


def test_a_folder_that_was_deleted_stops_nothing_and_hides_nothing(repo: Repo) -> None:
    gone = repo.path / "gone"
    gone.mkdir()
    shutil.rmtree(gone)
    codex = Program("codex", repo, TWO)
    assert codex.edits("x.py", cwd=gone).may_run
    assert not codex.edits("../src/a.py", cwd=gone).may_run
    assert not codex.edits(str(repo.path / "src/a.py"), cwd=gone).may_run


def test_a_worktree_that_is_being_removed_stops_nothing(repo: Repo) -> None:
    there = repo.worktree("there")
    codex = Program("codex", there, TWO)
    codex.edits("src/b.py")
    repo.git("worktree", "remove", "--force", str(there.path))
    codex.repo = repo  # the hook itself has to run somewhere
    assert codex.tells("end", reason="other", cwd=there.path).result.code == 0
    assert not codex.edits(str(repo.path / "src/a.py"), cwd=there.path).may_run


def test_a_new_file_in_a_new_folder_is_claimed_by_its_name(repo: Repo) -> None:
    Program("codex", repo, TWO).edits("new/deep/x.py")
    assert held(repo)["new/deep/x.py"] == "codex-77aa55cc"


# -- several files at once


def test_a_patch_over_two_repositories_is_taken_whole_or_not_at_all(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other", files={"x.py": "1\n"})
    other.lock("install", agent=None).ok()
    codex = Program("codex", repo, TWO)
    assert not codex.edits(str(other.path / "x.py"), "src/a.py").may_run
    assert held(other) == {}
    assert codex.edits(str(other.path / "x.py"), "src/b.py").may_run
    assert held(other) == {"x.py": "codex-77aa55cc"}


def test_every_side_of_a_patch_counts(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)

    def patch(*lines: str) -> Heard:
        text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
        return codex.tells("before", tool_name="apply_patch", tool_use_id="p", tool_input={"command": text})

    assert not patch("*** Delete File: src/a.py").may_run
    assert not patch("*** Update File: src/b.py", "*** Move to: src/a.py", "@@").may_run
    assert not patch("*** Update File: src/a.py", "*** Move to: src/c.py", "@@").may_run
    assert not patch("*** Add File: src/new.py", "+x", "*** Add File: src/a.py", "+x").may_run
    assert "src/b.py" not in " ".join(held(repo)) and "src/new.py" not in " ".join(held(repo))
    assert patch("*** Update File: src/b.py", "*** Move to: src/c.py", "@@").may_run


# -- nothing but the target


def test_a_session_that_was_refused_can_still_go_away_and_read(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    assert not codex.edits("src/a.py").may_run
    repo.git("config", "gitlock.shellWrites", "enforce")
    for command in ("cd /tmp", "cat src/a.py", "git status", "git diff", "git log -1", "ls src > /dev/null",
                    "git lock request src/a.py -m why", "grep x src/a.py", "cp src/a.py /tmp/copy.py"):  # fmt: skip
        assert codex.runs(command).may_run, command
    assert not codex.runs("rm src/a.py").may_run


def test_the_hook_touches_no_file_of_the_worktree(repo: Repo) -> None:
    def files() -> dict[str, int]:
        return {str(file): file.stat().st_mtime_ns for file in repo.path.rglob("*") if ".git" not in file.parts}

    before = files()
    codex = Program("codex", repo, TWO)
    for kind in ("start", "prompt", "stop", "end"):
        codex.tells(kind)
    codex.edits("src/b.py")
    codex.edits("src/a.py")
    codex.edited("src/b.py")
    assert files() == before


def test_a_session_that_begins_twice_is_one(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    codex.tells("start", source="resume")
    codex.tells("start", source="resume")
    rows = [row for row in repo.json("agents")["data"]["agents"] if row["agent"] == "codex-77aa55cc"]
    assert len(rows) == 1


def test_two_sessions_in_one_worktree_are_told_of_one_another(repo: Repo) -> None:
    told = Program("codex", repo, TWO).tells("start", source="startup").context
    assert "at work in this very worktree: claude-5b0cf1e2" in told
    assert [row["shared"] for row in repo.json("agents")["data"]["agents"]] == [True, True]
