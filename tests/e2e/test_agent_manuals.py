"""Programs that are known from their manuals alone: a session of each from its first event to its end."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.programs import PROGRAMS, command_words
from tests.kit.programs import Heard, Program, heard
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"

# What VS Code makes of the names of events in Copilot's files (its hookTypes.ts); it passes over the others.
OF_COPILOT = {
    "sessionStart": "SessionStart", "userPromptSubmitted": "UserPromptSubmit", "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse", "agentStop": "Stop", "subagentStop": "SubagentStop",
}  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


def held(repo: Repo) -> dict[str, str]:
    """Who holds what."""
    return {" ".join(one["include"]): one["agent"] for one in repo.json("list")["data"]["leases"]}


def state(repo: Repo, agent: str) -> str:
    """What the agent does."""
    (row,) = [one for one in repo.json("agents", agent=None)["data"]["agents"] if one["agent"] == agent]
    return str(row["state"])


class Shared(Program):
    """VS Code, which runs what setup wrote for Copilot."""

    def answer(self, raw: str, payload: dict[str, Any]) -> Heard:
        """By the command that stands under Copilot's name of the event."""
        (asked,) = [one for one in PROGRAMS["vscode"].events if OF_COPILOT.get(one.event) == raw]
        words = command_words(PROGRAMS["vscode"], asked)[1:]
        return heard(self.name, raw, self.repo.lock(*words, agent=None, input=json.dumps(payload)))


def test_vs_code_hears_the_end_of_a_turn_by_copilots_file(repo: Repo) -> None:
    code = Shared("vscode", repo, ONE)
    for event in ("start", "prompt"):
        code.tells(event)
    code.does("src/a.py", "2\n")
    assert held(repo) == {"src/a.py": "vscode-5b0cf1e2"} and state(repo, "vscode-5b0cf1e2") == "working"
    code.tells("stop", stop_hook_active=False)
    assert state(repo, "vscode-5b0cf1e2") == "idle"


def test_vs_code_is_refused_in_its_own_shape_whoever_the_file_is_for(repo: Repo) -> None:
    Program("claude", repo, TWO).does("src/a.py", "2\n")
    refused = Shared("vscode", repo, ONE).edits("src/a.py")
    assert not refused.may_run and "'src/a.py' is held by claude-77aa55cc" in refused.refusal


def test_vs_code_is_asked_at_the_end_of_its_turn(repo: Repo) -> None:
    code = Shared("vscode", repo, ONE)
    code.does("src/a.py", "2\n")
    repo.lock("request", "src/a.py", "-m", "ten minutes", agent="bob").ok()
    assert "ten minutes" in code.tells("stop", stop_hook_active=False).goes_on


def test_devins_end_gives_back_what_is_not_changed(repo: Repo) -> None:
    devin = Program("devin", repo, ONE, env={"DEVIN_PROJECT_DIR": str(repo.path)})
    devin.tells("start", source="startup")
    devin.does("src/a.py", "2\n")
    devin.does("src/b.py", "1\n")
    assert held(repo) == dict.fromkeys(("src/a.py", "src/b.py"), "devin-5b0cf1e2")
    devin.tells("end", reason="exit")
    assert held(repo) == {"src/a.py": "devin-5b0cf1e2"} and state(repo, "devin-5b0cf1e2") == "done"


def test_devins_shell_is_looked_at(repo: Repo) -> None:
    devin = Program("devin", repo, ONE, env={"DEVIN_PROJECT_DIR": str(repo.path)})
    devin.tells("start", source="startup")
    assert devin.runs("python make.py").may_run
    repo.write("src/b.py", "2\n")
    devin.ran("python make.py")
    assert held(repo) == {"src/b.py": "devin-5b0cf1e2"}


def test_windsurf_is_there_from_its_first_event_and_idle_after_its_turn(repo: Repo) -> None:
    windsurf = Program("windsurf", repo, ONE)
    assert windsurf.tells("prompt", tool_info={"user_prompt": "x"}).may_run
    assert state(repo, "windsurf-5b0cf1e2") == "working"
    windsurf.does("src/a.py", "2\n")
    windsurf.tells("stop", tool_info={"response": "done"})
    assert state(repo, "windsurf-5b0cf1e2") == "idle" and held(repo) == {"src/a.py": "windsurf-5b0cf1e2"}


def test_windsurf_begins_with_whatever_event_comes_first(repo: Repo) -> None:
    windsurf = Program("windsurf", repo, ONE)
    command = {"command_line": "make", "cwd": str(repo.path)}
    assert windsurf.tells("before", agent_action_name="pre_run_command", tool_info=command).may_run
    assert state(repo, "windsurf-5b0cf1e2") == "working"
    Program("claude", repo, TWO).does("src/a.py", "2\n")
    refused = windsurf.edits(str(repo.path / "src/a.py"))
    assert (refused.may_run, refused.result.code, refused.result.out) == (False, 2, "")
    assert "'src/a.py' is held by claude-77aa55cc" in refused.refusal
