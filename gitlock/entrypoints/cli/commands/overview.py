"""``git lock`` alone: who holds what, and whether enforcement is really on here."""

from gitlock.domain.duration import show_duration
from gitlock.domain.guarding import BROKEN, EDIT, EDIT_AND_SHELL, NONE
from gitlock.domain.queue import keeps_place
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer, use_color
from gitlock.entrypoints.cli.requests import request_json
from gitlock.entrypoints.wording import stamp, visible
from gitlock.errors import ConfigError
from gitlock.git.hooks import inspect
from gitlock.usecases.negotiate import inbox
from gitlock.usecases.renew import pulse
from gitlock.usecases.report import listing

QUEUE_SHOWN = 10  # waiters that the overview lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.lease import Lease
    from gitlock.usecases.guarded import Guarded
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """The overview."""
    from gitlock.entrypoints.cli.fitting import fitted
    from gitlock.entrypoints.cli.tables import lease_table
    from gitlock.entrypoints.elsewhere import abroad_json, abroad_lines

    site = site_of(given)
    found = pulse(site.store, site.agent.id, site.seat_of)
    now = found.snapshot.now
    rows = listing(found.snapshot, site.facts, site.fold, all=False, under=None)
    enforced, because, advice = enforcement(site)
    abroad = []
    if site.knows_elsewhere:
        from gitlock.usecases.elsewhere import held_elsewhere

        known = (lease.id for lease in found.snapshot.leases.all())
        abroad = held_elsewhere(site.publications, now.wall, known=known, fold=site.fold)
    if rows:
        color = use_color(given.text("color") or "auto", bool(site.environ.get("NO_COLOR")))
        held = lease_table(rows, now, color=color)
    else:
        held = ["nothing is held" + (" in this clone" if abroad else "")]
    held += [*(abroad_lines(abroad, now.wall, all=False) if abroad else ()), ""]
    lines: list[str] = []
    queue = [one for one in found.snapshot.waiters.ordered() if keeps_place(one, now, site.facts.process_waits)]
    for waiter in queue[:QUEUE_SHOWN]:
        since = show_duration(now.wall - waiter.since)
        lines.append(f"{visible(waiter.agent)} waits for '{visible(waiter.title)}' (for {since})")
    if len(queue) > QUEUE_SHOWN:
        lines.append(f"... and {len(queue) - QUEUE_SHOWN} more wait")
    lines += [""] if queue else []
    lines.append(f"you are {visible(site.agent.id)} ({site.agent.kind}); the mode here is {_mode(site)}")
    if enforced:
        lines.append(f"enforced here by: {', '.join(enforced)}")
    if because is not None:
        lines.append(f"NOT {'fully ' if enforced else ''}enforced here, because {because}")
        if advice:
            lines.append(f"  {advice}")
    guards = guarded_here(site, found.snapshot.leases.all(), now.wall)
    lines += guard_lines(guards, now.wall)
    data = {
        "agent": {"id": site.agent.id, "kind": site.agent.kind, "source": site.agent.source},
        "leases": [envelope.shown_json(one, now) for one in rows],
        "elsewhere": abroad_json(abroad, now.wall),
        "enforced": list(enforced),
        "not_enforced_because": because,
        "guards": [
            {
                "agent": one.session.agent,
                "session": one.session.id,
                "program": one.session.program,
                "guard": one.guard,
                "hook_at": stamp(one.session.hook_at),
            }
            for one in guards
        ],
        "mode": _mode(site),
        "waiters": [
            {
                "id": one.id,
                "agent": one.agent,
                "claim": envelope.name(one.title),
                "since": stamp(one.since),
                "ticket": one.is_ticket,
            }
            for one in queue
        ],
        "requests": [request_json(one) for one in inbox(site.store, site.agent)],
    }
    return Answer(lines=[*held, *fitted(lines, 1)], notes=told(site, found.beat, now, found.snapshot.notice), data=data)


def enforcement(site: "Site") -> tuple[tuple[str, ...], str | None, str | None]:
    """The hooks that fire here, one sentence that says why not all do, and what to do."""
    if site.repository.top is None:
        return (), "there is no worktree here", None
    installation = inspect(site.repository)
    mode = _mode(site)
    if mode == "off":
        return (), "the policy here is off", None
    return installation.enforced, installation.because, installation.advice


def guarded_here(site: "Site", leases: "Iterable[Lease]", wall: float) -> "list[Guarded]":
    """The agents' sessions that are at work, each with what guards it."""
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.usecases.guarded import guarded

    return guarded(SessionBook(site.store.layout).all(), leases, site.liveness_of, wall)


def guard_lines(guards: "list[Guarded]", wall: float) -> list[str]:
    """Whose edits are stopped before they happen, and whose are not, though they are at work."""
    if not guards:
        return []
    from gitlock.domain.programs import PROGRAMS
    from gitlock.entrypoints.cli.crew import guard_words

    lines = []
    good = [one for one in guards if one.guard in (EDIT, EDIT_AND_SHELL)]
    if good:
        names = ", ".join(f"{visible(one.session.agent)} ({one.guard})" for one in good)
        lines.append(f"edits that are checked before they happen: {names}")
    bad = [one for one in guards if one.guard in (NONE, BROKEN)]
    for one in bad:
        why = guard_words(one.session, one.guard, wall)
        lines.append(f"edits of {visible(one.session.agent)} are NOT stopped before they happen: {why}")
    return lines + (["  git lock doctor"] if any(one.session.program in PROGRAMS for one in bad) else [])


def _mode(site: "Site") -> str:
    try:
        return site.policy.general_mode(site.agent.kind)
    except ConfigError:
        return "unknown"


COMMAND = Command(
    "overview",
    "who holds what, and whether it is enforced here",
    answer,
    text="What git lock says when it is called alone.",
    codes=(exitcodes.DONE, exitcodes.UNCHECKED),
    examples=("git lock",),
)
