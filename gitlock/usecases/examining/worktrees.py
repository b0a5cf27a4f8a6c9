"""Worktrees of agents, as they were written down, against what is there."""

import os

from gitlock.domain.quoting import word
from gitlock.domain.worktree import CREATING, RETIRING
from gitlock.git.worktrees import entries, id_in
from gitlock.usecases.examining.finding import BAD, FIXED, NOTE, Finding
from gitlock.usecases.spawning.undoing import KEPT, UNDONE, is_gone, is_half, take_back_half

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree
    from gitlock.git.worktrees import Entry
    from gitlock.usecases.spawning.ground import Ground

ABOUT = "worktree"
FIX = "git lock doctor --fix"


def agents_worktrees(ground: "Ground", *, fix: bool) -> list[Finding]:
    """Spawns that died half way, records whose worktree is gone, and locks and badges that belong to no record.

    A half is taken back by ``fix``, and never where somebody has worked in it. What is gone may come back (a disk that
    is not mounted), so it is only said.
    """
    found = _looked_at(ground, fix=False)
    if not fix or not found:
        return found  # where nothing is to be mended nothing is written, not even the lock's file
    with ground.book.lock():
        return _looked_at(ground, fix=True)


def _looked_at(ground: "Ground", *, fix: bool) -> list[Finding]:
    records = ground.book.all()
    findings = []
    for record in records:
        if is_half(ground, record):
            findings.append(_half(ground, record, fix=fix))
        elif record.state not in (CREATING, RETIRING) and is_gone(ground, record):
            what = f"the worktree of {record.agent} at '{record.path}' is gone, or its disk is not mounted"
            findings.append(Finding(ABOUT, NOTE, what, f"git lock retire {record.id} --gone"))
    known = {one.id for one in ground.book.all()}
    for entry in entries(ground.repository.common_dir):
        if entry.id is not None and entry.id not in known:
            findings.append(_ownerless(entry, fix=fix))
    return findings


def _half(ground: "Ground", record: "Worktree", *, fix: bool) -> Finding:
    what = f"the spawn of {record.agent} at '{record.path}' died half way"
    if not fix:
        return Finding(ABOUT, BAD, what, FIX)
    done = take_back_half(ground, record)
    if done.kind == KEPT:
        return Finding(ABOUT, FIXED, f"{what}; {done.why}, so it was kept and counts as made")
    assert done.kind == UNDONE
    branch = f"; its branch '{record.branch}' was {done.branch} since, and is kept" if done.branch else ""
    return Finding(ABOUT, FIXED, f"{what}: it was taken back{branch}")


def _ownerless(entry: "Entry", *, fix: bool) -> Finding:
    """Git's entry says that it is an agent's, and there is no record of that: the store was lost, or a process died
    while it adopted the worktree. The worktree itself is left alone."""
    place = entry.path or entry.admin
    if fix:
        from gitlock.git.badge import remove_badge
        from gitlock.git.worktrees import unlock_entry

        remove_badge(entry.admin)
        unlocked = unlock_entry(entry)
        what = f"'{place}' is nobody's any more{', and unlocked' if unlocked else ''}: there was no record of it"
        return Finding(ABOUT, FIXED, what, f"git lock spawn --adopt {word(place)} NAME")
    whose = f"of {entry.badge[1]}" if entry.badge is not None else "of an agent"
    locked = " and is locked for that" if id_in(entry.reason) is not None else ""
    what = f"'{place}' says that it is {whose}{locked}, but there is no record of it"
    return Finding(ABOUT, NOTE if os.path.isdir(place) else BAD, what, FIX)
