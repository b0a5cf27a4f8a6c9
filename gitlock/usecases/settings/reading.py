"""What one settings file of an agent program says of us: whether we are set up, and what it asks to be run.

Links are followed, as the programs do: it is only writing that stops at them.
"""

import os
import re

from gitlock.domain.hookcommand import commands, is_ours
from gitlock.domain.jsonc import parse
from gitlock.domain.programs import NESTED, PLUGIN
from gitlock.domain.registering import ABSENT, BLANK, has_plugin, switched_off
from gitlock.domain.value import Value
from gitlock.usecases.settings.disk import Refused, read_settings
from gitlock.usecases.settings.documents import BROKEN, look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitlock.domain.jsonc import Node
    from gitlock.domain.programs import Program
    from gitlock.usecases.settings.places import Spot

_LIST = re.compile(r"[A-Za-z0-9_\-, |]*")


class Entry(Value):
    """One command that a file asks for. ``line`` is for a shell; ``words``, where there are any, are for none;
    ``matcher`` names the tools."""

    __slots__ = ("event", "line", "matcher", "words")

    def __init__(self, event: str, matcher: str, line: str, words: tuple[str, ...] = ()) -> None:
        self.event = event
        self.matcher = matcher
        self.line = line
        self.words = words

    @property
    def shown(self) -> str:
        """The command on one line."""
        return " ".join(self.words) or self.line

    def meets(self, tool: str) -> bool:
        """Whether the matcher takes this tool: a list of names, else a regular expression."""
        if self.matcher in ("", "*"):
            return True
        if _LIST.fullmatch(self.matcher):
            return tool in {name.strip() for name in re.split(r"[|,]", self.matcher)}
        try:
            return re.search(self.matcher, tool) is not None
        except re.error:
            return False


class Registration(Value):
    """What the settings file at ``spot`` says of us, whether it is there or not.

    ``scope`` is ``private`` (this clone's own), ``shared`` (git tracks it, or it is the one that teams commit) or
    ``user``. ``state`` is ``absent``, ``set-up``, ``incomplete`` (something of ours is missing or old), ``off`` (hooks
    are switched off) or ``broken`` (``named``: though our command stands in it), and ``why`` says what is the matter.
    ``entries`` are those of ours, ``strangers`` the events that have none. ``switch`` is the file that switches all
    hooks off, this one or one beside it, and how it does; None where none does.
    """

    __slots__ = ("entries", "named", "scope", "spot", "state", "strangers", "switch", "why")

    def __init__(
        self,
        spot: "Spot",
        state: str,
        why: str = "",
        *,
        entries: tuple[Entry, ...] = (),
        strangers: tuple[str, ...] = (),
        named: bool = False,
        switch: tuple[str, str] | None = None,
    ) -> None:
        self.spot = spot
        self.scope = spot.scope
        self.state = state
        self.why = why
        self.entries = entries
        self.strangers = strangers
        self.named = named
        self.switch = switch

    @property
    def program(self) -> "Program":
        """Whose settings they are."""
        return self.spot.program

    @property
    def file(self) -> str:
        """The settings file."""
        return self.spot.path

    @property
    def worktree(self) -> str | None:
        """The worktree that it is of; None for a person's own."""
        return self.spot.top


def read_registration(spot: "Spot") -> Registration:
    """The file as it is now; one that can't be read is ``broken``."""
    program = spot.program
    beside = _codex_switch(spot) if program.name == "codex" else None
    try:
        data = _read(spot.path)
    except Refused as refusal:
        return Registration(spot, BROKEN, refusal.what, switch=beside)
    if data is None:
        return Registration(spot, ABSENT, switch=beside)
    looked = look(program, spot.place, data, shared=spot.is_shared)
    named = b"agent-hook" in data
    if program.shape == PLUGIN:
        entries = _of_plugin(program) if looked.state != ABSENT else ()
        return Registration(spot, looked.state, looked.why, entries=entries, named=named)
    if looked.state == BROKEN or not data.decode().strip(BLANK):
        return Registration(spot, looked.state, looked.why, named=named, switch=beside)
    root = parse(data.decode())
    entries, strangers = _entries(spot, root)
    off = switched_off(root)
    return Registration(
        spot, looked.state, looked.why, entries=entries, strangers=strangers, named=named,
        switch=(spot.path, off) if off else beside,
    )  # fmt: skip


def _read(path: str) -> bytes | None:
    real = os.path.realpath(path)
    return read_settings(real, os.path.dirname(real)).data


def _codex_switch(spot: "Spot") -> tuple[str, str] | None:
    """Codex has its switches in another file, beside the hooks."""
    import tomllib

    path = os.path.join(os.path.dirname(spot.path), "config.toml")
    try:
        features = tomllib.loads((_read(path) or b"").decode()).get("features")
    except (Refused, ValueError):  # then it is no switch, and Codex says itself what is wrong with it
        return None
    for name in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(name) is False:
            return path, f"features.{name} is false"
    return None


def _of_plugin(program: "Program") -> tuple[Entry, ...]:
    """A plugin of ours runs our command by the name on the PATH, at each of its events."""
    return tuple(
        Entry(one.event, one.matcher, "", tuple(commands(program, one, shared=False)["command"].split()))
        for one in program.events
    )


def _entries(spot: "Spot", root: "Node") -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Those of ours, and the events that have none."""
    entries: list[Entry] = []
    strangers = []
    found = root.at(spot.place.within)
    events = found.value() if found is not None else None
    for event, listed in events.items() if isinstance(events, dict) else ():
        ours = [one for one in _of_event(spot.program, event, listed) if is_ours(one.shown)]
        entries += ours
        if not ours and isinstance(listed, list):
            strangers.append(event)
    if has_plugin(root):
        entries += _of_plugin(spot.program)
    return tuple(entries), tuple(strangers)


def _of_event(program: "Program", event: str, listed: object) -> "Iterator[Entry]":
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        matcher = _text(one, "matcher")
        inner = one.get("hooks") if program.shape == NESTED else [one]
        for hook in inner if isinstance(inner, list) else ():
            if isinstance(hook, dict):
                yield _entry(event, matcher, hook)


def _entry(event: str, matcher: str, hook: "dict[str, object]") -> Entry:
    line = _text(hook, "bash") or _text(hook, "command")
    words = hook.get("args")
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return Entry(event, matcher, line, (line, *(str(word) for word in words)))
    return Entry(event, matcher, line)


def _text(record: "dict[str, object]", name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
