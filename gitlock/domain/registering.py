"""Our entries in one settings file: looking for them, putting them in, taking them out. Text in, text out.

An entry is ours by the command that it runs, wherever it stands and whatever else a person has changed about it. What
is there and does what it should is left as it is; what is ours and old is mended in its place; what is missing goes
to the end of its event's list, since programs know the entries of others by their number.
"""

from gitlock.domain import jsonc
from gitlock.domain.entries import Found, fault_of, lacking, ours, plain, timeout_field
from gitlock.domain.hookcommand import commands, does_more, is_current, is_ours, kept_words
from gitlock.domain.jsonc import ARRAY, OBJECT, Node, parse
from gitlock.domain.programs import MILLISECONDS, NESTED, TWO_SHELLS
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.jsonc import Path
    from gitlock.domain.programs import Asked, Place, Program

SET_UP, ABSENT, INCOMPLETE, OFF = "set-up", "absent", "incomplete", "off"

MANY = 200  # entries of ours that are taken out: a dozen is what there should be

BY_PLUGIN = "by its git-lock plugin, which has the same hooks"

BLANK = "\ufeff \t\r\n"


class Odd(Exception):
    """The settings hold something that we can't add to: ``what``, in which ``line``."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Looked(Value):
    """What a file says of us: ``state``, and ``why`` where that is not plain."""

    __slots__ = ("state", "why")

    def __init__(self, state: str, why: str = "") -> None:
        self.state = state
        self.why = why


class Marks(Value):
    """What has to be known to leave a file byte for byte as it was found: ``made`` are the keys and lists that were not
    there, ``rests`` what stood at the end of the lists that were; ``blank`` is all of a file that said nothing (None:
    it said something)."""

    __slots__ = ("blank", "made", "rests")

    def __init__(
        self,
        made: "tuple[Path, ...]" = (),
        rests: "tuple[tuple[Path, str], ...]" = (),
        blank: str | None = None,
    ) -> None:
        self.blank = blank
        self.made = made
        self.rests = rests

    def rest(self, path: "Path") -> str | None:
        """What stood at the end of the container at ``path``, if we have added to it."""
        return next((text for where, text in self.rests if where == path), None)

    def grown(self, path: "Path", rest: str) -> "Marks":
        """With what an addition to ``path`` has said. The first one counts; what we made ourselves has no before."""
        if path in self.made or self.rest(path) is not None:
            return self
        return self.replace(rests=(*self.rests, (path, rest)))


def fresh(program: "Program", place: "Place") -> str:
    """The document of a file that is not there yet."""
    text, _ = put(program, place, "{}\n", Marks())
    return text


def look(program: "Program", place: "Place", text: str) -> Looked:
    """What a document says of us. ``jsonc.Broken`` where it is none; an odd one is one without us."""
    root = parse(text)
    found = list(ours(program, place, root))
    if not found:
        return Looked(SET_UP, BY_PLUGIN) if has_plugin(root) else Looked(ABSENT)
    why = _missing(program, root, found)
    if why:
        return Looked(INCOMPLETE, why)
    off = switched_off(root)
    return Looked(OFF, off) if off else Looked(SET_UP)


def has_plugin(root: Node) -> bool:
    """Whether the settings enable our plugin, which brings the hooks along."""
    plugins = root.child("enabledPlugins")
    return plugins is not None and any(
        str(one.key).startswith("git-lock@") and one.node.plain is True for one in plugins.children
    )


def switched_off(root: Node) -> str:
    """How a document switches hooks off, ours included; empty where it does not."""
    if plain(root, ("disableAllHooks",)) is True:
        return "disableAllHooks is true"
    if plain(root, ("hooksConfig", "enabled")) is False:
        return "hooksConfig.enabled is false"
    disabled = root.at(("hooksConfig", "disabled"))
    if disabled is not None and any(
        isinstance(one.node.plain, str) and (one.node.plain == "git-lock" or is_ours(one.node.plain))
        for one in disabled.children
    ):
        return "hooksConfig.disabled names git-lock"
    return ""


def put(program: "Program", place: "Place", text: str, marks: Marks) -> tuple[str, Marks]:
    """The document with all of our entries, and what has to be known to take them out again. ``jsonc.Broken`` or
    ``Odd`` where that can't be done; the same text where nothing is to be done."""
    if not text.strip(BLANK):
        marks = marks.replace(blank=text)
        text = (text[:1] if text[:1] == "\ufeff" else "") + "{}" + (text.lstrip("\ufeff") or "\n")
    _refuse_odd(program, place, text)
    for key, value in program.heads:
        if parse(text).child(key) is None:
            text, marks = _added(text, (), key, value, marks)
    if place.within and parse(text).at(place.within) is None:
        text, marks = _added(text, place.within[:-1], place.within[-1], {}, marks)
    for asked in program.events:
        text, marks = _put_event(program, place, text, marks, asked)
    return text, marks


def take(program: "Program", place: "Place", text: str, marks: "Marks | None") -> str:
    """The document without any entry of ours, and without what was made for them and is empty now. Without ``marks``
    (nothing is remembered) empty lists of ours go, and nothing else. ``jsonc.Broken`` or ``Odd`` where that can't be
    done."""
    if not text.strip(BLANK):
        return text
    _refuse_hidden(place, text)
    known = marks or Marks()
    every = list(ours(program, place, parse(text)))
    if len(every) > MANY:
        raise Odd(f"more than {MANY} entries run git-lock", 1)
    while found := next(iter(ours(program, place, parse(text))), None):
        _refuse_more(text, found)
        text = _without(text, found, known)
        path = (*place.within, found.event)
        if _is_empty(text, path) and (marks is None or path in marks.made):
            text = jsonc.drop(text, path, known.rest(place.within))
    if place.within and _is_empty(text, place.within) and (marks is None or place.within in marks.made):
        text = jsonc.drop(text, place.within, known.rest(place.within[:-1]))
    for key, value in reversed(program.heads):
        if (key,) in known.made and plain(parse(text), (key,)) == value:
            text = jsonc.drop(text, (key,), known.rest(()))
    return text if known.blank is None or text.strip(BLANK) != "{}" else known.blank


def is_bare(program: "Program", text: str) -> bool:
    """Whether nothing but what every file of ours begins with is left of a document."""
    if not text.strip(BLANK):
        return True
    root = parse(text)
    heads = dict(program.heads)
    if any(one.key not in heads or one.node.plain != heads[one.key] for one in root.children):
        return False
    return "/*" not in text and "//" not in text and root.kind == OBJECT


def _refuse_odd(program: "Program", place: "Place", text: str) -> None:
    root = parse(text)
    where: Path = ()
    for key in ("", *place.within):
        where = (*where, key) if key else where
        node = root.at(where)
        if node is None:
            return
        name = ".".join(map(str, where)) or "the document"
        if node.kind != OBJECT:
            raise Odd(f"{_named(name)} is not an object", _line(text, node))
    hooks = root.at(place.within)
    assert hooks is not None
    for key in place.within[:1]:
        if root.twice(key):
            raise Odd(f"'{key}' is there twice", _line(text, hooks))
    for asked in program.events:
        if hooks.twice(asked.event):
            raise Odd(f"'{'.'.join((*place.within, asked.event))}' is there twice", _line(text, hooks))
        node = hooks.child(asked.event)
        if node is not None and node.kind != ARRAY:
            raise Odd(f"'{'.'.join((*place.within, asked.event))}' is not a list", _line(text, node))


def _refuse_hidden(place: "Place", text: str) -> None:
    """Of a key that is there twice the last counts, and where that is taken away, the first: so nothing is, where we
    stand in both."""
    root = parse(text)
    for node in (root, root.at(place.within)):
        known: dict[str | None, Node] = {}
        for one in node.children if node is not None and node.kind == OBJECT else ():
            earlier = known.get(one.key)
            if earlier is not None and is_ours(text[earlier.start : earlier.end]):
                raise Odd(f"'{one.key}' is there twice", _line(text, earlier))
            known[one.key] = one.node


def _refuse_more(text: str, found: "Found") -> None:
    """What a person runs besides us, in the same command, is not ours to write anew or to take out."""
    if does_more(found.command):
        node = parse(text).at(found.handler)
        assert node is not None
        raise Odd(f"a command at {found.event} runs git-lock and something else", _line(text, node))


def _line(text: str, node: Node) -> int:
    return text.count("\n", 0, node.start) + 1


def _named(name: str) -> str:
    return name if name == "the document" else f"'{name}'"


def _missing(program: "Program", root: Node, found: "list[Found]") -> str:
    """What of our entries is not there, or not as it should be."""
    absent = [one.event for one in program.events if not any(our.event == one.event for our in found)]
    if absent:
        return f"nothing asks us at {', '.join(absent[:3])}" + (f" and {len(absent) - 3} more" if absent[3:] else "")
    for asked in program.events:
        here = [one for one in found if one.event == asked.event]
        faults = [fault_of(program, root, one, asked) for one in here]
        if all(faults):
            return f"{asked.event}: {faults[0]}"
    return ""


def _put_event(
    program: "Program", place: "Place", text: str, marks: Marks, asked: "Asked"
) -> tuple[str, Marks]:
    root = parse(text)
    found = [one for one in ours(program, place, root) if one.event == asked.event]
    path = (*place.within, asked.event)
    if not found:
        entry = _entry(program, asked)
        if root.at(path) is None:
            return _added(text, place.within, asked.event, [entry], marks)
        return _added(text, path, None, entry, marks)
    if not all(fault_of(program, root, one, asked) for one in found):
        return text, marks
    return _mended(program, text, found[0], asked), marks


def _mended(program: "Program", text: str, found: "Found", asked: "Asked") -> str:
    """An entry of ours brought up to date: only what is wrong with it is written anew."""
    if not is_current(program, asked, found.command):
        _refuse_more(text, found)
        text = _set(text, found.handler, commands(program, asked, kept=kept_words(found.command)))
        if parse(text).at((*found.handler, "args")) is not None:
            text = jsonc.drop(text, (*found.handler, "args"))
    if lacking(plain(parse(text), (*found.entry, "matcher")), asked):
        text = _set(text, found.entry, {"matcher": asked.matcher})
    field = timeout_field(program)
    if field and fault_of(program, parse(text), found, asked).startswith("its " + field):
        text = _set(text, found.handler, {field: _timeout(program, asked)})
    return text


def _set(text: str, path: "Path", fields: "Mapping[str, object]") -> str:
    for key, value in fields.items():
        if parse(text).at((*path, key)) is None:
            text, _ = jsonc.append(text, path, key, value)
        else:
            text = jsonc.put(text, (*path, key), value)
    return text


def _added(text: str, path: "Path", key: str | None, value: object, marks: Marks) -> tuple[str, Marks]:
    after, rest = jsonc.append(text, path, key, value)
    marks = marks.grown(path, rest)
    return after, marks if key is None else marks.replace(made=(*marks.made, (*path, key)))


def _entry(program: "Program", asked: "Asked") -> dict[str, object]:
    """One entry, its fields in the order of the program's own manual."""
    runs = dict(commands(program, asked))
    field = timeout_field(program)
    limit: dict[str, object] = {field: _timeout(program, asked)} if field else {}
    matcher: dict[str, object] = {"matcher": asked.matcher} if asked.matcher else {}
    if program.shape == NESTED:
        handler = {**dict(program.extra), "type": "command", **runs, **limit}
        return {**matcher, "hooks": [handler]}
    kind: dict[str, object] = {"type": "command"} if program.shape == TWO_SHELLS else {}
    return {**kind, **matcher, **runs, **limit, **dict(program.extra)}


def _timeout(program: "Program", asked: "Asked") -> int:
    return asked.timeout * 1000 if program.unit == MILLISECONDS else asked.timeout


def _without(text: str, found: "Found", marks: Marks) -> str:
    """Without one entry: the handler alone, where its group has others."""
    if found.handler != found.entry:
        handlers = parse(text).at(found.handler[:-1])
        assert handlers is not None
        if len(handlers.children) > 1:
            return jsonc.drop(text, found.handler)
    return jsonc.drop(text, found.entry, marks.rest(found.entry[:-1]))


def _is_empty(text: str, path: "Path") -> bool:
    node = parse(text).at(path)
    return node is not None and node.kind in (OBJECT, ARRAY) and not node.children
