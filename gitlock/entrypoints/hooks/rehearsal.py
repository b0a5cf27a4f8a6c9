"""A hook that is only rehearsed: ``git lock doctor`` set ``GITLOCK_PROBE`` and looks whether git really asks us.

The folder that the variable names takes the place of the store and of the worktree's own git folder, so that nothing
is read or written which counts; the policy is the built-in one. The answer is always 23, and the stub's as well: for a
real commit it means no, so that nobody gets past a gate by setting the variable.
"""

import os

from gitlock.entrypoints.hooks.setting import Setting
from gitlock.errors import GitlockError
from gitlock.git.process import Git, Known
from gitlock.git.repository import repository_in_hook

FIRED = 23
PROBE = "GITLOCK_PROBE"
AGENT = "rehearsal"  # who seems to commit

_NO_MAP = Known(0, b"HEAD:.gitlock.toml missing\n:.gitlock.toml missing\n")


def rehearse(hook: str, environ: dict[str, str], folder: str) -> int:
    """Says that we were asked; for pre-commit, what we would have said to a commit of what another agent holds."""
    from gitlock.entrypoints.hooks.voice import say
    from gitlock.entrypoints.wording import visible

    place = environ[PROBE]
    said = "asked"
    try:
        real = repository_in_hook(Git(None, environ), environ, folder)
        if hook == "pre-commit" and os.path.isdir(os.path.join(place, "agentlocks")):
            said = str(_judged(hook, real.replace(git_dir=place, common_dir=place), environ))
    except (GitlockError, OSError) as error:
        said = f"broken: {error}"
    say(f"git-lock: rehearsal {visible(os.path.basename(place))} {hook} {visible(said)}")
    return FIRED


def _judged(hook: str, repository: object, environ: dict[str, str]) -> int:
    from gitlock.entrypoints.hooks.gate import judge
    from gitlock.git.repository import Repository

    assert isinstance(repository, Repository)
    dropped = ("GITLOCK_BYPASS", "GITLOCK_KIND", "GITLOCK_STORE", "GITLOCK_GIT_PID", "CI")
    kept = {name: value for name, value in environ.items() if name not in dropped}
    setting = Setting(repository, {**kept, "GITLOCK_AGENT": AGENT}, Known(1, b""), _NO_MAP)
    setting.settings = {**setting.settings, "gitlock.hooknotice": "false"}  # that is about the session around us
    return judge(hook, setting, None)
