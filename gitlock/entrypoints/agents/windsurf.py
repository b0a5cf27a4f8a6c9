"""Windsurf (Devin Desktop): a refusal is exit 2 with a text on standard error; nothing else can be said."""

from gitlock.entrypoints.agents.neutral import (
    AFTER,
    BEAT,
    BEFORE,
    EDIT,
    OTHER,
    PROMPT,
    REFUSE,
    SHELL,
    STOP,
    Event,
    Reply,
    Say,
)
from gitlock.entrypoints.agents.payload import as_paths, command_of, id_of, record_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "windsurf"
SPEAKS: frozenset[str] = frozenset()

EVENTS = {
    "pre_user_prompt": (PROMPT, OTHER), "pre_write_code": (BEFORE, EDIT), "post_write_code": (AFTER, EDIT),
    "pre_run_command": (BEFORE, SHELL), "post_run_command": (AFTER, SHELL), "post_cascade_response": (STOP, OTHER),
}  # fmt: skip


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "agent_action_name") or named
    if not raw:
        return None
    kind, tool_kind = EVENTS.get(raw, (BEAT, OTHER))
    given = record_of(record, "tool_info")
    path = text_of(given, "file_path")
    return Event(
        kind,
        raw=raw,
        session=id_of(record, "trajectory_id"),
        cwd=text_of(given, "cwd"),
        tool=raw,
        tool_kind=tool_kind,
        call=f"{id_of(record, 'execution_id')} {path}"[:200],
        paths=as_paths(path) if tool_kind == EDIT else (),
        command=command_of(given, "command_line") if tool_kind == SHELL else "",
    )


def reply(event: Event, say: Say) -> Reply:
    """Exit 2 before a tool; silence everywhere else."""
    return Reply(code=2, err=say.text + "\n") if say.verb == REFUSE and event.kind == BEFORE else Reply()
