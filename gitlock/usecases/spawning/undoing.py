"""Taking back what a spawn has made: its own, nothing else, and never anybody's work.

A record is written before anything is made and removed after everything is gone, so whatever dies in between can be
taken back by anybody later: a second time as well, since each step finds out by itself what is left to do. All of it
only under the lock of the book.
"""

import os

from gitlock.domain.agent import related
from gitlock.domain.lease import Ended
from gitlock.domain.quoting import word
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.value import Value
from gitlock.domain.worktree import CREATING, READY, RETIRING, mark_of
from gitlock.errors import GitlockError, UnsafeError
from gitlock.git import branches
from gitlock.git.badge import write_badge
from gitlock.git.changes import worktree_changes
from gitlock.git.contents import ignored_files, is_same
from gitlock.git.worktrees import Entry, entry_of, moved_to
from gitlock.usecases.settings.travelling import forget as forget_settings
from gitlock.usecases.settings.travelling import is_only_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.lease import Lease
    from gitlock.domain.worktree import Worktree
    from gitlock.usecases.spawning.ground import Ground

UNDONE, KEPT, FORGOTTEN = "undone", "kept", "forgotten"
TRIES = 3  # times that a folder is emptied: what was started in it may write a last file


class Recovered(Value):
    """What became of a record whose worktree was not as it says: ``undone`` (a half was taken back), ``kept`` (it holds
    somebody's work, and counts as made; ``why`` says what), or ``forgotten`` (the worktree is gone). ``leases`` ended
    with it; ``branch`` says why its branch is still there (None: it is not, or was never ours), and ``aside`` where
    git's own folder for it was put, if there was one."""

    __slots__ = ("aside", "branch", "kind", "leases", "record", "why")

    def __init__(
        self,
        kind: str,
        record: "Worktree",
        *,
        why: str = "",
        leases: "tuple[Lease, ...]" = (),
        branch: str | None = None,
        aside: str | None = None,
    ) -> None:
        self.kind = kind
        self.record = record
        self.why = why
        self.leases = leases
        self.branch = branch
        self.aside = aside


def is_half(ground: "Ground", record: "Worktree") -> bool:
    """Whether whoever began to make it is gone."""
    return record.state == CREATING and not ground.book.is_being_made(record.id)


def is_gone(ground: "Ground", record: "Worktree") -> bool:
    """Whether a worktree that was made is not there any more: its folder, or git's entry for it."""
    if record.state in (CREATING, RETIRING):
        return False
    entry = entry_of(ground.repository.common_dir, record.id)
    return entry is None or not entry.is_there


def recover(
    ground: "Ground", records: "Iterable[Worktree]", *, agent: str | None = None, branch: str | None = None,
    path: str | None = None,
) -> list[Recovered]:  # fmt: skip
    """Clears away what is in the way of a new worktree: halves of the agent's, of this branch or at this path, and the
    record of a worktree of the agent's that is gone. With nothing named: all of them."""
    everything = agent is None and branch is None and path is None
    found = []
    for record in records:
        if is_half(ground, record):
            if everything or record.agent == agent or record.branch == branch or record.path == path:
                found.append(take_back_half(ground, record))
        elif (everything or record.agent == agent or record.path == path) and is_gone(ground, record):
            found.append(forget(ground, record))
    return found


def take_back_half(ground: "Ground", record: "Worktree") -> Recovered:
    """A half whose maker died: taken back, unless somebody has begun to work in it; then it counts as made."""
    entry = entry_of(ground.repository.common_dir, record.id)
    why = None if entry is None or not entry.is_there else work_in(ground, record, entry)
    if why is None:
        return take_back(ground, record)
    assert entry is not None
    if entry.badge is None:
        write_badge(entry.admin, record.id, record.agent)
    ground.book.write(record.replace(state=READY, setup="failed"))
    ground.book.is_made(record.id)
    return Recovered(KEPT, record, why=why)


def take_back(ground: "Ground", record: "Worktree") -> Recovered:
    """Removes everything that was made for the record, and at last the record."""
    entry = entry_of(ground.repository.common_dir, record.id)
    _remove_folder(record, entry)
    if entry is not None:
        _remove_tree(entry.admin)
    branch = None
    if record.made_branch and record.branch is not None:
        became = branches.remove(ground.git, record.branch, record.tip, mark_of(record.id))
        branch = None if became in (branches.REMOVED, branches.ABSENT) else became
    leases = _drop_leases(ground, record)
    ground.book.remove(record.id)
    forget_settings(ground.layout, record.path)
    return Recovered(UNDONE, record, leases=leases, branch=branch)


def forget(ground: "Ground", record: "Worktree") -> Recovered:
    """The worktree is gone: its leases end, and whoever held them hears of it; its slot is free; its branch stays.

    Git's entry, where there is one still, is moved aside and not deleted: it has what was staged there. ``UnsafeError``
    where it is the last that names commits: moved aside, it would not keep git from clearing them away.
    """
    entry = entry_of(ground.repository.common_dir, record.id)
    if entry is not None:
        _refuse_moved(ground, record, entry)
        _refuse_lost(ground, record, entry)
    leases = end_leases(ground, record)
    aside = None
    if entry is not None:
        from gitlock.stores.files.evidence import put_aside

        aside = put_aside(ground.layout, entry.admin)
    ground.book.remove(record.id)
    return Recovered(FORGOTTEN, record, leases=leases, aside=aside)


def _refuse_moved(ground: "Ground", record: "Worktree", entry: Entry) -> None:
    """A folder that was moved by hand is found where people move it: beside where it was, or beside the repository."""
    beside = os.path.dirname(record.path)
    folders = [beside, os.path.dirname(beside), os.path.dirname(os.path.dirname(ground.repository.common_dir))]
    place = moved_to(entry, folders)
    if place is not None:
        raise UnsafeError(
            f"the worktree of {record.agent} was moved to '{place}' by hand, and git does not know it",
            hint=f"git worktree repair {word(place)}", id="worktree-moved",
        )  # fmt: skip


def _refuse_lost(ground: "Ground", record: "Worktree", entry: Entry) -> None:
    from gitlock.git.ownwork import head_of, only_here, own_ref_tips

    if not os.path.isfile(os.path.join(entry.admin, "HEAD")):
        return  # damaged: it names nothing
    git, common_dir = ground.git, ground.repository.common_dir
    head, _ = head_of(git, entry.admin)
    tips = [*([head] if head is not None else []), *own_ref_tips(git, entry.admin)]
    lost = only_here(git, common_dir, tips, ())
    if lost:
        raise UnsafeError(
            f"the worktree that {record.agent} had at '{record.path}' is missing, and nothing else has "
            f"{len(lost)} commit{'' if len(lost) == 1 else 's'} that it was on ({lost[0][:10]})",
            hint=f"git branch {record.agent}-kept {lost[0][:10]}", id="lost-commits",
        )  # fmt: skip


def work_in(ground: "Ground", record: "Worktree", entry: Entry) -> str | None:
    """What of somebody's work lies in a half, as a sentence; None where there is nothing but what a spawn puts there.

    Until git has written its index, every file of the base is a half written one of its own.
    """
    assert entry.path is not None
    git = ground.git.elsewhere(entry.path)
    try:
        if git.line("rev-parse", "--verify", "--quiet", "HEAD") != record.tip:
            return "it has commits of its own"
        if entry.has_index:
            paths = [change.path for change in worktree_changes(git, entry.path)]
            paths += [path for path, _ in ignored_files(git, entry.path, ())]
        else:
            there = os.fsdecode(git.run("ls-files", "--others", "--exclude-standard", "-z")).split("\0")[:-1]
            base = set(os.fsdecode(git.run("ls-tree", "-r", "--name-only", "-z", record.tip)).split("\0")[:-1])
            paths = [path for path in there if path not in base]
    except GitlockError as error:
        return f"it can't be looked at ({error.message})"
    except OSError as error:
        return f"it can't be looked at ({error.strerror}: '{error.filename}')"
    source = ground.repository.top
    own = [path for path in paths if not _is_ours(ground, entry.path, path)]
    own = [path for path in own if source is None or not _is_copy(entry.path, source, path)]
    if not own:
        return None
    more = f" and {len(own) - 1} more" if len(own) > 1 else ""
    return f"it has changes: '{own[0]}'{more}"


def _is_ours(ground: "Ground", tree: str, path: str) -> bool:
    """Whether a path is a settings file with nothing in it but what ``git lock setup`` puts there."""
    source = ground.repository.top
    return is_only_ours(ground.layout, tree, path, [source] if source is not None else [])


def _is_copy(tree: str, source: str, path: str) -> bool:
    """Whether a path is the same in both trees, or in neither: brought along by the spawn itself."""
    here, there = os.path.join(tree, path), os.path.join(source, path)
    return is_same(here, there) or not (os.path.lexists(here) or os.path.lexists(there))


def _remove_folder(record: "Worktree", entry: Entry | None) -> None:
    """The worktree's folder, where it is this worktree's, or empty; and the folders above that were made for it."""
    path = record.path
    if entry is not None and entry.is_there and entry.path is not None:
        _remove_tree(entry.path)
    if record.made_folder is None:
        if os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
            os.mkdir(path)  # it was there before, empty
        return
    while path == record.made_folder or path.startswith(record.made_folder + os.sep):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            pass
        except OSError:
            return  # somebody else's things are in it
        path = os.path.dirname(path)


def _remove_tree(path: str) -> None:
    import shutil

    for _ in range(TRIES):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return
        for folder, _, _ in os.walk(path):  # what a program has made read-only is still ours
            try:
                os.chmod(folder, 0o700)
            except OSError:
                continue
    raise GitlockError(f"'{path}' can't be removed", hint=f"ls -la {word(path)}", id="not-removed")


def _drop_leases(ground: "Ground", record: "Worktree") -> "tuple[Lease, ...]":
    """The lease that was taken with it, as if it had never been; nobody was told of it."""
    if record.lease is None or not any(one.id == record.lease for one in ground.store.read().leases.all()):
        return ()

    def plan(snapshot: Snapshot) -> "tuple[Edits, tuple[Lease, ...]]":
        found = tuple(one for one in snapshot.leases.all() if one.id == record.lease and one.agent == record.agent)
        events = tuple(
            Event("release", one.agent, one.title, one.id, one.fence, "its worktree was not made") for one in found
        )
        return Edits(drop=tuple(one.id for one in found), events=events) if found else NOTHING, found

    return _handed_on(ground, ground.store.update(plan))


def end_leases(ground: "Ground", record: "Worktree") -> "tuple[Lease, ...]":
    """Ends every lease that the agent, or one that works under it, held from the worktree that is gone."""
    places = {record.path, os.path.realpath(record.path)}

    def is_from_there(lease: "Lease") -> bool:
        holder = lease.holder
        return holder.host == ground.host and holder.worktree in places and related(lease.agent, record.agent)

    if not any(is_from_there(one) for one in ground.store.read().leases.all()):
        return ()

    def plan(snapshot: Snapshot) -> "tuple[Edits, tuple[Lease, ...]]":
        found = tuple(one for one in snapshot.leases.all() if is_from_there(one))
        why = f"its worktree '{record.path}' is gone"
        ended = tuple(Ended(one, "lost", snapshot.now.wall, note=why) for one in found)
        events = tuple(Event("lost", one.agent, one.title, one.id, one.fence, why) for one in found)
        return Edits(drop=tuple(one.id for one in found), ended=ended, events=events) if found else NOTHING, found

    return _handed_on(ground, ground.store.update(plan))


def _handed_on(ground: "Ground", leases: "tuple[Lease, ...]") -> "tuple[Lease, ...]":
    if leases:
        from gitlock.usecases.wait import hand_on

        hand_on(ground.store, ground.fold, ground.facts, leases)
    return leases
