"""A gate that could not check: its own answer, never "clear" and never "violation"."""

import os

from gitlock.domain.policy import ENFORCE, MODES, OFF
from gitlock.domain.signing import rendered
from gitlock.domain.snapshot import Event
from gitlock.entrypoints.hooks import GATES
from gitlock.entrypoints.hooks.marker import mark_judged, note_passed
from gitlock.entrypoints.hooks.voice import say
from gitlock.entrypoints.hooks.ways import ways_out
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError
from gitlock.git.operation import Operation, operation
from gitlock.git.process import Git
from gitlock.git.repository import repository_in_hook
from gitlock.wiring.policies import last_known_mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting

UNCHECKED = 20

# What is said, in one line, where a hook that refuses nothing can't do its work; the others are silent then.
DONE = {
    "commit-msg": "the commit goes on without receipts in its message",
    "post-commit": "the commit is made; afterwards",
    "post-checkout": "the checkout is done; afterwards",
    "post-merge": "the merge is done; afterwards",
}


def could_not_check(
    hook: str, environ: dict[str, str], folder: str, setting: "Setting | None", error: GitlockError
) -> int:
    """Where not even the policy could be read: the last mode known to this clone decides, else ``enforce``."""
    git = Git(None, environ)
    git_dir, mode = None, ENFORCE
    try:
        repository = repository_in_hook(git, environ, folder)
        git_dir = repository.git_dir
        mode = last_known_mode(os.path.join(repository.common_dir, "agentlocks"))
        own = git.line("config", "--get", "gitlock.mode")
        mode = own if own in MODES else mode
    except GitlockError:
        pass
    return _answer(hook, mode, environ, git_dir, setting, error, closed=True)


def store_in_doubt(hook: str, setting: "Setting", error: GitlockError) -> int:
    """Where the policy is known, and what is held or changed is not."""
    policy = setting.policy
    try:
        mode = policy.general_mode(setting.site.agent.kind)
    except GitlockError:
        mode = policy.general_mode("agent")
    closed = policy.on_error == "closed"
    return _answer(hook, mode, setting.environ, setting.repository.git_dir, setting, error, closed=closed)


def _answer(
    hook: str,
    mode: str,
    environ: dict[str, str],
    git_dir: str | None,
    setting: "Setting | None",
    error: GitlockError,
    *,
    closed: bool,
) -> int:
    if mode == OFF:
        return 0
    text = visible(error.message)
    if hook not in GATES:
        if hook in DONE:
            say(f"git-lock: {DONE[hook]}: {text}")
        return 0
    bypass = environ.get("GITLOCK_BYPASS", "").strip()
    if bypass or mode != ENFORCE or not closed:
        why = f"GITLOCK_BYPASS: {bypass}" if bypass else f"mode {mode}" if mode != ENFORCE else "on_error is open"
        say(f"git-lock: could not check, and goes on ({visible(why)}): {text}")
        _record(hook, environ, git_dir, setting, f"{why}: {error.message}", bypass)
        return 0
    say(f"git-lock: could not check, so this is refused: {text}")
    if error.hint:
        at_head = " (gates read it as of HEAD: to commit that, go on anyway)" if error.id == "bad-map-file" else ""
        say(f"hint: {visible(error.hint)}{at_head}")
    for line in ways_out(_doing(hook, git_dir)):
        say(f"hint: {line}")
    return UNCHECKED


def _doing(hook: str, git_dir: str | None) -> Operation:
    if hook == "pre-merge-commit":
        return Operation("merge", "git merge --abort")
    if hook == "pre-push":
        return Operation("push")
    try:
        return operation(git_dir) if git_dir is not None else Operation("none")
    except GitlockError:
        return Operation("none")


def _record(
    hook: str, environ: dict[str, str], git_dir: str | None, setting: "Setting | None", why: str, bypass: str
) -> None:
    """For history and the next gate, as far as that can be done; the hooks that follow have no more to say."""
    if git_dir is None:
        return
    agent = "somebody"
    try:
        if setting is not None:
            agent = setting.site.agent.id
            setting.receipt = rendered(agent, (), bypass or None)
            setting.site.store.note((Event("unchecked", agent, "", note=why),))
    except GitlockError:
        pass
    what = "pushed what" if hook == "pre-push" else "made a commit that"
    note_passed(git_dir, f"{agent} {what} could not be checked ({why})")
    if hook == "pre-push":
        return
    mark_judged(git_dir, environ, "clear", () if setting is None else setting.receipt)
