"""Marks of failed commands: left, told, cleared."""

import os

from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import Lease
from gitlock.domain.overlap import overlap
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.taint import COMMAND_LIMIT, KEPT, Taint
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.holding import Wanted
    from gitlock.domain.pattern import Fold
    from gitlock.stores.protocol import LeaseStore


class Mark(Value):
    """A mark, and how long ago it was left (seconds)."""

    __slots__ = ("ago", "taint")

    def __init__(self, taint: Taint, ago: float) -> None:
        self.taint = taint
        self.ago = ago


def marks_on(store: "LeaseStore", lease: Lease, fold: "Fold") -> list[Mark]:
    """The marks on what the lease holds."""
    snapshot = store.read()
    found = [one for one in snapshot.taints if one.touches(lease, fold)]
    return [Mark(one, max(0.0, snapshot.now.wall - one.at)) for one in found if snapshot.now.wall - one.at < KEPT]


def leave_taint(store: "LeaseStore", lease: Lease, argv: list[str], code: int | None, why: str) -> None:
    """Marks what the lease holds: the command failed."""
    command = " ".join(argv)[:COMMAND_LIMIT]
    name = os.urandom(4).hex()

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        taint = Taint(
            id=name,
            agent=lease.agent,
            keys=lease.names,
            include=lease.include,
            exclude=lease.exclude,
            command=command,
            code=code,
            why=why,
            at=snapshot.now.wall,
        )
        note = f"{why} ({code}): {command}"
        return Edits(taint=(taint,), events=(Event("taint", lease.agent, lease.title, lease.id, lease.fence, note),)), None

    store.update(plan)


def clear_taint(store: "LeaseStore", lease: Lease, fold: "Fold") -> int:
    """Removes the marks on what the lease holds; answers how many there were."""

    def plan(snapshot: Snapshot) -> tuple[Edits, int]:
        old = tuple(one.id for one in snapshot.taints if one.touches(lease, fold))
        if not old:
            return NOTHING, 0
        return Edits(untaint=old, events=(Event("untaint", lease.agent, lease.title, lease.id, lease.fence),)), len(old)

    return store.update(plan)


def clear_named(store: "LeaseStore", agent: str, wanted: "tuple[Wanted, ...]", fold: "Fold") -> int:
    """Removes the marks on what is named; answers how many there were."""

    def plan(snapshot: Snapshot) -> tuple[Edits, int]:
        old = tuple(
            one.id
            for one in snapshot.taints
            if any(
                (want.name is not None and want.name in one.keys)
                or not want.spellings.isdisjoint((*one.keys, *one.include))
                or (want.include and one.include
                    and overlap(want.footprint, Footprint.of(one.include, one.exclude), fold).meets)
                for want in wanted
            )
        )  # fmt: skip
        if not old:
            return NOTHING, 0
        titles = " ".join(want.text for want in wanted)
        return Edits(untaint=old, events=(Event("untaint", agent, titles),)), len(old)

    return store.update(plan)
