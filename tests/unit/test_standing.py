"""Does a lease still stand in somebody's way?"""

import pytest

from gitlock.domain.lease import Holder, Lease
from gitlock.domain.standing import (
    ALIVE,
    DEAD,
    UNKNOWN,
    WAITING_CAP,
    Facts,
    may_end_in,
    nothing_known,
    standing,
)
from tests.kit.agents import a_lease
from tests.kit.clock import ManualClock

WITH_PROCESS = Holder("host", pid=4711, started=99, boot="boot")


def knowing(word: str, **dirty: bool) -> Facts:
    return Facts(lambda _: word, dirty)


@pytest.mark.parametrize("word", [ALIVE, UNKNOWN])
def test_a_holder_that_is_not_provably_dead_holds(word: str) -> None:
    lease = a_lease("a", holder=WITH_PROCESS)
    assert standing(lease, lease.renewed, knowing(word)) == "live"


def test_a_dead_holder_is_in_doubt_until_somebody_looked() -> None:
    lease = a_lease("a", holder=WITH_PROCESS)
    assert standing(lease, lease.renewed, knowing(DEAD)) == "doubtful"


def test_a_dead_holder_that_left_changes_is_orphaned() -> None:
    lease = a_lease("a", holder=WITH_PROCESS)
    facts = knowing(DEAD).with_dirty({lease.id: True})
    assert standing(lease, lease.renewed, facts) == "orphaned"


def test_a_dead_holder_that_left_nothing_is_gone() -> None:
    lease = a_lease("a", holder=WITH_PROCESS)
    facts = knowing(DEAD).with_dirty({lease.id: False})
    assert standing(lease, lease.renewed, facts) == "gone"


def test_a_holder_without_a_process_is_never_asked_after() -> None:
    lease = a_lease("a")
    assert standing(lease, lease.renewed, knowing(DEAD)) == "live"


@pytest.mark.parametrize("word", [ALIVE, UNKNOWN, DEAD])
def test_an_expired_lease_is_expired_whoever_lives(word: str) -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=60.0, renewed=clock(), holder=WITH_PROCESS)
    clock.advance(60.0)
    assert standing(lease, clock(), knowing(word)) == "expired"


def test_an_orphaned_lease_stands_until_its_ttl_and_no_longer() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=60.0, renewed=clock(), holder=WITH_PROCESS)
    facts = knowing(DEAD).with_dirty({lease.id: True})
    clock.advance(59.0)
    before = standing(lease, clock(), facts)
    clock.advance(1.0)
    assert (before, standing(lease, clock(), facts)) == ("orphaned", "expired")


def test_what_was_looked_up_adds_to_what_was_known() -> None:
    facts = knowing(DEAD).with_dirty({"a": True}).with_dirty({"b": False})
    assert facts.dirty == {"a": True, "b": False}


def test_nothing_known_is_unknown() -> None:
    assert nothing_known(a_lease("a")) == UNKNOWN


# -- a session that waits for a person

ASKS = Facts(nothing_known, waits_for_person=lambda _: True)


def test_who_waits_for_a_person_keeps_a_lapsed_lease_up_to_a_cap() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=60.0, renewed=clock())
    words = []
    for seconds in (59.0, 1.0, WAITING_CAP - 1, 1.0):
        clock.advance(seconds)
        words.append(standing(lease, clock(), ASKS))
    assert words == ["live", "waiting", "waiting", "expired"]


def test_nobody_asks_whether_the_holder_of_a_lease_that_runs_waits() -> None:
    asked: list[object] = []

    def waits(lease: Lease) -> bool:
        asked.append(lease)
        return False

    facts = Facts(nothing_known, waits_for_person=waits)
    lease = a_lease("a")
    standing(lease, lease.renewed, facts)
    assert asked == []


def test_what_is_known_of_the_wait_outlives_a_look_at_the_worktree() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=60.0, renewed=clock())
    clock.advance(61.0)
    assert standing(lease, clock(), ASKS.with_dirty({lease.id: True})) == "waiting"


def test_who_is_behind_a_wait_looks_again_now_and_then() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=60.0, renewed=clock())
    clock.advance(61.0)
    assert 0 < may_end_in(lease, clock(), "waiting") <= 5.0
