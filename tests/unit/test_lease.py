"""A lease in time: two clocks, and neither a stepped wall clock nor a reboot fools it."""

import pytest

from gitlock.domain.instant import Instant
from gitlock.domain.lease import EPOCH_LIMIT, EPOCH_STEP, STRENGTH
from tests.kit.agents import a_lease
from tests.kit.clock import ManualClock

HOUR = 3600.0


def test_what_is_left_is_the_ttl_less_what_has_passed() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.advance(250.0)
    assert lease.left(clock()) == 350.0


def test_a_lease_is_over_at_the_end_of_its_ttl() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.advance(600.0)
    assert lease.left(clock()) <= 0


@pytest.mark.parametrize("step", [-10 * 365 * 24 * HOUR, -HOUR, HOUR, 10 * 365 * 24 * HOUR])
def test_a_stepped_wall_clock_neither_frees_nor_extends_on_one_boot(step: float) -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.advance(100.0)
    clock.step_wall(step)
    assert lease.left(clock()) == 500.0


def test_a_suspended_machine_frees_nothing() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.suspend(24 * HOUR)
    assert lease.left(clock()) == 600.0


def test_across_boots_the_wall_clock_counts() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.reboot(250.0)
    assert lease.left(clock()) == 350.0


def test_a_monotonic_clock_of_another_boot_means_nothing() -> None:
    clock = ManualClock()
    clock.mono = 1_000_000.0
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.reboot(600.0)
    assert lease.left(clock()) <= 0


@pytest.mark.parametrize("back", [1.0, HOUR, 30 * 365 * 24 * HOUR])
def test_across_boots_a_wall_clock_that_went_back_leaves_at_most_the_ttl(back: float) -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    clock.reboot()
    clock.step_wall(-30.0 - back)
    assert lease.left(clock()) == 600.0


def test_a_machine_that_cannot_say_its_boot_goes_by_the_wall_clock() -> None:
    lease = a_lease("a", ttl=600.0, renewed=Instant(1000.0, 50.0, ""))
    assert lease.left(Instant(1100.0, 7.0, "")) == 500.0


def test_renewing_counts_from_now_and_keeps_fence_and_ttl() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, fence=7, renewed=clock())
    clock.advance(900.0)
    renewed = lease.renewed_at(clock())
    assert (renewed.left(clock()), renewed.fence, renewed.id) == (600.0, 7, lease.id)


def test_a_heartbeat_is_due_after_a_tenth_of_the_ttl() -> None:
    clock = ManualClock()
    lease = a_lease("a", ttl=600.0, renewed=clock())
    due = []
    for _ in range(2):
        clock.advance(59.0)
        due.append(lease.due(clock()))
    assert due == [False, True]


def test_a_heartbeat_is_due_for_a_lease_that_is_dated_ahead() -> None:
    clock = ManualClock()
    lease = a_lease("a", renewed=clock())
    clock.reboot()
    clock.step_wall(-HOUR)
    assert lease.ahead(clock()) and lease.due(clock())


def test_a_stepped_wall_clock_makes_no_heartbeat_due() -> None:
    clock = ManualClock()
    lease = a_lease("a", renewed=clock())
    clock.step_wall(-HOUR)
    assert not lease.due(clock())


def test_a_title_names_keys_paths_and_what_is_kept_out() -> None:
    lease = a_lease("src/**", "docs/a.md", names=("schema:main",), exclude=("src/gen/**",))
    assert lease.title == "schema:main src/** docs/a.md !src/gen/**"


def test_only_semantic_keys_are_names() -> None:
    assert a_lease("src/*", "a", names=("deploy:x", "files:y")).names == ("deploy:x", "files:y")


def test_exclusive_is_stronger_than_shared_and_that_than_an_announcement() -> None:
    assert STRENGTH["exclusive"] > STRENGTH["shared"] > STRENGTH["intent"]


def test_every_fence_is_a_number_that_json_readers_keep() -> None:
    assert EPOCH_LIMIT * EPOCH_STEP < 2**53
