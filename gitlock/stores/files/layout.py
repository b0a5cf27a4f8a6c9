"""Every file name in the store's folder, and how the folder is made. docs/protocol.md says what each one holds."""

import os
import stat

from gitlock.domain.value import Value
from gitlock.errors import StoreError, StoreForeign, StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

README = """\
This folder belongs to git-lock: it says who holds which paths of this repository.

Read anything you like (state.json is plain JSON, one lease a line). Change it only through `git lock`: an edit made by
hand fails the checksum and stops every gate. `git lock list` shows the same; `git lock doctor --fix` repairs.
"""

MEND = "git lock doctor --fix"  # puts aside what is broken or foreign, and begins anew where it must

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
CLOEXEC = getattr(os, "O_CLOEXEC", 0)


class Layout(Value):
    """Where things are. ``shared`` is git's ``core.sharedRepository`` as permission bits for others, 0 if none."""

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
    def requests(self) -> str:
        return os.path.join(self.folder, "requests")

    @property
    def sessions(self) -> str:
        return os.path.join(self.folder, "sessions")

    @property
    def worktrees(self) -> str:
        return os.path.join(self.folder, "worktrees")

    @property
    def agents(self) -> str:
        """A folder for each agent: its scratch folder and its tokens."""
        return os.path.join(self.folder, "agents")

    @property
    def notes(self) -> str:
        return os.path.join(self.folder, "notes")

    @property
    def waiting(self) -> str:
        return os.path.join(self.folder, "waiting")

    @property
    def publishing(self) -> str:
        """Locked while a ledger is on its way: one publication of a clone at a time."""
        return os.path.join(self.folder, "publishing")

    @property
    def elsewhere(self) -> str:
        """What other clones hold, as fetched last."""
        return os.path.join(self.folder, "elsewhere.json")

    @property
    def following(self) -> str:
        """There while some lease may follow a branch (``claim --until-merged``)."""
        return os.path.join(self.folder, "following")

    @property
    def no_hooks(self) -> str:
        """An empty folder, for a git that is to run no hooks."""
        return os.path.join(self.folder, "no-hooks")

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
            raise StoreUnavailable(
                f"can't make '{self.folder}': {error.strerror}", hint=remedy(error, self.folder)
            ) from None
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
            raise StoreUnavailable(
                f"can't look at '{self.folder}': {error.strerror}", hint=remedy(error, self.folder)
            ) from None
        if not stat.S_ISDIR(found.st_mode):
            raise StoreForeign(f"'{self.folder}' is not a folder", hint=MEND)
        if not hasattr(os, "geteuid"):
            return True
        self._refuse_open_to_all(self.folder, found)
        if found.st_uid != os.geteuid() and not self.shared:
            parent = os.stat(os.path.dirname(self.folder))
            if found.st_uid != parent.st_uid or os.geteuid() != 0:
                raise StoreUnavailable(
                    f"'{self.folder}' belongs to another user (uid {found.st_uid}), and core.sharedRepository does not "
                    "say that this repository is shared",
                    hint=look_at(self.folder),
                )
        return True

    def judge(self, path: str, found: os.stat_result) -> None:
        """Refuses a file of the store that anyone could have written."""
        if not hasattr(os, "geteuid"):
            return
        self._refuse_open_to_all(path, found)
        if found.st_uid != os.geteuid() and not self.shared and found.st_uid != os.stat(self.folder).st_uid:
            raise StoreForeign(f"'{path}' belongs to another user (uid {found.st_uid})", hint=MEND)

    def _refuse_open_to_all(self, path: str, found: os.stat_result) -> None:
        if found.st_mode & stat.S_IWOTH and not self.shared & 0o002:
            from gitlock.domain.quoting import word

            raise StoreUnavailable(
                f"'{path}' can be written by everyone, so what it says can't be trusted",
                hint=f"chmod o-w {word(path)}",
            )


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


def open_regular(path: str, flags: int = os.O_RDONLY, hint: str | None = None) -> tuple[int, os.stat_result] | None:
    """A regular file opened and what it is, or None where there is none.

    Links are not followed and pipes don't block; both are ``StoreForeign``. Whatever else stops the opening is
    ``StoreUnavailable``. ``hint`` says what to do about something foreign.
    """
    try:
        fd = os.open(path, flags | NOFOLLOW | NONBLOCK | CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if _is_foreign(path):
            raise StoreForeign(f"'{path}' is not a regular file", hint=hint or look_at(path)) from None
        raise StoreUnavailable(f"can't open '{path}': {error.strerror}", hint=remedy(error, path)) from None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise StoreForeign(f"'{path}' is not a regular file", hint=hint or look_at(path))
    return fd, found


def _is_foreign(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def look_at(path: str) -> str:
    """The command that shows what lies there, and whose it is."""
    from gitlock.domain.quoting import word

    return f"ls -ld {word(path)}"


def remedy(error: OSError, path: str) -> str:
    """The command that shows why something could not be read or written: a disk that is full or read-only, or
    whose the folder is. Sandboxes of agent programs make ``.git`` look like a read-only disk."""
    import errno

    from gitlock.domain.quoting import word

    folder = os.path.dirname(path)
    if error.errno == errno.EROFS:
        return f"df {word(folder)} (in the sandbox of an agent program: let it write to that folder)"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return f"df {word(folder)}" if full else look_at(folder)


def read_whole(
    path: str, limit: int, *, hint: str | None = None, judge: "Callable[[str, os.stat_result], None] | None" = None
) -> bytes | None:
    """The bytes of a regular file of at most ``limit`` bytes; None where there is none. ``judge`` may refuse it."""
    opened = open_regular(path, hint=hint)
    if opened is None:
        return None
    fd, found = opened
    try:
        if judge is not None:
            judge(path, found)
        if found.st_size > limit:
            raise StoreError(f"'{path}' is larger than {limit >> 20} MiB", hint=hint or look_at(path))
        parts = []
        while chunk := os.read(fd, max(found.st_size + 1, 1 << 16)):
            parts.append(chunk)
        return parts[0] if len(parts) == 1 else b"".join(parts)
    except OSError as error:
        raise StoreUnavailable(f"can't read '{path}': {error.strerror}", hint=remedy(error, path)) from None
    finally:
        try:
            os.close(fd)
        except OSError:
            pass  # what was read was read, and the descriptor is gone whatever close answers (close(2))


def give_to_owner(path: str, folder: str) -> None:
    """What root makes in somebody's repository belongs to that somebody, or they could not go on working."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = os.stat(folder)
        if owner.st_uid != 0:
            os.chown(path, owner.st_uid, owner.st_gid)
