"""Git is asked where we are before it is known what for: it answers while Python goes on loading."""

import os

from gitlock.errors import GitlockError
from gitlock.git.config import PLACING, start_config
from gitlock.git.ordinary import is_ordinary, look_around
from gitlock.git.process import Git
from gitlock.git.repository import finish_discovery, start_discovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child
    from gitlock.git.repository import Repository


class Begun:
    """Both questions that every command asks, on their way; where we are, as far as a look at the disk tells."""

    __slots__ = ("_discovery", "_place", "config", "git")

    def __init__(self) -> None:
        self.git = Git(None, os.environ)
        self._place = look_around(self.git)
        self._discovery: Child | None = start_discovery(self.git) if self._place is None else None
        self.config: Child = start_config(self.git, PLACING)

    def repository(self, settings: "dict[str, str] | None") -> "Repository":
        """Where we are, or ``RepositoryError``. ``settings`` are what ``config`` answered, if it did."""
        if self._place is not None and settings is not None and is_ordinary(settings):
            return self._place
        return finish_discovery(self.git, self._discovery or start_discovery(self.git))


_begun: Begun | None = None


def begin() -> None:
    """Asks, for whoever opens the site first. What stops us will stop it as well, and is said then."""
    global _begun
    try:
        _begun = Begun()
    except GitlockError:
        _begun = None


def take_begun() -> Begun:
    """The questions that were asked, or asked now; each answer is there once."""
    global _begun
    begun, _begun = _begun, None
    return begun or Begun()


def git_here() -> Git:
    """A git that can be asked before the site is open."""
    return _begun.git if _begun is not None else Git(None, os.environ)
