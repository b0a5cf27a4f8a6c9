"""OpenCode: a plugin of ours runs inside it, hands us its events as JSON, and throws what we refuse.

The plugin's input is ``{"event", "sessionID", "parentID", "callID", "tool", "args", "cwd", "properties"}``; the answer
``{}``, or ``deny``, ``context`` and ``session`` (what shells are to be given as GITLOCK_SESSION), each a text.
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
from gitlock.entrypoints.agents.payload import answer, as_paths, command_of, id_of, record_of, text_of, texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.entrypoints.agents.payload import Record

PROGRAM = "opencode"
SPEAKS = frozenset((PROMPT, AFTER))

EVENTS = {
    "session.created": START, "chat.message": PROMPT, "tool.execute.before": BEFORE, "tool.execute.after": AFTER,
    "permission.asked": WAITING, "permission.updated": WAITING, "session.idle": STOP, "session.error": STOP,
    "session.deleted": END,
}  # fmt: skip


def read(record: "Record", named: str, _: "Mapping[str, str]") -> Event | None:
    """The event; None where the input names none."""
    raw = text_of(record, "event", "type") or named
    if not raw:
        return None
    kind = EVENTS.get(raw, BEAT)
    properties = record_of(record, "properties")
    info = record_of(properties, "info")
    session = id_of(record, "sessionID") or id_of(properties, "sessionID") or id_of(info, "id")
    parent = id_of(info, "parentID") or id_of(record, "parentID")
    if parent:  # a session that works for another one: when it is idle or gone, that one is not
        kind = {START: CHILD_START, STOP: CHILD_STOP, END: CHILD_STOP}.get(kind, kind)
    tool = text_of(record, "tool")
    given = record_of(record, "args")
    tool_kind, command = OTHER, ""
    paths: tuple[str, ...] = ()
    if tool in ("edit", "write", "multiedit"):
        tool_kind, paths = EDIT, as_paths(text_of(given, "filePath"))
    elif tool in ("apply_patch", "patch"):
        tool_kind, paths = EDIT, as_paths(*patch_paths(text_of(given, "patchText", "patch", "input")))
    elif tool == "bash":
        tool_kind, command = SHELL, command_of(given, "command")
    return Event(
        kind,
        raw=raw,
        session=parent or session,
        child=session if parent else "",
        cwd=text_of(given, "workdir") or text_of(record, "cwd"),
        tool=tool,
        tool_kind=tool_kind,
        call=id_of(record, "callID"),
        paths=paths,
        command=command,
        question=question(properties) if kind == WAITING else "",
        again=record.get("again") is True,
    )


def question(properties: "Record") -> str:
    """What a person is asked."""
    metadata = record_of(properties, "metadata")
    what = text_of(metadata, "command", "filepath", "filePath") or " ".join(texts_of(properties, "patterns")[:3])
    return text_of(properties, "title") or f"permission: {text_of(properties, 'permission')} {what}".strip()


def reply(event: Event, say: Say) -> Reply:
    """The answer for our plugin."""
    said: dict[str, object] = {}
    if say.text:
        said = {"deny" if say.verb == REFUSE else "context": say.text}
    if say.name and event.kind == START:
        said["session"] = say.name
    return Reply(answer(said))
