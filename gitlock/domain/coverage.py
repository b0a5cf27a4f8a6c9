"""Which of many footprints cover each of many paths: the answers of ``covers``, at a few dictionary look-ups a path.

All patterns are one automaton over the names of a path, made deterministic only where a path leads (the subset
construction, done lazily as in Aho, Sethi and Ullman, "Compilers", 3.7). Every folder is entered once and remembered;
a file costs what its own name may decide. Two things keep the states few: patterns that begin with ``**`` are alive
everywhere and run in an automaton of their own, and a pattern that covers all below a folder leaves the automaton there
and is noted down for the folder.
"""

from __future__ import annotations

from gitlock.domain.pattern import PLAIN
from gitlock.domain.segment import ANY_NAME, Glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitlock.domain.footprint import Footprint, Route
    from gitlock.domain.pattern import Fold
    from gitlock.domain.segment import Name

    Owners = tuple[int, ...]  # an owner is a footprint's number, twice; plus one for its exclusions
    Places = tuple[int, ...]


class _Globs:
    """Globs to be tried on a name, found by the text that they end or begin with."""

    __slots__ = ("known", "others", "pieces")

    def __init__(self, globs: list[tuple[Glob, int]]) -> None:
        self.known: dict[str, Places] = {}
        self.others: list[tuple[Glob, int]] = []
        # How long the text is (negative at the end of a name) → text → places that it decides, globs that it may match.
        pieces: dict[int, dict[str, tuple[list[int], list[tuple[Glob, int]]]]] = {}
        for glob, place in globs:
            for text, size in ((glob.tail, -len(glob.tail)), (glob.head, len(glob.head))):
                if glob.open and text and isinstance(text, str):
                    decided, open_ = pieces.setdefault(size, {}).setdefault(text, ([], []))
                    if glob.texts is not None and glob.least == len(text):
                        decided.append(place)
                    else:
                        open_.append((glob, place))
                    break
            else:
                self.others.append((glob, place))
        self.pieces = list(pieces.items())

    def matching(self, name: str) -> Places:
        """The places of those that match."""
        found = self.known.get(name)
        if found is None:
            places = [place for glob, place in self.others if glob.fits(name)]
            for size, table in self.pieces:
                near = table.get(name[:size] if size > 0 else name[size:])
                if near is not None:
                    places += near[0]
                    places += [place for glob, place in near[1] if glob.fits(name)]
            found = self.known[name] = tuple(places)
        return found


class _State:
    """Where the patterns may have got to in one folder."""

    __slots__ = ("always", "files", "folders", "globs", "literals", "numbers", "stays")

    def __init__(self, places: frozenset[int], automaton: _Automaton) -> None:
        items, wins = automaton.items, automaton.wins
        self.literals: dict[str, list[int]] = {}  # name → the places that it takes
        self.files: dict[str, list[int]] = {}  # name → the owners that cover a file of it
        self.always: list[int] = []  # the owners that cover a file of any name
        self.stays: list[int] = []  # the places that any name takes
        self.folders: dict[str, tuple[_State, Owners]] = {}  # as far as they were met
        self.numbers: dict[str, int] = {}  # name of a file → the number of the owners that cover it
        globs: list[tuple[Glob, int]] = []
        for place in places:
            item = items[place]
            if item is None or item is ANY_NAME:
                self.stays.append(place)
                if wins[place] >= 0:
                    self.always.append(wins[place])
            elif isinstance(item, str):
                self.literals.setdefault(item, []).append(place)
                if wins[place] >= 0:
                    self.files.setdefault(item, []).append(wins[place])
            else:
                globs.append((item, place))
        self.globs = automaton.globs_of(globs) if globs else None


class _Automaton:
    """Some routes side by side; each of their items is a place."""

    def __init__(self, routes: list[tuple[int, Route]]) -> None:
        self.items: list[Name | None] = []
        self.wins: list[int] = []  # place → the owner that covers the file whose name is taken here, or -1
        self.below: list[int] = []  # place → the owner that covers all that is below, once a name is taken here, or -1
        self.states: dict[frozenset[int], _State] = {}
        self.globs: dict[Places, _Globs] = {}
        self.ends: set[int] = set()  # where no pattern goes on: the final "**" of a route, and what comes after all
        start: list[int] = []
        for owner, route in routes:
            start.append(len(self.items))
            if route.items[0] is None:
                start.append(len(self.items) + 1)
            self.items += route.items
            self.items.append("")  # the end: no name is empty
            tree = route.items[-1] is None
            last = len(self.items) - 2 - tree  # the last item that is not a final "**"
            none = [-1] * (len(route.items) + 1)
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

    def globs_of(self, globs: list[tuple[Glob, int]]) -> _Globs:
        """Those of a state; many states have the same, and share what they learn."""
        globs.sort(key=lambda one: one[1])
        key = tuple([place for _, place in globs])
        found = self.globs.get(key)
        if found is None:
            found = self.globs[key] = _Globs(globs)
        return found

    def enter(self, state: _State, name: str) -> tuple[_State, Owners]:
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

    def owners(self, state: _State, name: str) -> Owners:
        """Whose patterns cover the file of this name, beside those that cover all that is here."""
        found = state.files.get(name, ())
        if state.globs is None:
            return tuple(found)
        return (*found, *[self.wins[place] for place in state.globs.matching(name) if self.wins[place] >= 0])


class _Folder:
    """The states of both automata in a folder, who covers all of it, and the answers that were worked out."""

    __slots__ = ("anchored", "answers", "covering", "floating", "own")

    def __init__(self, anchored: _State, floating: _State, covering: Owners) -> None:
        self.anchored = anchored
        self.floating = floating
        self.covering = covering
        self.own = anchored.globs is not None  # whether any name may have owners of its own here
        self.answers: dict[int, list[Any]] = {}


class Coverage:
    """Built once from tags and footprints; then asked for the tags of each path."""

    def __init__(self, footprints: Iterable[tuple[Any, Footprint]], fold: Fold = PLAIN) -> None:
        self.fold = fold if fold.case or fold.unicode else None
        self.tags: list[Any] = []
        anchored: list[tuple[int, Route]] = []
        floating: list[tuple[int, Route]] = []
        for tag, footprint in footprints:
            include, exclude = footprint.routes(fold)
            owner = 2 * len(self.tags)
            for number, routes in ((owner, include), (owner + 1, exclude)):
                for route in routes:
                    (floating if route.items[0] is None else anchored).append((number, route))
            self.tags.append(tag)
        self.anchored = _Automaton(anchored)
        self.floating = _Automaton(floating)
        self.owners: list[Owners] = [()]  # numbered, so that an answer is found without hashing them
        self.numbers: dict[Owners, int] = {(): 0}
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
        everywhere = folder.floating.numbers.get(name)
        if everywhere is None:
            everywhere = self._number(self.floating.owners(folder.floating, name))
            folder.floating.numbers[name] = everywhere
        if folder.own or name in folder.anchored.files:
            here = self._number(self.anchored.owners(folder.anchored, name))
        else:
            here = 0
        tags = folder.answers.get(here << 32 | everywhere)  # two numbers as one: quicker than a tuple
        return self._answer(folder, here, everywhere) if tags is None else tags

    def _number(self, owners: Owners) -> int:
        number = self.numbers.get(owners)
        if number is None:
            number = self.numbers[owners] = len(self.owners)
            self.owners.append(owners)
        return number

    def _answer(self, folder: _Folder, here: int, everywhere: int) -> list[Any]:
        found = {*self.owners[here], *self.owners[everywhere], *folder.covering}
        found.update(folder.anchored.always)
        found.update(folder.floating.always)
        out = {owner - 1 for owner in found if owner & 1}
        tags = [self.tags[owner >> 1] for owner in sorted({o for o in found if not o & 1} - out)]
        folder.answers[here << 32 | everywhere] = tags
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
