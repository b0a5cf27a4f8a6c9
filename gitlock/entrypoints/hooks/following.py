"""post-checkout, post-merge, post-rewrite: git has done its work. The beat, presence, and a word of warning.

Nothing here fails what was done: git would end with our code, and whoever called it would think that it failed. A store
or a map file that can't be read costs one line.
"""

from gitlock.errors import GitlockError
from gitlock.git.operation import is_in_between
from gitlock.git.repository import current_branch
from gitlock.usecases.renew import pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.snapshot import Snapshot
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.usecases.arriving import Arrival, Look


def after(hook: str, setting: "Setting", words: list[str]) -> int:
    """One of these hooks, with git's arguments. Always 0."""
    if not setting.managed or (hook == "post-checkout" and not _is_switch(words)):
        return 0
    try:
        site = setting.site
        if setting.policy.general_mode(site.agent.kind) == "off":
            return 0
        snapshot = pulse(site.store, site.agent.id, site.seat_of).snapshot
        branch = current_branch(setting.repository.git_dir)
        in_between = is_in_between(setting.repository.git_dir, branch)
        if branch is not None or not in_between:
            _be_present(setting, branch)
        if in_between:
            return 0
        if site.follows_branches:
            from gitlock.usecases.following import follow

            follow(site.store, setting.repository.git, site.publications)
        if hook == "post-checkout":
            found = _look(setting, snapshot).after_switch(words[0], words[1], branch)
            _warn(setting, snapshot, found, branch, "this switch")
        elif hook == "post-merge" and words[:1] == ["0"]:  # a squash merge is no commit yet: the gate will see it
            old = setting.repository.git.line("rev-parse", "-q", "--verify", "ORIG_HEAD^{commit}")
            if old is not None:
                found = _look(setting, snapshot).after_merge(old, "HEAD", branch)
                _warn(setting, snapshot, found, branch, "this merge")
    except GitlockError as error:
        from gitlock.entrypoints.hooks.doubt import could_not_check

        return could_not_check(hook, setting.environ, setting.repository.require_top(), setting, error)
    except OSError:
        return 0
    return 0


def _is_switch(words: list[str]) -> bool:
    """Not files that were checked out, nor a worktree or a clone that was just made: all of it is new there."""
    return len(words) >= 3 and words[2] == "1" and bool(words[0].strip("0"))


def _be_present(setting: "Setting", branch: str | None) -> None:
    from gitlock.usecases.presence import touch_session

    touch_session(setting.site, branch=branch)


def _look(setting: "Setting", snapshot: "Snapshot") -> "Look":
    from gitlock.usecases.arriving import Look

    site = setting.site
    return Look(setting.repository.git, snapshot, site.agent, setting.policy, site.fold, site.facts)


def _warn(setting: "Setting", snapshot: "Snapshot", found: "Arrival", branch: str | None, what: str) -> None:
    if found.changed or found.brought:
        from gitlock.entrypoints.hooks.saying import say_arrival

        say_arrival(setting, snapshot.now, found, branch, what)
