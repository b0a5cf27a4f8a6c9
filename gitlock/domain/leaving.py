"""What becomes of an agent's leases when one of its sessions ends: given back, but for paths that are still changed.

What stays is marked as left behind: it counts as the lease of a process that is gone. So it stands for as long as its
paths are changed (``orphaned``), at most until its TTL, and whoever wants it finds it free once they are not. Any
beat of its agent takes the mark away: the agent is back.
"""

from gitlock.domain.agent import lineage
from gitlock.domain.footprint import Footprint
from gitlock.domain.key import path_key
from gitlock.domain.lease import INTENT, LEFT, Holder, Lease
from gitlock.domain.overlap import contains, covers
from gitlock.domain.pattern import Fold, escape
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

NAMED = 200  # changed paths of one lease; one with more stays as it is


def leaves(lease: Lease, agent: str, session: str | None) -> bool:
    """Whether a lease goes with the session: the agent's and its children's, or (where the agent is more than this
    session) those that were taken in it. What a command or script holds by itself stays with that."""
    if lease.holder.is_apart or lease.extra.get("until_merged"):
        return False
    if lease.agent != agent and not lease.agent.startswith(agent + "/"):
        return False
    held_in = lease.holder.session or ""
    return session is None or held_in == session or held_in.startswith(session + "/")


def plan_leave(
    snapshot: Snapshot,
    going: "Callable[[Lease], bool]",
    changed: "Mapping[str, Iterable[str] | None]",
    fold: Fold,
) -> tuple[Edits, tuple[Lease, ...], tuple[Lease, ...]]:
    """Gives back what is ``going``, narrowed to the paths that are changed. ``changed`` has the changed paths of each
    worktree (None: nobody could look, so all may be). Answers what was given back whole, and what stays."""
    drop: list[Lease] = []
    put: list[Lease] = []
    for lease in snapshot.leases.all():
        if not going(lease):
            continue
        rest = _still_changed(lease, changed, fold) if lease.mode != INTENT else ()
        if rest is None:
            put.append(lease.replace(extra={**lease.extra, LEFT: True}))
        elif rest:
            put.append(_narrowed(lease, rest).replace(extra={**lease.extra, LEFT: True}))
        else:
            drop.append(lease)
    if not drop and not put:
        return NOTHING, (), ()
    events = [Event("release", one.agent, one.title, one.id, one.fence, "its session ended") for one in drop]
    events += [Event("leave", one.agent, one.title, one.id, one.fence, "still changed") for one in put]
    edits = Edits(put=tuple(put), drop=tuple(one.id for one in drop), events=tuple(events))
    return edits, tuple(drop), tuple(put)


def _still_changed(
    lease: Lease, changed: "Mapping[str, Iterable[str] | None]", fold: Fold
) -> tuple[str, ...] | None:
    """The changed paths that a lease covers; None where all of it stays."""
    tree = lease.holder.worktree
    if tree is None or not lease.include:
        return ()
    paths = changed.get(tree)
    if paths is None:
        return None
    footprint = lease.footprint
    found = tuple(path for path in paths if covers(footprint, path, fold))
    return None if len(found) > NAMED else found


def _narrowed(lease: Lease, paths: tuple[str, ...]) -> Lease:
    include = tuple(escape(path) for path in paths)
    if set(include) == set(lease.include):
        return lease
    keys = tuple(path_key(text, path) for text, path in zip(include, paths, strict=True))
    return lease.replace(keys=keys, include=include, exclude=())


def _handed(lease: Lease, parent: str) -> Holder:
    """The parent's place: its session is named by what the child's name begins with."""
    session = lease.holder.session
    below = lease.agent.count("/") - parent.count("/")
    if session is None or session.count("/") < below:
        return lease.holder
    return lease.holder.replace(session=session.rsplit("/", below)[0])


def plan_pass_on(snapshot: Snapshot, child: str, fold: Fold) -> tuple[Edits, tuple[Lease, ...]]:
    """A sub-agent has ended: its leases are its parent's from now on, under the same fence. One that a lease of the
    parent's covers already just goes. Answers what was passed on."""
    parent = lineage(child)[1]
    own = [one for one in snapshot.leases.of((parent,)) if one.mode != INTENT]
    put: list[Lease] = []
    drop: list[str] = []
    for lease in snapshot.leases.all():
        if (lease.agent != child and not lease.agent.startswith(child + "/")) or lease.holder.is_apart:
            continue
        if lease.include and not lease.names and any(
            one.mode == lease.mode and contains(one.footprint, Footprint.of(lease.include, lease.exclude), fold)
            for one in own
        ):
            drop.append(lease.id)
        else:
            put.append(lease.replace(agent=parent, holder=_handed(lease, parent)))
    if not put and not drop:
        return NOTHING, ()
    events = tuple(Event("pass", child, one.title, one.id, one.fence, f"to {parent}") for one in put)
    return Edits(put=tuple(put), drop=tuple(drop), events=events), tuple(put)
