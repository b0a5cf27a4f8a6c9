"""`git lock retire` never loses work: what it finds in a worktree, it names, and the worktree stays."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitlock.domain.lease import Holder
from gitlock.domain.session import WORKING, Session
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.sessions import SessionBook
from gitlock.wiring.liveness import Here
from gitlock.wiring.neighbours import inside
from tests.kit.processes import Running, start
from tests.kit.repo import Repo
from tests.kit.retiring import house, land, meddling, reasons, record_of
from tests.kit.schemas import assert_fits


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"a.py": "1\n", ".gitignore": ".env\n*.sqlite\nnode_modules/\n__pycache__/\n"})


def refused(repo: Repo, *words: str, agent: str | None = "boss", **more: object) -> list[str]:
    """The reasons of a refusal, which must fit the schema; and everything is still there."""
    answer = repo.json("retire", "a", *words, agent=agent, **more)  # type: ignore[arg-type]
    assert_fits("retire", answer)
    assert answer["code"] == 17, answer
    assert not any(one["removed"] for one in answer["data"]["worktrees"])
    return reasons(answer)


def test_a_clean_worktree_without_work_goes(repo: Repo) -> None:
    tree = house(repo)
    answer = repo.json("retire", "a")
    assert_fits("retire", answer)
    (one,) = answer["data"]["worktrees"]
    assert (one["removed"], one["branch_deleted"], answer["data"]["snapshot"]) == (True, True, None)
    assert not tree.path.exists() and record_of(repo) is None
    assert str(tree.path) not in repo.git("worktree", "list").out
    assert "agent/a" not in repo.git("branch", "--list").out


def test_every_reason_is_named_at_once(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"b.py": "b\n"})
    tree.write("a.py", "2\n")
    tree.write("new.py", "n\n")
    tree.write(".env", "secret\n")
    assert refused(repo) == ["uncommitted", "untracked", "ignored", "unmerged"]


def test_every_reason_comes_with_a_command(repo: Repo) -> None:
    tree = house(repo)
    tree.write("new.py", "n\n")
    said = repo.lock("retire", "a").ended(17).err
    assert "untracked: 1 untracked file: 'new.py'" in said
    assert "next: git lock retire a --force" in said


def test_commits_that_are_neither_merged_nor_pushed_keep_it(repo: Repo) -> None:
    house(repo).commit("mine", {"b.py": "b\n"})
    assert refused(repo) == ["unmerged"]


def test_work_on_a_branch_that_was_left_counts(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"b.py": "b\n"})
    tree.git("switch", "--quiet", "-c", "other", "main")
    assert refused(repo) == ["unmerged"]


def test_a_branch_that_was_only_looked_at_does_not_count(repo: Repo) -> None:
    repo.git("branch", "theirs")
    repo.git("worktree", "add", "--quiet", "../theirs", "theirs")
    Repo(repo.path.parent / "theirs").commit("theirs", {"c.py": "c\n"})
    tree = house(repo)
    tree.git("checkout", "--quiet", "--ignore-other-worktrees", "theirs")
    tree.git("checkout", "--quiet", "agent/a")
    repo.lock("retire", "a").ok()


def test_work_on_a_renamed_branch_counts(repo: Repo) -> None:
    tree = house(repo)
    tree.git("branch", "-m", "renamed")
    tree.commit("mine", {"b.py": "b\n"})
    assert refused(repo) == ["unmerged"]


def test_a_branch_that_is_pushed_does_not_keep_it(repo: Repo) -> None:
    clone = repo.clone()
    tree = house(clone)
    tree.commit("mine", {"b.py": "b\n"})
    tree.git("push", "--quiet", "origin", "agent/a")
    answer = clone.json("retire", "a")
    (one,) = answer["data"]["worktrees"]
    assert (one["removed"], one["branch_deleted"]) == (True, False)
    assert one["branch_kept_because"] == "it is pushed, but not merged"


def test_a_commit_on_a_detached_head_keeps_it(repo: Repo) -> None:
    tree = house(repo)
    tree.git("checkout", "--quiet", "--detach")
    tree.git("commit", "--quiet", "--allow-empty", "-m", "x")
    assert refused(repo) == ["lost-commits"]


def test_a_commit_that_was_reset_away_keeps_it(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("dropped by mistake", {"b.py": "b\n"})
    tree.git("reset", "--quiet", "--hard", "HEAD~1")
    assert refused(repo) == ["lost-commits"]


def test_what_was_amended_or_rebased_is_not_lost(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("first try", {"b.py": "b\n"})
    tree.git("commit", "--quiet", "--amend", "-m", "better")
    repo.commit("meanwhile", {"c.py": "c\n"})
    tree.git("rebase", "--quiet", "main")
    repo.git("merge", "--quiet", "--ff-only", "agent/a")
    repo.lock("retire", "a").ok()


def test_what_was_squashed_by_hand_is_not_lost(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("one", {"b.py": "b\n"})
    tree.commit("two", {"c.py": "c\n"})
    tree.git("reset", "--quiet", "--soft", "main")
    tree.commit("both")
    repo.git("merge", "--quiet", "--ff-only", "agent/a")
    repo.lock("retire", "a").ok()


def test_a_commit_that_only_a_ref_of_the_worktree_has_keeps_it(repo: Repo) -> None:
    tree = house(repo)
    tree.write("a.py", "parked\n")
    parked = tree.git("stash", "create").out.strip()
    tree.git("update-ref", "refs/worktree/park", parked)
    tree.git("checkout", "--quiet", "--", "a.py")
    assert refused(repo) == ["lost-commits"]


def test_untracked_files_count_whatever_git_is_told_to_show(repo: Repo) -> None:
    tree = house(repo)
    repo.git("config", "status.showUntrackedFiles", "no")
    tree.write("new.py", "n\n")
    assert refused(repo) == ["untracked"]


def test_a_change_that_git_was_told_to_overlook_counts(repo: Repo) -> None:
    tree = house(repo)
    tree.git("update-index", "--assume-unchanged", "a.py")
    tree.write("a.py", "mine\n")
    assert refused(repo) == ["hidden"]


def test_an_ignored_file_that_cannot_be_made_again_keeps_it(repo: Repo) -> None:
    house(repo).write("local.sqlite", "rows\n")
    assert refused(repo) == ["ignored"]


def test_ignored_files_that_are_made_again_do_not_keep_it(repo: Repo) -> None:
    tree = house(repo)
    tree.write("node_modules/x/index.js", "x\n")
    tree.write("__pycache__/a.cpython-311.pyc", "x\n")
    repo.lock("retire", "a").ok()


def test_an_ignored_file_that_the_source_has_as_well_does_not_keep_it(repo: Repo) -> None:
    repo.write(".env", "secret\n")
    house(repo).write(".env", "secret\n")
    repo.lock("retire", "a").ok()


def test_ignored_files_are_lost_only_when_that_is_said(repo: Repo) -> None:
    tree = house(repo)
    tree.write("local.sqlite", "rows\n")
    repo.lock("retire", "a", "--discard-ignored").ok()
    assert not tree.path.exists()


def test_ignored_files_too_large_to_save_need_a_word_of_their_own(repo: Repo) -> None:
    tree = house(repo)
    with tree.write("local.sqlite", "").open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert refused(repo, "--force") == ["ignored"]


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (("rebase", "main"), "rebase"),
        (("merge", "main"), "merge"),
        (("cherry-pick", "main"), "cherry-pick"),
    ],
)
def test_an_operation_in_progress_keeps_it(repo: Repo, begin: tuple[str, ...], kind: str) -> None:
    tree = house(repo)
    tree.commit("mine", {"a.py": "mine\n"})
    repo.commit("theirs", {"a.py": "theirs\n"})
    assert tree.git(*begin, check=False).code != 0
    answer = repo.json("retire", "a")
    found = {reason["id"]: reason for reason in answer["data"]["worktrees"][0]["refusals"]}
    assert found["operation"]["what"] == f"a {kind} is in progress"
    assert found["operation"]["next"] == f"git -C {tree.path} {kind} --abort"


def test_a_bisect_keeps_it(repo: Repo) -> None:
    house(repo).git("bisect", "start")
    assert "operation" in refused(repo)


@pytest.mark.parametrize("words", [(), ("--force",)])
def test_another_worktree_inside_keeps_it(repo: Repo, words: tuple[str, ...]) -> None:
    tree = house(repo)
    tree.git("worktree", "add", "--quiet", "-b", "inner", "inner")
    assert "nested-worktree" in refused(repo, *words)


@pytest.mark.parametrize("place", ["inner", ".env/inner"])
def test_another_repository_inside_keeps_it_also_by_force(repo: Repo, place: str) -> None:
    tree = house(repo)
    repo.git("clone", "--quiet", str(repo.path), str(tree.path / place))
    assert "nested-repository" in refused(repo, "--force")


def test_a_package_that_is_a_repository_does_not_keep_it(repo: Repo) -> None:
    tree = house(repo)
    repo.git("clone", "--quiet", str(repo.path), str(tree.path / "node_modules/pkg"))
    repo.lock("retire", "a").ok()


@pytest.fixture
def with_submodule(repo: Repo, tmp_path: Path) -> Repo:
    """A worktree whose submodule is checked out."""
    module = Repo.new(tmp_path, {"s.c": "s\n"}, name="module")
    repo.git("submodule", "--quiet", "add", str(module.path), "sub")
    repo.commit("with a submodule")
    tree = house(repo)
    tree.git("submodule", "--quiet", "update", "--init")
    return tree


def test_a_submodule_that_is_as_it_was_fetched_does_not_keep_it(repo: Repo, with_submodule: Repo) -> None:
    repo.lock("retire", "a").ok()
    assert not with_submodule.path.exists()


def test_dirt_in_a_submodule_keeps_it_also_by_force(repo: Repo, with_submodule: Repo) -> None:
    with_submodule.write("sub/s.c", "mine\n")
    assert refused(repo, "--force") == ["submodule"]


def test_a_commit_in_a_submodule_that_was_not_pushed_keeps_it(repo: Repo, with_submodule: Repo) -> None:
    sub = Repo(with_submodule.path / "sub")
    sub.commit("mine", {"s.c": "mine\n"})
    sub.git("checkout", "--quiet", "--detach", "HEAD~1")
    assert refused(repo, "--force") == ["submodule"]


def test_nobody_removes_the_folder_under_their_own_feet(repo: Repo) -> None:
    tree = house(repo)
    answer = tree.json("retire", "a", "--force", agent=None)
    assert reasons(answer) == ["current-folder"]
    assert answer["error"]["next"] == f"cd {repo.path}"


@pytest.fixture
def visitor(repo: Repo) -> Iterator[Running]:
    """A process whose current folder is in the worktree of a."""
    tree = house(repo)
    with start(["sleep", "600"], cwd=tree.path) as running:
        yield running


@pytest.mark.skipif(inside("/") is None, reason="the system does not say where processes are")
def test_a_process_inside_keeps_it_unless_forced(repo: Repo, visitor: Running) -> None:
    assert refused(repo) == ["process-inside"]
    said = repo.lock("retire", "a", "--force").ok().out
    assert f"{visitor.pid} (sleep)" in said


def test_a_lease_that_nothing_proves_to_be_over_keeps_it(repo: Repo) -> None:
    house(repo).lock("claim", "a.py", agent=None).ok()
    assert refused(repo) == ["holder"]


def test_a_parent_retires_what_its_child_has_left(repo: Repo) -> None:
    house(repo, "boss/a").lock("claim", "a.py", agent=None).ok()
    answer = repo.json("retire", "boss/a", agent="boss")
    assert answer["data"]["worktrees"][0]["released"]
    assert repo.json("list")["data"]["leases"] == []


@pytest.mark.skipif(inside("/") is None, reason="the system does not tell processes apart")
def test_a_dead_holder_does_not_keep_it(repo: Repo) -> None:
    tree = house(repo)
    with start(["sleep", "600"]) as holder:
        tree.lock("claim", "a.py", "--pid", str(holder.pid), agent=None).ok()
        assert refused(repo) == ["holder"]
        holder.signal(signal.SIGKILL).wait()
    repo.lock("retire", "a", agent="boss").ok()


def test_a_child_still_at_work_keeps_its_parents_worktree(repo: Repo) -> None:
    tree = house(repo)
    with start(["sleep", "600"]) as child:
        SessionBook(Layout(str(repo.store))).write(_session(tree, "a/child", child.pid))
        assert refused(repo) == ["holder"]
    repo.lock("retire", "a", agent="boss").ok()
    assert SessionBook(Layout(str(repo.store))).all() == []


def _session(tree: Repo, agent: str, pid: int) -> Session:
    from gitlock.stores.clock import SystemClock

    here: Here = Here(SystemClock().boot)
    holder: Holder = here.holder(pid=pid, worktree=str(tree.path), branch="agent/a", session=None, clone=None)
    return Session(
        id="child-00000000", agent=agent, kind="agent", program=None, holder=holder, worktree_id=None, state=WORKING,
        since=1.0, message="", waited=0.0, started=1.0, active=1.0,
    )  # fmt: skip


def test_a_lock_of_somebody_elses_is_never_taken_off(repo: Repo) -> None:
    tree = house(repo)
    repo.git("worktree", "unlock", str(tree.path))
    repo.git("worktree", "lock", "--reason", "on a stick", str(tree.path))
    assert refused(repo, "--force") == ["locked"]


def test_a_check_that_cannot_be_made_counts_as_no(repo: Repo) -> None:
    tree = house(repo)
    (Path(tree.git("rev-parse", "--git-dir").out.strip()) / "index").write_bytes(b"damaged")
    assert "unchecked" in refused(repo)


def test_what_changes_at_the_last_moment_gets_its_worktree_back(repo: Repo, tmp_path: Path) -> None:
    tree = house(repo)
    late = f'for place in {repo.store}/trash/*; do echo late >"$place/late.py"; done'
    env = meddling(tmp_path / "bin", "--ignored=traditional", late, times=2)
    answer = repo.json("retire", "a", env=env)
    assert (answer["code"], answer["error"]["id"]) == (17, "changed")
    assert tree.read("late.py") == "late\n"
    record = record_of(repo)
    assert record is not None and record.state == "ready"


def test_a_dry_run_answers_as_the_real_one_would_and_removes_nothing(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"b.py": "b\n"})
    assert refused(repo, "--dry-run") == ["unmerged"]
    land(repo, "agent/a")
    answer = repo.json("retire", "a", "-n")
    assert answer["code"] == 0 and not answer["data"]["worktrees"][0]["removed"]
    assert tree.path.exists() and os.path.exists(tree.path / ".git")


def test_an_ignored_file_that_came_from_where_we_are_does_not_keep_it(repo: Repo) -> None:
    here = repo.worktree("here")
    here.write(".env", "secret\n")
    house(repo).write(".env", "secret\n")
    here.lock("retire", "a").ok()


def test_whoever_held_a_lease_there_hears_that_it_ended(repo: Repo) -> None:
    house(repo).lock("claim", "a.py", agent=None).ok()
    repo.lock("retire", "a", "--force", agent="boss").ok()
    said = repo.lock("mine", agent="a").ended(13)
    assert "was released by boss" in said.out + said.err
    assert "was retired" in said.out + said.err


def test_a_file_that_is_made_after_it_was_looked_at_gets_its_worktree_back(repo: Repo, tmp_path: Path) -> None:
    tree = house(repo)
    env = meddling(tmp_path / "bin", "ls-files -v", f"echo late >{tree.path}/late.py", times=2)
    answer = repo.json("retire", "a", env=env)
    assert (answer["code"], answer["error"]["id"]) == (17, "changed")
    assert tree.read("late.py") == "late\n"


def test_a_file_that_is_changed_again_after_it_was_saved_gets_its_worktree_back(repo: Repo, tmp_path: Path) -> None:
    tree = house(repo)
    tree.write("a.py", "2\n")
    env = meddling(tmp_path / "bin", "update-ref refs/gitlock/", f"echo later >{tree.path}/a.py")
    answer = repo.json("retire", "a", "--force", env=env)
    assert (answer["code"], answer["error"]["id"]) == (17, "changed")
    assert tree.read("a.py") == "later\n"


def test_what_a_detached_head_was_on_before_another_branch_was_rebased_is_not_replaced(repo: Repo) -> None:
    tree = house(repo)
    tree.git("switch", "--quiet", "-c", "topic")
    tree.commit("topic", {"t.py": "t\n"})
    tree.git("switch", "--quiet", "--detach", "main")
    tree.commit("on its own", {"b.py": "b\n"})
    repo.commit("main goes on", {"m.py": "m\n"})
    tree.git("rebase", "--quiet", "main", "topic")
    land(repo, "topic")
    assert refused(repo) == ["lost-commits"]


def test_a_commit_that_only_a_tag_of_a_submodule_has_keeps_it(repo: Repo, with_submodule: Repo) -> None:
    module = Repo(with_submodule.path / "sub")
    module.git("switch", "--quiet", "--detach")
    module.commit("mine", {"n.py": "n\n"})
    module.git("tag", "mine")
    with_submodule.git("submodule", "--quiet", "update", "--force")
    assert "submodule" in refused(repo, "--force")


def test_commits_of_a_submodule_that_was_taken_out_keep_it(repo: Repo, with_submodule: Repo) -> None:
    module = Repo(with_submodule.path / "sub")
    module.commit("mine", {"n.py": "n\n"})
    with_submodule.git("submodule", "--quiet", "deinit", "--force", "sub")
    assert "submodule" in refused(repo, "--force")


def test_an_ignored_file_in_a_folder_of_its_own_is_named_once(repo: Repo) -> None:
    house(repo).write("data/x.sqlite", "x\n")
    one = repo.json("retire", "a", agent="boss")["data"]["worktrees"][0]
    assert one["refusals"][0]["what"].startswith("1 ignored file ")
