"""What other clones hold, in words: known from their ledgers, as of then; a warning, and never a refusal."""

from gitlock.domain.duration import show_duration
from gitlock.entrypoints.wording import REASON_LIMIT, clock, held_times, quoted_reason, stamp, title, visible
from gitlock.usecases.elsewhere import Abroad, at, held_elsewhere, in_the_way, on_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Lease
    from gitlock.wiring.site import Site

SHOWN = 20  # of the leases of other clones that one answer names


def claim_warnings(site: "Site", lease: "Lease", now: "Instant") -> list[str]:
    """That somebody holds the same in another clone."""
    found = held_elsewhere(site.publications, now.wall, known=(one.id for one in site.store.read().leases.all()))
    met = in_the_way(found, lease, site.fold)
    lines = []
    for one, witness in met[:SHOWN]:
        both = f" (both cover '{visible(witness)}')" if witness and witness != one.lease.title else ""
        lines.append(f"'{title(one.lease)}' is held in another clone by {_who(one, now.wall)}{both}")
    return _cut(lines, len(met))


def path_warnings(site: "Site", paths: list[str], now: "Instant", *, below: bool = False) -> list[str]:
    """That somebody holds these paths in another clone."""
    found = held_elsewhere(site.publications, now.wall, known=(one.id for one in site.store.read().leases.all()))
    met = on_paths(found, paths, site.agent.id, site.fold, below=below)
    lines = [
        f"'{visible(path) or '.'}' is held in another clone, through '{title(one.lease)}', by {_who(one, now.wall)}"
        for path, one in met[:SHOWN]
    ]
    return _cut(lines, len(met))


def abroad_lines(found: list[Abroad], now: float, *, all: bool) -> list[str]:
    """Everything that is held elsewhere: counted, or one by one."""
    count = f"{len(found)} lease{' is' if len(found) == 1 else 's are'} held in other clones"
    if not all:
        return [f"{count}, as fetched last (git lock list --all)"]
    lines = [f"{count}, as fetched last:"]
    for one in found:
        lines.append(f"  {visible(one.lease.title, REASON_LIMIT)}")
        lines.append(f"    {_who(one, now)}")
    return lines


def abroad_json(found: list[Abroad], now: float) -> list[dict[str, object]]:
    """The same for programs."""
    from gitlock.entrypoints import envelope

    return [
        {
            "lease": envelope.lease_json(one.lease, at(now), "live", "unknown"),
            "writer": one.writer,
            "remote": visible(one.remote),
            "published_at": stamp(one.published),
        }
        for one in found
    ]


def _who(one: Abroad, now: float) -> str:
    """``alice on login since 13:35, until 14:35 (57m left): "new login", as of 13:40``."""
    lease = one.lease
    branch = f" on '{visible(lease.holder.branch, REASON_LIMIT)}'" if lease.holder.branch else ""
    how = "" if lease.mode == "exclusive" else f" ({lease.mode})"
    ago = show_duration(max(0.0, now - one.published))
    return (
        f"{visible(lease.agent)}{branch}{how} {held_times(lease, at(now))}{quoted_reason(lease.reason)}, "
        f"as of {clock(one.published, now)} ({ago} ago)"
    )


def _cut(lines: list[str], count: int) -> list[str]:
    return [*lines, f"... and {count - SHOWN} more in other clones"] if count > SHOWN else lines
