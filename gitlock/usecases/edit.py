"""Before an edit, check and claim in one: what is free is taken for the agent, what is another's is said so.

The plain case, that the agent holds the path already, costs one reading and no more.
"""

import os

from gitlock.domain.change import Change
from gitlock.domain.decision import HELD, OVERTAKEN, Finding, decide
from gitlock.domain.lease import EXCLUSIVE, INTENT, Lease
from gitlock.domain.policy import ENFORCE, SEVERITY, WARN
from gitlock.domain.value import Value
from gitlock.usecases.renew import Pulse, pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from gitlock.domain.agent import Agent
    from gitlock.domain.conflict import Conflict
    from gitlock.domain.decision import Decision
    from gitlock.domain.lease import Holder
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.queue import Waiter
    from gitlock.domain.seat import Seat
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts
    from gitlock.git.repository import Repository
    from gitlock.stores.files.store import FileStore
    from gitlock.usecases.claim import ClaimOutcome

    class Ground(Protocol):
        """What of a site is needed."""

        agent: Agent
        repository: Repository
        fold: Fold

        @property
        def store(self) -> FileStore: ...

        @property
        def policy(self) -> Policy: ...

        @property
        def facts(self) -> Facts: ...

        def holder(self, pid: int | None = None) -> Holder: ...

        def seat_of(self, holder: Holder) -> Seat | None: ...


REASON = "being edited"
LOOKS = 2  # times that the leases are looked at again after somebody was quicker


class Edited(Value):
    """``stops`` are why the edit may not happen, and then nothing was taken; ``warns`` what its author has to know;
    ``taken`` are leases that were made for it; ``ahead`` who waits for one of the paths since before; ``clash`` the
    lease of the same name elsewhere, where that keeps us from claiming."""

    __slots__ = ("ahead", "clash", "pulse", "stops", "taken", "warns")

    def __init__(
        self,
        pulse: Pulse,
        *,
        stops: tuple[Finding, ...] = (),
        warns: tuple[Finding, ...] = (),
        taken: tuple[Lease, ...] = (),
        ahead: "tuple[Waiter, ...]" = (),
        clash: Lease | None = None,
    ) -> None:
        self.pulse = pulse
        self.stops = stops
        self.warns = warns
        self.taken = taken
        self.ahead = ahead
        self.clash = clash


def before_edit(
    site: "Ground", paths: tuple[str, ...], call: str, *, elsewhere: str = WARN, most: str = ENFORCE, take: bool = True
) -> Edited:
    """May these paths be edited, all of them? If so, those that are free are taken, for this ``call`` (empty where the
    edit has happened).

    ``elsewhere`` is what the lease of somebody who works in another worktree does: there, nothing is written over
    that he has not finished. ``most`` is the strictest that any finding may do. Without ``take`` nothing is taken.
    """
    beat = pulse(site.store, site.agent.id, site.seat_of)
    answer = Edited(beat)
    for _ in range(LOOKS):
        decision = judge(site, paths, beat.snapshot)
        findings = [graded(site, one, elsewhere, most) for one in decision.findings]
        stops = tuple(one for one in findings if one.mode == ENFORCE and one.kind == HELD)
        warns = tuple(one for one in findings if one not in stops)
        if stops or not take:
            return Edited(beat, stops=stops, warns=warns)
        lost = [one.path for one in findings if one.kind == OVERTAKEN]
        free = tuple(dict.fromkeys((*decision.takeable, *lost)))
        held = tuple(one.path for one in warns if one.kind == HELD)
        answer = Edited(beat, warns=warns)
        if not free and not held and not _joins(beat, paths, call, site):
            return answer
        taken, refused = _take(site, free, held, call, elsewhere, most, beat, paths)
        answer = Edited(beat, warns=warns, taken=taken)
        if refused is None:
            return answer
        answer = refused.replace(pulse=beat, warns=warns)
        if answer.clash is not None or answer.ahead:
            return answer
        beat = beat.replace(snapshot=site.store.read())  # somebody was quicker: now it is theirs
    return answer


def judge(site: "Ground", paths: tuple[str, ...], snapshot: "Snapshot") -> "Decision":
    """The decision about these paths, as if each had been changed; final, whoever is gone."""
    changes = [Change(path, "M") for path in paths]
    policy = site.policy.replace(unclaimed="claim")
    agent, facts = site.agent, site.facts
    decision = decide(changes, snapshot, agent.id, agent.kind, policy, site.fold, facts)
    if decision.doubtful:
        from gitlock.usecases.looking import look_at

        facts = facts.with_dirty(look_at(decision.doubtful, site.repository.git, site.fold))
        decision = decide(changes, snapshot, agent.id, agent.kind, policy, site.fold, facts)
    return decision


def graded(site: "Ground", finding: Finding, elsewhere: str, most: str) -> Finding:
    """The finding with what it does to an edit that has not happened yet."""
    mode = finding.mode
    lease = finding.lease
    if finding.kind == HELD and lease is not None and is_elsewhere(site, lease):
        rules = site.policy.keys_of(finding.path, site.fold) if site.policy.override is None else ()
        if not any(rule.mode for rule in rules):
            mode = _weaker(mode, elsewhere)
    mode = _weaker(mode, most)
    return finding if mode == finding.mode else finding.replace(mode=mode)


def is_elsewhere(site: "Ground", lease: Lease) -> bool:
    """Whether its holder works in another worktree or clone than the one that we are about to edit in."""
    holder, here = lease.holder, site.repository
    if holder.clone is not None and os.path.realpath(holder.clone) != os.path.realpath(here.common_dir):
        return True
    if holder.worktree is None or here.top is None:
        return False
    return holder.worktree != here.top and os.path.realpath(holder.worktree) != os.path.realpath(here.top)


def _weaker(one: str, other: str) -> str:
    return one if SEVERITY[one] <= SEVERITY[other] else other


def _joins(beat: Pulse, paths: tuple[str, ...], call: str, site: "Ground") -> bool:
    """Whether one of the paths is ours only for another call, that has not ended: should that come to nothing, this
    one still needs it."""
    for lease in beat.beat.held:
        calls = lease.extra.get("tentative")
        if calls and call and lease.agent == site.agent.id and isinstance(calls, list) and call not in calls:
            footprint = lease.footprint
            if any(footprint.covers(path, site.fold) for path in paths):
                return True
    return False


def _take(
    site: "Ground",
    free: tuple[str, ...],
    held: tuple[str, ...],
    call: str,
    elsewhere: str,
    most: str,
    beat: Pulse,
    paths: tuple[str, ...],
) -> tuple[tuple[Lease, ...], Edited | None]:
    """Takes what is free, and announces the edit of what is another's and may be edited all the same."""
    from gitlock.domain.claim import Granted

    if not free and _joins(beat, paths, call, site):
        free = tuple(path for path in paths if path not in held)
    ours = [lease for lease in beat.beat.held if lease.agent == site.agent.id]
    free = _not_ignored(site, free, ours)
    taken: list[Lease] = []
    if free:
        outcome = _ask(site, free, EXCLUSIVE, call, elsewhere, most)
        if not isinstance(outcome.answer, Granted):
            return (), _refusal(site, outcome, free, elsewhere, most, beat)
        if not outcome.answer.already:
            taken.append(outcome.answer.lease)
    said = [path for path in held if not any(one.footprint.covers(path, site.fold) for one in ours)]
    if said:
        outcome = _ask(site, tuple(said), INTENT, call, elsewhere, most)
        if isinstance(outcome.answer, Granted) and not outcome.answer.already:
            taken.append(outcome.answer.lease)
    return tuple(taken), None


def _ask(site: "Ground", paths: tuple[str, ...], mode: str, call: str, elsewhere: str, most: str) -> "ClaimOutcome":
    from gitlock.domain.pattern import escape
    from gitlock.usecases.claim import ask, prepare
    from gitlock.usecases.reading import LITERAL, Reading, Taken

    wish = prepare(
        Reading(tuple(Taken(path, LITERAL, (escape(path),)) for path in paths)),
        agent=site.agent, mode=mode, ttl=None, reason=REASON, holder=site.holder(), policy=site.policy, fold=site.fold,
        facts=site.facts, git=site.repository.git, auto=True, call=call or None,
    )  # fmt: skip
    strict = wish.mode_of

    def mode_of(conflict: "Conflict") -> str:
        grade = strict(conflict)
        if conflict.witness is not None and conflict.lease.include and is_elsewhere(site, conflict.lease):
            finding = Finding(conflict.witness, HELD, grade, lease=conflict.lease)
            return graded(site, finding, elsewhere, most).mode
        return _weaker(grade, most)

    return ask(site.store, wish.replace(mode_of=mode_of))


def _refusal(
    site: "Ground", outcome: "ClaimOutcome", paths: tuple[str, ...], elsewhere: str, most: str, beat: Pulse
) -> Edited:
    """What kept us from claiming what a moment ago was free; a declared key's conflict as well."""
    from gitlock.domain.claim import Clash, Refused

    answer = outcome.answer
    if isinstance(answer, Clash):
        return Edited(beat, clash=answer.lease)
    assert isinstance(answer, Refused)
    found = [
        graded(
            site, Finding(one.witness or paths[0], HELD, ENFORCE, lease=one.lease, standing=one.standing),
            elsewhere, most,
        )
        for one in answer.conflicts
    ]  # fmt: skip
    return Edited(beat, stops=tuple(one for one in found if one.mode == ENFORCE), ahead=answer.ahead)


def _not_ignored(site: "Ground", paths: tuple[str, ...], ours: list[Lease]) -> tuple[str, ...]:
    """Those that git does not ignore, or that we hold already: no commit brings the others to anybody."""
    asked = [path for path in paths if not any(one.footprint.covers(path, site.fold) for one in ours)]
    if not asked or site.repository.top is None:
        return paths
    from gitlock.git.changes import ignored

    gone = ignored(site.repository.git, site.repository.top, asked)
    return tuple(path for path in paths if path not in gone)
