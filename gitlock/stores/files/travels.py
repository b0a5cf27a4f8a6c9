"""In which repositories a session has been at work: one small file of the user's, outside of all of them.

A session has a record in every repository that it touches, and none of these knows of the others. What names no file
(a prompt, a question to a person, the end) concerns all of them. Nothing depends on it: without the file it concerns
the one that the session stands in, and the rest ends with the session's process, or with its time.

``<folder>/<session>`` holds the top of a worktree a line, in the file system's own bytes.
"""

import os

from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK

SIZE_LIMIT = 1 << 16  # bytes: some hundred worktrees
KEPT = 30 * 86400.0  # seconds after which a file is that of a session which never said that it ended


class Travels:
    """The files in one folder, which is made when there is something to be written."""

    __slots__ = ("_folder",)

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def tops(self, session: str) -> list[str]:
        """The worktrees that the session was at work in, in that order. Whether they are still there, and git-lock's
        business, is for the reader to see."""
        try:
            fd = os.open(self._file(session), os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC)
            try:
                data = os.read(fd, SIZE_LIMIT)
            finally:
                os.close(fd)
        except OSError:
            return []
        lines = data.split(b"\n")[:-1]  # what was not written to its end is no line
        return [top for top in map(os.fsdecode, dict.fromkeys(lines)) if os.path.isabs(top)]

    def add(self, session: str, top: str, wall: float) -> None:
        """The session is at work there as well. Never raises: it is only a convenience."""
        known = self.tops(session)
        if top in known or "\n" in top:
            return
        try:
            if not known:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                self._sweep(wall)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NOFOLLOW | NONBLOCK | CLOEXEC
            fd = os.open(self._file(session), flags, 0o600)
            try:
                os.write(fd, os.fsencode(top) + b"\n")
            finally:
                os.close(fd)
        except OSError:
            return

    def forget(self, session: str) -> None:
        """The session has ended."""
        try:
            os.unlink(self._file(session))
        except OSError:
            return

    def _file(self, session: str) -> str:
        return os.path.join(self._folder, session)

    def _sweep(self, wall: float) -> None:
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            try:
                if wall - os.lstat(path).st_mtime > KEPT:
                    os.unlink(path)
            except OSError:
                continue
