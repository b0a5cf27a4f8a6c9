"""Which worktree is meant, and whether it is still the one that was made."""

import os

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.domain.worktree import CREATING
from gitlock.errors import UnsafeError, UsageError
from gitlock.git.badge import read_badge
from gitlock.git.whereabouts import FOREIGN, GOOD, MISSING, whereabouts
from gitlock.git.worktrees import entries, entry_of
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.retiring.facts import own_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree
    from gitlock.git.worktrees import Entry
    from gitlock.usecases.retiring.facts import Place


class Found(Value):
    """A worktree's record and git's entry of it (None: git has none). ``state`` is ``good``, ``missing`` or
    ``foreign``; ``what`` says what lies there where it is not good."""

    __slots__ = ("entry", "state", "what", "worktree")

    def __init__(self, worktree: "Worktree", entry: "Entry | None", state: str, what: str) -> None:
        self.worktree = worktree
        self.entry = entry
        self.state = state
        self.what = what


def named(place: "Place", name: str) -> "Worktree":
    """The record that ``name`` means: an agent, the id of a record, or the folder of a worktree. ``UnsafeError`` where
    several are meant, or where the worktree is nobody's; ``UsageError`` where there is none."""
    known = WorktreeBook(own_layout(place)).all()
    by_id = [one for one in known if one.id == name]
    if by_id:
        return by_id[0]
    by_agent = [one for one in known if one.agent == name]
    if len(by_agent) == 1:
        return by_agent[0]
    if by_agent:
        listed = "; ".join(f"{one.id} at '{one.path}'" for one in by_agent)
        raise UnsafeError(
            f"{name} has {len(by_agent)} worktrees, so name one by its id: {listed}",
            hint=f"git lock retire {by_agent[0].id}", id="ambiguous",
        )  # fmt: skip
    path = os.path.realpath(name)
    common = place.repository.common_dir
    for entry in entries(common):
        if entry.path is None or os.path.realpath(entry.path) != path:
            continue
        record = next((one for one in known if one.id == entry.id), None)
        if record is not None:
            return record
        raise UnsafeError(
            f"'{entry.path}' was not made by git-lock and is not adopted, so it is not ours to remove",
            hint=f"git lock spawn --adopt {word(entry.path)} NAME", id="not-ours",
        )  # fmt: skip
    if os.path.isdir(path) and os.path.exists(os.path.join(path, ".git")):
        raise UnsafeError(
            f"'{path}' is no linked worktree of this repository", hint="git worktree list", id="not-ours"
        )
    raise UsageError(f"there is no worktree of '{name}'", hint="git lock agents", id="no-such-worktree")


def found(place: "Place", worktree: "Worktree") -> Found:
    """Where the worktree of a record is: record, badge, entry and folder must name one another."""
    entry = entry_of(place.repository.common_dir, worktree.id)
    if entry is None:
        there = os.path.lexists(worktree.path)
        what = f"git has no entry of '{worktree.path}' any more"
        return Found(worktree, None, FOREIGN if there else MISSING, what)
    badge = read_badge(entry.admin)
    if worktree.state != CREATING and badge != (worktree.id, worktree.agent):
        whose = f"{badge[1]} ({badge[0]})" if badge is not None else "nobody"
        return Found(worktree, entry, FOREIGN, f"git's entry '{entry.admin}' says that it is of {whose}")
    state, what = whereabouts(entry)
    return Found(worktree, entry, state, what)


def require_good(one: Found) -> "Entry":
    """Git's entry of a worktree that is where it should be; ``UnsafeError`` with what to do for any other."""
    agent = one.worktree.agent
    if one.state == MISSING:
        raise UnsafeError(
            f"the worktree of {agent} is missing: {one.what} (moved away, or on a disk that is not mounted?)",
            hint=f"git lock retire {one.worktree.id} --gone, if it is gone for good", id="missing",
        )  # fmt: skip
    if one.state != GOOD or one.entry is None:
        helps = f"git worktree repair {word(one.worktree.path)}" if one.entry is not None else "git lock doctor --fix"
        if one.entry is not None and _is_taken(one):
            helps = f"git lock retire {one.worktree.id} --gone, if its own folder is gone for good"
        raise UnsafeError(
            f"what lies there is not the worktree of {agent}, so nothing is removed: {one.what}", hint=helps,
            id="not-the-worktree",
        )  # fmt: skip
    return one.entry


def _is_taken(one: Found) -> bool:
    """Whether the place holds another repository or worktree: then there is nothing to repair."""
    link = os.path.join(one.worktree.path, ".git")
    return os.path.isdir(link) or "another worktree" in one.what
