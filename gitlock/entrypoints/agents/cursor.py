"""Cursor: flat answers, and JSON on every path, since text that is not JSON may count as a refusal.

At a prompt nothing can be told to the agent. No event says that a person is asked. Completions of the editor (tab) are
a person's edits, and none of ours.
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
    OTHER,
    PROMPT,
    REFUSE,
    SHELL,
    START,
    STOP,
    WARN,
    Event,
    Reply,
    Say,
)
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, id_of, record_of, text_of, texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "cursor"
SPEAKS = frozenset((START, AFTER))

EVENTS = {
    "sessionStart": START, "beforeSubmitPrompt": PROMPT, "preToolUse": BEFORE, "beforeShellExecution": BEFORE,
    "postToolUse": AFTER, "afterFileEdit": AFTER, "afterShellExecution": AFTER, "postToolUseFailure": FAILED,
    "subagentStart": CHILD_START, "subagentStop": CHILD_STOP, "stop": STOP, "sessionEnd": END,
}  # fmt: skip
_SHELLS = ("Shell", "Bash")
_FILES = ("Write", "Delete", "Edit", "MultiEdit", "StrReplace", "EditNotebook", "NotebookEdit")


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "hook_event_name") or named
    if not raw:
        return None
    raw = raw if raw in EVENTS else raw[:1].lower() + raw[1:]  # through its reading of Claude Code's settings
    tool = text_of(record, "tool_name")
    given = record_of(record, "tool_input")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if raw in ("beforeShellExecution", "afterShellExecution"):
        tool, tool_kind, command = "Shell", SHELL, command_of(record, "command")
    elif raw == "afterFileEdit":
        tool, tool_kind, paths = "Write", EDIT, as_paths(text_of(record, "file_path"))
    elif tool in _FILES:
        tool_kind, paths = EDIT, as_paths(text_of(given, "file_path", "path", "notebook_path", "target_notebook"))
    elif tool in _SHELLS:
        tool_kind, command = SHELL, command_of(given, "command")
    roots = texts_of(record, "workspace_roots")
    folder = text_of(given, "working_directory", "cwd") if tool_kind == SHELL else ""
    return Event(
        EVENTS.get(raw, BEAT),
        raw=raw,
        session=id_of(record, "conversation_id", "session_id"),
        child=id_of(record, "subagent_id", "agent_id"),
        cwd=folder or text_of(record, "cwd") or (roots[0] if roots else ""),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "tool_use_id", "generation_id"),
        paths=paths,
        command=command,
        reason=text_of(record, "source", "reason"),
        again=bool(record.get("loop_count")) or text_of(record, "status") not in ("", "completed"),
    )


def reply(event: Event, say: Say) -> Reply:
    """The answer; ``{}`` is no opinion."""
    said: dict[str, object] = {}
    if say.verb == REFUSE:
        said = {"permission": "deny", "user_message": say.text, "agent_message": say.text}
    elif say.verb == GO_ON:
        said = {"followup_message": say.text}
    elif event.kind in SPEAKS and say.text:
        said = {"additional_context": say.text}
    elif say.verb == WARN and event.kind == BEFORE:
        said = {"user_message": say.text}
    if event.kind == START and say.name:
        said["env"] = {"GITLOCK_SESSION": say.name}
    return Reply(answer(said))
