"""What git or another program may have left in the git folder that stops it, or turns it."""

import os

from gitlock.domain.duration import show_duration
from gitlock.domain.quoting import word
from gitlock.git.config import is_true
from gitlock.usecases.examining.finding import BAD, NOTE, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.git.checkouts import Checkout
    from gitlock.git.process import Git

FRESH = 10.0  # seconds: git itself holds such a lock for milliseconds, and longer only while an editor is open

REPAIR_BARE = "git config core.bare false"


def core_bare(git: "Git", common_dir: str) -> Finding | None:
    """A repository with a worktree that says it has none: a program has run `git init` with a hook's environment."""
    config = os.path.join(common_dir, "config")
    value = git.line("config", "--file", config, "--get", "core.bare")
    has_worktree = os.path.basename(common_dir) == ".git" and os.path.isfile(os.path.join(common_dir, "index"))
    if not is_true(value) or not has_worktree:
        return None
    what = f"'{common_dir}' has a worktree, but its core.bare is set to true, so that git finds none there"
    return Finding("core.bare", BAD, what, REPAIR_BARE)


def left_locks(
    git_dir: str, names: tuple[str, ...], now: float, at_work: "Callable[[], list[int] | None]", worktree: str | None
) -> list[Finding]:
    """Locks of git that have been there for longer than git holds one; never taken away by us."""
    findings = []
    for name in names:
        path = os.path.join(git_dir, name)
        try:
            age = now - os.lstat(path).st_mtime
        except OSError:
            continue
        if age < FRESH:
            continue
        running = at_work()
        since = f"'{path}' has been there for {show_duration(age)}"
        if running is None:
            findings.append(Finding(name, NOTE, f"{since}: one that died may have left it", None, worktree))
        elif running:
            what = f"{since}; git is at work here (process {', '.join(str(pid) for pid in running)}), it may be in use"
            findings.append(Finding(name, NOTE, what, f"ps -fp {running[0]}", worktree))
        else:
            what = f"{since}, and no git process is at work here: one that died has left it"
            findings.append(Finding(name, BAD, what, f"rm {word(path)}", worktree))
    return findings


def gone_worktrees(checkouts: "list[Checkout]") -> list[Finding]:
    """Worktrees that git still lists and that are not there; git's own clean-up takes everybody's away."""
    return [
        Finding("worktree", NOTE, f"the worktree '{one.path}' is gone", f"git worktree remove {word(one.path)}")
        for one in checkouts
        if one.gone
    ]
