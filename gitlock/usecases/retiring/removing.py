"""Removes the worktree of an agent, or says why not. Nothing is lost at any step, and killed at any step it can be
finished or taken back.

1. Everything is looked at, without any lock: a refusal keeps nobody waiting.
2. Under the lock of those who make and remove worktrees, it is looked at again; ``--force`` saves what there is.
3. The record says ``retiring``; the folder is moved aside with one rename, and compared with what was seen: whoever
   wrote in between gets it back, and a refusal.
4. Git's entry of it goes, and that one only. From here on it is not taken back, but finished.
5. Without the lock: its leases and sessions end, a branch whose work is proved to have landed goes (by
   compare-and-swap), the files are deleted, and last of all the record.
"""

import os

from gitlock.domain.quoting import word
from gitlock.domain.retiring import Facts, Permit, refusals
from gitlock.domain.saved import ASIDE_BYTES, ASIDE_FILES
from gitlock.domain.worktree import CREATING, READY, RETIRING
from gitlock.errors import GitlockError, UnsafeError
from gitlock.git.removing import Look, delete_tree, forget_entry, look_at, move_aside
from gitlock.git.whereabouts import GOOD
from gitlock.stores.files.worktrees import WorktreeBook
from gitlock.usecases.retiring.facts import look, look_at_rest, main_worktree, own_layout, work_on
from gitlock.usecases.retiring.finding import Found, found, require_good
from gitlock.usecases.retiring.finishing import Outcome, finish, foreseen, gives_way, trash_of
from gitlock.usecases.retiring.saving import save, save_rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree
    from gitlock.git.worktrees import Entry
    from gitlock.usecases.retiring.facts import Neighbours, Place


def retire(
    place: "Place", worktree: "Worktree", permit: Permit, neighbours: "Neighbours", *, dry_run: bool = False,
    gone: bool = False,
) -> Outcome:  # fmt: skip
    """Removes the worktree unless something speaks against it that ``permit`` does not cover.

    ``gone``: its folder is known to be gone for good; git's entry and the record go. ``UnsafeError`` where record,
    entry and folder don't name one another.
    """
    book = WorktreeBook(own_layout(place))
    if worktree.state == CREATING:
        is_busy = book.is_being_made(worktree.id)
        what = "is being made at this moment" if is_busy else "was never finished: its spawn has died"
        helps = "git lock agents" if is_busy else "git lock doctor --fix"
        raise UnsafeError(f"the worktree of {worktree.agent} {what}", hint=helps, id="half-made")
    if worktree.state == RETIRING:
        if dry_run:
            return Outcome(worktree, dry_run=True, warnings=("its removal was broken off, and would be finished",))
        taken = take_up(place, book, worktree)
        if isinstance(taken, Outcome):
            return taken
        worktree = taken
    one = found(place, worktree)
    if gone and one.state != GOOD:
        return _clear(place, book, one, permit, dry_run=dry_run)
    entry = require_good(one)
    worktree = worktree.replace(path=entry.path)  # `git worktree move` does not tell us
    facts = look(place, worktree, entry, neighbours)
    outcome = _judged(place, worktree, facts, permit)
    if outcome.refusals or dry_run:
        return outcome.replace(dry_run=dry_run, branches=foreseen(worktree, facts, permit) if dry_run else ())
    at_work = book.making(worktree.id)
    try:
        with book.lock() as lock:
            lock.lend()  # a git of ours that outlives us still keeps the others waiting
            again = _still_there(book, worktree)
            entry = require_good(found(place, again))
            worktree = again.replace(path=entry.path)
            before = _seen(place, entry)  # first: what comes after it is noticed, whatever the looks and saving take
            facts = look(place, worktree, entry, neighbours)
            outcome = _judged(place, worktree, facts, permit)
            if outcome.refusals:
                return outcome
            if permit.force:
                saved = save(place, worktree, entry, facts, list(outcome.overruled), ignored=not permit.discard)
                outcome = outcome.replace(saved=saved)
            at_work.__enter__()
            worktree = _take_away(place, book, worktree, entry, outcome, before)
        return finish(place, book, worktree, outcome.replace(worktree=worktree), facts.branches, keep=permit.keep)
    finally:
        at_work.__exit__()


def _seen(place: "Place", entry: "Entry") -> Look:
    assert entry.path is not None
    return look_at(place.repository.git, entry.admin, entry.path)


def _still_there(book: WorktreeBook, worktree: "Worktree") -> "Worktree":
    again = book.find(worktree.id)
    if again is None or again.state == RETIRING:
        raise UnsafeError(
            f"somebody else is removing the worktree of {worktree.agent} at this moment", hint="git lock agents",
            id="being-removed",
        )  # fmt: skip
    return again


def take_up(place: "Place", book: WorktreeBook, worktree: "Worktree") -> "Worktree | Outcome":
    """Goes on with a removal that was broken off: taken back where git still has its entry (the answer is the worktree
    as it was), else finished. ``UnsafeError`` where somebody is at it, or something else lies at its place."""
    with book.lock():
        if book.is_being_made(worktree.id):
            raise UnsafeError(
                f"somebody else is removing the worktree of {worktree.agent} at this moment", hint="git lock agents",
                id="being-removed",
            )  # fmt: skip
        worktree = _taken_back(place, book, worktree)
    if worktree.state != RETIRING:
        return worktree
    return finish(place, book, worktree, Outcome(worktree), work_on(place, worktree))


def _judged(place: "Place", worktree: "Worktree", facts: "Facts", permit: Permit) -> Outcome:
    home = main_worktree(place.repository.common_dir) or place.repository.common_dir
    limit = ASIDE_BYTES if len(facts.ignored) <= ASIDE_FILES else 0
    reasons = refusals(worktree, facts, place.agent.id, home, limit=limit)
    stopping = tuple(one for one in reasons if not permit.covers(one))
    over = tuple(one for one in reasons if permit.covers(one))
    return Outcome(worktree, refusals=stopping, overruled=over)


def _take_away(
    place: "Place", book: WorktreeBook, worktree: "Worktree", entry: "Entry", outcome: Outcome, before: Look
) -> "Worktree":
    """Steps 3 and 4; ``before`` is what was there when it was judged."""
    git, common_dir, top = place.repository.git, place.repository.common_dir, entry.path
    assert top is not None
    folder, name = os.path.split(top)
    places = (os.path.join(place.folder, "trash", worktree.id), os.path.join(folder, f".{name}.retired-{worktree.id}"))
    # Both places are known before the folder is moved to one of them, so that whoever finds it knows where to look.
    snapshot = outcome.saved.id if outcome.saved is not None else None
    marked = worktree.replace(
        state=RETIRING, path=top, extra={**worktree.extra, "trash": list(places), "snapshot": snapshot}
    )
    book.write(marked)
    try:
        trash = move_aside(top, places)
    except GitlockError:
        book.write(worktree)
        raise
    try:
        if look_at(git, entry.admin, trash) != before:
            raise UnsafeError("something was changed there at this very moment", hint="git lock agents", id="changed")
        forget_entry(git, common_dir, entry)
    except GitlockError:
        if os.path.lexists(entry.admin) and not os.path.lexists(top):
            os.rename(trash, top)
            book.write(worktree)
        raise
    return marked


def _taken_back(place: "Place", book: WorktreeBook, worktree: "Worktree") -> "Worktree":
    again = book.find(worktree.id)
    if again is None or again.state != RETIRING:
        return again or worktree
    one = found(place, again)
    if one.entry is None:
        return again
    if _is_half_deleted(one.entry):
        delete_tree(one.entry.admin)  # git was at it, so everything was settled, and nothing can be taken back
        return again
    trash = next((path for path in trash_of(again) if os.path.lexists(path)), None)
    if trash is not None:
        if os.path.lexists(again.path) and not gives_way(again.path):
            raise UnsafeError(
                f"its removal was broken off: it lies in '{trash}' now, and '{again.path}' holds something else",
                hint=f"mv {word(again.path)} {word(again.path + '.other')}", id="in-the-way",
            )  # fmt: skip
        os.rename(trash, again.path)
    extra = {name: value for name, value in again.extra.items() if name not in ("trash", "snapshot")}
    back = again.replace(state=READY, extra=extra)
    book.write(back)
    return back


def _is_half_deleted(entry: "Entry") -> bool:
    return entry.path is None or not os.path.isfile(os.path.join(entry.admin, "HEAD"))


def _clear(place: "Place", book: WorktreeBook, one: Found, permit: Permit, *, dry_run: bool) -> Outcome:
    """Takes away git's entry and the record of a worktree whose own folder is gone. What lies at its path now is left
    alone."""
    worktree, entry = one.worktree, one.entry
    if entry is not None and entry.badge != (worktree.id, worktree.agent):
        require_good(one)
    at_work = book.making(worktree.id)
    try:
        with book.lock():
            _still_there(book, worktree)
            nothing = Facts(branches=work_on(place, worktree))
            facts = look_at_rest(place, worktree, entry) if entry is not None else nothing
            outcome = _judged(place, worktree, facts, permit)
            helps = ("git", "lock", "retire", worktree.id, "--gone", "--force")
            stopping = tuple(
                reason.replace(next=helps) if reason.id == "uncommitted" else reason for reason in outcome.refusals
            )
            if stopping or dry_run:
                fates = foreseen(worktree, facts, permit) if dry_run else ()
                return outcome.replace(refusals=stopping, dry_run=dry_run, branches=fates)
            at_work.__enter__()
            trash = os.path.join(place.folder, "trash", worktree.id)
            if entry is not None and permit.force and (facts.changed or facts.lost):
                saved = save_rest(place, worktree, entry, facts, list(outcome.overruled), trash + ".rest")
                outcome = outcome.replace(saved=saved)
            marked = worktree.replace(state=RETIRING, extra={**worktree.extra, "trash": [trash]})
            book.write(marked)
            if entry is not None:
                move_aside(entry.admin, [trash])
        return finish(place, book, marked, outcome.replace(worktree=marked), facts.branches, keep=permit.keep)
    finally:
        at_work.__exit__()
