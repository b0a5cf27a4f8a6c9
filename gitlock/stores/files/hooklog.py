"""What went wrong in hooks of agent programs: ``agent-hook.log``, a line each, for doctor. The agent never sees it."""

import os

from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK, give_to_owner

NAME = "agent-hook.log"
LIMIT = 1 << 16  # bytes; then the log begins anew, and the one before is kept as ``.1``
LINE = 500  # characters


def log_line(folder: str, file_mode: int, line: str) -> None:
    """Adds a line where the folder is there; whatever stands in the way of that is nobody's business."""
    path = os.path.join(folder, NAME)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | NOFOLLOW | NONBLOCK | CLOEXEC
    try:
        fd = os.open(path, flags, file_mode)
        try:
            give_to_owner(path, folder)
            full = os.fstat(fd).st_size > LIMIT
            os.write(fd, (line[:LINE].replace("\n", " ") + "\n").encode("utf-8", "backslashreplace"))
        finally:
            os.close(fd)
        if full:
            os.replace(path, path + ".1")
    except OSError:
        return


def last_lines(folder: str, count: int) -> list[str]:
    """The latest lines, oldest first."""
    try:
        fd = os.open(os.path.join(folder, NAME), os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC)
        try:
            rows = os.read(fd, 4 * LIMIT).decode("utf-8", "replace").splitlines()
        finally:
            os.close(fd)
    except OSError:
        return []
    return rows[-count:]
