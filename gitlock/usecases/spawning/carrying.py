"""``--with-changes``: uncommitted work goes along to a new worktree, and stays as it is where it comes from.

Staged, unstaged and untracked stay apart, byte for byte (see ``gitlock.git.snapshots``). Where the new worktree begins
at another commit than the source stands on, what is changed must be the same file in both commits: a whole path is
taken over as it is, or nothing is made. No content is merged, so nothing is ever half taken over.
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import UnsafeError
from gitlock.git.snapshots import Snapshot, carry, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_NAMED = 5  # paths that a message names


class Carried(Value):
    """What goes along. ``paths`` are the changed ones, sorted."""

    __slots__ = ("paths", "snapshot")

    def __init__(self, snapshot: Snapshot, paths: tuple[str, ...]) -> None:
        self.snapshot = snapshot
        self.paths = paths

    @property
    def left_behind(self) -> tuple[tuple[str, str], ...]:
        """(path, why) of what can't go along: changes inside submodules, nested repositories."""
        return self.snapshot.left_out


def snapshot(git_source: "Git") -> Carried | None:
    """The uncommitted work of the worktree that ``git_source`` stands in; None where there is none.

    ``UnsafeError`` in the middle of a conflict: its two sides mean nothing without the merge that they belong to.
    """
    taken = take(git_source, message="changes that went along to another worktree", exact=False)
    if taken is None:
        return None
    manifest = taken.manifest
    if manifest.stages:
        raise UnsafeError(
            f"{_named(sorted({one.path for one in manifest.stages}))} in conflict, and conflicts can't go along",
            hint="git status", id="conflicts",
        )  # fmt: skip
    base = taken.head or git_source.run("hash-object", "-t", "tree", os.devnull).decode().strip()
    staged = _differing(git_source, base, manifest.staged)
    files = (file.path for file in manifest.files)
    intents = (path for path, _ in manifest.intents)
    paths = {*staged, *files, *manifest.gone, *intents}
    return Carried(taken, tuple(sorted(paths))) if paths else None


def require_fits(git: "Git", carried: Carried, base: str) -> None:
    """Asked before anything is made: ``UnsafeError`` where a changed path is another one in the commit ``base``."""
    head = carried.snapshot.head
    if head == base:
        return
    origin = head or git.run("hash-object", "-t", "tree", os.devnull).decode().strip()
    clashes = _clashes(carried.paths, _differing(git, origin, base))
    if clashes:
        raise UnsafeError(
            f"{_named(clashes)} changed here without a commit, and otherwise at the base: "
            "they can't go along (nothing was made, and nothing is changed here)",
            hint=f"git lock spawn … --with-changes --base {head or 'HEAD'}", id="changes-clash",
        )  # fmt: skip


def apply(carried: Carried, target_git: "Git") -> None:
    """Lays the changes over the fresh, checked out worktree that ``target_git`` stands in."""
    carry(target_git, carried.snapshot)


def _differing(git: "Git", a: str, b: str) -> list[str]:
    out = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", a, b)
    return os.fsdecode(out).split("\0")[:-1]


def _clashes(changed: tuple[str, ...], differing: list[str]) -> list[str]:
    """The changed paths that the commits don't agree about; also where one has a file and the other a folder."""
    exact = set(differing)
    folders = {path[:at] for path in differing for at in _slashes(path)}
    return [
        path
        for path in changed
        if path in exact or path in folders or any(path[:at] in exact for at in _slashes(path))
    ]


def _slashes(path: str) -> list[int]:
    return [at for at, char in enumerate(path) if char == "/"]


def _named(paths: list[str]) -> str:
    first = ", ".join(f"'{path}'" for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{first}{more} {'is' if len(paths) == 1 else 'are'}"
