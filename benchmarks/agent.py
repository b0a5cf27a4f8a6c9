"""What the hook of an agent program costs before every edit, as a whole process, beside a bare Python.

The plain case is an edit of a file that is the session's already: with 100 leases, with 1,000, and in a repository that
git-lock does not manage. Beside it, what happens less often: the session's record is written anew (every half minute at
most), a file is claimed and given back (two processes), an edit has happened.

    python benchmarks/agent.py [--rounds N] [--json]
"""

import argparse
import json
import os
import sys
from collections.abc import Callable

from ground import Ground, Scratch, ground, in_turn
from measure import BARE, ROUNDS, Table, bare_python, beside, compare
from store import others

from gitlock.domain.snapshot import Edits
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore

MINE, MANY, FOREIGN = "edit, 100 leases, already mine", "edit, 1,000 leases, already mine", "edit, not managed"
PAUSED, AFTER = "edit, 100 leases, already mine, after a minute's pause", "after an edit"
CLAIMS = "edit of a free file, and its failure: claimed, given back"
BOUNDS = {
    MINE: 1.5,
    MANY: 1.5 * 1.3,  # that of 100, times what a check of 1,000 may cost over one of few
}

PAUSE = 60.0  # seconds
SESSION = "5b0cf1e2-0001-4000-8000-000000000001"


def measured(place: Ground, rounds: int) -> Table:
    """Every row, in the same rounds."""
    few, many, foreign = (place.repository(name) for name in ("few", "many", "foreign"))
    for repo, count in ((few, 100), (many, 1000)):
        repo.run(beside("git-lock"), "claim", "lib/alice.py")
        hold(repo, count - 2)
        event(repo, "PreToolUse", "edited.py")()
        event(repo, "PostToolUse", "edited.py")()
    works = {
        MINE: event(few, "PreToolUse", "edited.py"),
        MANY: event(many, "PreToolUse", "edited.py"),
        FOREIGN: event(foreign, "PreToolUse", "edited.py"),
        PAUSED: after_a_pause(few, event(few, "PreToolUse", "edited.py")),
        CLAIMS: in_turn(event(few, "PreToolUse", "free.py"), event(few, "PostToolUseFailure", "free.py")),
        AFTER: event(few, "PostToolUse", "edited.py"),
    }
    return compare(works, baseline={BARE: few.process(bare_python())}, rounds=rounds)


def event(repo: Scratch, name: str, path: str) -> Callable[[], None]:
    """One event of Claude Code, as it runs us."""
    told = {
        "session_id": SESSION, "transcript_path": "/home/u/.claude/projects/x/5b0c.jsonl", "cwd": str(repo.path),
        "permission_mode": "acceptEdits", "hook_event_name": name, "tool_name": "Edit", "tool_use_id": f"toolu_{path}",
        "tool_input": {"file_path": str(repo.path / path), "old_string": "a" * 400, "new_string": "b" * 400},
    }  # fmt: skip
    file = repo.path.parent / f"{repo.path.name}.{name}.{path}.json"
    file.write_text(json.dumps(told))
    argv = (beside("git-lock"), "agent-hook", "--harness", "claude")
    return repo.process(argv, {"GITLOCK_AGENT": ""}, stdin=str(file))


def after_a_pause(repo: Scratch, work: Callable[[], None]) -> Callable[[], None]:
    """The same, where the session was not heard of for some time: its record is written anew."""
    (record,) = (repo.path / ".git/agentlocks/sessions").glob("*.json")

    def once() -> None:
        told = json.loads(record.read_text())
        record.write_text(json.dumps({**told, "active": told["active"] - PAUSE}, separators=(",", ":")))
        before = record.stat().st_mtime - PAUSE
        os.utime(record, (before, before))
        work()

    return once


def hold(repo: Scratch, count: int) -> None:
    """So many leases of others."""
    store = FileStore(str(repo.path / ".git/agentlocks"), SystemClock().now)
    store.update(lambda snapshot: (Edits(put=others(count, snapshot.now), counter=count + 1), None))


def text(table: Table) -> str:
    """The table with its bounds; a row that is over its bound is marked."""
    lines = [("", "ms", f"x {table.baseline}", "quartiles", "CPU x", "bound", "")]
    for row in table.rows:
        most = BOUNDS.get(row.name)
        verdict = "" if most is None or row.ratio <= most else "OVER"
        quartiles = f"{row.lowest:.2f} - {row.highest:.2f}"
        bound = "" if most is None else f"{most:.2f}"
        figures = (f"{row.median_ms:.1f}", f"{row.ratio:.2f}", quartiles, f"{row.cpu:.2f}")
        lines.append((row.name, *figures, bound, verdict))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    layout = "  ".join([f"{{:<{widths[0]}}}", *(f"{{:>{width}}}" for width in widths[1:6]), "{}"])
    return "\n".join(layout.format(*cells).rstrip() for cells in lines)


def main() -> int:
    """Prints the figures beside their bounds; whether these are kept is the exit code."""
    parser = argparse.ArgumentParser(description="Times the hook of agent programs against a bare Python.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ground() as place:
        table = measured(place, asked.rounds)
    if asked.json:
        print(json.dumps({**json.loads(table.as_json()), "bounds": BOUNDS}, indent=2))
    else:
        print(text(table))
        print(f"load: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    return int(any(row.ratio > BOUNDS.get(row.name, row.ratio) for row in table.rows))


if __name__ == "__main__":
    sys.exit(main())
