"""What is held, and what the map file names, against what is there."""

import os

from gitlock.domain.coverage import Coverage
from gitlock.domain.footprint import Footprint
from gitlock.domain.quoting import word
from gitlock.domain.standing import EXPIRED, GONE, standing
from gitlock.usecases.examining.finding import NOTE, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git

MANY = 100  # patterns without a fixed first part: each is looked at for every changed path of every check
SHOWN = 5


def live_leases(snapshot: "Snapshot", facts: "Facts") -> list["Lease"]:
    """Those that still count."""
    return [one for one in snapshot.leases.all() if standing(one, snapshot.now, facts) not in (EXPIRED, GONE)]


def unanchored(leases: list["Lease"]) -> Finding | None:
    """Many patterns that may match anywhere."""
    found = [text for one in leases for text in one.include if text.startswith("**/")]
    if len(found) < MANY:
        return None
    what = f"{len(found)} held patterns may match in any folder (such as '{found[0]}'), which makes every check slower"
    return Finding("leases", NOTE, what, "git lock list")


def from_gone_worktrees(leases: list["Lease"], host: str) -> list[Finding]:
    """Leases whose holder worked in a worktree of this machine that is not there any more."""
    gone = [
        one
        for one in leases
        if one.holder.worktree is not None and one.holder.host == host and not os.path.isdir(one.holder.worktree)
    ]
    findings = []
    for one in gone[:SHOWN]:
        what = f"{one.agent} holds '{one.title}' from a worktree that is gone: '{one.holder.worktree}'"
        helps = f"git lock break {word(one.title)} --reason 'its worktree is gone'"
        findings.append(Finding("leases", NOTE, what, helps))
    if len(gone) > SHOWN:
        findings.append(Finding("leases", NOTE, f"and {len(gone) - SHOWN} more from worktrees that are gone"))
    return findings


def dead_patterns(git: "Git", policy: "Policy", fold: "Fold") -> list[Finding]:
    """Patterns of the map file that match no tracked file."""
    places = [(text, rule.line, f"key {rule.name}") for rule in policy.keys for text in rule.paths if text[:1] != "!"]
    places += [(text, policy.lines.get("open", 0), "open") for text in policy.open_paths if text[:1] != "!"]
    if not places:
        return []
    coverage = Coverage([(number, Footprint.of((text,))) for number, (text, _, _) in enumerate(places)], fold)
    tracked = os.fsdecode(git.run("ls-files", "-z", "--full-name", ":/")).split("\0")[:-1]
    alive = {number for path in tracked for number in coverage.tags_covering(path)}
    return [
        Finding("map", NOTE, f"{policy.source}:{line}: '{text}' ({whose}) matches no tracked file")
        for number, (text, line, whose) in enumerate(places)
        if number not in alive
    ]
