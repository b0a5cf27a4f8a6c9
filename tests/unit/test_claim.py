"""Asking for a lease: granted whole, already ours, or refused with every conflict listed."""

import pytest

from gitlock.domain.claim import Clash, Granted, LookFirst, next_fence, plan_claim
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import EPOCH_STEP, Holder
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import PLAIN
from gitlock.domain.snapshot import Edits
from gitlock.domain.standing import Facts
from gitlock.stores.memory import MemoryStore
from tests.kit.agents import HERE, NOTHING_KNOWN, Worker, a_claim, a_lease, enforced, processes, snapshot_of, warned
from tests.kit.clock import ManualClock

ANCHORED = HERE.replace(pid=4711, started=1)
DEAD, ALIVE = processes({4711: "dead", 4712: "alive"}), processes({4711: "alive", 4712: "alive"})


class World:
    """A store, a clock, and whoever comes."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.alice, self.bob, self.carol = (Worker(self.store, name) for name in ("alice", "bob", "carol"))


@pytest.fixture
def world() -> World:
    return World()


# -- granting


def test_what_nobody_holds_is_granted_whole(world: World) -> None:
    lease = world.alice.takes("src/*", "docs", names=("deploy:x",), exclude=("src/gen/**",))
    assert world.alice.leases == [lease] and lease.title == "deploy:x src/* docs !src/gen/**"


def test_each_grant_has_the_next_fence(world: World) -> None:
    assert [world.alice.takes(name).fence for name in "abc"] == [1, 2, 3]


def test_a_fence_is_not_used_again_after_a_release(world: World) -> None:
    world.alice.takes("a")
    world.alice.release()
    assert world.bob.takes("a").fence == 2


def test_the_fences_of_a_new_epoch_are_above_all_before() -> None:
    snapshot = snapshot_of()
    snapshot.epoch, snapshot.counter = 3, 2 * EPOCH_STEP - 5
    assert next_fence(snapshot) == 2 * EPOCH_STEP + 1


def test_a_fence_never_falls_behind_the_counter() -> None:
    snapshot = snapshot_of()
    snapshot.epoch, snapshot.counter = 2, 5 * EPOCH_STEP
    assert next_fence(snapshot) == 5 * EPOCH_STEP + 1


def test_a_plan_that_runs_again_has_the_same_outcome() -> None:
    claim, snapshot = a_claim("a"), snapshot_of(a_lease("b", agent="bob", fence=4))
    runs = [plan_claim(snapshot, claim, fold=PLAIN, facts=NOTHING_KNOWN, mode_of=enforced) for _ in range(2)]
    assert runs[0][0] == runs[1][0]


# -- refusing


def test_a_refused_claim_changes_nothing(world: World) -> None:
    world.bob.takes("src/b")
    before = world.store.read()
    world.alice.refused("docs/a", "src/*")
    after = world.store.read()
    seen = [(one.revision, one.counter, list(one.leases.all()), list(one.ended.all())) for one in (before, after)]
    assert seen[0] == seen[1]


def test_a_refusal_lists_every_conflict(world: World) -> None:
    wanted = {world.bob.takes("src/b").id, world.carol.takes("src/c").id, world.bob.takes(names=("deploy:x",)).id}
    world.bob.takes("docs")
    assert {conflict.lease.id for conflict in world.alice.refused("src/*", names=("deploy:x",))} == wanted


def test_each_conflict_has_a_witness_that_both_cover(world: World) -> None:
    theirs = world.bob.takes("src/**/login.*")
    (conflict,) = world.alice.refused("src/auth/*")
    assert conflict.witness is not None
    assert covers(theirs.footprint, conflict.witness) and covers(Footprint.of(("src/auth/*",)), conflict.witness)


def test_one_held_path_refuses_all_of_them(world: World) -> None:
    world.bob.takes("b")
    world.alice.refused("a", "b", "c")
    assert world.alice.leases == []


@pytest.mark.parametrize("name", ["team/one", "team"])
def test_a_family_shares_what_it_holds(world: World, name: str) -> None:
    Worker(world.store, "team/one").takes("src/*")
    assert Worker(world.store, name).takes("src/a").agent == name


def test_siblings_exclude_each_other(world: World) -> None:
    Worker(world.store, "team/one").takes("src/*")
    assert Worker(world.store, "team/two").refused("src/a")


def test_many_share_and_nobody_may_then_take_it_alone(world: World) -> None:
    shared = {world.alice.takes("src/*", mode="shared").id, world.bob.takes("src/a", mode="shared").id}
    assert {conflict.lease.id for conflict in world.carol.refused("src/**")} == shared


def test_an_announcement_never_blocks_and_is_never_blocked(world: World) -> None:
    world.alice.takes("src/*", mode="intent")
    world.bob.takes("src/a")
    answer = world.carol.claim("src/a", mode="intent")
    assert isinstance(answer, Granted) and {one.lease.agent for one in answer.met} == {"alice", "bob"}


def test_where_the_policy_warns_a_claim_that_conflicts_is_announced(world: World) -> None:
    world.bob.takes("src/b")
    answer = world.alice.claim("src/*", policy=warned)
    assert isinstance(answer, Granted)
    assert (answer.lease.mode, [one.lease.agent for one in answer.announced]) == ("intent", ["bob"])


def test_where_the_policy_warns_a_free_claim_is_a_claim(world: World) -> None:
    assert world.alice.takes("src/*", policy=warned).mode == "exclusive"


def test_one_enforced_conflict_among_warnings_refuses(world: World) -> None:
    world.bob.takes("a")
    world.bob.takes("b")
    assert world.alice.refused("*", policy=lambda one: "enforce" if one.witness == "b" else "warn")


def test_an_announcement_in_spite_of_a_conflict_ends_no_lapsed_lease(world: World) -> None:
    lapsed = world.bob.takes("src/b", ttl=60.0)
    world.clock.advance(61.0)
    world.carol.takes("src/c")
    world.alice.claim("src/*", policy=warned)
    assert [lease.id for lease in world.bob.leases] == [lapsed.id]


# -- what lapsed


def test_a_lapsed_lease_stands_in_nobodys_way(world: World) -> None:
    world.bob.takes("src/*", ttl=60.0)
    world.clock.advance(60.0)
    assert world.alice.takes("src/a").agent == "alice"


def test_who_takes_over_a_lapsed_lease_is_written_down_for_its_holder(world: World) -> None:
    old = world.bob.takes("src/*", ttl=60.0)
    world.clock.advance(60.0)
    new = world.alice.takes("src/a")
    (ended,) = world.bob.mine().ended
    told = (ended.lease.id, ended.why, ended.by, ended.by_claim, ended.by_fence, ended.at)
    assert told == (old.id, "taken", "alice", "src/a", new.fence, world.clock.wall)


def test_a_lapsed_lease_beside_the_claim_is_left_alone(world: World) -> None:
    world.bob.takes("docs", ttl=60.0)
    world.clock.advance(60.0)
    world.alice.takes("src/a")
    assert [lease.title for lease in world.bob.leases] == ["docs"]


def test_a_lapsed_shared_lease_is_not_taken_over_by_a_shared_one(world: World) -> None:
    world.bob.takes("src/*", ttl=60.0, mode="shared")
    world.clock.advance(60.0)
    world.alice.takes("src/a", mode="shared")
    assert [lease.title for lease in world.bob.leases] == ["src/*"]


def test_a_refused_claim_takes_over_no_lapsed_lease(world: World) -> None:
    world.bob.takes("src/b", ttl=60.0)
    world.clock.advance(60.0)
    world.carol.takes("src/c")
    world.alice.refused("src/*")
    assert [lease.title for lease in world.bob.leases] == ["src/b"]


# -- holders that are gone


def test_a_dead_holder_is_looked_at_before_its_lease_is_taken(world: World) -> None:
    lease = world.bob.takes("src/*", holder=ANCHORED)
    answer = world.alice.claim("src/a", facts=Facts(DEAD))
    assert isinstance(answer, LookFirst) and [one.id for one in answer.leases] == [lease.id]


def test_looking_changes_nothing(world: World) -> None:
    world.bob.takes("src/*", holder=ANCHORED)
    world.alice.claim("src/a", facts=Facts(DEAD))
    assert world.store.read().revision == 1


def test_a_dead_holder_without_changes_loses_its_lease_at_once(world: World) -> None:
    lease = world.bob.takes("src/*", holder=ANCHORED)
    world.alice.takes("src/a", facts=Facts(DEAD, {lease.id: False}))
    assert [(ended.why, ended.by) for ended in world.bob.mine().ended] == [("dead", "alice")]


def test_a_dead_holder_with_changes_keeps_its_lease_as_orphaned(world: World) -> None:
    lease = world.bob.takes("src/*", holder=ANCHORED)
    (conflict,) = world.alice.refused("src/a", facts=Facts(DEAD, {lease.id: True}))
    assert conflict.standing == "orphaned"


def test_an_orphaned_lease_can_be_taken_after_its_ttl(world: World) -> None:
    lease = world.bob.takes("src/*", holder=ANCHORED, ttl=60.0)
    world.clock.advance(60.0)
    assert world.alice.takes("src/a", facts=Facts(DEAD, {lease.id: True})).fence == 2


@pytest.mark.parametrize("word", ["alive", "unknown"])
def test_doubt_about_a_holder_means_that_it_holds(world: World, word: str) -> None:
    world.bob.takes("src/*", holder=ANCHORED)
    (conflict,) = world.alice.refused("src/a", facts=Facts(lambda _: word))
    assert conflict.standing == "live"


def test_who_claims_again_with_a_new_process_holds_with_that(world: World) -> None:
    world.alice.takes("src/*", holder=ANCHORED)
    world.alice.takes("src/*", holder=HERE.replace(pid=4712, started=2), facts=Facts(DEAD))
    assert [conflict.standing for conflict in world.bob.refused("src/a", facts=Facts(DEAD))] == ["live"]


def test_who_claims_again_after_its_process_died_is_not_dead(world: World) -> None:
    world.alice.takes("src/*", holder=ANCHORED)
    world.alice.takes("src/*", facts=Facts(DEAD))
    assert world.bob.refused("src/a", facts=Facts(DEAD))


def test_who_claims_again_from_beside_keeps_its_living_process(world: World) -> None:
    world.alice.takes("src/*", holder=ANCHORED)
    world.alice.takes("src/*", facts=Facts(ALIVE))
    assert [lease.holder.pid for lease in world.alice.leases] == [4711]


# -- claiming again


def test_what_an_own_lease_covers_is_already_ours(world: World) -> None:
    lease = world.alice.takes("src/*")
    answer = world.alice.claim("src/auth/login.py")
    assert isinstance(answer, Granted) and answer.already
    assert (answer.lease.id, answer.lease.fence) == (lease.id, lease.fence)


def test_a_weaker_claim_on_an_own_lease_is_already_ours(world: World) -> None:
    world.alice.takes("src/*")
    answer = world.alice.claim("src/a", mode="shared")
    assert isinstance(answer, Granted) and answer.already and answer.lease.mode == "exclusive"


def test_claiming_again_counts_the_ttl_from_now(world: World) -> None:
    world.alice.takes("src/*", ttl=600.0)
    world.clock.advance(500.0)
    assert world.alice.takes("src/*", ttl=600.0).left(world.clock()) == 600.0


def test_claiming_again_for_longer_lasts_longer(world: World) -> None:
    world.alice.takes("src/*", ttl=600.0)
    assert world.alice.takes("src/*", ttl=900.0).left(world.clock()) == 900.0


def test_claiming_again_for_less_shortens_nothing(world: World) -> None:
    world.alice.takes("src/*", ttl=7200.0)
    world.clock.advance(60.0)
    lease = world.alice.takes("src/a", ttl=900.0)
    assert (lease.ttl, lease.left(world.clock())) == (7200.0, 7200.0)


def test_a_lapsed_own_lease_is_still_ours_when_it_is_claimed_again(world: World) -> None:
    lease = world.alice.takes("src/*", ttl=60.0)
    world.clock.advance(3600.0)
    answer = world.alice.claim("src/*", ttl=60.0)
    assert isinstance(answer, Granted) and answer.already and answer.lease.fence == lease.fence


def test_a_claim_of_more_adds_a_lease(world: World) -> None:
    first = world.alice.takes("src/a")
    more = world.alice.takes("src/*")
    assert [lease.id for lease in world.alice.leases] == [first.id, more.id]


def test_two_own_leases_that_cover_it_only_together_are_not_already_ours(world: World) -> None:
    world.alice.takes("src/a")
    world.alice.takes("src/b")
    answer = world.alice.claim("src/a", "src/b")
    assert isinstance(answer, Granted) and not answer.already


def test_shared_becomes_exclusive_if_nobody_else_holds_it(world: World) -> None:
    shared = world.alice.takes("src/*", mode="shared")
    answer = world.alice.claim("src/*")
    assert isinstance(answer, Granted) and answer.upgraded
    assert (answer.lease.id, answer.lease.mode, answer.lease.fence) == (shared.id, "exclusive", shared.fence + 1)


def test_shared_stays_shared_if_another_shares_it(world: World) -> None:
    shared = world.alice.takes("src/*", mode="shared")
    world.bob.takes("src/b", mode="shared")
    world.alice.refused("src/*")
    assert world.alice.leases == [shared]


def test_exclusive_within_what_is_shared_is_a_lease_of_its_own(world: World) -> None:
    shared = world.alice.takes("src/*", mode="shared")
    world.bob.takes("src/b", mode="shared")
    alone = world.alice.takes("src/a")
    assert [(lease.id, lease.mode) for lease in world.alice.leases] == [(shared.id, "shared"), (alone.id, "exclusive")]


def test_an_own_announcement_becomes_a_claim(world: World) -> None:
    world.alice.takes("src/*", mode="intent")
    assert world.alice.takes("src/*").mode == "exclusive"


def test_a_key_is_ours_only_with_its_name(world: World) -> None:
    world.alice.takes("db/**")
    assert world.alice.takes("db/**", names=("schema:main",)).fence == 2


# -- who is asking


@pytest.mark.parametrize("elsewhere", [HERE.replace(host="other"), HERE.replace(clone="/other/.git")])
def test_one_name_at_work_in_two_places_is_refused(world: World, elsewhere: Holder) -> None:
    world.alice.takes("src/*")
    assert isinstance(world.alice.claim("docs", holder=elsewhere), Clash)


def test_one_name_in_two_places_is_let_in_by_its_word(world: World) -> None:
    world.alice.takes("src/*")
    assert isinstance(world.alice.claim("docs", holder=HERE.replace(host="other"), same_agent=True), Granted)


def test_one_name_may_move_once_its_leases_lapsed(world: World) -> None:
    world.alice.takes("src/*", ttl=60.0)
    world.clock.advance(60.0)
    assert isinstance(world.alice.claim("docs", holder=HERE.replace(host="other")), Granted)


@pytest.mark.parametrize("again", ["src/*", "src/a", "**/a"])
def test_a_person_in_two_worktrees_is_told_of_itself(world: World, again: str) -> None:
    world.alice.takes("src/*", kind="human")
    answer = world.alice.claim(again, kind="human", holder=HERE.replace(worktree="/second"))
    assert isinstance(answer, Granted) and [one.lease.title for one in answer.elsewhere] == ["src/*"]


def test_an_agent_in_two_worktrees_is_not(world: World) -> None:
    world.alice.takes("src/*")
    answer = world.alice.claim("**/a", holder=HERE.replace(worktree="/second"))
    assert isinstance(answer, Granted) and not answer.elsewhere


# -- clocks


def test_a_lease_dated_ahead_by_another_boot_lasts_its_ttl_from_first_sight(world: World) -> None:
    world.clock.step_wall(10 * 365 * 86400.0)
    world.bob.takes("src/*", ttl=600.0)
    world.clock.reboot()
    world.clock.step_wall(-10 * 365 * 86400.0)
    world.alice.refused("src/a")
    world.clock.advance(600.0)
    assert world.alice.takes("src/a").fence == 2


def test_first_sight_is_written_once(world: World) -> None:
    world.bob.takes("src/*", ttl=600.0)
    world.clock.reboot()
    world.clock.step_wall(-86400.0)
    world.alice.refused("src/a")
    world.clock.advance(300.0)
    world.alice.refused("src/a")
    assert (world.store.read().revision, world.bob.leases[0].left(world.clock())) == (2, 300.0)


def test_first_sight_neither_shortens_nor_renumbers(world: World) -> None:
    lease = world.bob.takes("src/*", ttl=600.0)
    world.clock.reboot()
    world.clock.step_wall(-86400.0)
    before = lease.left(world.clock())
    world.alice.refused("src/a")
    (after,) = world.bob.leases
    assert (after.left(world.clock()), after.fence, after.ttl) == (before, lease.fence, lease.ttl)


def test_events_tell_what_was_granted_and_what_it_ended(world: World) -> None:
    world.bob.takes("src/b", ttl=60.0)
    world.clock.advance(61.0)
    world.alice.takes("src/*")
    assert [(event.verb, event.agent) for event in world.store.history] == [
        ("claim", "bob"), ("claim", "alice"), ("lapse", "bob"),
    ]  # fmt: skip


def test_edits_of_a_refusal_are_empty() -> None:
    snapshot = snapshot_of(a_lease("a", agent="bob"))
    edits, _ = plan_claim(snapshot, a_claim("a"), fold=PLAIN, facts=NOTHING_KNOWN, mode_of=enforced)
    assert edits == Edits()
