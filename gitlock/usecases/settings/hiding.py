"""A person's own settings files in a worktree are nobody's work: they are kept out of ``git status``.

By two lines for each in ``info/exclude`` of the common git folder, which counts for every worktree of the clone and is
never committed. What git ignores anyway needs none. They are taken out byte for byte. The paths are those of
``gitlock.domain.programs``, none of which git would read as a pattern.
"""

import os

from gitlock.errors import UnsafeError
from gitlock.stores.files.setups import Hidden
from gitlock.usecases.settings.disk import Changed, read_settings, remove_settings, write_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_WHY = "# git-lock setup: settings of an agent program that are this clone's own"
TRIES = 5


def is_ignored(git: "Git", path: str) -> bool:
    """Whether git ignores an untracked path of its worktree already."""
    return git.try_run("check-ignore", "-q", "--", path)[0] == 0


def tracked(git: "Git", paths: "list[str]") -> set[str]:
    """Those of the paths that are part of the project there: in the index."""
    literal = [f":(top,literal){path}" for path in paths]
    return set(os.fsdecode(git.run("ls-files", "-z", "--full-name", "--", *literal)).split("\0")[:-1])


def hide(common_dir: str, path: str) -> "Hidden | None":
    """Makes git ignore the path in every worktree; what was added, for ``show``; None if it was there."""
    place = os.path.join(common_dir, "info", "exclude")
    for _ in range(TRIES):
        before = read_settings(place, common_dir)
        data = before.data or b""
        line = f"/{path}"
        if line.encode() in data.split(b"\n"):
            return None
        text = ("\n" if data and not data.endswith(b"\n") else "") + f"{_WHY}\n{line}\n"
        try:
            write_settings(place, before, data + text.encode(), common_dir)
        except Changed:
            continue
        return Hidden(text, made=before.data is None)
    raise UnsafeError(f"'{place}' is being written by others all the time", hint="run this again")


def show(common_dir: str, path: str, hidden: "Hidden | None") -> bool:
    """Takes that out again; where nothing is remembered, our two lines. Whether there was anything."""
    place = os.path.join(common_dir, "info", "exclude")
    for _ in range(TRIES):
        before = read_settings(place, common_dir)
        if before.data is None:
            return False
        after = _without(before.data, path, hidden.text if hidden is not None else "")
        try:
            if after == before.data:
                return False
            if after or hidden is None or not hidden.made:
                write_settings(place, before, after, common_dir)
            else:
                remove_settings(place, before, common_dir, (os.path.dirname(place),))
        except Changed:
            continue
        return True
    return False


def _without(data: bytes, path: str, text: str) -> bytes:
    if text and data.count(text.encode()) == 1:
        return data.replace(text.encode(), b"")
    ours = f"{_WHY}\n/{path}\n".encode()
    return data.replace(ours, b"")
