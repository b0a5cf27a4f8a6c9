"""One consistent reading of a store, and what a plan wants changed.

A *plan* is a pure function ``Snapshot -> (Edits, outcome)``. The store applies the edits of exactly the snapshot that
the plan saw, or runs the plan again, so a plan may run several times and must not have effects of its own.
"""

from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from gitlock.domain.queue import Waiter
    from gitlock.domain.taint import Taint

    class Table(Protocol):
        """The leases of one revision, found without looking at those that can't concern the question."""

        def all(self) -> "Iterable[Lease]":
            """Every lease, expired ones included."""

        def of(self, agents: "Iterable[str]") -> "Iterable[Lease]":
            """Those of these agents."""

        def near(self, anchors: "frozenset[str]", names: "frozenset[str]") -> "Iterable[Lease]":
            """At least those with one of these exact anchors, or one of these (case-folded) names."""

        def around(self, anchors: "frozenset[str]", names: "frozenset[str]") -> "Iterable[Lease]":
            """At least those with an anchor that may meet one of these, or with one of these names."""

        def count(self) -> int:
            """How many there are."""

    class EndedTable(Protocol):
        """Leases that ended before their holder said so."""

        def all(self) -> "Iterable[Ended]":
            """Every one that is still remembered, oldest first."""

        def of(self, agents: "Iterable[str]") -> "Iterable[Ended]":
            """Those of these agents, oldest first."""

    class WaiterTable(Protocol):
        """The queue, in order."""

        def ordered(self) -> "Iterable[Waiter]":
            """Every waiter, first come first; parsed as they are asked for."""

        def of(self, agents: "Iterable[str]") -> "Iterable[Waiter]":
            """Those of these agents, in order."""

        def find(self, id: str) -> "Waiter | None":
            """The one of that id."""

        def backwards(
            self, before: int | None, anchors: "frozenset[str]", names: "frozenset[str]"
        ) -> "Iterable[Waiter]":
            """Those before this place (None: all of them), the last first: at least those with an anchor that may
            meet one of these, or with one of these names."""

        def outlines(
            self, anchors: "frozenset[str] | None", names: "frozenset[str]"
        ) -> "Iterable[tuple[object, str, Callable[[], Waiter]]]":
            """Those with an anchor that may meet one of these, or with one of these names (None: all of them), in
            order: what is wanted (equal where two want the same in the same mode), by whom, and the whole of it."""

        def count(self) -> int:
            """How many there are."""


class Snapshot:
    """One revision of a store.

    ``now`` is the store's own time. ``counter`` is the highest fence given so far, ``order`` the highest place in the
    queue. ``notice`` is a sentence that everyone must see (the store began a new epoch), or empty.
    """

    __slots__ = (
        "counter", "ended", "epoch", "leases", "notice", "now", "order", "revision", "store", "taints", "waiters",
    )  # fmt: skip

    def __init__(
        self,
        *,
        now: Instant,
        leases: "Table",
        ended: "EndedTable",
        waiters: "WaiterTable",
        revision: int = 0,
        epoch: int = 1,
        counter: int = 0,
        order: int = 0,
        store: str = "",
        notice: str = "",
        taints: "tuple[Taint, ...]" = (),
    ) -> None:
        self.now = now
        self.taints = taints
        self.waiters = waiters
        self.order = order
        self.leases = leases
        self.ended = ended
        self.revision = revision
        self.epoch = epoch
        self.counter = counter
        self.store = store
        self.notice = notice

    def with_leases(self, leases: "Iterable[Lease]") -> "Snapshot":
        """The same with other leases: a state that is not written yet, for a plan that goes on from there."""
        return Snapshot(
            now=self.now, leases=ListTable(leases), ended=self.ended, waiters=self.waiters, revision=self.revision,
            epoch=self.epoch, counter=self.counter, order=self.order, store=self.store, notice=self.notice,
            taints=self.taints,
        )  # fmt: skip


class ListTable:
    """Leases in a list, for a plan that looks at a state which is not written yet; finds by offering all of them."""

    __slots__ = ("_leases",)

    def __init__(self, leases: "Iterable[Lease]") -> None:
        self._leases = list(leases)

    def all(self) -> list[Lease]:
        return self._leases

    def of(self, agents: "Iterable[str]") -> list[Lease]:
        wanted = set(agents)
        return [lease for lease in self._leases if lease.agent in wanted]

    def near(self, _: frozenset[str], __: frozenset[str]) -> list[Lease]:
        return self._leases

    def around(self, _: frozenset[str], __: frozenset[str]) -> list[Lease]:
        return self._leases

    def count(self) -> int:
        return len(self._leases)


class Event(Value):
    """One line of history: what happened to which lease, by whom, why. Best effort, never load-bearing."""

    __slots__ = ("agent", "claim", "fence", "lease", "note", "verb", "victim")

    def __init__(
        self, verb: str, agent: str, claim: str, lease: str = "", fence: int = 0, note: str = "", victim: str = ""
    ) -> None:
        self.verb = verb
        self.agent = agent
        self.claim = claim
        self.lease = lease
        self.fence = fence
        self.note = note
        self.victim = victim


class Edits(Value):
    """What a plan wants changed; all of it, or none.

    ``put`` inserts or replaces leases by id, ``drop`` removes them by id. ``ended`` is appended, ``told`` marks ended
    leases (by lease id) as reported, ``forget`` removes ended leases by lease id. ``queue`` inserts or replaces waiters
    by id, ``leave`` removes them; so do ``taint`` and ``untaint`` with marks of failed commands. ``counter`` and
    ``order`` are the new highest fence and place, or None.
    """

    __slots__ = (
        "counter", "drop", "ended", "events", "forget", "leave", "order", "put", "queue", "taint", "told", "untaint",
    )  # fmt: skip

    def __init__(
        self,
        put: tuple[Lease, ...] = (),
        drop: tuple[str, ...] = (),
        ended: tuple[Ended, ...] = (),
        told: tuple[str, ...] = (),
        forget: tuple[str, ...] = (),
        counter: int | None = None,
        events: tuple[Event, ...] = (),
        queue: "tuple[Waiter, ...]" = (),
        leave: tuple[str, ...] = (),
        order: int | None = None,
        taint: "tuple[Taint, ...]" = (),
        untaint: tuple[str, ...] = (),
    ) -> None:
        self.taint = taint
        self.untaint = untaint
        self.queue = queue
        self.leave = leave
        self.order = order
        self.put = put
        self.drop = drop
        self.ended = ended
        self.told = told
        self.forget = forget
        self.counter = counter
        self.events = events

    @property
    def is_empty(self) -> bool:
        """Nothing to write: the revision stays (events alone are no reason to write)."""
        leases = self.put or self.drop or self.ended or self.told or self.forget
        others = self.queue or self.leave or self.taint or self.untaint
        return not leases and not others and self.counter is None and self.order is None


NOTHING = Edits()

if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")
    Plan = Callable[[Snapshot], tuple[Edits, _T]]


def anchors_of(footprint: Footprint) -> frozenset[str]:
    """The anchors of every included pattern: how a table finds what may meet the footprint."""
    return frozenset(pattern.anchor for pattern in footprint.include)
