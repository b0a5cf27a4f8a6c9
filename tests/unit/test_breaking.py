"""Ending somebody else's lease: in one step, with a reason, and not while doubt means held."""

import pytest

from gitlock.domain.breaking import Broken, NothingThere, StillThere, plan_break
from gitlock.domain.claim import Refused
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts
from tests.kit.agents import HERE, Worker, a_claim, named, processes
from tests.kit.queueing import Line

Answer = object


def breaks(
    line: Line, agent: str, what: str, *, force: bool = False, steal: bool = False, facts: Facts | None = None
) -> Answer:
    claim = a_claim(what, agent=agent) if steal else None

    def plan(snapshot: Snapshot) -> tuple[Edits, Answer]:
        return plan_break(
            snapshot, agent, (named(what),), reason="why", force=force, fold=line.fold, facts=facts or line.facts,
            claim=claim,
        )  # fmt: skip

    return line.store.update(plan)


def victims(answer: Answer) -> list[str]:
    assert isinstance(answer, Broken), answer
    return [lease.agent for lease in answer.leases]


def test_a_lease_is_not_broken_while_nothing_proves_that_its_holder_is_gone() -> None:
    line = Line()
    line.holds("bob", "a")
    answer = breaks(line, "alice", "a")
    assert isinstance(answer, StillThere)
    assert (answer.lease.agent, answer.liveness) == ("bob", "unknown")
    assert [lease.agent for lease in line.store.read().leases.all()] == ["bob"]


@pytest.mark.parametrize(("word", "ends"), [("alive", False), ("unknown", False), ("dead", True)])
def test_without_force_only_the_dead_lose_theirs(word: str, ends: bool) -> None:
    line = Line()
    line.holds("bob", "a")
    lease = line.store.read().leases.all()
    line.store.update(lambda _: (Edits(put=tuple(one.replace(holder=HERE.replace(pid=7)) for one in lease)), None))
    facts = Facts(processes({7: word}), {one.id: False for one in lease})
    assert isinstance(breaks(line, "alice", "a", facts=facts), Broken) is ends


def test_what_has_lapsed_may_be_broken_without_force() -> None:
    line = Line()
    line.holds("bob", "a", ttl=60.0)
    line.clock.advance(61)
    assert victims(breaks(line, "alice", "a")) == ["bob"]


def test_force_ends_it_and_says_by_whom_and_why() -> None:
    line = Line()
    lease = line.holds("bob", "a")
    breaks(line, "alice", "a", force=True)
    (ended,) = line.store.read().ended.of(("bob",))
    assert (ended.lease.id, ended.why, ended.by, ended.note, ended.told) == (lease.id, "broken", "alice", "why", False)
    assert [event.verb for event in line.store.history][-1] == "break"


def test_a_steal_is_one_step_with_a_new_fence() -> None:
    line = Line()
    before = line.holds("bob", "a")
    revision = line.store.read().revision
    answer = breaks(line, "alice", "a", force=True, steal=True)
    assert isinstance(answer, Broken) and answer.taken is not None
    assert answer.taken.lease.fence > before.fence
    assert line.store.read().revision == revision + 1
    (ended,) = line.store.read().ended.of(("bob",))
    assert (ended.why, ended.by_fence, ended.by_claim) == ("stolen", answer.taken.lease.fence, "a")


def test_a_steal_takes_no_more_than_was_asked_and_drops_the_lease_whole() -> None:
    line = Line()
    line.holds("bob", "src/**")
    answer = breaks(line, "alice", "src/a", force=True, steal=True)
    assert victims(answer) == ["bob"]
    assert [lease.title for lease in line.store.read().leases.all()] == ["src/a"]


def test_a_steal_that_others_stand_in_the_way_of_changes_nothing() -> None:
    line = Line()
    line.holds("bob", "a")
    line.waits("carol", "a")
    answer = breaks(line, "alice", "a", force=True, steal=True)
    assert isinstance(answer, Refused) and [one.agent for one in answer.ahead] == ["carol"]
    assert [lease.agent for lease in line.store.read().leases.all()] == ["bob"]


def test_what_is_named_as_it_was_claimed_spares_what_only_overlaps() -> None:
    line = Line()
    line.holds("bob", "src/a")
    line.holds("carol", "src/b")
    assert victims(breaks(line, "alice", "src/a", force=True)) == ["bob"]
    line.holds("bob", "src/a")
    assert sorted(victims(breaks(line, "alice", "src/*", force=True))) == ["bob", "carol"]


@pytest.mark.parametrize("agent", ["bob", "bob/helper"])
def test_nobody_breaks_its_own(agent: str) -> None:
    line = Line()
    line.holds("bob", "a")
    assert isinstance(breaks(line, agent, "a", force=True), NothingThere)


def test_who_was_robbed_hears_it_from_mine_once() -> None:
    line = Line()
    line.holds("bob", "a")
    breaks(line, "alice", "a", force=True, steal=True)
    bob = Worker(line.store, "bob")
    assert [ended.why for ended in bob.beat().ended] == ["stolen"]
    assert [ended.why for ended in bob.mine().ended] == ["stolen"]
    assert bob.mine().ended == ()
