"""Cherry-pick and revert: pre-commit never sees them, the second net refuses them, and says what takes them back."""

from pathlib import Path

import pytest

from tests.kit.gate import HELD, OWN, guarded, history, next_command, typed
from tests.kit.repo import Repo
from tests.kit.shapes import SHAPES, is_clean, traces

ON_THE_SIDE = "src/auth/side.py"  # alice's as well


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return told(guarded(tmp_path).here)


def told(repo: Repo) -> Repo:
    """``side`` has three commits: alice's, bob's, alice's; the branch here has two of alice's, of which one is old."""
    here = repo.git("symbolic-ref", "--short", "HEAD").out.strip()
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("side one", {ON_THE_SIDE: "1\n"}, agent="alice")
    repo.commit("side two", {OWN: "two\ntwo\nthree\n"}, agent="bob")
    repo.commit("side three", {ON_THE_SIDE: "3\n"}, agent="alice")
    repo.git("checkout", "--quiet", here)
    repo.commit("here one", {HELD: "ONE\ntwo\nthree\n"}, agent="alice")
    repo.commit("here two", {HELD: "ONE\ntwo\nTHREE\n"}, agent="alice")
    return repo


REFUSED = {
    "cherry-pick": (("cherry-pick", "side~2"), "git cherry-pick --abort"),
    "cherry-pick -x": (("cherry-pick", "-x", "side~2"), "git cherry-pick --abort"),
    "cherry-pick -e": (("cherry-pick", "-e", "side~2"), "git cherry-pick --abort"),
    "cherry-pick of several": (("cherry-pick", "side~1", "side~2"), "git cherry-pick --abort"),
    "revert": (("revert", "--no-edit", "HEAD"), "git reset --merge"),
    "revert -e": (("revert", "-e", "HEAD"), "git reset --merge"),
    "revert of several": (("revert", "--no-edit", "HEAD", "HEAD~1"), "git revert --abort"),
}


@pytest.mark.parametrize("shape", ["a linked worktree", "a submodule", "--git-dir --work-tree"])
@pytest.mark.parametrize("what", ["cherry-pick", "revert"])
def test_the_escape_works_in_every_shape_of_repository(what: str, shape: str, tmp_path: Path) -> None:
    repo = told(guarded(tmp_path, SHAPES[shape]).here)
    assert_taken_back(repo, what)


@pytest.mark.parametrize("what", REFUSED)
def test_a_change_of_a_held_file_is_refused_and_what_is_offered_takes_it_back(what: str, repo: Repo) -> None:
    assert_taken_back(repo, what)


def assert_taken_back(repo: Repo, what: str) -> None:
    command, escape = REFUSED[what]
    before = traces(repo)
    refused = repo.git(*command, agent="bob", check=False).ended(1 if "-e" in command else 128).err
    assert f"git-lock: {command[0]} refused: 1 path is held by another (you are bob)" in refused
    offered = next_command(refused, f"git {escape.split()[1]} --")
    assert offered == escape and refused.count("git-lock:") == 1
    repo.git(*offered.split()[1:])
    assert traces(repo)["status"] == before["status"] and traces(repo)["index"] == before["index"] and is_clean(repo)


@pytest.mark.parametrize("what", REFUSED)
def test_the_holder_may(what: str, repo: Repo) -> None:
    command, _ = REFUSED[what]
    repo.lock("claim", OWN, agent="alice")
    repo.lock("release", OWN, agent="bob").ok()
    repo.lock("claim", OWN, agent="alice").ok()
    assert "git-lock" not in repo.git(*command, agent="alice").err and is_clean(repo)


GO_ON = {
    "cherry-pick": "git cherry-pick --continue",
    "cherry-pick of several": "git cherry-pick --continue",
    "revert": "git commit --no-edit",
    "revert of several": "git commit --no-edit",
}
THEN = "git revert --continue"  # what is left of several reverts


@pytest.mark.parametrize("what", GO_ON)
def test_once_the_file_is_free_and_claimed_it_goes_on(what: str, repo: Repo) -> None:
    command, _ = REFUSED[what]
    refused = repo.git(*command, agent="bob", check=False).err
    assert f"GITLOCK_BYPASS='why' {GO_ON[what]}" in refused and (THEN in refused) == (what == "revert of several")
    repo.lock("release", "--all", agent="alice").ok()
    repo.lock("claim", "src/**", agent="bob").ok()
    repo.git(*GO_ON[what].split()[1:], agent="bob")
    if THEN in refused:
        repo.git(*THEN.split()[1:], agent="bob")
    assert is_clean(repo) and repo.git("log", "--oneline", "-1", "--format=%s").out != "here two\n"


@pytest.mark.parametrize("what", GO_ON)
def test_the_way_past_the_gate_is_the_one_that_is_named(what: str, repo: Repo) -> None:
    command, _ = REFUSED[what]
    before = repo.head
    refused = repo.git(*command, agent="bob", check=False).err
    done = typed(repo, next_command(refused, "GITLOCK_BYPASS=").partition(" (")[0]).ok()
    assert f"the {command[0]} goes on (GITLOCK_BYPASS: why)" in done.err and repo.head != before
    if THEN in refused:
        typed(repo, f"GITLOCK_BYPASS=why {THEN}").ok()
    assert is_clean(repo)
    assert {event["agent"] for event in history(repo, "bypass")} == {"bob"}


def test_a_pick_of_one_s_own_changes_passes_in_silence(repo: Repo) -> None:
    done = repo.git("cherry-pick", "side~1", agent="bob", check=False)
    assert "git-lock" not in done.ok().err and is_clean(repo)


def test_a_pick_that_is_refused_after_one_that_passed_takes_both_back(repo: Repo) -> None:
    before = repo.head
    refused = repo.git("cherry-pick", "side~1", "side~2", agent="bob", check=False).ended(128).err
    assert refused.count("refused: 1 path") == 1 and repo.head != before
    typed(repo, next_command(refused, "git cherry-pick --abort")).ok()
    assert repo.head == before and is_clean(repo)


@pytest.mark.parametrize("ending", ["cherry-pick --continue", "commit --no-edit", "commit -n -mx"])
def test_a_conflict_of_a_pick_is_judged_when_it_is_settled(ending: str, repo: Repo) -> None:
    _pick_in_conflict(repo, "cherry-pick", "clash")
    refused = repo.git(*ending.split(), agent="bob", check=False).ended(1).err
    assert "cherry-pick refused: 1 path is held by another" in refused and "--no-verify" not in refused
    typed(repo, next_command(refused, "git cherry-pick --abort")).ok()
    assert is_clean(repo)


@pytest.mark.parametrize("ending", [("revert", "--continue"), ("commit", "--no-edit")])
def test_a_conflict_of_a_revert_is_judged_when_it_is_settled(ending: tuple[str, ...], repo: Repo) -> None:
    repo.commit("here three", {HELD: "one again\ntwo\nTHREE\n"}, agent="alice")
    _pick_in_conflict(repo, "revert", "HEAD~2")
    refused = repo.git(*ending, agent="bob", check=False).ended(1).err
    typed(repo, next_command(refused, "git revert --abort")).ok()
    assert is_clean(repo)


def _pick_in_conflict(repo: Repo, verb: str, what: str) -> None:
    repo.git("branch", "clash", "HEAD~2")
    if verb == "cherry-pick":
        here = repo.git("symbolic-ref", "--short", "HEAD").out.strip()
        repo.git("checkout", "--quiet", "clash")
        repo.commit("clash", {HELD: "clash\ntwo\nthree\n"}, agent="alice")
        repo.git("checkout", "--quiet", here)
    repo.git(verb, what, agent="bob", check=False).ended(1)
    repo.write(HELD, "settled\ntwo\nTHREE\n")
    repo.git("add", HELD)


@pytest.mark.parametrize("verb", ["cherry-pick", "revert"])
def test_a_pick_without_a_commit_is_judged_at_its_commit(verb: str, repo: Repo) -> None:
    before = traces(repo)
    repo.git(verb, "-n", "side~2" if verb == "cherry-pick" else "HEAD", agent="bob")
    refused = repo.commit("x", agent="bob", check=False).ended(1).err
    assert "1 path is held by another" in refused
    repo.git("reset", "--quiet", "--merge")
    assert traces(repo)["status"] == before["status"] and is_clean(repo)


def test_a_pick_that_fast_forwards_makes_no_commit_and_asks_nobody(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "behind", "HEAD~1")
    assert repo.git("cherry-pick", "--ff", "main", agent="bob").err == "" and is_clean(repo)


@pytest.mark.parametrize("verify", ["always", "respect"])
def test_respect_for_no_verify_is_no_permission_for_a_pick(verify: str, tmp_path: Path) -> None:
    repo = told(guarded(tmp_path, policy=f'[policy]\nverify = "{verify}"').here)
    assert_taken_back(repo, "cherry-pick")


def test_unstaged_edits_of_other_files_survive_the_escape(repo: Repo) -> None:
    repo.write(OWN, "in the middle of something\n")
    refused = repo.git("revert", "--no-edit", "HEAD", agent="bob", check=False).ended(128).err
    typed(repo, next_command(refused, "git reset --merge")).ok()
    assert repo.read(OWN) == "in the middle of something\n"
    assert repo.git("status", "--porcelain").lines == [f" M {OWN}"]
