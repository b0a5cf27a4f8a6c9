"""Does a lease still stand in somebody's way?"""

import pytest

from gitlock.domain.lease import Holder
from gitlock.domain.standing import ALIVE, DEAD, UNKNOWN, Facts, nothing_known, standing
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
