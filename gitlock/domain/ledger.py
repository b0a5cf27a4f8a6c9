"""A ledger: what one clone says to the others, who can't see its store. Who holds what, and what has ended lately.

A ledger is a statement of a past moment (``published``), and ages by itself: nobody has to withdraw it. Its leases run
by the wall clock, since nobody else's monotonic clock means anything to the reader; they can't outlive their TTL,
counted from the publication. What only concerns the machine where the work is done (token, host, process, session,
folder) stays there.
"""

from gitlock.domain.instant import Instant
from gitlock.domain.lease import TTL_LIMIT, Ended, Holder, Lease
from gitlock.domain.standing import EXPIRED, GONE, standing
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts

RECENT = 7 * 86400.0  # seconds that an ended lease stays in a ledger
RELEASES_LIMIT = 500  # how many of them, the latest first
AHEAD_LIMIT = TTL_LIMIT  # seconds that a publication may lie ahead of the reader's clock; beyond, it says nothing
STALE = 6 * 3600.0  # seconds after which a ledger that still holds something is published once more
SHOWN = ("until_merged",)  # of a lease's rarer fields those that mean something elsewhere: whether it has them
LATE = 0.1  # part of its TTL by which a renewal must have moved a lease's end to be worth a publication


class Ledger(Value):
    """What the clone ``writer`` published at ``published`` (UTC seconds).

    ``store`` and ``epoch`` say which fences compare with which; ``fence`` is the highest that the store has given.
    ``leases`` were live then: their ``renewed`` has only a wall time, ``token_hash`` and ``holder.host`` are empty, and
    ``holder.clone`` is the writer. ``releases`` have ended since not more than ``RECENT`` seconds. ``extra`` keeps what
    a later version wrote.
    """

    __slots__ = ("epoch", "extra", "fence", "leases", "published", "releases", "store", "writer")

    def __init__(
        self,
        *,
        writer: str,
        store: str,
        epoch: int,
        fence: int,
        published: float,
        leases: tuple[Lease, ...] = (),
        releases: tuple[Ended, ...] = (),
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.writer = writer
        self.store = store
        self.epoch = epoch
        self.fence = fence
        self.published = published
        self.leases = leases
        self.releases = releases
        self.extra = extra or {}

    def left(self, lease: Lease, now: float) -> float:
        """Seconds that one of its leases still has at the reader's wall time ``now``; zero or less once it expired.

        At most what it had at the publication, and that at most its TTL; a publication that seems to lie ahead was
        made just now.
        """
        if self.published - now > AHEAD_LIMIT:
            return 0.0
        had = lease.left(Instant(self.published, 0.0, ""))
        return had - max(0.0, now - self.published)

    def live(self, now: float) -> tuple[Lease, ...]:
        """Its leases that have not expired, as leases of the reader's time: ``lease.left(Instant(now, 0, ""))`` is
        what ``left`` says."""
        found = []
        for lease in self.leases:
            left = self.left(lease, now)
            if left > 0:
                found.append(lease.replace(renewed=Instant(now - (lease.ttl - left), 0.0, "")))
        return tuple(found)

    def recent(self, now: float) -> tuple[Ended, ...]:
        """Its leases that ended not long ago, the latest first."""
        found = [one for one in self.releases if now - one.at <= RECENT]
        return tuple(sorted(found, key=lambda one: one.at, reverse=True))

    def speaks(self, now: float) -> bool:
        """Whether it still says anything: something is live or has ended lately."""
        return bool(self.live(now) or self.recent(now))

    def says_the_same(self, other: "Ledger") -> bool:
        """Whether both say the same but for when, and how long the leases still have."""
        return _timeless(self) == _timeless(other)


def _timeless(ledger: Ledger) -> tuple[object, ...]:
    never = Instant(0.0, 0.0, "")
    leases = {lease.id: lease.replace(renewed=never) for lease in ledger.leases}
    releases = {one.lease.id: one.replace(lease=one.lease.replace(renewed=never)) for one in ledger.releases}
    return ledger.writer, ledger.store, ledger.epoch, ledger.fence, leases, releases


def stripped(lease: Lease, now: Instant, writer: str) -> Lease:
    """The lease as strangers may see it, its time told by the wall clock."""
    age = max(0.0, now.since(lease.renewed))
    mode = lease.extra.get("mode")  # a later version's, which we have read as the strongest
    return lease.replace(
        renewed=Instant(round(now.wall - age, 3), 0.0, ""),
        token_hash="",
        holder=Holder("", branch=lease.holder.branch, clone=writer),
        extra={**({"mode": mode} if mode else {}), **{name: True for name in SHOWN if lease.extra.get(name)}},
    )


def ledger_of(
    snapshot: "Snapshot", writer: str, facts: "Facts", *, clone: str | None = None, before: Ledger | None = None
) -> Ledger:
    """The ledger of this moment. ``before`` is the one published last: what it held and the store does not any more was
    given back since. ``clone`` is set where several clones share the store: each speaks of its own leases."""
    now = snapshot.now
    there = list(snapshot.leases.all())
    own = [lease for lease in there if lease.holder.clone in (None, clone)]
    live = [lease for lease in own if standing(lease, now, facts) not in (EXPIRED, GONE)]
    leases = tuple(stripped(lease, now, writer) for lease in sorted(live, key=lambda one: one.fence))
    return Ledger(
        writer=writer,
        store=snapshot.store,
        epoch=snapshot.epoch,
        fence=snapshot.counter,
        published=now.wall,
        leases=leases,
        releases=_releases(snapshot, writer, clone, {lease.id for lease in there}, before),
    )


def _releases(
    snapshot: "Snapshot", writer: str, clone: str | None, there: set[str], before: Ledger | None
) -> tuple[Ended, ...]:
    now = snapshot.now
    found: dict[str, Ended] = {}
    if before is not None and before.store == snapshot.store:
        for one in before.recent(now.wall):
            found[one.lease.id] = one
        for lease in before.leases:
            if lease.id not in there:
                end = min(now.wall, before.published + max(0.0, before.left(lease, before.published)))
                found[lease.id] = Ended(lease, "released", end)
    for one in snapshot.ended.all():
        if one.lease.holder.clone in (None, clone) and now.wall - one.at <= RECENT:
            found[one.lease.id] = Ended(
                stripped(one.lease, now, writer), one.why, one.at, by=one.by, by_claim=one.by_claim,
                by_fence=one.by_fence,
            )  # fmt: skip
    gone = [one for one in found.values() if one.lease.id not in there]
    return tuple(sorted(gone, key=lambda one: (-one.at, one.lease.id))[:RELEASES_LIMIT])


def needs_publishing(ledger: Ledger, before: Ledger | None) -> bool:
    """Whether others would learn anything: it says something else than ``before``, a renewal has moved an end by a
    tenth of its TTL, or what is live was published long ago. A clone that never had anything to say stays silent."""
    if before is None:
        return bool(ledger.leases or ledger.releases)
    if not ledger.says_the_same(before):
        return True
    if not ledger.leases:
        return False
    now = ledger.published
    if not 0 <= now - before.published < STALE:
        return True
    known = {lease.id: before.left(lease, now) for lease in before.leases}
    return any(ledger.left(lease, now) - known[lease.id] > lease.ttl * LATE for lease in ledger.leases)
