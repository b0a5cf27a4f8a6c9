"""Removals of worktrees that were broken off, and what is left of the folders that they moved aside."""

from gitlock.domain.worktree import RETIRING
from gitlock.errors import GitlockError
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.examining.finding import BAD, FIXED, Finding
from gitlock.usecases.retiring.facts import own_layout
from gitlock.usecases.retiring.finishing import Outcome
from gitlock.usecases.retiring.removing import take_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.usecases.retiring.facts import Place


def broken_off(place: "Place", *, fix: bool) -> list[Finding]:
    """Each of them; ``fix`` finishes it where git's entry is gone already, and else puts the worktree back."""
    book = WorktreeBook(own_layout(place))
    findings = []
    for worktree in book.all():
        if worktree.state != RETIRING or book.is_being_made(worktree.id):
            continue
        what = f"the removal of the worktree of {worktree.agent} at '{worktree.path}' was broken off"
        helps = f"git lock retire {worktree.id}"
        if not fix:
            findings.append(Finding("worktree", BAD, what, helps))
            continue
        try:
            done = take_up(place, book, worktree)
        except GitlockError as error:
            findings.append(Finding("worktree", BAD, f"{what}: {error.message}", error.hint))
            continue
        if not isinstance(done, Outcome):
            findings.append(Finding("worktree", FIXED, f"{what}: it is there again", helps))
        elif done.left is not None:
            findings.append(Finding("worktree", BAD, f"'{done.left[0]}' can't be deleted: {done.left[1]}", helps))
        else:
            findings.append(Finding("worktree", FIXED, f"{what}: it is finished"))
    return findings
