"""What `git lock retire --force` removes, `git lock restore` brings back as it was: S35 and S59."""

import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.saved import KEPT
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.saved import SavedBook
from tests.kit.repo import Repo
from tests.kit.retiring import house, land, record_of
from tests.kit.schemas import assert_fits
from tests.kit.worktrees import sight


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    files = {"staged.py": "1\n", "changed.py": "1\n", "gone.py": "1\n", "run.sh": "#!/bin/sh\n", ".gitignore": ".env\n"}
    return Repo.new(tmp_path, files=files)


def unfinished(repo: Repo) -> Repo:
    """A worktree in the middle of work of every kind."""
    tree = house(repo)
    tree.commit("mine", {"mine.py": "m\n"})
    tree.write("staged.py", "2\n")
    tree.git("add", "staged.py")
    tree.write("staged.py", "3\n")
    tree.write("changed.py", "2\n")
    (tree.path / "gone.py").unlink()
    (tree.path / "run.sh").chmod(0o755)
    tree.write("new/deep.py", "n\n")
    tree.write("sp ace\n.py", "n\n")
    tree.write(".env", "secret\n").chmod(0o600)
    return tree


def retired(repo: Repo, agent: str = "a") -> str:
    """The id of the snapshot of a forced removal."""
    answer = repo.json("retire", agent, "--force")
    assert answer["code"] == 0, answer
    found = answer["data"]["snapshot"]
    assert isinstance(found, str)
    return found


def restored(repo: Repo, *words: str) -> Any:
    """The data of a restore that worked."""
    answer = repo.json("restore", *words)
    assert_fits("restore", answer)
    assert answer["code"] == 0, answer
    return answer["data"]


def test_everything_comes_back_as_it_was(repo: Repo) -> None:
    tree = unfinished(repo)
    before, commit = sight(tree.path), tree.head
    saved = retired(repo)
    assert not tree.path.exists()
    data = restored(repo, saved)
    assert sight(tree.path) == before
    assert (tree.head, data["worktree"]["branch"], data["lease"]) == (commit, "agent/a", None)
    assert stat.S_IMODE((tree.path / ".env").stat().st_mode) == 0o600


def test_a_conflict_comes_back_with_all_its_sides(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"changed.py": "mine\n"})
    repo.commit("theirs", {"changed.py": "theirs\n"})
    tree.git("merge", "main", check=False)
    before = sight(tree.path)
    restored(repo, retired(repo))
    assert sight(tree.path) == before


def test_commits_of_a_detached_head_come_back(repo: Repo) -> None:
    tree = house(repo)
    tree.git("checkout", "--quiet", "--detach")
    tree.commit("detached", {"d.py": "d\n"})
    commit = tree.head
    saved = retired(repo)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    data = restored(repo, saved)
    assert (tree.head, data["worktree"]["branch"]) == (commit, None)
    assert tree.git("symbolic-ref", "-q", "HEAD", check=False).code == 1
    assert "restoring" not in repo.git("branch", "--list").out


def test_commits_that_were_reset_away_live_as_long_as_the_snapshot(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("dropped", {"d.py": "d\n"})
    dropped = tree.head
    tree.git("reset", "--quiet", "--hard", "HEAD~1")
    retired(repo)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    assert repo.git("log", "-1", "--format=%s", dropped).out == "dropped\n"


def test_a_branch_that_was_deleted_is_made_again(repo: Repo) -> None:
    tree = house(repo)
    tree.write("new.py", "n\n")
    saved = retired(repo)
    assert "agent/a" not in repo.git("branch", "--list").out
    restored(repo, saved)
    assert tree.git("branch", "--show-current").out == "agent/a\n"
    tree.commit("done", {"new.py": "n\n"})
    land(repo, "agent/a")
    assert repo.json("retire", "a")["data"]["worktrees"][0]["branch_deleted"]


def test_a_branch_that_moved_is_left_where_it_is(repo: Repo) -> None:
    tree = unfinished(repo)
    before, commit = sight(tree.path)["status"], tree.head
    saved = retired(repo)
    repo.git("branch", "--force", "agent/a", "main")
    data = restored(repo, saved)
    assert sight(tree.path)["status"] == before
    assert (tree.head, data["worktree"]["branch"]) == (commit, None)
    assert data["warnings"] == ["HEAD is detached there, since branch 'agent/a' points elsewhere by now"]
    assert repo.git("rev-parse", "agent/a").out.strip() == repo.head


def test_a_branch_that_is_checked_out_elsewhere_stays_there(repo: Repo) -> None:
    unfinished(repo)
    saved = retired(repo)
    repo.git("worktree", "add", "--quiet", "../second", "agent/a")
    assert restored(repo, saved)["worktree"]["branch"] is None


def test_nothing_is_restored_over_anything(repo: Repo) -> None:
    tree = unfinished(repo)
    saved = retired(repo)
    tree.write("mine.py", "mine\n")
    answer = repo.json("restore", saved)
    assert (answer["code"], answer["error"]["id"]) == (17, "path-taken")
    assert sorted(os.listdir(tree.path)) == ["mine.py"]
    data = restored(repo, saved, "--path", "../again")
    assert data["worktree"]["path"] == str(repo.path.parent / "again")


def test_an_agent_with_a_worktree_gets_no_second_one(repo: Repo) -> None:
    unfinished(repo)
    saved = retired(repo)
    house(repo, branch="agent/a2", path=repo.path.parent / "a2")
    assert repo.json("restore", saved)["code"] == 17
    data = restored(repo, saved, "--as", "b")
    assert data["worktree"]["agent"] == "b"


def test_a_snapshot_can_be_restored_twice(repo: Repo) -> None:
    tree = unfinished(repo)
    before = sight(tree.path)["files"]
    saved = retired(repo)
    restored(repo, saved)
    restored(repo, saved, "--as", "b", "--path", "../b")
    assert sight(repo.path.parent / "b")["files"] == before


@pytest.mark.parametrize("name", ["id", "short", "agent"])
def test_a_snapshot_is_named_by_id_its_beginning_or_the_agent(repo: Repo, name: str) -> None:
    unfinished(repo)
    saved = retired(repo)
    assert restored(repo, {"id": saved, "short": saved[:4], "agent": "a"}[name])["snapshot"] == saved


def test_an_agent_with_two_snapshots_is_asked_which(repo: Repo) -> None:
    for _ in range(2):
        house(repo).write("new.py", "n\n")
        retired(repo)
    answer = repo.json("restore", "a")
    assert (answer["code"], answer["error"]["next"]) == (2, "git lock restore --list")


def test_the_list_says_what_there_is_and_why(repo: Repo) -> None:
    unfinished(repo)
    saved = retired(repo)
    answer = repo.json("restore", "--list")
    assert_fits("restore", answer)
    (one,) = answer["data"]["snapshots"]
    assert (one["id"], one["agent"], one["ignored_files"]) == (saved, "a", 1)
    assert any("untracked" in why for why in one["why"])
    assert saved in repo.lock("restore", "--list").ok().out


def test_secrets_never_become_objects_of_git(repo: Repo) -> None:
    unfinished(repo)
    saved = retired(repo)
    secret = repo.git("hash-object", "--stdin", input="secret\n").out.strip()
    assert repo.git("cat-file", "-e", secret, check=False).code != 0
    folder = repo.store / "snapshots" / saved
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [(file.read_text(), stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()] == [("secret\n", 0o600)]


def test_what_may_be_lost_is_not_saved(repo: Repo) -> None:
    tree = unfinished(repo)
    answer = repo.json("retire", "a", "--force", "--discard-ignored")
    restored(repo, answer["data"]["snapshot"])
    assert not (tree.path / ".env").exists()


def test_a_snapshot_is_shown_by_no_branch_and_no_tag(repo: Repo) -> None:
    unfinished(repo)
    saved = retired(repo)
    refs = repo.git("for-each-ref", "--format=%(refname)").out.split()
    assert f"refs/gitlock/snapshots/{saved}" in refs
    assert [ref for ref in refs if not ref.startswith("refs/gitlock/")] == ["refs/heads/agent/a", "refs/heads/main"]


def test_old_snapshots_are_cleared_away(repo: Repo) -> None:
    unfinished(repo)
    old = retired(repo)
    house(repo, "b").write("new.py", "n\n")
    young = retired(repo, "b")
    book = SavedBook(Layout(str(repo.store)))
    record = book.find(old)
    assert record is not None
    book.write(record.replace(at=time.time() - KEPT - 60))
    repo.lock("gc").ok()
    assert [one.id for one in book.all()] == [young]
    assert repo.git("for-each-ref", "refs/gitlock/snapshots", "--format=%(refname:lstrip=3)").out.split() == [young]
    assert not (repo.store / "snapshots" / old).exists()


def test_a_restored_worktree_is_its_agents(repo: Repo) -> None:
    tree = unfinished(repo)
    restored(repo, retired(repo))
    assert tree.json("whoami", agent=None)["data"]["agent"]["id"] == "a"
    record = record_of(repo)
    assert record is not None and record.state == "ready"
    assert repo.git("worktree", "remove", "--force", str(tree.path), check=False).code == 128


@pytest.mark.parametrize("words", [[], ["nothing"], ["--list", "x"], ["a", "b"]])
def test_words_that_make_no_sense(repo: Repo, words: list[str]) -> None:
    assert repo.json("restore", *words)["code"] == 2


def test_from_a_subfolder_of_a_linked_worktree(repo: Repo) -> None:
    unfinished(repo)
    other = repo.worktree("other")
    other.write("sub/x", "x\n")
    answer = other.json("retire", "a", "--force", cwd="sub")
    assert answer["code"] == 0
    assert other.json("restore", answer["data"]["snapshot"], "--path", "../../back", cwd="sub")["code"] == 0
    assert Repo(repo.path.parent / "back").read("mine.py") == "m\n"


def test_what_a_rebase_had_put_away_is_kept_as_long_as_the_snapshot(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"changed.py": "mine\n"})
    tree.write("changed.py", "mine, not done\n")
    repo.commit("theirs", {"changed.py": "theirs\n"})
    tree.git("rebase", "--autostash", "main", check=False)
    stash = (Path(tree.git("rev-parse", "--absolute-git-dir").out.strip()) / "rebase-merge/autostash").read_text()
    repo.lock("retire", "a", "--force", agent="boss").ok()
    assert "refs/gitlock/snapshots/" in repo.git("for-each-ref", "--contains", stash.strip()).out


# -- an operation in progress


def _patched(repo: Repo, tree: Repo) -> None:
    """An am of two patches that stops at the first."""
    repo.git("switch", "--quiet", "--create", "patches")
    repo.commit("first", {"changed.py": "patched\n"})
    repo.commit("second", {"more.py": "x\n"})
    series = repo.git("format-patch", "--stdout", "main").out
    repo.git("switch", "--quiet", "main")
    tree.commit("mine", {"changed.py": "mine\n"})
    tree.git("am", input=series, check=False)


def test_the_rest_of_a_patch_series_comes_back(repo: Repo) -> None:
    tree = house(repo)
    _patched(repo, tree)
    snapshot = repo.json("retire", "a", "--force", agent="boss")["data"]["snapshot"]
    assert "an am is in progress, as it was" in repo.lock("restore", snapshot).ok().out
    tree.git("am", "--skip")
    assert tree.read("more.py") == "x\n" and tree.read("changed.py") == "mine\n"


def _rebased(repo: Repo) -> Repo:
    """A rebase that stops at a conflict."""
    tree = house(repo)
    tree.commit("mine", {"changed.py": "mine\n"})
    tree.commit("more", {"more.py": "x\n"})
    repo.commit("theirs", {"changed.py": "theirs\n"})
    tree.git("rebase", "main", check=False)
    return tree


@pytest.mark.parametrize("end", ["--continue", "--abort"])
def test_a_rebase_in_progress_goes_on_or_is_taken_back(repo: Repo, end: str) -> None:
    tree = _rebased(repo)
    snapshot = repo.json("retire", "a", "--force", agent="boss")["data"]["snapshot"]
    repo.lock("restore", snapshot).ok()
    assert "UU changed.py" in tree.git("status", "--porcelain").out
    tree.write("changed.py", "both\n")
    tree.git("add", "changed.py")
    tree.git("rebase", end, env={"GIT_EDITOR": "true"})
    assert tree.git("symbolic-ref", "--short", "HEAD").out.strip() == "agent/a"
    assert (tree.read("changed.py"), tree.read("more.py")) == ("both\n" if end == "--continue" else "mine\n", "x\n")


def test_a_rebase_of_a_branch_that_has_gone_on_is_not_taken_up_and_its_notes_are_named(repo: Repo) -> None:
    tree = _rebased(repo)
    snapshot = repo.json("retire", "a", "--force", agent="boss")["data"]["snapshot"]
    repo.git("branch", "--force", "agent/a", "main")
    result = repo.lock("restore", snapshot).ok()
    assert "a rebase was in progress, and is not any more: branch 'agent/a' points elsewhere by now" in result.err
    place = result.err.partition("had noted is in '")[2].partition("'")[0]
    assert "rebase-merge/git-rebase-todo" in repo.run("tar", "tf", place).ok().out
    assert tree.git("rebase", "--abort", check=False).code


def test_beside_the_agent_s_new_worktree_it_can_be_looked_at_as_another_s(repo: Repo) -> None:
    tree = unfinished(repo)
    snapshot = retired(repo)
    house(repo, branch="agent/anew")
    error = repo.json("restore", snapshot)["error"]
    assert error["id"] == "has-worktree" and "--as a-restored" in error["next"]
    repo.run("sh", "-c", error["next"]).ok()
    assert Repo(tree.path.with_name("a.restored")).read("mine.py") == "m\n"
