"""Which of many footprints cover each of many paths: the answers of ``covers``, at a few dictionary look-ups a path.

All patterns are one automaton over the names of a path, made deterministic only where a path leads (the subset
construction, done lazily as in Aho, Sethi and Ullman, "Compilers", 3.7). Every folder is entered once and remembered;
a file costs what its own name may decide. Two things keep the states few: patterns that begin with ``**`` are alive
everywhere and run in an automaton of their own, and a pattern that covers all below a folder leaves the automaton there
and is noted down for the folder.
"""

from __future__ import annotations

from gitlock.domain.footprint import items_of
from gitlock.domain.pattern import PLAIN
from gitlock.domain.segment import ANY_NAME, Glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitlock.domain.footprint import Footprint
    from gitlock.domain.pattern import Fold
    from gitlock.domain.segment import Name

    Numbers = tuple[int, ...]  # of places, or of owners: a footprint's number, twice; plus one for its exclusions


class _Globs:
    """Globs to be tried on a name, found by the text that they end or begin with; each stands for a number."""

    __slots__ = ("others", "pieces")

    def __init__(self, globs: list[tuple[Glob, int]]) -> None:
        self.others: list[tuple[Glob, int]] = []
        # Where the text stands (how many characters, negative at the end of a name) → text → numbers, and globs to try.
        pieces: dict[int, dict[str, tuple[list[int], list[tuple[Glob, int]]]]] = {}
        for glob, number in globs:
            for text, size in ((glob.tail, -len(glob.tail)), (glob.head, len(glob.head))):
                if glob.open and text and isinstance(text, str):
                    decided, to_try = pieces.setdefault(size, {}).setdefault(text, ([], []))
                    if glob.texts is not None and glob.least == len(text):
                        decided.append(number)
                    else:
                        to_try.append((glob, number))
                    break
            else:
                self.others.append((glob, number))
        self.pieces = [(slice(k) if k > 0 else slice(k, None), table) for k, table in pieces.items()]

    def matching(self, name: str) -> Numbers:
        """The numbers of those that match."""
        found: list[int] = []
        for piece, table in self.pieces:
            near = table.get(name[piece])
            if near is not None:
                found += near[0]
                if near[1]:
                    found += [number for glob, number in near[1] if glob.fits(name)]
        if self.others:
            found += [number for glob, number in self.others if glob.fits(name)]
        return tuple(found) if found else ()


class _State:
    """Where the patterns may have got to in one folder."""

    __slots__ = ("always", "file_globs", "files", "folders", "globs", "literals", "stays")

    def __init__(self, places: frozenset[int], automaton: _Automaton) -> None:
        items, wins = automaton.items, automaton.wins
        self.literals: dict[str, Numbers] = {}  # name → the places that it takes
        self.files: dict[str, Numbers] = {}  # name → the owners that cover a file of it
        self.always: list[int] = []  # the owners that cover a file of any name
        self.stays: list[int] = []  # the places that any name takes
        self.folders: dict[str, tuple[_State, Numbers]] = {}  # as far as they were met
        globs: list[tuple[Glob, int]] = []
        for place in places:
            item = items[place]
            if item is None or item is ANY_NAME:
                self.stays.append(place)
                if wins[place] >= 0:
                    self.always.append(wins[place])
            elif isinstance(item, str):
                self.literals[item] = (*self.literals.get(item, ()), place)
                if wins[place] >= 0:
                    self.files[item] = (*self.files.get(item, ()), wins[place])
            else:
                globs.append((item, place))
        self.globs: _Globs | None = None  # → the places of those that match
        self.file_globs: _Globs | None = None  # → the owners that cover a file of such a name
        if globs:
            self.globs, self.file_globs = automaton.globs_of(globs)

    def owners(self, name: str) -> Numbers:
        """Whose patterns cover the file of this name, beside those that cover all that is here."""
        found = self.files.get(name, ())
        return found if self.file_globs is None else found + self.file_globs.matching(name)


class _Automaton:
    """Some patterns side by side; each of their items is a place."""

    def __init__(self, patterns: list[tuple[int, list[Name | None]]]) -> None:
        self.items: list[Name | None] = []
        self.wins: list[int] = []  # place → the owner that covers the file whose name is taken here, or -1
        self.below: list[int] = []  # place → the owner that covers all that is below, once a name is taken here, or -1
        self.states: dict[frozenset[int], _State] = {}
        self.globs: dict[frozenset[int], tuple[_Globs, _Globs | None]] = {}
        self.ends: set[int] = set()  # where no pattern goes on: the final "**" of a pattern, and what comes after all
        start: list[int] = []
        for owner, items in patterns:
            start.append(len(self.items))
            if items[0] is None:
                start.append(len(self.items) + 1)
            self.items += items
            self.items.append("")  # the end: no name is empty
            tree = items[-1] is None
            last = len(self.items) - 2 - tree  # the last item that is not a final "**"
            none = [-1] * (len(items) + 1)
            self.wins += none
            self.below += none
            self.wins[last] = owner
            if tree:
                self.below[last] = owner
            self.ends.update(range(last + 1, len(self.items)))
        self.start = self._state(start)

    def _state(self, places: Iterable[int]) -> _State:
        key = frozenset(places)
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = _State(key, self)
        return state

    def globs_of(self, globs: list[tuple[Glob, int]]) -> tuple[_Globs, _Globs | None]:
        """What finds their places, and the owners that are satisfied there. Many states have the same globs."""
        key = frozenset([place for _, place in globs])
        found = self.globs.get(key)
        if found is None:
            last = [(glob, self.wins[place]) for glob, place in globs if self.wins[place] >= 0]
            found = self.globs[key] = (_Globs(globs), _Globs(last) if last else None)
        return found

    def enter(self, state: _State, name: str) -> tuple[_State, Numbers]:
        """The state in the folder of this name, and the owners that cover all that is in it."""
        entered = state.folders.get(name)
        if entered is None:
            places: list[int] = []
            covering: list[int] = []
            taken = (*state.stays, *state.literals.get(name, ()), *(state.globs.matching(name) if state.globs else ()))
            for place in taken:
                if self.below[place] >= 0:
                    covering.append(self.below[place])
                after = place if self.items[place] is None else place + 1
                places.append(after)
                if self.items[after] is None:
                    places.append(after + 1)
            entered = state.folders[name] = (self._state(p for p in places if p not in self.ends), tuple(covering))
        return entered


class _Folder:
    """The states of both automata in a folder, who covers all of it, and the answers that were worked out."""

    __slots__ = ("anchored", "answers", "covering", "floating", "own")

    def __init__(self, anchored: _State, floating: _State, covering: Numbers) -> None:
        self.anchored = anchored
        self.floating = floating
        self.covering = covering
        self.own = anchored.file_globs is not None  # whether any name may have owners of its own here
        self.answers: dict[int, list[Any]] = {}


class Coverage:
    """Built once from tags and footprints; then asked for the tags of each path."""

    def __init__(self, footprints: Iterable[tuple[Any, Footprint]], fold: Fold = PLAIN) -> None:
        self.fold = fold if fold.case or fold.unicode else None
        self.tags: list[Any] = []
        anchored: list[tuple[int, list[Name | None]]] = []
        floating: list[tuple[int, list[Name | None]]] = []
        for tag, footprint in footprints:
            owner = 2 * len(self.tags)
            for number, patterns in ((owner, footprint.include), (owner + 1, footprint.exclude)):
                for pattern in patterns:
                    items = items_of(pattern, fold)
                    (floating if items[0] is None else anchored).append((number, items))
            self.tags.append(tag)
        self.anchored = _Automaton(anchored)
        self.floating = _Automaton(floating)
        self.owners: list[Numbers] = [()]  # numbered, so that an answer is found without hashing them
        self.numbers: dict[Numbers, int] = {(): 0}
        top = _Folder(self.anchored.start, self.floating.start, ())
        self.folders = {"": top}
        self.alike = {(top.anchored, top.floating, top.covering): top}  # folders that no pattern tells apart are one

    def tags_covering(self, path: str) -> list[Any]:
        """The tags whose footprint covers the path, in the order in which they were given; not to be changed."""
        if self.fold is not None:
            path = self.fold.name(path)
        place, _, name = path.rpartition("/")
        folder = self.folders.get(place)
        if folder is None:
            folder = self._enter(place)
        owners = folder.floating.owners(name)
        key = self._number(owners) if owners else 0
        if folder.own or name in folder.anchored.files:
            owners = folder.anchored.owners(name)
            if owners:
                key |= self._number(owners) << 32  # two numbers as one: quicker than a tuple
        tags = folder.answers.get(key)
        return self._answer(folder, key) if tags is None else tags

    def _number(self, owners: Numbers) -> int:
        number = self.numbers.get(owners)
        if number is None:
            number = self.numbers[owners] = len(self.owners)
            self.owners.append(owners)
        return number

    def _answer(self, folder: _Folder, key: int) -> list[Any]:
        found = {*self.owners[key >> 32], *self.owners[key & 0xFFFFFFFF], *folder.covering}
        found.update(folder.anchored.always)
        found.update(folder.floating.always)
        out = {owner - 1 for owner in found if owner & 1}
        tags = [self.tags[owner >> 1] for owner in sorted({o for o in found if not o & 1} - out)]
        folder.answers[key] = tags
        return tags

    def _enter(self, place: str) -> _Folder:
        """A folder that is met for the first time, after those above it."""
        above, names = place, []
        while above not in self.folders:
            above, _, name = above.rpartition("/")
            names.append(name)
        folder = self.folders[above]
        while names:
            name = names.pop()
            anchored, more = self.anchored.enter(folder.anchored, name)
            floating, most = self.floating.enter(folder.floating, name)
            covering = folder.covering
            if more or most:
                covering = tuple(sorted({*covering, *more, *most}))
            key = (anchored, floating, covering)
            folder = self.alike.get(key) or _Folder(*key)
            self.alike[key] = folder
            above = f"{above}/{name}" if above else name
            self.folders[above] = folder
        return folder
