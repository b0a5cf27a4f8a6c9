"""Claude Code (hooks, as of 2.1): JSON on exit 0 is the only channel that is sure to be heard.

A refusal is ``hookSpecificOutput.permissionDecision`` with the event's name beside it; without that name it is
ignored. It holds in every permission mode. A hook that fails, or is late, lets the tool run.
"""

from gitlock.entrypoints.agents.neutral import (
    AFTER,
    BEAT,
    BEFORE,
    CHILD_START,
    CHILD_STOP,
    EDIT,
    END,
    FAILED,
    GO_ON,
    NOTHING,
    OTHER,
    PROMPT,
    REFUSE,
    SHELL,
    START,
    STOP,
    WAITING,
    Event,
    Reply,
    Say,
)
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, id_of, record_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "claude"
SPEAKS = frozenset((START, PROMPT, BEFORE, AFTER, CHILD_START))  # where the agent reads what we say

EVENTS = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "PreToolUse": BEFORE, "PostToolUse": AFTER,
    "PostToolUseFailure": FAILED, "PermissionDenied": FAILED, "PermissionRequest": WAITING, "Elicitation": WAITING,
    "SubagentStart": CHILD_START, "SubagentStop": CHILD_STOP, "Stop": STOP, "StopFailure": STOP, "SessionEnd": END,
}  # fmt: skip
QUESTIONS = ("permission_prompt", "idle_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input")

_FILES = {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_SHELLS = ("Bash",)


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "hook_event_name") or named
    if not raw:
        return None
    kind = EVENTS.get(raw, BEAT)
    if raw == "Notification" and text_of(record, "notification_type") in ("", *QUESTIONS):
        kind = WAITING
    tool = text_of(record, "tool_name")
    given = record_of(record, "tool_input")
    tool_kind, paths, command = tool_use(tool, given)
    return Event(
        kind,
        raw=raw,
        session=id_of(record, "session_id"),
        child=id_of(record, "agent_id"),
        cwd=text_of(record, "cwd"),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "tool_use_id"),
        paths=paths,
        command=command,
        question=question(record, tool, given) if kind == WAITING else "",
        reason=text_of(record, "source", "reason"),
        again=record.get("stop_hook_active") is True or raw == "StopFailure",
    )


def tool_use(tool: str, given: "Record") -> tuple[str, tuple[str, ...], str]:
    """The kind of a tool, the paths that it edits, and the command that it runs."""
    if tool in _FILES:
        return EDIT, as_paths(text_of(given, _FILES[tool], "file_path")), ""
    if tool in _SHELLS:
        return SHELL, (), command_of(given, "command")
    return OTHER, (), ""


def question(record: "Record", tool: str, given: "Record") -> str:
    """What a person is asked: the program's own words, or the tool that waits for a yes."""
    said = text_of(record, "message", "title")
    if said or not tool:
        return said
    what = text_of(given, "command", "file_path", "notebook_path", "url")
    return f"permission: {tool}{what and ' ' + what}"


def reply(event: Event, say: Say) -> Reply:
    """The answer, in hookSpecificOutput."""
    if say.verb == NOTHING:
        return Reply()
    if say.verb == GO_ON:
        return Reply(answer({"decision": "block", "reason": say.text}))
    inside: dict[str, object] = {"hookEventName": event.raw or "PreToolUse"}
    if say.verb == REFUSE:
        inside |= {"permissionDecision": "deny", "permissionDecisionReason": say.text}
    elif event.kind in SPEAKS:
        inside["additionalContext"] = say.text
    else:
        return Reply()
    return Reply(answer({"hookSpecificOutput": inside}))
