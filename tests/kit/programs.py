"""Agent programs at their events: what each one writes to our hook, and what it makes of the answer.

    claude = Program("claude", repo, "5b0cf1e2-0001")
    assert claude.edits("src/a.py").may_run

The models keep each program's own rules of acceptance (what it takes for a refusal, what it passes over), so that an
answer in the wrong shape lets the edit happen here as it would there.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.kit.repo import Environment, Repo
from tests.kit.result import Result


class Heard(NamedTuple):
    """What a program makes of our answer: does the tool run, why not, what its agent reads, what it goes on with."""

    may_run: bool
    refusal: str
    context: str
    goes_on: str
    result: Result


class Program:
    """One session of one program, in a worktree."""

    def __init__(self, name: str, repo: Repo, session: str, *, env: Environment | None = None) -> None:
        self.name = name
        self.repo = repo
        self.session = session
        self.env = env or {}
        self.calls = 0

    # -- the events, in every program's own words

    def edits(self, *paths: str, child: str = "", call: str = "", cwd: Path | None = None) -> Heard:
        """The event before an edit; what it says decides whether the edit happens."""
        self.calls += 1
        return self.tells("before", **self._edit(paths, call or f"call-{self.calls}", child), cwd=cwd)

    def edited(self, *paths: str, child: str = "", call: str = "") -> Heard:
        """The event after it."""
        return self.tells("after", **self._edit(paths, call or f"call-{self.calls}", child))

    def failed(self, *paths: str, child: str = "") -> Heard:
        """The event of an edit that came to nothing."""
        return self.tells("failed", **self._edit(paths, f"call-{self.calls}", child))

    def runs(self, command: str) -> Heard:
        """The event before a shell command."""
        self.calls += 1
        return self.tells("before", **self._shell(command))

    def ran(self, command: str) -> Heard:
        """The event after it."""
        return self.tells("after", **self._shell(command))

    def does(self, path: str, text: str, **more: Any) -> Heard:
        """A whole edit, where it may happen: before, the writing, after."""
        heard = self.edits(path, **more)
        if heard.may_run:
            self.repo.write(path, text)
            return self.edited(path, **more)
        return heard

    def tells(self, kind: str, *, cwd: Path | None = None, **fields: Any) -> Heard:
        """Any event."""
        raw = EVENTS[self.name][kind]
        payload = {**self._common(raw, cwd or self.repo.path), **fields}
        words = ["agent-hook", "--harness", self.name]
        if self.name == "copilot":
            words += ["--event", raw]
        result = self.repo.lock(*words, agent=None, env=self.env, input=json.dumps(payload))
        return heard(self.name, raw, result)

    # -- their dialects

    def _common(self, raw: str, cwd: Path) -> dict[str, Any]:
        place = str(cwd)
        if self.name in ("claude", "codex", "gemini"):
            more = {"turn_id": "01a0", "model": "m"} if self.name == "codex" else {}
            return {"session_id": self.session, "transcript_path": "/secret/t.jsonl", "cwd": place,
                    "hook_event_name": raw, **more}  # fmt: skip
        if self.name == "cursor":
            return {
                "conversation_id": self.session, "generation_id": "g-1", "hook_event_name": raw, "cwd": place,
                "cursor_version": "3.1.0", "workspace_roots": [place], "user_email": "x@example.com",
            }  # fmt: skip
        if self.name == "copilot":
            return {"sessionId": self.session, "timestamp": 1, "cwd": place}
        raise AssertionError(self.name)

    def _edit(self, paths: tuple[str, ...], call: str, child: str) -> dict[str, Any]:
        more = {"agent_id": child, "agent_type": "Explore"} if child else {}
        if self.name == "claude":
            return {"tool_name": "Edit", "tool_use_id": call, **more,
                    "tool_input": {"file_path": paths[0], "old_string": "a", "new_string": "b"}}  # fmt: skip
        if self.name == "codex":
            patch = "\n".join(["*** Begin Patch", *(f"*** Update File: {path}\n@@\n-a\n+b" for path in paths),
                               "*** End Patch"])  # fmt: skip
            return {"tool_name": "apply_patch", "tool_use_id": call, **more, "tool_input": {"command": patch}}
        if self.name == "gemini":
            return {"tool_name": "replace", "tool_input": {"file_path": paths[0], "old_string": "a", "new_string": "b"}}
        if self.name == "cursor":
            return {"tool_name": "Write", "tool_use_id": call, "tool_input": {"file_path": paths[0], "content": "b"}}
        return {"toolName": "edit", "toolArgs": json.dumps({"path": paths[0], "new_str": "b"})}

    def _shell(self, command: str) -> dict[str, Any]:
        call = f"call-{self.calls}"
        tool = {"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "cursor": "Shell"}.get(self.name)
        if tool is None:
            return {"toolName": "bash", "toolArgs": {"command": command}}
        return {"tool_name": tool, "tool_use_id": call, "tool_input": {"command": command}}


CLAUDE = {
    "start": "SessionStart", "prompt": "UserPromptSubmit", "before": "PreToolUse", "after": "PostToolUse",
    "failed": "PostToolUseFailure", "asks": "PermissionRequest", "stop": "Stop", "end": "SessionEnd",
    "child-stop": "SubagentStop",
}  # fmt: skip
EVENTS = {
    "claude": CLAUDE,
    "codex": CLAUDE,
    "gemini": {"start": "SessionStart", "prompt": "BeforeAgent", "before": "BeforeTool", "after": "AfterTool",
               "asks": "Notification", "stop": "AfterAgent", "end": "SessionEnd"},
    "cursor": {"start": "sessionStart", "prompt": "beforeSubmitPrompt", "before": "preToolUse", "after": "postToolUse",
               "failed": "postToolUseFailure", "stop": "stop", "end": "sessionEnd"},
    "copilot": {"start": "sessionStart", "prompt": "userPromptSubmitted", "before": "preToolUse",
                "after": "postToolUse", "asks": "permissionRequest", "stop": "agentStop", "end": "sessionEnd"},
}  # fmt: skip


def heard(name: str, raw: str, result: Result) -> Heard:
    """What the program makes of an answer."""
    assert "allow" not in result.out
    return READERS[name](raw, result)


def _object(result: Result) -> dict[str, Any]:
    if not result.out.startswith("{"):
        return {}
    found = json.loads(result.out)
    assert isinstance(found, dict)
    return found


def _claude(raw: str, result: Result) -> Heard:
    said = _object(result) if result.code == 0 else {}
    inside = said.get("hookSpecificOutput", {})
    if inside.get("hookEventName") != raw:
        inside = {}  # passed over without a word
    refused = inside.get("permissionDecision") == "deny" or result.code == 2
    goes_on = said.get("reason", "") if said.get("decision") == "block" else ""
    why = inside.get("permissionDecisionReason", result.err)
    return Heard(not refused, why if refused else "", inside.get("additionalContext", ""), goes_on, result)


def _codex(raw: str, result: Result) -> Heard:
    said = _object(result)
    inside = said.get("hookSpecificOutput", {})
    known = {"hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"}
    if result.code or set(inside) - known or set(said) - {"hookSpecificOutput", "decision", "reason"}:
        return Heard(True, "", "", "", result)  # the hook has failed, and the tool runs
    return _claude(raw, result)


def _gemini(_: str, result: Result) -> Heard:
    said = _object(result)
    refused = said.get("decision") in ("deny", "block") or (result.code > 1 and bool(result.out or result.err))
    inside = said.get("hookSpecificOutput", {})
    return Heard(not refused, said.get("reason", "") if refused else "", inside.get("additionalContext", ""),
                 said.get("reason", ""), result)  # fmt: skip


def _cursor(_: str, result: Result) -> Heard:
    assert result.out.startswith("{"), "it takes text that is no JSON for a refusal"
    said = _object(result)
    refused = said.get("permission") == "deny" or result.code == 2
    return Heard(not refused, said.get("agent_message", ""), said.get("additional_context", ""),
                 said.get("followup_message", ""), result)  # fmt: skip


def _copilot(_: str, result: Result) -> Heard:
    said = _object(result)
    refused = said.get("permissionDecision") == "deny" or result.code != 0
    goes_on = said.get("reason", "") if said.get("decision") == "block" else ""
    return Heard(not refused, said.get("permissionDecisionReason", ""), said.get("additionalContext", ""),
                 goes_on, result)  # fmt: skip


READERS = {"claude": _claude, "codex": _codex, "gemini": _gemini, "cursor": _cursor, "copilot": _copilot}
