"""What whoever starts a worktree should know before any work begins. Nothing here stops anything, or fails."""

import os

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import covers
from gitlock.errors import GitlockError
from gitlock.git.changes import worktree_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.session import Session
    from gitlock.domain.worktree import Worktree
    from gitlock.usecases.reading import Reading
    from gitlock.usecases.spawning.ground import Ground

SHOWN = 3  # paths that a sentence names


def changed_elsewhere(
    ground: "Ground", reading: "Reading", sessions: "list[Session]"
) -> list[tuple[str, str]]:
    """Paths of the claim that are changed and not committed in another worktree, each with that worktree: the new one
    begins without them. The calling worktree is looked at; of the others counts what their sessions were seen to touch.
    """
    if not reading.include:
        return []
    footprint = Footprint.of(reading.include, reading.exclude)
    found: dict[tuple[str, str], None] = {}
    top = ground.repository.top
    if top is not None:
        try:
            changes = [change.path for change in worktree_changes(ground.repository.git, top)]
        except GitlockError:
            changes = []
        found.update(((path, top), None) for path in changes if covers(footprint, path, ground.fold))
    for session in sessions:
        place = session.holder.worktree
        if place is not None and place != top and session.holder.host == ground.host and os.path.isdir(place):
            found.update(((path, place), None) for path in session.touched if covers(footprint, path, ground.fold))
    return list(found)


def hooks_inactive(ground: "Ground", record: "Worktree", hooks_path: str | None) -> tuple[str, str | None] | None:
    """Why git would not ask us in the new worktree, though it does in the calling one, and what helps.

    Only a hooks folder that is named relative to the worktree can be there in one and not in the other.
    """
    if hooks_path is None or os.path.isabs(hooks_path) or ground.repository.top is None:
        return None
    from gitlock.git.checkouts import repository_at
    from gitlock.git.hooks import inspect

    try:
        if not inspect(ground.repository).enforced:
            return None
        there = inspect(repository_at(ground.repository.git, record.path))
    except GitlockError:
        return None
    return None if there.enforced or there.because is None else (there.because, there.advice)


def has_submodules(path: str) -> bool:
    """Whether the worktree names submodules, which git leaves empty in a new one."""
    return os.path.isfile(os.path.join(path, ".gitmodules"))
