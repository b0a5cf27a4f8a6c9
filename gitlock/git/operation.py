"""What git is in the middle of, read from the files that it leaves in the worktree's own git folder.

docs/hooks.md has the table of what is there when. ``AUTO_MERGE``, ``ORIG_HEAD`` and ``REBASE_HEAD`` are not looked at:
they outlive what made them. In a reftable repository (git 2.45 and later) ``CHERRY_PICK_HEAD`` and ``REVERT_HEAD`` are
no files: there only the pick or revert of several commits is seen, by its ``sequencer`` folder.
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.repository import read_small

# While git goes from commit to commit by itself, or a person looks for one, nobody has switched to anything.
SEQUENCES = ("rebase", "am", "cherry-pick", "revert", "bisect")

# What git notes of an operation in a worktree's own git folder; with it, another worktree can go on.
NOTES = (
    "rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG",
    "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
)  # fmt: skip

LOG_TAIL = 8192  # bytes of a log that are looked at: its last line


class Operation(Value):
    """What git is in the middle of, and the command that takes it back.

    ``kind`` is ``none``, ``rebase``, ``am``, ``merge``, ``cherry-pick``, ``revert``, ``squash`` (``merge --squash``
    before its commit) or ``bisect``.

    ``escape`` brings index, worktree and HEAD back to before the operation, without touching edits of other files.
    It was tried with git 2.39 after prepare-commit-msg had refused (tests/git/test_operation.py):

    * ``git merge --abort``, ``git rebase --abort``, ``git am --abort``, ``git cherry-pick --abort`` each for its own;
      the last also for one single commit, where there is no ``sequencer`` folder.
    * ``git revert --abort`` where there is ``REVERT_HEAD`` (a conflict, ``-n``) or the ``sequencer`` folder (several
      commits). The clean revert of one commit leaves neither: git says "no cherry-pick or revert in progress" to
      either ``--abort``, and only ``git reset --merge`` works. It loses nothing, since such a revert starts only
      with an index that equals HEAD.
    * ``git reset --merge`` for ``squash``, which has no ``--abort``.
    * None for ``none`` and ``bisect``: a commit there is a plain one, and refusing it left nothing behind.
    """

    __slots__ = ("escape", "kind")

    def __init__(self, kind: str, escape: str | None = None) -> None:
        self.kind = kind
        self.escape = escape


def operation(git_dir: str) -> Operation:
    """What git is in the middle of in the worktree whose own git folder this is.

    A rebase comes first: it has ``CHERRY_PICK_HEAD`` or ``MERGE_HEAD`` beside it while it picks.
    """
    try:
        names = frozenset(os.listdir(git_dir))
    except OSError as fault:
        raise RepositoryError(f"no git folder can be read at '{git_dir}': {fault.strerror}") from fault
    if "rebase-merge" in names:
        return Operation("rebase", "git rebase --abort")
    if "rebase-apply" in names:
        if os.path.exists(os.path.join(git_dir, "rebase-apply", "applying")):
            return Operation("am", "git am --abort")
        return Operation("rebase", "git rebase --abort")
    if "MERGE_HEAD" in names:
        return Operation("merge", "git merge --abort")
    if "CHERRY_PICK_HEAD" in names:
        return Operation("cherry-pick", "git cherry-pick --abort")
    if "REVERT_HEAD" in names:
        return Operation("revert", "git revert --abort")
    if "sequencer" in names:
        command = _next_command(git_dir)
        if command is not None:
            return Operation(command, f"git {command} --abort")
    if "SQUASH_MSG" in names:
        return Operation("squash", "git reset --merge")
    if "MERGE_MSG" in names and _is_revert(git_dir):
        return Operation("revert", "git reset --merge")
    if "BISECT_LOG" in names:
        return Operation("bisect")
    return Operation("none")


def is_in_between(git_dir: str, branch: str | None) -> bool:
    """Whether HEAD is where it is only on git's way to somewhere else. ``rebase --apply`` begins on no branch
    (``branch`` None) and leaves no trace of its own yet: there the log of HEAD says so, and where there is none, nobody
    can tell."""
    if operation(git_dir).kind in SEQUENCES:
        return True
    return branch is None and b" (start): checkout " in (_last_move(git_dir) or b" (start): checkout ")


def _last_move(git_dir: str) -> bytes | None:
    """The last line of HEAD's log; None where there is none."""
    try:
        with open(os.path.join(git_dir, "logs", "HEAD"), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_TAIL))
            return file.read().rstrip(b"\n").rpartition(b"\n")[2] or None
    except OSError:
        return None


def _next_command(git_dir: str) -> str | None:
    """What the list of a pick or revert of several commits begins with."""
    todo = read_small(os.path.join(git_dir, "sequencer", "todo")) or ""
    return {"pick": "cherry-pick", "p": "cherry-pick", "revert": "revert"}.get(todo.split(" ", 1)[0])


def _is_revert(git_dir: str) -> bool:
    """Whether the message that waits is the one that ``git revert`` writes.

    The only trace of a clean revert of one commit. ``cherry-pick -n`` of a commit that was itself made by a revert
    looks the same.
    """
    return "\nThis reverts commit " in (read_small(os.path.join(git_dir, "MERGE_MSG")) or "")
