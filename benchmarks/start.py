"""What a start costs: hooks and the commands that agents repeat, as whole processes, beside a bare Python.

The bounds are those of the specification. A hook is run as git runs it: its file, at the top of the worktree, with
git's variables. Everything else is run through git, as one types it.

    python benchmarks/start.py [--rounds N] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from ground import Ground, Scratch, ground, in_turn
from measure import BARE, ROUNDS, Table, bare_python, beside, compare

HELD = 10  # leases
MODULES = "modules loaded by the commit hook"


class Bound(NamedTuple):
    """A figure's name, the most that it may be, and how it is said."""

    name: str
    most: float


BOUNDS = (
    Bound("commit hook, 10 leases, nothing wrong", 1.4),
    Bound("hook in a repository that is not managed", 0.3),
    Bound("git lock check", 2.0),
    Bound("git lock mine", 2.0),
    Bound("git lock whoami", 2.0),
    Bound("git lock claim, then git lock release", 4.0),
    Bound("agent edit hook, 100 leases, path free and already mine", 1.5),
)
MANY = 100  # leases


def measured(place: Ground, rounds: int) -> Table:
    """Every row, in the same rounds."""
    held, foreign = place.repository("held"), place.repository("foreign")
    for repo in (held, foreign):
        repo.run(beside("git-lock"), "install", "--mode", "enforce")
    held.hold(HELD)
    edited = place.repository("edited")
    edited.hold(MANY)
    _forget(foreign)
    lock = ("git", "lock")
    works: dict[str, Callable[[], object]] = {
        BOUNDS[0].name: hook(held),
        BOUNDS[1].name: hook(foreign),
        BOUNDS[2].name: held.process((*lock, "check")),
        BOUNDS[3].name: held.process((*lock, "mine")),
        BOUNDS[4].name: held.process((*lock, "whoami")),
        BOUNDS[5].name: in_turn(held.process((*lock, "claim", "new.py")), held.process((*lock, "release", "new.py"))),
    }
    works[BOUNDS[6].name] = edit_hook(edited)
    bare = held.process(bare_python())
    return compare(works, baseline={BARE: bare}, rounds=rounds)


def hook(repo: Scratch) -> Callable[[], None]:
    """pre-commit, as git starts it."""
    file = str(repo.path / ".git/hooks/pre-commit")
    return repo.process([file], {"GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": "", "GIT_EDITOR": ":"})


def edit_hook(repo: Scratch) -> Callable[[], None]:
    """``agent-hook`` as Claude Code starts it before an edit, once the path is the session's."""
    event = {
        "session_id": "5b0cf1e2-0001", "cwd": str(repo.path), "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_use_id": "t1",
        "tool_input": {"file_path": str(repo.path / "edited.py"), "old_string": "a" * 400, "new_string": "b" * 400},
    }  # fmt: skip
    file = repo.path.parent / f"{repo.path.name}.event.json"
    file.write_text(json.dumps(event))
    argv = (beside("git-lock"), "agent-hook", "--harness", "claude")
    for name in ("PreToolUse", "PostToolUse"):
        repo.run(*argv, stdin=json.dumps({**event, "hook_event_name": name}))
    return repo.process(argv, stdin=str(file))


def _forget(repo: Scratch) -> None:
    """As after a clone: the stub is there (from a template folder, say), and nothing that git-lock keeps."""
    for path in (repo.path / ".git").glob("agentlocks*"):
        subprocess.run(["rm", "-rf", str(path)], check=True)


def modules(place: Ground) -> int:
    """How many modules of ours the commit hook loads where there is nothing to say."""
    code = "from gitlock.bundling import HOOK, named; print(len(named(HOOK)))"
    done = subprocess.run([sys.executable, "-c", code], env=place.env, capture_output=True, text=True, check=True)
    return int(done.stdout)


def text(table: Table, loaded: int) -> str:
    """The table with its bounds; a row that is over its bound is marked."""
    lines = [("", "ms", f"x {table.baseline}", "quartiles", "bound", "")]
    bounds = {bound.name: bound.most for bound in BOUNDS}
    for row in table.rows:
        most = bounds.get(row.name)
        verdict = "" if most is None or row.ratio <= most else "OVER"
        quartiles = f"{row.lowest:.2f} - {row.highest:.2f}"
        bound = "" if most is None else f"{most:g}"
        lines.append((row.name, f"{row.median_ms:.1f}", f"{row.ratio:.2f}", quartiles, bound, verdict))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    layout = "  ".join([f"{{:<{widths[0]}}}", *(f"{{:>{width}}}" for width in widths[1:5]), "{}"])
    said = [layout.format(*cells).rstrip() for cells in lines]
    said += ["", f"{MODULES}: {loaded} (the list is in gitlock/bundling.py)"]
    return "\n".join(said)


def main() -> int:
    """Prints the figures beside their bounds."""
    parser = argparse.ArgumentParser(description="Times hooks and quick commands against a bare Python.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ground() as place:
        table = measured(place, asked.rounds)
        loaded = modules(place)
    if asked.json:
        bounds = {bound.name: bound.most for bound in BOUNDS}
        print(json.dumps({**json.loads(table.as_json()), "bounds": bounds, "modules": loaded}, indent=2))
    else:
        print(text(table, loaded))
        print(f"load: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
