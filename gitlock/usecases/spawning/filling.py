"""The slow part of a new worktree, outside every lock: its files, somebody's post-checkout hook."""

import os

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, Interrupted
from gitlock.git.patient import LATE, STOPPED, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.patient import Worked
    from gitlock.git.process import Git
    from gitlock.usecases.spawning.ground import Ground

_NO_FILTERS = "GIT_CONFIG_COUNT"


class Filled(Value):
    """``warnings`` are sentences about what went wrong without being in the way."""

    __slots__ = ("warnings",)

    def __init__(self, warnings: tuple[str, ...] = ()) -> None:
        self.warnings = warnings


def check_out(ground: "Ground", path: str, base: str) -> Filled:
    """Writes the files of the branch, and runs post-checkout as ``git worktree add`` would have.

    A filter that fails (LFS without its program) leaves the files as they are stored, with a warning; a hook that fails
    or hangs changes nothing about the worktree, and is a warning too. An error where git itself can't write the files.
    """
    git = ground.git.elsewhere(path)
    done = _reset(ground, git, git.environ)
    warnings: tuple[str, ...] = ()
    if not done.is_fine and "filter" in done.said and done.why not in (LATE, STOPPED):
        environ = _without_filters(git)
        if environ is not None:
            again = _reset(ground, git, environ)
            if again.is_fine:
                warnings = (
                    f"a filter failed ({done.last_words}): the files that it is for are as they are stored",
                )
                done = again
    _require_done(ground, done, path)
    return Filled((*warnings, *_post_checkout(ground, path, base)))


def _reset(ground: "Ground", git: "Git", environ: dict[str, str]) -> "Worked":
    return work(
        git, "-c", "submodule.recurse=false", "reset", "--hard", "--quiet", "--no-recurse-submodules",
        deadline=ground.deadline, stop=ground.wants_to_stop, environ=environ,
    )  # fmt: skip


def _require_done(ground: "Ground", done: "Worked", path: str) -> None:
    if done.is_fine:
        return
    if done.why == STOPPED and ground.stop.number is not None:
        raise Interrupted(ground.stop.number)
    if done.why == LATE:
        raise GitlockError(
            f"the checkout in '{path}' was not done within {ground.deadline:g} s, and was stopped",
            hint="allow it more: --timeout 30m", id="checkout-late",
        )  # fmt: skip
    what = f"git can't check out '{path}': {done.last_words}"
    raise GitlockError(what, hint=f"df {word(path)}", id="checkout-failed")


def _without_filters(git: "Git") -> dict[str, str] | None:
    """An environment in which every filter that is set up does nothing; None where there is none."""
    wanted = r"^filter\..*\.(smudge|process|required)$"
    status, out, _ = git.try_run("config", "-z", "--name-only", "--get-regexp", wanted)
    names = dict.fromkeys(os.fsdecode(out).split("\0")[:-1]) if status == 0 else {}
    if not names:
        return None
    environ = dict(git.environ)
    first = int(environ.get(_NO_FILTERS, "0") or "0")
    for number, name in enumerate(names, first):
        environ[f"GIT_CONFIG_KEY_{number}"] = name
        environ[f"GIT_CONFIG_VALUE_{number}"] = "false" if name.endswith(".required") else ""
    environ[_NO_FILTERS] = str(first + len(names))
    return environ


def _post_checkout(ground: "Ground", path: str, base: str) -> tuple[str, ...]:
    done = work(
        ground.git.elsewhere(path), "hook", "run", "--ignore-missing", "post-checkout", "--", "0" * len(base), base,
        "1", deadline=ground.deadline, stop=ground.wants_to_stop, environ=dict(ground.environ),
    )  # fmt: skip
    if done.is_fine:
        return ()
    if done.why == STOPPED and ground.stop.number is not None:
        raise Interrupted(ground.stop.number)
    if done.why == LATE:
        return (f"the post-checkout hook was not done within {ground.deadline:g} s, and was stopped",)
    if "is not a git command" in done.said:
        return ("this git can't run post-checkout by itself (2.36 can): it was not run",)
    said = f": {done.last_words}" if done.last_words else ""
    return (f"the post-checkout hook failed ({done.status}){said}; the worktree is complete",)
