"""Devin CLI: Claude Code's events, its own tools, and no folder in the input. A refusal is exit 2 with a text on
standard error: two versions of its manual differ about every other code."""

from gitlock.entrypoints.agents import claude
from gitlock.entrypoints.agents.neutral import BEFORE, EDIT, GO_ON, OTHER, REFUSE, SHELL, START, Event, Reply, Say
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, record_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "devin"
SPEAKS = frozenset((START,))


def read(record: "Record", named: str, environ: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    event = claude.read(record, named, environ)
    if event is None:
        return None
    given = record_of(record, "tool_input")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if event.tool in ("edit", "write"):
        tool_kind, paths = EDIT, as_paths(text_of(given, "file_path", "path"))
    elif event.tool == "exec":
        tool_kind, command = SHELL, command_of(given, "command")
    cwd = event.cwd or environ.get("DEVIN_PROJECT_DIR", "")
    return event.replace(cwd=cwd, tool_kind=tool_kind, paths=paths, command=command)


def reply(event: Event, say: Say) -> Reply:
    """The answer."""
    if say.verb == REFUSE and event.kind == BEFORE:
        return Reply(code=2, err=say.text + "\n")
    if say.verb == GO_ON:
        return Reply(answer({"decision": "block", "reason": say.text}))
    return claude.reply(event, say) if event.kind in SPEAKS else Reply()
