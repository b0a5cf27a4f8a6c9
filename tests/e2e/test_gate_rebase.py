"""Rebase, am, stash, bisect: commits that were judged when they were made are not stopped when they are made again."""

from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, history, typed
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES, is_clean, traces


def _forked(repo: Repo) -> Repo:
    """Bob's branch has two commits of files that alice has claimed since; main has gone on."""
    repo.lock("release", "--all", agent="alice").ok()
    repo.lock("claim", "src/auth/*", agent="bob").ok()
    here = repo.git("symbolic-ref", "--short", "HEAD").out.strip()
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("one", {HELD: "ONE\ntwo\nthree\n"}, agent="bob")
    repo.commit("two", {"src/auth/token.py": "TOKEN\n"}, agent="bob")
    repo.git("checkout", "--quiet", here)
    repo.commit("goes on", {OWN: "ONE\ntwo\nthree\n"}, agent="bob")
    repo.git("branch", "base")
    repo.git("checkout", "--quiet", "topic")
    repo.lock("release", "src/auth/*", agent="bob").ok()
    repo.lock("claim", "src/auth/*", agent="alice").ok()
    return repo


def _rebase(repo: Repo, *args: str, todo: str | None = None) -> Result:
    env = {"GIT_EDITOR": "true"}
    if todo is not None:
        env["GIT_SEQUENCE_EDITOR"] = f"sed -i {todo}"
    return repo.git("rebase", *args, agent="bob", check=False, env=env)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return _forked(guarded(tmp_path).here)


@pytest.mark.parametrize("shape", ["the main worktree", "a linked worktree", "a submodule"])
def test_a_rebase_warns_at_each_pick_records_it_and_goes_on(shape: str, tmp_path: Path) -> None:
    repo = _forked(guarded(tmp_path, SHAPES[shape]).here)
    done = _rebase(repo, "base").ok()
    assert done.err.count("git-lock: warning: the rebase goes on") == 2
    assert f"'{HELD}' is held by alice" in done.err and "hint:" not in done.err.replace("hint: Waiting", "")
    assert [event["claim"] for event in history(repo, "replay")] == [HELD, "src/auth/token.py"]
    assert repo.git("log", "--format=%s", "base..").lines == ["two", "one"] and is_clean(repo)


def test_a_rebase_of_own_commits_is_silent(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("mine", {OWN: "ONE\ntwo\nthree\n"}, agent="bob")
    repo.git("checkout", "--quiet", "-b", "base", "HEAD~1")
    repo.commit("alice's", {HELD: "ONE\n"}, agent="alice")
    repo.git("checkout", "--quiet", "topic")
    assert "git-lock" not in _rebase(repo, "base").ok().err and is_clean(repo)


@pytest.mark.parametrize(
    ("todo", "subjects"),
    [
        ("s/^pick/reword/", ["two", "one"]),
        ("2s/^pick/squash/", ["one"]),
        ("2s/^pick/fixup/", ["one"]),
        ("'1{h;d};2{G}'", ["one", "two"]),
        ("'1d'", ["two"]),
    ],
)
def test_no_step_of_an_interactive_rebase_is_stopped(todo: str, subjects: list[str], repo: Repo) -> None:
    done = _rebase(repo, "-i", "base", todo=todo).ok()
    assert "warning: the rebase goes on" in done.err and is_clean(repo)
    assert repo.git("log", "--format=%s", "base..").lines == subjects


def test_a_conflict_of_a_rebase_goes_on_with_a_warning(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "base")
    repo.commit("alice's", {HELD: "alice\ntwo\nthree\n"}, agent="alice")
    repo.git("checkout", "--quiet", "topic")
    _rebase(repo, "base").ended(1)
    repo.write(HELD, "settled\ntwo\nthree\n")
    repo.git("add", HELD)
    done = _rebase(repo, "--continue").ok()
    assert "warning: the rebase goes on" in done.err and is_clean(repo)


@pytest.mark.parametrize("how", [("commit", "-m", "by hand"), ("commit", "--no-edit")])
def test_a_conflict_of_a_rebase_may_be_committed_by_hand(how: tuple[str, ...], repo: Repo) -> None:
    repo.git("checkout", "--quiet", "base")
    repo.commit("alice's", {HELD: "alice\ntwo\nthree\n"}, agent="alice")
    repo.git("checkout", "--quiet", "topic")
    _rebase(repo, "base").ended(1)
    repo.write(HELD, "settled\ntwo\nthree\n")
    repo.git("add", HELD)
    done = repo.git(*how, agent="bob")
    assert done.err.count("warning: the rebase goes on") == 1
    _rebase(repo, "--continue").ok()
    assert is_clean(repo)


@pytest.mark.parametrize("how", [("--amend", "--no-edit"), ("-m", "in between")])
def test_an_edit_during_a_rebase_goes_on_with_a_warning_and_is_recorded(how: tuple[str, ...], repo: Repo) -> None:
    _rebase(repo, "-i", "base", todo="1s/^pick/edit/").ok()
    repo.write(HELD, "edited\n")
    done = repo.git("commit", "--quiet", "-a", *how, agent="bob")
    assert done.err.count("git-lock: warning: the rebase goes on") == 1 and f"'{HELD}' is held by alice" in done.err
    _rebase(repo, "--continue").ok()
    assert is_clean(repo) and len(history(repo, "replay")) == 3


def test_a_rebase_that_makes_a_merge_again_speaks_of_no_merged_in_file(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("alice's", {HELD: "ONE\ntwo\nthree\n"}, agent="alice")
    repo.git("checkout", "--quiet", "topic")
    repo.commit("mine", {OWN: "ONE\ntwo\nthree\n"}, agent="bob")
    repo.git("merge", "--quiet", "--no-edit", "side", agent="bob")
    repo.git("checkout", "--quiet", "-b", "base", "main")
    repo.lock("claim", FREE, agent="carol").ok()
    repo.commit("goes on", {FREE: "more\n"}, agent="carol")
    repo.git("checkout", "--quiet", "topic")
    done = _rebase(repo, "-r", "base").ok()
    assert f"'{OWN}'" not in done.err and done.err.count(f"'{HELD}'") == 1 and is_clean(repo)


def test_a_rebase_that_applies_patches_asks_nobody(repo: Repo) -> None:
    assert "git-lock" not in _rebase(repo, "--apply", "base").ok().err
    assert repo.git("log", "--format=%s", "base..").lines == ["two", "one"] and is_clean(repo)


def test_a_conflict_of_a_rebase_that_applies_patches_goes_on(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "base")
    repo.commit("alice's", {HELD: "alice\ntwo\nthree\n"}, agent="alice")
    repo.git("checkout", "--quiet", "topic")
    _rebase(repo, "--apply", "base").ended(1)
    repo.write(HELD, "settled\ntwo\nthree\n")
    repo.git("add", HELD)
    _rebase(repo, "--continue").ok()
    assert is_clean(repo)


def test_a_mailed_patch_is_applied_and_asks_nobody(repo: Repo) -> None:
    patch = repo.git("format-patch", "-1", "--stdout", "topic~1").out
    repo.git("checkout", "--quiet", "base")
    done = repo.git("am", "--quiet", agent="bob", input=patch)
    assert "git-lock" not in done.err and repo.git("log", "-1", "--format=%s").out == "one\n" and is_clean(repo)


def test_a_mailed_patch_that_is_settled_by_hand_goes_on_with_a_warning(repo: Repo) -> None:
    patch = repo.git("format-patch", "-1", "--stdout", "topic~1").out
    repo.git("checkout", "--quiet", "base")
    repo.commit("alice's", {HELD: "alice\ntwo\nthree\n"}, agent="alice")
    repo.git("am", "--quiet", "-3", agent="bob", input=patch, check=False).ended(128)
    repo.write(HELD, "settled\ntwo\nthree\n")
    repo.git("add", HELD)
    done = repo.git("commit", "--quiet", "-m", "by hand", agent="bob")
    assert done.err.count("git-lock: warning: the am goes on") == 1
    repo.git("am", "--skip", agent="bob")
    assert is_clean(repo)


def test_a_stash_asks_nobody_and_its_content_is_judged_at_the_commit(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, "stashed\n")
    assert "git-lock" not in repo.git("stash", "push", "--quiet", agent="bob").err and is_clean(repo)
    assert "git-lock" not in repo.git("stash", "pop", "--quiet", agent="bob").err
    before = traces(repo)
    assert f"'{HELD}'" in repo.git("commit", "-am", "x", agent="bob", check=False).ended(1).err
    assert traces(repo) == before


def test_a_stash_that_is_popped_into_a_conflict_is_judged_at_the_commit(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, "stashed\n")
    repo.git("stash", "push", "--quiet", agent="bob")
    repo.commit("alice's", {HELD: "alice\n"}, agent="alice")
    repo.git("stash", "pop", agent="bob", check=False).ended(1)
    repo.write(HELD, "settled\n")
    repo.git("add", HELD)
    assert "commit refused: 1 path is held by another" in repo.commit("x", agent="bob", check=False).ended(1).err


def test_a_bisection_makes_no_difference(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    for number in range(3):
        repo.commit("x", {OWN: f"{number}\n"}, agent="bob")
    repo.git("bisect", "start", "HEAD", "HEAD~2")
    refused = repo.commit("x", {HELD: "2\n"}, agent="bob", check=False).ended(1).err
    assert "commit refused" in refused
    assert typed(repo, "git bisect reset -q HEAD || git bisect reset").code in (0, 1)
