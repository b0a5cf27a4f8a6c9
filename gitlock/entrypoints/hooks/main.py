"""``git-lock hook NAME ARGS…``: one gate or one beat, and an exit code that the stub understands.

0: go on. 22: a violation. 20: could not check, and the policy is to stop then. Anything else means that we broke.
Only gates answer with anything but 0. Everything is written to standard error; standard input is read for a push alone.
"""

import os
import sys

from gitlock.entrypoints.hooks import COMMITS, HOOKS
from gitlock.entrypoints.hooks.answers import ASKED, Answers, read_answers, read_input
from gitlock.git.config import WANTED, start_config
from gitlock.git.process import Git
from gitlock.git.repository import repository_in_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.bundle import Bundle
    from gitlock.entrypoints.hooks.setting import Setting
    from gitlock.git.process import Child


def main(words: list[str], bundle: "Bundle | None" = None) -> None:
    """Runs one hook and ends the process."""
    try:
        code = run(words, bundle)
    except KeyboardInterrupt:
        code = 130
    sys.stderr.flush()
    os._exit(code)  # nothing is left to tidy up, and tearing the interpreter down takes longer than the check


def run(words: list[str], bundle: "Bundle | None" = None) -> int:
    """Runs one hook and returns its code."""
    asked = words[:1] == [ASKED]
    if asked:
        wanted, words = words[1:2], words[2:]
    names = [text for text in words if text != "--framework"]
    if not names or names[0] not in HOOKS:
        from gitlock.entrypoints.hooks.voice import say
        from gitlock.entrypoints.wording import visible

        say(f"git-lock: there is no hook '{visible(names[0]) if names else ''}': it is one of {', '.join(HOOKS)}")
        return 2
    hook = names[0]
    environ = dict(os.environ)
    folder = os.getcwd()
    git = Git(None, environ)
    from gitlock.errors import GitlockError

    setting = None
    if environ.get("GITLOCK_PROBE"):
        from gitlock.entrypoints.hooks.rehearsal import rehearse

        return rehearse(hook, environ, folder)
    if "GITLOCK_GIT_PID" not in environ and _comes_after(hook, environ, folder):
        return 0
    try:
        known = read_answers(hook) if asked else Answers()
        if asked and wanted != [WANTED]:
            known = Answers(pushed=known.pushed)
        repository = repository_in_hook(git, environ, folder)
        if hook == "pre-commit" and known.staged is not None:
            from gitlock.entrypoints.hooks.plain import is_clear

            if is_clear(repository, environ, known):
                return 0
        # Git answers while Python goes on importing.
        config = known.config or start_config(git)
        if bundle is not None:
            bundle.load("judge")
        from gitlock.entrypoints.hooks.setting import Setting, start_map_file

        map_file = known.map_file or start_map_file(git)
        changes: Child | None = known.staged
        if hook == "pre-commit" and changes is None:
            from gitlock.git.changes import start_staged

            changes = start_staged(git)
        setting = Setting(repository, environ, config, map_file)
        if hook in COMMITS:
            from gitlock.entrypoints.hooks.gate import judge

            code = judge(hook, setting, changes)
            if hook == "prepare-commit-msg" and code == 0 and names[1:] and setting.managed:
                from gitlock.entrypoints.hooks.message import before_message

                before_message(setting, names[1], names[2:4])
            return code
        return _other(hook, setting, names[1:], known, framework="--framework" in words)
    except GitlockError as error:
        from gitlock.entrypoints.hooks.doubt import could_not_check

        return could_not_check(hook, environ, folder, setting, error)


def _other(hook: str, setting: "Setting", words: list[str], known: Answers, *, framework: bool) -> int:
    """The hooks that are not about what a commit changes: each loads its own module."""
    if framework:
        from gitlock.entrypoints.hooks.framework import arguments

        words = words or arguments(hook, setting.environ)
    if hook == "commit-msg":
        from gitlock.entrypoints.hooks.message import after_message

        return after_message(setting, words[0]) if words else 0
    if hook == "pre-push":
        from gitlock.entrypoints.hooks.pushing import before_push

        name, url = (*words, "", "")[:2]
        lines = known.pushed
        if framework:
            from gitlock.entrypoints.hooks.framework import pushed

            lines = pushed(setting.repository.git, setting.environ)
        return before_push(setting, name, url, read_input() if lines is None else lines)
    if hook == "post-commit":
        from gitlock.entrypoints.hooks.beat import after_commit

        return after_commit(setting)
    from gitlock.entrypoints.hooks.following import after

    return after(hook, setting, words)


def _comes_after(hook: str, environ: dict[str, str], folder: str) -> bool:
    """A hook manager calls us: for a hook that this git process has asked us about before, there is nothing to do."""
    from gitlock.entrypoints.hooks.asked import git_above, was_asked
    from gitlock.errors import GitlockError

    pid = git_above()
    if pid:
        environ["GITLOCK_GIT_PID"] = pid
    try:
        return was_asked(hook, environ, folder)
    except GitlockError:
        return False  # whatever is wrong here, the check itself will say
