"""Looking: lists, one claim's state, who holds a path. Nothing here changes anything."""

from gitlock.domain.conflict import touching
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import Fold, anchor_candidates, escape
from gitlock.domain.standing import EXPIRED, GONE, LIVE, ORPHANED, WAITING, Facts, standing
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.holding import Wanted
    from gitlock.domain.policy import KeyRule, Policy
    from gitlock.domain.snapshot import Snapshot

HELD, FREE = "held", "free"


class Shown(Value):
    """A lease with what was worked out about it: ``state`` is live, expired, orphaned or released."""

    __slots__ = ("ended", "lease", "liveness", "state", "waiting")

    def __init__(
        self, lease: Lease, state: str, liveness: str, waiting: int = 0, ended: Ended | None = None
    ) -> None:
        self.lease = lease
        self.state = state
        self.liveness = liveness
        self.waiting = waiting
        self.ended = ended


class Result(Value):
    """What is known about one claim or path."""

    __slots__ = ("claim", "keys", "leases", "policy", "state")

    def __init__(
        self, claim: str, state: str, leases: tuple[Shown, ...], keys: "tuple[KeyRule, ...]", policy: str
    ) -> None:
        self.claim = claim
        self.state = state
        self.leases = leases
        self.keys = keys
        self.policy = policy


def shown(lease: Lease, snapshot: "Snapshot", facts: Facts, fold: Fold) -> Shown:
    """A lease as it stands now. That a dead holder left nothing behind is looked up only when somebody wants the
    paths; until then its lease is shown as orphaned."""
    word = standing(lease, snapshot.now, facts)
    state = {EXPIRED: "expired", GONE: "released", LIVE: "live", WAITING: "live"}.get(word, ORPHANED)
    return Shown(lease, state, facts.liveness(lease), waiting_behind(lease, snapshot, facts, fold))


def waiting_behind(lease: Lease, snapshot: "Snapshot", facts: Facts, fold: Fold) -> int:
    """How many live waiters a lease keeps waiting."""
    if not snapshot.waiters.count():
        return 0
    from gitlock.domain.conflict import meeting
    from gitlock.domain.queue import keeps_place

    return sum(
        1
        for waiter in snapshot.waiters.ordered()
        if meeting(lease, waiter.agent, waiter.mode, waiter.names, waiter.footprint, fold, waiter.apart) is not None
        and keeps_place(waiter, snapshot.now, facts.process_waits)
    )


def ended_as_shown(ended: Ended) -> Shown:
    """A lease that ended."""
    return Shown(ended.lease, "expired" if ended.why in ("expired", "taken") else "released", "unknown", ended=ended)


def listing(snapshot: "Snapshot", facts: Facts, fold: Fold, *, all: bool, under: "Footprint | None") -> list[Shown]:
    """Live leases, oldest grant first; with ``all`` also expired and ended ones; ``under`` keeps those that meet it."""
    found = [shown(lease, snapshot, facts, fold) for lease in snapshot.leases.all()]
    if not all:
        found = [one for one in found if one.state in ("live", ORPHANED)]
    else:
        found += [ended_as_shown(ended) for ended in snapshot.ended.all()]
    if under is not None:
        found = [one for one in found if touching(one.lease, (), under, fold) is not None]
    return sorted(found, key=lambda one: (one.lease.acquired, one.lease.fence))


def standing_of(
    wanted: "tuple[Wanted, ...]", snapshot: "Snapshot", facts: Facts, fold: Fold, policy: "Policy", kind: str
) -> list[Result]:
    """What is known about each claim: its live leases, or the expired ones, or that it is free."""
    results = []
    leases = list(snapshot.leases.all())
    for want in wanted:
        named = [lease for lease in leases if want.names_lease(lease)]
        hits = [shown(lease, snapshot, facts, fold) for lease in named or leases if want.reaches(lease, fold)]
        live = [one for one in hits if one.state in ("live", ORPHANED)]
        state = HELD if live else "expired" if hits else FREE
        rules = tuple(rule for rule in policy.keys if _touches(rule, want, fold))
        results.append(Result(want.text, state, tuple(live or hits), rules, policy.general_mode(kind)))
    return results


def holders_of(
    paths: list[str],
    snapshot: "Snapshot",
    facts: Facts,
    fold: Fold,
    policy: "Policy",
    kind: str,
    folders: frozenset[str] = frozenset(),
) -> list[Result]:
    """Who holds each path, and through which claim; for those that are ``folders``, also what is in them."""
    results = []
    for path in paths:
        if path in folders:
            below = Footprint.of((escape(path) if path else "**",))
            near = [one for one in snapshot.leases.all() if touching(one, (), below, fold) is not None]
        else:
            near = list(snapshot.leases.near(frozenset(anchor_candidates(path)), frozenset()))
            near = [one for one in near if covers(one.footprint, path, fold)]
        found = [shown(lease, snapshot, facts, fold) for lease in near]
        live = tuple(one for one in found if one.state in ("live", ORPHANED))
        rules = policy.keys_of(path, fold)
        results.append(Result(path, HELD if live else FREE, live, rules, policy.mode_for(kind, path, fold)))
    return results


def _touches(rule: "KeyRule", want: "Wanted", fold: Fold) -> bool:
    from gitlock.domain.overlap import overlap

    if want.name is not None:
        return rule.name == want.name
    return bool(want.include) and overlap(rule.footprint, want.footprint, fold).meets
