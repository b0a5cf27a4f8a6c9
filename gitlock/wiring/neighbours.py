"""Who else works in the same place (only Linux tells where a process works), and git where no site can be opened."""

import os

from gitlock.git.process import Git
from gitlock.wiring.liveness import ancestors, command_of


def git_at_work(*folders: str) -> list[int] | None:
    """The git processes whose current folder is in one of these, without the one that runs us; None if unknown."""
    try:
        names = os.listdir("/proc")
        os.readlink("/proc/self/cwd")
    except OSError:
        return None
    roots = [os.path.realpath(folder) for folder in folders]
    own = {os.getpid(), *ancestors()}
    found = []
    for name in names:
        if not name.isdigit() or int(name) in own or not command_of(int(name)).startswith("git"):
            continue
        try:
            place = os.readlink(f"/proc/{name}/cwd")
        except OSError:
            continue
        if any(place == root or place.startswith(root.rstrip("/") + "/") for root in roots):
            found.append(int(name))
    return sorted(found)


def git_here() -> Git:
    """Git, asked where we stand, whatever is wrong with the repository."""
    return Git(None, dict(os.environ))
