"""Where the user stands, when git has started us somewhere else.

An alias that is a shell command (``!git lock claim``) is run from the top of the worktree, and ``GIT_PREFIX`` names
the folder below it that the alias was used in: paths are meant from there. But git sets the same variable for every
hook, editor and ``--exec`` that it runs, where paths are relative to the current folder, as everywhere; and whatever
these start inherits it. The variables alone don't tell the two apart. The process that set it does: for an alias it is
a git whose command is none of git's own. Where processes can't be looked at (only Linux shows them), an alias is
assumed.
"""

import os

from gitlock.wiring.identity import PROGRAMS
from gitlock.wiring.liveness import ancestors, command_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source")


def users_prefix(prefix: str, top: str, git: "Git") -> str:
    """The folder that the user stands in, below ``top`` and with a final ``/``; empty where ``GIT_PREFIX`` does not say
    that. For a command that was itself started in ``top``."""
    if not os.path.isdir(os.path.join(top, prefix)):
        return ""
    named = b"GIT_PREFIX=" + os.fsencode(prefix)
    for pid in ancestors():
        environ = _read(pid, "environ")
        if environ is None:
            return prefix
        if named not in environ.split(b"\0"):
            return prefix if _is_alias(pid, top, git) else ""
        if command_of(pid) in PROGRAMS:
            return ""  # it was started by an alias long ago, and goes its own ways since
    return prefix


def _is_alias(pid: int, top: str, git: "Git") -> bool:
    """Whether this process, which set the variable, is a git that runs an alias in ``top``."""
    words = [os.fsdecode(word) for word in (_read(pid, "cmdline") or b"").split(b"\0")[:-1]]
    if not words or os.path.basename(words[0]) != "git":
        return True  # somebody set it by hand, and means it
    try:
        if not os.path.samefile(f"/proc/{pid}/cwd", top):
            return False  # an alias of another repository, which then went into this one
    except OSError:
        return True
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    return at < len(words) and words[at] not in os.fsdecode(git.run("--list-cmds=builtins")).split()


def _read(pid: int, name: str) -> bytes | None:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(1 << 22)
    except OSError:
        return None
