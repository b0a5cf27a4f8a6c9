"""The tools ``status`` and ``whoami``, and what the resources show."""

import os

from gitlock import __version__
from gitlock.domain.guarding import guard_of
from gitlock.domain.queue import keeps_place
from gitlock.entrypoints.mcp.shapes import StatusAnswer, WhoamiAnswer
from gitlock.entrypoints.mcp.telling import Json, beside, inbox_size, lease_of, plain, request_of, shown_of
from gitlock.entrypoints.wording import AGENT_RULES, stamp, visible
from gitlock.usecases.muster import muster
from gitlock.usecases.negotiate import inbox
from gitlock.usecases.reading import Argument, read_wanted
from gitlock.usecases.renew import complain, mine, pulse
from gitlock.usecases.report import listing, standing_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.serving import Served
    from gitlock.wiring.site import Site

SHOWN = 100  # leases that a list shows: a model reads every word of it


def status(served: "Served", claims: list[str]) -> StatusAnswer:
    """Who holds these claims; without any, all that is held. What ended of the caller's own is told here for the last
    time, as by ``git lock mine``."""
    site = served.site
    wanted = read_wanted(tuple(map(Argument, claims)), site.repository, site.policy, site.fold)
    found = mine(site.store, site.agent.id, site.seat_of)
    snapshot, now = found.snapshot, found.snapshot.now
    answer = beside(site, found.beat, now, snapshot.notice)
    answer["mine"] = [lease_of(one, now, "live", site.facts.liveness(one)) for one in found.beat.held]
    answer["waiting"] = [
        {"agent": one.agent, "claim": visible(one.title), "since": stamp(one.since), "ticket": one.is_ticket}
        for one in snapshot.waiters.ordered() if keeps_place(one, now, site.facts.process_waits)
    ]  # fmt: skip
    if claims:
        results = standing_of(wanted, snapshot, site.facts, site.fold, site.policy, site.agent.kind)
        complain(tuple(want for want, result in zip(wanted, results, strict=True) if not result.leases))
        answer["results"] = [
            {
                "claim": visible(one.claim), "state": one.state,
                "leases": [shown_of(lease, now) for lease in one.leases],
                "keys": [rule.name for rule in one.keys], "policy": one.policy,
            }
            for one in results
        ]  # fmt: skip
        return StatusAnswer.of(**answer, more=0)
    rows = listing(snapshot, site.facts, site.fold, all=False, under=None)
    answer["leases"] = [shown_of(one, now) for one in rows[:SHOWN]]
    return StatusAnswer.of(**answer, more=max(0, len(rows) - SHOWN))


def whoami(served: "Served") -> WhoamiAnswer:
    """Under which name claims are made, which rule decided, and what is known of the session. Reads no lease: it must
    answer where the store can't be read as well."""
    site, session = served.site, served.session
    holder = site.holder(served.pid)
    folder = site.folder
    managed = os.path.isdir(folder)
    return WhoamiAnswer.of(
        agent=site.agent.id,
        inbox=inbox_size(site) if managed else 0,
        kind=site.agent.kind,
        source=site.agent.source,
        rule="named by the call" if served.by_call else AGENT_RULES[site.agent.source],
        worktree=plain(site.repository.top),
        branch=plain(holder.branch),
        session=holder.session,
        program=None if session is None else plain(session.program),
        pid=holder.pid,
        hook_seen_at=None if session is None else stamp(session.hook_at),
        guard=None if session is None else guard_of(session),
        managed=managed or os.path.exists(os.path.join(site.repository.top or "", ".gitlock.toml")),
        version=__version__,
    )


def live_leases(site: "Site") -> list[Json]:
    """What is held now, oldest grant first."""
    snapshot = pulse(site.store, site.agent.id, site.seat_of).snapshot
    rows = listing(snapshot, site.facts, site.fold, all=False, under=None)
    return [shown_of(one, snapshot.now) for one in rows]


def agents_present(site: "Site") -> list[Json]:
    """Who is at work, whoever needs attention first. Git is not asked, so that it may be read often."""
    found = muster(site, site.now().wall, deadline=None)
    if found.fault is not None:
        raise found.fault
    return [
        {
            "agent": row.agent, "kind": row.kind, "state": "dead" if row.is_dead else row.state,
            "since": stamp(row.since), "message": visible(row.message) if row.message else None,
            "liveness": row.liveness, "worktree": plain(row.worktree), "branch": plain(row.branch),
            "leases": len(row.leases),
            "guard": row.guard,
        }
        for row in found.rows if row.agent is not None
    ]  # fmt: skip


def open_requests(site: "Site") -> list[Json]:
    """What is asked of whoever reads it."""
    return [request_of(one) for one in inbox(site.store, site.agent)] if site.store.has_requests() else []
