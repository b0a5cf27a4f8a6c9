"""``git lock gc`` (``prune``)."""

from gitlock.domain.holding import plan_sweep
from gitlock.domain.queue import keeps_place
from gitlock.domain.snapshot import Edits, Event, Snapshot
from gitlock.domain.taint import KEPT
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer


def answer(given: Given) -> Answer:
    """Removes what ended long ago, waiters that are gone, old marks and answered requests."""
    from gitlock.stores.files.bell import sweep_pipes
    from gitlock.stores.files.debris import sweep_debris
    from gitlock.usecases.wait import hand_on

    site = site_of(given)

    def plan(snapshot: Snapshot) -> tuple[Edits, int]:
        edits, count = plan_sweep(snapshot)
        now = snapshot.now
        gone = tuple(
            one.id for one in snapshot.waiters.ordered() if not keeps_place(one, now, site.facts.process_waits)
        )
        marks = tuple(one.id for one in snapshot.taints if now.wall - one.at > KEPT)
        events = tuple(Event("leave", site.agent.id, "", name, note="swept") for name in gone)
        swept = edits.replace(leave=gone, untaint=marks, events=edits.events + events)
        return swept, count + len(gone) + len(marks)

    count = site.store.update(plan) + site.store.requests.sweep(site.now().wall)
    sweep_pipes(site.store.layout.waiting)
    sweep_debris(site.store.layout, site.now().wall)
    hand_on(site.store, site.fold, site.facts)
    return Answer(lines=[f"removed {count} record{'' if count == 1 else 's'}"], data={"removed": count})


COMMAND = Command(
    "gc",
    "remove what has ended",
    answer,
    text="Removes leases that ended long ago, waiters that are gone, and answered requests. Never needed.",
    codes=(exitcodes.DONE, exitcodes.UNCHECKED),
    examples=("git lock gc",),
)
