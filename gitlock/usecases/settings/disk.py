"""Settings files on the disk: read in full or refused, replaced whole or not at all, and only if nobody else has
written meanwhile.

Nothing is read or written through a link, below the worktree or the home that the file belongs to: what lies at its
other end is somebody else's, or another worktree's.
"""

import os
import stat

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.errors import UnsafeError

LIMIT = 1 << 20  # bytes; no settings file is longer
FRESH = ".git-lock-new"  # ends the name of a file before it gets its own

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)


class Changed(Exception):
    """Somebody else has written the file since it was read: look again."""


class Content(Value):
    """A file as it was read: its bytes and its mode; None for both where there is none."""

    __slots__ = ("data", "mode")

    def __init__(self, data: bytes | None = None, mode: int | None = None) -> None:
        self.data = data
        self.mode = mode


class Refused(UnsafeError):
    """A settings file that is left alone. ``what`` is why, without its name."""

    def __init__(self, path: str, what: str, *, hint: str | None = None, id: str = "settings-refused") -> None:
        super().__init__(f"'{path}' {what}; nothing was changed", hint=hint, id=id)
        self.what = what


def read_settings(path: str, root: str) -> Content:
    """The file, which lies below ``root``. ``Refused`` for links on the way, for what is no file, for what is
    too long."""
    _refuse_links(path, root)
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return Content()
    except OSError as error:
        raise Refused(path, f"can't be read ({error.strerror})", hint=f"ls -l {word(path)}") from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(path, f"is {_kind(found.st_mode)}, not a file", hint=f"ls -ld {word(path)}")
        if found.st_size > LIMIT:
            raise Refused(path, f"is longer than {LIMIT >> 20} MiB", hint=f"ls -l {word(path)}")
        parts = []
        while part := os.read(fd, 1 << 16):
            parts.append(part)
        return Content(b"".join(parts), stat.S_IMODE(found.st_mode))
    except OSError as error:
        raise Refused(path, f"can't be read ({error.strerror})", hint=f"ls -l {word(path)}") from None
    finally:
        os.close(fd)


def write_settings(path: str, before: Content, data: bytes, root: str) -> tuple[str, ...]:
    """Replaces what was read as ``before``, with its mode; the folders that had to be made, the outermost first.
    ``Changed`` where it is not that any more; ``Refused`` where it can't be written."""
    if before.mode is not None and not before.mode & stat.S_IWUSR:
        raise Refused(path, "is read-only", hint=f"chmod u+w {word(path)}")
    made = _make_folders(os.path.dirname(path))
    fresh = path + FRESH
    try:
        try:
            os.unlink(fresh)
        except FileNotFoundError:
            pass
        mode = 0o666 if before.mode is None else before.mode & 0o600  # who may not read it now never may
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC, mode)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if before.mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, before.mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        if read_settings(path, root).data != before.data:
            raise Changed(path)
        _own_as(fresh, path if before.data is not None else os.path.dirname(path))
        if before.data is None:
            _give_name(fresh, path)
        else:
            os.replace(fresh, path)
    except FileExistsError:
        _forget(fresh, made)
        raise Changed(path) from None
    except OSError as error:
        _forget(fresh, made)
        raise Refused(path, f"can't be written ({error.strerror})", hint=_folder(path)) from None
    except BaseException:
        _forget(fresh, made)
        raise
    return made


def remove_settings(path: str, before: Content, root: str, folders: tuple[str, ...]) -> None:
    """Takes the file away, and of ``folders`` those that are empty then. ``Changed`` where it is not ``before``."""
    if read_settings(path, root).data != before.data:
        raise Changed(path)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise Refused(path, f"can't be removed ({error.strerror})", hint=_folder(path)) from None
    remove_folders(folders)


def remove_folders(folders: tuple[str, ...]) -> None:
    """Takes away those of these folders that hold nothing."""
    for folder in reversed(folders):
        try:
            os.rmdir(folder)
        except OSError:
            return


def _refuse_links(path: str, root: str) -> None:
    place = root
    for name in os.path.relpath(path, root).split(os.sep):
        place = os.path.join(place, name)
        try:
            mode = os.lstat(place).st_mode
        except OSError:
            return
        if stat.S_ISLNK(mode):
            raise Refused(
                place, f"is a link to '{os.readlink(place)}', and nothing is written through a link",
                hint="git lock setup NAME --print shows what to add there by hand", id="settings-link",
            )  # fmt: skip
        if place != path and not stat.S_ISDIR(mode):
            raise Refused(place, f"is {_kind(mode)}, not a folder", hint=f"ls -ld {word(place)}")


def _folder(path: str) -> str:
    """What shows whose the folder is, and who may write there."""
    return f"ls -ld {word(os.path.dirname(path))}"


def _kind(mode: int) -> str:
    return "a folder" if stat.S_ISDIR(mode) else "a file" if stat.S_ISREG(mode) else "a pipe, a socket or a device"


def _make_folders(folder: str) -> tuple[str, ...]:
    missing: list[str] = []
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    made: list[str] = []
    for one in missing:
        try:
            os.mkdir(one)
        except FileExistsError:
            continue  # somebody else's, at this very moment
        except OSError as error:
            remove_folders(tuple(made))
            raise Refused(one, f"can't be made ({error.strerror})", hint=_folder(one)) from None
        _own_as(one, os.path.dirname(one))
        made.append(one)
    return tuple(made)


def _give_name(fresh: str, path: str) -> None:
    """Names a new file, and gives way to whoever was quicker, which a rename does not."""
    try:
        os.link(fresh, path)
        os.unlink(fresh)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(fresh, path)


def _forget(fresh: str, made: tuple[str, ...]) -> None:
    try:
        os.unlink(fresh)
    except OSError:
        pass
    remove_folders(made)


def _own_as(path: str, model: str) -> None:
    """What root makes in somebody's folder belongs to that somebody, or they could not change it any more."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = os.stat(model)
        if owner.st_uid != 0:
            os.chown(path, owner.st_uid, owner.st_gid)
