"""``git lock agents``: who is at work, where, and who needs attention."""

from gitlock.domain.duration import parse_duration
from gitlock.domain.overlaps import meetings
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.crew import attention_lines, crew_lines, row_json
from gitlock.entrypoints.cli.fitting import fitted
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, use_color, warning
from gitlock.entrypoints.cli.tables import terminal_width
from gitlock.errors import UsageError
from gitlock.usecases.muster import Mustered, attention, muster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from gitlock.wiring.site import Site

EVERY = 2.0  # seconds between two looks at everybody
DEADLINE = 10.0  # seconds that one worktree's git may take; what it does not know by then is shown as unknown


def wanted_deadline(given: Given) -> float:
    """The time that each worktree has to answer."""
    text = given.text("deadline")
    return DEADLINE if text is None else parse_duration(text, what="--deadline")


def unknown_notes(found: Mustered) -> list[str]:
    """What could not be looked at, for whoever must not take it for nothing."""
    notes = []
    if found.fault is not None:
        notes.append(warning(f"it is not known what is held: {found.fault.message}"))
    dark = [tree for tree in found.trees if tree.why and not tree.gone]
    if dark:
        notes.append(warning(f"{len(dark)} of {len(found.trees)} worktrees could not be looked at"))
    return notes


def answer(given: Given) -> Answer:
    """A row for each agent and worktree, or those that wait for a person."""
    if given.flag("count") and not given.flag("waiting"):
        raise UsageError("--count goes with --waiting", hint="git lock agents --waiting --count")
    deadline = wanted_deadline(given)
    site = site_of(given)
    wall = site.now().wall
    if given.flag("watch"):
        from time import sleep

        from gitlock.entrypoints.cli.watching import refuse_json, watch

        refuse_json(given, "agents")
        watch(lambda: _seen(given, site, deadline), sleep, EVERY)
    if given.flag("waiting"):
        return _attention(given, site, wall)
    return _crew(given, site, wall, deadline)


def _seen(given: Given, site: "Site", deadline: float) -> "tuple[Answer, Hashable]":
    """An answer, and what makes it differ from the next but for the time."""
    wall = site.now().wall
    answer = _attention(given, site, wall) if given.flag("waiting") else _crew(given, site, wall, deadline)
    assert isinstance(answer.data, dict)
    signs = [
        tuple(str(value) for name, value in row.items() if not name.endswith(("_at", "_s")) and name != "session")
        for row in answer.data["agents"]
    ]
    return answer, (tuple(signs), tuple(answer.notes))


def _crew(given: Given, site: "Site", wall: float, deadline: float) -> Answer:
    found = muster(site, wall, deadline=deadline)
    overlapping: dict[str | None, int] = {}
    for one in meetings(found.places(), found.leases, site.fold):
        for place in one.pair:
            overlapping[place] = overlapping.get(place, 0) + 1
    rows = found.rows
    data = {"agents": [row_json(row, overlapping, wall) for row in rows], "complete": not unknown_notes(found)}
    if given.flag("json"):
        return Answer(data=data, notes=unknown_notes(found))
    color = use_color(given.text("color") or "auto", bool(site.environ.get("NO_COLOR")))
    lines = crew_lines(rows, overlapping, wall, width=terminal_width(), color=color)
    return Answer(lines=lines if rows else ["nobody is at work"], notes=unknown_notes(found), data=data)


def _attention(given: Given, site: "Site", wall: float) -> Answer:
    """The queue of those who wait for a person. Git is not asked, so that a status bar may ask often."""
    found = muster(site, wall, deadline=None)
    rows = attention(found.rows)
    data = {"agents": [row_json(row, None, wall) for row in rows], "complete": found.fault is None}
    notes = unknown_notes(found)
    if given.flag("count"):
        return Answer(lines=[str(len(rows))], notes=notes, data=data)
    lines = fitted(attention_lines(rows, wall), 1)
    return Answer(lines=lines or ["nobody waits for a person"], notes=notes, data=data)


COMMAND = Command(
    "agents",
    "who is at work, where, and who needs attention",
    answer,
    text=(
        "One row for each agent and worktree, whoever needs attention first: what it does and since when, its branch "
        "and how far that is behind its base, what is changed and what no remote has, its claims, how many paths "
        "it and another have changed or reserved, and when it was last heard of. Below it, whether its edits are "
        "stopped before they happen (guard), and when a hook of its program was last seen. One whose session has "
        "ended is done, one whose process is gone without a word is dead: neither counts, and what it left behind is "
        "named. What is not known is shown as '?'."
    ),
    options=(
        Option("--waiting", help="Only those who wait for a person, the longest first, with their questions."),
        Option("--watch", help="Goes on: shows what has changed every two seconds, until Ctrl-C."),
        Option("--count", help="With --waiting: only their number, for a prompt or a status bar."),
        Option("--deadline", kind=VALUE, metavar="TIME", help="How long each worktree's git may take (10s)."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE),
    examples=("git lock agents", "git lock agents --waiting", "git lock agents --waiting --count"),
)
