"""A gate that could not check: its own answer, never "clear" and never "violation"."""

import os

from gitlock.domain.policy import ENFORCE, MODES, OFF
from gitlock.entrypoints.hooks.main import say
from gitlock.entrypoints.wording import visible, word
from gitlock.errors import GitlockError
from gitlock.git.process import Git
from gitlock.git.repository import repository_in_hook
from gitlock.wiring.policies import last_known_mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting

UNCHECKED = 20


def could_not_check(hook: str, environ: dict[str, str], folder: str, error: GitlockError) -> int:
    """Where not even the policy could be read: the last mode known to this clone decides, else ``enforce``."""
    git = Git(None, environ)
    try:
        store = os.path.join(repository_in_hook(git, environ, folder).common_dir, "agentlocks")
        mode = last_known_mode(store)
    except GitlockError:
        mode = ENFORCE
    try:
        own = git.line("config", "--get", "gitlock.mode")
    except GitlockError:
        own = None
    return _answer(hook, own if own in MODES else mode, environ, error, closed=True)


def store_in_doubt(hook: str, setting: "Setting", error: GitlockError) -> int:
    """Where the policy is known and the store is not."""
    policy = setting.policy
    mode = policy.general_mode(setting.site.agent.kind)
    return _answer(hook, mode, setting.environ, error, closed=policy.on_error == "closed")


def _answer(hook: str, mode: str, environ: dict[str, str], error: GitlockError, *, closed: bool) -> int:
    if mode == OFF:
        return 0
    text = visible(error.message)
    bypass = environ.get("GITLOCK_BYPASS", "").strip()
    if hook == "post-commit" or mode != ENFORCE or not closed or bypass:
        why = (
            f"GITLOCK_BYPASS: {visible(bypass)}"
            if bypass
            else f"mode {mode}"
            if mode != ENFORCE
            else "on_error is open"
        )
        say(f"git-lock: could not check, and goes on ({why}): {text}")
        return 0
    say(f"git-lock: could not check, so the commit is refused: {text}")
    if error.hint:
        say(f"hint: {visible(error.hint)}")
    say(f"hint: to go on unchecked (it is recorded): GITLOCK_BYPASS={word('why')} git commit ...")
    return UNCHECKED
