"""Looks at a worktree: everything that speaks against removing it. A look that fails is a fact of its own."""

import os
from functools import partial

from gitlock.domain.retiring import BranchWork, Facts, Held, Inside, Trouble
from gitlock.domain.session import DONE
from gitlock.domain.standing import DEAD, EXPIRED, GONE, standing
from gitlock.errors import GitlockError, RepositoryError
from gitlock.git.changes import parse_status
from gitlock.git.contents import foreign_folders, hidden_changes, ignored_among, ignored_files
from gitlock.git.integration import UNKNOWN, YES, is_integrated
from gitlock.git.operation import operation
from gitlock.git.ownwork import (
    HeadLog,
    ahead_of,
    branch_tip,
    described,
    head_log,
    head_of,
    is_elsewhere,
    only_here,
    own_ref_tips,
    pushed_to,
    shared,
    staged_paths,
    targets_of,
    tips_among,
)
from gitlock.git.removing import module_troubles, submodule_troubles
from gitlock.git.worktrees import entries, id_in
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.settings.travelling import is_only_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from gitlock.domain.agent import Agent
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Holder
    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts as Standing
    from gitlock.domain.worktree import Worktree
    from gitlock.git.process import Git
    from gitlock.git.repository import Repository
    from gitlock.git.worktrees import Entry
    from gitlock.stores.files.store import FileStore

    T = TypeVar("T")

    class Here(Protocol):
        """This machine."""

        def holder_liveness(self, holder: Holder) -> str: ...

    class Place(Protocol):
        """What of a site is needed."""

        agent: Agent
        repository: Repository
        fold: Fold

        @property
        def folder(self) -> str: ...

        @property
        def store(self) -> FileStore: ...

        @property
        def facts(self) -> Standing: ...

        @property
        def here(self) -> Here: ...

        def now(self) -> Instant: ...

    Neighbours = Callable[[str], "tuple[Inside, ...] | None"]


def own_layout(place: "Place") -> "Layout":
    """The clone's own folder: worktrees are a clone's, also where several clones share a store of leases."""
    return Layout(place.folder, place.store.layout.shared)


NO_LOG = HeadLog((), frozenset(), (), ())
MANY_LOST = 50  # tips of commits that nothing reaches: more are not compared with what is there, and count as lost


class _Looks:
    """Collects what could not be looked at."""

    def __init__(self) -> None:
        self.failed: list[Trouble] = []

    def at(self, what: str, look: "Callable[[], T]") -> "T | None":
        """What a look sees; None where it fails, which is noted."""
        try:
            return look()
        except GitlockError as error:
            helps = tuple(error.hint.split()) if error.hint and error.hint.startswith("git ") else ()
            self.failed.append(Trouble(what, error.message, helps))
        except OSError as error:
            self.failed.append(Trouble(what, f"{error.strerror}: '{error.filename}'" if error.filename else str(error)))
        return None


def look(place: "Place", worktree: "Worktree", entry: "Entry", neighbours: "Neighbours") -> Facts:
    """Everything that is known about the worktree now. ``neighbours`` says which processes are in a folder (None where
    the system can't tell: then leases and sessions are all there is to go by)."""
    top = entry.path
    assert top is not None
    git, common_dir, admin = place.repository.git, place.repository.common_dir, entry.admin
    looks = _Looks()
    log = looks.at("the log of its HEAD", lambda: head_log(admin)) or NO_LOG
    head, branch = looks.at("its HEAD", lambda: _head(git, admin)) or (None, None)
    doing = looks.at("for an operation in progress", lambda: operation(admin))
    changes = looks.at("its files", lambda: _changes(place, top)) or []
    away = looks.at("what lies inside", lambda: foreign_folders(top, admin, ignored_among(git, top))) or []
    submodules = [path for kind, path in away if kind == "submodule" or (kind == "repository" and _is_link(git, path))]
    away = [(kind, path) for kind, path in away if path not in submodules]
    away += [("worktree", path) for path in _nested(common_dir, entry, top) if ("worktree", path) not in away]
    sources = _sources(place, top)
    ignored = looks.at("its ignored files", lambda: ignored_files(git, top, sources)) or []
    ignored = [(path, size) for path, size in ignored if not is_only_ours(own_layout(place), top, path, sources)]
    changes = [one for one in changes if one[1] != "?" or not is_only_ours(own_layout(place), top, one[0], sources)]
    hidden = looks.at("files that git overlooks", lambda: hidden_changes(git, top)) or []
    modules = looks.at("its submodules", lambda: module_troubles(git, admin, top, submodules)) or []
    branches, kept = _branches(place, worktree, branch, log, looks)
    lost = looks.at(
        "for commits that nothing else reaches",
        lambda: _lost(place, admin, head, log, [one.tip for one in branches] + kept),
    ) or []
    nested = {os.path.relpath(path, top).rstrip("/") for _, path in away}
    return Facts(
        head=head,
        here=_is_inside(os.getcwd(), top),
        inside=neighbours(top) or (),
        held=looks.at("who is at work there", lambda: _holders(place, worktree, top)) or (),
        away=tuple(away),
        locked=entry.reason if entry.reason is not None and id_in(entry.reason) is None else None,
        operation=doing.kind if doing is not None else "none",
        escape=doing.escape if doing is not None else None,
        changed=tuple(path for path, letter in changes if letter != "?"),
        untracked=tuple(path for path, letter in changes if letter == "?" and path.rstrip("/") not in nested),
        hidden=tuple(hidden),
        ignored=tuple(ignored),
        submodules=tuple(Trouble(*one) for one in [*submodule_troubles(git, top, submodules), *modules]),
        lost=tuple(lost),
        branches=tuple(branches),
        unchecked=tuple(looks.failed),
    )


def look_at_rest(place: "Place", worktree: "Worktree", entry: "Entry") -> Facts:
    """What is left to lose where the folder is gone: what was staged, and commits."""
    git, admin = place.repository.git, entry.admin
    looks = _Looks()
    log = looks.at("the log of its HEAD", lambda: head_log(admin)) or NO_LOG
    head, branch = looks.at("its HEAD", lambda: _head(git, admin)) or (None, None)
    staged = looks.at("its index", lambda: staged_paths(git, admin)) or [] if head is not None else []
    branches, kept = _branches(place, worktree, branch, log, looks)
    places = [one.tip for one in branches] + kept
    lost = looks.at("for commits that nothing else reaches", lambda: _lost(place, admin, head, log, places)) or []
    return Facts(
        head=head, changed=tuple(staged), lost=tuple(lost), branches=tuple(branches), unchecked=tuple(looks.failed)
    )


def work_on(place: "Place", worktree: "Worktree") -> tuple[BranchWork, ...]:
    """What became of the worktree's own branch, where nothing else is known any more."""
    found, _ = _branches(place, worktree, None, NO_LOG, _Looks())
    return tuple(found)


def _head(git: "Git", admin: str) -> tuple[str | None, str | None]:
    head, branch = head_of(git, admin)
    if head is None and branch is None:
        raise RepositoryError("it names no commit and no branch")
    return head, branch


def _changes(place: "Place", top: str) -> list[tuple[str, str]]:
    """Changed and untracked paths; our own mode, whatever the user has set. What a submodule holds is another look."""
    out = place.repository.git.elsewhere(top).run(
        "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"
    )
    return [(change.path, change.status) for change in parse_status(out)]


def _is_link(git: "Git", path: str) -> bool:
    """Whether a repository inside is a submodule of an old kind, its git folder inside it."""
    above = git.elsewhere(os.path.dirname(path))
    out = above.run("ls-files", "-s", "-z", "--", os.path.basename(path))
    return out.startswith(b"160000 ")


def _nested(common_dir: str, own: "Entry", top: str) -> list[str]:
    """Other worktrees of this repository whose place is below, also where they are not there at the moment."""
    places = [one.path for one in entries(common_dir) if one.admin != own.admin and one.path is not None]
    return [path for path in places if path != top and _is_inside(path, top)]


def _is_inside(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _sources(place: "Place", top: str) -> list[str]:
    """Worktrees that ignored files may have been copied from: the main one, and where we are."""
    known = (main_worktree(place.repository.common_dir), place.repository.top)
    return [path for path in known if path is not None and os.path.realpath(path) != os.path.realpath(top)]


def main_worktree(common_dir: str) -> str | None:
    """Where files are seeded from: the worktree that the repository began with, if it has one."""
    top = os.path.dirname(common_dir)
    return top if os.path.basename(common_dir) == ".git" and os.path.isdir(top) else None


def _holders(place: "Place", worktree: "Worktree", top: str) -> tuple[Held, ...]:
    """Leases that were taken there, and sessions at work there."""
    found = []
    snapshot = place.store.read()
    for lease in snapshot.leases.all():
        there = lease.holder.worktree is not None and _is_inside(lease.holder.worktree, top)
        if not there and not (lease.agent == worktree.agent and lease.holder.worktree is None):
            continue
        if standing(lease, snapshot.now, place.facts) in (EXPIRED, GONE):
            continue
        liveness = place.facts.liveness(lease) if lease.holder.pid is not None else "unknown"
        if liveness != DEAD and not lease.is_left:
            ours = place.facts.runs_under(lease.holder)
            found.append(Held(lease.agent, lease.title, liveness, lease.holder.pid, ours))
    for session in SessionBook(place.store.layout).all():
        where = session.holder.worktree
        if session.worktree_id != worktree.id and (where is None or not _is_inside(where, top)):
            continue
        if session.state != DONE and place.here.holder_liveness(session.holder) == "alive":
            ours = place.facts.runs_under(session.holder)
            found.append(Held(session.agent, None, "alive", session.holder.pid, ours))
    return tuple(found)


def _branches(
    place: "Place", worktree: "Worktree", current: str | None, log: "HeadLog", looks: _Looks
) -> tuple[list[BranchWork], list[str]]:
    """What became of every branch that was worked on there; and the commits that stay whatever happens to them."""
    git, common_dir = place.repository.git, place.repository.common_dir
    targets = looks.at("where its work is to land", lambda: targets_of(git, common_dir, worktree.base_name)) or []
    found = []
    names = dict.fromkeys(name for name in (worktree.branch, current, *log.branches) if name)
    for name in names:
        tip = looks.at(f"branch '{name}'", partial(branch_tip, git, common_dir, name))
        if tip is None or f"refs/heads/{name}" in targets:
            continue
        work = looks.at(f"branch '{name}'", partial(_judged, place, name, tip, targets))
        if work is None:
            found.append(BranchWork(name, tip, certain=False))
        elif name in (worktree.branch, current) or not log.made.isdisjoint(work[1]) or work[0].proof is not None:
            found.append(work[0])
    return found, targets


def _judged(place: "Place", name: str, tip: str, targets: list[str]) -> tuple[BranchWork, list[str]]:
    git = shared(place.repository.git, place.repository.common_dir)
    certain = True
    for target in targets:
        found = is_integrated(git, tip, target)
        if found.answer == YES:
            return BranchWork(name, tip, proof=found.proof, target=_short(target)), []
        certain = certain and found.answer != UNKNOWN
    pushed = pushed_to(git, place.repository.common_dir, tip)
    ahead = ahead_of(git, place.repository.common_dir, tip, targets[0] if targets else None)
    landing = _short(targets[0]) if targets else None
    return BranchWork(name, tip, ahead=len(ahead), target=landing, pushed=pushed, certain=certain), ahead


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _lost(place: "Place", admin: str, head: str | None, log: "HeadLog", places: list[str]) -> list[str]:
    """Commits that go with the worktree. What it stands on now counts in any case; what HEAD only was on counts unless
    its changes are in one of these places all the same."""
    git, common_dir = place.repository.git, place.repository.common_dir
    now = [*([head] if head is not None else []), *own_ref_tips(git, admin)]
    tips = tips_among(git, common_dir, only_here(git, common_dir, list(log.seen), log.replaced))
    left = tips[MANY_LOST:] + [one for one in tips[:MANY_LOST] if not is_elsewhere(git, common_dir, one, places)]
    found = only_here(git, common_dir, now, ()) + only_here(git, common_dir, left, log.replaced)
    return described(git, common_dir, list(dict.fromkeys(found)))
