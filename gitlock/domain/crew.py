"""Who is at work, as values: worktrees, and one row for each agent in one of them."""

from gitlock.domain.session import DONE
from gitlock.domain.standing import DEAD
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.domain.queue import Waiter
    from gitlock.domain.session import Session
    from gitlock.domain.touched import Sight
    from gitlock.domain.worktree import Worktree

MAIN = "main"  # the origin of the repository's own worktree


class Tree(Value):
    """One worktree. ``record`` is ours where it was made or adopted; ``origin`` a guess by its looks where not;
    ``sight`` is what git said (None: it was not asked, or has no answer, and then ``why`` says why)."""

    __slots__ = ("branch", "gone", "origin", "path", "record", "sight", "why")

    def __init__(
        self, path: str, branch: str | None, origin: str, record: "Worktree | None", sight: "Sight | None" = None,
        why: str = "", *, gone: bool = False,
    ) -> None:  # fmt: skip
        self.path = path
        self.branch = branch
        self.origin = origin
        self.record = record
        self.sight = sight
        self.why = why
        self.gone = gone


class Row(Value):
    """One agent in one worktree. ``agent`` is None for a worktree of nobody that is known, ``tree`` for an agent that
    works in none that is known here, ``session`` for one that has only leases. ``state`` is what it does by all that
    is known, not only by its own word; ``since`` when that began, ``message`` what for. ``blocks`` are those who wait
    for its leases. ``guard`` says whether its edits are stopped before they happen; None where that is not known, or
    nobody is there. ``shared`` says that other live sessions work in the same worktree. ``orphans`` are the leases that
    it left behind, whose paths are still changed, or may be."""

    __slots__ = (
        "agent", "blocks", "branch", "guard", "kind", "leases", "liveness", "message", "orphans", "session", "shared",
        "since", "state", "tree", "worktree",
    )  # fmt: skip

    def __init__(
        self,
        *,
        agent: str | None,
        kind: str | None,
        worktree: str | None,
        branch: str | None,
        tree: Tree | None,
        session: "Session | None",
        liveness: str,
        state: str | None,
        since: float | None,
        message: str,
        leases: "tuple[Lease, ...]",
        blocks: "tuple[Waiter, ...]",
        shared: bool,
        orphans: "tuple[Lease, ...]" = (),
        guard: str | None = None,
    ) -> None:
        self.agent = agent
        self.kind = kind
        self.worktree = worktree
        self.branch = branch
        self.tree = tree
        self.session = session
        self.liveness = liveness
        self.state = state
        self.since = since
        self.message = message
        self.leases = leases
        self.blocks = blocks
        self.shared = shared
        self.orphans = orphans
        self.guard = guard

    @property
    def is_done(self) -> bool:
        """Whether it has said goodbye, whatever became of its process."""
        return self.state == DONE

    @property
    def is_dead(self) -> bool:
        """Whether its process is provably gone, without a word."""
        return self.liveness == DEAD and not self.is_done

    @property
    def is_over(self) -> bool:
        """Whether it is not at work any more: it does not count."""
        return self.is_done or self.is_dead
