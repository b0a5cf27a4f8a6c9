"""Marks of failed commands: left, told, cleared."""

import os

from gitlock.domain.lease import Lease
from gitlock.domain.overlap import overlap
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.taint import COMMAND_LIMIT, Taint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.holding import Wanted
    from gitlock.domain.pattern import Fold
    from gitlock.stores.protocol import LeaseStore


def leave_taint(
    store: "LeaseStore", lease: Lease, fold: "Fold", argv: list[str], code: int | None, why: str
) -> None:
    """Marks what the lease holds: the command failed. Older marks on the same are replaced."""
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
        old = tuple(one.id for one in snapshot.taints if one.is_within(lease, fold))
        event = Event("taint", lease.agent, lease.title, lease.id, lease.fence, f"{why} ({code}): {command}")
        return Edits(taint=(taint,), untaint=old, events=(event,)), None

    store.update(plan)


def clear_taint(store: "LeaseStore", lease: Lease, fold: "Fold") -> int:
    """Removes the marks on what the lease holds, whole; answers how many there were."""
    if not store.read().taints:
        return 0

    def plan(snapshot: Snapshot) -> tuple[Edits, int]:
        old = tuple(one.id for one in snapshot.taints if one.is_within(lease, fold))
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
                or (want.include and one.include and overlap(want.footprint, one.footprint, fold).meets)
                for want in wanted
            )
        )  # fmt: skip
        if not old:
            return NOTHING, 0
        titles = " ".join(want.text for want in wanted)
        return Edits(untaint=old, events=(Event("untaint", agent, titles),)), len(old)

    return store.update(plan)
