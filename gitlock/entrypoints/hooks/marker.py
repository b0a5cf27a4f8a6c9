"""Notes from one hook to the next, in the worktree's own git folder.

``gitlock-judged`` is one line, ``<pid of git> <word> <inode and size of the index>``: the commit that this git process
makes was judged. Its modification time is set to the index's, so that the stub can tell without a process that the
index has not been written since. ``clear``: post-commit has nothing to do; ``beat``: it has. A stub that got no answer
from us, said so and went on leaves ``unanswered``, which is no judgement.

``gitlock-passed`` holds what got past a gate here (a bypass, ``--no-verify``), a line each, until the next gate has
shown it.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

JUDGED = "gitlock-judged"
PASSED = "gitlock-passed"
NOTE = 120  # bytes of the first: a longer one would leave its end behind a shorter one


def git_pid(environ: "Mapping[str, str]") -> str:
    """The git process that runs the hooks of this commit, as the stub saw it; empty if it did not say."""
    text = environ.get("GITLOCK_GIT_PID", "")
    return text if text.isdigit() else ""


def mark_judged(git_dir: str, environ: "Mapping[str, str]", word: str) -> None:
    """Leaves the note; where it can't be written, the next hook judges once more."""
    pid = git_pid(environ)
    if not pid:
        return
    path = os.path.join(git_dir, JUDGED)
    try:
        found = os.stat(_index(git_dir, environ))
        # Written over and not cut: to free a block and take another costs as much as the whole check.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(fd, f"{pid} {word} {found.st_ino} {found.st_size}".ljust(NOTE - 1).encode() + b"\n")
        finally:
            os.close(fd)
        os.utime(path, ns=(found.st_mtime_ns, found.st_mtime_ns))
    except OSError:
        return


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
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
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
        with open(path, "rb") as file:
            rows = file.read(1 << 14).decode("utf-8", "replace").splitlines()
        os.unlink(path)
    except OSError:
        return []
    return rows[-5:]


def _index(git_dir: str, environ: "Mapping[str, str]") -> str:
    return environ.get("GIT_INDEX_FILE") or os.path.join(git_dir, "index")


def _note(git_dir: str) -> list[bytes]:
    try:
        with open(os.path.join(git_dir, JUDGED), "rb") as file:
            return file.read(256).split()
    except OSError:
        return []
