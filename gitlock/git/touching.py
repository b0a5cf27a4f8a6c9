"""What a worktree has touched: git's own status of it, and its commits since it left its base.

So edits that were made through a shell count as well. Renames are never detected: both names of one are touched.
"""

import os

from gitlock.domain.touched import COMMITTED, STAGED, UNMERGED, UNSTAGED, UNTRACKED, Sight, Touched
from gitlock.errors import RepositoryError
from gitlock.git.changes import parse_name_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.git.together import Asked

_STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--no-ahead-behind", "--untracked-files=all",
    "--ignore-submodules=none",
)  # fmt: skip
_BETWEEN = ("diff-tree", "-r", "--no-renames", "--ignore-submodules=none", "--name-status", "-z")
_NAME_AT = {"1": 8, "u": 10}  # fields before the name; git-status(1), "Porcelain Format Version 2"
_ORDER = (STAGED, UNSTAGED, UNTRACKED, UNMERGED, COMMITTED)


def touching(base: str | None, base_name: str | None, remotes: bool) -> "Callable[[Asked], Sight]":
    """The questions to one worktree. ``base`` is the commit that its branch began from, where that was recorded, and
    ``base_name`` the ref that its work is for, as full name; ``remotes`` says that there are any."""

    def ask(git: "Asked") -> Sight:
        head, branch, dirty = parse_status(git.run(*_STATUS))
        began, ahead, behind, unpushed = base, None, None, None
        committed: dict[str, bool] = {}
        name = None if base_name == f"refs/heads/{branch}" else base_name
        if head is not None and name is not None:
            status, out, _ = git.try_run("rev-list", "--left-right", "--count", f"{name}...{head}", "--")
            if status == 0:
                behind, ahead = (int(text) for text in out.split())
        if head is not None and ahead != 0:
            began = _began(git, head, base, name)
        elif ahead == 0:
            began = head
        if head is not None and began is not None and began != head:
            changes = parse_name_status(git.run(*_BETWEEN, began, head, "--"))
            committed = {change.path: change.status == "D" for change in changes}
        if head is not None and remotes:
            unpushed = int(git.run("rev-list", "--count", head, "--not", "--remotes"))
        return Sight(
            head=head, branch=branch, base=began, base_name=name, ahead=ahead, behind=behind, unpushed=unpushed,
            touched=_together(dirty, committed),
        )  # fmt: skip

    return ask


def _began(git: "Asked", head: str, base: str | None, name: str | None) -> str | None:
    """Where the worktree's own work begins: where it left what it is for (others' commits that it merged since are not
    its own); the recorded commit where that is not known."""
    if name is not None:
        status, out, _ = git.try_run("merge-base", name, head)
        if status == 0:
            return out.decode("ascii").split()[0]
    return base


def parse_status(out: bytes) -> tuple[str | None, str | None, dict[str, tuple[set[str], bool]]]:
    """Of ``status --porcelain=v2 --branch -z --no-renames``: commit, branch, and for each path how it is changed and
    whether it is gone."""
    entries = os.fsdecode(out).split("\0")
    if entries.pop():
        raise RepositoryError("git's status is cut short", id="git-failed")
    head = branch = None
    found: dict[str, tuple[set[str], bool]] = {}
    for entry in entries:
        kind = entry[:1]
        if kind == "#":
            name, _, value = entry[2:].partition(" ")
            if name == "branch.oid":
                head = None if value == "(initial)" else value
            elif name == "branch.head":
                branch = None if value == "(detached)" else value
            continue
        if kind == "?":
            path, kinds, gone = entry[2:].rstrip("/"), {UNTRACKED}, False
        elif kind in _NAME_AT:
            fields = entry.split(" ", _NAME_AT[kind])
            path, letters = fields[-1], fields[1]
            kinds = {UNMERGED} if kind == "u" else set()
            if kind == "1":
                kinds = {word for word, letter in ((STAGED, letters[0]), (UNSTAGED, letters[1])) if letter != "."}
            gone = "D" in letters
        else:
            raise RepositoryError(f"git's status has an entry of an unknown kind: {kind!r}", id="git-failed")
        if path in found:  # removed from the index, still there: once as deleted, once as untracked
            kinds, gone = kinds | found[path][0], False
        found[path] = (kinds, gone)
    return head, branch, found


def _together(dirty: dict[str, tuple[set[str], bool]], committed: dict[str, bool]) -> tuple[Touched, ...]:
    found = []
    for path in sorted({*dirty, *committed}):
        kinds, gone = dirty.get(path, (set(), committed.get(path, False)))
        whole = kinds | ({COMMITTED} if path in committed else set())
        found.append(Touched(path, tuple(word for word in _ORDER if word in whole), gone=gone))
    return tuple(found)
