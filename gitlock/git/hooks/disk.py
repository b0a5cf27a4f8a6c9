"""Files and folders of an installation: whole or not at all, and one installer at a time."""

import fcntl
import json
import os
import stat
import time

from gitlock.errors import GitlockError, RepositoryError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypedDict

    class Addition(TypedDict):
        """Lines that we have added to one file, and whether we have made it."""

        made: bool
        texts: list[str]

FRESH = ".git-lock-new"  # ends the name of a file that is being written, or is about to get its name

_RECORD = "hooks.json"
_MOST = 1 << 18  # no record is longer
_PATIENCE = 200  # times 50 ms; another install or uninstall takes milliseconds


class Guard:
    """One install or uninstall of a repository at a time, over all its worktrees: a lock on the common git folder."""

    def __init__(self, common_dir: str) -> None:
        self._common_dir = common_dir
        self._fd = -1

    def __enter__(self) -> None:
        self._fd = os.open(self._common_dir, os.O_RDONLY | os.O_DIRECTORY)
        for _ in range(_PATIENCE):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # a file system that locks no folders: the order of the renames is what protects
                return
        os.close(self._fd)
        raise RepositoryError("another git lock install or uninstall is at work in this repository", id="install-busy")

    def __exit__(self, *_: "type[BaseException] | BaseException | TracebackType | None") -> None:
        os.close(self._fd)


class Record:
    """What was installed, for ``uninstall`` and for people: where, and with which SHA-256.

    Nothing rests on it but the memory of folders that git no longer looks at: a stub is known by itself.
    """

    def __init__(self, store: str) -> None:
        self._path = os.path.join(store, _RECORD)
        found = _read(self._path)
        self.made = _texts(found.get("made"))  # hooks folders that were not there before us
        self.added = _additions(found.get("added"))  # lines in files of hook managers, word for word
        stubs = found.get("stubs")
        self.stubs = stubs if isinstance(stubs, dict) and _texts(list(stubs.values())) == list(stubs.values()) else {}

    @property
    def folders(self) -> list[str]:
        """The hooks folders that we have written to."""
        return [os.path.dirname(path) for path in self.stubs]

    def write(self, mode: int) -> None:
        """Puts it on the disk, unless that is what is there."""
        document = {"version": 1, "made": self.made, "stubs": self.stubs}
        if self.added:
            document["added"] = self.added
        data = json.dumps(document, indent=1).encode() + b"\n"
        if _read(self._path) != document:
            write_fresh(self._path, data, mode)
            os.rename(self._path + FRESH, self._path)

    def remove(self) -> None:
        """There is nothing left to be remembered."""
        unlink(self._path)


def _read(path: str) -> dict[str, object]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would make us wait
        with os.fdopen(fd, "rb") as file:
            found = json.loads(file.read(_MOST) or b"")
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _additions(found: object) -> "dict[str, Addition]":
    if not isinstance(found, dict):
        return {}
    return {
        path: {"made": entry.get("made") is True, "texts": _texts(entry.get("texts"))}
        for path, entry in found.items()
        if isinstance(path, str) and isinstance(entry, dict)
    }


def _texts(found: object) -> list[str]:
    return found if isinstance(found, list) and all(isinstance(text, str) for text in found) else []


def write_fresh(path: str, data: bytes, mode: int) -> None:
    """Writes a complete file, on the disk for good, under the fresh name of ``path``."""
    fresh = path + FRESH
    unlink(fresh)
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)  # whatever the umask says
            os.fsync(fd)
        give_to_owner(fresh)
    except BaseException:
        unlink(fresh)
        raise


def give_to_owner(path: str) -> None:
    """What root makes in somebody's repository is to be theirs, or they could not go on (stores do the same)."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = os.stat(os.path.dirname(path))
        if owner.st_uid != 0:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def unlink(path: str) -> None:
    """Takes a file away if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def is_there(path: str) -> bool:
    """Whether something has this name, for whoever would put something else there: a disk that does not tell is an
    ``OSError``, where ``os.path.lexists`` says no."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def is_folder(path: str) -> bool:
    """Whether a folder is there, links followed; as ``is_there``, doubt is no "no"."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def remove_if_empty(folder: str) -> None:
    """Takes a folder away unless something is in it."""
    try:
        os.rmdir(folder)
    except OSError:
        pass


def own_as(path: str, model: str) -> None:
    """What root makes in somebody's repository belongs to that somebody, or they could not take it away again."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = os.stat(model)
        if owner.st_uid != 0:
            os.chown(path, owner.st_uid, owner.st_gid)


def sync_folder(folder: str) -> None:
    """Names that were given in this folder last over a power loss."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def has_same_content(one: str, other: str) -> bool:
    """Whether both are links to the same text, or files with the same bytes."""
    first, second = os.lstat(one), os.lstat(other)
    if stat.S_IFMT(first.st_mode) != stat.S_IFMT(second.st_mode):
        return False
    if stat.S_ISLNK(first.st_mode):
        return os.readlink(one) == os.readlink(other)
    if os.path.samestat(first, second):
        return True
    if not stat.S_ISREG(first.st_mode) or first.st_size != second.st_size:
        return False
    with open(one, "rb") as file, open(other, "rb") as file2:
        return file.read() == file2.read()


def unwritable(folder: str, fault: OSError) -> GitlockError:
    """What a failed write (or a reading that it needs) means: every hook is still the old one, or ours before it."""
    where = os.fsdecode(fault.filename) if isinstance(fault.filename, (str, bytes)) else folder
    return RepositoryError(
        f"can't read or write '{where}': {fault.strerror or fault}; no hook is lost or half-written",
        hint=f"make '{folder}' writable and run it again",
        id="hooks-folder",
    )
