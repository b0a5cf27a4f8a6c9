"""Tables for people, by rich: 80 columns in a pipe, no colour there, and every text as data, never as markup."""

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gitlock.domain.duration import show_duration
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE
from gitlock.entrypoints.wording import REASON_LIMIT, clock, visible
from gitlock.usecases.report import Shown

CLAIM_LIMIT = 400  # characters of a claim that a row shows; the reason has its own limit

STYLES = {"alive": "green", "dead": "red", "unknown": "dim", "expired": "dim", "orphaned": "yellow", "released": "dim"}


def console(color: bool) -> Console:
    """A console that writes into memory, as wide as the terminal (80 where there is none)."""
    return Console(
        file=io.StringIO(), force_terminal=color, no_color=not color, color_system="standard" if color else None,
        width=terminal_width(), markup=False, emoji=False, highlight=False, legacy_windows=False,
    )  # fmt: skip


def lines_of(target: Console) -> list[str]:
    """What was drawn, line by line, without blanks at the ends."""
    assert isinstance(target.file, io.StringIO)
    return [line.rstrip() for line in target.file.getvalue().rstrip("\n").split("\n")]


def lease_table(found: list[Shown], now: Instant, *, color: bool) -> list[str]:
    """One lease a row: what, who, how (where not all are exclusive), alive, held for, left, waiting behind it, why."""
    drawn = console(color)
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("CLAIM", overflow="fold", min_width=12, ratio=3)
    table.add_column("AGENT", overflow="fold", min_width=6, ratio=2)
    modes = any(one.lease.mode != EXCLUSIVE for one in found)
    if modes:
        table.add_column("MODE", no_wrap=True)
    table.add_column("LIVENESS", no_wrap=True)
    table.add_column("HELD", no_wrap=True)
    table.add_column("LEFT", no_wrap=True)
    waiting = any(one.waiting for one in found)
    if waiting:
        table.add_column("WAIT", no_wrap=True, justify="right")
    table.add_column("REASON", overflow="fold", ratio=3)
    rows: list[list[Text]] = []
    for one in found:
        lease = one.lease
        state = one.liveness if one.state == "live" else one.state
        left = show_duration(max(0.0, lease.left(now))) if one.state in ("live", "orphaned") else "-"
        row = [
            Text(visible(lease.title, CLAIM_LIMIT)), Text(visible(lease.agent), style="cyan"),
            *((Text(lease.mode),) if modes else ()), Text(state, style=STYLES.get(state, "")),
            Text(show_duration(now.wall - lease.acquired)), Text(left),
        ]  # fmt: skip
        if waiting:
            row.append(Text(str(one.waiting or "")))
        rows.append([*row, Text(visible(lease.reason, REASON_LIMIT))])
        table.add_row(*rows[-1])
    _yield_last(table, rows, drawn.width)
    drawn.print(table)
    return lines_of(drawn)


def _yield_last(table: Table, rows: list[list[Text]], width: int) -> None:
    """Where not all fits, the last column wraps at its blanks before a claim is cut: claims get copied."""
    widths = [
        max([len(str(column.header)), *(row[at].cell_len for row in rows)])
        for at, column in enumerate(table.columns)
    ]
    left = width - sum(one + 2 for one in widths[:-1])
    longest = max((len(part) for row in rows for part in row[-1].plain.split()), default=0)
    if max(longest, len(str(table.columns[-1].header))) <= left < widths[-1]:
        table.columns[-1].max_width = left


def event_table(events: list[dict[str, object]], now: float, *, color: bool) -> list[str]:
    """History, newest last."""
    drawn = console(color)
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("WHEN", no_wrap=True)
    table.add_column("WHAT", no_wrap=True)
    table.add_column("AGENT", overflow="fold", min_width=6, ratio=2)
    table.add_column("CLAIM", overflow="fold", min_width=12, ratio=3)
    table.add_column("FENCE", no_wrap=True, justify="right")
    table.add_column("WHY", overflow="fold", ratio=3)
    for event in events:
        at = event["at"]
        table.add_row(
            Text(clock(at, now) if isinstance(at, float) else "?"), Text(visible(str(event["verb"]))),
            Text(visible(str(event["agent"])), style="cyan"), Text(visible(str(event["claim"]), CLAIM_LIMIT)),
            Text(str(event["fence"] or "")), Text(visible(_why(event), REASON_LIMIT)),
        )  # fmt: skip
    drawn.print(table)
    return lines_of(drawn)


def _why(event: dict[str, object]) -> str:
    """The note of an event, after whose lease it was about where that is somebody else's."""
    note, victim = str(event["note"]), str(event.get("victim") or "")
    return "; ".join(filter(None, (f"held by {victim}" if victim else "", note)))


def terminal_width() -> int:
    """Columns of the terminal; 80 where there is none."""
    import os
    import shutil

    if not os.isatty(1):
        return 80
    return max(40, shutil.get_terminal_size((80, 24)).columns)
