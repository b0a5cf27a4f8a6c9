"""Is a session really guarded? What the hooks of its program were seen to do, and what a commit says where none was."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

SESSION = "5b0cf1e2-0001-4000-8000-000000000001"
SHELL: Mapping[str, str | None] = {"CLAUDE_CODE_SESSION_ID": SESSION}  # of Claude Code, as its commands see it
NAME = "claude-5b0cf1e2"
NOTICE = "so edits are not stopped before they happen"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.install()
    repo.lock("claim", "src/b.py", agent="bob").ok()
    return repo


@pytest.fixture
def claude(repo: Repo) -> Program:
    return Program("claude", repo, SESSION)


def guard(repo: Repo) -> str | None:
    """The guard of the session, which `agents` and the overview agree on."""
    agents, overview = repo.json("agents", agent=None), repo.json("overview", agent=None)
    assert_fits("agents", agents)
    assert_fits("overview", overview)
    (one,) = [row["guard"] for row in agents["data"]["agents"] if row["agent"] == NAME]
    assert [row["guard"] for row in overview["data"]["guards"] if row["agent"] == NAME] == [one]
    found: str | None = one
    return found


def committed(repo: Repo, content: str, env: Mapping[str, str | None] = SHELL) -> str:
    """What a commit says, in a shell of the program."""
    repo.write("src/a.py", content)
    repo.lock("claim", "src/a.py", agent=None, env=env)
    return repo.git("commit", "-am", "a change", env=env).err


def age(repo: Repo, seconds: float) -> None:
    """The session's last hook was seen that much earlier."""
    (path,) = (repo.store / "sessions").glob(f"{NAME}-*.json")
    record = json.loads(path.read_bytes())
    record["hook_at"] -= seconds
    path.write_text(json.dumps(record, separators=(",", ":")))


def test_a_session_without_an_edit_has_no_guard_yet(repo: Repo, claude: Program) -> None:
    claude.tells("start")
    assert guard(repo) is None


def test_what_hooks_were_seen_before_is_what_is_guarded(repo: Repo, claude: Program) -> None:
    claude.does("src/a.py", "2\n")
    assert guard(repo) == "edit"
    claude.runs("ls")
    assert guard(repo) == "edit+shell"


def test_a_refusal_that_is_heeded_breaks_nothing(repo: Repo, claude: Program) -> None:
    assert not claude.edits("src/b.py").may_run
    assert guard(repo) == "edit"


@pytest.mark.parametrize("call", ["", "another"], ids=["the same call", "another call, the same path"])
def test_a_refused_edit_that_happened_is_a_broken_guard(repo: Repo, claude: Program, call: str) -> None:
    assert not claude.edits("src/b.py").may_run
    assert "does not heed its hooks" in claude.edited("src/b.py", call=call).context
    assert guard(repo) == "broken"
    assert [one["path"] for one in unheeded(repo)] == ["src/b.py"]


def unheeded(repo: Repo) -> list[dict[str, Any]]:
    events = repo.json("history", "--all")["data"]["events"]
    return [{"path": one["claim"]} for one in events if one["verb"] == "unheeded"]


def test_an_edit_that_was_refused_and_came_free_breaks_nothing(repo: Repo, claude: Program) -> None:
    assert not claude.edits("src/b.py").may_run
    repo.lock("release", "src/b.py", agent="bob").ok()
    claude.does("src/b.py", "2\n")
    assert guard(repo) == "edit"


def test_a_session_that_claims_by_hand_and_has_no_hooks_is_unguarded(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent=None, env=SHELL).ok()
    assert guard(repo) == "none"
    said = repo.lock("overview", agent=None).out
    assert f"edits of {NAME} are NOT stopped before they happen: no hook of it was ever seen" in said
    assert "guard: none: no hook of it was ever seen" in repo.lock("agents", agent=None).out


def test_a_session_that_claims_in_another_name_is_as_unguarded(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent=None, env=SHELL).ok()
    repo.lock("release", "src/a.py", agent=None, env=SHELL).ok()
    assert guard(repo) is None
    repo.lock("claim", "src/a.py", "--agent", "zed", agent=None, env=SHELL).ok()
    assert guard(repo) == "none"


def test_a_terminal_in_a_guarded_agents_worktree_is_not_called_unguarded(repo: Repo, tmp_path: Path) -> None:
    repo.lock("spawn", "carol", "--path", str(tmp_path / "carol"), agent=None).ok()
    there = Repo(tmp_path / "carol")
    Program("claude", there, SESSION).does("src/a.py", "2\n")
    there.lock("claim", "deploy:x", agent=None).ok()
    rows = [row for row in repo.json("agents", agent=None)["data"]["agents"] if row["agent"] == "carol"]
    assert sorted(str(row["guard"]) for row in rows) == ["None", "edit"]
    assert "NOT stopped" not in repo.lock(agent=None).out


def test_doctor_names_those_that_nothing_guards(repo: Repo) -> None:
    settings = {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [
        {"type": "command", "command": "git-lock agent-hook --harness claude"}
    ]}]}}  # fmt: skip
    repo.write(".claude/settings.local.json", json.dumps(settings))
    committed(repo, "2\n")
    found = repo.json("doctor", "--here", agent=None)
    assert_fits("doctor", found)
    bad = [one["what"] for one in found["data"]["findings"] if one["state"] == "bad"]
    assert any(f"{NAME} edits, and no hook is seen of that" in one for one in bad)


def test_nobody_is_sent_to_a_doctor_for_a_program_without_hooks(repo: Repo) -> None:
    script = "echo 2 > src/a.py; git-lock claim src/a.py >&2; git-lock agents; git-lock overview"
    shown = repo.lock("run", "--presence", "--", "sh", "-c", script, agent=None).ok().out
    assert "guard: none: " in shown and "NOT stopped before" in shown
    assert "git lock doctor" not in shown


def test_what_is_said_of_agents_in_one_worktree_fits_the_terminal(repo: Repo, claude: Program) -> None:
    claude.edits("src/a.py")
    Program("codex", repo, "77aa55cc-0001-4000-8000-000000000001").edits("src/c.py")
    lines = repo.lock("agents", agent=None).ok().out.splitlines()
    assert "  guard: edit, last hook 0s ago" in [line.replace("1s", "0s") for line in lines]
    assert max(map(len, lines)) <= 80


def test_doctor_rehearses_without_a_word_about_the_session_around(repo: Repo) -> None:
    said = repo.lock("doctor", "--here", agent=None, env=SHELL)
    assert "commit refused" in said.out and NOTICE not in said.out


# -- what a commit says


def test_a_commit_without_any_hook_says_so_once_and_is_remembered(repo: Repo) -> None:
    assert f"git-lock: Claude Code is not set up here, {NOTICE}: git lock setup claude" in committed(repo, "2\n")
    assert NOTICE not in committed(repo, "3\n")
    assert guard(repo) == "none"


def test_where_the_program_is_set_up_doctor_is_the_next_step(repo: Repo) -> None:
    repo.write(".claude/settings.local.json", '{"hooks": "git-lock agent-hook"}')
    said = committed(repo, "2\n")
    assert f"git-lock: no hook of Claude Code was seen here in this session, {NOTICE}: git lock doctor" in said


def test_a_commit_of_a_session_with_hooks_says_nothing(repo: Repo, claude: Program) -> None:
    claude.does("src/a.py", "2\n")
    claude.runs("git commit")
    assert NOTICE not in committed(repo, "3\n")
    assert guard(repo) == "edit+shell"


def test_a_commit_long_after_the_last_hook_says_so(repo: Repo, claude: Program) -> None:
    claude.does("src/a.py", "2\n")
    age(repo, 2 * 3600)
    assert NOTICE in committed(repo, "3\n")
    assert guard(repo) == "none"
    claude.does("src/a.py", "4\n")  # it is back
    assert guard(repo) == "edit"


@pytest.mark.parametrize(
    "env",
    [{}, {"GITLOCK_AGENT": "alice"}, {"AMP_CURRENT_THREAD_ID": "T-1", "CLAUDECODE": "1"}],
    ids=["a person", "a script", "a program that has no hooks"],
)
def test_nobody_else_is_told(repo: Repo, env: Mapping[str, str | None]) -> None:
    assert NOTICE not in committed(repo, "2\n", env)


@pytest.mark.parametrize("silence", ["setting", "mode"])
def test_the_notice_can_be_silenced(repo: Repo, silence: str) -> None:
    name, value = ("gitlock.hookNotice", "false") if silence == "setting" else ("gitlock.mode", "off")
    repo.git("config", name, value)
    assert NOTICE not in committed(repo, "2\n")


def test_a_shell_that_names_no_session_is_told_once_an_hour(repo: Repo) -> None:
    env = {"GEMINI_CLI": "1"}
    assert "Gemini CLI is not set up here" in committed(repo, "2\n", env)
    assert NOTICE not in committed(repo, "3\n", env)
    note = repo.common_dir / "gitlock-unseen"
    earlier = time.time() - 3700
    os.utime(note, (earlier, earlier))
    assert NOTICE in committed(repo, "4\n", env)


def test_a_shell_that_names_no_session_is_not_told_where_one_is_heard_of(repo: Repo) -> None:
    Program("gemini", repo, SESSION).tells("start")
    assert NOTICE not in committed(repo, "2\n", {"GEMINI_CLI": "1"})


def test_a_refused_commit_is_told_as_well(repo: Repo) -> None:
    repo.write("src/b.py", "2\n")
    refused = repo.git("commit", "-am", "bob's", env=SHELL, check=False)
    assert refused.code == 1 and NOTICE in refused.err
