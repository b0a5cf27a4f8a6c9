"""What lies in a worktree besides the files that git tracks: other repositories, ignored files, hidden changes.

Everything here only looks. ``OSError`` and ``GitFailed`` mean that it could not be looked at.
"""

import os
import stat

from gitlock.git.repository import read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gitlock.git.process import Git

# What programs make again from what is committed. A folder of one of these names is passed over where git ignores it:
# dependencies, caches, what a compiler or a bundler made.
MADE_AGAIN = frozenset((
    # Python
    "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    ".eggs", ".ipynb_checkpoints", "htmlcov", "__pypackages__",
    # JavaScript
    "node_modules", "bower_components", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".angular",
    ".yarn", ".pnpm-store",
    # compilers and build tools
    "target", "dist", "build", "out", "_build", "obj", ".gradle", ".cache", ".ccache", ".dart_tool", ".stack-work",
    "dist-newstyle", "elm-stuff", "deps", "Pods", "DerivedData", "cmake-build-debug", "cmake-build-release",
    "bazel-bin", "bazel-out", "bazel-testlogs", ".terraform", "coverage",
))  # fmt: skip
MADE_AGAIN_ENDINGS = (
    ".pyc", ".pyo", ".o", ".obj", ".class", ".hi", ".d", ".rlib", ".rmeta", ".tsbuildinfo", ".gch", ".egg-info",
)  # fmt: skip
MADE_AGAIN_FILES = frozenset((".DS_Store", "Thumbs.db", ".eslintcache", ".coverage", ".stylelintcache"))

SAME_SIZE_LIMIT = 64 << 20  # bytes: larger files are not read to see whether the source has the same


def is_made_again(path: str) -> bool:
    """Whether an ignored file or folder is one that programs make again by themselves."""
    *folders, name = path.rstrip("/").split("/")
    if not MADE_AGAIN.isdisjoint(folders) or any(part.endswith(".egg-info") for part in folders):
        return True
    is_folder = path.endswith("/")
    return (is_folder and name in MADE_AGAIN) or name in MADE_AGAIN_FILES or name.endswith(MADE_AGAIN_ENDINGS)


def ignored_files(git: "Git", top: str, sources: "Iterable[str]") -> list[tuple[str, int]]:
    """Every ignored file that can't be made again, with its size in bytes, in the order of their paths.

    Not among them: what ``is_made_again``, and what lies in one of the worktrees ``sources`` with the same bytes at the
    same path (so it was copied from there, and is not lost). A link counts by where it leads, a pipe or socket not at
    all. Folders of other repositories are passed over: ``foreign_folders`` finds them.
    """
    there = git.elsewhere(top)
    out = there.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    found = []
    seen: set[str] = set()
    for path in sorted(os.fsdecode(out).split("\0")[:-1]):
        if is_made_again(path):
            continue
        for file in files_below(top, path) if path.endswith("/") else (path,):
            if file in seen:  # git names a file in an untracked folder, and the folder
                continue
            seen.add(file)
            size = _size(os.path.join(top, file))
            if size is not None and not any(
                is_same(os.path.join(top, file), os.path.join(source, file), SAME_SIZE_LIMIT) for source in sources
            ):
                found.append((file, size))
    return found


def files_below(top: str, folder: str) -> "Iterator[str]":
    """The files below an ignored folder, without what is made again and without other repositories."""
    with os.scandir(os.path.join(top, folder)) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name == ".git" for entry in listed):
        return
    for entry in listed:
        path = folder + entry.name
        if entry.is_dir(follow_symlinks=False):
            if not is_made_again(path + "/"):
                yield from files_below(top, path + "/")
        elif not is_made_again(path):
            yield path


def _size(path: str) -> int | None:
    found = os.lstat(path)
    return found.st_size if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else None


def is_same(one: str, other: str, limit: int | None = None) -> bool:
    """Whether two paths hold the same file or link, byte by byte; files larger than ``limit`` bytes never do."""
    try:
        first, second = os.lstat(one), os.lstat(other)
        if stat.S_ISLNK(first.st_mode):
            return stat.S_ISLNK(second.st_mode) and os.readlink(one) == os.readlink(other)
        if not (stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode)) or first.st_size != second.st_size:
            return False
        if limit is not None and first.st_size > limit:
            return False
        with open(one, "rb") as left, open(other, "rb") as right:
            while chunk := left.read(1 << 20):
                if chunk != right.read(1 << 20):
                    return False
        return True
    except OSError:
        return False


def foreign_folders(top: str, admin: str, ignores: "Callable[[list[str]], set[str]]") -> list[tuple[str, str]]:
    """Repositories, worktrees and file systems inside the worktree: pairs of (``repository``, ``submodule``,
    ``worktree`` or ``mount``, absolute path).

    Ignored folders that are made again are not entered (a package may carry a repository); whether git ignores a
    folder of such a name is asked with ``ignores`` (relative paths in, those that are ignored out).
    """
    found: list[tuple[str, str]] = []
    device = os.lstat(top).st_dev
    waiting = [""]
    while waiting:
        doubtful = []
        after = []
        for folder in waiting:
            with os.scandir(os.path.join(top, folder)) as entries:
                listed = list(entries)
            for entry in listed:
                path = f"{folder}{entry.name}"
                if entry.name == ".git" and folder:
                    found.append((_kind_of(entry.path, admin), os.path.join(top, folder.rstrip("/"))))
                elif entry.is_dir(follow_symlinks=False) and entry.name != ".git":
                    if os.lstat(entry.path).st_dev != device:
                        found.append(("mount", entry.path))
                    elif is_made_again(path + "/"):
                        doubtful.append(path)
                    else:
                        after.append(path + "/")
        if doubtful:
            passed = ignores(doubtful)
            after += [path + "/" for path in doubtful if path not in passed]
        waiting = after
    return found


def _kind_of(link: str, admin: str) -> str:
    text = read_small(link) if os.path.isfile(link) else None
    if text is None or not text.startswith("gitdir: "):
        return "repository"
    target = os.path.realpath(os.path.join(os.path.dirname(link), text[8:].rstrip("\n")))
    if target.startswith(os.path.join(os.path.realpath(admin), "modules") + os.sep):
        return "submodule"
    same_repository = os.path.dirname(os.path.dirname(os.path.realpath(admin)))
    return "worktree" if target.startswith(os.path.join(same_repository, "worktrees") + os.sep) else "repository"


def ignored_among(git: "Git", top: str) -> "Callable[[list[str]], set[str]]":
    """Says which of some paths git ignores there."""

    def ask(paths: list[str]) -> set[str]:
        there = git.elsewhere(top)
        rows = b"".join(os.fsencode(path) + b"\0" for path in paths)
        return set(os.fsdecode(there.feed("check-ignore", "-z", "--stdin", stdin=rows, ok=(0, 1))).split("\0")[:-1])

    return ask


def hidden_changes(git: "Git", top: str) -> list[str]:
    """Changed files that git was told to overlook (``assume-unchanged``, ``skip-worktree``): no status shows them.

    A file outside a sparse checkout is not there, and no change.
    """
    there = git.elsewhere(top)
    rows = os.fsdecode(there.run("ls-files", "-v", "-z")).split("\0")[:-1]
    found = []
    for tag, path in ((row[:1], row[2:]) for row in rows if row[:1].islower() or row[:1] == "S"):
        if os.path.lexists(os.path.join(top, path)):
            if _differs(there, top, path):
                found.append(path)
        elif tag not in "Ss":
            found.append(path)
    return sorted(found)


def _differs(git: "Git", top: str, path: str) -> bool:
    entry = os.fsdecode(git.run("ls-files", "-s", "-z", "--", f":(literal,top){path}")).partition("\t")[0].split(" ")
    file = os.path.join(top, path)
    if len(entry) != 3 or entry[0] == "160000":
        return False
    if os.path.islink(file) or entry[0] == "120000":
        return not os.path.islink(file) or os.readlink(file).encode("utf-8", "surrogateescape") != git.run(
            "cat-file", "blob", entry[1]
        )
    return os.fsdecode(git.run("hash-object", "--path", path, "--", file)).rstrip("\n") != entry[1]
