"""In which repository a file lies, without asking git: the folders above it are looked through for ``.git``.

For who has no time to ask (a hook before every edit), and has to know before it can. What git itself would go by
besides, an environment that names another repository, says nothing about a file that somebody is about to edit.
"""

import os

from gitlock.domain.value import Value
from gitlock.git.repository import read_small


class Spot(Value):
    """A worktree, its git folder and the common one, all absolute and resolved; ``path`` is what was looked for, below
    ``top``, with ``/``."""

    __slots__ = ("common_dir", "git_dir", "path", "top")

    def __init__(self, git_dir: str, common_dir: str, top: str, path: str) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.top = top
        self.path = path


def current_folder() -> str:
    """Where this process stands; where that was deleted, a folder in which nothing is ours."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def absolute(folder: str, path: str) -> str:
    """A path as a program writes it, from the folder that it stands in."""
    if path[:2] == "~/":
        path = os.path.join(os.path.expanduser("~"), path[2:])
    return os.path.join(folder, path)


def locate(path: str) -> tuple[Spot, ...]:
    """Where an absolute path lies; nothing where that is outside every repository, or in a git folder.

    Folders on the way are resolved, as far as they are there. A path that is itself a link is two: to write there
    changes what it leads to, or (where an editor replaces the file) the link.
    """
    head, name = os.path.split(path.rstrip("/") or "/")
    if name in ("", ".", ".."):
        found = [os.path.realpath(path)]
    else:
        found = [os.path.join(os.path.realpath(head), name)]
        if os.path.islink(found[0]):
            found.append(os.path.realpath(found[0]))
    spots = [_spot(one) for one in dict.fromkeys(found)]
    return tuple(one for one in spots if one is not None)


def locate_folder(path: str) -> Spot | None:
    """The worktree that a folder lies in."""
    real = os.path.realpath(path)
    found = _spot(os.path.join(real, "x"))
    return None if found is None else found.replace(path=found.path[:-2] if found.path != "x" else "")


def _spot(path: str) -> Spot | None:
    if "/.git/" in path or path.endswith("/.git"):
        return None
    folder = os.path.dirname(path)
    while True:
        git_dir = _git_folder(folder)
        if git_dir is not None:
            break
        if len(folder) <= 1:
            return None
        folder = os.path.dirname(folder)
    pointer = read_small(os.path.join(git_dir, "commondir"))
    common = os.path.realpath(os.path.join(git_dir, pointer.rstrip("\n"))) if pointer else git_dir
    return Spot(git_dir, common, folder, path[len(folder.rstrip("/")) + 1 :])


def _git_folder(folder: str) -> str | None:
    path = os.path.join(folder, ".git")
    text = read_small(path)  # a folder is no file, and can't be read
    if text is None:
        return path if os.path.exists(os.path.join(path, "HEAD")) else None
    if not text.startswith("gitdir: "):
        return None
    found = os.path.realpath(os.path.join(folder, text[8:].rstrip("\n")))
    return found if os.path.isdir(found) else None
