"""Programs that read another's settings run our hook under the other's name: who speaks is seen all the same."""

import json
from pathlib import Path

import pytest

from tests.kit.repo import Environment, Repo

ONE = "5b0cf1e2-0001-4000-8000-000000000001"
KID = "7ef0cc1b-0002-4000-8000-000000000002"
COPILOT: Environment = {"COPILOT_CLI": "1"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n"})
    repo.lock("claim", "src/held.py", agent="other").ok()
    return repo


def hears(repo: Repo, harness: str, record: dict[str, object], *, env: Environment | None = None) -> str:
    record = {"cwd": str(repo.path), **record}
    return repo.lock("agent-hook", "--harness", harness, agent=None, env=env, input=json.dumps(record)).ok().out


def agents(repo: Repo) -> list[str]:
    """Whose sessions have been heard of."""
    folder = repo.store / "sessions"
    return sorted(json.loads(file.read_text())["agent"] for file in folder.glob("*.json")) if folder.is_dir() else []


IN_CLAUDES_WORDS = {"hook_event_name": "SessionStart", "session_id": ONE, "timestamp": "2026-11-30T08:30:45.734Z"}


def test_copilot_in_claude_codes_words_is_copilot(repo: Repo) -> None:
    hears(repo, "claude", {**IN_CLAUDES_WORDS, "source": "new"}, env=COPILOT)
    assert agents(repo) == ["copilot-5b0cf1e2"]


def test_claude_code_in_a_shell_of_copilots_is_claude_code(repo: Repo) -> None:
    record = {name: value for name, value in IN_CLAUDES_WORDS.items() if name != "timestamp"}
    hears(repo, "claude", {**record, "source": "startup"}, env=COPILOT)
    assert agents(repo) == ["claude-5b0cf1e2"]


def test_copilot_is_refused_in_its_own_way_whoever_it_is_taken_for(repo: Repo) -> None:
    edit = {"path": str(repo.path / "src/held.py"), "old_str": "a", "new_str": "b"}
    record: dict[str, object] = {**IN_CLAUDES_WORDS, "hook_event_name": "PreToolUse"}
    record |= {"tool_name": "Edit", "tool_input": edit}
    assert json.loads(hears(repo, "claude", record, env=COPILOT))["permissionDecision"] == "deny"


def test_an_event_of_copilots_without_a_name_is_copilots(repo: Repo) -> None:
    hears(repo, "copilot", {"sessionId": ONE, "agentName": "x", "agentId": KID, "parentAgentId": ONE})
    hears(repo, "copilot", {"sessionId": KID, "toolName": "edit", "toolArgs": {"path": "src/a.py"}, "agentId": KID,
                            "parentAgentId": ONE})  # fmt: skip
    assert agents(repo) == ["copilot-5b0cf1e2/7ef0cc1b"]


def test_vs_code_that_runs_what_copilots_files_ask_for_is_vs_code(repo: Repo) -> None:
    hears(repo, "copilot", {"sessionId": ONE, "hookEventName": "SessionStart", "timestamp": "x"})
    assert agents(repo) == ["vscode-5b0cf1e2"]


def test_what_a_program_says_of_itself_alone_makes_no_session(repo: Repo) -> None:
    assert hears(repo, "opencode", {"event": "reference.updated", "properties": {}}) == "{}\n"
    assert agents(repo) == []


def test_a_notification_does_not_hide_what_a_person_is_asked(repo: Repo) -> None:
    asks = {"session_id": ONE, "tool_name": "Bash", "tool_input": {"command": "rm x"}}
    hears(repo, "claude", {**asks, "hook_event_name": "PermissionRequest"})
    hears(repo, "claude", {"session_id": ONE, "hook_event_name": "Notification", "message": "Claude needs you",
                           "notification_type": "permission_prompt"})  # fmt: skip
    (file,) = (repo.store / "sessions").glob("*.json")
    assert json.loads(file.read_text())["message"] == "permission: Bash rm x"


@pytest.mark.parametrize(
    ("harness", "name", "more"),
    [("gemini", "BeforeAgent", {"session_id": ONE}), ("copilot", "UserPromptSubmit", {"sessionId": ONE})],
)
def test_what_was_asked_at_the_end_of_a_turn_is_not_said_twice(
    repo: Repo, harness: str, name: str, more: dict[str, object]
) -> None:
    repo.lock("claim", "src/a.py", agent=f"{harness}-5b0cf1e2").ok()
    repo.lock("request", "src/a.py", "-m", "please", agent="other").ok()
    stop = {"gemini": "AfterAgent", "copilot": "Stop"}[harness]
    asked = json.loads(hears(repo, harness, {**more, "hook_event_name": stop}))["reason"]
    prompt = {**more, "hook_event_name": name, "prompt": asked}
    assert "please" in asked and "please" not in hears(repo, harness, prompt)
