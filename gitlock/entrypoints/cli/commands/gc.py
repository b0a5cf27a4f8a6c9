"""``git lock gc`` (``prune``)."""

from gitlock.domain.holding import plan_sweep
from gitlock.domain.queue import keeps_place
from gitlock.domain.snapshot import Edits, Event, Snapshot
from gitlock.domain.taint import KEPT
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.envelope import ended_json, lease_json
from gitlock.entrypoints.wording import title, visible
from gitlock.errors import GitlockError
from gitlock.usecases.following import follow
from gitlock.usecases.publishing import published_at, withdraw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """Removes what ended long ago, waiters that are gone, old marks and answered requests."""
    from gitlock.stores.files.bell import sweep_pipes
    from gitlock.stores.files.debris import sweep_debris
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.usecases.muster import sweep_sessions
    from gitlock.usecases.retiring.saving import drop_old
    from gitlock.usecases.wait import hand_on

    site = site_of(given)
    followed = follow(site.store, site.repository.git, site.publications)  # first: what goes on is not swept

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
    count += sweep_sessions(SessionBook(site.store.layout), site.liveness_of, site.now().wall)
    sweep_pipes(site.store.layout.waiting)
    sweep_debris(site.store.layout, site.now().wall)
    count += drop_old(site, site.now().wall)
    hand_on(site.store, site.fold, site.facts)
    notes = _withdraw(site)
    now = site.now()
    lines = [f"removed {count} record{'' if count == 1 else 's'}"]
    lines += [
        f"ended '{title(one.lease)}' of {visible(one.lease.agent)}: {visible(one.note)}" for one in followed.ended
    ]
    notes += [
        warning(f"'{title(lease)}' of {visible(lease.agent)} follows a branch, and is not renewed: {visible(why)}")
        for lease, why in followed.adrift
    ]
    data = {
        "removed": count,
        "ended": [ended_json(one, now) for one in followed.ended],
        "adrift": [
            {"lease": lease_json(lease, now, "live", "unknown"), "why": visible(why)} for lease, why in followed.adrift
        ],
    }
    return Answer(lines=lines, notes=notes, data=data)


def _withdraw(site: "Site") -> list[str]:
    """Takes our ledger away from remotes where it says nothing any more; what that meets with is only said."""
    notes = []
    for remote in published_at(site.repository.git, site.publications):
        try:
            withdraw(site.repository.git, site.publications, remote, now=site.now().wall)
        except GitlockError as error:
            notes.append(warning(f"our ledger could not be taken away from '{visible(remote)}': {error.message}"))
    return notes


COMMAND = Command(
    "gc",
    "remove what has ended",
    answer,
    text=(
        "Removes leases that ended long ago, waiters that are gone, and answered requests. Goes on with claims that "
        "last until their branch is merged (claim --until-merged), and ends those whose branch is merged or gone. "
        "Takes a published ledger away that says nothing any more. Never needed."
    ),
    codes=(exitcodes.DONE, exitcodes.UNCHECKED),
    examples=("git lock gc",),
)
