"""Merges: what git brings or merges by itself is nobody's change; what a person adds to it is."""

from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, history, next_command, typed
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES, is_clean, traces

PLAIN = {"GIT_MERGE_AUTOEDIT": "no"}


def _as_alice(repo: Repo, branch: str, files: dict[str, str | bytes], start: str = "HEAD") -> None:
    """A branch on which alice has committed this."""
    here = repo.git("symbolic-ref", "--short", "HEAD").out.strip()
    repo.git("checkout", "--quiet", "-b", branch, start)
    repo.commit(f"alice on {branch}", files, agent="alice")
    repo.git("checkout", "--quiet", here)


def _apart(repo: Repo) -> Repo:
    """Alice's branch changes a file that she holds, bob's one of his: git merges that by itself."""
    _as_alice(repo, "side", {HELD: "ONE\ntwo\nthree\n"})
    repo.commit("bob here", {OWN: "ONE\ntwo\nthree\n"}, agent="bob")
    return repo


def _in_conflict(repo: Repo) -> Repo:
    """A file that alice holds was changed on both sides."""
    _as_alice(repo, "side", {HELD: "side\ntwo\nthree\n", "src/auth/token.py": "side\n"})
    repo.commit("alice here", {HELD: "here\ntwo\nthree\n"}, agent="alice")
    return repo


def _merge(repo: Repo, *args: str, agent: str = "bob") -> Result:
    return repo.git("merge", "--quiet", *args, agent=agent, check=False, env=PLAIN)


def _settled(repo: Repo) -> Repo:
    """The conflict is there, and was settled by hand."""
    _merge(_in_conflict(repo), "side").ended(1)
    repo.write(HELD, "settled\ntwo\nthree\n")
    repo.git("add", HELD)
    return repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return guarded(tmp_path).here


@pytest.mark.parametrize("shape", ["the main worktree", "a linked worktree", "a submodule", "--git-dir --work-tree"])
def test_a_clean_merge_passes_in_silence_though_it_brings_what_another_holds(shape: str, tmp_path: Path) -> None:
    repo = _apart(guarded(tmp_path, SHAPES[shape]).here)
    done = _merge(repo, "side").ok()
    assert done.err == "" and repo.git("rev-parse", "HEAD^2").out == repo.git("rev-parse", "side").out
    assert is_clean(repo)


@pytest.mark.parametrize("options", [("--no-ff",), ("--no-verify",), ("-m", "words"), ("-s", "ours"), ("-X", "theirs")])
def test_a_clean_merge_passes_however_it_is_asked_for(options: tuple[str, ...], repo: Repo) -> None:
    assert _merge(_apart(repo), *options, "side").ok().err == ""
    assert is_clean(repo)


def test_a_fast_forward_makes_no_commit_and_asks_nobody(repo: Repo) -> None:
    _as_alice(repo, "side", {HELD: "ONE\n"})
    assert _merge(repo, "side").ok().err == ""


def test_a_pull_that_merges_passes(tmp_path: Path) -> None:
    origin = guarded(tmp_path).here
    clone = origin.clone()
    clone.install()
    clone.lock("claim", "src/auth/*", agent="alice").ok()
    clone.lock("claim", OWN, agent="bob").ok()
    origin.commit("alice there", {HELD: "ONE\n"}, agent="alice")
    clone.commit("bob here", {OWN: "ONE\n"}, agent="bob")
    assert "git-lock" not in clone.git("pull", "--no-rebase", "--quiet", agent="bob", env=PLAIN).err
    assert is_clean(clone)


def test_an_edit_of_a_held_file_in_a_merge_is_refused_and_what_is_offered_takes_it_back(repo: Repo) -> None:
    before = traces(_apart(repo))
    _merge(repo, "--no-commit", "side").ok()
    repo.write(HELD, "EDITED\ntwo\nthree\n")
    repo.git("add", HELD)
    refused = repo.commit("x", agent="bob", check=False).ended(1).err
    assert f"merge refused: 1 path is held by another (you are bob)\n  '{HELD}' is held by alice" in refused
    typed(repo, next_command(refused, "git merge --abort")).ok()
    assert traces(repo) == before and is_clean(repo)


def test_an_edit_of_an_own_file_in_a_merge_passes(repo: Repo) -> None:
    _merge(_apart(repo), "--no-commit", "side").ok()
    repo.write(OWN, "edited as well\n")
    repo.git("add", OWN)
    assert repo.commit("x", agent="bob").ok().err == "" and is_clean(repo)


def test_an_edit_of_an_unclaimed_file_in_a_merge_is_refused(repo: Repo) -> None:
    _merge(_apart(repo), "--no-commit", "side").ok()
    repo.write(FREE, "edited as well\n")
    repo.git("add", FREE)
    refused = repo.commit("x", agent="bob", check=False).ended(1).err
    typed(repo, next_command(refused)).ok()
    assert repo.commit("x", agent="bob").ok().err == "" and is_clean(repo)


ENDINGS = {
    "merge --continue": ("merge", "--continue"),
    "commit --no-edit": ("commit", "--no-edit"),
    "commit -m": ("commit", "-m", "settled"),
    "commit -a -m": ("commit", "-a", "-m", "settled"),
    "commit -n": ("commit", "-n", "-m", "settled"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_conflict_in_a_held_file_is_not_another_s_to_settle(ending: str, repo: Repo) -> None:
    _settled(repo)
    before = traces(repo)
    refused = repo.git(*ENDINGS[ending], agent="bob", check=False).ended(1)
    assert f"merge refused: 1 path is held by another (you are bob)\n  '{HELD}' is held by alice" in refused.err
    assert refused.err.count("refused") == 1 and ("--no-verify" in refused.err) == (ending == "commit -n")
    assert traces(repo) == before
    typed(repo, next_command(refused.err, "git merge --abort")).ok()
    assert is_clean(repo)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_holder_settles_a_conflict(ending: str, repo: Repo) -> None:
    _settled(repo)
    assert "git-lock" not in repo.git(*ENDINGS[ending], agent="alice").err and is_clean(repo)


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_taking_one_side_of_a_conflict_changes_nothing_of_one_s_own(side: str, repo: Repo) -> None:
    _merge(_in_conflict(repo), "side").ended(1)
    repo.git("checkout", side, HELD)
    repo.git("add", HELD)
    assert repo.commit("x", agent="bob").ok().err == "" and is_clean(repo)


def test_a_merge_can_go_on_past_the_gate_as_its_message_says(repo: Repo) -> None:
    refused = _settled(repo).git("commit", "--no-edit", agent="bob", check=False).ended(1).err
    done = typed(repo, next_command(refused, "GITLOCK_BYPASS=")).ok()
    assert done.err.count("the merge goes on (GITLOCK_BYPASS: why)") == 1 and is_clean(repo)
    assert [event["agent"] for event in history(repo, "bypass")] == ["bob"]


def test_a_conflict_that_an_option_settled_is_a_change_and_can_be_taken_back(repo: Repo) -> None:
    lines = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    repo.commit("long", {HELD: lines}, agent="alice")
    _as_alice(repo, "side", {HELD: lines.replace("0", "side")})
    repo.commit("here", {HELD: lines.replace("0", "here").replace("9", "here")}, agent="alice")
    before = traces(repo)
    refused = _merge(repo, "-X", "theirs", "side").ended(1).err
    assert "merge refused: 1 path is held by another" in refused
    typed(repo, next_command(refused, "git merge --abort")).ok()
    assert traces(repo) == before and is_clean(repo)


def test_an_octopus_passes(repo: Repo) -> None:
    _as_alice(repo, "one", {HELD: "ONE\n"})
    _as_alice(repo, "two", {"src/auth/token.py": "ONE\n"})
    repo.commit("bob here", {OWN: "ONE\n"}, agent="bob")
    assert "git-lock" not in _merge(repo, "one", "two").ok().err
    assert is_clean(repo) and len(repo.git("rev-list", "--parents", "-1", "HEAD").out.split()) == 4


def test_an_edit_in_an_octopus_is_a_warning_and_is_recorded(repo: Repo) -> None:
    _as_alice(repo, "one", {HELD: "ONE\n"})
    _as_alice(repo, "two", {"src/auth/token.py": "ONE\n"})
    repo.commit("bob here", {OWN: "ONE\n"}, agent="bob")
    _merge(repo, "--no-commit", "one", "two").ok()
    repo.write(HELD, "EDITED\n")
    repo.git("add", HELD)
    done = repo.commit("x", agent="bob").ok()
    assert done.err.count("warning: the merge goes on") == 1 and f"'{HELD}' is held by alice" in done.err
    assert [event["claim"] for event in history(repo, "inexact")] == [HELD] and is_clean(repo)


def test_a_squashed_merge_is_its_committer_s_own_work(repo: Repo) -> None:
    _merge(_apart(repo), "--squash", "side").ok()
    staged = traces(repo)
    refused = repo.commit("x", agent="bob", check=False).ended(1).err
    assert f"commit refused: 1 path is held by another (you are bob)\n  '{HELD}' is held by alice" in refused
    assert traces(repo) == staged
    repo.git("reset", "--quiet", "--merge")
    assert is_clean(repo)
    _merge(repo, "--squash", "side").ok()
    assert repo.commit("x", agent="alice").ok().err == "" and is_clean(repo)


def test_a_merge_commit_is_judged_once(tmp_path: Path) -> None:
    repo = _settled(guarded(tmp_path, policy='[policy]\nmode = "warn"').here)
    said = repo.git("commit", "--no-edit", agent="bob").ok().err
    assert said.count("git-lock:") == 1 and "warning: the merge goes on (mode warn)" in said
