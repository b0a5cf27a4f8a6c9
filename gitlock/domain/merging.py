"""The merge check's decision: may a branch's changes land in its base? Pure, as every decision.

Who is judged is the branch, not whoever presses the button: the agents that its commits name, or, where they name none,
those whose leases say that they work on it. What is judged is each path that the merge would change. The fence is
checked as Kleppmann asks of a resource ("How to do distributed locking", 2016), with the base as the resource.
"""

from gitlock.domain.authors import Authors
from gitlock.domain.covering import covering
from gitlock.domain.decision import CLEAR, HELD, OVERTAKEN, UNCLAIMED, VIOLATION
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, INTENT
from gitlock.domain.pattern import anchor_candidates
from gitlock.domain.policy import ENFORCE, OFF
from gitlock.domain.receipt import Declared
from gitlock.domain.standing import EXPIRED, GONE, standing
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gitlock.domain.change import Change
    from gitlock.domain.footprint import Footprint
    from gitlock.domain.lease import Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.receipt import Receipt
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts

SINCE, ELSEWHERE, AHEAD, ANNOUNCED, BYPASSED = "held-since", "other-store", "ahead", "announced", "bypassed"


class Commit(Value):
    """A commit, and what its message declares: anywhere (``declared``), in its own trailers (``signed``), and as one
    that was squashed of several (``squashed``).

    ``time`` is when it was committed (UTC seconds), ``people`` the e-mail addresses of its author and committer,
    ``paths`` what it changes (empty where nobody asks), ``parents`` what it is on. ``part`` is 0 for a commit of the
    branch itself, else the number of the merge that has brought it in.
    """

    __slots__ = ("declared", "id", "parents", "part", "paths", "people", "signed", "squashed", "time")

    def __init__(
        self,
        id: str,
        time: float,
        declared: Declared,
        people: tuple[str, ...] = (),
        paths: tuple[str, ...] = (),
        *,
        signed: Declared | None = None,
        squashed: Declared | None = None,
        parents: tuple[str, ...] = (),
        part: int = 0,
    ) -> None:
        self.id = id
        self.time = time
        self.declared = declared
        self.signed = declared if signed is None else signed
        self.squashed = Declared() if squashed is None else squashed
        self.people = people
        self.paths = paths
        self.parents = parents
        self.part = part


class Standing(Value):
    """A live lease, with the name and epoch of the store that gave it its fence. ``writer`` is the clone that published
    it, ``published`` when (UTC seconds); both None for one of our own store."""

    __slots__ = ("epoch", "lease", "published", "store", "writer")

    def __init__(
        self, lease: "Lease", store: str, epoch: int, writer: str | None = None, published: float | None = None
    ) -> None:
        self.lease = lease
        self.store = store
        self.epoch = epoch
        self.writer = writer
        self.published = published


def standings(snapshot: "Snapshot", facts: "Facts") -> tuple[Standing, ...]:
    """Everything that is live in a store of our own, its time told by the wall clock, as that of ledgers is."""
    now = snapshot.now
    return tuple(
        Standing(
            lease.replace(renewed=Instant(now.wall - now.since(lease.renewed), 0.0, "")), snapshot.store, snapshot.epoch
        )
        for lease in snapshot.leases.all()
        if standing(lease, now, facts) not in (EXPIRED, GONE)
    )


class Other(Value):
    """Another open branch, and which of the judged paths it changes as well."""

    __slots__ = ("name", "paths")

    def __init__(self, name: str, paths: tuple[str, ...]) -> None:
        self.name = name
        self.paths = paths


class Finding(Value):
    """A path that may not land. ``mode`` is what the policy does about it. ``held`` is whose it is (held); ``commit``
    and ``receipt`` are what landed in the base meanwhile, and ``own`` what the branch worked under (overtaken)."""

    __slots__ = ("commit", "held", "kind", "mode", "own", "path", "receipt", "status")

    def __init__(
        self,
        path: str,
        kind: str,
        mode: str,
        status: str,
        *,
        held: Standing | None = None,
        commit: Commit | None = None,
        receipt: "Receipt | None" = None,
        own: "Receipt | None" = None,
    ) -> None:
        self.path = path
        self.kind = kind
        self.mode = mode
        self.status = status
        self.held = held
        self.commit = commit
        self.receipt = receipt
        self.own = own


class Notice(Value):
    """What stops nobody and should be known. ``kind`` is one of: held-since (another took the path after the branch had
    done its work), other-store (a change of the path landed under a fence that does not compare with ours), ahead
    (another branch changes it too), announced, bypassed. ``name`` is the branch (ahead) or the reason (bypassed)."""

    __slots__ = ("commit", "held", "kind", "name", "paths", "receipt")

    def __init__(
        self,
        kind: str,
        paths: tuple[str, ...] = (),
        *,
        held: Standing | None = None,
        commit: Commit | None = None,
        receipt: "Receipt | None" = None,
        name: str = "",
    ) -> None:
        self.kind = kind
        self.paths = paths
        self.held = held
        self.commit = commit
        self.receipt = receipt
        self.name = name


class Judged(Value):
    """``agents`` are who the branch is, ``kind`` what they are; ``findings`` in the order of the paths."""

    __slots__ = ("agents", "findings", "kind", "notices")

    def __init__(
        self, agents: tuple[str, ...], kind: str, findings: tuple[Finding, ...], notices: tuple[Notice, ...]
    ) -> None:
        self.agents = agents
        self.kind = kind
        self.findings = findings
        self.notices = notices

    @property
    def violations(self) -> tuple[Finding, ...]:
        """The findings that stop the merge."""
        return tuple(one for one in self.findings if one.mode == ENFORCE)

    @property
    def answer(self) -> str:
        """``clear`` or ``violation``."""
        return VIOLATION if self.violations else CLEAR


class Evidence(Value):
    """What a merge is judged by. ``own`` are the branch's commits, ``landed`` those of the base that declare something,
    since the two parted, newest first; ``held`` everything that is live; ``others`` the other open branches. ``work``
    tells which paths each of its own commits changes, by its id; without it, the commits themselves do."""

    __slots__ = ("branch", "changes", "held", "landed", "others", "own", "work")

    def __init__(
        self,
        *,
        branch: str | None,
        changes: "Sequence[Change]",
        own: tuple[Commit, ...],
        landed: tuple[Commit, ...],
        held: tuple[Standing, ...],
        others: tuple[Other, ...] = (),
        work: "Callable[[], Mapping[str, Iterable[str]]] | None" = None,
    ) -> None:
        self.work = work or (lambda: {commit.id: commit.paths for commit in own})
        self.branch = branch
        self.changes = changes
        self.own = own
        self.landed = landed
        self.held = held
        self.others = others


def judge_merge(evidence: Evidence, policy: "Policy", fold: "Fold") -> Judged:
    """Judges each changed path: held, then overtaken, then unclaimed; the first that applies is the finding.

    A lease of another stands in the way unless the branch did its work before: it has a receipt with a lower fence of
    the same store and epoch, or, where fences don't compare, one that was committed before the lease was granted; and
    no commit without a receipt has changed the path since.
    """
    paths = len(evidence.changes)
    authors = Authors(evidence.own, evidence.work, evidence.held, evidence.branch, paths, fold)
    kind = authors.kind
    holders = covering(_near(evidence), paths, fold)
    landed = _landed(evidence, fold)
    findings: list[Finding] = []
    demanded = policy.unclaimed == "reject" and policy.receipts  # without receipts, nobody can show a claim
    told: dict[tuple[str, str], tuple[Notice, list[str]]] = {}

    def tell(notice: Notice, path: str, about: str) -> None:
        told.setdefault((notice.kind, about), (notice, []))[1].append(path)

    for change in evidence.changes:
        path = change.path
        mode = policy.mode_for(kind, path, fold)
        if mode == OFF:
            continue
        proofs = authors.proofs(path)
        blocking: Standing | None = None
        mine = False
        for one in holders(path):
            if authors.own(one.lease.agent, path):
                mine = mine or one.lease.mode == EXCLUSIVE
            elif one.lease.mode == INTENT:
                tell(Notice(ANNOUNCED, held=one), path, one.lease.id)
            elif proofs and _came_later(one, proofs) and not authors.went_on(path, one.lease.acquired):
                tell(Notice(SINCE, held=one), path, one.lease.id)
            elif blocking is None or blocking.lease.mode != EXCLUSIVE:
                blocking = one
        if blocking is not None:
            findings.append(Finding(path, HELD, mode, change.status, held=blocking))
            continue
        best = _best(proofs)
        stale: tuple[Receipt, Commit, Receipt] | None = None
        for theirs, commit in landed.get(path, ()):
            if authors.own(theirs.agent, path):
                continue
            own = best.get((theirs.store, theirs.epoch))
            if own is None:
                if proofs:
                    tell(Notice(ELSEWHERE, commit=commit, receipt=theirs), path, commit.id + theirs.lease)
            elif theirs.fence > own.fence and (stale is None or theirs.fence > stale[0].fence):
                stale = theirs, commit, own
        if stale is not None:
            findings.append(
                Finding(path, OVERTAKEN, mode, change.status, commit=stale[1], receipt=stale[0], own=stale[2])
            )
        elif demanded and not proofs and not mine and not policy.is_open(path, fold):
            findings.append(Finding(path, UNCLAIMED, mode, change.status))
    notices = [notice.replace(paths=tuple(about)) for notice, about in told.values()]
    notices += [Notice(AHEAD, one.paths, name=one.name) for one in evidence.others]
    for commit in evidence.own:
        notices += [Notice(BYPASSED, commit=commit, name=reason) for reason in commit.declared.bypass]
    return Judged(authors.agents, kind, tuple(findings), tuple(notices))


def _near(evidence: Evidence) -> "list[tuple[Standing, Footprint]]":
    """The leases that may cover one of the paths, found by their anchors: most of many can't."""
    anchors: set[str] = set()
    for change in evidence.changes:
        anchors.update(anchor_candidates(change.path))
    rows = [(one, one.lease.footprint) for one in evidence.held if one.lease.include]
    return [row for row in rows if any(pattern.anchor in anchors for pattern in row[1].include)]


def _came_later(held: Standing, proofs: "list[tuple[Receipt, Commit]]") -> bool:
    """Whether the branch had done its work before this lease was granted."""
    same = [one for one, _ in proofs if (one.store, one.epoch) == (held.store, held.epoch)]
    if same:
        return any(one.fence < held.lease.fence for one in same)
    return any(commit.time <= held.lease.acquired for _, commit in proofs)


def _best(proofs: "list[tuple[Receipt, Commit]]") -> "dict[tuple[str, int], Receipt]":
    """The latest receipt of each store and epoch: fences compare within one of these only."""
    best: dict[tuple[str, int], Receipt] = {}
    for one, _ in proofs:
        before = best.get((one.store, one.epoch))
        if before is None or one.fence > before.fence:
            best[one.store, one.epoch] = one
    return best


def _landed(evidence: Evidence, fold: "Fold") -> "dict[str, list[tuple[Receipt, Commit]]]":
    """For each judged path what has landed under a receipt that covers it."""
    wanted = {change.path for change in evidence.changes}
    found: dict[str, list[tuple[Receipt, Commit]]] = {}
    for commit in evidence.landed:
        theirs = [one for one in commit.declared.receipts if one.include]
        if not theirs:
            continue
        covers = covering([(one, one.footprint) for one in theirs], len(commit.paths), fold)
        for path in commit.paths:
            if path in wanted:
                found.setdefault(path, []).extend([(one, commit) for one in covers(path)])
    return found
