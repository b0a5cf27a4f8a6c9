"""First come, first served: by the counter, past the dead, never past the living, and within the stated exception."""

import pytest

from gitlock.domain.claim import Granted, Refused
from gitlock.domain.lease import INTENT, SHARED
from gitlock.domain.queue import PASSES
from gitlock.domain.turn import Deadlock, Queued, turns
from tests.kit.queueing import Line


def taken(answer: object) -> bool:
    return isinstance(answer, Granted)


def test_waiters_are_served_in_the_order_in_which_they_came() -> None:
    line = Line()
    line.holds("alice", "a")
    places = [line.waits(name, "a") for name in ("bob", "carol", "dave")]
    line.releases("alice")
    served = []
    for place in places:
        served += line.turns()
        assert taken(line.takes(place))
        line.releases(place.agent)
    assert served == ["bob", "carol", "dave"]


def test_a_wall_clock_that_was_put_back_changes_no_order() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a")
    line.clock.step_wall(-3600)
    line.waits("carol", "a")
    line.releases("alice")
    assert line.turns() == ["bob"]


def test_a_place_is_never_given_twice() -> None:
    line = Line()
    line.holds("alice", "a")
    first = line.waits("bob", "a")
    line.leaves(first)
    assert line.waits("carol", "a").order > first.order


def test_what_is_free_of_overlap_is_not_held_up() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a")
    assert taken(line.asks("carol", "b"))


def test_a_try_does_not_pass_a_live_waiter() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a")
    line.releases("alice")
    answer = line.asks("carol", "a")
    assert isinstance(answer, Refused)
    assert [one.agent for one in answer.ahead] == ["bob"]


def test_a_try_does_not_pass_a_waiter_that_it_only_overlaps() -> None:
    line = Line()
    line.holds("alice", "src/a", "src/b")
    line.waits("bob", "src/a", "src/b")
    line.releases("alice")
    assert isinstance(line.asks("carol", "src/b", "src/c"), Refused)


def test_a_waiter_may_not_pass_another_that_waits_for_something_else_of_it() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a", "b")
    carol = line.waits("carol", "b", "c")
    assert isinstance(line.takes(carol), Refused)


@pytest.mark.parametrize("dead", [["bob"], ["bob", "carol"]])
def test_the_dead_and_the_stopped_are_passed_over(dead: list[str]) -> None:
    line = Line()
    line.holds("alice", "a")
    places = {name: line.waits(name, "a") for name in ("bob", "carol", "dave")}
    line.gone.update(dead)
    line.releases("alice")
    (turn,) = line.turns()
    assert taken(line.takes(places[turn]))
    assert line.queue == [name for name in ("bob", "carol", "dave") if name not in (*dead, turn)]


def test_the_dead_hold_up_no_one_behind_a_live_one_either() -> None:
    line = Line()
    line.holds("alice", "a", "b")
    line.waits("bob", "a")
    line.waits("carol", "a", "b")
    line.waits("dave", "b")
    line.gone.add("carol")
    line.releases("alice")
    assert line.turns() == ["bob", "dave"]


def test_one_who_was_stopped_and_lost_its_place_gets_no_other_at_the_front() -> None:
    line = Line()
    line.holds("alice", "a")
    bob, carol, dave = (line.waits(name, "a") for name in ("bob", "carol", "dave"))
    line.gone.add("bob")
    line.releases("alice")
    assert taken(line.takes(carol))
    line.gone.clear()
    line.releases("carol")
    answer = line.takes(bob)
    assert isinstance(answer, Refused)
    assert [one.agent for one in answer.ahead] == ["dave"]
    assert taken(line.takes(dave))


def test_all_who_may_share_have_their_turn_at_once() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a", mode=SHARED)
    line.waits("carol", "a", mode=SHARED)
    line.waits("dave", "a")
    line.waits("erin", "a", mode=SHARED)
    line.releases("alice")
    assert line.turns() == ["bob", "carol"]


def test_readers_do_not_starve_a_writer() -> None:
    line = Line()
    line.holds("alice", "a", mode=SHARED)
    line.waits("bob", "a")
    assert isinstance(line.asks("carol", "a", mode=SHARED), Refused)


def test_an_announcement_neither_waits_nor_is_waited_for() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a")
    assert taken(line.asks("carol", "a", mode=INTENT))


def test_who_works_for_a_waiter_does_not_wait_for_it() -> None:
    line = Line()
    line.holds("alice", "a")
    line.waits("bob", "a")
    line.releases("alice")
    assert taken(line.asks("bob/helper", "a"))


def test_only_what_was_freed_is_looked_at_and_nothing_of_it_is_missed() -> None:
    line = Line()
    one, two = line.holds("alice", "src/a"), line.holds("bob", "lib/b")
    line.waits("carol", "src")
    line.waits("dave", "lib/**")
    line.drops(one)
    line.drops(two)
    found = turns(line.store.read(), line.fold, line.facts, freed=(two,))
    assert [waiter.agent for waiter, _ in found] == ["dave"]


# -- the exception: a narrower claim may pass a broad one that is blocked anyway


def broad(line: Line) -> None:
    """bob wants all of src, and is blocked by alice's file."""
    line.holds("alice", "src/a")
    line.waits("bob", "src/**")


def test_a_narrower_claim_may_pass_one_that_a_lease_blocks() -> None:
    line = Line()
    broad(line)
    assert taken(line.asks("carol", "src/b"))


def test_the_passes_are_counted_and_then_there_are_no_more() -> None:
    line = Line()
    broad(line)
    granted = []
    for number in range(PASSES + 3):
        granted.append(taken(line.asks("carol", f"src/b{number}")))
    assert granted == [True] * PASSES + [False] * 3


def test_the_broad_one_comes_when_all_who_passed_have_let_go() -> None:
    line = Line()
    broad(line)
    for number in range(PASSES):
        assert taken(line.asks(f"agent{number}", f"src/b{number}"))
    line.releases("alice")
    assert line.turns() == []
    for number in range(PASSES):
        line.releases(f"agent{number}")
        assert isinstance(line.asks("late", "src/late"), Refused)
    assert line.turns() == ["bob"]


def test_nobody_passes_one_that_nothing_blocks() -> None:
    line = Line()
    broad(line)
    line.releases("alice")
    assert isinstance(line.asks("carol", "src/b"), Refused)


@pytest.mark.parametrize(
    "wanted", [("src/**",), ("**",), ("src/b", "lib/b"), ("src/b", "deploy:staging")], ids=" ".join
)
def test_what_is_not_narrower_does_not_pass(wanted: tuple[str, ...]) -> None:
    line = Line()
    broad(line)
    assert isinstance(line.asks("carol", *wanted), Refused)


def test_of_two_keys_one_may_pass() -> None:
    line = Line()
    line.holds("alice", "deploy:a")
    line.waits("bob", "deploy:a", "deploy:b")
    assert taken(line.asks("carol", "deploy:b"))


def test_the_same_paths_without_the_key_are_narrower() -> None:
    line = Line()
    line.holds("alice", "deploy:a")
    line.waits("bob", "deploy:a", "src/**")
    assert taken(line.asks("carol", "src/**"))


def test_a_waiter_that_may_pass_is_woken() -> None:
    line = Line()
    line.holds("alice", "src/a")
    held = line.holds("erin", "src/b")
    line.waits("bob", "src/**")
    carol = line.waits("carol", "src/b")
    line.drops(held)
    assert line.turns() == ["carol"]
    assert taken(line.takes(carol))


# -- tickets


def test_a_ticket_is_offered_what_is_free() -> None:
    line = Line()
    line.holds("alice", "a")
    ticket = line.draws("bob", "a")
    line.releases("alice")
    line.offers()
    assert line.now(ticket).offered == line.clock()


def test_a_ticket_that_stands_behind_somebody_is_not_offered() -> None:
    line = Line()
    line.holds("alice", "a", "b")
    line.draws("bob", "a", "b")
    second = line.draws("carol", "b", "c")
    line.releases("alice")
    line.offers()
    assert isinstance(line.asks("dave", "c"), Refused)
    assert line.now(second).offered is None


def test_a_ticket_that_could_only_pass_somebody_is_not_offered() -> None:
    line = Line()
    held = line.holds("erin", "src/b")
    broad(line)
    ticket = line.draws("carol", "src/b")
    line.drops(held)
    line.offers()
    assert line.now(ticket).offered is None
    assert taken(line.takes(ticket))


def test_an_offer_that_is_not_taken_passes_on() -> None:
    line = Line()
    line.holds("alice", "a")
    line.draws("bob", "a")
    carol = line.waits("carol", "a")
    line.releases("alice")
    line.offers()
    assert isinstance(line.takes(carol), Refused)
    line.clock.advance(121)
    assert taken(line.takes(carol))


def test_an_offer_stands_for_its_window() -> None:
    line = Line()
    line.holds("alice", "a")
    ticket = line.draws("bob", "a")
    line.releases("alice")
    line.offers()
    line.clock.advance(119)
    assert taken(line.takes(ticket))
    assert line.queue == []


def test_a_turn_that_nobody_rings_for_is_offered_by_whoever_looks() -> None:
    line = Line()
    line.holds("alice", "a", ttl=60.0)
    ticket = line.draws("bob", "a")
    line.clock.advance(61)
    assert isinstance(line.asks("carol", "a"), Refused)
    assert line.now(ticket).offered == line.clock()


def test_a_ticket_outlives_a_day_only_with_a_word_from_its_agent() -> None:
    line = Line()
    line.holds("alice", "a", ttl=7 * 86400.0)
    line.draws("bob", "a")
    line.clock.advance(86400 + 1)
    carol = line.waits("carol", "a")
    line.releases("alice")
    assert taken(line.takes(carol))


def test_a_second_ticket_for_the_same_is_the_first_one() -> None:
    line = Line()
    line.holds("alice", "a")
    assert line.draws("bob", "a").id == line.draws("bob", "a").id
    assert line.queue == ["bob"]


def test_a_ticket_is_used_up_by_a_plain_claim_of_the_same() -> None:
    line = Line()
    line.holds("alice", "a")
    line.draws("bob", "a")
    line.releases("alice")
    assert taken(line.asks("bob", "a"))
    assert line.queue == []


# -- one agent's commands, each for itself


def test_two_commands_of_one_agent_do_not_hold_the_same_at_once() -> None:
    line = Line()
    line.holds("alice", "a", command=11)
    answer = line.asks("alice", "a", command=12)
    assert isinstance(answer, Refused) and [one.lease.agent for one in answer.conflicts] == ["alice"]


def test_they_are_served_in_order_as_others_are() -> None:
    line = Line()
    line.holds("alice", "a", command=11)
    first = line.waits("alice", "a", command=12)
    second = line.waits("alice", "a", command=13)
    line.releases("alice")
    assert isinstance(line.takes(second), Refused)
    assert taken(line.takes(first))


def test_a_command_below_another_has_what_that_has() -> None:
    line = Line()
    outer = line.holds("alice", "src/*", command=11)
    answer = line.asks("alice", "src/a", command=12, chain=(outer,))
    assert isinstance(answer, Granted) and answer.already and answer.lease.holder.pid == 11


def test_a_command_may_use_what_its_agent_holds_by_hand() -> None:
    line = Line()
    line.holds("alice", "src/*")
    answer = line.asks("alice", "src/a", command=12)
    assert isinstance(answer, Granted) and answer.already


def test_what_an_agent_claims_by_hand_while_its_command_holds_it_is_the_agents() -> None:
    line = Line()
    line.holds("alice", "a", command=11)
    answer = line.asks("alice", "a")
    assert isinstance(answer, Granted) and answer.already
    assert (answer.lease.holder.pid, answer.lease.holder.is_apart) == (None, False)


def test_what_is_claimed_inside_the_command_stays_the_commands() -> None:
    line = Line()
    outer = line.holds("alice", "a", command=11)
    answer = line.asks("alice", "a", chain=(outer,))
    assert isinstance(answer, Granted) and answer.lease.holder.pid == 11


def test_two_commands_may_share() -> None:
    line = Line()
    line.holds("alice", "a", command=11, mode=SHARED)
    assert taken(line.asks("alice", "a", command=12, mode=SHARED))


def test_a_command_that_is_merely_busy_closes_no_ring() -> None:
    """alice's command will end by itself; that she waits for bob elsewhere does not keep it."""
    line = Line()
    line.holds("alice", "a", command=11)
    line.holds("bob", "b")
    line.waits("alice", "b")
    assert isinstance(line.asks("bob", "a", join="process"), Queued)


def test_a_command_that_waits_inside_closes_one() -> None:
    line = Line()
    outer = line.holds("alice", "a", command=11)
    line.holds("bob", "b")
    line.waits("alice", "b", chain=(outer,))
    assert isinstance(line.asks("bob", "a", join="process"), Deadlock)


def test_two_commands_of_one_agent_that_wait_crosswise_are_a_ring_of_one_with_itself() -> None:
    line = Line()
    one, two = line.holds("alice", "a", command=11), line.holds("alice", "b", command=12)
    line.waits("alice", "b", command=13, chain=(one,))
    answer = line.asks("alice", "a", command=14, chain=(two,), join="process")
    assert isinstance(answer, Deadlock)
    assert [step.agent for step in answer.ring.steps] == ["alice", "alice"]
