"""Agents as lines for people and as JSON: what `git lock agents` shows, and who needs attention."""

import os

from gitlock.domain.crew import MAIN, Row
from gitlock.domain.duration import show_duration
from gitlock.domain.guarding import BROKEN, NONE
from gitlock.domain.programs import PROGRAMS
from gitlock.domain.session import QUEUED, WAITING, WATCHED
from gitlock.domain.worktree import PORTS_EACH
from gitlock.entrypoints import envelope
from gitlock.entrypoints.wording import clock, quoted_reason, stamp, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.lease import Lease
    from gitlock.domain.queue import Waiter
    from gitlock.domain.session import Session

COLUMNS = ("AGENT", "STATE", "BRANCH", "BEHIND", "DIRTY", "UNPUSHED", "CLAIMS", "OVERLAP", "SEEN")
_NUMBERS = 3  # the columns from here on hold numbers and times
_NARROW = (12, 8, 8)  # characters that the first three columns keep where the terminal is narrow
_STYLES = {"waiting": "yellow", "dead": "red", "queued": "cyan", "working": "green", "done": "dim"}
_SHOWN = 3  # leases that are named one by one


def crew_lines(
    rows: list[Row], overlapping: "Mapping[str | None, int]", wall: float, *, width: int, color: bool
) -> list[str]:
    """A line for each row, and under it what is out of the ordinary."""
    from rich.text import Text

    from gitlock.entrypoints.cli.tables import console, lines_of

    cells = [_cells(row, overlapping, wall) for row in rows]
    widths = _widths(cells, width)
    target = console(color)
    target.width = max(width, 40)

    def draw(texts: "tuple[str, ...]", style: str, word: str = "") -> None:
        line = Text()
        for at, (text, room) in enumerate(zip(texts, widths, strict=True)):
            shown = text if len(text) <= room else text[: room - 1] + "…"
            padded = shown.rjust(room) if at >= _NUMBERS else shown.ljust(room)
            line.append(padded, style=_STYLES.get(word, "") if at == 1 else "cyan" if at == 0 and not style else style)
            line.append(" ")
        target.print(line, soft_wrap=True)

    draw(COLUMNS, "bold")
    for row, texts in zip(rows, cells, strict=True):
        draw(texts, "", texts[1].partition(" ")[0])
        for detail in _details(row, wall, width - 2):
            target.print(Text("  " + detail, style="dim"), soft_wrap=True)
    return lines_of(target)


def _cells(row: Row, overlapping: "Mapping[str | None, int]", wall: float) -> tuple[str, ...]:
    sight = row.tree.sight if row.tree is not None else None
    unknown = row.tree is not None and sight is None and not row.tree.gone
    dark = "?" if unknown else "-"
    state = "dead" if row.is_dead else row.state or "-"
    since = "" if row.since is None or row.is_dead else " " + show_duration(max(0.0, wall - row.since))
    overlap = overlapping.get(row.worktree, 0) if sight is not None else None
    seen = show_duration(max(0.0, wall - row.session.active)) if row.session is not None else "-"
    return (
        visible(row.agent or "-"), state + since,
        visible(row.branch or ("(detached)" if row.tree is not None else "-")),
        _number(None if sight is None else sight.behind, dark), _number(None if sight is None else sight.dirty, dark),
        _number(None if sight is None else sight.unpushed, dark), _number(len(row.leases), dark),
        _number(overlap, dark), seen,
    )  # fmt: skip


def _number(value: int | None, dark: str) -> str:
    return dark if value is None else str(value) if value else "."


def _widths(cells: list[tuple[str, ...]], width: int) -> list[int]:
    """As wide as their texts; the first three give way, evenly, until it fits."""
    found = [max(len(text) for text in column) for column in zip(COLUMNS, *cells, strict=True)]
    surplus = sum(found) + len(found) - 1 - width
    while surplus > 0:
        at = max(range(_NUMBERS), key=lambda number: found[number] - _NARROW[number])
        if found[at] <= _NARROW[at]:
            break
        found[at] -= 1
        surplus -= 1
    return found


def _details(row: Row, wall: float, width: int) -> list[str]:
    lines = []
    if row.message:
        what = {WAITING: "asks", QUEUED: "waits for"}.get(row.state or "", "says")
        lines.append(f"{what}{quoted_reason(row.message)}")
    lines += [_waiting_line(one, wall) for one in row.blocks]
    if row.orphans:
        lines.append(_orphan_line(row.orphans, wall))
    notes = []
    tree = row.tree
    if row.session is not None and row.session.kind == "agent" and not row.is_over:
        if row.guard in (NONE, BROKEN):
            next_ = ": git lock doctor" if row.session.program in PROGRAMS else ""
            lines.append(f"guard: {row.guard}: {guard_words(row.session, row.guard, wall)}{next_}")
        elif row.session.hook_at is not None:
            guard = f"guard: {row.guard}, " if row.guard is not None else ""
            notes.append(f"{guard}{hook_words(row.session, wall)}")
        elif row.session.program in PROGRAMS:
            notes.append(hook_words(row.session, wall))
    if tree is not None and tree.gone:
        notes.append("its folder is gone")
    elif tree is not None and tree.sight is None and tree.why:
        notes.append(f"not known what is changed: {visible(tree.why)}")
    if row.shared:
        notes.append("others work in the same worktree: nobody knows whose its changes are")
    if row.liveness == "unknown" and row.session is not None and row.session.holder.pid is not None:
        notes.append(f"on {visible(row.session.holder.host)}, from where nothing can be told about its process")
    if tree is not None and tree.origin != MAIN:
        notes.append(f"in {visible(_near(tree.path))}" + ("" if tree.origin == "git" else f" ({visible(tree.origin)})"))
    elif tree is None and row.worktree is not None:
        notes.append(f"in {visible(row.worktree)}, which is no worktree of this repository")
    if tree is not None and tree.record is not None and tree.record.port:
        notes.append(f"ports {tree.record.port}-{tree.record.port + PORTS_EACH - 1}")
    return lines + _packed(notes, width)


def _packed(notes: list[str], width: int) -> list[str]:
    """As many in a line as there is room for; none is broken."""
    lines: list[str] = []
    for note in notes:
        if lines and len(lines[-1]) + len(note) + 2 <= width:
            lines[-1] += f", {note}"
        else:
            lines.append(note)
    return lines


def hook_words(session: "Session", wall: float) -> str:
    """When a hook of a session's program was last seen."""
    if session.hook_at is None:
        return "no hook of it was ever seen"
    return f"last hook {show_duration(max(0.0, wall - session.hook_at))} ago"


def guard_words(session: "Session", guard: str | None, wall: float) -> str:
    """Why a session's edits are not stopped before they happen."""
    if guard == BROKEN:
        return "what was refused happened all the same"
    if session.extra.get(WATCHED) is True and session.hook_at is None:
        return "run --presence sees what it has changed, and stops nothing"
    return hook_words(session, wall)


def _orphan_line(orphans: "tuple[Lease, ...]", wall: float) -> str:
    names = ", ".join(f"'{visible(one.title, 200)}'" for one in orphans[:_SHOWN])
    more = f" and {len(orphans) - _SHOWN} more" if len(orphans) > _SHOWN else ""
    until = clock(max(one.renewed.wall + one.ttl for one in orphans), wall)
    return f"left behind, still changed (orphaned, at most until {until}): {names}{more}"


def _waiting_line(one: "Waiter", wall: float) -> str:
    since = show_duration(max(0.0, wall - one.since))
    return f"keeps {visible(one.agent)} waiting for '{visible(one.title)}' (for {since})"


def _near(path: str) -> str:
    """A path as one types it here, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return relative if len(relative) < len(path) else path


def attention_lines(rows: list[Row], wall: float) -> list[str]:
    """Who waits for a person, oldest first, with the question and who stands behind them."""
    lines = []
    for row in rows:
        waited = max(0.0, wall - (row.since or wall))
        total = waited + (row.session.waited if row.session is not None else 0.0)
        more = f", {show_duration(total)} in all" if total - waited >= 1 else ""
        who = visible(row.agent or "-")
        lines.append(f"{who} waits for {show_duration(waited)}{more}{quoted_reason(row.message)}")
        lines += ["  " + _waiting_line(one, wall) for one in row.blocks]
        if row.worktree is not None:
            lines.append(f"  in {visible(_near(row.worktree))}")
    return lines


def row_json(row: Row, overlapping: "Mapping[str | None, int] | None", wall: float) -> dict[str, object]:
    """One agent in one worktree. What was not looked at, or is not known, is null."""
    sight = row.tree.sight if row.tree is not None else None
    session, tree = row.session, row.tree
    record = tree.record if tree is not None else None
    waited = session.waited if session is not None else 0.0
    if row.state == WAITING and row.since is not None and not row.is_dead:
        waited += max(0.0, wall - row.since)
    shape: dict[str, object] = {
        "agent": row.agent,
        "kind": row.kind,
        "session": None if session is None else session.id,
        "program": None if session is None else session.program,
        "host": session.holder.host if session is not None else row.leases[0].holder.host if row.leases else None,
        "pid": session.holder.pid if session is not None else row.leases[0].holder.pid if row.leases else None,
        "liveness": row.liveness if session is not None or row.leases else None,
        "counts": not row.is_over,
        "state": row.state,
        "since": stamp(row.since),
        "message": envelope.name(row.message),
        "waited_s": round(waited, 1),
        "active_at": None if session is None else stamp(session.active),
        "hook_at": None if session is None else stamp(session.hook_at),
        "guard": row.guard,
        "worktree": envelope.name(row.worktree),
        "worktree_id": None if record is None else record.id,
        "origin": None if tree is None else tree.origin,
        "shared": row.shared,
        "branch": envelope.name(row.branch),
        "base": None if sight is None else envelope.name(sight.base_name),
        "ahead": None if sight is None else sight.ahead,
        "behind": None if sight is None else sight.behind,
        "dirty": None if sight is None else sight.dirty,
        "unpushed": None if sight is None else sight.unpushed,
        "unknown": tree.why if tree is not None and tree.why else None,
        "overlaps": None if overlapping is None or sight is None else overlapping.get(row.worktree, 0),
        "claims": [envelope.name(lease.title) for lease in row.leases],
        "orphaned": [envelope.name(lease.title) for lease in row.orphans],
        "blocks": [
            {"agent": one.agent, "claim": envelope.name(one.title), "since": stamp(one.since)} for one in row.blocks
        ],
        "slot": None if record is None else record.slot,
        "port": None if record is None else record.port,
    }
    return {**shape, **envelope.raw([row.message, row.worktree, row.branch])}
