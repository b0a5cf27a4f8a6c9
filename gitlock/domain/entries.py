"""Entries of ours in a document: found by what they run, wherever they stand, and whether each does what it should."""

from gitlock.domain.hookcommand import is_current, is_ours
from gitlock.domain.jsonc import ARRAY, OBJECT, Node
from gitlock.domain.programs import MILLISECONDS, NESTED, NO_TIMEOUT, TWO_SHELLS
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitlock.domain.jsonc import Path
    from gitlock.domain.programs import Asked, Place, Program

_RUNS = ("command", "bash", "powershell")  # the fields that say what is run


class Found(Value):
    """One entry of ours: where its event's list is, where in it the entry is, where what is run, and how."""

    __slots__ = ("command", "entry", "event", "handler")

    def __init__(self, event: str, entry: "Path", handler: "Path", command: str) -> None:
        self.event = event
        self.entry = entry
        self.handler = handler
        self.command = command


def ours(program: "Program", place: "Place", root: Node) -> "Iterator[Found]":
    """Every entry of ours, whatever its event; of an event that is there twice, those of the last, which counts."""
    hooks = root.at(place.within)
    events = {str(one.key): one.node for one in hooks.children} if hooks is not None and hooks.kind == OBJECT else {}
    for event, listed in events.items():
        for at, entry in enumerate(listed.children if listed.kind == ARRAY else ()):
            path: Path = (*place.within, event, at)
            command = _runs(entry.node)
            if is_ours(command):
                yield Found(event, path, path, command)
            inner = entry.node.child("hooks") if program.shape == NESTED else None
            for number, handler in enumerate(inner.children if inner is not None and inner.kind == ARRAY else ()):
                command = _runs(handler.node)
                if is_ours(command):
                    yield Found(event, path, (*path, "hooks", number), command)


def _runs(node: Node) -> str:
    """What an entry runs, as one line; the words of the exec form behind the program."""
    args = node.child("args")
    words = [one.node.plain for one in args.children] if args is not None else []
    for field in _RUNS:
        found = node.child(field)
        if found is not None and isinstance(found.plain, str):
            return " ".join([found.plain, *(word for word in words if isinstance(word, str))])
    return ""


def fault_of(program: "Program", root: Node, found: "Found", asked: "Asked") -> str:
    """What is wrong with an entry of ours; empty where it does what it should. A person's own additions are no fault,
    nor is another timeout, as long as it leaves us a second."""
    if not is_current(program, asked, found.command):
        return "it is in the words of another version"
    lacks = lacking(plain(root, (*found.entry, "matcher")), asked)
    if lacks:
        return f"its matcher does not name {lacks[0]}"
    field, least = timeout_field(program), 1000 if program.unit == MILLISECONDS else 1
    limit = plain(root, (*found.handler, field))
    if field and isinstance(limit, int | float) and not isinstance(limit, bool) and limit < least:
        return f"its {field} is shorter than a second"
    return ""


def lacking(matcher: object, asked: "Asked") -> list[str]:
    """Tools that we ask for and that a matcher does not name. One in a language of its own is a person's affair."""
    if not isinstance(matcher, str) or not asked.matcher:
        return [] if matcher is None or matcher in ("", "*", ".*") or not asked.matcher else ["*"]
    if matcher in ("", "*", ".*") or not all(one.isalnum() or one in "_-|, " for one in matcher):
        return []
    named = {word.strip() for word in matcher.replace(",", "|").split("|")}
    return [tool for tool in asked.matcher.split("|") if tool not in named]


def timeout_field(program: "Program") -> str:
    """What the program calls an entry's timeout; empty where it knows none."""
    if program.unit == NO_TIMEOUT:
        return ""
    return "timeoutSec" if program.shape == TWO_SHELLS else "timeout"


def plain(root: Node, path: "Path") -> object:
    """The scalar at a path; None for whatever is no scalar, or not there."""
    node = root.at(path)
    return node.plain if node is not None else None
