"""Looking whether the paths of a lease are still changed in its holder's worktree: done only when its holder is gone
and somebody wants them, since it runs git there."""

import os

from gitlock.domain.lease import Lease
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import Fold
from gitlock.errors import GitlockError
from gitlock.git.changes import worktree_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.git.process import Git


def look_at(leases: "Iterable[Lease]", git: "Git", fold: Fold) -> dict[str, bool]:
    """For each lease id whether some path of it is uncommitted in its worktree.

    A worktree that is gone has nothing uncommitted; one that can't be looked at counts as changed.
    """
    found: dict[str, bool] = {}
    changed: dict[str, list[str] | None] = {}
    for lease in leases:
        tree = lease.holder.worktree
        if tree is None or not lease.include:
            found[lease.id] = False
            continue
        if tree not in changed:
            changed[tree] = changed_in(tree, git)
        paths = changed[tree]
        footprint = lease.footprint
        found[lease.id] = paths is None or any(covers(footprint, path, fold) for path in paths)
    return found


def changed_in(tree: str, git: "Git") -> list[str] | None:
    """The paths that are changed in a worktree; None where nobody can look."""
    if not os.path.lexists(os.path.join(tree, ".git")):
        return []
    try:
        return [change.path for change in worktree_changes(git, tree)]
    except GitlockError:
        return None
