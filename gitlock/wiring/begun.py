"""Git is asked where we are before it is known what for: it answers while Python goes on loading."""

import os

from gitlock.errors import GitlockError
from gitlock.git.config import start_config
from gitlock.git.process import Git
from gitlock.git.repository import start_discovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Child


class Begun:
    """Both questions that every command asks, on their way."""

    __slots__ = ("config", "discovery", "git")

    def __init__(self) -> None:
        self.git = Git(None, os.environ)
        self.discovery: Child = start_discovery(self.git)
        self.config: Child = start_config(self.git)


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
