"""Ending somebody else's lease: break drops it, steal drops it and takes it, in one step with a new fence.

The victim is told, and history has who and why. While the holder is not provably gone it takes ``force``: doubt
means held.
"""

from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused, plan_claim
from gitlock.domain.holding import Wanted
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.pattern import Fold
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.standing import DEAD, EXPIRED, Facts, standing
from gitlock.domain.value import Value


class Broken(Value):
    """These leases were ended (or would be); ``taken`` is what a steal was granted."""

    __slots__ = ("leases", "taken")

    def __init__(self, leases: tuple[Lease, ...], taken: Granted | None = None) -> None:
        self.leases = leases
        self.taken = taken


class StillThere(Value):
    """The holder of this lease is not provably gone, and ``force`` was not given."""

    __slots__ = ("lease", "liveness")

    def __init__(self, lease: Lease, liveness: str) -> None:
        self.lease = lease
        self.liveness = liveness


class NothingThere(Value):
    """No lease of anybody else is called that."""

    __slots__ = ()


def plan_break(
    snapshot: Snapshot,
    agent: str,
    wanted: tuple[Wanted, ...],
    *,
    reason: str,
    force: bool,
    fold: Fold,
    facts: Facts,
    claim: Claim | None = None,
) -> "tuple[Edits, Broken | StillThere | NothingThere | Refused | LookFirst | Clash]":
    """Ends the leases of others that are named, whole; with ``claim`` (a steal) takes it in the same step.

    A lease that has lapsed may be ended without force: nobody is at work under it that the store knows of.
    """
    now = snapshot.now
    victims: dict[str, Lease] = {}
    for want in wanted:
        others = [lease for lease in snapshot.leases.all() if not lease.belongs_to(agent)]
        exact = [lease for lease in others if want.names_lease(lease)]
        victims.update((lease.id, lease) for lease in exact or others if want.reaches(lease, fold))
    if not victims:
        return NOTHING, NothingThere()
    if not force:
        for lease in victims.values():
            if standing(lease, now, facts) != EXPIRED and facts.liveness(lease) != DEAD:
                return NOTHING, StillThere(lease, facts.liveness(lease))
    leases = tuple(victims.values())
    why = "stolen" if claim is not None else "broken"
    granted: Granted | None = None
    edits = NOTHING
    if claim is not None:
        changed = snapshot.with_leases(lease for lease in snapshot.leases.all() if lease.id not in victims)
        edits, answer = plan_claim(changed, claim, fold=fold, facts=facts, mode_of=lambda _: "enforce")
        if not isinstance(answer, Granted):
            return NOTHING, answer
        granted = answer
    ended = tuple(
        Ended(
            lease,
            why,
            now.wall,
            by=agent,
            by_claim=granted.lease.title if granted is not None else None,
            by_fence=granted.lease.fence if granted is not None else None,
            note=reason,
        )
        for lease in leases
    )
    events = tuple(
        Event("steal" if claim is not None else "break", agent, lease.title, lease.id, lease.fence, reason, lease.agent)
        for lease in leases
    )
    return edits.replace(
        drop=edits.drop + tuple(victims), ended=edits.ended + ended, events=events + edits.events
    ), Broken(leases, granted)
