"""Runs the hooks that git would run, and of those only ours: what another program does in a hook is no rehearsal.

Ours stop before the hook that was there (``templates/hook.sh``), so the file in the hooks folder can be run as it is.
Of the configured ones, all others are left out for this one run. Of a manager's hook, only what it runs of ours is run.
"""

import os

from gitlock.git.hooks import configured
from gitlock.git.hooks.managers import read_script
from gitlock.git.hooks.stub import provenance
from gitlock.git.process import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.hooks.looking import Hook
    from gitlock.git.repository import Repository

_FILE = 'alias.gitlock-rehearsal=!f() { cd "$1" && shift && exec "$@"; }; f'

BY_GIT, ALONE = "git", "alone"


def run_ours(
    repository: "Repository", hook: "Hook", arguments: tuple[str, ...], environ: dict[str, str]
) -> tuple[str, str]:
    """How it was run (``git``: as git runs it; ``alone``: our part of a hook that runs others as well), and what it
    said on standard error."""
    git = Git(repository.require_top(), {**repository.git.environ, **environ})
    ours = hook.ours or ""
    if hook.state == "configured" and ours == configured.stub_path(repository.common_dir, hook.name):
        only = _only(git, hook.name, {configured.PREFIX + hook.name})
        return BY_GIT, _by_git(only, hook, arguments, os.devnull)
    if provenance(read_script(ours)) != "pristine":
        # Somebody's line asks us: as it does, by the name on the PATH.
        return ALONE, _by_file(git, repository, "git-lock", ("hook", hook.name, *arguments))
    if ours != hook.path:
        return ALONE, _by_file(git, repository, ours, arguments)
    if git.try_run("hook")[0] == 129:  # it knows the command, and misses its words
        return BY_GIT, _by_git(_only(git, hook.name, set()), hook, arguments, None)
    return BY_GIT, _by_file(git, repository, ours, arguments)


def _by_git(git: Git, hook: "Hook", arguments: tuple[str, ...], folder: str | None) -> str:
    place = ("-c", f"core.hooksPath={folder}") if folder is not None else ()
    return git.try_run(*place, "hook", "run", hook.name, "--", *arguments)[2]


def _by_file(git: Git, repository: "Repository", path: str, arguments: tuple[str, ...]) -> str:
    """As git starts a hook: at the top, and in a linked worktree with ``GIT_DIR`` set."""
    told = {"GIT_DIR": repository.git_dir} if repository.linked else {}
    there = Git(git.folder, {**git.environ, **told})
    return there.try_run("-c", _FILE, "gitlock-rehearsal", repository.require_top(), path, *arguments)[2]


def _only(git: Git, hook: str, kept: set[str]) -> Git:
    """A git that leaves out every configured hook but these: an empty event takes all of a hook's events back."""
    status, out, _ = git.try_run("hook", "list", hook)
    if status not in (0, 1):
        return git
    names = [name.rpartition("\t")[2] for name in os.fsdecode(out).split("\n")[:-1]]
    others = [name for name in names if name not in kept and name != "hook from hookdir"]
    count = git.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    environ = dict(git.environ)
    for number, name in enumerate(others, first):
        environ[f"GIT_CONFIG_KEY_{number}"] = f"hook.{name}.event"
        environ[f"GIT_CONFIG_VALUE_{number}"] = ""
    environ["GIT_CONFIG_COUNT"] = str(first + len(others))
    return Git(git.folder, environ)
