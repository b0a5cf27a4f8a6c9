"""Whose lease stands in the way of a claim, and the one path that shows it."""

from gitlock.domain.agent import related
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import INTENT, SHARED, Lease
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.pattern import Fold


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
    if INTENT in (lease.mode, mode) or (lease.mode == SHARED and mode == SHARED):
        return None
    if related(lease.agent, agent) and not stands_apart(lease, agent, apart):
        return None
    return touching(lease, names, footprint, fold)


def stands_apart(lease: Lease, agent: str, apart: frozenset[str] | None) -> bool:
    """Whether an agent's own lease is another command's than the one that wants something."""
    return apart is not None and lease.agent == agent and lease.holder.is_apart and lease.id not in apart


def touching(lease: Lease, names: tuple[str, ...], footprint: Footprint, fold: "Fold") -> Conflict | None:
    """As ``meeting``, whoever the agents and whatever the modes."""
    for name in lease.names:
        for other in names:
            if name == other or (fold.case and name.lower() == other.lower()):
                return Conflict(lease, name)
    if not lease.include or footprint.is_empty:
        return None
    from gitlock.domain.overlap import overlap

    met = overlap(lease.footprint, footprint, fold)
    return Conflict(lease, met.witness, met.exact) if met.meets else None
