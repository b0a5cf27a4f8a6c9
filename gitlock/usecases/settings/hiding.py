"""A person's own settings files in a worktree are nobody's work: they are kept out of ``git status``.

By a line for each, below one comment, in ``info/exclude`` of the common git folder, which counts for every worktree of
the clone and is never committed. What git ignores anyway needs none. They are taken out byte for byte, in any order;
older versions have written the comment above each of them. The paths are those of
``gitlock.domain.programs``, none of which git would read as a pattern.
"""

import os
import stat

from gitlock.domain.programs import PROGRAMS
from gitlock.errors import UnsafeError
from gitlock.stores.files.setups import Hidden
from gitlock.usecases.settings.disk import Changed, Refused, read_settings, remove_settings, write_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_WHY = b"# git-lock setup: settings of an agent program that are this clone's own\n"
TRIES = 5


def is_ignored(git: "Git", path: str) -> bool:
    """Whether git ignores an untracked path of its worktree already."""
    return git.try_run("check-ignore", "-q", "--", path)[0] == 0


def tracked(git: "Git", paths: "list[str]") -> set[str]:
    """Those of the paths that are part of the project there: in the index."""
    literal = [f":(top,literal){path}" for path in paths]
    return set(os.fsdecode(git.run("ls-files", "-z", "--full-name", "--", *literal)).split("\0")[:-1])


def hide(common_dir: str, path: str, program: str) -> "Hidden | None":
    """Makes git ignore the path in every worktree; what was added, for ``show``; None if it was there."""
    place, root = _place(common_dir, program)
    for _ in range(TRIES):
        before = read_settings(place, root)
        data = before.data or b""
        line = f"/{path}\n".encode()
        if line[:-1] in data.split(b"\n"):
            return None
        after, text = _with(data, line)
        try:
            write_settings(place, before, after, root)
        except Changed:
            continue
        return Hidden(text.decode(), made=before.data is None)
    raise UnsafeError(f"'{place}' is being written by others all the time", hint="run this again")


def show(common_dir: str, path: str, hidden: "Hidden | None", program: str) -> bool:
    """Takes that out again, and our comment with the last line of it. Whether there was anything."""
    try:
        place, root = _place(common_dir, program)
    except Refused:
        if hidden is not None:
            raise
        return False  # we have never written there
    for _ in range(TRIES):
        before = read_settings(place, root)
        if before.data is None:
            return False
        after = _without(before.data, f"/{path}\n".encode(), hidden)
        try:
            if after == before.data:
                return False
            if after or hidden is None or not hidden.made:
                write_settings(place, before, after, root)
            else:
                remove_settings(place, before, root, (os.path.dirname(place),))
        except Changed:
            continue
        return True
    return False


def left_to(hidden: "Hidden", rest: "Hidden") -> "Hidden":
    """What is remembered of one that goes, and has to be known when the ``rest`` goes: that the file was made by us,
    that it did not end with the end of a line."""
    lacks_end = hidden.text.startswith("\n") and not rest.text.startswith("\n")
    return rest.replace(made=rest.made or hidden.made, text="\n" + rest.text if lacks_end else rest.text)


def _place(common_dir: str, program: str) -> tuple[str, str]:
    """The list's file, and the folder below which no link is followed. What git itself follows in its own folder is
    followed, as tools that share parts of it make such links: to a file that is there, of whoever owns that folder."""
    place = os.path.join(common_dir, "info", "exclude")
    linked = next((one for one in (os.path.dirname(place), place) if os.path.islink(one)), None)
    if linked is None:
        return place, common_dir
    real = os.path.realpath(place)
    try:
        found = os.stat(real)
    except OSError:
        found = None
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_uid != os.stat(common_dir).st_uid:
        what = "no plain file" if found is None or not stat.S_ISREG(found.st_mode) else "another user's file"
        raise Refused(
            place, f"is {what} behind the link '{linked}', so the settings can't be kept from git",
            hint=f"git lock setup {program} --user (for you, in every repository)", id="settings-link",
        )  # fmt: skip
    return real, os.path.dirname(real)


def _ours(rows: list[bytes]) -> list[int]:
    """Which lines stand below our comment."""
    known = _lines()
    found, is_below = [], False
    for at, row in enumerate(rows):
        is_below = row == _WHY or (is_below and row in known)
        if is_below and row != _WHY:
            found.append(at)
    return found


def _with(data: bytes, line: bytes) -> tuple[bytes, bytes]:
    """With the line below our comment, and what was added."""
    rows = data.splitlines(keepends=True)
    ours = _ours(rows)
    if ours:
        at = ours[-1] + 1
        return b"".join((*rows[:at], line, *rows[at:])), line
    text = (b"\n" if data and not data.endswith(b"\n") else b"") + _WHY + line
    return data + text, text


def _without(data: bytes, line: bytes, hidden: "Hidden | None") -> bytes:
    """Without the line below our comment (or wherever somebody has moved it, if it is remembered), and without a
    comment of ours that has no line any more."""
    rows = data.splitlines(keepends=True)
    ours = _ours(rows)
    gone = [at for at in ours if rows[at] == line]
    if not gone and hidden is not None:
        gone = [at for at, row in enumerate(rows) if row == line][:1]
    bare = [at - 1 for at in gone if at and rows[at - 1] == _WHY and at + 1 not in ours]
    left = b"".join(row for at, row in enumerate(rows) if at not in gone and at not in bare)
    ended = hidden is not None and hidden.text.startswith("\n") and len(rows) - 2 in bare
    return left.removesuffix(b"\n") if ended else left


def _lines() -> frozenset[bytes]:
    """All that a line of ours may be."""
    places = (place for one in PROGRAMS.values() for place in (one.private, one.project) if place is not None)
    return frozenset(f"/{place.path}\n".encode() for place in places)
