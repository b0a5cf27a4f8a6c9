"""A file is replaced whole or not at all, and lasts: write, fsync, rename, fsync of the folder.

Without either fsync a power cut leaves empty files or loses acknowledged renames (measured: docs/protocol.md,
"What each crash leaves"). The temporary file has one fixed name, since only the guard's holder writes it: what a
crash left is written over, and never stands in the way.
"""

import os
import stat

from gitlock.errors import StoreForeign, StoreUnavailable
from gitlock.stores.files.layout import CLOEXEC, MEND, NOFOLLOW, NONBLOCK, give_to_owner, look_at, remedy


def replace_file(path: str, data: bytes, mode: int) -> None:
    """Replaces ``path`` by ``data``; on ``StoreUnavailable`` the old content is still there (or, where only the last
    fsync failed, the new: the message says so)."""
    temporary = path + ".tmp"
    try:
        fd = _open_temporary(temporary)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            _sync(fd)
        finally:
            os.close(fd)
        give_to_owner(temporary, os.path.dirname(path))
        os.replace(temporary, path)
    except OSError as error:
        raise StoreUnavailable(
            f"can't write '{path}': {error.strerror}; nothing was changed", hint=remedy(error, path)
        ) from None
    try:
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreUnavailable(
            f"wrote '{path}', but can't make sure that it lasts: {error.strerror}", hint=look_at(path)
        ) from None


def sync_folder(folder: str) -> None:
    """Makes renames in ``folder`` last."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows keeps renames by itself and can't open folders
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _open_temporary(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW | NONBLOCK | CLOEXEC
    try:
        fd = os.open(path, flags, 0o600)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
    except OSError:
        if not os.path.lexists(path):
            raise
    if os.path.isdir(path) and not os.path.islink(path):
        raise StoreForeign(f"'{path}' is a folder: nothing can be written", hint=MEND)
    os.unlink(path)  # a link, a pipe or a file of somebody else's in our temporary's place
    return os.open(path, flags | os.O_EXCL, 0o600)


def _sync(fd: int) -> None:
    import sys

    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync alone leaves data in the drive's cache there
    else:
        os.fsync(fd)
