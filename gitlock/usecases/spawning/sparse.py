"""``--sparse``: only the files that the claims cover are checked out, and what git needs to handle them rightly.

By ``skip-worktree`` bits in the new worktree's own index. ``git sparse-checkout`` would turn on
``extensions.worktreeConfig`` in the configuration that all worktrees share, which is never written by a spawn. The
price: git has no patterns to go by, so files that change by a later merge or switch of branches appear by themselves.

Where the source is sparse by git's own means, git hands its patterns on; bits of ours are handed on here.
"""

import os

from gitlock.domain.covering import covering
from gitlock.domain.policy import MAP_FILE
from gitlock.errors import UnsafeError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.footprint import Footprint
    from gitlock.domain.pattern import Fold
    from gitlock.git.process import Git

# Whatever is claimed: git reads them for paths far away from them, and so do we.
_NEEDED = (".gitattributes", ".gitignore", ".gitmodules", MAP_FILE, ".worktreeinclude")


def apply(git_target: "Git", footprint: "Footprint", fold: "Fold", also: "Iterable[str]" = ()) -> int:
    """Prepares the index of a worktree that was made with ``--no-checkout``; answers how many files are left out.

    ``also`` are further paths that are needed. The checkout that follows leaves the others alone. ``UsageError`` where
    the claims cover no path at all, as a key alone.
    """
    if footprint.is_empty:
        raise UsageError("--sparse checks out what the claims cover, and they cover no path", hint="--claim 'src/**'")
    _own_way(git_target)
    paths = _filled(git_target)
    is_covered = covering([(True, footprint)], len(paths), fold)
    needed = set(also)
    absent = (
        path
        for path in paths
        if path.rpartition("/")[2] not in _NEEDED and path not in needed and not is_covered(path)
    )
    return _leave_out(git_target, absent)


def _own_way(git: "Git") -> None:
    """Git's patterns, handed on from a sparse source, would take the bits back: here they do not count."""
    if git.line("config", "--type=bool", "--get", "core.sparseCheckout") != "true":
        return
    if git.line("config", "--type=bool", "--get", "extensions.worktreeConfig") != "true":
        raise UnsafeError(
            "core.sparseCheckout is set for all worktrees together, so --sparse can't choose files for one",
            hint="spawn without --sparse", id="sparse-for-all",
        )  # fmt: skip
    git.run("config", "--worktree", "core.sparseCheckout", "false")


def inherit(git_source: "Git", git_target: "Git") -> int:
    """Leaves out what the source leaves out by bits alone; answers how many files those are.

    None where the source is not sparse, or by git's own patterns, which ``git worktree add`` has copied.
    """
    if git_source.line("config", "--type=bool", "--get", "core.sparseCheckout") == "true":
        return 0
    rows = os.fsdecode(git_source.run("ls-files", "-v", "-z")).split("\0")[:-1]
    absent = {row[2:] for row in rows if row[0] in "Ss"}
    if not absent:
        return 0
    top = git_source.line("rev-parse", "--show-toplevel") or ""
    # A bit on a file that is there is somebody's way to hide a change of theirs, and no sparse checkout.
    absent = {path for path in absent if not os.path.lexists(os.path.join(top, path))}
    return _leave_out(git_target, [path for path in _filled(git_target) if path in absent]) if absent else 0


def _filled(git: "Git") -> list[str]:
    """The paths of the index, which is filled from HEAD if it was not yet."""
    index = git.line("rev-parse", "--path-format=absolute", "--git-path", "index")
    if index is None or not os.path.exists(index):
        git.run("read-tree", "HEAD")
    return os.fsdecode(git.run("ls-files", "-z")).split("\0")[:-1]


def _leave_out(git: "Git", paths: "Iterable[str]") -> int:
    names = [os.fsencode(path) + b"\0" for path in paths]
    if names:
        git.feed("update-index", "-z", "--skip-worktree", "--stdin", stdin=b"".join(names))
    return len(names)
