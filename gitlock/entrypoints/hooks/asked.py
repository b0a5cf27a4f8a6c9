"""Called by a hook manager (husky, lefthook, the pre-commit framework) and not by our stub.

Which git runs the commit is then not said, and our stub or git's own configuration may have asked us for this very
hook already: each leaves a note of it, ``<pid of git> <hook> <way>``, in the worktree's own git folder.
"""

import os

from gitlock.entrypoints.hooks.marker import read_note
from gitlock.wiring.liveness import ancestors, command_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ASKED = "gitlock-asked"


def git_above() -> str:
    """The process id of the git that runs us; empty where the system does not tell."""
    return next((str(pid) for pid in ancestors() if command_of(pid) == "git"), "")


def was_asked(hook: str, environ: "Mapping[str, str]", folder: str) -> bool:
    """Whether a process above us has asked us for this hook, by another way."""
    from gitlock.git.process import Git
    from gitlock.git.repository import repository_in_hook

    git_dir = repository_in_hook(Git(None, environ), environ, folder).git_dir
    try:
        words = read_note(os.path.join(git_dir, ASKED), 256).split()
    except OSError:
        return False
    return len(words) > 1 and words[1] == hook.encode() and words[0] in [b"%d" % pid for pid in ancestors()]
