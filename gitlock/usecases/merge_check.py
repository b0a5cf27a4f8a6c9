"""May this branch land in its base? The merge's evidence, brought to the decision (``gitlock.domain.merging``)."""

import os

from gitlock import jsontext
from gitlock.domain.following import FIELD
from gitlock.domain.merging import Evidence, Judged, Standing, judge_merge, standings
from gitlock.domain.pattern import anchor_candidates
from gitlock.domain.policy import MAP_FILE
from gitlock.domain.seat import reseated
from gitlock.domain.standing import DOUBTFUL, standing
from gitlock.domain.value import Value
from gitlock.errors import StoreCorrupt
from gitlock.git import ledgers as wire
from gitlock.git.branching import (
    SHALLOW,
    Ends,
    Parted,
    asking_others,
    asking_place,
    branch_changes,
    file_at,
    find_ends,
    other_branches,
)
from gitlock.git.changes import between, naming
from gitlock.git.foreseen import Foreseen
from gitlock.git.testimony import asking_log, landed_commits, own_commits, work_of
from gitlock.stores.ledger import is_writer, may_concern
from gitlock.usecases.looking import look_at
from gitlock.usecases.publishing import TIMEOUT, Fault, Ledgers, ledgers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.beat import SeatOf
    from gitlock.domain.change import Change
    from gitlock.domain.lease import Lease
    from gitlock.domain.ledger import Ledger
    from gitlock.domain.merging import Commit
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore


class Surroundings(Value):
    """Where a check takes place. ``store`` is None where this clone has none; ``remote`` where there is none: then the
    ledgers are those that were pushed to this repository itself. ``policy_of`` reads a map file; ``now`` is the wall
    time (UTC seconds). ``seat_of`` knows where our own store's leases are held from by now."""

    __slots__ = ("facts", "fold", "git", "now", "policy_of", "remote", "seat_of", "store")

    def __init__(
        self,
        git: "Git",
        *,
        remote: str | None,
        store: "LeaseStore | None",
        facts: "Facts",
        fold: "Fold",
        now: float,
        policy_of: "Callable[[bytes | None], Policy]",
        seat_of: "SeatOf",
    ) -> None:
        self.git = git
        self.remote = remote
        self.store = store
        self.facts = facts
        self.fold = fold
        self.now = now
        self.policy_of = policy_of
        self.seat_of = seat_of


class MergeCheck(Value):
    """``paths`` is how many the branch changes, ``ledgers`` how many were read. ``managed`` is False where the base has
    no map file and nobody has published anything: there is nothing to judge by. ``edits_policy`` says that the branch
    changes the map file, which it is not judged by. ``faults`` are refs among the ledgers that are none.
    ``orphans`` are published leases that were to last until their branch is merged, and it is."""

    __slots__ = ("edits_policy", "faults", "judged", "ledgers", "managed", "orphans", "parted", "paths", "policy")

    def __init__(
        self,
        *,
        parted: Parted,
        policy: "Policy",
        judged: Judged,
        paths: int,
        ledgers: int,
        managed: bool,
        edits_policy: bool,
        faults: tuple[Fault, ...],
        orphans: "tuple[Lease, ...]" = (),
    ) -> None:
        self.orphans = orphans
        self.parted = parted
        self.policy = policy
        self.judged = judged
        self.paths = paths
        self.ledgers = ledgers
        self.managed = managed
        self.edits_policy = edits_policy
        self.faults = faults


def check_merge(ends: Ends, where: Surroundings) -> MergeCheck:
    """Judges what ``ends.head`` would change in ``ends.base``, by the base's own map file.

    Raises what stands in the way of knowing: ``RemoteUnreachable``, ``RepositoryError`` (``no-merge-base``),
    ``StoreError``, ``ConfigError``; ``UsageError`` for ends that name nothing.
    """
    git = Foreseen(where.git.unreplaced())
    where = where.replace(git=git)
    for text in (ends.head, ends.base if ends.target is None else None):
        if text and not text.startswith("-"):
            git.put(*naming(text))
    git.put(*SHALLOW)
    if where.remote is None:
        git.put(*wire.listing(wire.PUBLISHED))
    try:
        return _checked(ends, where, git)
    finally:
        git.forget()


def _checked(ends: Ends, where: Surroundings, git: Foreseen) -> MergeCheck:
    def meanwhile(base: str, head: str) -> None:
        for words in (
            between(base, head), asking_log(head, base), asking_others(base, where.remote), asking_place(base, MAP_FILE)
        ):  # fmt: skip
            git.put(*words)

    parted = find_ends(git, ends, where.remote, meanwhile)
    map_file = file_at(git, parted.base, MAP_FILE)
    policy = where.policy_of(map_file)
    if where.remote is not None:
        wire.fetch(git, where.remote, no_hooks=os.devnull, timeout=TIMEOUT)
    changes = branch_changes(git, parted)
    own = own_commits(git, parted) if changes else ()
    read = _readable(ledgers(git, where.remote, _wanted(changes, own, ends.branch)))
    paths = [change.path for change in changes]
    managed = map_file is not None or bool(read.found) or where.store is not None
    if not managed or not changes:
        judged = Judged((), "human", (), ())
    else:
        evidence = Evidence(
            branch=ends.branch,
            changes=changes,
            own=own,
            work=lambda: work_of(git, own),
            landed=landed_commits(git, parted, paths),
            held=_held(where, read.found),
            others=other_branches(git, parted, paths, where.remote),
        )
        judged = judge_merge(evidence, policy, where.fold)
        gone = _left_behind(judged, where)
        if gone:
            held = tuple(one for one in evidence.held if one.lease.id not in gone)
            judged = judge_merge(evidence.replace(held=held), policy, where.fold)
    return MergeCheck(
        parted=parted,
        policy=policy,
        judged=judged,
        paths=len(changes),
        ledgers=len(read.found),
        managed=managed,
        edits_policy=MAP_FILE in paths,
        faults=read.faults,
        orphans=_orphans(where, parted, read.found),
    )


def _wanted(
    changes: "list[Change]", own: "tuple[Commit, ...]", branch: str | None
) -> "Callable[[bytes], bool]":
    """What of a ledger has to be read: leases that may cover what was changed, those of whoever works on the branch,
    and those that follow a branch."""
    anchors: set[str] = set()
    for change in changes:
        anchors.update(anchor_candidates(change.path))
    texts = {anchor.encode("utf-8", "surrogateescape") for anchor in anchors}
    needles = [b'"until_merged":']
    if branch is not None:
        needles.append(b'"branch":' + jsontext.dumps(branch).encode())
    needles += [jsontext.dumps(one).encode() for one in {one for commit in own for one in commit.people}]

    def wanted(line: bytes) -> bool:
        return may_concern(line, texts) or any(needle in line for needle in needles)

    return wanted


def _orphans(where: Surroundings, parted: Parted, found: "tuple[Ledger, ...]") -> "tuple[Lease, ...]":
    """Only a branch that the remote still has can be seen to be merged: one that this clone never heard of may be
    anywhere."""
    some = [one for one in found if any(lease.extra.get(FIELD) for lease in one.leases)]
    bound = [lease for one in some for lease in one.live(where.now) if lease.extra.get(FIELD) and lease.holder.branch]
    if not bound:
        return ()
    place = f"refs/remotes/{where.remote}/" if where.remote is not None else "refs/heads/"
    out = where.git.run("for-each-ref", f"--merged={parted.base}", "--format=%(objectname) %(refname)", place)
    rows = [row.partition(" ") for row in os.fsdecode(out).splitlines()]
    merged = {ref: tip for tip, _, ref in rows}
    return tuple(one for one in bound if merged.get(place + (one.holder.branch or ""), parted.base) != parted.base)


def _readable(found: Ledgers) -> Ledgers:
    """The ledgers, if all can be read. What lies where a ledger belongs and can't be read may hold anything, and is
    never "nothing"; other refs beside them are none of ours."""
    for fault in found.faults:
        if is_writer(fault.ref.rpartition("/")[2]):
            ref = wire.PUBLISHED + fault.ref.rpartition("/")[2]
            raise StoreCorrupt(
                fault.message, hint=f"git lock publish, in its clone; if that is gone: git push origin :{ref}"
            )
    return found


def _held(where: Surroundings, found: "tuple[Ledger, ...]") -> tuple[Standing, ...]:
    """Everything that is live: in our own store as it is now, elsewhere as it was published and has aged since."""
    rows: list[Standing] = []
    own = ""
    if where.store is not None:
        snapshot = where.store.read()
        own = snapshot.store
        rows += [
            one.replace(lease=reseated(one.lease, where.seat_of)) for one in standings(snapshot, where.facts)
        ]
    for ledger in found:
        if ledger.store == own:
            continue  # several clones share this store, and it knows better
        for lease in ledger.live(where.now):
            rows.append(Standing(lease, ledger.store, ledger.epoch, ledger.writer, ledger.published))
    return tuple(rows)


def _left_behind(judged: Judged, where: Surroundings) -> set[str]:
    """Leases in the way whose holder is gone without anything uncommitted."""
    if where.store is None:
        return set()
    ids = {one.held.lease.id for one in judged.findings if one.held is not None and one.held.writer is None}
    if not ids:
        return set()
    snapshot = where.store.read()
    doubtful = [
        lease
        for lease in snapshot.leases.all()
        if lease.id in ids and standing(lease, snapshot.now, where.facts) == DOUBTFUL
    ]
    return {name for name, dirty in look_at(doubtful, where.git, where.fold).items() if not dirty}
