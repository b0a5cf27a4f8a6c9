"""One branch: is there room for it, is it ours, and may it go? Full names of refs throughout.

A branch that we make carries a mark of ours in its log, from its first moment on, so that a process which died right
after can still be told to have made it; it is removed only with that mark, and only while it points where it was put.
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import UnsafeError, UsageError
from gitlock.git.process import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

HEADS = "refs/heads/"

REMOVED, ABSENT, MOVED, FOREIGN = "removed", "absent", "moved", "foreign"


class Room(Value):
    """``tip`` is the commit of the branch that is there already, None where there is none; ``clash`` is another one
    beside which git can't make it (``agent`` and ``agent/x``), or that differs in case alone where that is no
    difference."""

    __slots__ = ("clash", "tip")

    def __init__(self, tip: str | None, clash: str | None) -> None:
        self.tip = tip
        self.clash = clash


def require_valid(git: "Git", branch: str) -> None:
    """``UsageError`` for what git takes for no branch's name."""
    if branch.startswith("-") or git.try_run("check-ref-format", "--branch", branch)[0] != 0 or "@{" in branch:
        raise UsageError(f"'{branch}' can't name a branch", hint="git check-ref-format --branch NAME says what can")


def look_up(git: "Git", branch: str, *, folds_case: bool) -> Room:
    """Whether there is such a branch, or one that stands in its way."""
    below = HEADS if folds_case else HEADS + branch.partition("/")[0]
    out = git.run("for-each-ref", "--format=%(objectname) %(refname)", below)
    tip = clash = None
    wanted = branch.lower() if folds_case else branch
    for row in os.fsdecode(out).splitlines():
        oid, _, name = row.partition(" ")
        name = name.removeprefix(HEADS)
        seen = name.lower() if folds_case else name
        if name == branch:
            tip = oid
        elif seen == wanted or wanted.startswith(seen + "/") or seen.startswith(wanted + "/"):
            clash = clash or name
    return Room(tip, clash)


def create(git: "Git", branch: str, oid: str, mark: str) -> None:
    """Makes the branch, which tracks nothing; ``UnsafeError`` where somebody was quicker, or git can't."""
    done = git.start("update-ref", "--create-reflog", "-m", mark, HEADS + branch, oid, "")
    status, _, err = done.finish()
    if status == 0:
        return
    if "cannot lock ref" in err:
        said = err.strip().splitlines()[0].rpartition(": ")[2]
        raise UnsafeError(f"git can't make the branch '{branch}': {said}", hint="git branch --list", id="branch-clash")
    raise failure(("update-ref",), status, err)


def remove(git: "Git", branch: str, oid: str, mark: str) -> str:
    """Removes the branch if it is the one that was made with ``mark``, and still where it was put. Answers what became
    of it: ``removed``, ``absent``, ``moved`` or ``foreign``."""
    there = git.line("rev-parse", "--verify", "--quiet", HEADS + branch)
    if there is None:
        return ABSENT
    if there != oid:
        return MOVED
    if git.line("log", "-g", "-1", "--format=%gs", HEADS + branch, "--") != mark:
        return FOREIGN
    return REMOVED if git.try_run("update-ref", "-d", HEADS + branch, oid)[0] == 0 else MOVED


def upstream_of(git: "Git", branch: str) -> tuple[str, int] | None:
    """The name of a branch's upstream and how many commits the branch is behind it; None where there is none."""
    out = git.run("for-each-ref", "--format=%(upstream:short) %(upstream:track,nobracket)", HEADS + branch)
    name, _, track = os.fsdecode(out).strip().partition(" ")
    if not name or track == "gone":
        return None
    behind = track.partition("behind ")[2]
    return name, int(behind) if behind.isdigit() else 0
