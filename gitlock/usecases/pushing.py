"""May these commits be pushed? Each by the receipts that it carries, else by the leases that are live now.

Two decisions, both asked elsewhere as well: ``gitlock.domain.decision`` for what no receipt covers, as at a commit;
``gitlock.domain.merging`` for what one does, with the remote's branch (as of its remote-tracking ref) as the base that
the work is to land in.
"""

from gitlock.domain import decision as commits_decision
from gitlock.domain.covering import covering
from gitlock.domain.decision import UNCLAIMED, decide
from gitlock.domain.merging import Commit as Declaring
from gitlock.domain.merging import Evidence, Notice, Standing, judge_merge, standings
from gitlock.domain.merging import Finding as MergeFinding
from gitlock.domain.policy import ENFORCE, WARN
from gitlock.domain.receipt import Declared, parts
from gitlock.domain.value import Value
from gitlock.git.branching import Parted
from gitlock.git.outgoing import Commit, Update, commits_between, known, messages, tips_below, with_changes
from gitlock.git.testimony import landed_commits
from gitlock.usecases.renew import Pulse, pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.beat import SeatOf
    from gitlock.domain.change import Change
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore

# Refs whose commits are about commits, and change no file of anybody's.
ASIDE = ("refs/notes/", "refs/agentlocks/", "refs/agentlocks-remote/", "refs/stash")


class Refused(Value):
    """A path of a commit that may not be pushed, by one decision or the other. ``agent`` is who made the commit;
    ``mode`` what the policy does about it; ``bypass`` the reason with which the commit says that it got past a gate."""

    __slots__ = ("agent", "bypass", "commit", "finding", "landing", "mode")

    def __init__(
        self,
        commit: Commit,
        agent: str,
        mode: str,
        *,
        finding: commits_decision.Finding | None = None,
        landing: MergeFinding | None = None,
        bypass: str = "",
    ) -> None:
        self.commit = commit
        self.agent = agent
        self.mode = mode
        self.finding = finding
        self.landing = landing
        self.bypass = bypass

    @property
    def path(self) -> str:
        """Which path."""
        found = self.finding or self.landing
        return found.path if found is not None else ""

    @property
    def kind(self) -> str:
        """held, unclaimed or overtaken."""
        found = self.finding or self.landing
        return found.kind if found is not None else ""

    @property
    def stops(self) -> bool:
        """Whether the push is refused for it."""
        return self.mode == ENFORCE and not self.bypass


class PushJudged(Value):
    """``paths`` are what the commits change; ``refused`` has one entry a path; ``notices`` are what stops nobody."""

    __slots__ = ("notices", "paths", "pulse", "refused")

    def __init__(
        self,
        pulse: Pulse,
        paths: frozenset[str] = frozenset(),
        refused: tuple[Refused, ...] = (),
        notices: tuple[Notice, ...] = (),
    ) -> None:
        self.pulse = pulse
        self.paths = paths
        self.refused = refused
        self.notices = notices


class Said(Value):
    """A commit with what its message declares, and its changes parted: ``covered`` by a receipt, or ``loose``."""

    __slots__ = ("commit", "covered", "loose", "says")

    def __init__(
        self, commit: Commit, says: Declared, covered: "tuple[Change, ...]", loose: "tuple[Change, ...]"
    ) -> None:
        self.commit = commit
        self.says = says
        self.covered = covered
        self.loose = loose


def judge_push(
    store: "LeaseStore",
    git: "Git",
    updates: list[Update],
    remote: str | None,
    *,
    agent: "Agent",
    policy: "Policy",
    fold: "Fold",
    facts: "Facts",
    born: float = 0.0,
    seat_of: "SeatOf | None" = None,
) -> PushJudged:
    """Judges every commit that these updates bring and the remote does not have yet. ``remote`` is None where it has no
    name: then what any remote has counts as known.

    A commit that some other remote has was judged when it went there, or is not of our making: without a receipt it
    passes. So does one from before ``born`` (UTC seconds): nobody could claim anything then.
    """
    git = git.unreplaced()
    beat = pulse(store, agent.id, seat_of)
    wanted = [one for one in updates if one.new is not None and not one.ref.startswith(ASIDE)]
    if beat.snapshot.counter == 0 or not wanted:
        return PushJudged(beat)
    tips = {one.new for one in wanted if one.new is not None}
    there = known(git, [one.old for one in wanted if one.old is not None])
    remotes = tips_below(git, "refs/remotes/")
    lead = "refs/remotes/" if remote is None else f"refs/remotes/{remote}/"
    everywhere, tracked = set(remotes.values()), {oid for ref, oid in remotes.items() if ref.startswith(lead)}
    new, edges = commits_between(git, tips, tracked | there)
    if not new:
        return PushJudged(beat)
    ours = set(new) if tracked == everywhere else set(commits_between(git, tips, everywhere | there)[0])
    found = [one for one in messages(git, new) if one.time >= int(born)]
    said = [_said(one, fold) for one in with_changes(git, found)]
    own = [one for one in said if one.commit.oid in ours]
    refused = _by_leases(own, beat.snapshot, agent, policy, fold, facts, git)
    held = standings(beat.snapshot, facts)
    notices: list[Notice] = []
    covered = [one for one in said if one.covered]
    for group, landed in _groups(git, _targets(wanted, lead, remotes, there), there | tracked, edges, covered):
        more, told = _by_receipts(group, landed, held, policy, fold)
        refused += [one for one in more if (one.path, one.kind) not in {(had.path, had.kind) for had in refused}]
        notices += [one for one in told if one not in notices]
    paths = frozenset(change.path for one in said for change in one.commit.changes)
    return PushJudged(beat, paths, tuple(refused), tuple(notices))


def _said(commit: Commit, fold: "Fold") -> Said:
    says = _says(commit)
    receipts = [(one, one.footprint) for one in says.receipts if one.include]
    if not receipts:
        return Said(commit, says, (), commit.changes)
    covers = covering(receipts, len(commit.changes), fold)
    proved = [bool(covers(change.path)) for change in commit.changes]
    return Said(
        commit,
        says,
        tuple(change for change, is_proved in zip(commit.changes, proved, strict=True) if is_proved),
        tuple(change for change, is_proved in zip(commit.changes, proved, strict=True) if not is_proved),
    )


def _says(commit: Commit) -> Declared:
    """What a commit declares; not what its message merely quotes. The agent of its own trailers comes last: it is who
    made the commit."""
    if b"ock-" not in commit.message:
        return Declared()
    signed, squashed = parts(commit.message)
    return Declared(
        tuple(dict.fromkeys((*(one for one in squashed.agents if one not in signed.agents), *signed.agents))),
        tuple(dict.fromkeys((*squashed.receipts, *signed.receipts))),
        tuple(dict.fromkeys((*squashed.bypass, *signed.bypass))),
    )


def _by_leases(
    said: list[Said], snapshot: "Snapshot", agent: "Agent", policy: "Policy", fold: "Fold", facts: "Facts", git: "Git"
) -> list[Refused]:
    """What no receipt covers, as if it were committed now by whoever made it. Nothing is claimed on the way, and where
    commits carry no receipts (``receipts = false``), that nobody holds a path says nothing of when it was changed."""
    by_agent: dict[str, dict[str, tuple[Said, Change]]] = {}
    for one in said:
        who = one.says.agents[-1] if one.says.agents else agent.id
        for change in one.loose:
            by_agent.setdefault(who, {}).setdefault(change.path, (one, change))
    rest = policy if policy.receipts else policy.replace(unclaimed="allow")
    refused = []
    for who, changes in by_agent.items():
        kind = agent.kind if who == agent.id else "human" if "@" in who else "agent"
        asked = [change for _, change in changes.values()]
        found = decide(asked, snapshot, who, kind, rest, fold, facts)
        if found.doubtful:
            from gitlock.usecases.looking import look_at

            facts = facts.with_dirty(look_at(found.doubtful, git, fold))
            found = decide(asked, snapshot, who, kind, rest, fold, facts)
        for finding in found.findings:
            one = changes[finding.path][0]
            mode = finding.mode if one.commit.exact else WARN
            bypass = "; ".join(one.says.bypass)
            refused.append(Refused(one.commit, who, mode, finding=finding, bypass=bypass))
    return refused


def _by_receipts(
    said: list[Said], landed: tuple[Declaring, ...], held: tuple[Standing, ...], policy: "Policy", fold: "Fold"
) -> tuple[list[Refused], list[Notice]]:
    """What receipts cover: whether somebody has overtaken it in the base, or holds it by now."""
    changes: dict[str, tuple[Said, Change]] = {}
    for one in said:
        for change in one.covered:
            changes.setdefault(change.path, (one, change))
    own = tuple(_declaring(one) for one in said)
    evidence = Evidence(
        branch=None, changes=[change for _, change in changes.values()], own=own, landed=landed, held=held
    )
    judged = judge_merge(evidence, policy, fold)
    refused = []
    for finding in judged.findings:
        if finding.kind == UNCLAIMED:
            continue
        one = changes[finding.path][0]
        who = one.says.agents[-1] if one.says.agents else ""
        refused.append(Refused(one.commit, who, finding.mode, landing=finding, bypass="; ".join(one.says.bypass)))
    return refused, list(judged.notices)


def _declaring(one: Said) -> Declaring:
    paths = tuple(change.path for change in one.covered)
    return Declaring(one.commit.oid, one.commit.time, one.says, one.commit.people, paths)


def _targets(
    updates: list[Update], lead: str, remotes: dict[str, str], there: set[str]
) -> dict[str, set[str]]:
    """For each tip what it is to land in: the branch it goes to, and the remote's default branch, as known here."""
    targets: dict[str, set[str]] = {}
    for one in updates:
        if one.new is None:
            continue
        bases = {one.old} if one.old is not None and one.old in there else set()
        for name in ("HEAD", one.ref.removeprefix("refs/heads/")):
            base = remotes.get(lead + name)
            if base is not None:
                bases.add(base)
        targets.setdefault(one.new, set()).update(bases)
    return targets


def _groups(
    git: "Git", targets: dict[str, set[str]], there: set[str], edges: set[str], said: list[Said]
) -> list[tuple[list[Said], tuple[Declaring, ...]]]:
    """The commits with receipts by what has landed in their target meanwhile. Nearly always that is nothing: all of
    them begin where the targets end."""
    if not said:
        return []
    every = {base for bases in targets.values() for base in bases}
    if every and edges and every == edges:
        return [(said, ())]
    groups = []
    for tip, bases in targets.items():
        inside = set(commits_between(git, [tip], there)[0])
        group = [one for one in said if one.commit.oid in inside]
        if not group:
            continue
        landed: dict[str, Declaring] = {}
        paths = {change.path for one in group for change in one.covered}
        for base in sorted(bases):
            parted = git.line("merge-base", base, tip)
            if parted is not None:
                landed.update((one.id, one) for one in landed_commits(git, Parted(base, tip, (parted,)), paths))
        groups.append((group, tuple(landed.values())))
    return groups or [(said, ())]
