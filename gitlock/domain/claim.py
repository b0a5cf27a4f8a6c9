"""Asking for a lease: granted whole, already ours, or refused with every conflict listed."""

from gitlock.domain.conflict import Conflict, meeting, stands_apart, touching
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import EPOCH_STEP, INTENT, SHARED, STRENGTH, Ended, Holder, Lease
from gitlock.domain.overlap import contains
from gitlock.domain.pattern import Fold
from gitlock.domain.policy import ENFORCE
from gitlock.domain.seat import reseated, seats_beside
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot, anchors_of
from gitlock.domain.standing import DEAD, DOUBTFUL, EXPIRED, GONE, Facts, standing
from gitlock.domain.tentative import begun, marked
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.queue import Waiter


class Claim(Value):
    """A wish. ``id`` and ``token_hash`` are made by the caller, so that a plan can run again with the same result.
    ``chain`` are the leases that are held until whoever wishes has ended, by id: those of the commands around it.
    ``call`` is set where it is made for an edit that has yet to happen (``gitlock.domain.tentative``)."""

    __slots__ = (
        "agent", "call", "chain", "exclude", "holder", "id", "include", "keys", "kind", "mode", "nested", "reason",
        "token_hash", "ttl",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        agent: str,
        kind: str,
        mode: str,
        keys: tuple[str, ...],
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        reason: str,
        ttl: float,
        token_hash: str,
        holder: Holder,
        nested: bool = False,
        chain: frozenset[str] = frozenset(),
        call: str | None = None,
    ) -> None:
        self.nested = nested
        self.chain = chain
        self.call = call
        self.id = id
        self.agent = agent
        self.kind = kind
        self.mode = mode
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.reason = reason
        self.ttl = ttl
        self.token_hash = token_hash
        self.holder = holder

    @property
    def footprint(self) -> Footprint:
        """The set of paths that it asks for."""
        return Footprint.of(self.include, self.exclude)

    @property
    def names(self) -> tuple[str, ...]:
        """Its semantic keys."""
        return tuple(key for key in self.keys if key[:5] not in ("file:", "glob:"))

    @property
    def apart(self) -> frozenset[str] | None:
        """The leases around a command or script that shares nothing with its agent's others; None for what does."""
        return self.chain if self.holder.is_apart else None

    def below(self, own: "Iterable[Lease]", facts: Facts) -> "Claim":
        """The same, with those of its agent's leases in the chain whose process is one of those that started us."""
        found = {lease.id for lease in own if lease.holder.is_apart and facts.runs_under(lease.holder)}
        return self if found <= self.chain else self.replace(chain=self.chain | found)


class Granted(Value):
    """The lease is ours. ``already`` where an own lease covered the claim; ``upgraded`` where shared became exclusive.

    ``announced`` lists the conflicts of a claim that was granted as an announcement only, since the policy warns;
    ``met`` the announcements of others that it overlaps; ``elsewhere`` the same agent's leases of other worktrees.
    """

    __slots__ = ("already", "announced", "elsewhere", "lease", "met", "upgraded")

    def __init__(
        self,
        lease: Lease,
        *,
        already: bool = False,
        upgraded: bool = False,
        announced: tuple[Conflict, ...] = (),
        met: tuple[Conflict, ...] = (),
        elsewhere: tuple[Conflict, ...] = (),
    ) -> None:
        self.lease = lease
        self.already = already
        self.upgraded = upgraded
        self.announced = announced
        self.met = met
        self.elsewhere = elsewhere


class Refused(Value):
    """Nothing was granted. Every conflict is here, not the first; ``ahead`` is the nearest live waiter that stands
    before."""

    __slots__ = ("ahead", "conflicts")

    def __init__(self, conflicts: tuple[Conflict, ...], ahead: "tuple[Waiter, ...]" = ()) -> None:
        self.conflicts = conflicts
        self.ahead = ahead


class LookFirst(Value):
    """Holders of these leases are gone: whether their paths are still changed must be looked up, then plan again."""

    __slots__ = ("leases",)

    def __init__(self, leases: tuple[Lease, ...]) -> None:
        self.leases = leases


class Clash(Value):
    """The agent's id is in use on another host or in another place: two holders of one name would not exclude."""

    __slots__ = ("lease",)

    def __init__(self, lease: Lease) -> None:
        self.lease = lease


def plan_claim(
    snapshot: Snapshot,
    claim: Claim,
    *,
    fold: Fold,
    facts: Facts,
    mode_of: "Callable[[Conflict], str]",
    same_agent: bool = False,
    place: "Waiter | None" = None,
) -> "tuple[Edits, Granted | Refused | LookFirst | Clash]":
    """Grants the claim whole or not at all.

    ``mode_of`` is what the policy does about a conflict: where it is never ``enforce``, a claim that conflicts is
    granted as an announcement. A lapsed lease of another that the claim overlaps ends here, and so does one whose
    holder is gone and left nothing behind. ``place`` is the claim's own place in the queue, given up by the grant;
    without one, every live waiter stands before it.

    A refused claim changes nobody's lease. All that it may write down about one is that it was seen, where a wall
    clock of another boot dated it ahead of now: from this first sight on its TTL counts, or it could stand for years.
    """
    now = snapshot.now
    footprint, names = claim.footprint, claim.names
    own = list(snapshot.leases.of((claim.agent,)))
    if not same_agent:
        here = (claim.holder.host, claim.holder.clone)
        for lease in own:
            if (lease.holder.host, lease.holder.clone) != here and lease.left(now) > 0:
                return NOTHING, Clash(lease)

    claim = claim.below(own, facts)
    shared = [lease for lease in own if not stands_apart(lease, claim.agent, claim.apart)]
    covering = _covering(shared, footprint, names, fold)
    if covering is not None and STRENGTH[covering.mode] >= STRENGTH[claim.mode]:
        renewed = covering.renewed_at(now, max(claim.ttl, covering.ttl)).replace(
            holder=_holder(covering, claim, facts), extra=marked(covering.extra, claim.call)
        ).taken_up()
        renewed = reseated(renewed, seats_beside(claim.holder))
        left = _places(snapshot, claim, place)
        found = _elsewhere(covering, claim, snapshot, fold)
        granted = Granted(renewed, already=True, elsewhere=() if found is None else (found,))
        return Edits(put=(renewed,), leave=left, events=(_event("renew", renewed),)), granted

    around = list(snapshot.leases.around(anchors_of(footprint), frozenset(name.lower() for name in names)))
    standing_in_way: list[Conflict] = []
    doubtful: list[Lease] = []
    over: list[tuple[Lease, str]] = []
    met: list[Conflict] = []
    elsewhere: list[Conflict] = []
    for lease in around:
        if lease.agent == claim.agent and not stands_apart(lease, claim.agent, claim.apart):
            found = _elsewhere(lease, claim, snapshot, fold)
            if found is not None:
                elsewhere.append(found)
            continue
        if INTENT in (lease.mode, claim.mode):
            found = touching(lease, names, footprint, fold)
            if found is not None and lease.left(now) > 0:
                met.append(found)
            continue
        conflict = meeting(lease, claim.agent, claim.mode, names, footprint, fold, claim.apart)
        if conflict is None:
            continue
        word = standing(lease, now, facts)
        if word == EXPIRED:
            over.append((lease, "taken"))
        elif word == GONE:
            over.append((lease, "dead"))
        else:
            if word == DOUBTFUL:
                doubtful.append(lease)
            standing_in_way.append(conflict.replace(standing=word))
    if doubtful:
        return NOTHING, LookFirst(tuple(doubtful))
    front = None
    if claim.mode != INTENT and snapshot.waiters.count():
        from gitlock.domain.turn import front_of

        front = front_of(snapshot, claim, fold, facts, place)
    ahead = front.ahead if front is not None else ()
    announced: tuple[Conflict, ...] = ()
    mode = claim.mode
    if standing_in_way:
        if any(mode_of(conflict) == ENFORCE for conflict in standing_in_way):
            dated = tuple(one.lease.replace(renewed=now) for one in standing_in_way if one.lease.ahead(now))
            return Edits(put=dated) if dated else NOTHING, Refused(tuple(standing_in_way), ahead)
        announced, mode, over, front = tuple(standing_in_way), INTENT, [], None
    leave = _places(snapshot, claim, place)
    passed: tuple[Waiter, ...] = ()
    if front is not None:
        if ahead:
            return Edits(queue=front.offers, leave=front.gone), Refused((), ahead)
        leave += front.gone
        passed = tuple(waiter.replace(passed=waiter.passed + 1) for waiter in front.passing)

    fence = next_fence(snapshot)
    upgrade = covering is not None and covering.mode == SHARED and _same_extent(covering, claim) and mode != INTENT
    lease = Lease(
        id=covering.id if upgrade and covering is not None else claim.id,
        agent=claim.agent,
        kind=claim.kind,
        mode=mode,
        keys=claim.keys,
        include=claim.include,
        exclude=claim.exclude,
        reason=claim.reason or (covering.reason if upgrade and covering is not None else ""),
        fence=fence,
        acquired=now.wall,
        renewed=now,
        ttl=claim.ttl,
        token_hash=claim.token_hash,
        holder=_holder(covering, claim, facts) if upgrade and covering is not None else claim.holder,
        extra=begun(claim.call),
    )
    ended = tuple(
        Ended(old, why, now.wall, by=claim.agent, by_claim=lease.title, by_fence=fence) for old, why in over
    )
    events = [_event("announce" if mode == INTENT else "claim", lease)]
    events += [
        Event("lapse" if why == "taken" else "dead", old.agent, old.title, old.id, old.fence, f"taken by {claim.agent}")
        for old, why in over
    ]
    edits = Edits(
        put=(lease,), drop=tuple(old.id for old, _ in over), ended=ended, counter=fence, events=tuple(events),
        queue=passed, leave=leave,
    )  # fmt: skip
    return edits, Granted(
        lease, upgraded=upgrade, announced=announced, met=tuple(met), elsewhere=tuple(elsewhere)
    )


def _places(snapshot: Snapshot, claim: Claim, place: "Waiter | None") -> tuple[str, ...]:
    """The places in the queue that a grant makes needless: the claim's own, and a ticket for the very same."""
    found = () if place is None else (place.id,)
    if not snapshot.waiters.count():
        return found
    from gitlock.domain.turn import tickets_of

    return (*found, *(one.id for one in tickets_of(snapshot, claim) if one.id not in found))


def next_fence(snapshot: Snapshot) -> int:
    """The fence of the next grant: above every fence of this epoch and of all before it."""
    return max(snapshot.counter, (snapshot.epoch - 1) * EPOCH_STEP) + 1


def _covering(
    own: list[Lease], footprint: Footprint, names: tuple[str, ...], fold: Fold
) -> Lease | None:
    """The strongest own lease that covers everything that is asked for: nobody else can have got in between."""
    best = None
    for lease in own:
        if not set(names) <= set(lease.names) or (best is not None and STRENGTH[lease.mode] <= STRENGTH[best.mode]):
            continue
        if footprint.is_empty or contains(lease.footprint, footprint, fold):
            best = lease
    return best


def _elsewhere(lease: Lease, claim: Claim, snapshot: Snapshot, fold: Fold) -> Conflict | None:
    """An own lease of another worktree that the claim overlaps: a person in two places does not exclude itself."""
    if claim.kind != "human" or lease.holder.worktree == claim.holder.worktree or lease.left(snapshot.now) <= 0:
        return None
    return touching(lease, claim.names, claim.footprint, fold)


def _holder(lease: Lease, claim: Claim, facts: Facts) -> Holder:
    """Who holds an own lease once it is claimed again: with the process that this claim names; and where the process
    of before is gone, with none: whoever claims is not gone, and must not be taken for dead. A nested claim (a command
    that runs under the lease already) leaves it to the process that will outlive it. What one command held apart is
    the agent's once that claims it elsewhere."""
    if lease.holder.pid is not None and facts.liveness(lease) == DEAD:
        return claim.holder
    if lease.holder.is_apart and not claim.holder.is_apart and lease.id not in claim.chain:
        return claim.holder
    return claim.holder if claim.holder.pid is not None and not claim.nested else lease.holder


def _same_extent(lease: Lease, claim: Claim) -> bool:
    return (lease.keys, lease.include, lease.exclude) == (claim.keys, claim.include, claim.exclude)


def _event(verb: str, lease: Lease) -> Event:
    return Event(verb, lease.agent, lease.title, lease.id, lease.fence, lease.reason)
