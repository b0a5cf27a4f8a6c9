"""What the settings files of an agent program ask to be run before an edit, as it is written there.

Links are followed, as the programs do; nothing is written.
"""

import os
import re

from gitlock.domain.hookcommand import commands, is_ours
from gitlock.domain.jsonc import Broken, parse
from gitlock.domain.programs import NESTED, PLUGIN
from gitlock.domain.registering import ABSENT
from gitlock.domain.value import Value
from gitlock.usecases.settings.documents import BROKEN, look, switches
from gitlock.usecases.settings.places import PRIVATE, SHARED, in_worktree, of_person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitlock.domain.programs import Program
    from gitlock.usecases.settings.places import Spot

LIMIT = 1 << 20  # bytes of a settings file
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


class Registered(Value):
    """One settings file that is there. ``state`` and ``why`` are as in ``gitlock.domain.registering``, or ``broken``
    (``named``: though our command stands in it). ``entries`` are those of ours, ``strangers`` the events that have
    none, ``off`` how it switches all hooks off."""

    __slots__ = ("entries", "named", "off", "path", "program", "scope", "state", "strangers", "why")

    def __init__(
        self,
        program: "Program",
        path: str,
        scope: str,
        state: str,
        why: str,
        *,
        entries: tuple[Entry, ...] = (),
        strangers: tuple[str, ...] = (),
        named: bool = False,
        off: str = "",
    ) -> None:
        self.program = program
        self.path = path
        self.scope = scope
        self.state = state
        self.why = why
        self.entries = entries
        self.strangers = strangers
        self.named = named
        self.off = off


def registered(program: "Program", top: str, environ: "Mapping[str, str]") -> list[Registered]:
    """One for each of the program's settings files that is there: the worktree's private one, its shared one, the
    person's own."""
    spots = [in_worktree(program, top, PRIVATE)]
    if program.private is not None:
        spots.append(in_worktree(program, top, SHARED))
    own = of_person(program, environ)
    spots += [own] if own is not None else []
    found = []
    for spot in spots:
        data = _read(spot.path)
        if data is not None:
            found.append(_registered(spot, data))
        if program.name == "codex":
            found += _codex_config(spot)
    return found


def _codex_config(spot: "Spot") -> "Iterator[Registered]":
    """Codex has its switches in another file, beside the hooks."""
    import tomllib

    path = os.path.join(os.path.dirname(spot.path), "config.toml")
    try:
        features = tomllib.loads((_read(path) or b"").decode("utf-8", "replace")).get("features")
    except tomllib.TOMLDecodeError:
        return
    for name in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(name) is False:
            yield Registered(spot.program, path, spot.scope, ABSENT, "", off=f"features.{name} is false")


def _registered(spot: "Spot", data: bytes) -> Registered:
    program = spot.program
    looked = look(program, spot.place, data, shared=spot.is_shared)
    entries: tuple[Entry, ...] = ()
    strangers: tuple[str, ...] = ()
    if program.shape == PLUGIN:
        entries = _as_plugin(program) if looked.state != ABSENT else ()
    elif looked.state != BROKEN:
        entries, strangers = _entries(spot, data.decode("utf-8", "replace"))
    off = switches(data) if program.shape != PLUGIN and looked.state != BROKEN else ""
    return Registered(
        program, spot.path, spot.scope, looked.state, looked.why, entries=entries, strangers=strangers,
        named=b"agent-hook" in data, off=off,
    )  # fmt: skip


def _read(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        return os.read(fd, LIMIT)
    except OSError:
        return None
    finally:
        os.close(fd)


def _as_plugin(program: "Program") -> tuple[Entry, ...]:
    """A plugin of ours runs our command by the name on the PATH, at each of its events."""
    return tuple(
        Entry(one.event, one.matcher, "", tuple(commands(program, one, shared=False)["command"].split()))
        for one in program.events
    )


def _entries(spot: "Spot", text: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Those of ours, and the events that have none."""
    try:
        whole = parse(text).value() if text.strip("\ufeff \t\r\n") else {}
    except Broken:
        return (), ()
    if not isinstance(whole, dict):
        return (), ()
    events: object = whole
    for name in spot.place.within:
        events = events.get(name) if isinstance(events, dict) else None
    entries: list[Entry] = []
    strangers = []
    for event, listed in events.items() if isinstance(events, dict) else ():
        ours = [one for one in _of_event(spot.program, event, listed) if is_ours(one.shown)]
        entries += ours
        if not ours and isinstance(listed, list):
            strangers.append(event)
    plugins = whole.get("enabledPlugins")
    if isinstance(plugins, dict) and any(name.startswith("git-lock@") and on for name, on in plugins.items()):
        entries += _as_plugin(spot.program)
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
