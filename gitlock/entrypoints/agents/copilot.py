"""GitHub Copilot CLI: a hook that ends with anything but 0 refuses the tool, so we never do.

How an event's name is spelt in its settings decides the dialect of the input: ``preToolUse`` brings ``toolName`` and
``toolArgs`` (an object, or the text of one), ``PreToolUse`` brings Claude Code's fields and names of tools. The first
dialect does not name the event: ``--event`` does.
"""

from gitlock.domain.patchtext import patch_paths
from gitlock.entrypoints.agents import claude
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

PROGRAM = "copilot"
SPEAKS = frozenset((AFTER, WAITING))

EVENTS = {
    "sessionStart": START, "userPromptSubmitted": PROMPT, "preToolUse": BEFORE, "postToolUse": AFTER,
    "postToolUseFailure": FAILED, "permissionRequest": WAITING, "notification": BEAT, "agentStop": STOP,
    "subagentStart": CHILD_START, "subagentStop": CHILD_STOP, "sessionEnd": END,
}  # fmt: skip
QUESTIONS = ("permission_prompt", "elicitation_dialog", "agent_idle")

_FILES = ("edit", "create", "str_replace_editor", "write")


def read(record: "Record", named: str, environ: "Mapping[str, str]") -> Event | None:
    """The event, in either dialect; None where neither input nor option names it and the fields don't tell."""
    if "hook_event_name" in record or "tool_name" in record:
        event = claude.read(record, named, environ)
        if event is None or event.session:
            return event
        return event.replace(session=id_of(record, "sessionId"))
    raw = named or text_of(record, "hookEventName")
    if not raw and "toolName" in record:
        raw = "postToolUse" if "toolResult" in record else "preToolUse"
    if not raw:
        return None
    kind = EVENTS.get(raw, EVENTS.get(raw[:1].lower() + raw[1:], BEAT))
    if raw == "notification" and text_of(record, "notificationType", "notification_type", "kind") in QUESTIONS:
        kind = WAITING
    tool = text_of(record, "toolName")
    given = record_of(record, "toolArgs")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if tool in _FILES:
        if text_of(given, "command") != "view":  # of str_replace_editor, which also reads
            tool_kind, paths = EDIT, as_paths(text_of(given, "path", "file_path", "filePath"))
    elif tool == "apply_patch":
        patch = text_of(given, "patch", "input", "command") or text_of(record, "toolArgs")
        tool_kind, paths = EDIT, as_paths(*patch_paths(patch))
    elif tool == "bash":
        tool_kind, command = SHELL, command_of(given, "command")
    return Event(
        kind,
        raw=raw,
        session=id_of(record, "sessionId") or environ.get("COPILOT_AGENT_SESSION_ID", ""),
        cwd=text_of(record, "cwd"),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "toolCallId") or f"{tool} {paths[0] if paths else ''}"[:200],
        paths=paths,
        command=command,
        question=text_of(record, "message") or f"permission: {tool}" if kind == WAITING else "",
        reason=text_of(record, "source", "reason"),
        again=record.get("stopHookActive") is True,
    )


def reply(event: Event, say: Say) -> Reply:
    """The answer, at the top of one object."""
    if say.verb == NOTHING:
        return Reply()
    if say.verb == REFUSE:
        return Reply(answer({"permissionDecision": "deny", "permissionDecisionReason": say.text}))
    if say.verb == GO_ON:
        return Reply(answer({"decision": "block", "reason": say.text}))
    heard = event.kind == AFTER or event.raw == "notification"
    return Reply(answer({"additionalContext": say.text}) if heard else "")
