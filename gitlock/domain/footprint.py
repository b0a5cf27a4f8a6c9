"""What a claim covers: its include patterns minus its exclude patterns, and the form in which they are compared."""

from __future__ import annotations

from gitlock.domain.pattern import PLAIN, parse_pattern
from gitlock.domain.segment import ANY_NAME, Glob, names_meet, shapes_meet, word_fits
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from gitlock.domain.pattern import Fold, Pattern
    from gitlock.domain.segment import Name


TREE, BELOW = 2, 1  # kinds of a route that its prefix says all about: a place with all below it, or only what is below


class Route:
    """A pattern made ready for one way of folding: a shape over names (gitlock.domain.segment), ``**`` its gap.

    ``items`` are its names in order, None for ``**``; what lies below is spelled out in them. ``prefix`` is the literal
    folders that it begins with, ending in a slash. ``void`` says that no path at all fits, ``fancy`` that some name has
    a ``?`` or a class.
    """

    __slots__ = (
        "fancy", "head", "items", "kind", "least", "middle", "open",
        "prefix", "sample", "spelling", "tail", "text", "void",
    )  # fmt: skip

    def __init__(self, pattern: Pattern, fold: Fold) -> None:
        self.text = pattern.text
        self.sample: tuple[list[str], str] | None = None  # gitlock.domain.witness keeps a path here
        items = items_of(pattern, fold)
        self.spelling: dict[str, str] = {}  # folded name → how it was typed, where that differs
        for segment in pattern.segments:
            if isinstance(segment, str) and (name := fold.name(segment)) != segment:
                self.spelling[name] = segment
        pieces: list[list[Name]] = [[]]
        for item in items:
            if item is None:
                pieces.append([])
            else:
                pieces[-1].append(item)
        self.items = tuple(items)
        self.head: Sequence[Name] = tuple(pieces[0])
        self.open = len(pieces) > 1
        self.middle: tuple[Sequence[Name], ...] = tuple([tuple(piece) for piece in pieces[1:-1]])
        self.tail: Sequence[Name] = tuple(pieces[-1]) if self.open else ()
        self.least = len(items) - len(pieces) + 1
        globs = [item for item in items if isinstance(item, Glob)]
        self.void = any(glob.void for glob in globs)
        self.fancy = any(glob.texts is None for glob in globs)
        self.prefix = ""
        self.kind = 0
        for depth, item in enumerate(items):
            if not isinstance(item, str):
                rest = items[depth:]
                self.kind = TREE if rest == [None] else BELOW if rest == [ANY_NAME, None] else 0
                break
            self.prefix += item + "/"

    def covers(self, slashed: str, names: list[str]) -> bool:
        """Whether it covers this folded path: once with a slash at the end, once as names."""
        if not slashed.startswith(self.prefix):
            return False
        if self.kind:
            return self.kind == TREE or len(slashed) > len(self.prefix)
        return word_fits(self, names, names_meet)

    def meets(self, other: Route, same: Callable[[Name, Name], object] = names_meet) -> bool:
        """Whether there is a path that both cover. Exact, in at most the product of their lengths."""
        if not (self.prefix.startswith(other.prefix) or other.prefix.startswith(self.prefix)):
            return False
        return bool(self.kind and other.kind) or shapes_meet(self, other, same)

    def holds(self, other: Route) -> bool:
        """Whether their prefixes say already that it covers all that the other does. True is certain, False is not."""
        if not self.kind or not other.prefix.startswith(self.prefix):
            return False
        return self.kind == TREE or other.kind != TREE or len(other.prefix) > len(self.prefix)


def items_of(pattern: Pattern, fold: Fold) -> list[Name | None]:
    """The names of a pattern, None for ``**``, with what lies below spelled out: ``src`` is ``src/**``.

    ``**/*`` is kept as ``*/**``: the same paths, and one spelling of them.
    """
    items: list[Name | None] = []
    for segment in pattern.segments:
        if segment is None:
            if not items or items[-1] is not None:
                items.append(None)
        elif isinstance(segment, str):
            items.append(fold.name(segment))
        elif segment == (None,):
            items.insert(len(items) - 1 if items and items[-1] is None else len(items), ANY_NAME)
        else:
            items.append(Glob(segment, fold))
    last = pattern.segments[-1]
    if pattern.below or last is None:
        items.insert(len(items) - 1 if items[-1] is None else len(items), ANY_NAME)
    if items[-1] is not None and (pattern.below or last == (None,) or isinstance(last, str)):
        items.append(None)
    return items


class Footprint(Value):
    """The set of paths that a claim covers. Empty, without include patterns, for a pure key."""

    __slots__ = ("_ready", "exclude", "include")

    def __init__(self, include: tuple[Pattern, ...], exclude: tuple[Pattern, ...]) -> None:
        self.include = include
        self.exclude = exclude
        self._ready: list[tuple[tuple[Route, ...], tuple[Route, ...]] | None] = [None] * 4

    @classmethod
    def of(cls, include: Iterable[str], exclude: Iterable[str] = ()) -> Footprint:
        """The footprint that these texts spell: made once, since a lease is asked for its own again and again."""
        spelled = (tuple(include), tuple(exclude))
        known = _KNOWN.get(spelled)
        if known is None:
            known = cls(tuple([parse_pattern(t) for t in spelled[0]]), tuple([parse_pattern(t) for t in spelled[1]]))
            if len(_KNOWN) >= KNOWN_LIMIT:
                _KNOWN.clear()
            _KNOWN[spelled] = known
        return known

    def replace(self, **changes: Any) -> Footprint:
        """A copy with other patterns; what was made ready for the old ones stays behind."""
        return Footprint(**{"include": self.include, "exclude": self.exclude, **changes})

    @property
    def is_empty(self) -> bool:
        return not self.include

    def routes(self, fold: Fold = PLAIN) -> tuple[tuple[Route, ...], tuple[Route, ...]]:
        """Its patterns ready for comparing, made once for each way of folding; void ones are left out."""
        place = fold.case + 2 * fold.unicode
        ready = self._ready[place]
        if ready is None:
            include = [Route(pattern, fold) for pattern in self.include]
            exclude = [Route(pattern, fold) for pattern in self.exclude]
            ready = tuple([r for r in include if not r.void]), tuple([r for r in exclude if not r.void])
            self._ready[place] = ready
        return ready

    def covers(self, path: str, fold: Fold = PLAIN) -> bool:
        """Whether it covers this path (names with single slashes between them, none at either end)."""
        include, exclude = self.routes(fold)
        path = fold.name(path)
        slashed = path + "/"
        names = path.split("/")
        for route in include:
            if route.covers(slashed, names):
                return not any(out.covers(slashed, names) for out in exclude)
        return False

    def __eq__(self, other: object) -> bool:
        if type(other) is not Footprint:
            return NotImplemented
        return self.include == other.include and self.exclude == other.exclude

    def __hash__(self) -> int:
        return hash((self.include, self.exclude))

    def __repr__(self) -> str:
        return f"Footprint.of({[p.text for p in self.include]}, {[p.text for p in self.exclude]})"


KNOWN_LIMIT = 4096  # footprints that are kept ready; a process that lives long must not grow without end
_KNOWN: dict[tuple[tuple[str, ...], tuple[str, ...]], Footprint] = {}
