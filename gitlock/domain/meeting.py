"""Finds a path that some patterns cover and others do not: the witness of a meeting.

The general search, exact for any number of patterns on either side: the product of their automata (Rabin and Scott
1959), searched breadth first, over the names of the path and for each name over its characters. A state is one integer
that has a bit for each position which some pattern may have got to. Characters that no pattern tells apart are tried
once. Of two states the one from which less is possible (fewer positions of wanted patterns, more of unwanted ones) is
dropped, as in antichain methods (De Wulf et al. 2006); that is what keeps the ordinary search small.
"""

from __future__ import annotations

from gitlock.domain.segment import ANY_NAME, LAST, PLAIN, READABLE, Glob, names_meet, pick
from gitlock.domain.witness import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitlock.domain.footprint import Route
    from gitlock.domain.overlap import Budget
    from gitlock.domain.segment import Fold, Name, Token


def shared_path(musts: Sequence[Route], nots: Sequence[Route], fold: Fold, budget: Budget) -> str:
    """A path that all of ``musts`` and none of ``nots`` cover, "" if there is none; raises Spent."""
    return spelled(_Product(musts, nots, fold.case, budget).search(), musts)


class _Matchers:
    """The names of all routes as one automaton over characters. One matcher an item and side, wanted or unwanted."""

    def __init__(self, case: bool, budget: Budget) -> None:
        self.case = case
        self.budget = budget
        self.known: dict[tuple[bool, Name], int] = {}
        self.items: list[Name] = []
        self.starts: list[int] = []
        self.spans: list[int] = []
        self.ends: list[int] = []
        self.goals = self.stars = self.wanted = self.width = 0
        self.places: dict[Token, int] = {}  # token → the bits that wait for it

    def number(self, item: Name, wanted: bool) -> int:
        """Which matcher this item is."""
        key = (wanted, item)
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.items)
            self.items.append(item)
            start = self.width
            for token in item if isinstance(item, str) else item.tokens:
                if token is None:
                    self.stars |= 1 << self.width
                else:
                    self.places[token] = self.places.get(token, 0) | 1 << self.width
                self.width += 1
            self.starts.append(1 << start)
            self.ends.append(1 << self.width)
            self.goals |= 1 << self.width
            self.width += 1
            self.spans.append((1 << self.width) - (1 << start))
            if wanted:
                self.wanted |= self.spans[-1]
            self.budget.spend((self.width - start) * (1 + (self.width >> 12)))
        return number

    def classes(self) -> list[tuple[str, int]]:
        """One character of each kind that the tokens tell apart, and the bits that take it.

        Those that bring fewest unwanted matchers forward come first, since they make the others superfluous; of those
        the readable ones.
        """
        changes: dict[str, int] = {"\x01": 0}
        for token, bits in self.places.items():
            ranges = ((token, token),) if isinstance(token, str) else token.ranges
            self.budget.spend(len(ranges) * (1 + (self.width >> 12)))
            for low, high in ranges:
                changes[low] = changes.get(low, 0) ^ bits
                if high != LAST:
                    after = chr(ord(high) + 1)
                    changes[after] = changes.get(after, 0) ^ bits
        points = sorted(changes)
        found: dict[int, str] = {}
        mask = 0
        for low, after in zip(points, [*points[1:], ""], strict=True):
            mask ^= changes[low]
            char = pick(low, chr(ord(after) - 1) if after else LAST, self.case)
            if char and (mask not in found or _rank(char) < _rank(found[mask])):
                found[mask] = char
        kinds = [((mask & ~self.wanted).bit_count(), *_rank(char), mask) for mask, char in found.items()]
        return [(char, mask) for _, _, char, mask in sorted(kinds)]


def _rank(char: str) -> tuple[int, str]:
    place = READABLE.find(char)
    return (place if place >= 0 else 99 + (char == "."), char)


class _Product:
    """One search. Every item of every route has a bit, and so has the end of each route."""

    def __init__(self, musts: Sequence[Route], nots: Sequence[Route], case: bool, budget: Budget) -> None:
        self.budget = budget
        self.matchers = _Matchers(case, budget)
        self.crossing = self.free = self.start = self.accepts = self.refuses = self.doomed = 0
        self.spans: list[int] = []  # of the wanted routes: all their bits
        self.at: dict[int, int] = {}  # bit length of a place → the matcher that it waits for
        self.bits_of: dict[int, int] = {}  # matcher → the bits that wait for it
        self.chars: list[tuple[str, int]] = []
        bit = 1
        for route in (*musts, *nots):
            first = bit
            self.start |= first
            for item in route.items:
                if item is None:
                    self.crossing |= bit
                elif item is ANY_NAME:
                    self.free |= bit
                else:
                    matcher = self.matchers.number(item, len(self.spans) < len(musts))
                    self.at[bit.bit_length()] = matcher
                    self.bits_of[matcher] = self.bits_of.get(matcher, 0) | bit
                bit <<= 1
            if len(self.spans) < len(musts):
                self.accepts |= bit
                self.spans.append((bit << 1) - first)
            else:
                self.refuses |= bit
                if route.items[-1] is None:
                    self.doomed |= bit >> 1  # whoever is here stays covered whatever follows
            bit <<= 1
        self.wanted = sum(self.spans)
        # Not refused, but avoided where another name does as well: what begins or ends with a dot.
        self.soft = [self.matchers.number(Glob(raw, PLAIN), False) for raw in ((".", None), (None, "."))]

    def search(self) -> list[str]:
        """The names of a shortest path, none if there is no path."""
        start = self.start | (self.start & self.crossing) << 1
        kept = [start]
        layer: list[tuple[int, list[str]]] = [(start, [])]
        while layer:
            reached: list[tuple[int, list[str]]] = []
            for state, names in layer:
                for after, name in self._after(state):
                    if after & self.accepts == self.accepts and not after & self.refuses:
                        return [*names, name]
                    if self._is_new(after, kept, self.wanted):
                        reached.append((after, [*names, name]))
            layer = reached
        return []

    def _is_new(self, state: int, kept: list[int], wanted: int) -> bool:
        """Whether nothing that is kept can do all that this state can; then it is kept."""
        self.budget.spend(1 + (len(kept) * (1 + (state.bit_length() >> 10)) >> 2))
        against = state ^ ~wanted  # where they differ, the other is to have the wanted bit, or to lack the unwanted one
        for other in kept:
            if not (state ^ other) & against:
                return False
        kept.append(state)
        return True

    def _after(self, state: int) -> list[tuple[int, str]]:
        """The states that one more name can lead to, and such a name for each; hopeless ones are left out."""
        active = set()
        waiting = state & ~self.crossing & ~self.free
        while waiting:
            low = waiting & -waiting
            if (matcher := self.at.get(low.bit_length())) is not None:
                active.add(matcher)
            waiting ^= low
        self.budget.spend(1 + len(active))
        found = []
        for advanced, name in self._forced(state, active) or self._spelled(state, active):
            after = (state & (advanced | self.free)) << 1 | state & self.crossing
            after |= (after & self.crossing) << 1
            if not after & self.doomed and all(after & span for span in self.spans):
                found.append((after, name))
        return found

    def _forced(self, state: int, active: set[int]) -> list[tuple[int, str]]:
        """Where some wanted route can go on with a literal name only: that name, and the bits that take it."""
        items = self.matchers.items
        for span in self.spans:
            here = state & span
            if here & (self.crossing | self.free):
                continue
            waiting = [items[matcher] for matcher in active if here & self.bits_of[matcher]]
            names = [item for item in waiting if isinstance(item, str)]
            if names and len(names) == len(waiting):
                return [
                    (sum(self.bits_of[m] for m in active if names_meet(items[m], name)), name)
                    for name in names
                ]
        return []

    def _spelled(self, state: int, active: set[int]) -> Iterator[tuple[int, str]]:
        """Each set of active matchers that one name can satisfy: the bits that take it, and a readable such name."""
        matchers = self.matchers
        if not self.chars:
            self.chars = matchers.classes()
        groups = []
        for span in self.spans:
            here = state & span
            if not here & (self.crossing | self.free):
                groups.append(sum(matchers.spans[m] for m in active if here & self.bits_of[m]))
        trying = [*active, *self.soft]
        start = sum(matchers.starts[m] for m in trying)
        start |= (start & matchers.stars) << 1
        alphabet: dict[int, str] = {}
        reach = sum(matchers.spans[m] for m in trying)
        for char, mask in self.chars:
            alphabet.setdefault(mask & reach, char)
        soft = sum(matchers.spans[m] for m in self.soft) & matchers.goals
        hard = matchers.goals & ~soft
        found: dict[int, tuple[int, str]] = {}
        kept = [start]
        layer = [(start, "")]
        cost = len(alphabet) * (1 + (matchers.width >> 10))
        while layer:
            reached = []
            for at, word in layer:
                self.budget.spend(cost)
                for mask, char in alphabet.items():
                    after = (at & mask) << 1 | at & matchers.stars
                    after |= (after & matchers.stars) << 1
                    if not all(after & group for group in groups):
                        continue
                    ugly = bool(after & soft) + (word + char in (".", "..", ".git"))
                    known = found.get(after & hard)
                    if known is None or ugly < known[0]:
                        found[after & hard] = (ugly, word + char)
                    if self._is_new(after, kept, matchers.wanted):
                        reached.append((after, word + char))
            layer = reached
        for goals, (_, word) in sorted(found.items(), key=lambda one: one[1][0]):
            yield sum(self.bits_of[m] for m in active if goals & matchers.ends[m]), word
