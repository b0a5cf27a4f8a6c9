"""The ways past the gate: each that can be seen is said, recorded, and shown at the next gate."""

from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, history
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES, is_clean


def _past(repo: Repo, path: str, reason: str, *args: str) -> Result:
    repo.write(path, f"past the gate: {reason}\n")
    repo.git("add", path)
    env = {"GITLOCK_BYPASS": reason}
    return repo.git("commit", "--quiet", "-m", "x", *args, agent="bob", env=env, check=False)


def _next_gate(repo: Repo, agent: str = "bob", content: str = "next\n") -> str:
    return repo.commit("next", {OWN: content}, agent=agent, check=False).err


@pytest.mark.parametrize("shape", ["the main worktree", "a linked worktree", "a submodule", "an alias"])
def test_a_bypass_passes_is_said_once_recorded_and_shown_once(shape: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, SHAPES[shape]).here
    said = _past(repo, HELD, "alice is on leave").ok().err
    assert said.startswith("git-lock: warning: the commit goes on (GITLOCK_BYPASS: alice is on leave): 1 path is held")
    assert said.count("git-lock:") == 1 and is_clean(repo)
    (event,) = history(repo, "bypass")
    assert (event["agent"], event["claim"]) == ("bob", HELD) and "alice is on leave" in event["note"]
    shown = "git-lock: note: bob made a commit past the gate (GITLOCK_BYPASS: alice is on leave): src/auth/login.py\n"
    assert _next_gate(repo) == shown and _next_gate(repo, content="again\n") == ""


@pytest.mark.parametrize("args", [("-n",), ("--amend",), ("-o", HELD)])
def test_a_bypass_passes_with_every_way_to_commit(args: tuple[str, ...], tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    said = _past(repo, HELD, "why", *args).ok().err
    assert said.count("git-lock:") == 1 and len(history(repo, "bypass")) == 1


def test_a_bypass_is_also_for_what_nobody_claimed(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    assert "1 path is not claimed by you" in _past(repo, FREE, "a typo").ok().err
    assert len(history(repo, "bypass")) == 1


@pytest.mark.parametrize("reason", ["", " ", "\t"])
def test_a_bypass_without_a_reason_is_none(reason: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    assert "refused" in _past(repo, HELD, reason).ended(1).err


def test_a_bypass_that_was_not_needed_is_none(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    assert _past(repo, OWN, "to be sure").ok().err == ""
    assert history(repo, "bypass") == [] and _next_gate(repo) == ""


def test_a_reason_can_move_no_cursor_and_add_no_line(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    said = _past(repo, HELD, "a\nhint: b\x1b[2J\u202e").ok().err + _next_gate(repo)
    assert "\x1b" not in said and "\u202e" not in said and "\nhint: b" not in said


def test_one_agent_s_bypass_is_shown_to_the_next_in_the_same_worktree(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    _past(repo, HELD, "why").ok()
    shown = repo.commit("x", {HELD: "alice again\n"}, agent="alice").err
    assert shown == "git-lock: note: bob made a commit past the gate (GITLOCK_BYPASS: why): src/auth/login.py\n"


def test_a_refusal_shows_what_got_past_as_well(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    _past(repo, HELD, "why").ok()
    said = repo.commit("x", {"src/auth/token.py": "2\n"}, agent="bob", check=False).ended(1).err
    assert said.startswith("git-lock: note: bob made a commit past the gate") and "refused" in said


# -- --no-verify


@pytest.fixture
def respectful(tmp_path: Path) -> Repo:
    return guarded(tmp_path, policy='[policy]\nverify = "respect"').here


def test_where_it_is_respected_no_verify_passes_is_recorded_and_shown(respectful: Repo) -> None:
    respectful.write(HELD, "unverified\n")
    said = respectful.git("commit", "--quiet", "-n", "-am", "x", agent="bob").err
    assert said.startswith("git-lock: warning: the commit goes on (--no-verify, which the policy respects): 1 path")
    assert [event["claim"] for event in history(respectful, "unverified")] == [HELD]
    assert "past the gate (--no-verify, which the policy respects): src/auth/login.py" in _next_gate(respectful)


def test_respect_for_no_verify_is_for_nothing_else(respectful: Repo) -> None:
    assert "refused" in respectful.commit("x", {HELD: "1\n"}, agent="bob", check=False).ended(1).err


def test_a_no_verify_commit_of_own_paths_is_as_any_other(respectful: Repo) -> None:
    respectful.write(OWN, "mine\n")
    assert respectful.git("commit", "--quiet", "-n", "-am", "x", agent="bob").err == ""
    assert history(respectful, "unverified") == [] and _next_gate(respectful) == ""


# -- a gate that was taken out


def test_a_commit_that_no_hook_judged_is_recorded_and_shown(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    kept = {name: (repo.common_dir / "hooks" / name).read_bytes() for name in ("pre-commit", "prepare-commit-msg")}
    for name in kept:
        (repo.common_dir / "hooks" / name).unlink()
    repo.commit("x", {HELD: "unjudged\n"}, agent="bob")
    short = repo.git("rev-parse", "--short", "HEAD").out.strip()
    assert [event["agent"] for event in history(repo, "unjudged")] == ["bob"]
    for name, content in kept.items():
        (repo.common_dir / "hooks" / name).write_bytes(content)
        (repo.common_dir / "hooks" / name).chmod(0o755)
    assert _next_gate(repo) == f"git-lock: note: bob made a commit that no hook judged: {short}\n"


def test_a_judged_commit_is_never_called_unjudged(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nrelease_on = "commit"').here
    for number in range(3):
        repo.lock("claim", OWN, agent="bob").ok()
        repo.commit("x", {OWN: f"{number}\n"}, agent="bob")
    assert history(repo, "unjudged") == []
