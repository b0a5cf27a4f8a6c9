"""One name of a path as a pattern spells it, what it matches, and whether two such can be the same name.

A *shape* is a sequence of tokens with gaps: ``head``, then (where it is ``open``) any number of gaps with the chunks of
``middle`` between them, then ``tail``. A glob is a shape whose tokens are characters or sets of them and whose gap is
``*``; a whole pattern (gitlock.domain.pattern) is one whose tokens are names and whose gap is ``**``. Every token
is something, whatever its neighbours are; so both levels are one small exact algorithm that never backtracks:

* two shapes with gaps meet exactly when their heads agree as far as the shorter goes, and so do their tails: the rest
  falls into a gap of the other;
* a shape without gaps meets one with gaps exactly when head and tail fit its ends and the chunks are found, leftmost
  first, in what lies between. They are found by Shift-And (Baeza-Yates and Gonnet 1992), one integer as a row of bits.
"""

from __future__ import annotations

from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, TypeAlias, TypeVar

    Token: TypeAlias = "str | CharSet"
    RawToken: TypeAlias = "str | Bracket | None"  # None is a star
    Segment: TypeAlias = "str | tuple[RawToken, ...] | None"  # a literal name, a glob, or None for "**"
    Name: TypeAlias = "str | Glob"
    T = TypeVar("T")

    class Shape(Protocol[T]):
        """See the module docstring. ``least`` counts the tokens."""

        head: Sequence[T]
        middle: tuple[Sequence[T], ...]
        tail: Sequence[T]
        open: bool
        least: int


def lowered(char: str) -> str:
    """The character that stands for this one where case is folded; where that would be two, itself."""
    low = char.lower()
    return low if len(low) == 1 else char


class Fold(Value):
    """How names compare: regardless of case (core.ignorecase), in the form NFC (core.precomposeunicode)."""

    __slots__ = ("case", "unicode")

    def __init__(self, case: bool, unicode: bool) -> None:
        self.case = case
        self.unicode = unicode

    def name(self, text: str) -> str:
        """The form in which a name, or a path of names, is compared."""
        if text.isascii():
            return text.lower() if self.case else text
        if self.unicode:
            from unicodedata import normalize  # late: most names are ASCII

            text = normalize("NFC", text)
        return "".join([lowered(char) for char in text]) if self.case else text


PLAIN = Fold(False, False)

# What a witness is spelled with where it is free.
READABLE = "xyabcdefghijklmnopqrstuvwz0123456789_-"


def pick(low: str, high: str, case: bool) -> str:
    """A character of this range that a folded name can hold, a readable one if possible; "" if there is none."""
    if low == high and "a" <= low <= "z":
        return low
    for char in READABLE:
        if low <= char <= high:
            return char
    code, last = ord(low), ord(high)
    while code <= last:
        if 0xD800 <= code < 0xDC80 or 0xDD00 <= code < 0xE000:  # U+DC80 to U+DCFF stand for bytes of names
            code = 0xDC80 if code < 0xDC80 else 0xE000
        elif code in (0, 0x2F) or (case and lowered(chr(code)) != chr(code)):
            code += 1
        else:
            return chr(code)
    return ""


class CharSet:
    """What one token may be: sorted, disjoint ranges; ``letter`` is one of the characters, "" if there is none.

    Under case folding only folded characters count: what the ranges hold beside them is never asked for.
    """

    __slots__ = ("case", "letter", "ranges")

    def __init__(self, ranges: tuple[tuple[str, str], ...], case: bool) -> None:
        self.ranges = ranges
        self.case = case
        self.letter = self.common(self)

    def holds(self, char: str) -> bool:
        for low, high in self.ranges:
            if char <= high:
                return low <= char
        return False

    def common(self, other: CharSet) -> str:
        """A character of both, "" if there is none."""
        ours, theirs = self.ranges, other.ranges
        i = j = 0
        m, n = len(ours), len(theirs)
        found = ""
        while i < m and j < n:
            low, high = ours[i]
            other_low, other_high = theirs[j]
            if high <= other_high:
                i += 1
            else:
                j += 1
                high = other_high
            if low < other_low:
                low = other_low
            if low <= high and (char := pick(low, high, self.case)):
                if char in READABLE:
                    return char
                found = found or char
        return found


FIRST, LAST = "\x01", chr(0x10FFFF)
ANY_CHAR = CharSet(((FIRST, LAST),), False)


class Bracket(Value):
    """``[...]`` as it was written; ``?`` is the negation of nothing."""

    __slots__ = ("negated", "ranges")

    def __init__(self, ranges: tuple[tuple[str, str], ...], negated: bool) -> None:
        self.ranges = ranges
        self.negated = negated

    def chosen(self, fold: Fold) -> Token:
        """What it matches in folded names. Negation comes last, as in wildmatch: ``[!a]`` holds neither a nor A."""
        if not self.ranges:
            return ANY_CHAR
        ranges = list(self.ranges)
        if fold.unicode:
            ranges = [(low, high) if low != high else _composed(fold, low) for low, high in ranges]
        if fold.case:
            ranges += [image for low, high in ranges for image in _lowered_range(low, high)]
        ranges.sort()
        joined = [ranges[0]]
        for low, high in ranges[1:]:
            if ord(low) <= ord(joined[-1][1]) + 1:
                joined[-1] = (joined[-1][0], max(joined[-1][1], high))
            else:
                joined.append((low, high))
        if self.negated:
            ends = [FIRST, *(chr(min(ord(high) + 1, 0x10FFFF)) for _, high in joined)]
            starts = [*(chr(ord(low) - 1) for low, _ in joined), LAST if joined[-1][1] != LAST else ""]
            joined = [(low, high) for low, high in zip(ends, starts, strict=True) if low <= high]
        elif len(joined) == 1 and joined[0][0] == joined[0][1]:
            return lowered(joined[0][0]) if fold.case else joined[0][0]
        return CharSet(tuple(joined), fold.case)


QUESTION = Bracket((), True)


def _composed(fold: Fold, char: str) -> tuple[str, str]:
    whole = Fold(False, fold.unicode).name(char)
    return (whole, whole) if len(whole) == 1 else (char, char)


def _lowered_range(low: str, high: str) -> list[tuple[str, str]]:
    """What the characters of a range fold to, as ranges; those that stay themselves may be missing."""
    images = []
    first, last = max(low, "A"), min(high, "Z")
    if first <= last:
        images.append((first.lower(), last.lower()))
    start, end = max(ord(low), 0x80), ord(high)
    if start <= end:  # a wide range is looked up in all that has two cases: 10 ms, once, if ever
        chars = map(chr, range(start, end + 1)) if end - start < 1024 else [c for c in _cased() if low <= c <= high]
        images += [(small, small) for char in chars if (small := lowered(char)) != char]
    return images


_CASED: list[str] = []


def _cased() -> list[str]:
    if not _CASED:
        _CASED.extend(char for char in map(chr, range(0x80, 0x20000)) if lowered(char) != char)
    return _CASED


def common(x: Token, y: Token) -> str:
    """A character that both tokens may be, "" if there is none."""
    if isinstance(x, str):
        return x if (x == y if isinstance(y, str) else y.holds(x)) else ""
    if isinstance(y, str):
        return y if x.holds(y) else ""
    return x.letter if x is y or y is ANY_CHAR else x.common(y)


class Glob:
    """A name with wildcards, ready for one way of folding: a shape over characters.

    Pieces without ``?`` and classes are text, and where all are (``texts``) matching is text search.
    """

    __slots__ = ("head", "least", "middle", "open", "tail", "texts", "tokens", "void")

    def __init__(self, raw: tuple[RawToken, ...], fold: Fold) -> None:
        tokens: list[Token | None] = []
        run = ""
        for token in (*raw, None):  # the last one only ends the last run
            if isinstance(token, str):
                run += token
                continue
            tokens += fold.name(run)
            run = ""
            tokens.append(token.chosen(fold) if token is not None else None)
        self.tokens = tuple(tokens[:-1])
        pieces: list[list[Token]] = [[]]
        for one in self.tokens:
            if one is None:
                pieces.append([])
            else:
                pieces[-1].append(one)
        packed = [_packed(piece) for piece in pieces]
        self.head: Sequence[Token] = packed[0]
        self.middle: tuple[Sequence[Token], ...] = tuple(packed[1:-1])
        self.open = len(packed) > 1
        self.tail: Sequence[Token] = packed[-1] if self.open else ""
        self.least = sum(len(piece) for piece in packed)
        texts = tuple([piece for piece in packed if isinstance(piece, str)])
        self.texts = texts if len(texts) == len(packed) else None
        self.void = any(isinstance(token, CharSet) and not token.letter for token in self.tokens)

    def fits(self, name: str) -> bool:
        """Whether it matches this (folded) name."""
        texts = self.texts
        if texts is None:
            return word_fits(self, name, common)
        if not self.open:
            return name == texts[0]
        if len(name) < self.least or not name.startswith(texts[0]) or not name.endswith(texts[-1]):
            return False
        at, end = len(texts[0]), len(name) - len(texts[-1])
        for piece in texts[1:-1]:
            at = name.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


def _packed(piece: list[Token]) -> Sequence[Token]:
    text = "".join([token for token in piece if isinstance(token, str)])
    return text if len(text) == len(piece) else tuple(piece)


ANY_NAME = Glob((None,), PLAIN)


def names_meet(x: Name, y: Name) -> bool:
    """Whether one name is matched by both."""
    if isinstance(x, str):
        return x == y if isinstance(y, str) else y.fits(x)
    if isinstance(y, str):
        return x.fits(y)
    return x is y or shapes_meet(x, y, common)


def find(chunk: Sequence[T], word: Sequence[T], at: int, end: int, same: Callable[[T, T], object]) -> int:
    """Where the leftmost place of ``chunk`` in ``word[at:end]`` ends, -1 if it has none (Shift-And)."""
    goal = 1 << len(chunk) - 1
    masks: dict[T, int] = {}
    row = 0
    for place in range(at, end):
        token = word[place]
        mask = masks.get(token, -1)
        if mask < 0:
            mask = masks[token] = sum(1 << k for k, one in enumerate(chunk) if same(one, token))
        row = (row << 1 | 1) & mask
        if row & goal:
            return place + 1
    return -1


def word_fits(shape: Shape[T], word: Sequence[T], same: Callable[[T, T], object]) -> bool:
    """Whether a sequence of tokens without gaps has a word in common with a shape."""
    size = len(word)
    if size < shape.least or (not shape.open and size > shape.least):
        return False
    for x, y in zip(shape.head, word, strict=False):
        if not same(x, y):
            return False
    at, end = len(shape.head), size - len(shape.tail)
    for x, y in zip(shape.tail, word[end:], strict=False):
        if not same(x, y):
            return False
    for chunk in shape.middle:
        at = find(chunk, word, at, end, same)
        if at < 0:
            return False
    return True


def shapes_meet(p: Shape[T], q: Shape[T], same: Callable[[T, T], object]) -> bool:
    """Whether two shapes have a word in common; ``same`` says it of two tokens, each of which is some word."""
    if not q.open:
        return word_fits(p, q.head, same)
    if not p.open:
        return word_fits(q, p.head, same)
    for x, y in zip(p.head, q.head, strict=False):
        if not same(x, y):
            return False
    return all(same(x, y) for x, y in zip(reversed(p.tail), reversed(q.tail), strict=False))
