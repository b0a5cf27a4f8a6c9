"""Who else works in the same place (only Linux tells where a process works), and git where no site can be opened."""

import os
import time

from gitlock.domain.retiring import Inside
from gitlock.git.process import Git
from gitlock.wiring.liveness import ancestors, command_of

MOMENT = 0.2  # seconds


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


def inside(folder: str) -> tuple[Inside, ...] | None:
    """The processes whose current folder is in ``folder``; None where the system does not tell (it does on Linux).

    Another user's process shows its folder to root alone, and one of another container is not seen at all: both are
    passed over, since they would be in the way of everything. Whoever is gone a moment later only looked (a `git
    status` of somebody's prompt).
    """
    found = _inside(folder)
    if not found:
        return found
    time.sleep(MOMENT)
    still = {one.pid for one in _inside(folder) or ()}
    return tuple(one for one in found if one.pid in still)


def _inside(folder: str) -> tuple[Inside, ...] | None:
    try:
        names = os.listdir("/proc")
        os.readlink("/proc/self/cwd")
    except OSError:
        return None
    root = os.path.realpath(folder)
    above = set(ancestors())
    found = []
    for name in names:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            place = os.readlink(f"/proc/{name}/cwd")
        except OSError:
            continue
        if place == root or place.startswith(root.rstrip("/") + "/"):
            found.append(Inside(int(name), command_of(int(name)), int(name) in above))
    return tuple(sorted(found, key=lambda one: one.pid))
