"""A worktree that belongs to an agent: what was made for whom, from where, and what it has reserved."""

from gitlock.domain.value import Value

CREATING, READY, BROKEN = "creating", "ready", "broken"
RETIRING = "retiring"  # its removal has begun; whoever finds it so without the remover finishes or takes it back
STATES = (CREATING, READY, BROKEN, RETIRING)

SPAWNED, ADOPTED = "spawned", "adopted"

SETUP = ("none", "ok", "failed", "untrusted", "partial")

PORTS_EACH = 10  # ports in the block of one slot
FIRST_PORT = 20_000  # below the range that kernels hand out by themselves (32768 and up on Linux)
SLOTS = 1_000


class Worktree(Value):
    """The record of one agent's worktree.

    ``id`` is random and its only identity: path, branch and git's own name of it are used again, and may change.
    ``base`` is the commit that it began from and ``base_name`` what was asked for; ``tip`` is where its branch was put.
    ``made_branch`` says that the branch is ours to delete. ``slot`` and ``port`` are reserved until it is retired.
    ``owner`` is a process that makes it (``creating``) as ``pid:started:boot``, so that a dead one's half is known as
    such. ``setup`` is one of ``SETUP``. ``lease`` is the id of the lease that is taken with it, ``made_folder`` the
    topmost folder that is made for it: what a half of it would leave behind. ``extra`` keeps what a later version
    wrote.
    """

    __slots__ = (
        "agent", "base", "base_name", "branch", "extra", "id", "lease", "made", "made_branch", "made_folder", "origin",
        "owner", "path", "port", "setup", "slot", "sparse", "state", "tip",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        agent: str,
        path: str,
        branch: str | None,
        made_branch: bool,
        base: str,
        base_name: str,
        tip: str,
        slot: int,
        port: int,
        state: str,
        setup: str,
        sparse: bool,
        made: float,
        origin: str,
        owner: str,
        lease: str | None = None,
        made_folder: str | None = None,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.path = path
        self.branch = branch
        self.made_branch = made_branch
        self.base = base
        self.base_name = base_name
        self.tip = tip
        self.slot = slot
        self.port = port
        self.state = state
        self.setup = setup
        self.sparse = sparse
        self.made = made
        self.origin = origin
        self.owner = owner
        self.lease = lease
        self.made_folder = made_folder
        self.extra = extra or {}


def free_slot(taken: "frozenset[int]", busy: "frozenset[int]" = frozenset()) -> int | None:
    """The lowest slot that is neither reserved nor ``busy`` (somebody else listens on one of its ports)."""
    return next((slot for slot in range(1, SLOTS + 1) if slot not in taken and slot not in busy), None)


def mark_of(id: str) -> str:
    """What stands in the log of a branch that was made for the worktree of this id."""
    return f"git-lock: spawn {id}"


def port_of(slot: int) -> int:
    """The first port of a slot's block."""
    return FIRST_PORT + slot * PORTS_EACH
