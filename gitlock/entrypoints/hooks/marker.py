"""Notes from one hook to the next, in the worktree's own git folder.

``gitlock-judged`` is one line, ``<pid of git> <word>``: the commit that this git process makes was judged. Its
modification time is set to the index's, so that the stub can tell without a process that the index has not been
written since. ``clear``: post-commit has nothing to do; ``beat``: it has.

``gitlock-passed`` holds what got past a gate here (a bypass, ``--no-verify``), a line each, until the next gate has
shown it.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting

JUDGED = "gitlock-judged"
PASSED = "gitlock-passed"


def mark_judged(setting: "Setting", word: str) -> None:
    """Leaves the note; where it can't be written, the next hook judges once more."""
    if not setting.git_pid:
        return
    git_dir = setting.repository.git_dir
    index = setting.environ.get("GIT_INDEX_FILE") or os.path.join(git_dir, "index")
    path = os.path.join(git_dir, JUDGED)
    try:
        found = os.stat(index)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(fd, f"{setting.git_pid} {word}\n".encode())
        finally:
            os.close(fd)
        os.utime(path, ns=(found.st_mtime_ns, found.st_mtime_ns))
    except OSError:
        return


def judged_by_this_git(setting: "Setting") -> bool:
    """Whether an earlier hook of this very git process has judged (perhaps another state of the index)."""
    try:
        with open(os.path.join(setting.repository.git_dir, JUDGED), "rb") as file:
            words = file.read(256).split()
    except OSError:
        return False
    return bool(setting.git_pid) and words[:1] == [setting.git_pid.encode()]


def note_passed(setting: "Setting", text: str) -> None:
    """Remembers for the next gate what got past this one."""
    try:
        path = os.path.join(setting.repository.git_dir, PASSED)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(fd, (text.replace("\n", " ") + "\n").encode("utf-8", "backslashreplace"))
        finally:
            os.close(fd)
    except OSError:
        return


def passed(setting: "Setting") -> list[str]:
    """What got past the last gate here; forgotten once it was read."""
    path = os.path.join(setting.repository.git_dir, PASSED)
    try:
        with open(path, "rb") as file:
            rows = file.read(1 << 14).decode("utf-8", "replace").splitlines()
        os.unlink(path)
    except OSError:
        return []
    return rows[-5:]
