"""Our stubs in git's hooks folder: what is there, putting them in, giving back what was there before.

Imported by the commands that install, take away and look; a hook that runs needs nothing of this.
"""

from gitlock.git.hooks.installing import InstallOutcome, install
from gitlock.git.hooks.looking import HOOKS, Hook, Installation, inspect
from gitlock.git.hooks.managers import Folder
from gitlock.git.hooks.uninstalling import UninstallOutcome, uninstall

__all__ = [
    "HOOKS",
    "Folder",
    "Hook",
    "InstallOutcome",
    "Installation",
    "UninstallOutcome",
    "inspect",
    "install",
    "uninstall",
]
