"""Who is at work, where: worktrees, sessions and leases brought together. Nothing here changes anything.

A worktree that can't be looked at costs its own answer alone, and so does a store that can't be read: what is not
known is said to be unknown, never left out.
"""

import os

from gitlock.domain.agent import related
from gitlock.domain.conflict import meeting
from gitlock.domain.crew import MAIN, Row, Tree
from gitlock.domain.guarding import guard_among
from gitlock.domain.lease import INTENT
from gitlock.domain.origin import guess_origin
from gitlock.domain.overlap import covers
from gitlock.domain.overlaps import Place
from gitlock.domain.queue import keeps_place
from gitlock.domain.session import DONE, IDLE, QUEUED, WAITING, WORKING, Session
from gitlock.domain.standing import ALIVE, DEAD, EXPIRED, GONE, standing
from gitlock.domain.value import Value
from gitlock.errors import StoreError
from gitlock.git.baseline import baselines
from gitlock.git.checkouts import list_checkouts
from gitlock.git.together import Unknown, ask_together
from gitlock.git.touching import touching
from gitlock.git.worktrees import entries
from gitlock.stores.files.sessions import SessionBook
from gitlock.stores.files.worktrees import WorktreeBook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from gitlock.domain.lease import Holder, Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.queue import Waiter
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts
    from gitlock.git.repository import Repository
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.store import FileStore

    class Ground(Protocol):
        """What of a site is needed."""

        repository: Repository
        fold: Fold

        @property
        def facts(self) -> Facts: ...

        @property
        def store(self) -> FileStore: ...

        @property
        def own_layout(self) -> Layout: ...

        def liveness_of(self, holder: Holder) -> str: ...


DONE_SHOWN = 3600.0  # seconds that a session which is done is still shown


class Mustered(Value):
    """``leases`` are the live ones, None where the store can't be read (``fault`` says why)."""

    __slots__ = ("fault", "leases", "rows", "trees")

    def __init__(
        self, rows: list[Row], trees: list[Tree], leases: "list[Lease] | None", fault: StoreError | None
    ) -> None:
        self.rows = rows
        self.trees = trees
        self.leases = leases
        self.fault = fault

    def places(self) -> list[Place]:
        """The worktrees with those who work in them: nobody who is dead or done."""
        found = []
        for tree in self.trees:
            names = [
                row.agent for row in self.rows
                if row.agent is not None and row.worktree == tree.path and (row.leases or not row.is_over)
            ]  # fmt: skip
            if tree.record is not None:
                names.append(tree.record.agent)
            found.append(Place(tree.path, tuple(dict.fromkeys(names)), tree.sight, tree.why))
        return found


def muster(ground: "Ground", wall: float, *, deadline: float | None) -> Mustered:
    """Everybody, whoever needs attention first. Git is asked in every worktree, ``deadline`` seconds each; not at all
    where that is None."""
    snapshot, fault = None, None
    try:
        snapshot = ground.store.read()
    except StoreError as error:
        fault = error
    trees = _trees(ground)
    if deadline is not None:
        trees = _seen(ground, trees, deadline)
    leases = None
    if snapshot is not None:
        leases = [
            one for one in snapshot.leases.all() if standing(one, snapshot.now, ground.facts) not in (EXPIRED, GONE)
        ]
    sessions = [(one, ground.liveness_of(one.holder)) for one in SessionBook(ground.store.layout).all()]
    rows = _rows(ground, trees, _counting(sessions, leases or [], wall), leases or [], snapshot)
    return Mustered(sorted(rows, key=_urgency), trees, leases, fault)


def _trees(ground: "Ground") -> list[Tree]:
    common_dir = ground.repository.common_dir
    checkouts = [one for one in list_checkouts(ground.repository.git) if not one.bare]
    known = {os.path.realpath(one.path): one for one in entries(common_dir) if one.path is not None}
    records = {one.id: one for one in WorktreeBook(ground.own_layout).all()}
    main = checkouts[0].path if checkouts and os.path.realpath(checkouts[0].path) not in known else None
    found = []
    for one in checkouts:
        entry = known.get(os.path.realpath(one.path))
        record = records.get(entry.id) if entry is not None and entry.id is not None else None
        if entry is None:
            origin = MAIN
        elif record is not None:
            origin = record.origin
        else:
            origin = guess_origin(one.path, one.branch, entry.reason, main)
        found.append(Tree(one.path, one.branch, origin, record, gone=one.gone))
    return found


def _seen(ground: "Ground", trees: list[Tree], deadline: float) -> list[Tree]:
    git = ground.repository.git
    branches = {tree.branch or "" for tree in trees}
    asked = {tree.branch: tree.record.base_name for tree in trees if tree.record is not None and tree.branch}
    bases = baselines(git, branches, asked)
    remotes = bool(git.run("remote").strip())
    wanted = []
    for tree in trees:
        there = git.elsewhere(tree.path)
        # A worktree that lost its .git file must not be answered for by a repository that lies above it.
        there.environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(tree.path)
        base = tree.record.base if tree.record is not None else None
        wanted.append((there, touching(base, bases[tree.branch or ""], remotes)))
    answers = ask_together(wanted, deadline=deadline)
    return [
        tree.replace(why=answer.why) if isinstance(answer, Unknown) else tree.replace(sight=answer)
        for tree, answer in zip(trees, answers, strict=True)
    ]


def _counting(
    sessions: list[tuple[Session, str]], leases: "list[Lease]", wall: float
) -> list[tuple[Session, str]]:
    """Without those that nobody asks for any more: done, or dead and followed by another at the same place."""
    holding = {lease.agent for lease in leases}
    living = {(one.agent, one.holder.worktree) for one, word in sessions if word != DEAD and one.state != DONE}
    kept = []
    for one, word in sessions:
        over = one.state == DONE or word == DEAD
        if over and (one.agent, one.holder.worktree) in living:
            continue
        late = word == DEAD or wall - one.active > DONE_SHOWN
        if one.state == DONE and late and one.agent not in holding:
            continue
        kept.append((one, word))
    return kept


def _rows(
    ground: "Ground",
    trees: list[Tree],
    sessions: list[tuple[Session, str]],
    leases: "list[Lease]",
    snapshot: "Snapshot | None",
) -> list[Row]:
    by_path = {tree.path: tree for tree in trees}
    by_id = {tree.record.id: tree for tree in trees if tree.record is not None}
    waiters = _waiters(ground, snapshot)
    known = tuple(one for one, _ in sessions)
    rows: list[Row] = []
    placed: set[str] = set()
    for one, liveness in sessions:
        tree = by_id.get(one.worktree_id or "") or by_path.get(one.holder.worktree or "")
        worktree = tree.path if tree is not None else one.holder.worktree
        own = [
            lease for lease in leases
            if lease.agent == one.agent and lease.id not in placed
            and (lease.holder.session or one.holder.session) == one.holder.session
            and _same_place(lease.holder.worktree, one, worktree)
        ]  # fmt: skip
        placed.update(lease.id for lease in own)
        state, since, message = _doing(one, waiters)
        over = state == DONE or liveness == DEAD
        row = Row(
            agent=one.agent, kind=one.kind, worktree=worktree, branch=_branch(tree, one.holder.branch), tree=tree,
            session=one, liveness=liveness, state=state, since=since, message=message, leases=tuple(own),
            blocks=_blocked(own, waiters, ground.fold),
            shared=not over and any(_shares(one, other, word) for other, word in sessions),
            orphans=_orphans(own, tree, ground.fold) if over else (),
            guard=None if over else guard_among(one, leases, known),
        )  # fmt: skip
        rows.append(row)
    rest: dict[tuple[str, str | None], list[Lease]] = {}
    for lease in leases:
        if lease.id not in placed:
            rest.setdefault((lease.agent, lease.holder.worktree), []).append(lease)
    for (agent, place), own in rest.items():
        tree = by_path.get(place or "")
        queued = next((one for one in waiters if one.agent == agent), None)
        liveness = ground.facts.liveness(own[-1])
        done = all(lease.is_left for lease in own)
        row = Row(
            agent=agent, kind=own[0].kind, worktree=place, branch=_branch(tree, own[-1].holder.branch),
            tree=tree, session=None, liveness=liveness,
            state=QUEUED if queued is not None else DONE if done else None,
            since=queued.since if queued is not None else None,
            message=queued.title if queued is not None else "", leases=tuple(own),
            blocks=_blocked(own, waiters, ground.fold), shared=False,
            orphans=_orphans(own, tree, ground.fold) if done or liveness == DEAD else (),
        )  # fmt: skip
        rows.append(row)
    taken = {row.worktree for row in rows}
    for tree in trees:
        if tree.path not in taken:
            row = Row(
                agent=tree.record.agent if tree.record is not None else None, kind=None, worktree=tree.path,
                branch=_branch(tree, None), tree=tree, session=None, liveness="unknown", state=None, since=None,
                message="", leases=(), blocks=(), shared=False,
            )  # fmt: skip
            rows.append(row)
    return rows


def _waiters(ground: "Ground", snapshot: "Snapshot | None") -> "list[Waiter]":
    if snapshot is None:
        return []
    now, waits = snapshot.now, ground.facts.process_waits
    return [one for one in snapshot.waiters.ordered() if keeps_place(one, now, waits)]


def _same_place(held_from: str | None, session: Session, worktree: str | None) -> bool:
    return held_from is None or held_from in (session.holder.worktree, worktree)


def _branch(tree: Tree | None, said: str | None) -> str | None:
    if tree is None:
        return said
    return tree.sight.branch if tree.sight is not None else tree.branch


def _doing(one: Session, waiters: "list[Waiter]") -> tuple[str, float, str]:
    """What the session does: who has a place in the queue is queued, and who has lost it is not, whatever its file
    says (a process that waits can be killed)."""
    place = next((waiter for waiter in waiters if waiter.agent == one.agent and not waiter.is_ticket), None)
    if one.state in (WORKING, QUEUED) and place is not None:
        return QUEUED, place.since, place.title
    if one.state == QUEUED:
        return WORKING, one.active, ""
    return one.state, one.since, one.message


def _blocked(own: "list[Lease]", waiters: "list[Waiter]", fold: "Fold") -> "tuple[Waiter, ...]":
    return tuple(
        waiter for waiter in waiters
        if any(
            meeting(lease, waiter.agent, waiter.mode, waiter.names, waiter.footprint, fold, waiter.apart) is not None
            for lease in own
        )
    )  # fmt: skip


def _orphans(own: "list[Lease]", tree: Tree | None, fold: "Fold") -> "tuple[Lease, ...]":
    """What of these leases stands on, since paths of theirs are changed, or nobody could look."""
    sight = tree.sight if tree is not None else None
    changed = None if sight is None else [one.path for one in sight.touched if one.is_dirty]
    return tuple(
        lease for lease in own
        if lease.include and lease.mode != INTENT
        and (changed is None or any(covers(lease.footprint, path, fold) for path in changed))
    )  # fmt: skip


def _shares(one: Session, other: Session, word: str) -> bool:
    """Whether another session works where this one does. An agent and those below it are one."""
    if other.id == one.id or word == DEAD or other.state == DONE or related(one.agent, other.agent):
        return False
    return one.holder.worktree is not None and one.holder.worktree == other.holder.worktree


_RANKS = {WAITING: 0, QUEUED: 2, WORKING: 3, IDLE: 4, DONE: 6}


def _urgency(row: Row) -> tuple[int, float, str]:
    """Who waits for a person, the longest first; then the dead that left something; then the others."""
    if row.is_dead:
        rank = 1 if row.leases or (row.tree is not None and row.tree.sight is not None and row.tree.sight.dirty) else 6
    elif row.is_done and row.orphans:
        rank = 5
    else:
        rank = _RANKS.get(row.state or "", 5)
    return rank, row.since or 0.0, row.agent or row.worktree or ""


def attention(rows: list[Row]) -> list[Row]:
    """Those who wait for a person, oldest first; nobody whose process is gone."""
    return [row for row in rows if row.state == WAITING and not row.is_dead]


def is_stale(one: Session, liveness: str, wall: float) -> bool:
    """Whether a session's file says nothing any more: dead or done for a day, or unheard of for a week."""
    silent = wall - one.active
    if liveness == ALIVE:
        return False
    return silent > (_DAY if liveness == DEAD or one.state == DONE else 7 * _DAY)


_DAY = 86400.0


def sweep_sessions(book: SessionBook, liveness: "Callable[[Holder], str]", wall: float) -> int:
    """Removes the files of sessions that are over for long; answers how many."""
    stale = [one for one in book.all() if is_stale(one, liveness(one.holder), wall)]
    return sum(book.remove(one.id) for one in stale) + book.sweep(wall)
