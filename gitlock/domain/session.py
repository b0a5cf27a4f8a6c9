"""A session: one agent at work in one worktree. Presence, not authority: no lease is decided by it."""

from gitlock.digest import sha256_hex
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Holder

WORKING, WAITING, QUEUED, IDLE, DONE = "working", "waiting", "queued", "idle", "done"
STATES = (WORKING, WAITING, QUEUED, IDLE, DONE)

MESSAGE_LIMIT = 500  # characters of a question to a person
TOUCHED_LIMIT = 500  # paths that a session's file lists
WATCHED = "watched"  # true in ``extra``: ``run --presence`` looks what the program has changed

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


class Session(Value):
    """What one session says of itself. Times are wall clock, in seconds; ``since`` is when ``state`` began.

    ``worktree_id`` is set in a worktree that git-lock made or adopted. ``touched`` are paths that were observed to be
    changed, at ``touched_at``; ``shared`` says that other live sessions work in the same worktree, so that nobody
    knows whose they are. ``waited`` are the seconds that it has waited for a person before ``since``. ``hook_at`` is
    when a hook of its program was last seen (None: never). ``extra`` keeps what a later version wrote.
    """

    __slots__ = (
        "active", "agent", "extra", "holder", "hook_at", "id", "kind", "message", "program", "shared", "since",
        "started", "state", "touched", "touched_at", "waited", "worktree_id",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        agent: str,
        kind: str,
        program: str | None,
        holder: "Holder",
        worktree_id: str | None,
        state: str,
        since: float,
        message: str,
        waited: float,
        started: float,
        active: float,
        touched: tuple[str, ...] = (),
        touched_at: float | None = None,
        shared: bool = False,
        hook_at: float | None = None,
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.kind = kind
        self.program = program
        self.holder = holder
        self.worktree_id = worktree_id
        self.state = state
        self.since = since
        self.message = message
        self.waited = waited
        self.started = started
        self.active = active
        self.touched = touched
        self.touched_at = touched_at
        self.shared = shared
        self.hook_at = hook_at
        self.extra = extra or {}

    def now_in(self, state: str, wall: float, message: str = "") -> "Session":
        """The same session in another state; the time that it spent waiting for a person is added up."""
        if state == self.state and message == self.message:
            return self.replace(active=wall)
        waited = self.waited + max(0.0, wall - self.since) if self.state == WAITING else self.waited
        since = self.since if state == self.state else wall
        return self.replace(state=state, since=since, message=message, active=wall, waited=waited)


def session_id(agent: str, session: str | None, worktree: str | None) -> str:
    """The name of a session's file: the program's own session where there is one, else the agent in its worktree.

    Harmless as a file name, and different for different sessions also where the file system folds case.
    """
    whole = session if session is not None else f"{agent}\n{worktree or ''}"
    shown = "".join(c if c in _PLAIN else "_" for c in (session or agent).lower()).lstrip(".-")[:40]
    return f"{shown or 'session'}-{sha256_hex(whole.encode('utf-8', 'surrogateescape'))[:8]}"
