"""Saves a worktree before it is removed: its state as a commit that a ref of ours keeps, its ignored files beside it.

In this order: the files, the commit, the ref, the record. Killed in between, a half is left that nobody can take for
a whole: without the record there is no snapshot, and `gc` clears it away.
"""

import os

from gitlock.domain.quoting import word
from gitlock.domain.saved import OPERATION, Saved
from gitlock.errors import GitlockError, UnsafeError
from gitlock.git.operation import NOTES, operation
from gitlock.git.ownwork import shared
from gitlock.git.removing import lend
from gitlock.git.snapshots import take
from gitlock.stores.files.saved import SavedBook
from gitlock.usecases.retiring.facts import own_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.retiring import Facts, Refusal
    from gitlock.domain.worktree import Worktree
    from gitlock.git.process import Git
    from gitlock.git.worktrees import Entry
    from gitlock.usecases.retiring.facts import Place


def save(
    place: "Place", worktree: "Worktree", entry: "Entry", facts: "Facts", why: "list[Refusal]", *, ignored: bool
) -> Saved:
    """Saves everything that the removal would lose; ``GitlockError`` where it can't: then nothing may be removed.

    ``ignored`` says whether ignored files are saved as well (else the caller discards them).
    """
    assert entry.path is not None
    return _saved(place, worktree, entry.path, facts, why, ignored=ignored)


def save_rest(
    place: "Place", worktree: "Worktree", entry: "Entry", facts: "Facts", why: "list[Refusal]", scratch: str
) -> Saved:
    """Saves what git's entry still has of a worktree whose folder is gone: its index, and its commits. The files of
    the index are written to the folder ``scratch`` for that moment."""
    from shutil import rmtree

    rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch, mode=0o700)
    give_back = lend(entry.admin, scratch)
    try:
        place.repository.git.elsewhere(scratch).run("checkout-index", "--all", "--quiet", "--force")
        return _saved(place, worktree, scratch, facts, why, ignored=False)
    finally:
        give_back()
        rmtree(scratch, ignore_errors=True)


def _saved(
    place: "Place", worktree: "Worktree", top: str, facts: "Facts", why: "list[Refusal]", *, ignored: bool
) -> Saved:
    from secrets import token_hex

    if facts.head is None:
        raise UnsafeError(
            "there is no commit here yet for a snapshot to stand on",
            hint=f"git -C {word(top)} commit --allow-empty -m first", id="unborn",
        )  # fmt: skip
    git = place.repository.git
    name = token_hex(4)
    book = SavedBook(own_layout(place))
    lost = [row.partition(" ")[0] for row in facts.lost]
    there = git.elsewhere(top)
    keep = [facts.head]
    keep += [os.fsdecode(there.run("rev-parse", "--verify", oid + "^{commit}")).strip() for oid in lost]
    wanted = [path for path, _ in facts.ignored] if ignored else []
    aside = book.set_aside(name, top, wanted)
    try:
        admin = os.fsdecode(there.run("rev-parse", "--absolute-git-dir")).rstrip("\n")
        doing = operation(admin).kind if book.set_operation_aside(name, admin, NOTES) else None
        snapshot = take(there, message=f"worktree of {worktree.agent}, saved by git lock retire", keep=tuple(keep))
        assert snapshot is not None  # there is something to keep
        branch = _branch(there)
        saved = Saved(
            id=name,
            agent=worktree.agent,
            worktree=worktree.id,
            path=worktree.path,
            branch=branch,
            made_branch=worktree.made_branch and branch == worktree.branch,
            head=snapshot.head,
            commit=snapshot.commit,
            base=worktree.base,
            base_name=worktree.base_name,
            at=place.now().wall,
            bytes=sum(size for path, size in facts.ignored if ignored),
            aside=aside,
            why=tuple(one.what[:500] for one in why[:20]),
            extra={OPERATION: doing} if doing is not None else None,
        )
        shared(git, place.repository.common_dir).run("update-ref", saved.ref, snapshot.commit, "")
        book.write(saved)
    except GitlockError:
        book.remove(name)
        raise
    return saved


def drop_old(place: "Place", wall: float) -> int:
    """Forgets the snapshots that were kept for long enough, and halves of some; answers how many went.

    The ref goes before the record, so that a record is there for as long as there is something to clear.
    """
    layout = own_layout(place)
    book = SavedBook(layout)
    old = book.old(wall)
    for saved in old:
        shared(place.repository.git, place.repository.common_dir).try_run("update-ref", "-d", saved.ref, saved.commit)
        book.remove(saved.id)
    return len(old) + book.sweep_halves(wall)


def _branch(git: "Git") -> str | None:
    ref = git.line("symbolic-ref", "-q", "HEAD")
    return ref.removeprefix("refs/heads/") if ref is not None and ref.startswith("refs/heads/") else None
