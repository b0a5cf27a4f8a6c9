"""A path that two patterns which meet both cover, made by aligning them: readable, and never a search.

The two shapes are laid over one another (see gitlock.domain.segment for why that is always possible), and what the
result can do without is taken out again.
"""

from __future__ import annotations

from gitlock.domain.segment import common, find, names_meet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gitlock.domain.footprint import Route
    from gitlock.domain.segment import Name, Shape, T

SHORT = 12  # names or characters: what is worth the trouble of making shorter


def simple_witness(p: Route, q: Route, nots: Sequence[Route]) -> str | None:
    """A path that both of two routes that meet cover, and none of ``nots``; None where it takes a search.

    Without ``nots`` there always is one.
    """
    for one, other in ((p, q), (q, p)):
        names, slashed = one.sample or _sample(one)
        if other.covers(slashed, names) and not _any_covers(nots, names, slashed):
            return spelled(names, (p, q)) if p.spelling or q.spelling else slashed[:-1]
    for one, other in ((p, q), (q, p)):
        if one.kind:  # a place: what the other covers, put there
            slashed = one.prefix + (other.sample or _sample(other))[1][len(other.prefix) :]
            names = slashed[:-1].split("/")
            if other.covers(slashed, names) and one.covers(slashed, names) and not _any_covers(nots, names, slashed):
                return spelled(names, (p, q))
    names = _merged(p, q, _name)
    if p.open and q.open:
        names = _shorter(names, lambda fewer: bool(fewer) and _both_cover(p, q, fewer))
    return None if nots and _any_covers(nots, names, "/".join(names) + "/") else spelled(names, (p, q))


def _sample(route: Route) -> tuple[list[str], str]:
    """A path that the route covers, as names and once more as text with a slash at the end."""
    names = [_name(item, item) for item in route.items if item is not None]
    route.sample = (names, "/".join(names) + "/")
    return route.sample


def _both_cover(p: Route, q: Route, names: list[str]) -> bool:
    slashed = "/".join(names) + "/"
    return p.covers(slashed, names) and q.covers(slashed, names)


def _any_covers(routes: Sequence[Route], names: list[str], slashed: str) -> bool:
    return any(route.covers(slashed, names) for route in routes)


def _name(x: Name, y: Name) -> str:
    """A name that both items match, a readable one; "" if there is none."""
    if not names_meet(x, y):
        return ""
    if isinstance(x, str):
        return x
    if isinstance(y, str):
        return y
    chars = _merged(x, y, common)
    if not x.open or not y.open:
        return "".join(chars)
    name = "".join(_shorter(chars, lambda fewer: x.fits("".join(fewer)) and y.fits("".join(fewer))))
    if name[:1] in (".", "") and x.fits("x" + name) and y.fits("x" + name):
        name = "x" + name
    if name[-1:] == "." and x.fits(name + "x") and y.fits(name + "x"):
        name += "x"
    return name


def _merged(p: Shape[T], q: Shape[T], same: Callable[[T, T], str]) -> list[str]:
    """A word of two shapes that meet, token by token."""
    if p.open and q.open:
        head, tail = _laid(p.head, q.head, same), _laid(p.tail[::-1], q.tail[::-1], same)
        return head + [same(t, t) for chunk in (*p.middle, *q.middle) for t in chunk] + tail[::-1]
    if not q.open:
        p, q = q, p
    word, shape = p.head, q
    merged = [same(token, token) for token in word]
    at, end = len(shape.head), len(word) - len(shape.tail)
    places = [(0, shape.head), (end, shape.tail)]
    for chunk in shape.middle:
        at = find(chunk, word, at, end, same)
        places.append((at - len(chunk), chunk))
    for start, chunk in places:
        for k, token in enumerate(chunk, start):
            merged[k] = same(token, word[k])
    return merged


def _laid(x: Sequence[T], y: Sequence[T], same: Callable[[T, T], str]) -> list[str]:
    longer = x if len(x) > len(y) else y
    both = [same(a, b) for a, b in zip(x, y, strict=False)]
    return both + [same(token, token) for token in longer[len(both) :]]


def _shorter(word: list[str], still: Callable[[list[str]], bool]) -> list[str]:
    """The word without what it can do without: a merger of two patterns may hold twice what they share."""
    at = 0
    while at < len(word) <= SHORT:
        fewer = word[:at] + word[at + 1 :]
        if still(fewer):
            word = fewer
        else:
            at += 1
    return word


def spelled(names: Iterable[str], routes: Iterable[Route]) -> str:
    """The path, its literal names as they were typed where folding had changed them."""
    typed = {folded: name for route in routes for folded, name in route.spelling.items()}
    return "/".join([typed.get(name, name) for name in names]) if typed else "/".join(names)
