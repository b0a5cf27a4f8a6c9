"""OpenAI Codex: the answer must hold exactly the keys that it knows, on exit 0, or all of it is thrown away.

The tool that edits is ``apply_patch``; its text lies in the field ``command``, as a shell's does, so the tool's name is
looked at first. A call that fails ends without an event. There is no event that says that a person is asked but
``PermissionRequest``.
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

PROGRAM = "codex"
SPEAKS = frozenset((START, PROMPT, BEFORE, AFTER, CHILD_START))

EVENTS = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "PreToolUse": BEFORE, "PostToolUse": AFTER,
    "PermissionRequest": WAITING, "SubagentStart": CHILD_START, "SubagentStop": CHILD_STOP, "Stop": STOP,
    "SessionEnd": END, "Interrupt": STOP,
}  # fmt: skip

_SHELLS = ("Bash", "shell", "exec_command", "local_shell")


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "hook_event_name") or named
    if not raw:
        return None
    tool = text_of(record, "tool_name")
    given = record_of(record, "tool_input")
    kind = EVENTS.get(raw, BEAT)
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if tool == "apply_patch":
        tool_kind, paths = EDIT, as_paths(*patch_paths(text_of(given, "command", "input", "patch")))
    elif tool in ("Edit", "Write"):
        tool_kind, paths = EDIT, as_paths(text_of(given, "file_path", "path"))
    elif tool in _SHELLS:
        tool_kind, command = SHELL, command_of(given, "command", "cmd")
    asked = f"permission: {tool}{command and ' ' + command}" if tool else "permission"
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
        question=asked if kind == WAITING else "",
        reason=text_of(record, "source", "reason"),
        again=record.get("stop_hook_active") is True or raw == "Interrupt",
    )


def reply(event: Event, say: Say) -> Reply:
    """The answer. A reason must not be empty; ``ask`` and ``continue`` would make the tool run."""
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
