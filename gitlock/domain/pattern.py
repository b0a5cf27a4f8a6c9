"""A path pattern: its syntax, its canonical text, and the anchor that an index finds it by.

A pattern is relative to the top of the worktree and anchored there. Inside one segment ``*``, ``?`` and ``[...]`` are
those of git's wildmatch; what that would silently never match (a range that is reversed, a class that nobody knows) is
refused. ``**`` as a whole segment crosses any number of segments, none included. What a match covers below itself is
decided by how the pattern ends, see ``Pattern``.
"""

from __future__ import annotations

from gitlock.domain.anchor import anchor_candidates, anchors_may_meet
from gitlock.domain.segment import PLAIN, QUESTION, Bracket, Fold
from gitlock.domain.value import Value
from gitlock.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from gitlock.domain.segment import RawToken, Segment

__all__ = ["PLAIN", "Fold", "Pattern", "anchor_candidates", "anchors_may_meet", "escape", "parse_pattern"]

MOST_CHARACTERS = 1024  # as long as any path that a person would type; it bounds the work of two patterns
MOST_SEGMENTS = 64


class Pattern(Value):
    """A parsed pattern. Two are equal when their canonical texts are.

    * ``text``: what is stored; parsing it again gives the same pattern.
    * ``segments``: a literal name as text, a glob as a tuple of tokens, ``**`` as None; ``below`` says that the text
      ended in a slash.
    * ``literal``: the path, where there is neither a wildcard nor a slash at the end; else None.
    * ``anchor``: see ``anchor_candidates``.

    A last segment that is literal covers that name and all below it; a slash at the end, a last ``*`` or a last ``**``
    cover everything strictly below; any other last wildcard covers files of exactly that name.
    """

    __slots__ = ("anchor", "below", "literal", "segments", "text")

    def __init__(self, text: str, segments: tuple[Segment, ...], below: bool, literal: str | None) -> None:
        self.text = text
        self.segments = segments
        self.below = below
        self.literal = literal
        self.anchor = _anchor(segments, literal)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if type(other) is Pattern else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"


def parse_pattern(text: str) -> Pattern:
    """The pattern that a text spells; a UsageError (``bad-pattern``) says what is wrong with it.

    A ``/`` or ``./`` in front is dropped, ``//`` and ``/./`` are one slash, several stars in a row inside a segment are
    one; nothing else of the spelling is changed. Braces and a leading ``!`` are ordinary characters.
    """
    if len(text) > MOST_CHARACTERS:
        refuse(f"a pattern of {len(text)} characters is too long: {MOST_CHARACTERS} at most")
    if "\0" in text:
        refuse("a pattern can't hold a NUL character")
    parts = text.split("/")
    below = parts[-1] in ("", ".")
    names = [part for part in parts if part not in ("", ".")]
    if not names:
        refuse(f"'{_shown(text)}' names nothing" if text else "a pattern can't be empty", "'**' stands for everything")
    if len(names) > MOST_SEGMENTS:
        refuse(f"'{_shown(text)}' has {len(names)} segments: {MOST_SEGMENTS} at most")
    if "*" in text or "?" in text or "[" in text or "\\" in text:
        parsed = [parse_name(name) for name in names]
        segments = tuple([segment for segment, _ in parsed])
        names = [spelling for _, spelling in parsed]
        literals = [segment for segment in segments if isinstance(segment, str)]
        literal = "/".join(literals) if len(literals) == len(segments) and not below else None
    else:
        segments = tuple(names)
        literal = None if below else "/".join(names)
    if ".." in segments or "." in segments:
        refuse(f"'{_shown(text)}' has a '.' or '..' in it", "name it from the top of the worktree")
    return Pattern("/".join(names) + ("/" if below else ""), segments, below, literal)


def escape(path: str) -> str:
    """The text of a pattern that names exactly this path (and what is below it)."""
    if path[:1] == "!":
        return "\\!" + escape(path[1:])
    for special in "\\*?[]":  # the backslash first, or it would escape the others' escapes
        path = path.replace(special, "\\" + special)
    return path


def _anchor(segments: tuple[Segment, ...], literal: str | None) -> str:
    if literal is not None and literal.isascii():
        return literal.lower()
    leading = ""
    for segment in segments:
        if not isinstance(segment, str) or not segment.isascii():
            break
        leading += segment + "/"
    return leading.lower()


_POSIX = {
    "alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x01\x1f\x7f\x7f", "digit": "09", "graph": "!~",
    "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf",
}  # fmt: skip


def refuse(problem: str, hint: str | None = None) -> NoReturn:
    """This is no pattern."""
    raise UsageError(problem, hint=hint, id="bad-pattern")


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def parse_name(text: str) -> tuple[Segment, str]:
    """One segment of a pattern, and its canonical spelling (several stars in a row become one)."""
    if text == "**":
        return None, text
    tokens: list[RawToken] = []
    spelling: list[str] = []
    at, wild = 0, False
    while at < len(text):
        char, start = text[at], at
        at += 1
        if char == "*":
            wild = True
            if tokens and tokens[-1] is None:
                continue
            tokens.append(None)
        elif char == "?":
            wild = True
            tokens.append(QUESTION)
        elif char == "[":
            wild = True
            bracket, at = _parse_bracket(text, start)
            tokens.append(bracket)
        else:
            char, at = _member(text, start)
            tokens.append(char)
        spelling.append(text[start:at])
    segment = tuple(tokens) if wild else "".join([token for token in tokens if isinstance(token, str)])
    return segment, "".join(spelling)


def _member(text: str, at: int) -> tuple[str, int]:
    """One character, escaped or not, and where the next begins."""
    if text[at] != "\\":
        return text[at], at + 1
    if at + 1 == len(text):
        refuse(f"'{_shown(text)}' ends in a '\\' that escapes nothing", "write '\\\\' for the character itself")
    return text[at + 1], at + 2


def _parse_bracket(text: str, start: int) -> tuple[Bracket, int]:
    """``[...]`` as git's wildmatch reads it; what it would silently never match is refused."""
    escape_it = "write '\\[' for the character itself"
    at = start + 1
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    first, previous = at, ""  # previous: the character that a '-' would make a range of
    ranges: list[tuple[str, str]] = []
    while at < len(text):
        char = text[at]
        if char == "]" and at > first:
            return Bracket(tuple(ranges), negated), at + 1
        if char == "-" and previous and text[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(text, at + 1)
            if high < previous:
                refuse(f"the range '{previous}-{high}' in '{_shown(text)}' is reversed", f"write '{high}-{previous}'")
            ranges[-1] = (previous, high)
            previous = ""
            continue
        if char == "[" and text[at + 1 : at + 2] == ":":
            end = text.find("]", at + 2)
            if end > at + 2 and text[end - 1] == ":":
                known = _POSIX.get(text[at + 2 : end - 1])
                if known is None:
                    refuse(f"'{_shown(text[at : end + 1])}' is no class of characters", f"known: {' '.join(_POSIX)}")
                ranges += zip(known[::2], known[1::2], strict=True)
                at, previous = end + 1, ""
                continue
        elif char == "[" and text[at + 1 : at + 2] in (".", "="):  # POSIX: a collating element; or just a Next.js route
            refuse(f"'{text[at : at + 2]}' inside the brackets of '{_shown(text)}' is not supported", escape_it)
        previous, at = _member(text, at)
        ranges.append((previous, previous))
    refuse(f"the '[' in '{_shown(text)}' is never closed", escape_it)
