"""Does a worktree's folder still name git's entry of it? Only both ways together say that it is the one that was made:
names and paths are used again, and a path may hold something else by now."""

import os

from gitlock.git.repository import read_small
from gitlock.git.worktrees import points_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.worktrees import Entry

GOOD, MISSING, FOREIGN = "good", "missing", "foreign"


def whereabouts(entry: "Entry") -> tuple[str, str]:
    """``good``, ``missing`` (nothing lies there, or an empty folder) or ``foreign`` (something else does), and a
    sentence about what lies there."""
    path = entry.path
    if path is None:
        return MISSING, f"git does not know where '{entry.name}' is"
    if entry.is_there and not os.path.islink(path):
        return GOOD, ""
    if not os.path.lexists(path):
        return MISSING, f"'{path}' is not there"
    if os.path.islink(path) or not os.path.isdir(path):
        return FOREIGN, f"'{path}' is not a folder"
    link = os.path.join(path, ".git")
    if not os.path.lexists(link):
        try:
            if not os.listdir(path):
                return MISSING, f"'{path}' is an empty folder now"
        except OSError as error:
            return FOREIGN, f"'{path}' can't be looked into: {error.strerror}"
        return FOREIGN, f"'{path}' has no .git any more: it holds something else, or was damaged"
    if os.path.isdir(link):
        return FOREIGN, f"'{path}' is another repository now"
    named = points_to(path)
    if named is None:
        text = read_small(link)
        return FOREIGN, f"'{link}' {'is empty' if not text else 'does not say where its git folder is'}"
    return FOREIGN, f"'{path}' is another worktree now: its .git names '{named}'"
