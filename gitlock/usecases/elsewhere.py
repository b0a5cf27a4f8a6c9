"""What other clones hold: as each of them published last, and as it was fetched last. Known, never binding."""

from gitlock.domain.agent import related
from gitlock.domain.conflict import at_odds
from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.lease import INTENT, Lease
from gitlock.domain.overlap import covers, overlap
from gitlock.domain.pattern import escape
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.pattern import Fold
    from gitlock.stores.files.publications import Publications


class Abroad(Value):
    """A lease in another clone: ``writer`` is that clone, ``remote`` where it said so, ``published`` when (UTC
    seconds). Of the lease the clocks are those of this moment, see ``gitlock.domain.ledger``."""

    __slots__ = ("lease", "published", "remote", "writer")

    def __init__(self, lease: Lease, writer: str, remote: str, published: float) -> None:
        self.lease = lease
        self.writer = writer
        self.remote = remote
        self.published = published


def held_elsewhere(
    kept: "Publications",
    now: float,
    *,
    known: "Iterable[str]" = (),
    under: "Footprint | None" = None,
    fold: "Fold | None" = None,
) -> list[Abroad]:
    """Everything that has time left at ``now``, the latest publication first. ``known`` are ids of leases in our own
    store, which several clones may share; ``under`` keeps what meets it."""
    writer = kept.writer()
    seen = set(known)
    found = []
    for remote, ledger in sorted(kept.elsewhere(), key=lambda row: (-row[1].published, row[1].writer)):
        if writer is not None and ledger.writer == writer.name:
            continue
        for lease in ledger.live(now):
            if lease.id in seen:
                continue
            seen.add(lease.id)
            if under is None or fold is None or overlap(lease.footprint, under, fold).meets:
                found.append(Abroad(lease, ledger.writer, remote, ledger.published))
    return found


def in_the_way(found: list[Abroad], lease: Lease, fold: "Fold") -> list[tuple[Abroad, str | None]]:
    """Those that could not be held beside this lease in one clone, each with a path or key that both name."""
    met = []
    for one in found:
        why = at_odds(one.lease, lease.agent, lease.mode, lease.names, lease.footprint, fold, own_apart=False)
        if why is not None:
            met.append((one, why[0]))
    return met


def on_paths(
    found: list[Abroad], paths: "Iterable[str]", agent: str, fold: "Fold", *, below: bool = False
) -> list[tuple[str, Abroad]]:
    """For each path those who hold it elsewhere (or, ``below``, anything in it); announcements and the agent's own are
    none of it. The empty path is the whole tree."""
    foreign = [one for one in found if one.lease.mode != INTENT and not related(one.lease.agent, agent)]
    met = []
    for path in paths:
        tree = Footprint.of((escape(path) if path else "**",)) if below or not path else None
        for one in foreign:
            footprint = one.lease.footprint
            if covers(footprint, path, fold) if tree is None else overlap(footprint, tree, fold).meets:
                met.append((path, one))
    return met


def at(now: float) -> Instant:
    """A wall time as the leases of ledgers are counted by."""
    return Instant(now, 0.0, "")
