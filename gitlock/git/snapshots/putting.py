"""Makes a fresh worktree look as another one did when its snapshot was taken."""

import os
import shutil
import stat
import tempfile

from gitlock.errors import RepositoryError
from gitlock.git.process import Git
from gitlock.git.snapshots.manifest import Kept, Manifest, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE = 32 << 20  # bytes of files that are read together: one git for many small ones


def put_back(git: Git, snapshot: Snapshot) -> None:
    """Gives the worktree that ``git`` stands in the snapshot's index and files.

    It must be at the snapshot's HEAD, and fresh: made with ``--no-checkout`` (the cheapest), or clean. Files that git
    does not track there are never overwritten. ``RepositoryError`` says what is in the way; nothing was changed then.
    """
    there, top = _worktree(git)
    if there.line("rev-parse", "-q", "--verify", "HEAD^{commit}") != snapshot.head:
        raise RepositoryError("the worktree is at another commit than the snapshot was taken at", id="unsafe")
    _lay(there, top, snapshot.manifest, flags=True)


def carry(git: Git, snapshot: Snapshot) -> None:
    """Lays the snapshot's changes over whatever commit the worktree is at.

    Who calls has made sure that the paths of the changes are the same in both commits. Which files are left out of
    the checkout (skip-worktree) stays the worktree's own affair, save for those whose changes are carried.
    """
    there, top = _worktree(git)
    _lay(there, top, snapshot.manifest, flags=False)


def _worktree(git: Git) -> tuple[Git, str]:
    top = git.line("rev-parse", "--show-toplevel")
    if top is None:
        raise RepositoryError("a snapshot can only be put into a worktree", id="bare-repository")
    there = git.elsewhere(top)
    there.environ["GIT_LITERAL_PATHSPECS"] = "1"
    return there, top


def _lay(git: Git, top: str, manifest: Manifest, *, flags: bool) -> None:
    index = git.line("rev-parse", "--path-format=absolute", "--git-path", "index")
    is_checked_out = index is not None and os.path.exists(index)
    if is_checked_out and git.run("status", "--porcelain", "-z", "--untracked-files=no"):
        raise RepositoryError("the worktree has changes of its own", id="unsafe")
    if not is_checked_out and manifest.head is not None:
        git.run("read-tree", "HEAD")
    tracked = _tracked(git)
    _refuse_overwriting(top, manifest, tracked if is_checked_out else {})
    delta = _delta(git, manifest)
    # The folders of what goes are emptied first: a file may stand where a folder was, and the other way round.
    dropped = [path for path, line in delta if line[:2] == "0 "] + [one.path for one in manifest.stages]
    for path in (*dropped, *manifest.gone, *(file.path for file in manifest.files)):
        if path in tracked:
            _remove(top, path)
    _feed_index(git, [line for _, line in delta])
    saved = {file.path for file in manifest.files}
    skipped = [path for path in manifest.skipped if flags or path in saved]
    tracked = _tracked(git)
    touched = {*saved, *manifest.gone, *(path for path, _ in delta)}.difference(manifest.skipped)
    shown = [path for path, tag in tracked.items() if tag in "Ss" and (flags or path in touched)]
    _mark(git, "--no-skip-worktree", shown)
    _mark(git, "--skip-worktree", [path for path in skipped if path in tracked])
    if is_checked_out:
        _check_out(git, [*shown, *(path for path, line in delta if line[:2] != "0 ")])
    else:
        _check_out(git, None)
    for path in skipped:
        if is_checked_out or path in saved:
            _remove(top, path)
    _feed_index(git, _stage_lines(manifest))
    _announce(git, manifest)
    _mark(git, "--assume-unchanged", [path for path in manifest.assumed if path in tracked])
    for path in manifest.gone:
        _remove(top, path)
    for file in manifest.files:
        for path in list(_found(top, file.path)):  # of a folder in its place, git does not tell every file as gone
            _remove(top, path)
    _write_files(git, top, manifest.files)
    git.try_run("update-index", "-q", "--refresh")  # its status says only that some files are changed


def _tracked(git: Git) -> dict[str, str]:
    """Path → git's tag letter: S is skip-worktree, lower case is assume-unchanged."""
    rows = os.fsdecode(git.run("ls-files", "-v", "-z")).split("\0")[:-1]
    return {row[2:]: row[0] for row in rows}


def _refuse_overwriting(top: str, manifest: Manifest, tracked: dict[str, str]) -> None:
    for file in manifest.files:
        _refuse_links(top, file.path, tracked)
        if file.path not in tracked:
            for path in _found(top, file.path):
                if path not in tracked:
                    raise RepositoryError(f"'{path}' is there already, and would be overwritten", id="unsafe")


def _found(top: str, path: str) -> "Iterator[str]":
    """The file at this path; where a folder is, all files in it."""
    place = os.path.join(top, path)
    if os.path.isdir(place) and not os.path.islink(place):
        for name in os.listdir(place):
            yield from _found(top, f"{path}/{name}")
    elif os.path.lexists(place):
        yield path


def _refuse_links(top: str, path: str, tracked: dict[str, str]) -> None:
    """A link in place of a folder would lead out of the worktree; one that git tracks here is replaced."""
    link = _link_above(top, path)
    if link is not None and link not in tracked:
        raise RepositoryError(f"'{link}' is a symbolic link, and '{path}' lies behind it", id="unsafe")


def _link_above(top: str, path: str) -> str | None:
    at = path.find("/")
    while at > 0:
        if os.path.islink(os.path.join(top, path[:at])):
            return path[:at]
        at = path.find("/", at + 1)
    return None


def _delta(git: Git, manifest: Manifest) -> list[tuple[str, str]]:
    """What was staged: (path, line for ``update-index --index-info``). A conflict's path is taken out here."""
    base = manifest.head or git.run("hash-object", "-t", "tree", os.devnull).decode().strip()
    fields = os.fsdecode(git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", base, manifest.staged)).split("\0")
    rows = []
    for head, path in zip(fields[:-1:2], fields[1::2], strict=True):
        _, mode, _, blob, _ = head[1:].split(" ")
        rows.append((path, f"{mode.lstrip('0') or '0'} {blob}\t{path}"))
    return rows


def _stage_lines(manifest: Manifest) -> list[str]:
    return [f"{one.mode} {one.blob} {one.number}\t{one.path}" for one in manifest.stages]


def _feed_index(git: Git, lines: "Iterable[str]") -> None:
    data = b"".join(os.fsencode(line) + b"\0" for line in lines)
    if data:
        git.feed("update-index", "-z", "--add", "--remove", "--replace", "--index-info", stdin=data)


def _mark(git: Git, flag: str, paths: list[str]) -> None:
    if paths:
        git.feed("update-index", "-z", flag, "--stdin", stdin=b"".join(os.fsencode(path) + b"\0" for path in paths))


def _check_out(git: Git, paths: list[str] | None) -> None:
    """Writes the files of the index: these, or all. Those with skip-worktree are left out."""
    if paths is None:
        git.run("checkout-index", "-q", "-a", "-f", "-u")
    elif paths:
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git.feed("checkout-index", "-q", "-f", "-u", "-z", "--stdin", stdin=data)


def _announce(git: Git, manifest: Manifest) -> None:
    """Announces paths as ``git add -N`` does, by files that stand in for them elsewhere: theirs may be gone."""
    if not manifest.intents:
        return
    admin = git.line("rev-parse", "--absolute-git-dir")
    folder = tempfile.mkdtemp(prefix="git-lock-announce-")
    try:
        for path, mode in manifest.intents:
            place = os.path.join(folder, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if mode == "120000":
                os.symlink("target", place)
            else:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700 if mode == "100755" else 0o600))
        names = b"".join(os.fsencode(path) + b"\0" for path, _ in manifest.intents)
        apart = git.elsewhere(folder)
        apart.environ.update(GIT_DIR=admin or "", GIT_WORK_TREE=folder)
        words = ("add", "-f", "-N", "--pathspec-from-file=-", "--pathspec-file-nul")
        apart.feed("-c", "core.sparseCheckout=false", *words, stdin=names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove(top: str, path: str) -> None:
    """Takes a file or link away, and the folders that are empty then. Never a folder with something in it."""
    place = os.path.join(top, path)
    if _link_above(top, path) is not None:
        return
    try:
        if stat.S_ISDIR(os.lstat(place).st_mode):
            os.rmdir(place)
        else:
            os.unlink(place)
        while (place := os.path.dirname(place)) != top:
            os.rmdir(place)
    except OSError:
        return  # not there, or not empty


def _write_files(git: Git, top: str, files: tuple[Kept, ...]) -> None:
    for file, data in _contents(git, files):
        place = os.path.join(top, file.path)
        _refuse_links(top, file.path, {})
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if file.mode is None:
            os.symlink(os.fsdecode(data), place)
            continue
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as out:
            out.write(data)
            if hasattr(os, "fchmod"):
                os.fchmod(fd, file.mode)


def _contents(git: Git, files: tuple[Kept, ...]) -> "Iterator[tuple[Kept, bytes]]":
    """The files with their bytes; not many more than ``_AT_ONCE`` of them in memory at a time."""
    names = b"".join(file.blob.encode() + b"\n" for file in files)
    sizes = git.feed("cat-file", "--batch-check=%(objectsize)", stdin=names).split() if files else []
    batch: list[Kept] = []
    total = 0
    for number, file in enumerate(files):
        batch.append(file)
        total += int(sizes[number])
        if total > _AT_ONCE or number == len(files) - 1:
            data = git.feed("cat-file", "--batch=%(objectsize)", stdin=b"".join(f"{f.blob}\n".encode() for f in batch))
            at = 0
            for one in batch:
                end = data.index(b"\n", at)
                size = int(data[at:end])
                yield one, data[end + 1 : end + 1 + size]
                at = end + size + 2
            batch, total = [], 0
