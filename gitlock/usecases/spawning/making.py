"""``spawn`` as a transaction: branch, worktree, identity and claims appear together, or not at all.

Under the lock of the book, for as long as git takes to register a worktree: names are settled, a slot is taken, the
record is written, the claims are taken, the branch and the entry are made and read back, the badge is put in. Outside
it: the files, and whatever the repository wants done with them. Whatever stops us is undone before it goes on its way;
what kills us is undone by the next one (``undoing``).
"""

import os

from gitlock.domain.claim import Granted
from gitlock.domain.value import Value
from gitlock.domain.worktree import CREATING, READY, SPAWNED, Worktree, mark_of, port_of
from gitlock.errors import UnsafeError
from gitlock.git import branches, worktrees
from gitlock.git.badge import write_badge
from gitlock.stores.files.evidence import names_kept
from gitlock.usecases.claim import ask
from gitlock.usecases.spawning.ground import PATIENCE
from gitlock.usecases.spawning.naming import refuse_second, settle
from gitlock.usecases.spawning.slots import take_slot
from gitlock.usecases.spawning.undoing import recover, take_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.policy import Policy
    from gitlock.stores.files.guard import Guard
    from gitlock.usecases.claim import ClaimOutcome, Wish
    from gitlock.usecases.spawning.ground import Ground
    from gitlock.usecases.spawning.naming import Base, Names
    from gitlock.usecases.spawning.undoing import Recovered


class Order(Value):
    """What is wanted. ``path`` is absolute; ``wish`` makes the claim of a worktree at a path, on a branch; None where
    nothing is claimed."""

    __slots__ = ("agent", "base", "branch", "path", "policy", "sparse", "wish")

    def __init__(
        self,
        agent: str,
        *,
        branch: str | None,
        base: str | None,
        path: str | None,
        policy: "Policy",
        sparse: bool = False,
        wish: "Callable[[str, str | None], Wish] | None" = None,
    ) -> None:
        self.agent = agent
        self.branch = branch
        self.base = base
        self.path = path
        self.policy = policy
        self.sparse = sparse
        self.wish = wish


class Begun(Value):
    """A worktree that is registered, and (unless it was adopted) has no files yet. ``claim`` is what became of the
    claim (None: nothing was claimed), ``recovered`` what was in the way and was cleared away. ``guard`` is held by
    whoever makes it; None where nothing is left to do."""

    __slots__ = ("base", "claim", "guard", "is_new", "record", "recovered")

    def __init__(
        self,
        record: Worktree,
        *,
        base: "Base",
        is_new: bool,
        claim: "ClaimOutcome | None",
        recovered: "list[Recovered]",
        guard: "Guard | None",
    ) -> None:
        self.record = record
        self.base = base
        self.is_new = is_new
        self.claim = claim
        self.recovered = recovered
        self.guard = guard


class NotGranted(Value):
    """The claim was refused, and nothing was made."""

    __slots__ = ("claim",)

    def __init__(self, claim: "ClaimOutcome") -> None:
        self.claim = claim


def begin(ground: "Ground", order: Order) -> Begun | NotGranted:
    """The part under the lock. Whatever it raises, nothing of it is left."""
    book = ground.book
    with book.lock() as lock:
        lock.lend()
        recovered = recover(ground, book.all(), agent=order.agent, branch=order.branch, path=order.path)
        records = book.all()
        refuse_second(order.agent, records, folds_case=ground.fold.case)
        names = settle(
            ground, order.agent, branch=order.branch, base=order.base, path=order.path, policy=order.policy,
            records=records,
        )  # fmt: skip
        record = _drafted(ground, order, names, take_slot(records))
        wish = order.wish(record.path, record.branch) if order.wish is not None else None
        record = record.replace(lease=wish.claim.id if wish is not None else None)
        ground.heed()
        book.write(record)  # from here on whatever kills us can be taken back by the next one
        guard = book.making(record.id)
        guard.__enter__()
        try:
            guard.lend()
            claim = ask(ground.store, wish) if wish is not None else None
            if claim is not None and not isinstance(claim.answer, Granted):
                take_back(ground, record)
                guard.__exit__()
                return NotGranted(claim)
            ground.heed()
            _register(ground, record, names)
        except BaseException:
            take_back(ground, record)
            guard.__exit__()
            raise
    return Begun(record, base=names.base, is_new=names.is_new, claim=claim, recovered=recovered, guard=guard)


def give_up(ground: "Ground", begun: Begun) -> None:
    """Takes all of it back, after something has stopped us outside the lock."""
    with ground.book.lock():
        take_back(ground, begun.record)
    if begun.guard is not None:
        begun.guard.__exit__()


def complete(ground: "Ground", begun: Begun, setup: str) -> Worktree:
    """The worktree is there for its agent. ``UnsafeError`` where somebody took it away meanwhile."""
    with ground.book.lock():
        if ground.book.find(begun.record.id) is None:
            raise UnsafeError(f"'{begun.record.path}' was removed while it was being made", id="removed-meanwhile")
        ready = begun.record.replace(state=READY, setup=setup)
        ground.book.write(ready)
        ground.book.is_made(ready.id)
    if begun.guard is not None:
        begun.guard.__exit__()
    return ready


def _drafted(ground: "Ground", order: Order, names: "Names", slot: int) -> Worktree:
    return Worktree(
        id=os.urandom(8).hex(),
        agent=order.agent,
        path=names.path,
        branch=names.branch,
        made_branch=names.is_new,
        base=names.base.oid if names.is_new else names.tip,
        base_name=names.base.name if names.is_new else names.branch,
        tip=names.tip,
        slot=slot,
        port=port_of(slot),
        state=CREATING,
        setup="none",
        sparse=order.sparse,
        made=ground.wall(),
        origin=SPAWNED,
        owner=ground.owner,
        made_folder=_topmost_missing(names.path),
    )


def _topmost_missing(path: str) -> str | None:
    """The first folder on the way that is not there; None where all of it is."""
    missing = None
    while not os.path.lexists(path):
        missing, path = path, os.path.dirname(path)
    return missing


def _register(ground: "Ground", record: Worktree, names: "Names") -> None:
    git = ground.git
    if names.is_new:
        branches.create(git, names.branch, names.tip, mark_of(record.id))
    common_dir = ground.repository.common_dir
    old = names_kept(ground.layout, os.path.basename(record.path))
    give_back = [worktrees.keep_name(common_dir, name) for name in old]
    try:
        done = worktrees.add(
            git, record.path, names.branch, worktrees.lock_reason(record.id, record.agent), deadline=PATIENCE,
            stop=ground.wants_to_stop,
        )  # fmt: skip
    finally:
        for back in give_back:
            back()
    ground.heed()
    entry = worktrees.require_made(
        common_dir, record.id, record.path, names.branch, done.last_words
    )
    write_badge(entry.admin, record.id, record.agent)
