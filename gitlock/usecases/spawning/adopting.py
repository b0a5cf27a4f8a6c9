"""Adopting: a worktree that something else has made becomes an agent's. Nothing of it is changed but its badge and its
lock, where it has none."""

import os

from gitlock.domain.claim import Granted
from gitlock.domain.quoting import word
from gitlock.domain.worktree import ADOPTED, READY, Worktree, port_of
from gitlock.errors import RepositoryError, UnsafeError
from gitlock.git.badge import write_badge
from gitlock.git.changes import merge_base
from gitlock.git.checkouts import repository_at
from gitlock.git.worktrees import lock_entry, lock_reason, read_entry
from gitlock.usecases.claim import ask
from gitlock.usecases.spawning.making import Begun, NotGranted
from gitlock.usecases.spawning.naming import Base, refuse_second, resolve_base
from gitlock.usecases.spawning.slots import take_slot
from gitlock.usecases.spawning.undoing import recover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository
    from gitlock.git.worktrees import Entry
    from gitlock.usecases.spawning.ground import Ground
    from gitlock.usecases.spawning.making import Order


def adopt(ground: "Ground", order: "Order", path: str) -> Begun | NotGranted:
    """Gives the worktree at ``path`` (or around it) to the agent. It has all its files, so nothing is left to do."""
    book = ground.book
    with book.lock() as lock:
        lock.lend()
        there, entry = _found(ground, path)
        recovered = recover(ground, book.all(), agent=order.agent)
        records = book.all()
        _refuse_owned(records, entry)
        refuse_second(order.agent, records, folds_case=ground.fold.case)
        record = _drafted(ground, order, there, take_slot(records))
        wish = order.wish(record.path, record.branch) if order.wish is not None else None
        record = record.replace(lease=wish.claim.id if wish is not None else None)
        ground.heed()
        claim = ask(ground.store, wish) if wish is not None else None
        if claim is not None and not isinstance(claim.answer, Granted):
            return NotGranted(claim)
        # The record last but one: a badge without a record is known as such, and taken over by the next that adopts.
        write_badge(entry.admin, record.id, record.agent)
        book.write(record)
        if entry.reason is None:
            lock_entry(entry, lock_reason(record.id, record.agent))
    base = Base(record.base, record.base_name, None, None)
    return Begun(record, base=base, is_new=False, claim=claim, recovered=recovered, guard=None)


def _found(ground: "Ground", path: str) -> "tuple[Repository, Entry]":
    try:
        there = repository_at(ground.git, path) if os.path.isdir(path) else None
    except RepositoryError:
        there = None
    if there is None or there.top is None:
        raise UnsafeError(f"there is no worktree at '{path}'", hint="git worktree list", id="no-worktree")
    if os.path.realpath(there.common_dir) != os.path.realpath(ground.repository.common_dir):
        raise UnsafeError(
            f"'{there.top}' is a worktree of another repository", hint="git worktree list", id="other-repository"
        )
    entry = read_entry(there.git_dir) if there.linked else None
    if entry is None:
        raise UnsafeError(
            f"'{there.top}' is the main worktree, which belongs to everybody", hint="git worktree list",
            id="main-worktree",
        )  # fmt: skip
    return there, entry


def _refuse_owned(records: "list[Worktree]", entry: "Entry") -> None:
    owner = next((one for one in records if one.id == entry.id), None)
    if owner is not None:
        there = entry.path or ""
        raise UnsafeError(
            f"'{there}' is the worktree of {owner.agent} already", hint=f"cd {word(there)}", id="has-owner"
        )


def _drafted(ground: "Ground", order: "Order", there: "Repository", slot: int) -> Worktree:
    git = there.git
    tip = git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if tip is None:
        raise UnsafeError(
            f"'{there.top}' has no commit yet", hint="git commit --allow-empty -m first", id="unborn"
        )
    begin = resolve_base(ground, order.base)
    try:
        base = merge_base(git, begin.oid, tip)
    except RepositoryError:
        base = tip  # histories that have nothing in common
    return Worktree(
        id=os.urandom(8).hex(),
        agent=order.agent,
        path=there.require_top(),
        branch=git.line("symbolic-ref", "--quiet", "--short", "HEAD"),
        made_branch=False,
        base=base,
        base_name=begin.name,
        tip=tip,
        slot=slot,
        port=port_of(slot),
        state=READY,
        setup="none",
        sparse=git.line("config", "--type=bool", "--get", "core.sparseCheckout") == "true",
        made=ground.wall(),
        origin=ADOPTED,
        owner=ground.owner,
    )
