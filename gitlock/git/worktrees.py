"""Linked worktrees as git registers them: ``worktrees/<name>`` in the common git folder, one entry each.

Entries are read without asking git, which can't be stopped from passing over half of one, and removed one by one, by
name: git's own clean-up takes away everybody's whose folder is not there at this moment.
"""

import os
import stat

from gitlock.domain.value import Value
from gitlock.errors import GitlockError, UnsafeError
from gitlock.git.badge import read_badge
from gitlock.git.repository import read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.git.patient import Worked
    from gitlock.git.process import Git

MANY = 5000  # names of a folder that are looked at
OWN = "git-lock:"  # how the reason of a lock of ours begins; the rest is for people, and holds the worktree's id

# What a user's configuration must not make of a worktree of ours: a link that other gits and libraries can't read
# (it would be written into the configuration that all share).
PLAIN = ("-c", "worktree.useRelativePaths=false", "-c", "submodule.recurse=false")


class Entry(Value):
    """What git has registered: ``admin`` is its folder in the common git folder, ``path`` the worktree's (as it was
    last known), ``reason`` what its lock says (None: not locked, empty: no reason), ``badge`` id and agent where it was
    made for one."""

    __slots__ = ("admin", "badge", "path", "reason")

    def __init__(self, admin: str, path: str | None, reason: str | None, badge: tuple[str, str] | None) -> None:
        self.admin = admin
        self.path = path
        self.reason = reason
        self.badge = badge

    @property
    def name(self) -> str:
        """What git calls it; used again once it is gone."""
        return os.path.basename(self.admin)

    @property
    def id(self) -> str | None:
        """The id of the record that it belongs to: by its badge, or, where it was not finished, by its lock."""
        return self.badge[0] if self.badge is not None else id_in(self.reason)

    @property
    def is_there(self) -> bool:
        """Whether its folder is there, and is this worktree's: both name each other."""
        return self.path is not None and points_to(self.path) == os.path.realpath(self.admin)

    @property
    def has_index(self) -> bool:
        """Whether files were ever checked out."""
        return os.path.isfile(os.path.join(self.admin, "index"))


def lock_reason(id: str, agent: str) -> str:
    """What git says to whoever wants to remove or prune it."""
    return f"{OWN} worktree of {agent} (id {id}); to remove it: git lock retire {agent}"


def id_in(reason: str | None) -> str | None:
    """The id in a lock's reason, if it is one of ours."""
    if reason is None or not reason.startswith(OWN):
        return None
    found = reason.partition("(id ")[2].partition(")")[0]
    return found if found.isalnum() else None


def entries(common_dir: str) -> list[Entry]:
    """Every entry, half made ones included; by name."""
    folder = os.path.join(common_dir, "worktrees")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [one for name in names if (one := read_entry(os.path.join(folder, name))) is not None]


def read_entry(admin: str) -> Entry | None:
    """One entry; None for what is no folder."""
    if not os.path.isdir(admin) or os.path.islink(admin):
        return None
    link = read_small(os.path.join(admin, "gitdir"))
    path = os.path.dirname(os.path.join(admin, link.rstrip("\n"))) if link else None
    reason = read_small(os.path.join(admin, "locked"))
    return Entry(
        admin, os.path.normpath(path) if path else None, None if reason is None else reason.rstrip("\n"),
        read_badge(admin),
    )  # fmt: skip


def entry_of(common_dir: str, id: str) -> Entry | None:
    """The entry of a record, wherever its folder has been moved since."""
    return next((one for one in entries(common_dir) if one.id == id), None)


def points_to(path: str) -> str | None:
    """The entry that a worktree's folder names in its ``.git`` file; None where there is no such file."""
    file = os.path.join(path, ".git")
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return None
    except OSError:
        return None
    text = read_small(file)
    if text is None or not text.startswith("gitdir: "):
        return None
    return os.path.realpath(os.path.join(path, text[8:].rstrip("\n")))


def add(
    git: "Git", path: str, branch: str, reason: str, *, deadline: float, stop: "Callable[[], bool]"
) -> "Worked":
    """Registers a worktree with nothing checked out, locked from its first moment on. The branch must be there."""
    from gitlock.git.patient import work

    return work(
        git, *PLAIN, "worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", reason, "--", path, branch,
        deadline=deadline, stop=stop,
    )  # fmt: skip


def keep_name(common_dir: str, name: str) -> "Callable[[], None]":
    """Keeps git from giving this name to the next entry, until what is returned is called: a worktree's folder that
    was moved away by hand may still go by it, and both would share one index and one HEAD."""
    place = os.path.join(common_dir, "worktrees", name)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.mkdir(place)
    except OSError:
        return lambda: None  # it is taken

    def give_back() -> None:
        try:
            os.rmdir(place)
        except OSError:
            return

    return give_back


def moved_to(entry: Entry, folders: "Iterable[str]") -> str | None:
    """Where in one of these folders a worktree lies that still names this entry; None where none does."""
    admin = os.path.realpath(entry.admin)
    for folder in dict.fromkeys(folders):
        try:
            names = sorted(os.listdir(folder))[:MANY]
        except OSError:
            continue
        for name in names:
            place = os.path.join(folder, name)
            if points_to(place) == admin:
                return place
    return None


def require_made(common_dir: str, id: str, path: str, branch: str, said: str) -> Entry:
    """The entry as it was made, both ways and with its branch; an error with what git said where it was not."""
    entry = entry_of(common_dir, id)
    head = read_small(os.path.join(entry.admin, "HEAD")) if entry is not None else None
    fits = head is not None and head.rstrip("\n") in (f"ref: refs/heads/{branch}", "ref: refs/heads/.invalid")
    if entry is None or not entry.is_there or not fits or os.path.realpath(entry.path or "") != os.path.realpath(path):
        raise GitlockError(
            f"git made no worktree at '{path}': {said or 'it said nothing'}", hint="git worktree list", id="not-made"
        )
    return entry


def lock_entry(entry: Entry, reason: str) -> None:
    """Locks a registered worktree that is not locked, as git does."""
    fd = os.open(os.path.join(entry.admin, "locked"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        os.write(fd, (reason + "\n").encode())
    finally:
        os.close(fd)


def unlock_entry(entry: Entry) -> bool:
    """Takes a lock of ours away; anybody else's stays. Whether it did."""
    if id_in(entry.reason) is None:
        return False
    try:
        os.unlink(os.path.join(entry.admin, "locked"))
    except FileNotFoundError:
        return False
    return True


def require_outside(git: "Git", path: str, common_dir: str) -> None:
    """``UnsafeError`` where a worktree at ``path`` would lie inside a git folder, or inside another worktree that does
    not ignore it (by the common ``info/exclude``, where it is one of this repository): git would commit it there."""
    real = os.path.realpath(path)
    if (real + os.sep).startswith(os.path.realpath(common_dir) + os.sep):
        raise UnsafeError(f"'{path}' is inside git's own folder", hint="name another place: --path DIR", id="bad-place")
    above = os.path.dirname(real)
    while not os.path.lexists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return
        above = os.path.dirname(above)
    there = git.elsewhere(above)
    status, out, _ = there.try_run("rev-parse", "--path-format=absolute", "--git-common-dir", "--is-inside-work-tree")
    answers = os.fsdecode(out).split("\n")
    if status != 0 or len(answers) < 2 or answers[1] != "true":
        return
    below = os.path.relpath(real, above)
    asked = os.fsencode(below) + b"/inside\0"  # a folder's line covers what is in it, also before the folder is there
    status, out, _ = there.start("check-ignore", "-v", "-z", "--no-index", "--stdin", stdin=asked).finish()
    source = os.fsdecode(out).split("\0")[0] if status == 0 else None
    if os.path.realpath(answers[0]) != os.path.realpath(common_dir):
        if source is None:
            raise UnsafeError(
                f"'{path}' is inside another repository, '{above}', which does not ignore it",
                hint="name another place: --path DIR", id="inside-repository",
            )  # fmt: skip
        return
    exclude = os.path.join(common_dir, "info", "exclude")
    if source is None or os.path.realpath(os.path.join(above, source)) != os.path.realpath(exclude):
        line = "/" + below.partition(os.sep)[0] + "/"
        raise UnsafeError(
            f"'{path}' is inside the worktree '{above}', and '{exclude}' does not exclude it: it would be committed",
            hint=f"echo {_word(line)} >> {_word(exclude)}", id="inside-repository",
        )  # fmt: skip


def _word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
