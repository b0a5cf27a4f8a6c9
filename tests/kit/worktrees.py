"""What can be seen of a worktree from outside: the index with its flags, git's status, and every file's bytes."""

import os
import stat
from pathlib import Path

from gitlock.git.process import Git
from gitlock.git.snapshots.taking import list_entries


def git_of(top: Path) -> Git:
    """Git, asked in that worktree."""
    return Git(str(top), os.environ)


def sight(top: Path) -> dict[str, object]:
    """Everything that a snapshot promises to bring back. Empty folders are none of it."""
    git = git_of(top)
    return {
        "status": git.run("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"),
        "index": [entry.replace(flags=entry.flags & 0x60008000) for entry in list_entries(git)],
        "files": files_of(top),
    }


def files_of(top: Path) -> dict[bytes, tuple[str, bytes]]:
    """Path → its kind and bytes (a link's are its target), without git's own folder."""
    found = {}
    root = os.fsencode(top)
    for folder, folders, names in os.walk(root):
        if b".git" in folders:
            folders.remove(b".git")
        for name in [*names, *(one for one in folders if os.path.islink(os.path.join(folder, one)))]:
            place = os.path.join(folder, name)
            if os.path.relpath(place, root) == b".git":
                continue
            if os.path.islink(place):
                found[os.path.relpath(place, root)] = ("link", os.readlink(place))
            else:
                kind = "x" if os.stat(place).st_mode & stat.S_IXUSR else "-"
                found[os.path.relpath(place, root)] = (kind, Path(os.fsdecode(place)).read_bytes())
    return found
