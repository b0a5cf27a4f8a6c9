"""Where we are, read from the disk where nothing there is out of the ordinary: for the quick commands, to which each
question put to git adds a tenth.

Ordinary is a ``.git`` folder above us, or the ``.git`` file of a linked worktree; ours, and on the disk that we stand
on. For whatever else git goes by (an environment that names a repository, somebody else's folder, a bare repository,
``core.worktree``, an extension that we don't know) there is no answer here, and git has to be asked.

Source: gitrepository-layout(5), and ``setup_git_directory_gently`` in git's setup.c.
"""

import os
import sys
from stat import S_ISDIR, S_ISREG

from gitlock.git.config import is_false
from gitlock.git.repository import Repository, read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

# Variables by which git looks elsewhere, or otherwise.
_LEADING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_TEST_ASSUME_DIFFERENT_OWNER",
)  # fmt: skip
_KNOWN = ("extensions.worktreeconfig", "extensions.partialclone", "extensions.objectformat")


def look_around(git: "Git") -> Repository | None:
    """The repository that the current folder lies in, for whoever finds ``is_ordinary`` of its settings as well; None
    where git has to be asked."""
    if sys.platform != "linux" or any(name in git.environ for name in _LEADING):
        return None
    try:
        return _above(os.getcwd(), git)
    except OSError:
        return None


def is_ordinary(settings: dict[str, str]) -> bool:
    """Whether the settings (those of ``gitlock.git.config.PLACING``) leave the repository where it lies.

    They hold a format only where git has found a repository as well, and does not refuse it: of one that it does, it
    reads no settings.
    """
    return (
        settings.get("core.repositoryformatversion") in ("0", "1")
        and "core.worktree" not in settings
        and is_false(settings.get("core.bare", "false"))
        and not any(name.startswith("extensions.") and name not in _KNOWN for name in settings)
    )


def _above(here: str, git: "Git") -> Repository | None:
    top, disk, user = here, os.stat(here).st_dev, os.geteuid()
    while True:
        folder, path = os.stat(top), os.path.join(top, ".git")
        if folder.st_dev != disk or len(top) <= 1 or os.path.lexists(os.path.join(top, "HEAD")):
            return None  # another disk, the root, or perhaps a git folder itself
        try:
            found = os.lstat(path)
            break
        except FileNotFoundError:
            top = os.path.dirname(top)
    common_dir: str | None = path
    if S_ISREG(found.st_mode):
        path, common_dir = _linked(top, path)
    elif not S_ISDIR(found.st_mode) or os.path.lexists(os.path.join(path, "commondir")):
        return None
    if common_dir is None or {folder.st_uid, found.st_uid, os.stat(path).st_uid} != {user}:
        return None
    head = read_small(os.path.join(path, "HEAD")) or ""
    if not (head.startswith("ref: refs/") or head.strip().isalnum()):
        return None
    if not (os.path.isdir(os.path.join(common_dir, "objects")) and os.path.isdir(os.path.join(common_dir, "refs"))):
        return None
    return Repository(git, path, common_dir, top, here[len(top) + 1 :] + "/" if here != top else "", False)


def _linked(top: str, file: str) -> tuple[str, str | None]:
    """The git folder that a ``.git`` file names, and the one that it shares: None in a submodule, and what else has
    such a file."""
    text = read_small(file) or ""
    git_dir = os.path.realpath(os.path.join(top, text.removeprefix("gitdir: ").rstrip("\n")))
    pointer = read_small(os.path.join(git_dir, "commondir"))
    if not pointer or not text.startswith("gitdir: "):
        return git_dir, None
    return git_dir, os.path.realpath(os.path.join(git_dir, pointer.rstrip("\n")))
