"""Overlaps with trial merges: what two worktrees both changed is merged for a try, uncommitted work included."""

from gitlock.domain.overlaps import UNKNOWN, Meeting, meetings, with_conflicts
from gitlock.domain.value import Value
from gitlock.git.together import Unknown
from gitlock.git.trial import Side, try_merges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.overlaps import Place
    from gitlock.domain.pattern import Fold
    from gitlock.git.process import Git
    from gitlock.git.repository import Repository
    from gitlock.usecases.muster import Mustered

MOST_TRIALS = 200  # pairs that are merged for a try: thirty worktrees that all change one file make 435


class Overlaps(Value):
    """``meetings`` by path; ``untried`` are reasons why some pair could not be merged for a try."""

    __slots__ = ("meetings", "untried")

    def __init__(self, meetings: list[Meeting], untried: list[str]) -> None:
        self.meetings = meetings
        self.untried = untried


def overlaps(
    repository: "Repository",
    mustered: "Mustered",
    fold: "Fold",
    deadline: float,
    wanted: "Callable[[Meeting], bool]",
) -> Overlaps:
    """The meetings that are ``wanted``, each with all three facts."""
    places = mustered.places()
    found = [one for one in meetings(places, mustered.leases, fold) if wanted(one)]
    contested: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.b is not None and one.conflict == UNKNOWN and not one.unseen:
            contested.setdefault((one.a, one.b), []).append(one.path)
    pairs = list(contested)[:MOST_TRIALS]
    untried = []
    if len(contested) > len(pairs):
        untried.append(f"{len(contested) - len(pairs)} pairs of worktrees were not merged for a try: they are too many")
    if not pairs:
        return Overlaps(found, untried)
    sides, unborn = _sides(repository.git, places, {pair: contested[pair] for pair in pairs}, fold)
    pairs = [pair for pair in pairs if unborn.isdisjoint(pair)]
    tried = try_merges(repository.common_dir, sides, pairs, deadline)
    untried += sorted({answer.why for answer in tried.values() if isinstance(answer, Unknown)})
    known = {pair: answer for pair, answer in tried.items() if not isinstance(answer, Unknown)}
    return Overlaps(with_conflicts(found, known), untried)


def _sides(
    git: "Git", places: "list[Place]", contested: dict[tuple[str, str], list[str]], fold: "Fold"
) -> tuple[dict[str, Side], set[str]]:
    """The worktrees to be merged, and those that have no commit yet."""
    paths: dict[str, set[str]] = {}
    for pair, names in contested.items():
        for name in pair:
            paths.setdefault(name, set()).update(fold.name(path) for path in names)
    sides, unborn = {}, set()
    for place in places:
        if place.path not in paths or place.sight is None:
            continue
        if place.sight.head is None:
            unborn.add(place.path)
            continue
        matter = paths[place.path]
        dirty = tuple(one.path for one in place.sight.touched if one.is_dirty and fold.name(one.path) in matter)
        sides[place.path] = Side(git.elsewhere(place.path), place.sight.head, dirty)
    return sides, unborn
