"""Leases that last while their branch does (``claim --until-merged``): bound to no process, renewed by whoever comes
by, and over when the base contains what the branch has done, or the branch is gone."""

from gitlock.domain.lease import TTL_LIMIT, UNTIL_MERGED, Ended, Lease
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.value import Value

FIELD = UNTIL_MERGED  # the field of a lease that says so
MERGED, ABANDONED = "merged", "abandoned"  # why such a lease ended


class Follow(Value):
    """What a lease follows: a local ``branch``, until ``base`` (a full ref) contains its work. ``ahead`` says that the
    branch was once seen with work that the base did not contain: a branch just begun is contained in its base as well,
    and not merged. ``start`` is the commit that it was at when it was claimed for."""

    __slots__ = ("ahead", "base", "branch", "start")

    def __init__(self, branch: str, base: str, start: str, ahead: bool = False) -> None:
        self.start = start
        self.branch = branch
        self.base = base
        self.ahead = ahead


def followed(lease: Lease) -> Follow | None:
    """What the lease follows; None where it is an ordinary one (or a later version follows something else)."""
    found = lease.extra.get(FIELD)
    if not isinstance(found, dict):
        return None
    branch, base, ahead, start = (found.get(name) for name in ("branch", "base", "ahead", "start"))
    if not (isinstance(branch, str) and isinstance(base, str) and isinstance(ahead, bool) and isinstance(start, str)):
        return None
    return Follow(branch, base, start, ahead)


def following(lease: Lease, follow: Follow) -> Lease:
    """The lease, following this from now on."""
    field = {"branch": follow.branch, "base": follow.base, "start": follow.start, "ahead": follow.ahead}
    return lease.replace(ttl=TTL_LIMIT, extra={**lease.extra, FIELD: field})


class Seen(Value):
    """What became of the branch of a lease. ``state`` is ``begun`` (nothing of its own yet), ``ahead``, ``merged``
    (with the proof in ``note``), ``abandoned`` (it is gone), or ``unknown`` (why is in ``note``)."""

    __slots__ = ("note", "state")

    def __init__(self, state: str, note: str = "") -> None:
        self.state = state
        self.note = note


class Followed(Value):
    """``renewed`` and ``ended`` leases; ``adrift`` are those of which it can't be told whether they are merged, each
    with the reason: they run out by their TTL."""

    __slots__ = ("adrift", "ended", "renewed")

    def __init__(
        self,
        renewed: tuple[Lease, ...] = (),
        ended: tuple[Ended, ...] = (),
        adrift: tuple[tuple[Lease, str], ...] = (),
    ) -> None:
        self.renewed = renewed
        self.ended = ended
        self.adrift = adrift


def plan_following(snapshot: Snapshot, seen: "dict[str, Seen]") -> tuple[Edits, Followed]:
    """Renews what goes on and ends what is over; ``seen`` by lease id. What was released meanwhile is left alone."""
    now = snapshot.now
    put: list[Lease] = []
    ended: list[Ended] = []
    adrift: list[tuple[Lease, str]] = []
    for lease in snapshot.leases.all():
        follow = followed(lease)
        found = seen.get(lease.id)
        if follow is None or found is None:
            continue
        if found.state in (MERGED, ABANDONED):
            ended.append(Ended(lease, found.state, now.wall, note=found.note))
        elif found.state == "unknown":
            adrift.append((lease, found.note))
        else:
            after = lease if follow.ahead or found.state == "begun" else following(lease, follow.replace(ahead=True))
            if lease.due(now) or after != lease:
                put.append(after.renewed_at(now))
    outcome = Followed(tuple(put), tuple(ended), tuple(adrift))
    if not put and not ended:
        return NOTHING, outcome
    events = tuple(Event("release", one.lease.agent, one.lease.title, one.lease.id, one.lease.fence,
                         f"{one.why}: {one.note}") for one in ended)  # fmt: skip
    drop = tuple(one.lease.id for one in ended)
    return Edits(put=tuple(put), drop=drop, ended=tuple(ended), events=events), outcome
