"""Every worktree of a repository, as git lists them; also those whose folder is gone."""

import os

from gitlock.domain.seat import Seat
from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.operation import is_in_between
from gitlock.git.repository import Repository, current_branch, finish_discovery, read_small, start_discovery
from gitlock.git.worktrees import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git


TRIES = 5  # times that git is asked: it stumbles over an entry that another git is writing in this very moment


class Checkout(Value):
    """One worktree. ``bare`` is the repository itself where it has none; ``gone`` is git's word for a missing one."""

    __slots__ = ("bare", "branch", "gone", "path")

    def __init__(self, path: str, branch: str | None, bare: bool, gone: bool) -> None:
        self.path = path
        self.branch = branch
        self.bare = bare
        self.gone = gone


def list_checkouts(git: "Git") -> list[Checkout]:
    """All of them, the main one first."""
    separator = b"\0"
    for _ in range(TRIES):
        status, out, err = git.try_run("worktree", "list", "--porcelain", "-z")
        if "failed to read" not in err:
            break
    if status:  # a git before 2.36
        out, separator = git.run("worktree", "list", "--porcelain"), b"\n"
    found = []
    for block in out.split(separator * 2):
        fields = {}
        for row in block.split(separator):
            name, _, value = os.fsdecode(row).partition(" ")
            fields[name] = value
        if "worktree" in fields:
            branch = fields.get("branch", "").removeprefix("refs/heads/") or None
            gone = "prunable" in fields and not os.path.isdir(fields["worktree"])
            found.append(Checkout(fields["worktree"], branch, "bare" in fields, gone))
    return found


_REWRITTEN = ("rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs", "BISECT_START")


def rewritten_in(common_dir: str, branch: str) -> str | None:
    """The git folder of a worktree that comes back to this branch, though no list shows it there: a rebase or a bisect
    is in progress. None where there is none."""
    for admin in (common_dir, *(entry.admin for entry in entries(common_dir))):
        for place in _REWRITTEN:
            rows = (read_small(os.path.join(admin, *place.split("/"))) or "").splitlines()
            if f"refs/heads/{branch}" in rows or (place == "BISECT_START" and branch in rows):
                return admin
    return None


def repository_at(git: "Git", path: str) -> Repository:
    """The repository as it looks from that worktree; nothing of where we are leaks into the question."""
    there = git.elsewhere(path)
    return finish_discovery(there, start_discovery(there))


def has_left(common_dir: str, worktree: str) -> bool:
    """Whether nothing is at a worktree's path, and nothing of this clone is meant to be there: it was moved or removed
    (one on a disk that is not mounted is still in git's list)."""
    if os.path.lexists(worktree) or worktree == os.path.dirname(common_dir):
        return False
    return all(entry.path != worktree for entry in entries(common_dir))


def seats(common_dir: str) -> "dict[str, Seat]":
    """What is checked out in each worktree of a clone, by its path, read from git's own files. One in which git is in
    between is not in it."""
    found = {}
    places = [(entry.path, entry.admin) for entry in entries(common_dir) if entry.is_there]
    if os.path.basename(common_dir) == ".git":
        places.append((os.path.dirname(common_dir), common_dir))
    for path, git_dir in places:
        branch = current_branch(git_dir)
        try:
            knows = branch is not None or not is_in_between(git_dir, None)
        except RepositoryError:
            knows = False
        if path is not None and knows:
            found[path] = Seat(path, branch)
    return found
