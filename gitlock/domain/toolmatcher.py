"""Does an agent program's matcher take a tool? A list of names, or a regular expression as JavaScript has it.

The expression comes from a repository, and ``re`` can be kept busy for hours by a short one. So it is read here, as
far as matchers go, and all places that it can come to are followed at once, which takes a time in proportion (Thompson,
"Regular expression search algorithm", CACM 11, 1968).
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # From all places in the name where a part may begin, to all where it may end.
    Part = Callable[[str, frozenset[int]], frozenset[int]]

DEPTH = 30  # brackets inside one another; no matcher needs more
LONG = 4000  # characters; more than all tools that there are

_LIST = re.compile(r"[A-Za-z0-9_\-, |]*")
_CLASSES = {"d": str.isdigit, "w": lambda one: one.isalnum() or one == "_", "s": str.isspace}


class _Foreign(Exception):
    """Something that is not read here: a look ahead, a count, a reference."""


def takes(matcher: str, tool: str) -> bool:
    """Whether the matcher takes this tool. One that is no expression takes none; one in a language of its own is
    believed to, as what it asks for is then tried."""
    if matcher in ("", "*"):
        return True
    if _LIST.fullmatch(matcher):
        return tool in {name.strip() for name in re.split(r"[|,]", matcher)}
    if len(matcher) > LONG:
        return True
    try:
        part = _Reader(matcher).whole()
    except _Foreign:
        return True
    except ValueError:
        return False
    return bool(part(tool, frozenset(range(len(tool) + 1))))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def whole(self) -> "Part":
        part = self.either(0)
        if self.at < len(self.text):
            raise ValueError("a bracket too many")
        return part

    def either(self, depth: int) -> "Part":
        if depth > DEPTH:
            raise _Foreign
        ways = [self.sequence(depth)]
        while self.next() == "|":
            self.at += 1
            ways.append(self.sequence(depth))
        return lambda name, places: frozenset().union(*(way(name, places) for way in ways))

    def sequence(self, depth: int) -> "Part":
        parts: list[Part] = []
        while self.next() not in ("", "|", ")"):
            parts.append(self.repeated(depth))

        def part(name: str, places: frozenset[int]) -> frozenset[int]:
            for one in parts:
                places = one(name, places)
                if not places:
                    break
            return places

        return part

    def repeated(self, depth: int) -> "Part":
        part = self.single(depth)
        sign = self.next()
        if sign == "{":
            raise _Foreign
        if sign not in ("*", "+", "?"):
            return part
        self.at += 1
        if self.next() == "?":  # as few as possible, which is the same for whether it matches at all
            self.at += 1
        if sign == "?":
            return lambda name, places: places | part(name, places)
        if sign == "+":
            return lambda name, places: _any_number(part, name, part(name, places))
        return lambda name, places: _any_number(part, name, places)

    def single(self, depth: int) -> "Part":
        letter = self.next()
        self.at += 1
        if letter == "(":
            return self.group(depth)
        if letter == "[":
            return _letter(self.letters())
        if letter == "\\":
            return self.escaped()
        if letter == "^":
            return _beginning
        if letter == "$":
            return _end
        if letter == ".":
            return _letter(bool)
        if letter in "*+?":
            raise ValueError("nothing is repeated")
        if letter == "{":
            raise _Foreign
        return _letter(lambda one: one == letter)

    def group(self, depth: int) -> "Part":
        if self.next() == "?":
            if self.text[self.at : self.at + 2] != "?:":
                raise _Foreign
            self.at += 2
        part = self.either(depth + 1)
        if self.next() != ")":
            raise ValueError("a bracket has no end")
        self.at += 1
        return part

    def escaped(self) -> "Part":
        letter = self.next()
        self.at += 1
        if not letter:
            raise ValueError("an escape of nothing")
        if letter.lower() in _CLASSES:
            known = _CLASSES[letter.lower()]
            return _letter(known if letter.islower() else lambda one: not known(one))
        if letter.isalnum():
            raise _Foreign
        return _letter(lambda one: one == letter)

    def letters(self) -> "Callable[[str], bool]":
        end = self.text.find("]", self.at)
        inside = self.text[self.at : end]
        if end < 0:
            raise ValueError("a bracket has no end")
        if "\\" in inside:
            raise _Foreign
        self.at = end + 1
        negated = inside[:1] == "^"
        inside = inside[negated:]
        wanted: list[tuple[str, str]] = []
        while inside:
            if inside[1:2] == "-" and inside[2:]:
                wanted.append((inside[0], inside[2]))
                inside = inside[3:]
            else:
                wanted.append((inside[0], inside[0]))
                inside = inside[1:]
        return lambda one: any(low <= one <= high for low, high in wanted) != negated

    def next(self) -> str:
        return self.text[self.at : self.at + 1]


def _beginning(_: str, places: frozenset[int]) -> frozenset[int]:
    return places & {0}


def _end(name: str, places: frozenset[int]) -> frozenset[int]:
    return places & {len(name)}


def _letter(is_meant: "Callable[[str], bool]") -> "Part":
    return lambda name, places: frozenset(at + 1 for at in places if at < len(name) and is_meant(name[at]))


def _any_number(part: "Part", name: str, places: frozenset[int]) -> frozenset[int]:
    fresh = places
    while fresh:
        fresh = part(name, fresh) - places
        places |= fresh
    return places
