"""Takes a snapshot. Nothing in the worktree is written: trees are made through an index of our own elsewhere."""

import os
import re
import shutil
import stat
import tempfile

from gitlock.domain.value import Value
from gitlock.errors import GitFailed, RepositoryError
from gitlock.git.process import Git
from gitlock.git.snapshots.manifest import Kept, Manifest, Snapshot, Stage, parse, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_STATUS = (
    "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none",
)  # fmt: skip

# Bits of an index entry as `ls-files --debug` shows them. Source: git's read-cache.h; `--debug` is the only place
# where git tells of an announced file whatever has become of it since.
_ASSUMED, _INTENT, _SKIPPED = 0x8000, 1 << 29, 1 << 30
_DEBUG = re.compile(rb"(?:  [^\n]*\n){4}  size: \d+\tflags: ([0-9a-f]+)\n")

# Snapshots are ours, not the person's; and a person without a name and address can have one as well.
_SIGNATURE = {
    "GIT_AUTHOR_NAME": "git-lock", "GIT_AUTHOR_EMAIL": "git-lock@localhost",
    "GIT_COMMITTER_NAME": "git-lock", "GIT_COMMITTER_EMAIL": "git-lock@localhost",
}  # fmt: skip

SUBMODULE = "a submodule with changes of its own"
NESTED = "a repository of its own"


class Entry(Value):
    """One line of the index."""

    __slots__ = ("blob", "flags", "mode", "path", "stage")

    def __init__(self, path: str, mode: str, blob: str, stage: int, flags: int) -> None:
        self.path = path
        self.mode = mode
        self.blob = blob
        self.stage = stage
        self.flags = flags


def take(git: Git, *, message: str, keep: tuple[str, ...] = (), exact: bool = True) -> Snapshot | None:
    """The state of the worktree that ``git`` stands in; None where it is exactly HEAD and ``keep`` is empty.

    ``keep`` are further commits that must live as long as the snapshot (HEAD always does). Without ``exact``, files
    that git takes for unchanged are passed over, though a checkout might end their lines in another way.
    ``RepositoryError`` where something can't be read, or changes in this very moment: a snapshot is whole, or there
    is none.
    """
    top = git.line("rev-parse", "--show-toplevel")
    if top is None:
        raise RepositoryError("a snapshot needs a worktree, and there is none here", id="bare-repository")
    there = git.elsewhere(top)
    head = there.line("rev-parse", "-q", "--verify", "HEAD^{commit}")
    entries = list_entries(there)
    scratch = tempfile.mkdtemp(prefix="git-lock-snapshot-")
    try:
        staged = _staged_tree(there, entries, os.path.join(scratch, "index"))
        manifest = _examine(there, top, head, entries, staged, exact=exact)
        if not keep and _is_plain(there, manifest):
            return None
        tree = _tree(there, manifest, os.path.join(scratch, "files"))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    there.environ.update(_SIGNATURE)
    parents = [word for commit in dict.fromkeys((*([head] if head else []), *keep)) for word in ("-p", commit)]
    commit = there.feed("commit-tree", tree, *parents, stdin=os.fsencode(message) + b"\n").decode().strip()
    return Snapshot(commit, manifest)


def read(git: Git, commit: str) -> Snapshot:
    """The snapshot that a commit is; ``RepositoryError`` if it is none."""
    status, data, _ = git.try_run("cat-file", "blob", f"{commit}:manifest")
    name = git.line("rev-parse", "-q", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    if status or name is None:
        raise RepositoryError(f"'{commit}' is no snapshot", id="bad-snapshot")
    return Snapshot(name, parse(data))


def list_entries(git: Git) -> list[Entry]:
    """The whole index, conflicts and flags included."""
    data = git.run("ls-files", "-z", "--stage", "--debug")
    entries = []
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        debug = _DEBUG.match(data, end + 1)
        head, tab, path = data[at:end].partition(b"\t")
        words = head.decode("ascii").split(" ")
        if debug is None or not tab or len(words) != 3:
            raise RepositoryError("git's list of the index can't be understood", id="git-failed")
        entries.append(Entry(os.fsdecode(path), words[0], words[1], int(words[2]), int(debug[1], 16)))
        at = debug.end()
    return entries


def _staged_tree(git: Git, entries: list[Entry], index: str) -> str:
    """The tree of the index without its conflicts, through a copy of the index: unchanged folders cost nothing."""
    own = git.line("rev-parse", "--path-format=absolute", "--git-path", "index")
    if own is not None and os.path.exists(own):
        shutil.copyfile(own, index)
    copy = _with_index(git, index)
    conflicts = {entry.path for entry in entries if entry.stage}
    if conflicts:
        none = b"0" * len(entries[0].blob)
        # A split index would leave a part of the copy in the worktree's git folder.
        lines = b"".join(b"0 " + none + b"\t" + os.fsencode(path) + b"\0" for path in sorted(conflicts))
        copy.feed("-c", "core.splitIndex=false", "update-index", "-z", "--index-info", stdin=lines)
    return copy.run("write-tree", "--missing-ok").decode().strip()


def _examine(
    git: Git, top: str, head: str | None, entries: list[Entry], staged: str, *, exact: bool
) -> Manifest:  # fmt: skip
    """Compares the files with the index, and writes those that differ into the object store."""
    wanted, left_out = _differing(git)
    saved = set(wanted)
    for entry in entries:
        # Git does not look at these, so their files may hold anything.
        if entry.flags & (_ASSUMED | _SKIPPED) and entry.mode != "160000" and entry.path not in saved:
            wanted.append(entry.path)
    if exact:
        wanted += [path for path in _otherwise_ended(git, top, entries) if path not in saved]
    files, gone = _keep(git, top, list(dict.fromkeys(wanted)))
    by_path = {entry.path: entry for entry in entries if not entry.stage}
    files = [file for file in files if not _is_plain_copy(file, by_path.get(file.path))]
    skipped = tuple(entry.path for entry in entries if entry.flags & _SKIPPED)
    absent = set(skipped)
    return Manifest(
        head,
        staged,
        files=tuple(files),
        gone=tuple(path for path in gone if path not in absent),
        stages=tuple(Stage(one.path, one.mode, one.blob, one.stage) for one in entries if one.stage),
        intents=tuple((entry.path, entry.mode) for entry in entries if entry.flags & _INTENT),
        skipped=skipped,
        assumed=tuple(entry.path for entry in entries if entry.flags & _ASSUMED),
        left_out=tuple(left_out),
    )


def _is_plain_copy(file: Kept, entry: Entry | None) -> bool:
    """Whether a file that git does not look at is just what a checkout would make of it."""
    if entry is None or not entry.flags & (_ASSUMED | _SKIPPED) or entry.flags & _SKIPPED:
        return False  # with skip-worktree the checkout makes no file
    mode = "120000" if file.mode is None else "100755" if file.mode & 0o100 else "100644"
    return file.blob == entry.blob and mode == entry.mode


def _differing(git: Git) -> tuple[list[str], list[tuple[str, str]]]:
    """The paths whose files are not the index's or not in it, by git's own status; and what can't be kept."""
    wanted: list[str] = []
    left_out: list[tuple[str, str]] = []
    fields = os.fsdecode(git.run(*_STATUS)).split("\0")
    if fields.pop():
        raise RepositoryError("git's status is cut short", id="git-failed")
    for field in fields:
        if field[:2] == "? ":
            path = field[2:]
            if path.endswith("/"):
                left_out.append((path, NESTED))
            else:
                wanted.append(path)
        elif field[:2] == "u ":
            wanted.append(field.split(" ", 10)[10])
        else:
            _, letters, sub, _, _, _, _, _, path = field.split(" ", 8)
            if sub[0] == "S" and sub != "S...":
                left_out.append((path, SUBMODULE))
            elif letters[1] != ".":
                wanted.append(path)
    return wanted, left_out


def _otherwise_ended(git: Git, top: str, entries: list[Entry]) -> list[str]:
    """Files that git takes for unchanged, though a checkout would end their lines in another way (perhaps: to keep one
    too many costs nothing, since its bytes are mostly those of the index)."""
    settings = {name: git.line("config", "--get", f"core.{name}") or "" for name in ("autocrlf", "eol")}
    if not any(settings.values()) and not _mentions_text(git, top, entries):
        return []
    turned = settings["autocrlf"] == "true" or settings["eol"] == "crlf"
    suspects = []
    for field in os.fsdecode(git.run("ls-files", "--eol", "-z")).split("\0")[:-1]:
        head, _, path = field.partition("\t")
        stored, found, attributes = (word.partition("/")[2] for word in head.split(None, 2))
        if stored in ("", "-text", "none") or found == "" or "-text" in attributes:
            continue
        may_turn = "eol=crlf" in attributes or (turned and "eol=lf" not in attributes)
        if found != ("crlf" if may_turn and stored == "lf" else stored):
            suspects.append(path)
    return suspects


def _mentions_text(git: Git, top: str, entries: list[Entry]) -> bool:
    """Whether any attributes may have git change line ends."""
    if git.line("config", "--get", "core.attributesFile") is not None:
        return True
    places = [os.path.join(top, entry.path) for entry in entries if entry.path.endswith(".gitattributes")]
    own = git.line("rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
    texts = (_bytes_of(place) or b"" for place in (*places, *([own] if own else [])))
    return any(word in text for text in texts for word in (b"text", b"eol", b"crlf"))


def _bytes_of(place: str) -> bytes | None:
    try:
        with open(place, "rb") as file:
            return file.read()
    except OSError:
        return None


def _keep(git: Git, top: str, paths: list[str]) -> tuple[list[Kept], list[str]]:
    """The files at these paths as blobs of their very bytes; and the paths where no file is."""
    plain: list[tuple[str, int]] = []
    files: list[Kept] = []
    gone: list[str] = []
    for path in paths:
        place = os.path.join(top, path)
        try:
            found = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            gone.append(path)
            continue
        if stat.S_ISLNK(found.st_mode):
            blob = git.feed("hash-object", "-w", "--stdin", stdin=os.fsencode(os.readlink(place)))
            files.append(Kept(path, blob.decode().strip(), None))
        elif stat.S_ISREG(found.st_mode):
            plain.append((path, stat.S_IMODE(found.st_mode) & 0o777))
        else:
            gone.append(path)  # a folder or a device where a file was; what a folder holds is listed by itself
    simple = [(path, mode) for path, mode in plain if "\n" not in path and path[:1] != '"']
    try:
        lines = b"".join(os.fsencode(path) + b"\n" for path, _ in simple)
        names = git.feed("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=lines).decode().split()
        files += [Kept(path, name, mode) for (path, mode), name in zip(simple, names, strict=True)]
        for path, mode in plain:
            if "\n" in path or path[:1] == '"':  # a list by lines can't say these
                name = git.run("hash-object", "-w", "--no-filters", "--", path).decode().strip()
                files.append(Kept(path, name, mode))
    except GitFailed as error:
        raise RepositoryError(
            f"a file can't be read, or changes in this moment: {error.stderr.strip()}", id="unreadable"
        ) from error
    return files, gone


def _is_plain(git: Git, manifest: Manifest) -> bool:
    """Whether there is nothing that HEAD would not bring back."""
    if manifest.files or manifest.gone or manifest.stages or manifest.intents or manifest.assumed or manifest.left_out:
        return False
    if manifest.head is None:
        return git.run("ls-tree", manifest.staged) == b""
    return git.line("rev-parse", f"{manifest.head}^{{tree}}") == manifest.staged


def _tree(git: Git, manifest: Manifest, index: str) -> str:
    """The tree of the snapshot's commit."""
    note = git.feed("hash-object", "-w", "--stdin", stdin=write(manifest)).decode().strip()
    rows = [f"100644 blob {note}\tmanifest", f"040000 tree {manifest.staged}\tstaged"]
    if manifest.files:
        rows.append(f"040000 tree {_files_tree(git, manifest.files, index)}\tfiles")
    if manifest.stages:
        sides = [
            f"{one.mode} {'commit' if one.mode == '160000' else 'blob'} {one.blob}\t{number}"
            for number, one in enumerate(manifest.stages)
        ]
        rows.append(f"040000 tree {_make_tree(git, sides)}\tstages")
    return _make_tree(git, rows)


def _files_tree(git: Git, files: "Iterable[Kept]", index: str) -> str:
    """The kept files under their own names; by number where git would not have such a name in a tree."""
    rows = [("120000" if one.mode is None else "100755" if one.mode & 0o100 else "100644", one) for one in files]
    lines = b"".join(f"{mode} {one.blob} 0\t".encode() + os.fsencode(one.path) + b"\0" for mode, one in rows)
    apart = _with_index(git, index)
    try:
        apart.feed("update-index", "-z", "--add", "--index-info", stdin=lines)
        return apart.run("write-tree").decode().strip()
    except GitFailed:
        return _make_tree(git, [f"{mode} blob {one.blob}\t{number}" for number, (mode, one) in enumerate(rows)])


def _make_tree(git: Git, rows: list[str]) -> str:
    return git.feed("mktree", "-z", "--missing", stdin=b"".join(row.encode() + b"\0" for row in rows)).decode().strip()


def _with_index(git: Git, index: str) -> Git:
    apart = Git(git.folder, git.environ)
    apart.environ["GIT_INDEX_FILE"] = index
    return apart
