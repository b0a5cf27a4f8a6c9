"""The reference store: everything in this process. For tests and ``--dry-run``; it is a real store, not a mock."""

from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.pattern import anchors_may_meet
from gitlock.domain.snapshot import Edits, Event, Snapshot
from gitlock.stores.codec import anchor_entries, entries_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from gitlock.domain.queue import Waiter
    from gitlock.domain.snapshot import Plan

    T = TypeVar("T")


class MemoryTable:
    """Leases in a tuple; finds by looking at every one."""

    __slots__ = ("_leases",)

    def __init__(self, leases: tuple[Lease, ...]) -> None:
        self._leases = leases

    def all(self) -> "Iterable[Lease]":
        return self._leases

    def of(self, agents: "Iterable[str]") -> "Iterable[Lease]":
        wanted = set(agents)
        return [lease for lease in self._leases if lease.agent in wanted]

    def near(self, anchors: frozenset[str], names: frozenset[str]) -> "Iterable[Lease]":
        wanted = anchors | {":" + name for name in names}
        return [lease for lease in self._leases if not wanted.isdisjoint(entries_of(lease))]

    def around(self, anchors: frozenset[str], names: frozenset[str]) -> "Iterable[Lease]":
        keys = {":" + name for name in names}
        return [
            lease
            for lease in self._leases
            if any(
                entry in keys or (entry[:1] != ":" and any(anchors_may_meet(entry, anchor) for anchor in anchors))
                for entry in entries_of(lease)
            )
        ]

    def count(self) -> int:
        return len(self._leases)


class MemoryEnded:
    """Ended leases in a tuple."""

    __slots__ = ("_ended",)

    def __init__(self, ended: tuple[Ended, ...]) -> None:
        self._ended = ended

    def all(self) -> tuple[Ended, ...]:
        return self._ended

    def of(self, agents: "Iterable[str]") -> tuple[Ended, ...]:
        wanted = set(agents)
        return tuple(ended for ended in self._ended if ended.lease.agent in wanted)


class MemoryQueue:
    """Waiters in a tuple, in order."""

    __slots__ = ("_waiters",)

    def __init__(self, waiters: "tuple[Waiter, ...]") -> None:
        self._waiters = waiters

    def ordered(self) -> "tuple[Waiter, ...]":
        return self._waiters

    def of(self, agents: "Iterable[str]") -> "tuple[Waiter, ...]":
        wanted = set(agents)
        return tuple(waiter for waiter in self._waiters if waiter.agent in wanted)

    def find(self, id: str) -> "Waiter | None":
        return next((waiter for waiter in self._waiters if waiter.id == id), None)

    def backwards(self, before: int | None, anchors: frozenset[str], names: frozenset[str]) -> "list[Waiter]":
        return [
            waiter
            for waiter in reversed(self._waiters)
            if (before is None or waiter.order < before) and _may_want(waiter, anchors, names)
        ]

    def outlines(
        self, anchors: frozenset[str] | None, names: frozenset[str]
    ) -> "list[tuple[object, str, Callable[[], Waiter]]]":
        def whole(waiter: "Waiter") -> "Callable[[], Waiter]":
            return lambda: waiter

        return [
            ((waiter.mode, waiter.keys, waiter.exclude), waiter.agent, whole(waiter))
            for waiter in self._waiters
            if anchors is None or _may_want(waiter, anchors, names)
        ]

    def count(self) -> int:
        return len(self._waiters)


class MemoryBell:
    """There is nobody else who could ring."""

    def wait(self, timeout: float, also: "Iterable[int]" = ()) -> bool:  # noqa: ARG002 - there is nobody to ring
        return False

    def ring(self) -> None:
        """Nobody sleeps here."""

    def fileno(self) -> int:
        return -1

    def give_word(self) -> None:
        """There is nobody to hear it."""

    def close(self) -> None:
        """Nothing is held open."""


class MemoryStore:
    """One process's leases. ``history`` lists the events of every edit that was applied."""

    def __init__(self, now: "Callable[[], Instant]") -> None:
        self._now = now
        self._snapshot = Snapshot(
            now=now(), leases=MemoryTable(()), ended=MemoryEnded(()), waiters=MemoryQueue(()), store="memory"
        )
        self.history: list[Event] = []

    def read(self) -> Snapshot:
        old = self._snapshot
        return Snapshot(
            now=self._now(),
            leases=old.leases,
            ended=old.ended,
            revision=old.revision,
            epoch=old.epoch,
            counter=old.counter,
            waiters=old.waiters,
            order=old.order,
            taints=old.taints,
            store=old.store,
            notice=old.notice,
        )

    def update(self, plan: "Plan[T]") -> "T":
        before = self.read()
        edits, outcome = plan(before)
        self._apply(before, edits)
        return outcome

    def _apply(self, before: Snapshot, edits: Edits) -> None:
        if edits.is_empty:
            return
        self.history += edits.events
        leases = {lease.id: lease for lease in before.leases.all() if lease.id not in edits.drop}
        leases.update((lease.id, lease) for lease in edits.put)
        ended = [
            one.replace(told=True) if one.lease.id in edits.told else one
            for one in before.ended.all()
            if one.lease.id not in edits.forget
        ]
        self._snapshot = Snapshot(
            now=before.now,
            leases=MemoryTable(tuple(leases.values())),
            ended=MemoryEnded((*ended, *edits.ended)),
            revision=before.revision + 1,
            epoch=before.epoch,
            counter=before.counter if edits.counter is None else edits.counter,
            waiters=MemoryQueue(_queued(before.waiters.ordered(), edits)),
            order=before.order if edits.order is None else edits.order,
            taints=(*(one for one in before.taints if one.id not in edits.untaint), *edits.taint),
            store=before.store,
        )

    def note(self, events: tuple[Event, ...]) -> None:
        self.history += events

    def wait(self, revision: int, timeout: float) -> None:
        """Nobody else can change it: returns at once."""

    def trace(self) -> int:
        return self._snapshot.revision

    def watch(self, trace: object, timeout: float) -> None:
        """Nobody else can change it: returns at once."""

    def bell(self, _: str) -> "MemoryBell":
        return MemoryBell()

    def ring(self, waiters: "Iterable[str]") -> None:
        """Nobody sleeps here."""

    def close(self) -> None:
        """Nothing is held open."""


def _may_want(waiter: "Waiter", anchors: frozenset[str], names: frozenset[str]) -> bool:
    keys = {":" + name for name in names}
    return any(
        entry in keys or (entry[:1] != ":" and any(anchors_may_meet(entry, anchor) for anchor in anchors))
        for entry in anchor_entries(waiter.footprint, waiter.names)
    )


def _queued(before: "Iterable[Waiter]", edits: Edits) -> "tuple[Waiter, ...]":
    waiters = {waiter.id: waiter for waiter in before if waiter.id not in edits.leave}
    waiters.update((waiter.id, waiter) for waiter in edits.queue)
    return tuple(sorted(waiters.values(), key=lambda waiter: waiter.order))
