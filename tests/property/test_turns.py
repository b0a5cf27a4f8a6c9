"""Whose turn it is, is found quickly (those that exclude one another are skipped, only what was freed is looked at): it
is the same that is found by asking for each waiter in turn whether it would be granted now."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitlock.domain.agent import related
from gitlock.domain.claim import Granted, Refused, plan_claim
from gitlock.domain.lease import EXCLUSIVE, SHARED, Lease
from gitlock.domain.overlap import contains
from gitlock.domain.pattern import PLAIN
from gitlock.domain.queue import PASSES, Waiter, excludes, keeps_place
from gitlock.domain.turn import plan_offers, turns
from tests.kit.agents import enforced
from tests.kit.queueing import Line, claim_of

AGENTS = ("alice", "bob", "carol", "dave", "erin", "alice/a")
WANTS = ("src/a", "src/b", "src/*", "src/**", "lib/**", "lib/x", "deploy:s", "deploy:t")
STEP = st.tuples(
    st.sampled_from(("hold", "wait", "wait", "wait", "draw", "release", "leave", "die", "take", "time")),
    st.sampled_from(AGENTS),
    st.lists(st.sampled_from(WANTS), min_size=1, max_size=2, unique=True),
    st.sampled_from((EXCLUSIVE, EXCLUSIVE, SHARED)),
)
STEPS = st.lists(STEP, max_size=30)


def ready_by_asking(line: Line) -> set[str]:
    """The waiters that would be granted what they want, were they to ask now."""
    snapshot = line.store.read()
    found = set()
    for waiter in snapshot.waiters.ordered():
        alive = keeps_place(waiter, snapshot.now, line.facts.process_waits)
        answer = plan_claim(
            snapshot, claim_of(waiter), fold=PLAIN, facts=line.facts, mode_of=enforced, place=waiter
        )[1]
        already = isinstance(answer, Granted) and answer.already
        if alive and isinstance(answer, Granted) and not already:
            found.add(waiter.id)
    return found


def apply(line: Line, step: tuple[str, str, list[str], str]) -> "Lease | Waiter | None":
    """One step; what it freed, if it did."""
    what, agent, wants, mode = step
    mine = list(line.store.read().waiters.of((agent,)))
    if what == "hold":
        line.asks(agent, *wants, mode=mode)
    elif what in ("wait", "draw"):
        line.asks(agent, *wants, mode=mode, join="ticket" if what == "draw" else line.process)
    elif what == "die":
        line.gone.add(agent)
    elif what == "time":
        line.clock.advance(50)
    elif what == "take" and mine:
        if agent not in line.gone:
            line.takes(mine[0])
    elif what == "leave" and mine:
        line.leaves(mine[0])
        return mine[0]
    elif what == "release":
        leases = list(line.store.read().leases.of((agent,)))
        if leases:
            line.drops(leases[0])
            return leases[0]
    return None


@settings(max_examples=200)
@given(STEPS)
def test_it_is_the_turn_of_those_who_would_be_granted_what_they_want(
    steps: list[tuple[str, str, list[str], str]],
) -> None:
    line = Line()
    for step in steps:
        apply(line, step)
        snapshot = line.store.read()
        found = {waiter.id for waiter, _ in turns(snapshot, PLAIN, line.facts)}
        expected = ready_by_asking(line)
        covered = {one.id for one in snapshot.waiters.ordered() if _holds_it_already(one, line)}
        assert found - covered == expected - covered


def _holds_it_already(waiter: Waiter, line: Line) -> bool:
    """Whose own lease covers what it waits for asks for nothing new, and is nobody's turn to be found."""
    return any(
        set(waiter.names) <= set(lease.names)
        and (not waiter.include or contains(lease.footprint, waiter.footprint, PLAIN))
        for lease in line.store.read().leases.of((waiter.agent,))
    )


@settings(max_examples=200)
@given(STEPS)
def test_nobody_is_missed_by_looking_only_at_what_was_freed(steps: list[tuple[str, str, list[str], str]]) -> None:
    line = Line()
    for step in steps:
        before = {waiter.id for waiter, _ in turns(line.store.read(), PLAIN, line.facts)}
        freed = apply(line, step)
        if freed is None:
            continue
        snapshot = line.store.read()
        new = {waiter.id for waiter, front in turns(snapshot, PLAIN, line.facts) if not front.passing} - before
        assert new <= {waiter.id for waiter, _ in turns(snapshot, PLAIN, line.facts, (freed,))}


@settings(max_examples=200)
@given(STEPS)
def test_nobody_who_conflicts_with_another_holds_at_the_same_time_and_nobody_is_passed_too_often(
    steps: list[tuple[str, str, list[str], str]],
) -> None:
    line = Line()
    for step in steps:
        apply(line, step)
        line.store.update(lambda s: plan_offers(s, PLAIN, line.facts))
        snapshot = line.store.read()
        live = [lease for lease in snapshot.leases.all() if lease.left(snapshot.now) > 0]
        for number, one in enumerate(live):
            assert not any(
                lease_excludes(one, other) for other in live[number + 1 :] if not related(one.agent, other.agent)
            )
        assert all(waiter.passed <= PASSES for waiter in snapshot.waiters.ordered())


def lease_excludes(one: Lease, other: Lease) -> bool:
    if one.mode == SHARED and other.mode == SHARED:
        return False
    shape = Waiter(
        id="x", order=1, agent=one.agent, kind=one.kind, mode=one.mode, keys=one.keys, include=one.include,
        exclude=one.exclude, reason="", ttl=1.0, since=0.0, seen=one.renewed, holder=one.holder, process=None,
    )  # fmt: skip
    return excludes(shape, other.agent, other.mode, other.names, other.footprint, PLAIN)


@settings(max_examples=200)
@given(STEPS, st.sampled_from(AGENTS), st.lists(st.sampled_from(WANTS), min_size=1, max_size=2, unique=True))
def test_a_try_that_is_granted_has_gone_before_nobody_who_was_not_to_be_passed(
    steps: list[tuple[str, str, list[str], str]], agent: str, wants: list[str]
) -> None:
    line = Line()
    for step in steps:
        apply(line, step)
    before = line.store.read()
    answer = line.asks(agent, *wants)
    assert isinstance(answer, (Granted, Refused))
    if not isinstance(answer, Granted) or answer.already:
        return
    lease = answer.lease
    for waiter in before.waiters.ordered():
        alive = keeps_place(waiter, before.now, line.facts.process_waits)
        if alive and excludes(waiter, agent, lease.mode, lease.names, lease.footprint, PLAIN):
            now = line.store.read().waiters.find(waiter.id)
            assert now is None or now.passed == waiter.passed + 1, f"{agent} went before {waiter}"
            assert now is not None or waiter.is_ticket, f"{waiter} was thrown out"
