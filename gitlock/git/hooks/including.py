"""The one line of the repository's configuration that is ours: an include at its end.

Written as git writes its configuration (a complete ``config.lock`` that becomes ``config`` by one rename), but not by
git: ``git config --unset`` would not give back the exact bytes where the file ends with a comment or without a newline.
"""

import os
import stat
import time

from gitlock.errors import RepositoryError
from gitlock.git.hooks.disk import FRESH, unlink, write_fresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_TRIES = 100  # times 50 ms; git itself writes its configuration in milliseconds
_MOST = 1 << 24  # bytes


def is_included(git: "Git", config: str, path: str) -> bool:
    """Whether the configuration includes it, in whatever way that was written."""
    status, out, _ = git.try_run("config", "--file", config, "-z", "--get-all", "include.path")
    return status == 0 and path in os.fsdecode(out).split("\0")[:-1]


def include(git: "Git", config: str, path: str) -> bool:
    """Adds the line unless it is there; whether it was added."""
    if is_included(git, config, path):
        return False
    with _Lock(config) as lock:
        data = lock.data
        text = _text(path)
        lock.write(data + (text if not data or data.endswith(b"\n") else b"\n" + text[:-1]))
    return True


def exclude(git: "Git", config: str, path: str) -> bool:
    """Takes the line away; whether it was there."""
    if not is_included(git, config, path):
        return False
    with _Lock(config) as lock:
        rest = _without(lock.data, _text(path))
        if rest is not None:
            lock.write(rest)
            return True
    pattern = "^" + path.replace(".", r"\.") + "$"
    git.run("config", "--file", config, "--unset-all", "include.path", pattern)
    return True


def _text(path: str) -> bytes:
    return b"[include]\n\tpath = " + os.fsencode(path) + b"\n"


def _without(data: bytes, text: bytes) -> bytes | None:
    """The file without our lines; None where somebody has put something else into our section."""
    if data.endswith(b"\n" + text[:-1]):
        return data[: -len(text)]
    before, found, after = data.partition(text)
    if not found or text in after or (after and not after.startswith(b"[")) or (before and not before.endswith(b"\n")):
        return None
    return before + after


class _Lock:
    """Git's own lock on the configuration; a lock that an earlier run of ours has left is taken over.

    Used under the guard of installs, so that no other run of ours is at work.
    """

    def __init__(self, config: str) -> None:
        self._config = os.path.realpath(config)  # git follows links as well
        self._lock = self._config + ".lock"
        self.data = b""

    def __enter__(self) -> "_Lock":
        fresh = self._config + FRESH
        if os.path.lexists(fresh) and _is_same(fresh, self._lock):
            unlink(self._lock)
        # The lock is made with a second name, by which a run after this one knows whose it is.
        write_fresh(self._config, b"", 0o600)
        for number in range(_TRIES):
            try:
                self._take(fresh)
                break
            except FileExistsError:
                if number == _TRIES - 1:
                    unlink(fresh)
                    raise RepositoryError(
                        "can't write the repository's configuration: another git holds config.lock, or one that died "
                        "has left it",
                        hint="git lock doctor (it says how old that lock is); then: git lock install",
                        id="config-locked",
                    ) from None
                time.sleep(0.05)
        with open(self._config, "rb") as file:
            self.data = file.read(_MOST)
        return self

    def __exit__(self, *_: object) -> None:
        unlink(self._lock)
        unlink(self._config + FRESH)

    def _take(self, fresh: str) -> None:
        try:
            os.link(fresh, self._lock)
        except FileExistsError:
            raise
        except OSError:  # a file system without second names
            os.close(os.open(self._lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def write(self, data: bytes) -> None:
        """Replaces the configuration; while the lock is held."""
        write_fresh(self._lock, data, stat.S_IMODE(os.stat(self._config).st_mode))
        os.rename(self._lock + FRESH, self._config)


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False
