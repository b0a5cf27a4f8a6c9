"""Every file name in the store's folder, and how the folder is made. docs/protocol.md says what each one holds."""

import os
import stat

from gitlock.domain.value import Value
from gitlock.errors import StoreError, StoreUnavailable

README = """\
This folder belongs to git-lock: it says who holds which paths of this repository.

Read anything you like (state.json is plain JSON, one lease a line). Change it only through `git lock`: an edit made by
hand fails the checksum and stops every gate. `git lock list` shows the same; `git lock doctor --fix` repairs.
"""

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
CLOEXEC = getattr(os, "O_CLOEXEC", 0)


class Layout(Value):
    """Where things are. ``shared`` is git's ``core.sharedRepository`` as permission bits added for others, 0 if none."""

    __slots__ = ("folder", "shared")

    def __init__(self, folder: str, shared: int = 0) -> None:
        self.folder = folder
        self.shared = shared

    @property
    def state(self) -> str:
        return os.path.join(self.folder, "state.json")

    @property
    def guard(self) -> str:
        return os.path.join(self.folder, "guard")

    @property
    def spool(self) -> str:
        return os.path.join(self.folder, "history.spool")

    @property
    def history(self) -> str:
        return os.path.join(self.folder, "history.db")

    @property
    def bound(self) -> str:
        return os.path.join(self.folder, "bound")

    @property
    def mark(self) -> str:
        """The second copy of the high-water mark: beside the folder, so that it outlives it."""
        return self.folder + ".mark"

    @property
    def evidence(self) -> str:
        return os.path.join(self.folder, "evidence")

    @property
    def file_mode(self) -> int:
        return 0o600 | (self.shared & 0o666)

    @property
    def folder_mode(self) -> int:
        reading = self.shared & 0o444
        return 0o700 | self.shared | (reading >> 2) | (stat.S_ISGID if self.shared else 0)

    def make(self) -> None:
        """Makes the folder if it is not there; safe to call from many processes at once."""
        if os.path.isdir(self.folder) and not os.path.islink(self.folder):
            return
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            self.check()
            return
        except OSError as error:
            raise StoreUnavailable(f"can't make '{self.folder}': {error.strerror}") from None
        os.chmod(self.folder, self.folder_mode)
        give_to_owner(self.folder, os.path.dirname(self.folder))
        try:
            fd = os.open(os.path.join(self.folder, "README"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOEXEC, 0o600)
        except OSError:
            return  # it only explains
        try:
            os.write(fd, README.encode())
            if hasattr(os, "fchmod"):
                os.fchmod(fd, self.file_mode)
        finally:
            os.close(fd)
        give_to_owner(os.path.join(self.folder, "README"), self.folder)

    def check(self) -> bool:
        """Whether the folder is there. Refuses one that is not a folder, is somebody else's, or open to everyone."""
        try:
            found = os.lstat(self.folder)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreUnavailable(f"can't look at '{self.folder}': {error.strerror}") from None
        if not stat.S_ISDIR(found.st_mode):
            raise StoreUnavailable(f"'{self.folder}' is not a folder", hint=f"look at it: ls -ld '{self.folder}'")
        if not hasattr(os, "geteuid"):
            return True
        if found.st_mode & stat.S_IWOTH and not self.shared & 0o002:
            raise StoreUnavailable(
                f"'{self.folder}' can be written by everyone, so what it says can't be trusted",
                hint=f"chmod o-w '{self.folder}'",
            )
        if found.st_uid != os.geteuid() and not self.shared:
            parent = os.stat(os.path.dirname(self.folder))
            if found.st_uid != parent.st_uid or os.geteuid() != 0:
                raise StoreUnavailable(
                    f"'{self.folder}' belongs to another user (uid {found.st_uid})",
                    hint="git config core.sharedRepository group, if you share this repository",
                )
        return True


def shared_bits(setting: str | None) -> int:
    """Git's ``core.sharedRepository`` as the permission bits that it adds (git-config(1))."""
    word = (setting or "").lower()
    if word in ("", "umask", "false", "no", "off", "0"):
        return 0
    if word in ("group", "true", "yes", "on", "1"):
        return 0o060
    if word in ("all", "world", "everybody", "2"):
        return 0o064
    try:
        return int(word, 8) & 0o066
    except ValueError:
        return 0


def open_regular(path: str) -> tuple[int, os.stat_result] | None:
    """A regular file opened for reading and what it is, or None where there is none.

    Links are not followed and pipes don't block; both are ``StoreUnavailable``, as is whatever stops the reading.
    """
    try:
        fd = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnavailable(f"can't open '{path}': {error.strerror}") from None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise StoreUnavailable(f"'{path}' is not a regular file", hint=f"look at it: ls -ld '{path}'")
    return fd, found


def read_whole(path: str, limit: int) -> bytes | None:
    """The bytes of a regular file of at most ``limit`` bytes; None where there is none."""
    opened = open_regular(path)
    if opened is None:
        return None
    fd, found = opened
    try:
        if found.st_size > limit:
            raise StoreError(f"'{path}' is larger than {limit >> 20} MiB")
        parts = []
        while chunk := os.read(fd, max(found.st_size + 1, 1 << 16)):
            parts.append(chunk)
        return parts[0] if len(parts) == 1 else b"".join(parts)
    except OSError as error:
        raise StoreUnavailable(f"can't read '{path}': {error.strerror}") from None
    finally:
        os.close(fd)


def give_to_owner(path: str, folder: str) -> None:
    """What root makes in somebody's repository belongs to that somebody, or they could not go on working."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = os.stat(folder)
        if owner.st_uid != 0:
            os.chown(path, owner.st_uid, owner.st_gid)
