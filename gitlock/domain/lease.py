"""A lease: a granted claim with an end. And what is left of one when it has ended."""

from gitlock.domain.agent import related
from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.value import Value

EXCLUSIVE, SHARED, INTENT = "exclusive", "shared", "intent"
MODES = (EXCLUSIVE, SHARED, INTENT)
STRENGTH = {INTENT: 0, SHARED: 1, EXCLUSIVE: 2}
UNTIL_MERGED = "until_merged"  # the field of a lease that lasts as long as its branch does
LEFT = "left"  # the field of a lease that outlived its session, since its paths are still changed

TTL_LIMIT = 7 * 86400.0  # a week: nothing is immortal
EPOCH_STEP = 1_000_000_000  # fences of a later epoch are above every fence of an earlier one
EPOCH_LIMIT = 9_000_000  # fences stay below 2**53, so that every reader of JSON sees them as they are


class Holder(Value):
    """Where the agent works. ``pid`` is a long-lived process of its own, never that of the command that claimed;
    with ``started`` (its start time in clock ticks), ``boot`` and ``pid_space`` it names one process for ever.
    ``clone`` is the common git folder: several clones may share one store. ``extra`` keeps the fields that are rarely
    there (``apart``, ``chain``), and those that a later version wrote and we don't know."""

    __slots__ = ("boot", "branch", "clone", "extra", "host", "pid", "pid_space", "session", "started", "worktree")

    def __init__(
        self,
        host: str,
        worktree: str | None = None,
        branch: str | None = None,
        session: str | None = None,
        pid: int | None = None,
        started: int | None = None,
        pid_space: str | None = None,
        boot: str = "",
        clone: str | None = None,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.host = host
        self.clone = clone
        self.worktree = worktree
        self.branch = branch
        self.session = session
        self.pid = pid
        self.started = started
        self.pid_space = pid_space
        self.boot = boot
        self.extra = extra or {}

    @property
    def is_apart(self) -> bool:
        """Whether this is one command (``run``) or script by itself: what it holds is not its agent's elsewhere."""
        return self.extra.get("apart") is True

    @property
    def chain(self) -> frozenset[str]:
        """The leases under which a waiting process runs, by id: they are held until it ends."""
        found = self.extra.get("chain")
        return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()


class Lease(Value):
    """What is stored for one granted claim.

    ``keys`` are the names that the claim mapped to; ``include`` and ``exclude`` are pattern texts, relative to the
    top of the worktree. ``renewed`` is the instant from which ``ttl`` (seconds) counts. ``token_hash`` is the
    SHA-256 of the secret. ``extra`` keeps the fields that a later version wrote and we don't know.
    """

    __slots__ = (
        "acquired", "agent", "exclude", "extra", "fence", "holder", "id", "include", "keys", "kind", "mode", "reason",
        "renewed", "token_hash", "ttl",
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
        fence: int,
        acquired: float,
        renewed: Instant,
        ttl: float,
        token_hash: str,
        holder: Holder,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.kind = kind
        self.mode = mode
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.reason = reason
        self.fence = fence
        self.acquired = acquired
        self.renewed = renewed
        self.ttl = ttl
        self.token_hash = token_hash
        self.holder = holder
        self.extra = extra or {}

    @property
    def footprint(self) -> Footprint:
        """The set of paths that it covers; empty for a pure key."""
        return Footprint.of(self.include, self.exclude)

    @property
    def names(self) -> tuple[str, ...]:
        """The semantic keys among ``keys``: those that are not just another spelling of a path or pattern."""
        return tuple(key for key in self.keys if key[:5] not in ("file:", "glob:"))

    @property
    def title(self) -> str:
        """What people call it: its keys as they were claimed."""
        return " ".join([*self.names, *self.include, *("!" + text for text in self.exclude)])

    def left(self, now: Instant) -> float:
        """Seconds until it expires, never more than its TTL; zero or less once it has.

        A clock that stepped back can't extend it: across boots the wall clock decides, clamped to the TTL.
        """
        return min(self.ttl, self.ttl - now.since(self.renewed))

    def renewed_at(self, now: Instant, ttl: float | None = None) -> "Lease":
        """The same lease, its time counted from ``now``; never shortened unless a ``ttl`` is asked for."""
        return self.replace(renewed=now, ttl=self.ttl if ttl is None else ttl)

    def due(self, now: Instant) -> bool:
        """Whether a heartbeat should be written: a tenth of the TTL has passed since the last one."""
        return now.since(self.renewed) >= self.ttl / 10 or self.ahead(now)

    def ahead(self, now: Instant) -> bool:
        """Whether it was renewed "later than now": in another boot, by a wall clock that has been put back since."""
        return now.since(self.renewed) < 0

    @property
    def is_left(self) -> bool:
        """Whether its session has ended: it counts as the lease of a process that is gone."""
        return self.extra.get(LEFT) is True

    def taken_up(self) -> "Lease":
        """The same, of an agent that is back."""
        if not self.is_left:
            return self
        return self.replace(extra={name: value for name, value in self.extra.items() if name != LEFT})

    def belongs_to(self, agent: str) -> bool:
        """Whether it counts as the agent's own: its own, its parent's or its child's."""
        return related(self.agent, agent)


class Ended(Value):
    """A lease that ended before its holder said so, kept until the holder was told.

    ``why`` is one of: expired, taken (lapsed, and overlapped by another since), dead, broken, stolen, released (by
    somebody with its token), lost (with the store).
    ``by`` is who took, broke or released it, with ``by_claim`` and ``by_fence`` of what they hold instead. ``extra``
    keeps the fields that a later version wrote and we don't know.
    """

    __slots__ = ("at", "by", "by_claim", "by_fence", "extra", "lease", "note", "told", "why")

    def __init__(
        self,
        lease: Lease,
        why: str,
        at: float,
        by: str | None = None,
        by_claim: str | None = None,
        by_fence: int | None = None,
        note: str = "",
        told: bool = False,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.lease = lease
        self.why = why
        self.at = at
        self.by = by
        self.by_claim = by_claim
        self.by_fence = by_fence
        self.note = note
        self.told = told
        self.extra = extra or {}
