"""GitHub Copilot CLI: a hook that ends with anything but 0 refuses the tool, so we never do.

How an event's name is spelt in its settings decides the dialect of the input: ``preToolUse`` brings ``toolName`` and
``toolArgs`` (an object, or the text of one), ``PreToolUse`` brings Claude Code's fields and names of tools. The first
dialect does not name the event: ``--event`` does. What the agent reads, it reads at every event here.

A sub-agent's events name the sub-agent as the session, and its parent beside it. ``permissionRequest`` happens before
each call, also where nobody is asked: that a person is, the notification says.
"""

from gitlock.domain.patchtext import patch_paths
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
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, id_of, is_ours, record_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "copilot"
SPEAKS = frozenset((START, PROMPT, BEFORE, AFTER, WAITING))

EVENTS = {
    "sessionStart": START, "userPromptSubmitted": PROMPT, "userPromptSubmit": PROMPT, "preToolUse": BEFORE,
    "postToolUse": AFTER, "postToolUseFailure": FAILED, "permissionRequest": BEAT, "notification": BEAT,
    "agentStop": STOP, "stop": STOP, "subagentStart": CHILD_START, "subagentStop": CHILD_STOP, "sessionEnd": END,
}  # fmt: skip
QUESTIONS = ("permission_prompt", "elicitation_dialog", "agent_idle")

_FILES = ("edit", "create", "str_replace_editor", "write", "apply_patch")


def read(record: "Record", named: str, environ: "Mapping[str, str]") -> Event | None:
    """The event, in either dialect; None where neither input nor option names it and the fields don't tell."""
    raw = named or text_of(record, "hook_event_name", "hookEventName", "hookName") or _name_by_fields(record)
    if not raw:
        return None
    kind = EVENTS.get(raw[:1].lower() + raw[1:], BEAT)
    asks = text_of(record, "notification_type", "notificationType", "kind") in QUESTIONS
    if raw.lower() == "notification" and asks:
        kind = WAITING
    tool = text_of(record, "toolName", "tool_name")
    tool_kind, paths, command = tool_use(tool.lower(), record)
    session = id_of(record, "sessionId", "session_id") or environ.get("COPILOT_AGENT_SESSION_ID", "")
    parent = id_of(record, "parentAgentId", "parent_agent_id")
    child = id_of(record, "agentId", "agent_id") if parent else ""
    if kind == STOP and child:
        kind = BEAT  # that it has ended is told once more
    return Event(
        kind,
        raw=raw,
        session=parent if child == session else session,
        child=child,
        cwd=text_of(record, "cwd"),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "toolCallId", "tool_use_id") or f"{tool.lower()} {paths[0] if paths else ''}"[:200],
        paths=paths,
        command=command,
        question=text_of(record, "message") or f"permission: {tool}" if kind == WAITING else "",
        reason=text_of(record, "source", "reason"),
        again=True in (record.get("stop_hook_active"), record.get("stopHookActive"))
        or is_ours(text_of(record, "prompt")),
    )


def _name_by_fields(record: "Record") -> str:
    """The event of an input that no option names: its first dialect lacks the name, also where another program's
    settings ask for it."""
    if "toolName" in record:
        return "postToolUse" if "toolResult" in record else "preToolUse"
    if "agentName" in record:
        return "subagentStop" if "stopReason" in record else "subagentStart"
    return ""


def tool_use(tool: str, record: "Record") -> tuple[str, tuple[str, ...], str]:
    """The kind of a tool, the paths that it edits, and the command that it runs."""
    given = record_of(record, "toolArgs", "tool_input", "toolInput")
    if tool == "bash":
        return SHELL, (), command_of(given, "command")
    if tool not in _FILES or text_of(given, "command") == "view":  # str_replace_editor also reads
        return OTHER, (), ""
    path = text_of(given, "path", "file_path", "filePath")
    patch = text_of(given, "patch", "input", "command") or text_of(record, "toolArgs", "tool_input")
    return EDIT, as_paths(path) if path else as_paths(*patch_paths(patch)), ""


def reply(event: Event, say: Say) -> Reply:
    """The answer, at the top of one object."""
    if say.verb == NOTHING:
        return Reply()
    if say.verb == REFUSE:
        return Reply(answer({"permissionDecision": "deny", "permissionDecisionReason": say.text}))
    if say.verb == GO_ON:
        return Reply(answer({"decision": "block", "reason": say.text}))
    return Reply(answer({"additionalContext": say.text}) if event.kind in SPEAKS else "")
