"""Trial merges: would what two worktrees hold now go together? Uncommitted work included, and nothing is left behind.

Objects that have to be made go into a folder of their own, which is removed; the worktrees' indexes are not touched.
Source: git-merge-tree(1), ``--write-tree`` (git 2.38); git(1), ``GIT_OBJECT_DIRECTORY``.
"""

import os
import tempfile

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.process import failure
from gitlock.git.together import ask_together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gitlock.git.process import Git
    from gitlock.git.together import Asked, Unknown

_AUTHOR = {
    f"GIT_{role}_{what}": text
    for role in ("AUTHOR", "COMMITTER")
    for what, text in (("NAME", "git-lock"), ("EMAIL", "git-lock@localhost"), ("DATE", "@1 +0000"))
}


class Side(Value):
    """One worktree: its commit, and those of its uncommitted paths that matter."""

    __slots__ = ("dirty", "git", "head")

    def __init__(self, git: "Git", head: str, dirty: tuple[str, ...]) -> None:
        self.git = git
        self.head = head
        self.dirty = dirty


def try_merges(
    common_dir: str,
    sides: "Mapping[str, Side]",
    pairs: "Iterable[tuple[str, str]]",
    deadline: float,
) -> "dict[tuple[str, str], frozenset[str] | Unknown]":
    """For each pair of sides, by their names, the paths that git could not merge."""
    wanted = list(pairs)
    with tempfile.TemporaryDirectory(prefix="git-lock-trial-") as folder:
        objects = os.path.join(folder, "objects")
        os.mkdir(objects)
        environ = {
            **_AUTHOR, "GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _listed(common_dir),
        }  # fmt: skip
        names = sorted({name for pair in wanted for name in pair})
        tips = ask_together(
            [
                (sides[name].git, _commit(sides[name], os.path.join(folder, f"index.{number}"), environ))
                for number, name in enumerate(names)
            ],
            deadline=deadline,
        )
        by_name = dict(zip(names, tips, strict=True))
        found: dict[tuple[str, str], frozenset[str] | Unknown] = {}
        ready = []
        for pair in wanted:
            unknown = next((tip for name in pair if not isinstance(tip := by_name[name], str)), None)
            if unknown is not None:
                found[pair] = unknown
            else:
                ready.append(pair)
        # From the top of a worktree: in a folder below, git names paths as they are seen from there.
        asked = [(sides[a].git, _merge(str(by_name[a]), str(by_name[b]), environ)) for a, b in ready]
        merged = ask_together(asked, deadline=deadline)
        found.update(zip(ready, merged, strict=True))
        return found


def _listed(common_dir: str) -> str:
    """The repository's own objects, as an entry of a list that is parted by colons."""
    path = os.path.join(common_dir, "objects")
    if os.pathsep not in path and path[:1] != '"':
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _commit(side: Side, index: str, environ: dict[str, str]) -> "Callable[[Asked], str]":
    """What makes a commit of what the worktree holds: its own where nothing that matters is uncommitted."""

    def ask(git: "Asked") -> str:
        if not side.dirty:
            return side.head
        seen = {**environ, "GIT_INDEX_FILE": index}
        git.run("read-tree", side.head, environ=seen)
        paths = b"".join(os.fsencode(path) + b"\0" for path in side.dirty)
        git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=paths, environ=seen)
        tree = git.run("write-tree", environ=seen).decode("ascii").strip()
        return git.run("commit-tree", "-p", side.head, "-m", "trial", tree, environ=seen).decode("ascii").strip()

    return ask


def _merge(one: str, other: str, environ: dict[str, str]) -> "Callable[[Asked], frozenset[str]]":
    def ask(git: "Asked") -> frozenset[str]:
        words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
        status, out, err = git.try_run(*words, one, other, environ=environ)
        if status == 129:
            raise RepositoryError("this git is too old to try a merge (2.38 can)", id="git-too-old")
        tree, *names = os.fsdecode(out).split("\0")
        if status not in (0, 1) or not tree:  # 1 is also what it answers about a commit that is not there
            raise failure(words, status, err)
        return frozenset(name for name in names if name)

    return ask
