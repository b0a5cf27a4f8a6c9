"""``.worktreeinclude``: ignored files such as ``.env`` are copied into a new worktree.

The list is read from the commit that the worktree begins at, in gitignore's language. A file is copied only if git
ignores it in both worktrees, its path is in neither commit nor worktree yet, and every folder on the way is a real one:
both ends are walked folder by folder without following links, so nothing leads out of either tree. What can't be
copied is a warning, never an error: the worktree is good without it.
"""

import os
import stat

from gitlock.domain.value import Value
from gitlock.errors import GitlockError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pathspec import GitIgnoreSpec

    from gitlock.git.process import Git
    from gitlock.git.repository import Repository

LIST = ".worktreeinclude"
LIST_LIMIT = 1 << 20  # bytes
WARNINGS = 10  # as many are told; the rest are counted
WILDCARDS = 3  # in one name of a pattern: what matches them takes that power of a name's length
DEPTHS = 2  # ``**`` of a pattern, for the same reason

_FICLONE = 0x40049409  # ioctl_ficlone(2): both files share their blocks until one of them is written
_CHUNK = 1 << 24  # bytes copied at a time
_NOFOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW


class Seeded(Value):
    """What was copied: ``copied`` files, ``size`` bytes of them. ``warnings`` are sentences, ``is_whole`` says that
    nothing that was to be copied is missing. ``wanted`` is False where the commit has no list."""

    __slots__ = ("copied", "is_whole", "size", "wanted", "warnings")

    def __init__(
        self, copied: int = 0, size: int = 0, warnings: tuple[str, ...] = (), *, is_whole: bool = True,
        wanted: bool = True,
    ) -> None:  # fmt: skip
        self.copied = copied
        self.size = size
        self.warnings = warnings
        self.is_whole = is_whole
        self.wanted = wanted


def source_of(repository: "Repository") -> str | None:
    """The worktree whose files are copied: the one that was asked from, else the main one; None where there is none."""
    if repository.top is not None:
        return repository.top
    from gitlock.git.checkouts import list_checkouts

    main = list_checkouts(repository.git)[:1]
    return next((one.path for one in main if not one.bare and not one.gone), None)


def seed(
    git_source: "Git", source_top: str, target_top: str, base: str, stop: "Callable[[], bool]" = lambda: False
) -> Seeded:
    """Copies what the list of the commit ``base`` names from one worktree to the other, until ``stop`` says so."""
    source, target = git_source.elsewhere(source_top), git_source.elsewhere(target_top)
    text, fault = _list_of(source, base)
    if text is None:
        return Seeded(warnings=(fault,) if fault else (), is_whole=not fault, wanted=bool(fault))
    told = _Told()
    spec = _spec(text, told)
    try:
        paths = _chosen(source, target, base, spec, told)
        copier = _Copier(source_top, target_top, spec, told)
        try:
            for path in paths:
                if stop() or copier.is_full:
                    break
                copier.copy(path)
        finally:
            copier.close()
    except (GitlockError, OSError) as error:
        told.add(f"ignored files were not copied: {error.message if isinstance(error, GitlockError) else error}")
        return Seeded(0, 0, told.lines(), is_whole=False)
    return Seeded(copier.copied, copier.size, told.lines(), is_whole=told.is_whole)


class _Told:
    """Warnings by kind: one sentence a kind names the first path, and counts the others."""

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self.is_whole = True

    def add(self, text: str, path: str | None = None, *, harmless: bool = False) -> None:
        self._kinds.setdefault(text, []).extend([path] if path is not None else [])
        self.is_whole = self.is_whole and harmless

    def lines(self) -> tuple[str, ...]:
        rows = []
        for text, paths in self._kinds.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            rows.append(f"{text}: '{paths[0]}'{more}" if paths else text)
        if len(rows) > WARNINGS:
            rows[WARNINGS - 1 :] = [f"and {len(rows) - WARNINGS + 1} more warnings about ignored files"]
        return tuple(rows)


def _list_of(git: "Git", base: str) -> tuple[bytes | None, str]:
    """The list as the commit has it; None and why where it has none, or one that can't be."""
    entry = git.run("ls-tree", "-z", "--full-tree", base, "--", LIST).decode("utf-8", "surrogateescape")
    if not entry:
        return None, ""
    mode, kind, blob = entry.partition("\t")[0].split(" ")
    if kind != "blob" or mode == "120000":
        return None, f"{LIST} is no plain file: no ignored files were copied"
    if int(git.run("cat-file", "-s", blob)) > LIST_LIMIT:
        return None, f"{LIST} is larger than {LIST_LIMIT >> 20} MiB: no ignored files were copied"
    return git.run("cat-file", "blob", blob), ""


def _spec(text: bytes, told: _Told) -> "GitIgnoreSpec":
    """The list's patterns; a line that can't be one is left out, with a warning."""
    import warnings

    from pathspec import GitIgnoreSpec

    good = []
    for number, line in enumerate(os.fsdecode(text).removeprefix("\ufeff").splitlines(), 1):
        try:
            if _is_costly(line):
                raise ValueError
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the regular expressions made from somebody's [[
                GitIgnoreSpec.from_lines([line])
            good.append(line)
        except Exception:  # noqa: BLE001 - `re.error` and whatever a pattern library raises
            told.add(f"{LIST}:{number} is no pattern that we take, and was left out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GitIgnoreSpec.from_lines(good)


def _is_costly(line: str) -> bool:
    """Whether matching could take very long: these patterns become regular expressions that go back on their steps."""
    if line.startswith("#"):
        return False
    names = line.split("/")
    return len(line) > 4096 or names.count("**") > DEPTHS or any(name.count("*") > WILDCARDS for name in names)


def _chosen(source: "Git", target: "Git", base: str, spec: "GitIgnoreSpec", told: _Told) -> list[str]:
    """The ignored files that the list names, and that are nobody's business in the new worktree yet."""
    found = source.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    paths = [path for path in os.fsdecode(found).split("\0")[:-1] if _is_plain(path) and spec.match_file(path)]
    if not paths:
        return []
    tracked = set(os.fsdecode(target.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", base)).split("\0")[:-1])
    paths = [path for path in paths if path not in tracked]
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    said = target.feed("check-ignore", "-z", "--stdin", stdin=names, ok=(0, 1)) if paths else b""
    ignored = set(os.fsdecode(said).split("\0")[:-1])
    for path in paths:
        if path not in ignored:
            told.add("not ignored in the new worktree, so not copied", path)
    return sorted(path for path in paths if path in ignored)


def _is_plain(path: str) -> bool:
    """Whether it is a file's, and not of git. A nested repository is listed as a folder."""
    names = path.split("/")
    return not any(name in ("", ".", "..") or name.lower() == ".git" for name in names)


class _Copier:
    """Copies files one by one; both ends stay below the folders that they were opened at."""

    def __init__(self, source: str, target: str, spec: "GitIgnoreSpec", told: _Told) -> None:
        self._spec = spec
        self._roots = (os.open(source, _FOLDER), os.open(target, _FOLDER))
        self._told = told
        self._place: tuple[str, int, int] | None = None
        self._foreign: set[str] = set()
        self.copied = 0
        self.size = 0
        self.is_full = False

    def close(self) -> None:
        self._leave()
        for fd in self._roots:
            os.close(fd)

    def copy(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if any(path.startswith(above) for above in self._foreign):
            return
        try:
            if self._place is None or self._place[0] != folder:
                self._enter(folder)
            if self._place is not None:
                self._copy(path, name, self._place[1], self._place[2])
        except FileNotFoundError:
            self._told.add("gone before it was copied", path)
        except FileExistsError:
            return  # nothing is overwritten
        except OSError as error:
            from errno import EDQUOT, ELOOP, ENOSPC, ENOTDIR

            if error.errno in (ELOOP, ENOTDIR):
                self._told.add("behind a symbolic link, so not copied", path)
            else:
                self.is_full = error.errno in (ENOSPC, EDQUOT)
                self._told.add(f"can't be copied ({error.strerror})", path)

    def _leave(self) -> None:
        if self._place is not None:
            os.close(self._place[1])
            os.close(self._place[2])
            self._place = None

    def _enter(self, folder: str) -> None:
        self._leave()
        here, there = (os.dup(fd) for fd in self._roots)
        try:
            at = ""
            for name in folder.split("/") if folder else ():
                at += name + "/"
                here = _step(here, name)
                if _has(here, ".git"):
                    self._foreign.add(at)
                    self._told.add("a repository of its own, so not copied", at, harmless=True)
                    return
                try:
                    os.mkdir(name, 0o700, dir_fd=there)
                    is_new = True
                except FileExistsError:
                    is_new = False
                there = _step(there, name)
                if is_new:
                    os.fchmod(there, stat.S_IMODE(os.fstat(here).st_mode) & 0o777 | 0o700)
            self._place = (folder, here, there)
            self._tell_of_others(at, here)
        finally:
            if self._place is None:
                os.close(here)
                os.close(there)

    def _tell_of_others(self, at: str, here: int) -> None:
        """Pipes, sockets and devices: git does not list them, but who named them should know."""
        with os.scandir(here) as entries:
            for entry in entries:
                is_other = not (entry.is_file(follow_symlinks=False) or entry.is_dir() or entry.is_symlink())
                if is_other and self._spec.match_file(at + entry.name):
                    self._told.add("neither a file nor a link, so not copied", at + entry.name)

    def _copy(self, path: str, name: str, here: int, there: int) -> None:
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            os.symlink(os.readlink(name, dir_fd=here), name, dir_fd=there)
            self.copied += 1
            return
        # Between the look and the opening it may have become a pipe, which must not keep us waiting.
        source = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW, dir_fd=here)
        try:
            found = os.fstat(source)
            if stat.S_ISREG(found.st_mode):
                self._copy_file(name, source, found, there)
            else:
                self._told.add("neither a file nor a link, so not copied", path)
        finally:
            os.close(source)

    def _copy_file(self, name: str, source: int, found: os.stat_result, there: int) -> None:
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600, dir_fd=there)
        try:
            for size in _pour(source, target):
                self.size += size
            os.fchmod(target, stat.S_IMODE(found.st_mode) & 0o777)
            os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))  # tools compare times, and build all anew
        except BaseException:
            os.unlink(name, dir_fd=there)  # half a file is worse than none
            raise
        finally:
            os.close(target)
        self.copied += 1


def _step(fd: int, name: str) -> int:
    """The folder of that name in the one given, which is closed then. A link is no folder."""
    inner = os.open(name, _FOLDER, dir_fd=fd)
    os.close(fd)
    return inner


def _has(fd: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
        return True
    except OSError:
        return False


def _pour(source: int, target: int) -> "Iterator[int]":
    """Copies all bytes, in the cheapest way that works; yields how many were copied each time."""
    try:
        import fcntl

        fcntl.ioctl(target, _FICLONE, source)
        yield os.fstat(target).st_size
        return
    except (ImportError, OSError):
        pass  # another system, or a file system that shares no blocks
    copy = getattr(os, "copy_file_range", None)
    while copy is not None:
        try:
            size = copy(source, target, _CHUNK)
        except OSError as error:
            from errno import EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EXDEV

            if error.errno not in (EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EXDEV):
                raise
            break
        if size == 0:
            break  # the end, or a file (of /proc, of some network) that must be read to be seen
        yield size
    while chunk := os.read(source, _CHUNK):
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]
        yield len(chunk)
