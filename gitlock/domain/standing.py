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
WAITING = "waiting"  # its TTL is over, but its session waits for a person: it stands, up to WAITING_CAP
ORPHANED = "orphaned"  # its holder is gone, its paths are still changed: it stands until its TTL
GONE = "gone"  # its holder is provably gone and left nothing behind
DOUBTFUL = "doubtful"  # its holder is gone, and nobody has looked whether its paths are still changed

WAITING_CAP = 4 * 3600.0  # seconds after its TTL that a lease stands while its session waits for a person
LOOK_AGAIN = 5.0  # seconds after which such a wait may be over: nobody rings when a session goes on


class Facts:
    """What the outside world says about holders, brought into a plan that may not look for itself.

    ``liveness`` is cheap (it reads the process table) and may be asked under the store's guard. ``dirty`` says for
    lease ids whether paths of theirs are still changed in their worktree; looking that up runs git, so it is done
    before, and only for leases that turned out to be in the way. ``process_waits`` says whether the process of a
    waiter is still at it: not dead, stopped or silent. ``watch`` gives a descriptor that can be read once a holder's
    process has ended (and has to be closed), or -1. ``runs_under`` says whether a holder's process is one of those
    that started us. ``waits_for_person`` says whether the session of a lease's holder, which is not dead, waits for a
    person; asked only about leases whose TTL is over.
    """

    __slots__ = ("dirty", "liveness", "process_waits", "runs_under", "waits_for_person", "watch")

    def __init__(
        self,
        liveness: "Callable[[Lease], str]",
        dirty: "Mapping[str, bool] | None" = None,
        process_waits: "Callable[[Waiter], bool] | None" = None,
        watch: "Callable[[Holder], int] | None" = None,
        runs_under: "Callable[[Holder], bool] | None" = None,
        waits_for_person: "Callable[[Lease], bool] | None" = None,
    ) -> None:
        self.waits_for_person = waits_for_person or not_known
        self.watch = watch or nothing_to_watch
        self.runs_under = runs_under or not_known
        self.liveness = liveness
        self.dirty = dirty or {}
        self.process_waits = process_waits or still_waits

    def with_dirty(self, found: "Mapping[str, bool]") -> "Facts":
        """These facts and what was looked up since."""
        dirty = {**self.dirty, **found}
        return Facts(self.liveness, dirty, self.process_waits, self.watch, self.runs_under, self.waits_for_person)


def still_waits(_: "Waiter") -> bool:
    """Whether a waiter that nobody can say anything about is still at it."""
    return True


def not_known(_: object) -> bool:
    """Whether something holds of which nothing is known: whether we run under a process, or a session waits."""
    return False


def nothing_to_watch(_: "Holder") -> int:
    """No descriptor: whoever waits for the process looks from time to time."""
    return -1


def nothing_known(_: Lease) -> str:
    """The liveness of a holder that nobody can say anything about."""
    return UNKNOWN


def standing(lease: Lease, now: Instant, facts: Facts) -> str:
    """One of the words above. Everything but ``expired`` and ``gone`` stands in the way."""
    left = lease.left(now)
    if left <= 0:
        return WAITING if left > -WAITING_CAP and facts.waits_for_person(lease) else EXPIRED
    if not lease.is_left and (lease.holder.pid is None or facts.liveness(lease) != DEAD):
        return LIVE
    if lease.id not in facts.dirty:
        return DOUBTFUL
    return ORPHANED if facts.dirty[lease.id] else GONE


def may_end_in(lease: Lease, now: Instant, word: str) -> float:
    """Seconds until it may stand no more without anybody's doing, for whoever waits for it."""
    left = lease.left(now)
    return min(LOOK_AGAIN, max(0.0, left + WAITING_CAP)) if word == WAITING else left
