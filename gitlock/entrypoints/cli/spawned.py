"""A spawn as sentences and as JSON."""

import os

from gitlock.domain.claim import Granted
from gitlock.domain.duration import show_duration
from gitlock.domain.lease import INTENT
from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.domain.worktree import ADOPTED, PORTS_EACH
from gitlock.entrypoints import envelope
from gitlock.entrypoints.cli.output import hint, warning, write
from gitlock.entrypoints.wording import clock, held_by, taint_line, title, visible
from gitlock.usecases.spawning.undoing import FORGOTTEN, KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.instant import Instant
    from gitlock.domain.worktree import Worktree
    from gitlock.entrypoints.cli.options import Given
    from gitlock.usecases.claim import ClaimOutcome
    from gitlock.usecases.spawning.naming import Base
    from gitlock.usecases.spawning.undoing import Recovered
    from gitlock.wiring.site import Site

SHORT = 10  # characters of a commit's name


class Made(Value):
    """A worktree that is ready. ``seeded`` counts the ignored files that were copied, ``carried`` the files of the work
    that went along (None: none were to be)."""

    __slots__ = ("base", "carried", "claim", "is_new", "record", "recovered", "scratch", "seeded")

    def __init__(
        self,
        record: "Worktree",
        *,
        base: "Base",
        is_new: bool,
        claim: "ClaimOutcome | None",
        recovered: "list[Recovered]",
        scratch: str,
        seeded: int | None,
        carried: int | None,
    ) -> None:
        self.record = record
        self.base = base
        self.is_new = is_new
        self.claim = claim
        self.recovered = recovered
        self.scratch = scratch
        self.seeded = seeded
        self.carried = carried


class Told:
    """Warnings, each said once: what overlaps at once, before anything is made; the rest with the answer."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.hints: list[str] = []
        self._said = 0

    def add(self, *texts: str) -> None:
        """Something that should be known."""
        self.warnings += [text for text in texts if text not in self.warnings]

    def say_now(self) -> None:
        """Writes what was not written yet."""
        for text in self.warnings[self._said :]:
            write(2, warning(text))
        self._said = len(self.warnings)

    def notes(self) -> list[str]:
        """What is left to be written with the answer."""
        return [*map(warning, self.warnings[self._said :]), *map(hint, self.hints)]


def overlap_warnings(granted: Granted, now: "Instant") -> list[str]:
    """What of others' the claim meets, though it was granted."""
    return [
        *(
            f"'{title(one.lease)}' is held by {held_by(one.lease, now, one.standing)}; the policy here is warn, so the "
            "claim is announced and nobody is stopped"
            for one in granted.announced
        ),
        *(f"'{title(one.lease)}' is announced by {held_by(one.lease, now)}" for one in granted.met),
    ]


def taint_warnings(outcome: "ClaimOutcome") -> list[str]:
    """What is told of commands that failed under leases on the same before."""
    return [taint_line(one, max(0.0, outcome.now.wall - one.at)) for one in outcome.marks]


def recovered_line(one: "Recovered") -> str:
    """What was cleared away first."""
    record = one.record
    where = f"'{visible(record.path)}'"
    if one.kind == KEPT:
        why = visible(one.why)
        return f"the spawn of {record.agent} at {where} had died half way; {why}, so it was kept and counts as made"
    if one.kind == FORGOTTEN:
        ended = f"; its {_leases(len(one.leases))} ended with it" if one.leases else ""
        aside = f"; what git kept of it is in '{visible(one.aside)}'" if one.aside is not None else ""
        return f"the worktree that {record.agent} had at {where} is gone{ended}{aside}"
    branch = f"; its branch '{visible(record.branch or '')}' was {one.branch} since, and is kept" if one.branch else ""
    return f"a spawn of {record.agent} at {where} had died half way; it was taken back{branch}"


def _leases(count: int) -> str:
    return f"{count} lease{'' if count == 1 else 's'}"


def summary(made: Made, now: "Instant") -> list[str]:
    """The answer for a person."""
    record, base = made.record, made.base
    verb = "adopted" if record.origin == ADOPTED else "spawned"
    lines = [f"{verb} {record.agent} in {visible(record.path)}"]
    if record.origin == ADOPTED:
        branch = visible(record.branch) if record.branch is not None else "none (detached)"
        lines.append(f"  branch   {branch}, {record.base[:SHORT]} is where it left {visible(base.name)}")
    elif made.is_new:
        behind = f", {base.behind} behind {visible(base.upstream)}" if base.behind and base.upstream else ""
        begins = f"from {visible(base.name)} @ {base.oid[:SHORT]}{behind}"
        lines.append(f"  branch   {visible(record.branch or '')}, {begins}")
    else:
        lines.append(f"  branch   {visible(record.branch or '')} @ {record.tip[:SHORT]}, which was there already")
    lines.append(f"  slot     {record.slot}, ports {record.port} to {record.port + PORTS_EACH - 1}")
    granted = made.claim.answer if made.claim is not None else None
    if isinstance(granted, Granted):
        lease = granted.lease
        left = lease.left(now)
        how = "announced only, " if lease.mode == INTENT else ""
        until = f"until {clock(now.wall + left, now.wall)} ({show_duration(left)})"
        lines.append(f"  lease    '{title(lease)}' {how}{until}, fence {lease.fence}")
    if record.sparse and record.origin != ADOPTED:
        lines.append("  sparse   not all files are checked out (the others are in the branch all the same)")
    if made.carried:
        lines.append(f"  changes  {made.carried} file{'' if made.carried == 1 else 's'}, not committed yet")
    if made.seeded:
        lines.append(f"  seeded   {made.seeded} ignored file{'' if made.seeded == 1 else 's'}")
    if record.setup not in ("none", "untrusted"):
        lines.append(f"  set up   {record.setup}")
    lines.append(f"cd {word(record.path)}")
    return lines


def say_summary(given: "Given", made: Made, now: "Instant") -> None:
    """The same as narration, before a command begins to speak."""
    if not given.flag("quiet") and not given.flag("json"):
        for line in summary(made, now)[:-1]:
            write(2, line)


def shape(site: "Site", made: Made, told: Told, child: int | None = None) -> dict[str, object]:
    """The answer for a program."""
    record, base = made.record, made.base
    granted = made.claim.answer if made.claim is not None else None
    now = site.now()
    lease = None
    if isinstance(granted, Granted):
        lease = envelope.lease_json(granted.lease, now, "live", site.facts.liveness(granted.lease))
    return {
        "worktree": worktree_json(record, base, made.scratch, made.is_new),
        "lease": lease,
        "overlaps": [
            envelope.conflict_json(one, now, site.facts.liveness)
            for one in ((*granted.announced, *granted.met) if isinstance(granted, Granted) else ())
        ],
        "seeded": made.seeded,
        "carried": made.carried,
        "recovered": [
            {
                "agent": one.record.agent,
                "path": envelope.name(one.record.path),
                "became": one.kind,
                "leases_ended": len(one.leases),
                **envelope.raw([one.record.path]),
            }
            for one in made.recovered
        ],
        "warnings": [visible(text) for text in told.warnings],
        "child_code": child,
    }


def worktree_json(record: "Worktree", base: "Base", scratch: str, is_new: bool) -> dict[str, object]:
    """A worktree that belongs to an agent."""
    return {
        "id": record.id,
        "agent": record.agent,
        "path": envelope.name(record.path),
        "branch": envelope.name(record.branch),
        "branch_is_new": is_new,
        "base": record.base,
        "base_name": envelope.name(record.base_name),
        "base_upstream": envelope.name(base.upstream),
        "base_behind": base.behind,
        "slot": record.slot,
        "port_base": record.port,
        "ports": PORTS_EACH,
        "state": record.state,
        "setup": record.setup,
        "sparse": record.sparse,
        "origin": record.origin,
        "scratch": envelope.name(os.path.normpath(scratch)),
        **envelope.raw([record.path, record.branch, record.base_name, scratch]),
    }
