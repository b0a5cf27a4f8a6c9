"""How well a session is guarded: whether its edits are stopped before they happen, by all that its record tells.

One participant without a guard makes every claim mere advice for that one; so it is shown, and not guessed: where no
edit was seen yet there is no answer.
"""

from gitlock.domain.sitting import UNDER_WAY, sitting_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.lease import Lease
    from gitlock.domain.session import Session

EDIT_AND_SHELL, EDIT, NONE, BROKEN = "edit+shell", "edit", "none", "broken"
GUARDS = (EDIT_AND_SHELL, EDIT, NONE, BROKEN)

# What is seen of a session, and kept in its record by these names.
SAW_EDIT, SAW_SHELL, SAW_UNHEEDED, SAW_COMMIT = "edit", "shell", "unheeded", "commit"

FAR = 3600.0  # seconds between the last hook and a later edit: hooks come with every call, so they have stopped


def guard_of(session: "Session", *, holds: bool = False) -> str | None:
    """``edit+shell`` or ``edit``: hooks were seen before edits (and shell commands) of this session. ``none``: it
    changes things, and no hook was ever seen, or none for long. ``broken``: a call ran that was refused. None where
    nothing was edited yet, or that can't be told, and for people.

    ``holds`` says that it has claimed something, which is as good as an edit where no hook was ever seen.
    """
    if session.kind != "agent":
        return None
    seen = sitting_of(session).seen
    if SAW_UNHEEDED in seen:
        return BROKEN
    if session.hook_at is None:
        return NONE if holds or session.touched or SAW_COMMIT in seen else None
    if SAW_COMMIT in seen and is_silent(session.hook_at, seen[SAW_COMMIT]) and not _works(session, seen[SAW_COMMIT]):
        return NONE
    if SAW_EDIT not in seen:
        return None
    return EDIT_AND_SHELL if SAW_SHELL in seen else EDIT


def guard_among(session: "Session", leases: "Iterable[Lease]", sessions: "Iterable[Session]") -> str | None:
    """``guard_of``, by all that is known here. What is claimed in no program's session is no sign of an edit where the
    same agent has a session with hooks in that worktree: somebody has opened a terminal there."""
    is_terminal = session.program is None and any(
        one.hook_at is not None and one.agent == session.agent and one.holder.worktree == session.holder.worktree
        for one in sessions
    )
    return guard_of(session, holds=not is_terminal and has_claimed(session, leases))


def has_claimed(session: "Session", leases: "Iterable[Lease]") -> bool:
    """Whether one of these leases was taken in this session, in whoever's name; of one that tells no session the name
    counts."""
    return any(
        lease.holder.session == session.holder.session if lease.holder.session else lease.agent == session.agent
        for lease in leases
    )


def is_silent(hook_at: float | None, wall: float) -> bool:
    """Whether hooks that were last seen then have stopped by now."""
    return hook_at is None or wall - hook_at > FAR


def _works(session: "Session", wall: float) -> bool:
    """Whether a call was under way: hooks come at its end again, and it may take long."""
    return any(0 <= wall - began < UNDER_WAY for began in sitting_of(session).calls.values())
