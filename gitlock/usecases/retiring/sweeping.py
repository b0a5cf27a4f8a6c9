"""Retires every worktree whose work has landed and that nothing speaks against: one command for thirty agents."""

from gitlock.domain.retiring import Permit, Refusal
from gitlock.errors import GitlockError
from gitlock.git.ownwork import has_worked
from gitlock.git.worktrees import entries
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.retiring.facts import own_layout, work_on
from gitlock.usecases.retiring.finishing import Outcome
from gitlock.usecases.retiring.removing import retire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree
    from gitlock.usecases.retiring.facts import Neighbours, Place


def sweep(
    place: "Place", permit: Permit, neighbours: "Neighbours", *, dry_run: bool
) -> "list[Outcome | tuple[str, GitlockError]]":
    """What became of each worktree, the oldest first; one that could not be looked at comes as its agent and why."""
    outcomes: list[Outcome | tuple[str, GitlockError]] = []
    for worktree in WorktreeBook(own_layout(place)).all():
        try:
            unmerged = _not_landed(place, worktree)
            if unmerged is not None:
                outcomes.append(Outcome(worktree, refusals=(unmerged,), dry_run=dry_run))
            else:
                outcomes.append(retire(place, worktree, permit, neighbours, dry_run=dry_run))
        except GitlockError as error:
            outcomes.append((worktree.agent, error))
    return outcomes


def _not_landed(place: "Place", worktree: "Worktree") -> Refusal | None:
    """Why the work of a worktree does not count as landed; what was never begun has not landed either."""
    helps = ("git", "lock", "retire", worktree.agent)
    own = next((one for one in work_on(place, worktree) if one.name == worktree.branch), None)
    if own is None:
        return Refusal("no-branch", "nothing says where its work is", helps)
    common = place.repository.common_dir
    entry = next((one for one in entries(common) if one.id == worktree.id), None)
    if own.tip == worktree.base or not has_worked(common, own.name, None if entry is None else entry.admin):
        return Refusal("not-begun", f"branch '{own.name}' has no commits of its own yet", helps)
    if own.proof is None:
        into = f" into {own.target}" if own.target is not None else ""
        return Refusal("unmerged", f"branch '{own.name}' is not merged{into}", helps)
    return None
