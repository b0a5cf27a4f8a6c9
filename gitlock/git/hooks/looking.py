"""What git would run in this worktree, and whether it asks us."""

import os

from gitlock.domain.value import Value
from gitlock.git.hooks.managers import Folder, find_folder, maker, read_script
from gitlock.git.hooks.stub import BEFORE, calls_us, provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

HOOKS = ("pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit")

_SAYS = {
    "absent": "is missing",
    "other": "is another program's",
    "not-executable": "is not executable",
    "broken": "can't be run",
}


class Hook(Value):
    """One hook as git would find it.

    ``state`` is ``ours``, ``ours-chained`` (the one from before runs after us), ``absent``, ``other``,
    ``not-executable`` (git passes over it) or ``broken`` (a link to nothing, a folder, an interpreter that is gone).
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
    """The hooks of one worktree. ``because`` is None where all of ours fire, else a sentence that says why not."""

    __slots__ = ("because", "folder", "hooks")

    def __init__(self, folder: Folder, hooks: tuple[Hook, ...], because: str | None) -> None:
        self.folder = folder
        self.hooks = hooks
        self.because = because

    @property
    def enforced(self) -> tuple[str, ...]:
        """The names of the hooks through which git asks us here."""
        return tuple(hook.name for hook in self.hooks if hook.fires)


def inspect(repository: "Repository") -> Installation:
    """What git would run in this very worktree. Reads only."""
    folder = find_folder(repository, HOOKS)
    hooks = tuple(look(folder, name) for name in HOOKS)
    silent = [hook for hook in hooks if not hook.fires]
    if not silent:
        because = None
    elif folder.because is not None:
        because = folder.because
    elif all(hook.state == "absent" for hook in hooks):
        because = "git lock install has not been run in this repository"
    else:
        because = ", ".join(f"{hook.name} {_SAYS[hook.state]}" for hook in silent)
    return Installation(folder, hooks, because)


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
