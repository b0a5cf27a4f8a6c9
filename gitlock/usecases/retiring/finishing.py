"""The last step of a removal, when git's entry is gone: it is never taken back, and may be done twice."""

import os

from gitlock.domain.agent import related
from gitlock.domain.holding import Released
from gitlock.domain.lease import Ended
from gitlock.domain.retiring import Permit, Refusal
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.value import Value
from gitlock.domain.worktree import RETIRING
from gitlock.errors import GitlockError, StoreError
from gitlock.git.checkouts import list_checkouts, rewritten_in
from gitlock.git.integration import is_integrated
from gitlock.git.ownwork import branch_tip, delete_branch, shared
from gitlock.git.removing import delete_tree
from gitlock.stores.files.sessions import SessionBook
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.retiring.facts import own_layout
from gitlock.usecases.settings.travelling import forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.domain.retiring import BranchWork, Facts
    from gitlock.domain.saved import Saved
    from gitlock.domain.worktree import Worktree
    from gitlock.usecases.retiring.facts import Place


class Fate(Value):
    """What became of a branch that was worked on there; ``because`` says why it was kept, or what proved it."""

    __slots__ = ("because", "deleted", "name", "tip")

    def __init__(self, name: str, tip: str | None, deleted: bool, because: str) -> None:
        self.name = name
        self.tip = tip
        self.deleted = deleted
        self.because = because


class Outcome(Value):
    """What happened. ``removed`` is False for a refusal, and for what was only tried (``dry_run``). ``refusals`` are
    the reasons that stopped it, ``overruled`` those that the caller went over. ``left`` is a folder that could not be
    deleted, with why."""

    __slots__ = (
        "branches", "dry_run", "left", "overruled", "refusals", "released", "removed", "saved", "warnings", "worktree",
    )  # fmt: skip

    def __init__(
        self,
        worktree: "Worktree",
        *,
        removed: bool = False,
        dry_run: bool = False,
        refusals: tuple[Refusal, ...] = (),
        overruled: tuple[Refusal, ...] = (),
        saved: "Saved | None" = None,
        branches: tuple[Fate, ...] = (),
        released: "tuple[Lease, ...]" = (),
        left: tuple[str, str] | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.worktree = worktree
        self.removed = removed
        self.dry_run = dry_run
        self.refusals = refusals
        self.overruled = overruled
        self.saved = saved
        self.branches = branches
        self.released = released
        self.left = left
        self.warnings = warnings


def finish(
    place: "Place", book: WorktreeBook, worktree: "Worktree", outcome: Outcome, known: "tuple[BranchWork, ...]",
    *, keep: bool = False,
) -> Outcome:  # fmt: skip
    """Ends its leases and sessions, deletes its branch if its work has landed, then its files, and last of all the
    record."""
    warnings = list(outcome.warnings)
    released = _let_go(place, worktree, warnings)
    branches = _branches(place, worktree, known, keep=keep)
    left = None
    for trash in trash_of(worktree):
        why = delete_tree(trash)
        if why is not None:
            left = (trash, why)
    with book.lock():
        again = book.find(worktree.id)
        if again is not None and again.state == RETIRING and left is None:
            book.remove(worktree.id)
            _remove_folders_above(worktree)
    forget(own_layout(place), worktree.path)
    return outcome.replace(
        removed=True, released=released, branches=branches, left=left, warnings=tuple(warnings)
    )


def _remove_folders_above(worktree: "Worktree") -> None:
    """The folders that were made for it, where nothing else is in them; under the lock, or a spawn that has just made
    one of them would find it gone."""
    made, path = worktree.made_folder, os.path.dirname(worktree.path)
    while made is not None and (path == made or path.startswith(made + os.sep)):
        try:
            os.rmdir(path)
        except OSError:
            return
        path = os.path.dirname(path)


def trash_of(worktree: "Worktree") -> list[str]:
    """Where the folder may have been moved to: only places of ours, whatever the record says."""
    places = worktree.extra.get("trash")
    if not isinstance(places, list):
        return []
    return [
        path for path in places
        if isinstance(path, str) and (
            os.path.basename(path) == worktree.id or path.endswith(f".retired-{worktree.id}")
        )
    ]  # fmt: skip


def gives_way(path: str) -> bool:
    """Removes an empty folder; whether it was one."""
    try:
        os.rmdir(path)  # refused by the system for any other
    except OSError:
        return False
    return True


def _let_go(place: "Place", worktree: "Worktree", warnings: list[str]) -> "tuple[Lease, ...]":
    """Ends the leases that were taken there, in one write, and the sessions that worked there."""
    by = place.agent.id
    is_taken = os.path.lexists(worktree.path)  # by something of somebody's: what is held from there is theirs

    def plan(snapshot: Snapshot) -> "tuple[Edits, Released]":
        mine = tuple(
            one for one in snapshot.leases.all()
            if _was_there(one, worktree) and (not is_taken or related(one.agent, worktree.agent))
        )  # fmt: skip
        if not mine:
            return NOTHING, Released(())
        why = f"the worktree of {worktree.agent} was retired"
        events = tuple(Event("release", by, one.title, one.id, one.fence, note=why) for one in mine)
        # Whoever else held one (they may be at work still, where this was forced) hears of it.
        ended = tuple(
            Ended(one, "released", snapshot.now.wall, by=by, note=why) for one in mine if not related(one.agent, by)
        )
        return Edits(drop=tuple(one.id for one in mine), ended=ended, events=events), Released(mine)

    try:
        released = place.store.update(plan).released
    except StoreError as error:
        warnings.append(f"its leases could not be released: {error.message}")
        released = ()
    if released:
        from gitlock.usecases.wait import hand_on

        hand_on(place.store, place.fold, place.facts, released)
    sessions = SessionBook(place.store.layout)
    places = (worktree.path, os.path.realpath(worktree.path))
    for session in sessions.all():
        if session.worktree_id == worktree.id or (session.holder.worktree in places and not is_taken):
            sessions.remove(session.id)
    return released


def _was_there(lease: "Lease", worktree: "Worktree") -> bool:
    return lease.holder.worktree in (worktree.path, os.path.realpath(worktree.path))


def _branches(
    place: "Place", worktree: "Worktree", known: "tuple[BranchWork, ...]", *, keep: bool
) -> tuple[Fate, ...]:
    """Deletes the branch that was made for it if its work has landed; says of all what became of them."""
    git, common_dir = place.repository.git, place.repository.common_dir
    fates = []
    for one in known:
        if one.name != worktree.branch:
            fates.append(Fate(one.name, one.tip, False, "it was not made for this worktree"))
            continue
        try:
            because = _reason_to_keep(place, worktree, one, keep=keep)
        except GitlockError as error:
            because = f"it could not be looked at: {error.message}"
        if because is None:
            if delete_branch(git, common_dir, one.name, one.tip):
                fates.append(Fate(one.name, one.tip, True, f"{one.proof} ({one.target})"))
                continue
            now = branch_tip(git, common_dir, one.name)
            because = "it points elsewhere by now" if now is not None else "it is gone already"
        fates.append(Fate(one.name, branch_tip(git, common_dir, one.name), False, because))
    return tuple(fates)


def _reason_to_keep(place: "Place", worktree: "Worktree", one: "BranchWork", *, keep: bool) -> str | None:
    git = shared(place.repository.git, place.repository.common_dir)
    if not worktree.made_branch:
        return "it was there before the worktree"
    if keep:
        return "as you wished (--keep-branch)"
    if one.proof is None or one.target is None:
        return "it is pushed, but not merged" if one.pushed is not None else "its work is not merged"
    if not any(is_integrated(git, one.tip, ref + one.target).is_proved for ref in ("refs/heads/", "refs/remotes/")):
        return f"its work is not in {one.target} any more"
    other = next((tree.path for tree in list_checkouts(git) if tree.branch == one.name), None)
    if other is not None:
        return f"it is checked out in '{other}'"
    admin = rewritten_in(place.repository.common_dir, one.name)
    return f"a rebase or a bisect in progress comes back to it ('{admin}')" if admin is not None else None


def foreseen(worktree: "Worktree", facts: "Facts", permit: Permit) -> tuple[Fate, ...]:
    """What would become of the branches, for a dry run."""
    fates = []
    for one in facts.branches:
        goes = one.name == worktree.branch and worktree.made_branch and not permit.keep and one.proof is not None
        why = f"{one.proof} ({one.target})" if one.proof is not None else "its work is not merged"
        fates.append(Fate(one.name, one.tip, False, f"would be deleted: {why}" if goes else why))
    return tuple(fates)
