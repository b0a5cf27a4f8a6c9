"""Where agents get in each other's way: three separate facts for each path and pair of worktrees.

*Reserved*: a live lease of one covers it. *Changed*: both have changed it, or one has while the other reserved it.
*Would conflict*: what both hold now does not merge. Each is yes, no, or not known, and "not known" is never "no".
"""

from gitlock.domain.agent import related
from gitlock.domain.covering import covering
from gitlock.domain.lease import INTENT
from gitlock.domain.pattern import escape
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitlock.domain.lease import Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.touched import Sight, Touched

YES, NO, UNKNOWN = "yes", "no", "unknown"

NAMED_ONE_BY_ONE = 5  # paths that a narrower claim names; more are claimed as the folder that holds them


class Place(Value):
    """A worktree, and who works in it: ``agents`` by their names (none: nobody is known). ``sight`` is what was seen
    there; None where that is not known, and ``why`` says why."""

    __slots__ = ("agents", "path", "sight", "why")

    def __init__(self, path: str, agents: tuple[str, ...], sight: "Sight | None", why: str = "") -> None:
        self.path = path
        self.agents = agents
        self.sight = sight
        self.why = why

    def owns(self, lease: "Lease") -> bool:
        """Whether a lease is held from here."""
        if lease.holder.worktree is not None:
            return lease.holder.worktree == self.path
        return any(related(lease.agent, agent) for agent in self.agents)

    def is_of(self, agent: str) -> bool:
        """Whether this agent, or one above or below it, works here."""
        return any(related(agent, other) for other in self.agents)


class Meeting(Value):
    """One path and two places, by their paths (``b`` is None for a lease that is held from no known worktree).
    ``by`` are the agents that reserved it, ``changed_in`` the places that changed it."""

    __slots__ = ("a", "b", "by", "changed_in", "conflict", "path", "reserved", "unseen")

    def __init__(
        self,
        path: str,
        a: str,
        b: str | None,
        reserved: str,
        by: tuple[str, ...],
        changed_in: tuple[str, ...],
        unseen: tuple[str, ...],
        conflict: str = UNKNOWN,
    ) -> None:
        self.path = path
        self.a = a
        self.b = b
        self.reserved = reserved
        self.by = by
        self.changed_in = changed_in
        self.unseen = unseen
        self.conflict = conflict

    @property
    def changed(self) -> str:
        """Whether it is changed where that matters."""
        if len(self.changed_in) > 1 or (self.changed_in and self.by):
            return YES
        return UNKNOWN if self.unseen or self.reserved == UNKNOWN else NO

    @property
    def pair(self) -> tuple[str, str | None]:
        return self.a, self.b


def meetings(places: "list[Place]", leases: "list[Lease] | None", fold: "Fold") -> list[Meeting]:
    """Every path that two places meet in, by path. ``leases`` are those that count; None where that is not known.

    Whether it would conflict is known here only where it can't: it takes two who changed it.
    """
    changed: dict[str, dict[str, Touched]] = {}
    for place in places:
        for one in place.sight.touched if place.sight is not None else ():
            changed.setdefault(fold.name(one.path), {})[place.path] = one
    real = [lease for lease in leases or () if lease.mode != INTENT and lease.include]
    holders = covering([(lease, lease.footprint) for lease in real], len(changed), fold)
    by_path = {place.path: place for place in places}
    owner_of = {lease.id: next((place for place in places if place.owns(lease)), None) for lease in real}
    unseen = {place.path for place in places if place.sight is None}
    found = []
    for key in sorted(changed):
        where = changed[key]
        path = next(iter(where.values())).path
        pairs: dict[tuple[str, str | None], list[str]] = {}
        ordered = sorted(where)
        for number, a in enumerate(ordered):
            for b in ordered[number + 1 :]:
                pairs[a, b] = []
        for lease in holders(path):
            owner = owner_of[lease.id]
            for a in ordered:
                if by_path[a].owns(lease) or by_path[a].is_of(lease.agent):
                    continue
                other = None if owner is None else owner.path
                known = other is not None and (other, a) in pairs
                pairs.setdefault((other, a) if other is not None and known else (a, other), []).append(lease.agent)
        for (first, second), by in pairs.items():
            sides = [name for name in (first, second) if name is not None]
            reserved = UNKNOWN if leases is None else YES if by else NO
            dark = tuple(name for name in sides if name in unseen)
            both = tuple(name for name in sides if name in where)
            conflict = UNKNOWN if len(both) > 1 or dark else NO
            found.append(Meeting(path, first, second, reserved, tuple(dict.fromkeys(by)), both, dark, conflict))
    return found


def with_conflicts(
    found: "Iterable[Meeting]", tried: "Mapping[tuple[str, str], frozenset[str]]"
) -> list[Meeting]:
    """The same with what trial merges said. A file that met a folder of its name is git's ``name~branch`` there."""
    done = []
    for one in found:
        paths = tried.get((one.a, one.b)) if one.b is not None else None
        if paths is not None and one.conflict == UNKNOWN and not one.unseen:
            hit = one.path in paths or any(path.startswith((one.path + "~", one.path + "/")) for path in paths)
            one = one.replace(conflict=YES if hit else NO)
        done.append(one)
    return done


class Unused(Value):
    """A lease that is broader than what its holder has touched. ``narrower`` are the patterns that would do; none of
    them where nothing of it was touched."""

    __slots__ = ("lease", "narrower")

    def __init__(self, lease: "Lease", narrower: tuple[str, ...]) -> None:
        self.lease = lease
        self.narrower = narrower


class Account(Value):
    """One place: paths that are changed there and claimed by nobody there, and leases that are hardly used. ``shared``
    says that several agents are at work there, so that nobody knows whose the changes are."""

    __slots__ = ("place", "shared", "unclaimed", "unused")

    def __init__(
        self, place: Place, unclaimed: "tuple[Touched, ...]", unused: tuple[Unused, ...], *, shared: bool
    ) -> None:
        self.place = place
        self.unclaimed = unclaimed
        self.unused = unused
        self.shared = shared


def account(place: Place, leases: "list[Lease]", fold: "Fold") -> Account | None:
    """What a place has changed against what is claimed there; None where it could not be looked at."""
    if place.sight is None:
        return None
    own = [lease for lease in leases if place.owns(lease) or place.is_of(lease.agent)]
    holders = covering([(lease.id, lease.footprint) for lease in own if lease.include], len(place.sight.touched), fold)
    used: dict[str, list[str]] = {lease.id: [] for lease in own}
    unclaimed = []
    for one in place.sight.touched:
        covered = holders(one.path)
        for name in covered:
            used[name].append(one.path)
        if not covered:
            unclaimed.append(one)
    unused = []
    for lease in own:
        if not lease.include or not place.owns(lease):
            continue
        narrower = narrowest(used[lease.id])
        if not narrower or not _is_as_wide(lease, narrower):
            unused.append(Unused(lease, narrower))
    roots = {agent.partition("/")[0] for agent in place.agents}
    return Account(place, tuple(unclaimed), tuple(unused), shared=len(roots) > 1)


def narrowest(paths: list[str]) -> tuple[str, ...]:
    """The narrowest claim that covers these: each by itself, or the folder that holds them where they are many."""
    if len(paths) <= NAMED_ONE_BY_ONE:
        return tuple(escape(path) for path in paths)
    folders = [path.split("/")[:-1] for path in paths]
    common = []
    for names in zip(*folders, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return (escape("/".join(common)) + "/",) if common else ("**",)


def _is_as_wide(lease: "Lease", narrower: tuple[str, ...]) -> bool:
    """Whether the lease is about as narrow already: literal paths, or the very same folder."""
    have = {text.rstrip("*").rstrip("/") for text in lease.include}
    return have <= {text.rstrip("/") for text in narrower} or narrower == ("**",)
