"""Brings a worktree back as it was when it was removed: a new one for the same agent, made as a spawn makes it (all of
it, or nothing), with the index, the files and the ignored files of the snapshot."""

import os

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.domain.worktree import READY
from gitlock.errors import RepositoryError, UnsafeError, UsageError
from gitlock.git import branches
from gitlock.git.checkouts import list_checkouts
from gitlock.git.snapshots import put_back, read
from gitlock.stores.files.saved import SavedBook
from gitlock.usecases.retiring.resuming import resume
from gitlock.usecases.spawning.making import Begun, Order, begin, complete, give_up
from gitlock.usecases.spawning.undoing import is_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import Policy
    from gitlock.domain.saved import Saved
    from gitlock.domain.worktree import Worktree
    from gitlock.git.process import Git
    from gitlock.git.snapshots import Snapshot
    from gitlock.usecases.spawning.ground import Ground

_FOR_A_MOMENT = "git-lock-restoring"  # a branch to begin on, where HEAD is to be detached


class Restored(Value):
    """``because`` says why HEAD is detached although it was on a branch; ``missing`` are ignored files that could not
    be brought back, ``left_out`` (path, why) what the snapshot never held. ``halted`` says why the operation that was
    in progress is not any more."""

    __slots__ = ("because", "begun", "halted", "left_out", "missing", "record", "saved")

    def __init__(
        self,
        saved: "Saved",
        record: "Worktree",
        begun: Begun,
        because: str | None,
        missing: tuple[str, ...],
        left_out: tuple[tuple[str, str], ...],
        halted: str | None = None,
    ) -> None:
        self.halted = halted
        self.saved = saved
        self.record = record
        self.begun = begun
        self.because = because
        self.missing = missing
        self.left_out = left_out


def named_snapshot(book: SavedBook, word: str) -> "Saved":
    """The snapshot that ``word`` names: its id, the beginning of one (4 characters or more), or an agent that has just
    one. ``UsageError`` for anything else."""
    known = book.all()
    hits = [one for one in known if one.id == word] or [one for one in known if one.agent == word]
    if not hits and len(word) >= 4:
        hits = [one for one in known if one.id.startswith(word)]
    if len(hits) == 1:
        return hits[0]
    if hits:
        ids = ", ".join(one.id for one in hits)
        raise UsageError(f"'{word}' may be any of {len(hits)} snapshots: {ids}", hint="git lock restore --list")
    raise UsageError(f"there is no snapshot '{word}'", hint="git lock restore --list", id="no-such-snapshot")


def restore(ground: "Ground", saved: "Saved", *, agent: str, path: str | None, policy: "Policy") -> Restored:
    """Makes the worktree. The snapshot stays, and can be restored again elsewhere.

    On its branch where that is free and still where it was (or gone: then it is made again); else HEAD is detached at
    the commit that was checked out. No branch is ever moved. Never over anything that is there: ``UnsafeError``.
    """
    git = ground.git
    snapshot = _read(git, saved)
    assert snapshot.head is not None
    place = path if path is not None else saved.path
    _refuse_second(ground, saved, agent, place)
    _refuse_taken(place, saved)
    because = None if saved.branch is None else _unfree(git, saved.branch, snapshot.head)
    is_detached = saved.branch is None or because is not None
    branch = f"{_FOR_A_MOMENT}-{saved.id}" if is_detached else saved.branch
    assert branch is not None
    is_there = branches.look_up(git, branch, folds_case=ground.fold.case).tip is not None
    if is_detached and is_there:
        raise UnsafeError(
            f"a restore of {saved.id} was broken off, or is at it: the branch '{branch}' is still there",
            hint="git lock doctor --fix", id="being-restored",
        )  # fmt: skip
    base = None if is_there else snapshot.head
    begun = begin(ground, Order(agent, branch=branch, base=base, path=place, policy=policy))
    assert isinstance(begun, Begun)
    record = begun.record.replace(
        base=saved.base, base_name=saved.base_name, made_branch=saved.made_branch and not is_detached
    )
    try:
        put_back(git.elsewhere(record.path), snapshot)
        missing = SavedBook(ground.layout).bring_back(saved, record.path)
        ground.heed()
        halted = None
        if is_detached:
            git.elsewhere(record.path).run("update-ref", "--no-deref", "HEAD", snapshot.head)
            git.run("update-ref", "-d", branches.HEADS + branch, snapshot.head)
            record = record.replace(branch=None)
        if saved.operation is not None:
            book = SavedBook(ground.layout)
            halted = resume(git, ground.repository.common_dir, book, saved, record.path)
        record = complete(ground, begun.replace(record=record), "none")
    except BaseException:
        give_up(ground, begun)
        raise
    return Restored(saved, record, begun, because, tuple(missing), snapshot.left_out, halted)


def _read(git: "Git", saved: "Saved") -> "Snapshot":
    found = git.line("rev-parse", "-q", "--verify", "--end-of-options", saved.commit + "^{commit}")
    snapshot = read(git, saved.commit) if found is not None else None
    if snapshot is None or snapshot.head is None:
        raise RepositoryError(
            f"the commit of the snapshot {saved.id} is gone: somebody has deleted its ref",
            hint="git fsck --lost-found", id="snapshot-lost",
        )  # fmt: skip
    return snapshot


def _refuse_second(ground: "Ground", saved: "Saved", agent: str, place: str) -> None:
    """An agent has one worktree: what is to be looked at beside it is another's, at another place."""
    own = next((one for one in ground.book.all() if one.agent == agent and one.state == READY), None)
    if own is not None and not is_gone(ground, own):
        elsewhere = place if not os.path.lexists(place) else place + ".restored"
        raise UnsafeError(
            f"'{agent}' has a worktree: '{own.path}' is there",
            hint=f"git lock restore {saved.id} --as {agent}-restored --path {word(elsewhere)}", id="has-worktree",
        )  # fmt: skip


def _refuse_taken(place: str, saved: "Saved") -> None:
    try:
        is_empty = not os.listdir(place)
    except FileNotFoundError:
        is_empty = True
    except OSError:
        is_empty = False
    if not is_empty:
        raise UnsafeError(
            f"'{place}' is there already, and nothing is restored over it",
            hint=f"git lock restore {saved.id} --path {word(place + '.restored')}", id="path-taken",
        )  # fmt: skip


def _unfree(git: "Git", branch: str, head: str) -> str | None:
    """Why the worktree can't be on its branch again; None where it can."""
    tip = git.line("rev-parse", "-q", "--verify", f"{branches.HEADS}{branch}^{{commit}}")
    if tip is not None and tip != head:
        return f"branch '{branch}' points elsewhere by now"
    holder = next((one.path for one in list_checkouts(git) if one.branch == branch), None)
    return f"branch '{branch}' is checked out in '{holder}'" if holder is not None else None
