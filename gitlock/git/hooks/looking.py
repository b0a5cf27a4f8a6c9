"""What git would run in this worktree, and whether it asks us."""

import os

from gitlock.domain.value import Value
from gitlock.git.hooks import configured
from gitlock.git.hooks.managers import Folder, find_folder, maker, read_script
from gitlock.git.hooks.native import asked_by
from gitlock.git.hooks.stub import BEFORE, GATES, calls_us, provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

HOOKS = (
    "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge",
    "post-rewrite", "pre-push",
)  # fmt: skip

_SAYS = {
    "absent": "is missing",
    "other": "is another program's",
    "not-executable": "is not executable",
    "broken": "can't be run",
}
_ADVICE = {
    "own": "git lock install",
    "husky": "git lock install --print husky --write",
    "lefthook": "git lock install --print lefthook --write",
    "overcommit": "git lock install --print overcommit --write",
    "tracked": "git lock install --print hooks-path --write",
}


class Hook(Value):
    """One hook as git would find it.

    ``state`` is ``ours``, ``ours-chained`` (the one from before runs after us), ``configured`` (git's configuration
    asks us), ``managed`` (a manager's configuration does), ``absent``, ``other``, ``not-executable`` (git passes over
    it) or ``broken`` (a link to nothing, a folder, an interpreter that is gone).
    ``ours`` is the file that asks us: not ``path`` where a manager's hook runs it, as the pre-commit framework does.
    """

    __slots__ = ("name", "ours", "path", "state")

    def __init__(self, name: str, path: str, state: str, ours: str | None = None) -> None:
        self.name = name
        self.path = path
        self.state = state
        self.ours = ours

    @property
    def fires(self) -> bool:
        """Whether git asks us through it."""
        return self.ours is not None


class Installation(Value):
    """The hooks of one worktree. ``because`` is None where all gates fire, else a sentence that says why not.
    ``advice`` is the command that changes it, or that makes the ``silent`` fire: those of ours that refuse nothing
    (they renew, tell, add receipts) and that git does not run here."""

    __slots__ = ("advice", "because", "folder", "hooks")

    def __init__(self, folder: Folder, hooks: tuple[Hook, ...], because: str | None, advice: str | None = None) -> None:
        self.folder = folder
        self.hooks = hooks
        self.because = because
        self.advice = advice

    @property
    def enforced(self) -> tuple[str, ...]:
        """The gates through which git asks us here."""
        return tuple(hook.name for hook in self.hooks if hook.fires and hook.name in GATES)

    @property
    def silent(self) -> tuple[str, ...]:
        """The other hooks of ours that git does not run here."""
        return tuple(hook.name for hook in self.hooks if not hook.fires and hook.name not in GATES)


def inspect(repository: "Repository") -> Installation:
    """What the git that we call would run in this very worktree. Reads only."""
    folder = find_folder(repository, HOOKS)
    modern = configured.understands(repository.git)
    asked = configured.configured(repository.git, repository.common_dir, HOOKS) if modern else {}
    hooks = tuple(
        Hook(name, os.path.join(folder.path, name), "configured", asked[name]) if name in asked else seen(folder, name)
        for name in HOOKS
    )
    silent = [hook for hook in hooks if not hook.fires]
    if not silent:
        return Installation(folder, hooks, None)
    gates = [hook for hook in silent if hook.name in GATES]
    because: str | None = None
    if gates and folder.because is not None:
        because = folder.because
    elif all(hook.state == "absent" for hook in hooks):
        because = "git lock install has not been run in this repository"
    elif gates:
        because = ", ".join(f"{hook.name} {_SAYS[hook.state]}" for hook in gates)
    advice = "git lock install" if modern else _ADVICE.get(folder.kind, folder.advice)
    return Installation(folder, hooks, because, advice)


def seen(folder: Folder, name: str) -> Hook:
    """One hook of this folder, and what a hook manager's own configuration makes of it."""
    hook = look(folder, name)
    if hook.state == "other" and folder.top is not None:
        manager = maker(read_script(hook.path)) or folder.kind
        asks = asked_by(manager, folder.top, name)
        if asks is not None:
            return Hook(name, hook.path, "managed", asks)
    return hook


def look(folder: Folder, name: str) -> Hook:
    """One hook of this folder."""
    path = os.path.join(folder.path, name)
    if not os.path.lexists(path):
        return Hook(name, path, "absent")
    if not os.path.isfile(path):
        return Hook(name, path, "broken")
    if not os.access(path, os.X_OK):
        return Hook(name, path, "not-executable")
    script = read_script(path)
    if provenance(script) == "pristine":
        return Hook(name, path, _ours(folder.path, name), path)
    if _has_no_interpreter(script):
        return Hook(name, path, "broken")
    if calls_us(script, name):
        return Hook(name, path, "ours", path)
    inner = _run_by(path, script, folder)
    if inner and provenance(read_script(inner)) == "pristine":
        return Hook(name, path, _ours(folder.path, name), inner)
    if inner and calls_us(read_script(inner), name):
        return Hook(name, path, "ours", inner)
    return Hook(name, path, "other")


def _run_by(path: str, script: bytes, folder: Folder) -> str | None:
    """The file that a manager's hook runs in its turn: the one that was there before it, or the project's own."""
    if maker(script) == "pre-commit":
        legacy = f"{path}.legacy"
        return legacy if os.access(legacy, os.X_OK) else None
    if folder.kind == "husky" and os.path.basename(folder.path) == "_":
        return os.path.join(os.path.dirname(folder.path), os.path.basename(path))
    return None


def _ours(folder: str, name: str) -> str:
    before = os.path.join(folder, name + BEFORE)
    return "ours-chained" if os.path.isfile(before) and os.access(before, os.X_OK) else "ours"


def _has_no_interpreter(script: bytes) -> bool:
    """Git says "cannot run … No such file" and stops the commit; a carriage return in the first line does the same."""
    first = script.split(b"\n", 1)[0]
    words = first[2:].split(maxsplit=1)
    if first[:2] != b"#!" or not words:
        return False
    return first.endswith(b"\r") or not os.path.exists(words[0])
