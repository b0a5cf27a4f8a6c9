"""Several agents in one worktree: git keeps one index and one HEAD there, and nobody knows whose a change is."""

from gitlock.domain.session import DONE
from gitlock.domain.standing import DEAD
from gitlock.usecases.examining.finding import NOTE, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.lease import Holder, Lease
    from gitlock.domain.session import Session

LATELY = 86400.0  # seconds since it was heard of that a session whose process can't be told counts as there


def crowded(
    sessions: "list[Session]", leases: "list[Lease]", liveness: "Callable[[Holder], str]", wall: float
) -> list[Finding]:
    """A finding for each worktree in which several agents are at work: by live sessions, and by what they hold. An
    agent and those below it are one."""
    found: dict[str, set[str]] = {}
    holders = [(lease.agent, lease.holder) for lease in leases if lease.kind == "agent" and not lease.is_left]
    holders += [
        (one.agent, one.holder) for one in sessions
        if one.kind == "agent" and one.state != DONE and wall - one.active < LATELY
    ]  # fmt: skip
    for agent, holder in holders:
        if holder.worktree is not None and liveness(holder) != DEAD:
            found.setdefault(holder.worktree, set()).add(agent.partition("/")[0])
    return [
        Finding(
            "worktree", NOTE,
            f"{len(names)} agents are at work in '{place}' ({', '.join(sorted(names))}): nobody knows whose its "
            "changes are, and each may switch the other's branch", f"git lock spawn {max(names)}-2",
        )
        for place, names in sorted(found.items())
        if len(names) > 1
    ]  # fmt: skip
