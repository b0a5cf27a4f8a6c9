"""The agent of VS Code: Claude Code's answers, its own names of fields and tools.

It looks at no matcher: every hook is run for every tool, so a tool that is not known must cost nothing.
"""

from gitlock.domain.patchtext import patch_paths
from gitlock.entrypoints.agents import claude
from gitlock.entrypoints.agents.neutral import BEAT, EDIT, OTHER, SHELL, Event, Reply, Say
from gitlock.entrypoints.agents.payload import as_paths, command_of, id_of, record_of, text_of, texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "vscode"
SPEAKS = claude.SPEAKS

_FILES = (
    "editFiles", "createFile", "create_file", "replace_string_in_file", "multi_replace_string_in_file",
    "insert_edit_into_file", "edit_notebook_file", "apply_patch",
)  # fmt: skip
_SHELLS = ("run_in_terminal", "runInTerminal", "runTerminalCommand")


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "hookEventName", "hook_event_name") or named
    if not raw:
        return None
    tool = text_of(record, "tool_name")
    given = record_of(record, "tool_input")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if tool in _FILES:
        edits = given.get("replacements")
        several = [text_of(one, "filePath") for one in edits if type(one) is dict] if type(edits) is list else []
        patched = patch_paths(text_of(given, "input", "patch")) if tool == "apply_patch" else []
        tool_kind = EDIT
        paths = as_paths(*texts_of(given, "files"), text_of(given, "filePath", "file_path"), *several, *patched)
    elif tool in _SHELLS:
        tool_kind, command = SHELL, command_of(given, "command")
    return Event(
        claude.EVENTS.get(raw, BEAT),
        raw=raw,
        session=id_of(record, "sessionId", "session_id"),
        child=id_of(record, "agent_id"),
        cwd=text_of(record, "cwd"),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "tool_use_id", "toolUseId"),
        paths=paths,
        command=command,
        reason=text_of(record, "source", "reason"),
        again=record.get("stop_hook_active") is True,
    )


def reply(event: Event, say: Say) -> Reply:
    """As Claude Code's."""
    return claude.reply(event, say)
