"""What a holder does with leases that it has, or thinks it has: renew, give back, clear away what ended."""

from gitlock.domain.beat import unreported
from gitlock.domain.footprint import Footprint
from gitlock.domain.key import path_key
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.overlap import contains, overlap
from gitlock.domain.pattern import Fold, parse_pattern
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.beat import Beat

LAPSED_KEPT = 86400.0  # seconds that a lapsed lease which nobody overlapped can still be renewed
ENDED_KEPT = 7 * 86400.0  # seconds that an ended lease is remembered for a holder who never asks
ENDED_LIMIT = 1000  # how many ended leases are remembered at most, the oldest forgotten first


class Wanted(Value):
    """What one argument of release, renew or status names: a text to be found among the leases' own texts, or (read
    as a claim) a footprint or a key. ``fault`` is why it can't be read as a claim."""

    __slots__ = ("exclude", "fault", "include", "name", "spellings", "text")

    def __init__(
        self,
        text: str,
        spellings: frozenset[str],
        name: str | None = None,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        fault: Exception | None = None,
    ) -> None:
        self.text = text
        self.spellings = spellings
        self.name = name
        self.include = include
        self.exclude = exclude
        self.fault = fault

    @property
    def footprint(self) -> Footprint:
        """The paths that it names."""
        return Footprint.of(self.include, self.exclude)

    def names_lease(self, lease: Lease) -> bool:
        """Whether it names this whole lease by id, title, or its only key or pattern."""
        own = {lease.id, lease.title}
        if len(lease.include) + len(lease.names) == 1:
            own.update(lease.keys, lease.include)
        return not own.isdisjoint(self.spellings)

    def names_part(self, lease: Lease) -> bool:
        """Whether it names one of the lease's keys or patterns."""
        return not self.spellings.isdisjoint(lease.keys) or not self.spellings.isdisjoint(lease.include)

    def reaches(self, lease: Lease, fold: Fold) -> bool:
        """Whether it has anything in common with the lease."""
        if self.names_lease(lease) or self.names_part(lease):
            return True
        if self.name is not None and self.name in lease.names:
            return True
        return bool(self.include) and bool(lease.include) and overlap(lease.footprint, self.footprint, fold).meets


class Renewed(Value):
    """``renewed`` holds the leases after it, ``ended`` what can't be renewed since it ended, ``missing`` the arguments
    that name nothing of ours. ``beat`` is what became of the agent's other leases."""

    __slots__ = ("beat", "ended", "foreign", "missing", "renewed")

    def __init__(
        self,
        renewed: tuple[Lease, ...],
        ended: tuple[Ended, ...] = (),
        missing: tuple[Wanted, ...] = (),
        foreign: tuple[Lease, ...] = (),
        beat: "Beat | None" = None,
    ) -> None:
        self.beat = beat
        self.renewed = renewed
        self.ended = ended
        self.missing = missing
        self.foreign = foreign


def plan_renew(
    snapshot: Snapshot, agent: str, wanted: tuple[Wanted, ...], ttl: float | None, fold: Fold
) -> tuple[Edits, Renewed]:
    """Extends what is named, or everything when nothing is named. Whatever ended meanwhile is listed, not renewed."""
    own = list(snapshot.leases.of((agent,)))
    chosen: dict[str, Lease] = {}
    gone: list[Ended] = []
    missing: list[Wanted] = []
    foreign: list[Lease] = []
    if not wanted:
        chosen = {lease.id: lease for lease in own}
        gone = list(unreported(snapshot, agent))
    for want in wanted:
        exact = [lease for lease in own if want.names_lease(lease)]
        hits = exact or [lease for lease in own if want.reaches(lease, fold)]
        lost = [ended for ended in snapshot.ended.of((agent,)) if want.reaches(ended.lease, fold)]
        if hits:
            chosen.update((lease.id, lease) for lease in hits)
        elif lost:
            gone.append(lost[-1])
        else:
            missing.append(want)
            foreign += foreign_of(snapshot, agent, want, fold)
    now = snapshot.now
    put = tuple(lease.renewed_at(now, ttl) for lease in chosen.values())
    events = tuple(Event("renew", agent, lease.title, lease.id, lease.fence) for lease in put)
    return Edits(put=put, events=events) if put else NOTHING, Renewed(
        put, tuple(gone), tuple(missing), tuple(foreign)
    )


class Released(Value):
    """``released`` went whole, ``narrowed`` lists what is left of leases that gave up a part. ``beat`` is what became
    of the agent's other leases."""

    __slots__ = ("beat", "ended", "foreign", "missing", "narrowed", "released")

    def __init__(
        self,
        released: tuple[Lease, ...],
        narrowed: tuple[Lease, ...] = (),
        ended: tuple[Ended, ...] = (),
        missing: tuple[Wanted, ...] = (),
        foreign: tuple[Lease, ...] = (),
        beat: "Beat | None" = None,
    ) -> None:
        self.beat = beat
        self.released = released
        self.narrowed = narrowed
        self.ended = ended
        self.missing = missing
        self.foreign = foreign


def plan_release(
    snapshot: Snapshot,
    agent: str,
    wanted: tuple[Wanted, ...],
    fold: Fold,
    *,
    proves: "Callable[[Lease], bool] | None" = None,
) -> tuple[Edits, Released]:
    """Gives back what is named, whole or in part; everything of the agent's when nothing is named.

    ``proves`` says for a lease of another agent whether the caller holds its token.
    """
    own: Iterable[Lease] = snapshot.leases.of((agent,))
    if proves is not None:
        own = [lease for lease in snapshot.leases.all() if lease.agent == agent or proves(lease)]
    remaining: dict[str, Lease | None] = {lease.id: lease for lease in own}
    before = {lease.id: lease for lease in remaining.values() if lease is not None}
    missing: list[Wanted] = []
    gone: list[Ended] = []
    foreign: list[Lease] = []
    if not wanted:
        remaining = dict.fromkeys(remaining)
    for want in wanted:
        live = [lease for lease in remaining.values() if lease is not None]
        exact = [lease for lease in live if want.names_lease(lease)]
        hits = exact or [lease for lease in live if want.reaches(lease, fold)]
        if not hits:
            lost = [ended for ended in snapshot.ended.of((agent,)) if want.reaches(ended.lease, fold)]
            gone += lost[-1:]
            if not lost:
                missing.append(want)
                foreign += foreign_of(snapshot, agent, want, fold)
        for lease in hits:
            remaining[lease.id] = None if exact else narrowed(lease, want, fold)
    released = tuple(before[name] for name, left in remaining.items() if left is None)
    kept = tuple(left for name, left in remaining.items() if left is not None and left != before[name])
    events = tuple(Event("release", agent, lease.title, lease.id, lease.fence) for lease in released)
    events += tuple(
        Event("narrow", agent, lease.title, lease.id, lease.fence, f"was {before[lease.id].title}") for lease in kept
    )
    if not (released or kept):
        return NOTHING, Released((), (), tuple(gone), tuple(missing), tuple(foreign))
    # Who gave it back with a token alone is not its holder, who must hear of it.
    ended = tuple(Ended(one, "released", snapshot.now.wall, by=agent) for one in released if one.agent != agent)
    edits = Edits(put=kept, drop=tuple(lease.id for lease in released), ended=ended, events=events)
    return edits, Released(released, kept, tuple(gone), tuple(missing), tuple(foreign))


def narrowed(lease: Lease, want: Wanted, fold: Fold) -> Lease | None:
    """What is left of a lease when ``want`` is given up; None when nothing is.

    A declared key that is given up by name goes with its name only if it is all the lease has; giving up a path gives
    up the semantic keys (they stand for the whole) and keeps the other paths.
    """
    if want.name is not None and not want.include:
        names = tuple(name for name in lease.names if name != want.name)
        keys = tuple(key for key in lease.keys if key != want.name)
        return lease.replace(keys=keys) if names or lease.include else None
    include = tuple(
        text for text in lease.include
        if text not in want.spellings and not contains(want.footprint, Footprint.of((text,), ()), fold)
    )  # fmt: skip
    if not include:
        return None
    cut = tuple(
        text for text in want.include
        if overlap(Footprint.of((text,), ()), Footprint.of(include, lease.exclude), fold).meets
    )  # fmt: skip
    exclude = (*lease.exclude, *(text for text in cut if text not in lease.exclude))
    left = Footprint.of(include, exclude)
    if all(contains(Footprint.of(exclude, ()), Footprint.of((text,), ()), fold) for text in include) or left.is_empty:
        return None
    keys = tuple(path_key(text, parse_pattern(text).literal) for text in include)
    return lease.replace(keys=keys, include=include, exclude=exclude)


def foreign_of(snapshot: Snapshot, agent: str, want: Wanted, fold: Fold) -> list[Lease]:
    """Other agents' live leases that an argument names: what the answer "not yours" is about."""
    return [
        lease for lease in snapshot.leases.all()
        if lease.agent != agent and lease.left(snapshot.now) > 0 and want.reaches(lease, fold)
    ]  # fmt: skip


def plan_sweep(snapshot: Snapshot) -> tuple[Edits, int]:
    """Removes what has ended long ago; never needed for correctness, only for size. Answers how many went."""
    now = snapshot.now
    stale = [lease for lease in snapshot.leases.all() if lease.left(now) <= -LAPSED_KEPT]
    ended = tuple(Ended(lease, "expired", now.wall + lease.left(now)) for lease in stale)
    known = list(snapshot.ended.all())
    old = [one for one in known if now.wall - one.at > (LAPSED_KEPT if one.told else ENDED_KEPT)]
    surplus = len(known) + len(ended) - len(old) - ENDED_LIMIT
    if surplus > 0:
        old += [one for one in known if one not in old][:surplus]
    if not stale and not old:
        return NOTHING, 0
    events = tuple(Event("expire", lease.agent, lease.title, lease.id, lease.fence) for lease in stale)
    forget = tuple(one.lease.id for one in old)
    edits = Edits(drop=tuple(lease.id for lease in stale), ended=ended, forget=forget, events=events)
    return edits, len(stale) + len(old)
