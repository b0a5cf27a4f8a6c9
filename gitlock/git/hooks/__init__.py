"""Our stubs in git's hooks folder: what is there, putting them in, giving back what was there before.

Imported by the commands that install, take away and look; a hook that runs needs nothing of this.
"""

from gitlock.git.hooks.adding import Added, add
from gitlock.git.hooks.installing import InstallOutcome, install, installed_hooks, store_of
from gitlock.git.hooks.looking import HOOKS, Hook, Installation, inspect
from gitlock.git.hooks.managers import Folder, find_folder
from gitlock.git.hooks.native import MANAGERS, MARKS, Addition, additions, afterwards, other_form
from gitlock.git.hooks.stub import GATES
from gitlock.git.hooks.uninstalling import UninstallOutcome, uninstall

__all__ = [
    "GATES",
    "HOOKS",
    "MANAGERS",
    "MARKS",
    "Added",
    "Addition",
    "Folder",
    "Hook",
    "InstallOutcome",
    "Installation",
    "UninstallOutcome",
    "add",
    "additions",
    "afterwards",
    "find_folder",
    "inspect",
    "install",
    "installed_hooks",
    "other_form",
    "store_of",
    "uninstall",
]
