"""Does a lease still stand in somebody's way? Worked out whenever it is read; nothing waits for a sweeper."""

from gitlock.domain.instant import Instant
from gitlock.domain.lease import Lease

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitlock.domain.lease import Holder
    from gitlock.domain.queue import Waiter

ALIVE, DEAD, UNKNOWN = "alive", "dead", "unknown"

LIVE = "live"
EXPIRED = "expired"
ORPHANED = "orphaned"  # its holder is gone, its paths are still changed: it stands until its TTL
GONE = "gone"  # its holder is provably gone and left nothing behind
DOUBTFUL = "doubtful"  # its holder is gone, and nobody has looked whether its paths are still changed


class Facts:
    """What the outside world says about holders, brought into a plan that may not look for itself.

    ``liveness`` is cheap (it reads the process table) and may be asked under the store's guard. ``dirty`` says for
    lease ids whether paths of theirs are still changed in their worktree; looking that up runs git, so it is done
    before, and only for leases that turned out to be in the way. ``process_waits`` says whether the process of a
    waiter is still at it: not dead, stopped or silent. ``watch`` gives a descriptor that can be read once a holder's
    process has ended (and has to be closed), or -1. ``runs_under`` says whether a holder's process is one of those
    that started us.
    """

    __slots__ = ("dirty", "liveness", "process_waits", "runs_under", "watch")

    def __init__(
        self,
        liveness: "Callable[[Lease], str]",
        dirty: "Mapping[str, bool] | None" = None,
        process_waits: "Callable[[Waiter], bool] | None" = None,
        watch: "Callable[[Holder], int] | None" = None,
        runs_under: "Callable[[Holder], bool] | None" = None,
    ) -> None:
        self.watch = watch or nothing_to_watch
        self.runs_under = runs_under or not_known
        self.liveness = liveness
        self.dirty = dirty or {}
        self.process_waits = process_waits or still_waits

    def with_dirty(self, found: "Mapping[str, bool]") -> "Facts":
        """These facts and what was looked up since."""
        return Facts(self.liveness, {**self.dirty, **found}, self.process_waits, self.watch, self.runs_under)


def still_waits(_: "Waiter") -> bool:
    """Whether a waiter that nobody can say anything about is still at it."""
    return True


def not_known(_: "Holder") -> bool:
    """Whether we run under a process of which nothing is known."""
    return False


def nothing_to_watch(_: "Holder") -> int:
    """No descriptor: whoever waits for the process looks from time to time."""
    return -1


def nothing_known(_: Lease) -> str:
    """The liveness of a holder that nobody can say anything about."""
    return UNKNOWN


def standing(lease: Lease, now: Instant, facts: Facts) -> str:
    """One of the words above. Everything but ``expired`` and ``gone`` stands in the way."""
    if lease.left(now) <= 0:
        return EXPIRED
    if lease.holder.pid is None or facts.liveness(lease) != DEAD:
        return LIVE
    if lease.id not in facts.dirty:
        return DOUBTFUL
    return ORPHANED if facts.dirty[lease.id] else GONE
