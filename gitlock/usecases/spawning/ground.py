"""What everything about spawning works with: the repository, its store, and what an entry point knows of outside."""

import os

from gitlock.domain.value import Value
from gitlock.errors import Interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.git.repository import Repository
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.worktrees import WorktreeBook
    from gitlock.stores.protocol import LeaseStore
    from gitlock.usecases.wait import Stop

PATIENCE = 60.0  # seconds for git to register a worktree: a hook of somebody's may hang in it


class Ground(Value):
    """``repository`` is the caller's. ``layout`` is of the clone's own folder, ``store`` holds the leases. ``owner``
    names our process as ``pid:started:boot``; ``host`` is this machine. ``environ`` is what hooks and set-up commands
    of the repository's own see. ``deadline`` are the seconds that each of the slow steps may take."""

    __slots__ = ("book", "deadline", "environ", "facts", "fold", "host", "layout", "owner", "repository", "stop",
                 "store", "wall")  # fmt: skip

    def __init__(
        self,
        *,
        repository: "Repository",
        layout: "Layout",
        book: "WorktreeBook",
        store: "LeaseStore",
        fold: "Fold",
        facts: "Facts",
        owner: str,
        host: str,
        environ: "Mapping[str, str]",
        stop: "Stop",
        deadline: float,
        wall: "Callable[[], float]",
    ) -> None:
        self.repository = repository
        self.layout = layout
        self.book = book
        self.store = store
        self.fold = fold
        self.facts = facts
        self.owner = owner
        self.host = host
        self.environ = environ
        self.stop = stop
        self.deadline = deadline
        self.wall = wall

    @property
    def git(self) -> "Git":
        """A git that is asked, or changes, what all worktrees share; nothing of where we are leaks into it."""
        common = self.repository.common_dir
        git = self.repository.git.elsewhere(self.repository.top or common)
        if self.repository.top is None:
            git.environ["GIT_DIR"] = common
        return git

    def wants_to_stop(self) -> bool:
        """Whether a signal asked us to."""
        return self.stop.number is not None

    def heed(self) -> None:
        """Between two steps: a signal that came meanwhile counts now."""
        if self.stop.number is not None:
            raise Interrupted(self.stop.number)


def main_place(repository: "Repository", git: "Git") -> tuple[str, str]:
    """The folder beside which worktrees are put, and the repository's name.

    That of the main worktree; in a bare repository the git folder itself (``x.git``), or, where that is hidden in a
    folder of its own (``x/.bare``), that folder. A submodule's is where it is checked out.
    """
    common = repository.common_dir
    above, name = os.path.split(common.rstrip(os.sep))
    if name == ".git" or name.startswith("."):
        return above, os.path.basename(above) or "repo"
    worktree = git.line("config", "--file", os.path.join(common, "config"), "--get", "core.worktree")
    if worktree is not None:
        place = os.path.normpath(os.path.join(common, worktree))
        return place, os.path.basename(place)
    return common, name.removesuffix(".git") or "repo"
