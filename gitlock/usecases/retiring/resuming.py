"""Goes on with the rebase, am, merge or pick that a worktree was in the middle of when it was removed."""

import os

from gitlock.git import branches
from gitlock.git.checkouts import list_checkouts, rewritten_in
from gitlock.git.resuming import lay_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.saved import Saved
    from gitlock.git.process import Git
    from gitlock.stores.files.saved import SavedBook


def resume(git: "Git", common_dir: str, book: "SavedBook", saved: "Saved", top: str) -> str | None:
    """Lays git's notes of the operation into the git folder of the worktree at ``top``. Answers why not, where it would
    end on a branch that is somebody else's by now, or can't be: then they stay in their archive, and are named."""
    notes = book.notes_of(saved.id)
    why = _stands_against(git, common_dir, notes) if notes else "what git had noted of it is gone"
    if why is None:
        admin = os.fsdecode(git.elsewhere(top).run("rev-parse", "--absolute-git-dir")).rstrip("\n")
        try:
            lay_notes(admin, notes)
            return None
        except OSError as error:
            why = f"git's folder can't be written: {error.strerror}"
    return f"{why}; what git had noted is in '{book.operation_of(saved.id)}'"


def _stands_against(git: "Git", common_dir: str, notes: dict[str, bytes]) -> str | None:
    """A rebase ends by moving its branch: nobody else may be on it, and it must be where it was."""
    for folder in ("rebase-merge", "rebase-apply"):
        head = os.fsdecode(notes.get(f"{folder}/head-name", b"")).strip()
        if not head.startswith(branches.HEADS):
            continue
        branch = head.removeprefix(branches.HEADS)
        before = os.fsdecode(notes.get(f"{folder}/orig-head", b"")).strip()
        if git.line("rev-parse", "-q", "--verify", head) != before:
            return f"branch '{branch}' points elsewhere by now"
        if any(one.branch == branch for one in list_checkouts(git)) or rewritten_in(common_dir, branch) is not None:
            return f"branch '{branch}' is in use elsewhere"
    return None
