"""The one decision: may these paths be changed by this agent? Asked by every command, hook, check and view."""

from gitlock.domain.agent import lineage, related
from gitlock.domain.change import Change
from gitlock.domain.covering import covering
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED, Ended, Lease
from gitlock.domain.pattern import Fold, anchor_candidates
from gitlock.domain.policy import ENFORCE, OFF, Policy
from gitlock.domain.snapshot import Snapshot
from gitlock.domain.standing import DOUBTFUL, EXPIRED, GONE, Facts, standing
from gitlock.domain.value import Value

HELD, UNCLAIMED, OVERTAKEN = "held", "unclaimed", "overtaken"
CLEAR, VIOLATION = "clear", "violation"


class Finding(Value):
    """One path that its author may not change. ``mode`` is what the policy does about it (enforce or warn);
    ``lease`` is whose it is (held), or the own shared one that is not enough (unclaimed); ``ended`` the own lease that
    was taken over (overtaken)."""

    __slots__ = ("ended", "kind", "lease", "mode", "path", "standing", "status")

    def __init__(
        self,
        path: str,
        kind: str,
        mode: str,
        status: str = "M",
        lease: Lease | None = None,
        ended: Ended | None = None,
        standing: str = "live",
    ) -> None:
        self.path = path
        self.kind = kind
        self.mode = mode
        self.status = status
        self.lease = lease
        self.ended = ended
        self.standing = standing


class Decision(Value):
    """``findings`` in the order of the paths; ``takeable`` are unclaimed paths that the policy lets the gate take on
    the spot; ``announced`` pairs a path with somebody's announcement; ``used`` are the committer's leases that
    covered a path; ``doubtful`` the leases of holders that are gone, to be looked at before this is final."""

    __slots__ = ("announced", "doubtful", "findings", "takeable", "used")

    def __init__(
        self,
        findings: tuple[Finding, ...],
        takeable: tuple[str, ...] = (),
        announced: "tuple[tuple[str, Lease], ...]" = (),
        used: tuple[Lease, ...] = (),
        doubtful: tuple[Lease, ...] = (),
    ) -> None:
        self.findings = findings
        self.takeable = takeable
        self.announced = announced
        self.used = used
        self.doubtful = doubtful

    @property
    def violations(self) -> tuple[Finding, ...]:
        """The findings that stop somebody."""
        return tuple(finding for finding in self.findings if finding.mode == ENFORCE)

    @property
    def answer(self) -> str:
        """``clear`` or ``violation``; that nobody could check is never a Decision but a ``StoreError``."""
        return VIOLATION if self.violations else CLEAR


def decide(
    changes: "tuple[Change, ...] | list[Change]",
    snapshot: Snapshot,
    agent: str,
    kind: str,
    policy: Policy,
    fold: Fold,
    facts: Facts,
) -> Decision:
    """Judges each changed path (spec "A check", rules 1 to 5), after the agent's own leases were renewed.

    Leases are looked up by anchor, so that those which can't concern any of the paths are never parsed.
    """
    anchors: set[str] = set()
    for change in changes:
        anchors.update(anchor_candidates(change.path))
    near = [lease for lease in snapshot.leases.near(frozenset(anchors), frozenset()) if lease.include]
    holders = covering([(lease, lease.footprint) for lease in near], len(changes), fold)
    lapsed = [ended for ended in snapshot.ended.of(lineage(agent)) if ended.by_fence is not None]
    takers = covering(
        [(ended, ended.lease.footprint) for ended in lapsed if ended.lease.include], len(changes), fold
    )
    findings: list[Finding] = []
    takeable: list[str] = []
    announced: list[tuple[str, Lease]] = []
    used: dict[str, Lease] = {}
    doubtful: dict[str, Lease] = {}
    words: dict[str, str] = {}

    def word_of(lease: Lease) -> str:
        if lease.id not in words:
            words[lease.id] = standing(lease, snapshot.now, facts)
        return words[lease.id]

    for change in changes:
        path = change.path
        mode = policy.mode_for(kind, path, fold)
        if mode == OFF:
            continue
        foreign = weak = None
        mine = False
        for lease in holders(path):
            if related(lease.agent, agent):
                # A lapsed own lease that is still in the table was overlapped by nobody: it counts.
                if lease.mode == EXCLUSIVE:
                    mine = True
                    used[lease.id] = lease
                elif lease.mode == SHARED:
                    weak = lease
            elif lease.mode == INTENT:
                if lease.left(snapshot.now) > 0:
                    announced.append((path, lease))
            elif foreign is None or foreign.mode != EXCLUSIVE:
                word = word_of(lease)
                if word == DOUBTFUL:
                    doubtful[lease.id] = lease
                if word not in (EXPIRED, GONE):
                    foreign = lease
        if foreign is not None:
            findings.append(Finding(path, HELD, mode, change.status, lease=foreign, standing=word_of(foreign)))
            continue
        if mine:
            continue
        over = takers(path)
        if over:
            findings.append(Finding(path, OVERTAKEN, mode, change.status, ended=over[-1]))
        elif policy.is_open(path, fold) or policy.unclaimed == "allow":
            continue
        elif policy.unclaimed == "claim":
            takeable.append(path)
        else:
            findings.append(Finding(path, UNCLAIMED, mode, change.status, lease=weak))
    return Decision(
        tuple(findings), tuple(takeable), tuple(announced), tuple(used.values()), tuple(doubtful.values())
    )
