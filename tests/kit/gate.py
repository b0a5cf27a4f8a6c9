"""The story that most gate tests begin with: alice holds ``src/auth/*``, bob holds ``src/api.py``, the gates are in."""

from collections.abc import Mapping
from pathlib import Path

from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import Place, Shape, main_worktree

HELD = "src/auth/login.py"      # alice's, through src/auth/*
OWN = "src/api.py"              # bob's
FREE = "README.md"              # nobody's

FILES: dict[str, str | bytes] = {
    HELD: "one\ntwo\nthree\n",
    "src/auth/token.py": "token\n",
    OWN: "one\ntwo\nthree\n",
    FREE: "hello\n",
}


def guarded(
    folder: Path,
    shape: Shape = main_worktree,
    *,
    policy: str | None = None,
    files: Mapping[str, str | bytes] | None = None,
    reason: str = "new login",
) -> Place:
    """A repository in which alice and bob hold what they hold, and whose commits ask first.

    ``policy`` is the text of the map file below its version, as the first commit holds it.
    """
    first = {**FILES, **(files or {})}
    if policy is not None:
        first[".gitlock.toml"] = map_file(policy)
    place = shape(folder, first)
    place.here.install()
    place.there.lock("claim", "src/auth/*", "--reason", reason, agent="alice").ok()
    place.here.lock("claim", OWN, agent="bob").ok()
    return place


def map_file(policy: str) -> str:
    """A map file with this content."""
    return f"version = 1\n\n{policy}\n"


def history(repo: Repo, verb: str) -> list[dict[str, str]]:
    """The events of that kind, oldest first."""
    return [event for event in repo.json("history", "--all")["data"]["events"] if event["verb"] == verb]


def next_command(text: str, beginning: str = "git lock") -> str:
    """The first command with this beginning that a message names."""
    for line in text.splitlines():
        at = line.find(beginning)
        if at >= 0:
            return line[at:].strip()
    raise AssertionError(f"no command beginning with {beginning!r} in\n{text}")


def typed(repo: Repo, command: str, *, agent: str | None = "bob", cwd: str | None = None) -> Result:
    """Types a command into a shell, exactly as a message names it."""
    return repo.run("bash", "-c", command, agent=agent, cwd=cwd)
