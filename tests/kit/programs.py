"""Agent programs at their events: what each one writes to our hook, and what it makes of the answer.

    claude = Program("claude", repo, "5b0cf1e2-0001")
    assert claude.edits("src/a.py").may_run

The models keep each program's own rules of acceptance (what it takes for a refusal, what it passes over), so that an
answer in the wrong shape lets the edit happen here as it would there.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.kit.processes import start, until
from tests.kit.program import child_environment, program
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
        self.as_child: dict[str, Any] = {}  # what its events say besides, where it is a sub-agent

    def begins_child(self, name: str) -> "Program":
        """A sub-agent, which has begun: what it does is told in the program's own way of naming sub-agents."""
        child = Program(self.name, self.repo, self.session, env=self.env)
        if self.name in ("claude", "codex"):
            child.as_child = {"agent_id": name, "agent_type": "Explore"}
        elif self.name == "cursor":
            child.as_child = {"subagent_id": name}
        elif self.name == "copilot":
            child.session = name
            child.as_child = {"agentId": name, "parentAgentId": self.session}
        elif self.name == "opencode":
            child.session = name  # a session of its own: only its first event says whose it is
            self.tells("child-start", sessionID="", properties={"info": {"id": name, "parentID": self.session}})
            return child
        child.tells("child-start")
        return child

    def ends_as_child(self) -> Heard:
        """The event at the end of a sub-agent."""
        return self.tells("child-stop")

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
        payload = {**self._common(raw, cwd or self.repo.path), **self.as_child, **fields}
        return self.answer(raw, payload)

    def answer(self, raw: str, payload: dict[str, Any]) -> Heard:
        """What the program makes of our answer."""
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
        if self.name == "opencode":
            return {"event": raw, "sessionID": self.session, "cwd": place}
        if self.name == "copilot":
            return {"sessionId": self.session, "timestamp": 1, "cwd": place}
        if self.name == "vscode":
            return {"sessionId": self.session, "hookEventName": raw, "timestamp": "t", "cwd": place}
        if self.name == "windsurf":
            return {"agent_action_name": raw, "trajectory_id": self.session, "execution_id": f"x-{self.calls}",
                    "tool_info": {}}  # fmt: skip
        if self.name == "devin":
            return {"session_id": self.session, "hook_event_name": raw}
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
        if self.name == "vscode":
            return {"tool_name": "editFiles", "tool_use_id": call, "tool_input": {"files": list(paths)}}
        if self.name == "windsurf":
            return {"tool_info": {"file_path": paths[0], "edits": []}}
        if self.name == "devin":
            return {"tool_name": "edit", "tool_input": {"file_path": paths[0], "old_string": "a", "new_string": "b"}}
        if self.name == "opencode":
            return {"tool": "edit", "callID": call, "args": {"filePath": paths[0], "oldString": "a", "newString": "b"}}
        return {"toolName": "edit", "toolArgs": json.dumps({"path": paths[0], "new_str": "b"})}

    def _shell(self, command: str) -> dict[str, Any]:
        call = f"call-{self.calls}"
        if self.name == "opencode":
            return {"tool": "bash", "callID": call, "args": {"command": command}}
        tool = {
            "claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "cursor": "Shell", "devin": "exec",
            "vscode": "run_in_terminal",
        }.get(self.name)  # fmt: skip
        if tool is None:
            return {"toolName": "bash", "toolArgs": {"command": command}}
        return {"tool_name": tool, "tool_use_id": call, "tool_input": {"command": command}}


_FAKE = """
import subprocess, sys
open("/proc/self/comm", "w").write(sys.argv[1])
for line in sys.stdin:
    done = subprocess.run([sys.argv[2], "agent-hook", "--harness", sys.argv[1]], input=line.encode(),
                          capture_output=True)
    print("answer:", done.stdout.decode().strip(), flush=True)
"""


class Living(Program):
    """A session with a process of the program's name, which runs its hooks: leaving the ``with`` block kills it. Needs
    a kernel that lets a process name itself."""

    def __init__(self, name: str, repo: Repo, session: str, folder: Path) -> None:
        super().__init__(name, repo, session)
        self.script = folder / f"{name}.py"
        self.script.write_text(_FAKE)

    def __enter__(self) -> Self:
        argv = [sys.executable, str(self.script), self.name, str(program())]
        self.running = start(argv, cwd=self.repo.path, env=child_environment(), stdin=subprocess.PIPE)
        self.answers = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running.close()

    def answer(self, raw: str, payload: dict[str, Any]) -> Heard:
        """Asked by the process, as its child."""
        assert self.running.process.stdin is not None
        self.running.process.stdin.write(json.dumps(payload).encode() + b"\n")
        self.running.process.stdin.flush()
        self.answers += 1
        until(lambda: self.running.out.count("answer:") == self.answers, "an answer of the hook")
        said = self.running.out.split("answer:")[-1].strip()
        return heard(self.name, raw, Result((), 0, said.encode(), b""))


CLAUDE = {
    "start": "SessionStart", "prompt": "UserPromptSubmit", "before": "PreToolUse", "after": "PostToolUse",
    "failed": "PostToolUseFailure", "asks": "PermissionRequest", "stop": "Stop", "end": "SessionEnd",
    "child-start": "SubagentStart", "child-stop": "SubagentStop",
}  # fmt: skip
EVENTS = {
    "claude": CLAUDE,
    "codex": CLAUDE,
    "gemini": {"start": "SessionStart", "prompt": "BeforeAgent", "before": "BeforeTool", "after": "AfterTool",
               "asks": "Notification", "stop": "AfterAgent", "end": "SessionEnd"},
    "cursor": {"start": "sessionStart", "prompt": "beforeSubmitPrompt", "before": "preToolUse", "after": "postToolUse",
               "failed": "postToolUseFailure", "stop": "stop", "end": "sessionEnd",
               "child-start": "subagentStart", "child-stop": "subagentStop"},
    "copilot": {"start": "sessionStart", "prompt": "userPromptSubmitted", "before": "preToolUse",
                "after": "postToolUse", "asks": "notification", "stop": "agentStop", "end": "sessionEnd",
                "child-start": "subagentStart", "child-stop": "subagentStop"},
    "opencode": {"start": "session.created", "prompt": "chat.message", "before": "tool.execute.before",
                 "after": "tool.execute.after", "asks": "permission.asked", "stop": "session.idle",
                 "end": "session.deleted", "child-start": "session.created", "child-stop": "session.idle"},
    "vscode": {name: raw for name, raw in CLAUDE.items() if name not in ("failed", "asks", "end")},
    "windsurf": {"prompt": "pre_user_prompt", "before": "pre_write_code", "after": "post_write_code",
                 "stop": "post_cascade_response"},
    "devin": {name: raw for name, raw in CLAUDE.items() if name not in ("failed", "child-start", "child-stop")},
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


def _opencode(_: str, result: Result) -> Heard:
    said = _object(result)
    return Heard("deny" not in said, said.get("deny", ""), said.get("context", ""), "", result)


def _by_code(_: str, result: Result) -> Heard:
    assert result.out == "" or result.code == 0
    refused = result.code == 2
    return Heard(not refused, result.err if refused else "", "", "", result)


READERS = {"claude": _claude, "codex": _codex, "gemini": _gemini, "cursor": _cursor, "copilot": _copilot,
           "opencode": _opencode, "vscode": _claude, "windsurf": _by_code, "devin": _by_code}
