"""Where a lease is held from by now: since the claim its worktree may have switched branches, or been moved.

Nobody claims anew for a `git switch`. So each heartbeat looks, and what has changed goes into the write that renews.
"""

from gitlock.domain.lease import UNTIL_MERGED
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.lease import Holder, Lease


class Seat(Value):
    """A worktree, and the branch that is checked out there (None: on no branch)."""

    __slots__ = ("branch", "worktree")

    def __init__(self, worktree: str, branch: str | None) -> None:
        self.worktree = worktree
        self.branch = branch


def reseated(lease: "Lease", seat_of: "Callable[[Holder], Seat | None]") -> "Lease":
    """The lease as held from where its holder is by now, which ``seat_of`` knows (None: nothing better than what it
    says); the same object where that is nothing new. One that lasts until its branch is merged stays with it."""
    seat = seat_of(lease.holder)
    if seat is None or UNTIL_MERGED in lease.extra:
        return lease
    if (seat.worktree, seat.branch) == (lease.holder.worktree, lease.holder.branch):
        return lease
    return lease.replace(holder=lease.holder.replace(worktree=seat.worktree, branch=seat.branch))


def seats_beside(own: "Holder") -> "Callable[[Holder], Seat | None]":
    """What is known by one who says where it is: of holders in the same worktree. On no branch it knows nothing, as a
    rebase is on none either."""
    seat = None if own.worktree is None or own.branch is None else Seat(own.worktree, own.branch)
    place = (own.host, own.clone, own.worktree)

    def seat_of(holder: "Holder") -> Seat | None:
        return seat if (holder.host, holder.clone, holder.worktree) == place else None

    return seat_of
