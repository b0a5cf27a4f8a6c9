"""Takes one worktree away: moved aside first (one rename, which can be taken back), then git's entry of it, then the
files. Never ``git worktree prune``, which takes whatever is not there at the moment."""

import os
import stat

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, RepositoryError
from gitlock.git.contents import files_below, is_made_again
from gitlock.git.ownwork import head_log, only_in_log, shared
from gitlock.git.worktrees import points_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gitlock.git.process import Git
    from gitlock.git.worktrees import Entry


class Look(Value):
    """What a worktree looked like in one moment: its HEAD, git's status, byte for byte, and of each file that the
    status names (also of what is ignored and can't be made again) how it lay on the disk: status says the same of a
    file that is changed once and one that is changed again."""

    __slots__ = ("head", "stamps", "status")

    def __init__(self, head: bytes, status: bytes, stamps: tuple[tuple[str, int, int, int], ...]) -> None:
        self.head = head
        self.status = status
        self.stamps = stamps


def look_at(git: "Git", admin: str, folder: str) -> Look:
    """The look of the worktree whose git folder is ``admin``, also where its own folder was moved to ``folder``.

    Submodules are left out: they don't work in another place.
    """
    there = git.elsewhere(folder)
    there.environ["GIT_DIR"] = admin
    there.environ["GIT_WORK_TREE"] = folder
    status = there.run(
        "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional",
        "--ignore-submodules=all",
    )  # fmt: skip
    return Look(there.try_run("rev-parse", "-q", "--verify", "HEAD")[1], status, tuple(_stamps(folder, status)))


def _stamps(folder: str, status: bytes) -> "Iterator[tuple[str, int, int, int]]":
    for row in os.fsdecode(status).split("\0"):
        fields = {"1": 8, "u": 10, "?": 1, "!": 1}.get(row[:1])
        if fields is None:
            continue
        path = row.split(" ", fields)[-1]
        if not path.endswith("/"):
            files: Iterable[str] = (path,)
        elif row[:1] == "!" and not is_made_again(path):
            files = files_below(folder, path)
        else:
            continue
        try:
            for file in files:
                found = os.lstat(os.path.join(folder, file))
                yield file, found.st_mode, found.st_size, found.st_mtime_ns
        except OSError:
            yield path, -1, -1, -1  # not there (as the status may say), or closed: before as after


def move_aside(path: str, places: "Iterable[str]") -> str:
    """Renames a folder to the first of these places that is on its file system; answers which.

    ``RepositoryError`` where none is: then nothing was moved.
    """
    why = "there is no place to move it to"
    for place in places:
        try:
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            os.rename(path, place)
            return place
        except OSError as error:
            why = error.strerror or str(error)
    raise RepositoryError(
        f"can't move '{path}' aside: {why}", hint=f"ls -ld {word(os.path.dirname(path))}", id="immovable"
    )


def forget_entry(git: "Git", common_dir: str, entry: "Entry") -> None:
    """Takes git's own folder of a worktree away, which is not at its path (any more)."""
    assert entry.path is not None
    status, _, err = shared(git, common_dir).try_run("worktree", "remove", "--force", "--force", "--", entry.path)
    if os.path.lexists(entry.admin):
        said = err.strip().partition("\n")[0] or f"git worktree remove ended with {status}"
        raise RepositoryError(f"git keeps its entry of '{entry.path}': {said}", id="git-failed")


def delete_tree(path: str) -> str | None:
    """Deletes a folder that was moved aside; None when all of it is gone, else what stopped it.

    Links are removed, never followed. Folders that are closed to writing (caches of modules) are opened first.
    """
    import shutil

    if not os.path.lexists(path):
        return None
    try:
        shutil.rmtree(path)
        return None
    except FileNotFoundError:
        return None
    except OSError:
        _open_up(path)
    try:
        shutil.rmtree(path)
        return None
    except OSError as error:
        return error.strerror or str(error)


def _open_up(top: str) -> None:
    for folder, names, _ in os.walk(top):
        for name in (".", *names):
            place = os.path.normpath(os.path.join(folder, name))
            try:
                found = os.lstat(place)
                if stat.S_ISDIR(found.st_mode) and found.st_mode & 0o700 != 0o700:
                    os.chmod(place, 0o700)
            except OSError:
                continue


def lend(admin: str, folder: str) -> "Callable[[], None]":
    """Makes ``folder`` the worktree of the entry ``admin`` for a moment, so that git finds each from the other; the
    answer takes it back. (Git may note the new place in the entry by itself.)"""
    note = os.path.join(admin, "gitdir")
    with open(note, "rb") as file:
        before = file.read()
    with open(os.path.join(folder, ".git"), "wb") as link:
        link.write(b"gitdir: " + os.fsencode(admin) + b"\n")

    def give_back() -> None:
        with open(note, "rb+") as now:
            if now.read() != before:
                now.seek(0)
                now.truncate()
                now.write(before)

    return give_back


def module_troubles(
    git: "Git", admin: str, top: str, paths: "Iterable[str]"
) -> list[tuple[str, str, tuple[str, ...]]]:  # fmt: skip
    """The same as ``submodule_troubles`` for repositories of submodules that git keeps for the worktree although they
    are at none of these paths any more (``git submodule deinit``, another branch): they go with it as well."""
    present = {os.path.realpath(place) for path in paths if (place := points_to(path)) is not None}
    found: list[tuple[str, str, tuple[str, ...]]] = []
    modules = os.path.join(admin, "modules")
    for folder, names, files in os.walk(modules):
        if "HEAD" not in files or "objects" not in names:
            continue
        names[:] = [name for name in names if name == "modules"]  # those of submodules inside it
        if os.path.realpath(folder) in present:
            continue
        there = shared(git, folder)
        there.environ["GIT_WORK_TREE"] = top  # its own is gone
        stash = ["refs/stash"] if there.try_run("rev-parse", "-q", "--verify", "refs/stash")[0] == 0 else []
        head = ["HEAD"] if there.try_run("rev-parse", "-q", "--verify", "HEAD^{commit}")[0] == 0 else []
        rest = [*head, "--branches", *stash]
        own = there.run("rev-list", "--max-count=1", *rest, "--not", "--remotes").split()
        if own or only_in_log(there, head_log(folder), rest):
            helps = ("git", "--git-dir", folder, "log", "--reflog", "--not", "--remotes")
            found.append((os.path.relpath(folder, modules), "it is not there, but has commits of its own", helps))
    return found


def submodule_troubles(git: "Git", top: str, paths: "Iterable[str]") -> list[tuple[str, str, tuple[str, ...]]]:
    """What of the submodules at these absolute paths exists only there, as (path below the top, what, a command that
    helps): their own changes, their stashes, and commits that their remotes don't have. They are deleted with the
    worktree, their repositories included."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for path in paths:
        name = os.path.relpath(path, top)
        there = git.elsewhere(path)
        command = ("git", "-C", path)
        try:
            dirt = there.run("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none")
            if dirt:
                found.append((name, "it has changes of its own", (*command, "status")))
            recorded = os.fsdecode(
                git.elsewhere(os.path.dirname(path)).run("ls-files", "-s", "-z", "--", os.path.basename(path))
            ).split(" ")
            known = [f"^{recorded[1]}"] if len(recorded) > 2 and recorded[0] == "160000" else []
            if known and there.try_run("cat-file", "-e", recorded[1])[0]:
                known = []
            stash = ["refs/stash"] if there.try_run("rev-parse", "-q", "--verify", "refs/stash")[0] == 0 else []
            rest = ["HEAD", "--branches", *stash]
            log = head_log(os.fsdecode(there.run("rev-parse", "--absolute-git-dir")).rstrip("\n"))
            own = there.run("rev-list", "--max-count=1", *rest, *known, "--not", "--remotes").strip()
            alone = only_in_log(there, log, [*rest, *known])
            if own:
                what = "it has stashed changes" if stash else "it has commits that its remotes don't have"
                found.append((name, what, (*command, *(("stash", "list") if stash else ("push",)))))
            elif alone:
                what = "commits were made there that no branch has"
                found.append((name, what, (*command, "branch", "kept", alone[0])))
        except GitlockError as error:
            found.append((name, f"could not be looked at: {error.message}", (*command, "status")))
    return found
