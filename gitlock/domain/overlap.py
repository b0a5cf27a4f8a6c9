"""Whether a footprint covers a path, whether two have a path in common, whether one holds the other. Exact.

Two patterns without exclusions are decided by ``Route.meets`` in time that is bounded by the product of their lengths.
Where an exclusion reaches into what two patterns share, gitlock.domain.meeting searches for a path, within a budget of
steps; a search that outgrows it is answered "they meet", and says that this was not decided exactly.
"""

from __future__ import annotations

from gitlock.domain.footprint import TREE
from gitlock.domain.pattern import PLAIN
from gitlock.domain.segment import common, names_meet, shapes_meet, word_fits
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitlock.domain.footprint import Footprint, Route
    from gitlock.domain.pattern import Fold
    from gitlock.domain.segment import Name, Token


class Meeting(Value):
    """The answer about two footprints, with a path that both cover.

    Undecided is ``meets`` without a witness and not ``exact``: whoever asks has to treat it as a meeting.
    """

    __slots__ = ("exact", "meets", "witness")

    def __init__(self, meets: bool, witness: str | None, exact: bool) -> None:
        self.meets = meets
        self.witness = witness
        self.exact = exact


STEPS = 80_000
"""The bound on one question, in comparisons of characters and moves of the search (see ``Budget``).

Chosen for 50 ms of CPU: the worst of the hostile inputs of benchmarks/overlap.py takes 33 to 40 ms on the machine that
it was set on (2 cores of an EPYC server, Python 3.11). A question that needs a search takes some 100 steps as a rule.
"""


class Spent(Exception):
    """The budget is used up."""


class Budget:
    """Steps that are left, one on long integers counted as several. Not time: an answer must not depend on load."""

    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Spent

    def meet(self, p: Route, q: Route) -> bool:
        """``p.meets(q)``, counted where it may take long: only names with ``?`` or classes can."""
        return p.meets(q, self.names_meet if p.fancy or q.fancy else names_meet)

    def names_meet(self, x: Name, y: Name) -> bool:
        self.spend(1)
        if isinstance(x, str):
            return x == y if isinstance(y, str) else word_fits(y, x, self.common)
        if isinstance(y, str):
            return word_fits(x, y, self.common)
        return x is y or shapes_meet(x, y, self.common)

    def common(self, x: Token, y: Token) -> str:
        self.spend(1 if isinstance(x, str) or isinstance(y, str) else 2)
        return common(x, y)


APART = Meeting(False, None, True)
UNDECIDED = Meeting(True, None, False)


def covers(footprint: Footprint, path: str, fold: Fold = PLAIN) -> bool:
    """Whether it covers this path (names with single slashes between them, none at either end)."""
    return footprint.covers(path, fold)


def overlap(a: Footprint, b: Footprint, fold: Fold = PLAIN, budget: Budget | None = None) -> Meeting:
    """Whether there is a path that both cover; the same answer whichever comes first."""
    ours, ours_out = a.routes(fold)
    theirs, theirs_out = b.routes(fold)
    if len(ours) == 1 == len(theirs) and not ours_out and not theirs_out:  # the usual case, and it needs no budget
        p, q = ours[0], theirs[0]
        if not p.meets(q):
            return APART
        from gitlock.domain.witness import simple_witness

        witness = simple_witness(*((p, q) if p.text <= q.text else (q, p)), ())
        return Meeting(True, witness, True) if _is_real(witness or "", fold, a, b) else UNDECIDED
    if [route.text for route in theirs] < [route.text for route in ours]:
        ours, theirs = theirs, ours  # one order of work for both orders of asking
    out = sorted(ours_out + theirs_out, key=_text)
    budget = budget or Budget()
    hard: list[tuple[Route, Route, list[Route]]] = []
    exact = True
    try:
        for p, q in _pairs(ours, theirs, budget):
            reaching = _reaching(out, (p, q), budget)
            if reaching is None:
                continue
            from gitlock.domain.witness import simple_witness

            witness = simple_witness(p, q, reaching)
            if witness is None:
                hard.append((p, q, reaching))
            elif _is_real(witness, fold, a, b):
                return Meeting(True, witness, True)
            else:
                exact = False
        for p, q, reaching in hard:
            from gitlock.domain.meeting import shared_path

            witness = shared_path((p, q), reaching, fold, budget)
            if witness and _is_real(witness, fold, a, b):
                return Meeting(True, witness, True)
            exact = exact and not witness
    except Spent:
        return UNDECIDED
    return APART if exact else UNDECIDED


def contains(outer: Footprint, inner: Footprint, fold: Fold = PLAIN, budget: Budget | None = None) -> bool:
    """Whether ``outer`` covers every path that ``inner`` covers. False where that could not be decided."""
    theirs, theirs_out = inner.routes(fold)
    ours, ours_out = outer.routes(fold)
    texts = {route.text for route in ours}
    places: dict[str, Route] = {}
    for route in ours:
        if route.kind and (route.kind == TREE or route.prefix not in places):
            places[route.prefix] = route
    budget = budget or Budget()
    try:
        for route in theirs:
            near = [places[folder] for folder in _folders(route.prefix) if folder in places]
            included = route.text in texts or any(place.holds(route) for place in near)
            if not included and not _is_empty((route,), (*theirs_out, *ours), fold, budget):
                return False
            for out in ours_out:
                if budget.meet(out, route) and not _is_empty((route, out), theirs_out, fold, budget):
                    return False
    except Spent:
        return False
    return True


def _is_empty(musts: tuple[Route, ...], out: Sequence[Route], fold: Fold, budget: Budget) -> bool:
    reaching = _reaching(out, musts, budget)
    if not reaching:  # none at all: whatever the musts cover is left
        return reaching is None
    from gitlock.domain.witness import simple_witness

    if simple_witness(musts[0], musts[-1], reaching) is not None:
        return False
    from gitlock.domain.meeting import shared_path

    return not shared_path(musts, reaching, fold, budget)


FEW = 64  # pairs that are sooner compared than sorted


def _pairs(ours: Sequence[Route], theirs: Sequence[Route], budget: Budget) -> Iterator[tuple[Route, Route]]:
    """The pairs that meet. Where there are many they are found by their prefixes: one of the two begins the other."""
    if len(ours) * len(theirs) <= FEW:
        near = [(p, theirs) for p in ours]
    else:
        near = _near(ours, theirs)
    for p, others in near:
        for q in others:
            if budget.meet(p, q):
                yield (p, q) if p.text <= q.text else (q, p)


def _near(ours: Sequence[Route], theirs: Sequence[Route]) -> list[tuple[Route, Sequence[Route]]]:
    at: dict[str, list[Route]] = {}
    below: dict[str, list[Route]] = {}
    for route in theirs:
        at.setdefault(route.prefix, []).append(route)
        for folder in _folders(route.prefix)[:-1]:
            below.setdefault(folder, []).append(route)
    near: list[tuple[Route, Sequence[Route]]] = []
    for route in ours:
        above = [other for folder in _folders(route.prefix) for other in at.get(folder, ())]
        near.append((route, above + below.get(route.prefix, [])))
    return near


def _folders(prefix: str) -> list[str]:
    """A prefix and every one above it: "", "src/", "src/auth/"."""
    found = [""]
    end = prefix.find("/") + 1
    while end:
        found.append(prefix[:end])
        end = prefix.find("/", end) + 1
    return found


def _reaching(out: Sequence[Route], musts: tuple[Route, ...], budget: Budget) -> list[Route] | None:
    """The exclusions that reach into what all of ``musts`` cover; None where one plainly takes it all."""
    found = []
    for route in out:
        if all(budget.meet(route, must) for must in musts):
            if any(route.text == must.text or route.holds(must) for must in musts):
                return None
            found.append(route)
    return found


def _is_real(witness: str, fold: Fold, a: Footprint, b: Footprint) -> bool:
    """Whether a name of the file system can be this. Only Unicode's composed forms know sequences that can't occur."""
    return not fold.unicode or witness.isascii() or (covers(a, witness, fold) and covers(b, witness, fold))


def _text(route: Route) -> str:
    return route.text
