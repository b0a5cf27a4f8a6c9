"""What becomes of leases when an edit, a sub-agent or a session has ended. Whoever waits for them is woken."""

from gitlock.domain.leaving import leaves, plan_leave, plan_pass_on
from gitlock.domain.snapshot import NOTHING, Edits, Event
from gitlock.domain.tentative import calls_of, plan_settle, plan_turn_over
from gitlock.usecases.looking import look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.domain.snapshot import Snapshot
    from gitlock.usecases.edit import Ground


def settle(site: "Ground", call: str, *, happened: bool) -> tuple["Lease", ...]:
    """A tool call has ended: what was taken for it is firm, or given back."""
    agent = site.agent.id
    if not any(call in calls_of(lease) for lease in site.store.read().leases.of((agent,))):
        return ()

    def plan(snapshot: "Snapshot") -> "tuple[Edits, tuple[Lease, ...]]":
        return plan_settle(snapshot, agent, call, happened=happened)

    return _woken(site, site.store.update(plan))


def turn_over(site: "Ground") -> tuple["Lease", ...]:
    """The agent does nothing just now: what it took for an edit that never came is given back."""
    agent = site.agent.id
    open_ones = [lease for lease in site.store.read().leases.of((agent,)) if calls_of(lease)]
    if not open_ones:
        return ()
    changed = look_at(open_ones, site.repository.git, site.fold)

    def plan(snapshot: "Snapshot") -> "tuple[Edits, tuple[Lease, ...]]":
        return plan_turn_over(snapshot, agent, changed)

    return _woken(site, site.store.update(plan))


def pass_on(site: "Ground") -> tuple["Lease", ...]:
    """The sub-agent has ended: what it holds is its parent's. Answers that."""
    child = site.agent.id

    def plan(snapshot: "Snapshot") -> "tuple[Edits, tuple[Lease, ...]]":
        return plan_pass_on(snapshot, child, site.fold)

    return site.store.update(plan)


def leave(
    site: "Ground", session: str | None, also: frozenset[str] = frozenset()
) -> tuple[tuple["Lease", ...], tuple["Lease", ...]]:
    """The session has ended: its leases go back, but for paths that are still changed in its worktree. ``session`` is
    None where the agent is nothing but this session; ``also`` are ids of leases that end with it whatever they are.
    Answers what went, and what stays."""
    agent = site.agent.id

    def going(lease: "Lease") -> bool:
        return lease.id in also or leaves(lease, agent, session)

    own = [lease for lease in site.store.read().leases.all() if going(lease)]
    if not own:
        return (), ()
    from gitlock.usecases.looking import changed_in

    trees = {lease.holder.worktree for lease in own if lease.holder.worktree is not None and lease.include}
    changed = {tree: changed_in(tree, site.repository.git) for tree in trees}

    def plan(snapshot: "Snapshot") -> "tuple[Edits, tuple[tuple[Lease, ...], tuple[Lease, ...]]]":
        edits, gone, kept = plan_leave(snapshot, going, changed, site.fold)
        return edits, (gone, kept)

    gone, kept = site.store.update(plan)
    _woken(site, (*gone, *kept))
    return gone, kept


def hand_over(site: "Ground", before: str) -> tuple["Lease", ...]:
    """The agent's program ended another session of the same process in favour of this one: its leases are this
    agent's now, under the same fence. Answers them."""
    agent = site.agent

    def plan(snapshot: "Snapshot") -> "tuple[Edits, tuple[Lease, ...]]":
        own = tuple(one for one in snapshot.leases.of((before,)) if not one.holder.is_apart)
        if not own:
            return NOTHING, ()
        put = tuple(lease.replace(agent=agent.id, kind=agent.kind) for lease in own)
        events = tuple(Event("pass", before, one.title, one.id, one.fence, f"to {agent.id}") for one in own)
        return Edits(put=put, events=events), put

    return site.store.update(plan)


def _woken(site: "Ground", gone: tuple["Lease", ...]) -> tuple["Lease", ...]:
    """The same, once whoever waits for one of them was told."""
    if gone and site.store.read().waiters.count():
        from gitlock.usecases.wait import hand_on

        hand_on(site.store, site.fold, site.facts, gone)
    return gone
