"""Surgery on JSON as people write it: with comments, trailing commas, their own order and indentation.

A document is parsed for where things stand, never written anew: what is added or taken out is a piece of text, and
every other byte stays. ``drop`` with what ``append`` said gives the very text from before, whatever was done elsewhere
in the document meanwhile.
"""

import re

from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = tuple[str | int, ...]

OBJECT, ARRAY, SCALAR = "object", "array", "scalar"
DEPTH = 100  # containers inside one another; no settings file needs more
VALUES = 20_000  # of all kinds; no settings file has more, and each change reads all of them anew

_SPACE = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BREAK = re.compile(r"[\r\n]")
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


class Broken(Exception):
    """A text that is no JSON, comments and trailing commas allowed: ``what`` is wrong in ``line`` at ``column``, both
    counted from 1."""

    def __init__(self, text: str, at: int, what: str) -> None:
        super().__init__(what)
        before = text[:at]
        self.line = before.count("\n") + 1
        self.column = at - (before.rfind("\n") + 1) + 1
        self.what = what


class Node(Value):
    """A value and where it stands: ``start`` to before ``end``. ``children`` are those of an object or array."""

    __slots__ = ("children", "end", "kind", "plain", "start")

    def __init__(self, kind: str, start: int, end: int, children: "tuple[Child, ...]", plain: object = None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.children = children
        self.plain = plain

    def value(self) -> object:
        """What it says, as Python has it; of a key that is there twice the last counts, as in programs."""
        if self.kind == OBJECT:
            return {str(one.key): one.node.value() for one in self.children}
        if self.kind == ARRAY:
            return [one.node.value() for one in self.children]
        return self.plain

    def at(self, path: "Path") -> "Node | None":
        """The node that a path of keys and indexes leads to, or None."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            node = node.child(step)
        return node

    def child(self, step: str | int) -> "Node | None":
        """The node under one key or index, or None."""
        index = self.index(step)
        return None if index is None else self.children[index].node

    def index(self, step: str | int) -> int | None:
        """Where among the children a key is (the last one of that name), or an index, or None."""
        if isinstance(step, int):
            return step if self.kind == ARRAY and -1 < step < len(self.children) else None
        found = [at for at, one in enumerate(self.children) if self.kind == OBJECT and one.key == step]
        return found[-1] if found else None

    def twice(self, key: str) -> bool:
        """Whether a key is there more than once."""
        return sum(one.key == key for one in self.children) > 1


class Child(Value):
    """One member or item: its key (None in an array), where it begins, its value, and where its comma is (-1: it has
    none)."""

    __slots__ = ("comma", "key", "node", "start")

    def __init__(self, key: str | None, start: int, node: Node, comma: int) -> None:
        self.key = key
        self.start = start
        self.node = node
        self.comma = comma


def parse(text: str) -> Node:
    """The document; ``Broken`` where it is none. A byte order mark may lead it."""
    reader = _Reader(text)
    at = reader.skip(1 if text[:1] == "\ufeff" else 0)
    node = reader.value(at, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise Broken(text, end, "there is something after the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.values = 0

    def skip(self, at: int) -> int:
        """Past white space and comments."""
        text = self.text
        while at < len(text):
            found = _SPACE.match(text, at)
            if found:
                at = found.end()
            elif text.startswith("//", at):
                at = _line_end(text, at)
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise Broken(text, at, "a comment has no end")
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        text = self.text
        self.values += 1
        if self.values > VALUES:
            raise Broken(text, at, f"more than {VALUES} values")
        letter = text[at : at + 1]
        if letter in ("{", "["):
            if depth >= DEPTH:
                raise Broken(text, at, f"more than {DEPTH} levels deep")
            return self.container(at, depth, letter)
        if letter == '"':
            end, plain = self.string(at)
            return Node(SCALAR, at, end, (), plain)
        found = _NUMBER.match(text, at)
        if found:
            word = found.group()
            number: object = float(word) if set(word) & set(".eE") else _whole(word)
            return Node(SCALAR, at, found.end(), (), number)
        for name, meaning in _WORDS.items():
            if text.startswith(name, at):
                return Node(SCALAR, at, at + len(name), (), meaning)
        raise Broken(text, at, "a value is missing" if letter in ("", "}", "]", ",", ":") else f"what is {letter!r}?")

    def container(self, start: int, depth: int, opening: str) -> Node:
        text = self.text
        kind, closing = (OBJECT, "}") if opening == "{" else (ARRAY, "]")
        children: list[Child] = []
        at = self.skip(start + 1)
        while text[at : at + 1] != closing:
            begin, key = at, None
            if kind == OBJECT:
                if text[at : at + 1] != '"':
                    raise Broken(text, at, f"a key in quotes or '{closing}' is missing")
                at, key = self.string(at)
                at = self.skip(at)
                if text[at : at + 1] != ":":
                    raise Broken(text, at, "':' is missing")
                at = self.skip(at + 1)
            node = self.value(at, depth + 1)
            at = self.skip(node.end)
            comma = at if text[at : at + 1] == "," else -1
            children.append(Child(key, begin, node, comma))
            if comma >= 0:
                at = self.skip(at + 1)
            elif text[at : at + 1] != closing:
                raise Broken(text, at, f"',' or '{closing}' is missing")
        return Node(kind, start, at + 1, tuple(children))

    def string(self, start: int) -> tuple[int, str]:
        text, at = self.text, start + 1
        parts: list[str] = []
        while True:
            found = _PLAIN.match(text, at)
            assert found is not None
            parts.append(found.group())
            at = found.end()
            letter = text[at : at + 1]
            if letter == '"':
                return at + 1, "".join(parts)
            if letter != "\\":
                raise Broken(text, start if not letter else at, "a text has no end quote")
            at, meant = self.escaped(at)
            parts.append(meant)

    def escaped(self, at: int) -> tuple[int, str]:
        letter = self.text[at + 1 : at + 2]
        if letter in _ESCAPES:
            return at + 2, _ESCAPES[letter]
        number = self.unit(at)
        if number is None:
            raise Broken(self.text, at, "'\\' before a letter that it has no meaning for")
        if 0xD800 <= number < 0xDC00:
            second = self.unit(at + 6)
            if second is not None and 0xDC00 <= second < 0xE000:
                return at + 12, chr(0x10000 + ((number - 0xD800) << 10) + second - 0xDC00)
        return at + 6, chr(number)

    def unit(self, at: int) -> int | None:
        found = _UNIT.match(self.text, at)
        return int(found.group(1), 16) if found else None


def _whole(word: str) -> object:
    return int(word) if len(word) < 4000 else float(word)  # Python refuses to read longer ones


def _line_end(text: str, at: int) -> int:
    """Where a line's comment ends: before whatever ends the line."""
    found = _BREAK.search(text, at)
    return found.start() if found else len(text)


class Style(Value):
    """How a document is written: one step of indentation, and what ends a line."""

    __slots__ = ("newline", "step")

    def __init__(self, step: str, newline: str) -> None:
        self.step = step
        self.newline = newline


def style_of(text: str, root: Node) -> Style:
    """The style of a document; two spaces and LF where it shows none."""
    end = text.find("\n")
    newline = "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
    step = _indent(text, root.children[0].start) if root.children else ""
    return Style(step or "  ", newline)


def _indent(text: str, at: int) -> str:
    """The white space that a line begins with, where nothing else is before ``at`` in it; else empty."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip(" \t") else ""


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def render(value: object, style: Style, indent: str = "") -> str:
    """A value as text, a line each, as a program's own settings look."""
    if isinstance(value, dict) and value:
        rows = [f"{quoted(str(key))}: {render(one, style, indent + style.step)}" for key, one in value.items()]
        return _block("{", rows, "}", style, indent)
    if isinstance(value, list | tuple) and value:
        return _block("[", [render(one, style, indent + style.step) for one in value], "]", style, indent)
    if isinstance(value, dict | list | tuple):
        return "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, str):
        return quoted(value)
    for word, meaning in _WORDS.items():
        if value is meaning:
            return word
    return str(value)


def _block(opening: str, rows: list[str], closing: str, style: Style, indent: str) -> str:
    inside = f",{style.newline}{indent}{style.step}".join(rows)
    return f"{opening}{style.newline}{indent}{style.step}{inside}{style.newline}{indent}{closing}"


def quoted(text: str) -> str:
    """A text in JSON's quotes."""
    named = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(named.get(one, one if one >= " " else f"\\u{ord(one):04x}") for one in text) + '"'


def append(text: str, path: "Path", key: str | None, value: object) -> tuple[str, str]:
    """The document with one more member (``key``) or item at the end of the container at ``path``; and what stood
    between the end of that container's last child and its closing bracket, for ``drop``."""
    root = parse(text)
    node = root.at(path)
    assert node is not None
    assert node.kind == (ARRAY if key is None else OBJECT)
    style = style_of(text, root)
    close = node.end - 1
    if node.children:
        last = node.children[-1]
        begin, comma = last.node.end, last.comma
        at = comma + 1 if comma >= 0 else begin
        outer = _line_indent(text, node.start)
        indent = _indent(text, last.start) or outer + style.step
    else:
        begin, comma, at = node.start + 1, -1, node.start + 1
        outer = _line_indent(text, node.start)
        indent = outer + style.step
    for _, end in _comments(text, at, close):
        at = end
    row = "" if key is None else f"{quoted(key)}: "
    new = f"{style.newline}{indent}{row}{render(value, style, indent)}"
    if comma >= 0:
        new += ","
    if "\n" not in text[at:close]:
        new += style.newline + outer
    before = text[:begin] + ("," if node.children and comma < 0 else "") + text[begin:at]
    return before + new + text[at:], text[begin:close]


def drop(text: str, path: "Path", rest: str | None = None) -> str:
    """The document without the child that ``path`` leads to. ``rest`` is what ``append`` has said when the container's
    first child of ours was added: where nothing was appended after it since, that text stands there again."""
    node = parse(text).at(path[:-1])
    assert node is not None
    index = node.index(path[-1])
    assert index is not None
    child, close = node.children[index], node.end - 1
    before = node.children[index - 1] if index else None
    if rest is not None and index == len(node.children) - 1:
        begin = before.node.end if before is not None else node.start + 1
        ours = [*_texts(text, begin, child.start), *_texts(text, child.node.end, close)]
        has_comma = "," in _without_comments(rest)  # which a program that wrote the file anew has left out
        if ours == list(_texts(rest, 0, len(rest))) and has_comma == (before is not None and child.comma >= 0):
            return text[:begin] + rest + text[close:]
    start = _line_break_kept(text, before.node.end if before is not None else node.start + 1, child)
    if child.comma >= 0:
        return text[:start] + text[child.node.end : child.comma] + text[child.comma + 1 :]
    left, right = text[:start], text[child.node.end :]
    if before is not None:
        return text[: before.comma] + text[before.comma + 1 : start] + right
    inner = text[node.start + 1 : start] + text[child.node.end : close]
    return left + right if inner.strip(" \t\r\n") else text[: node.start + 1] + text[close:]


def _line_break_kept(text: str, begin: int, child: Child) -> int:
    """Where the white space before a child begins that goes with it: what ends a comment before it stays, unless
    something behind the child does so as well."""
    start = child.start
    while text[start - 1] in " \t\r\n":
        start -= 1
    last = max(_comments(text, begin, child.start), default=(0, 0))
    behind = text[child.node.end : max(child.node.end, child.comma)] + text[max(child.node.end, child.comma + 1) :]
    behind = behind.lstrip(" \t")
    if last[1] != start or not text.startswith("//", last[0]) or behind[:1] in ("\r", "\n"):
        return start
    return start + (2 if text.startswith("\r\n", start) else 1)


def put(text: str, path: "Path", value: object) -> str:
    """The document with another value at ``path``, in the place of the one that is there."""
    root = parse(text)
    node = root.at(path)
    assert node is not None
    new = render(value, style_of(text, root), _line_indent(text, node.start))
    return text[: node.start] + new + text[node.end :]


def _comments(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    """Where comments begin and end in a stretch that holds nothing else but white space and commas."""
    while at < end:
        if text.startswith("//", at):
            stop = _line_end(text, at)
        elif text.startswith("/*", at):
            stop = text.index("*/", at + 2) + 2
        else:
            at += 1
            continue
        yield at, stop
        at = stop


def _texts(text: str, at: int, end: int) -> "Iterator[str]":
    return (text[start:stop] for start, stop in _comments(text, at, end))


def _without_comments(text: str) -> str:
    begin, parts = 0, []
    for start, end in _comments(text, 0, len(text)):
        parts.append(text[begin:start])
        begin = end
    return "".join((*parts, text[begin:]))
