"""Whose lease stands in the way of a claim, and the one path that shows it."""

from gitlock.domain.agent import related
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import INTENT, SHARED, Lease
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.pattern import Fold
    from gitlock.domain.queue import Waiter


class Conflict(Value):
    """``witness`` is a path (or a key) that both want; None where the overlap was too costly to decide exactly."""

    __slots__ = ("exact", "lease", "standing", "witness")

    def __init__(self, lease: Lease, witness: str | None, exact: bool = True, standing: str = "live") -> None:
        self.lease = lease
        self.witness = witness
        self.exact = exact
        self.standing = standing


def meeting(
    lease: Lease,
    agent: str,
    mode: str,
    names: tuple[str, ...],
    footprint: Footprint,
    fold: "Fold",
    apart: frozenset[str] | None = None,
) -> Conflict | None:
    """The conflict between a lease and what ``agent`` wants, or None.

    Conflict: different (unrelated) agents, not both shared, none of them a mere announcement, whose keys are equal
    or whose footprints have a path in common. Keys differ in case only where the file system does not fold case.
    One agent's commands that are apart exclude one another as well: ``apart`` is None for a wish that is not, else the
    leases that it runs under, which are its own.
    """
    found = at_odds(lease, agent, mode, names, footprint, fold, own_apart=stands_apart(lease, agent, apart))
    return None if found is None else Conflict(lease, *found)


def stands_apart(lease: Lease, agent: str, apart: frozenset[str] | None) -> bool:
    """Whether an agent's own lease is another command's than the one that wants something."""
    return apart is not None and lease.agent == agent and lease.holder.is_apart and lease.id not in apart


def touching(lease: Lease, names: tuple[str, ...], footprint: Footprint, fold: "Fold") -> Conflict | None:
    """As ``meeting``, whoever the agents and whatever the modes."""
    found = in_common(lease, names, footprint, fold)
    return None if found is None else Conflict(lease, *found)


def at_odds(
    held: "Lease | Waiter",
    agent: str,
    mode: str,
    names: tuple[str, ...],
    footprint: Footprint,
    fold: "Fold",
    *,
    own_apart: bool,
) -> tuple[str | None, bool] | None:
    """Why what is held, or waited for, and what ``agent`` wants can't both be held: the one rule, for leases and for
    the queue. Answers as ``in_common``; ``own_apart`` says that both are one agent's, and exclude each other all the
    same."""
    if INTENT in (held.mode, mode) or (held.mode == SHARED and mode == SHARED):
        return None
    if related(held.agent, agent) and not own_apart:
        return None
    return in_common(held, names, footprint, fold)


def in_common(
    held: "Lease | Waiter", names: tuple[str, ...], footprint: Footprint, fold: "Fold"
) -> tuple[str | None, bool] | None:
    """A key or a path that both name, and whether that was decided exactly; None where they have nothing in common."""
    for name in held.names:
        for other in names:
            if name == other or (fold.case and name.lower() == other.lower()):
                return name, True
    if not held.include or footprint.is_empty:
        return None
    from gitlock.domain.overlap import overlap

    met = overlap(held.footprint, footprint, fold)
    return (met.witness, met.exact) if met.meets else None
