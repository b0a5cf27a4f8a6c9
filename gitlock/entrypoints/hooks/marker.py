"""Notes from one hook to the next, in the worktree's own git folder.

``gitlock-judged`` is one line, ``<pid of git> <word> <inode and size of the index>``: the commit that this git process
makes was judged. Its modification time is set to the index's, so that the stub can tell without a process that the
index has not been written since. ``clear``: post-commit has nothing to do; ``beat``: it has. A stub that got no answer
from us, said so and went on leaves ``unanswered``, which is no judgement. ``receipt`` at the end: there are trailers
for the message in ``gitlock-receipt``, after a line ``<pid of git> <number of lines>``. ``gitlock-template`` keeps the
template that the message began with, after a line ``<pid of git>``.

``gitlock-passed`` holds what got past a gate here (a bypass, ``--no-verify``), a line each, until the next gate has
shown it. The modification time of ``gitlock-unseen`` says when somebody was told that no hook of an agent program was
seen.
"""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

JUDGED = "gitlock-judged"
RECEIPT = "gitlock-receipt"
TEMPLATE = "gitlock-template"
PASSED = "gitlock-passed"
UNSEEN = "gitlock-unseen"
HOUR = 3600.0  # seconds
NOTE = 120  # bytes of the first: a longer one would leave its end behind a shorter one
RECEIPT_LIMIT = 1 << 20  # bytes of trailers


def git_pid(environ: "Mapping[str, str]") -> str:
    """The git process that runs the hooks of this commit, as the stub saw it; empty if it did not say."""
    text = environ.get("GITLOCK_GIT_PID", "")
    return text if text.isdigit() else ""


def mark_judged(git_dir: str, environ: "Mapping[str, str]", word: str, receipt: "tuple[str, ...]" = ()) -> None:
    """Leaves the note, and the trailers of the commit; where it can't be written, the next hook judges once more."""
    pid = git_pid(environ)
    if not pid:
        return
    path = os.path.join(git_dir, JUDGED)
    try:
        found = os.stat(_index(git_dir, environ))
        if receipt:
            text = "\n".join((f"{pid} {len(receipt)}", *receipt, ""))
            _write_over(os.path.join(git_dir, RECEIPT), text.encode("utf-8", "replace"))
        text = f"{pid} {word} {found.st_ino} {found.st_size}{' receipt' if receipt else ''}"
        _write_over(path, text.ljust(NOTE - 1).encode() + b"\n")
        os.utime(path, ns=(found.st_mtime_ns, found.st_mtime_ns))
    except OSError:
        return


def receipt_left(git_dir: str, environ: "Mapping[str, str]") -> tuple[str, ...]:
    """The trailers that an earlier hook of this git process has left for the message."""
    if not judged_by_this_git(git_dir, environ) or _note(git_dir)[4:] != [b"receipt"]:
        return ()
    try:
        rows = read_note(os.path.join(git_dir, RECEIPT), RECEIPT_LIMIT).decode("utf-8", "replace").split("\n")
    except OSError:
        return ()
    pid, _, count = rows[0].partition(" ")
    whole = pid == git_pid(environ) and count.isdigit() and int(count) + 1 < len(rows)
    return tuple(rows[1 : int(count) + 1]) if whole else ()


def judged_by_this_git(git_dir: str, environ: "Mapping[str, str]") -> bool:
    """Whether an earlier hook of this very git process has judged (perhaps another state of the index)."""
    pid, note = git_pid(environ), _note(git_dir)
    return bool(pid) and note[:1] == [pid.encode()] and note[1:2] != [b"unanswered"]


def judged_this_index(git_dir: str, environ: "Mapping[str, str]") -> bool:
    """Whether it has judged this very index. The stub asks the same, where its shell and disk can compare times."""
    if not judged_by_this_git(git_dir, environ):
        return False
    try:
        time, index = os.stat(os.path.join(git_dir, JUDGED)).st_mtime_ns, os.stat(_index(git_dir, environ))
    except OSError:
        return False
    known = [b"%d" % index.st_ino, b"%d" % index.st_size]
    return time == index.st_mtime_ns and _note(git_dir)[2:4] == known


def note_passed(git_dir: str, text: str) -> None:
    """Remembers for the next gate what got past this one."""
    try:
        path = os.path.join(git_dir, PASSED)
        fd = _open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(fd, (text.replace("\n", " ") + "\n").encode("utf-8", "backslashreplace"))
        finally:
            os.close(fd)
    except OSError:
        return


def passed(git_dir: str) -> list[str]:
    """What got past the last gate here; forgotten once it was read."""
    path = os.path.join(git_dir, PASSED)
    try:
        rows = read_note(path, 1 << 14).decode("utf-8", "replace").splitlines()
        os.unlink(path)
    except OSError:
        return []
    return rows[-5:]


def said_lately(git_dir: str, name: str, wall: float) -> bool:
    """Whether that was said here within the hour; if not, it is now. Where no note can be left, it was."""
    path = os.path.join(git_dir, name)
    try:
        if 0 <= wall - os.lstat(path).st_mtime < HOUR:
            return True
    except OSError:
        pass  # it was never said
    try:
        os.close(_open(path, os.O_WRONLY | os.O_CREAT))
        os.utime(path, (wall, wall))
    except OSError:
        return True
    return False


def drop_receipt(git_dir: str) -> None:
    """They could not be added, and that was said."""
    try:
        os.unlink(os.path.join(git_dir, RECEIPT))
    except OSError:
        return


def keep_template(git_dir: str, environ: "Mapping[str, str]", message: bytes) -> None:
    """Remembers what the message was before its author has edited it; raises ``OSError``."""
    path = os.path.join(git_dir, TEMPLATE)
    fd = _open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(fd, f"{git_pid(environ)}\n".encode() + message)
    finally:
        os.close(fd)


def kept_template(git_dir: str, environ: "Mapping[str, str]") -> bytes | None:
    """The template that the message of this git process began with; None where there was none."""
    path = os.path.join(git_dir, TEMPLATE)
    if not os.path.exists(path):
        return None
    pid, _, message = read_note(path, RECEIPT_LIMIT).partition(b"\n")
    os.unlink(path)
    return message if pid and pid == git_pid(environ).encode() else None


def _write_over(path: str, data: bytes) -> None:
    """Not cut: to free a block of the disk and take another costs as much as the whole check."""
    fd = _open(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def _index(git_dir: str, environ: "Mapping[str, str]") -> str:
    return environ.get("GIT_INDEX_FILE") or os.path.join(git_dir, "index")


def _note(git_dir: str) -> list[bytes]:
    try:
        return read_note(os.path.join(git_dir, JUDGED), 256).split()
    except OSError:
        return []


def read_note(path: str, limit: int) -> bytes:
    """What a note says; ``OSError`` where there is none."""
    fd = _open(path, os.O_RDONLY)
    try:
        return os.read(fd, limit)
    finally:
        os.close(fd)


def _open(path: str, flags: int) -> int:
    """A note is a plain file: a pipe that lies in its place must keep no commit waiting, a link lead nowhere else."""
    fd = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError("not a plain file")
    return fd
