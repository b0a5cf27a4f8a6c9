"""Gemini CLI: a refusal is ``decision`` at the top; a nested one, as Claude Code reads it, is passed over in silence.

Any exit code but 0 and 1 that comes with text is a refusal, and where standard output is empty, standard error is
read: so both stay empty and the code 0 unless there is something to say. Before a tool there is no way to tell the
agent anything, only the person. Calls have no ids.
"""

from gitlock.entrypoints.agents.neutral import (
    AFTER,
    BEAT,
    BEFORE,
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
    WARN,
    Event,
    Reply,
    Say,
)
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, id_of, is_ours, record_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "gemini"
SPEAKS = frozenset((START, PROMPT, AFTER))

EVENTS = {
    "SessionStart": START, "BeforeAgent": PROMPT, "BeforeTool": BEFORE, "AfterTool": AFTER, "AfterAgent": STOP,
    "SessionEnd": END,
}  # fmt: skip


def read(record: "Record", named: str, environ: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "hook_event_name") or named
    if not raw:
        return None
    kind = EVENTS.get(raw, BEAT)
    if raw == "Notification" and text_of(record, "notification_type") in ("", "ToolPermission"):
        kind = WAITING
    if kind == AFTER and record_of(record, "tool_response").get("error"):
        kind = FAILED
    tool = text_of(record, "tool_name")
    given = record_of(record, "tool_input")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    cwd = text_of(record, "cwd") or environ.get("GEMINI_CWD", "")
    if tool in ("write_file", "replace"):
        tool_kind, paths = EDIT, as_paths(text_of(given, "file_path", "absolute_path"))
    elif tool == "run_shell_command":
        tool_kind, command = SHELL, command_of(given, "command")
        folder = text_of(given, "dir_path", "directory")
        cwd = folder if folder[:1] == "/" else f"{cwd.rstrip('/')}/{folder}" if folder and cwd else cwd
    return Event(
        kind,
        raw=raw,
        session=id_of(record, "session_id") or environ.get("GEMINI_SESSION_ID", ""),
        cwd=cwd,
        tool=tool,
        tool_kind=tool_kind,
        call=f"{tool} {paths[0] if paths else ''}"[:200],
        paths=paths,
        command=command,
        question=question(record) if kind == WAITING else "",
        reason=text_of(record, "source", "reason"),
        again=record.get("stop_hook_active") is True or is_ours(text_of(record, "prompt")),
    )


def question(record: "Record") -> str:
    """What a person is asked. The message names a window's title: what it is about stands in the details."""
    details = record_of(record, "details")
    what = text_of(details, "command", "filePath", "toolName")
    return f"permission: {text_of(details, 'type')} {what}" if what else text_of(record, "message") or "permission"


def reply(event: Event, say: Say) -> Reply:
    """The answer, at the top of the object."""
    if say.verb == NOTHING:
        return Reply()
    if say.verb in (REFUSE, GO_ON):
        return Reply(answer({"decision": "deny", "reason": say.text}))
    if event.kind in SPEAKS:
        inside: dict[str, object] = {"hookEventName": event.raw, "additionalContext": say.text}
        return Reply(answer({"hookSpecificOutput": inside}))
    return Reply(answer({"systemMessage": say.text}) if say.verb == WARN else "")
