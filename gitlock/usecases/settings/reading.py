"""What one settings file of an agent program says of us: whether we are set up, and what it asks to be run.

Links are followed, as the programs do: it is only writing that stops at them.
"""

import os

from gitlock.domain.hookcommand import commands, is_ours
from gitlock.domain.jsonc import parse
from gitlock.domain.programs import NESTED, PLUGIN
from gitlock.domain.registering import ABSENT, BLANK, BY_PLUGIN, SET_UP, has_plugin, switched_off
from gitlock.domain.toolmatcher import takes
from gitlock.domain.value import Value
from gitlock.usecases.settings.codex import read_config
from gitlock.usecases.settings.disk import Refused, read_settings
from gitlock.usecases.settings.documents import BROKEN, look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitlock.domain.jsonc import Node
    from gitlock.domain.programs import Program
    from gitlock.usecases.settings.places import Spot


class Entry(Value):
    """One command that a file asks for. ``line`` is for a shell; ``words``, where there are any, are for none;
    ``matcher`` names the tools; ``by_plugin`` says that the file only switches on the plugin of ours that asks."""

    __slots__ = ("by_plugin", "event", "line", "matcher", "words")

    def __init__(
        self, event: str, matcher: str, line: str, words: tuple[str, ...] = (), *, by_plugin: bool = False
    ) -> None:
        self.event = event
        self.matcher = matcher
        self.line = line
        self.by_plugin = by_plugin
        self.words = words

    @property
    def shown(self) -> str:
        """The command on one line."""
        return " ".join(self.words) or self.line

    def meets(self, tool: str) -> bool:
        """Whether the matcher takes this tool: a list of names, else a regular expression."""
        return takes(self.matcher, tool)


class Registration(Value):
    """What the settings file at ``spot`` says of us, whether it is there or not.

    ``scope`` is ``private`` (this clone's own), ``shared`` (git tracks it, or it is the one that teams commit) or
    ``user``. ``state`` is ``absent``, ``set-up``, ``incomplete`` (something of ours is missing or old), ``off`` (hooks
    are switched off) or ``broken`` (``named``: though our command stands in it), and ``why`` says what is the matter.
    ``entries`` are those of ours, ``strangers`` the events that have none. ``switch`` is the file that switches all
    hooks off, this one or one beside it, and how it does; None where none does. ``plugin`` is the file that enables our
    plugin, where that is another one.
    """

    __slots__ = ("entries", "named", "plugin", "scope", "spot", "state", "strangers", "switch", "why")

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
        plugin: str | None = None,
    ) -> None:
        self.spot = spot
        self.scope = spot.scope
        self.state = state
        self.why = why
        self.entries = entries
        self.strangers = strangers
        self.named = named
        self.switch = switch
        self.plugin = plugin

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
    config = read_config(spot.path) if program.name == "codex" else None
    beside = (config.path, config.switch) if config is not None and config.switch is not None else None
    if config is not None and config.plugin and spot.top is None:
        return _with_plugin(spot, config.path, beside)
    return _of_file(spot, beside)


def _with_plugin(spot: "Spot", plugin: str, beside: tuple[str, str] | None) -> Registration:
    """The file of a person whose own settings enable our plugin, which has hooks of its own."""
    found = _of_file(spot, beside)
    if found.state == BROKEN:
        return found
    if not found.entries:
        found = found.replace(state=SET_UP, why=BY_PLUGIN)
    return found.replace(entries=(*found.entries, *_of_plugin(spot.program)), plugin=plugin)


def _of_file(spot: "Spot", beside: tuple[str, str] | None) -> Registration:
    program = spot.program
    try:
        data = _read(spot.path)
    except Refused as refusal:
        return Registration(spot, BROKEN, refusal.what, switch=beside)
    if data is None:
        return Registration(spot, ABSENT, switch=beside)
    looked = look(program, spot.place, data)
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


def _of_plugin(program: "Program") -> tuple[Entry, ...]:
    """What a plugin of ours runs at each of its events: lines for a shell, where it is a list of hooks; where it is
    code, our command by the name on the PATH."""
    lines = [(one, commands(program, one)["command"]) for one in program.events]
    if program.shape == PLUGIN:
        return tuple(Entry(one.event, one.matcher, "", tuple(line.split()), by_plugin=True) for one, line in lines)
    return tuple(Entry(one.event, one.matcher, line, by_plugin=True) for one, line in lines)


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
