"""What a holder does with its leases: renew, give back whole or in part, and hear what ended."""

import pytest

from gitlock.domain.holding import ENDED_KEPT, ENDED_LIMIT, LAPSED_KEPT, Wanted, plan_sweep
from gitlock.domain.lease import Ended
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.snapshot import Edits
from gitlock.stores.memory import MemoryStore
from gitlock.usecases.release import release
from gitlock.usecases.renew import renew
from tests.kit.agents import NOTHING_KNOWN, Worker, a_lease, named
from tests.kit.clock import ManualClock


class World:
    """A store, a clock, and whoever comes."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.alice, self.bob = (Worker(self.store, name) for name in ("alice", "bob"))

    def overtaken(self) -> None:
        """alice's lease lapses, and bob takes a path of it."""
        self.alice.takes("src/*", ttl=60.0)
        self.clock.advance(61.0)
        self.bob.takes("src/a")


@pytest.fixture
def world() -> World:
    return World()


# -- the heartbeat


def test_a_beat_renews_every_lease_in_one_write(world: World) -> None:
    for name in "abc":
        world.alice.takes(name, ttl=600.0)
    world.clock.advance(100.0)
    before = world.store.read().revision
    world.alice.beat()
    left = {lease.left(world.clock()) for lease in world.alice.leases}
    assert (left, world.store.read().revision) == ({600.0}, before + 1)


def test_a_beat_writes_at_most_every_tenth_of_the_ttl(world: World) -> None:
    world.alice.takes("a", ttl=600.0)
    before = world.store.read().revision
    for _ in range(12):
        world.clock.advance(29.0)
        world.alice.beat()
    assert world.store.read().revision == before + 4


def test_a_beat_of_somebody_else_renews_nothing(world: World) -> None:
    world.alice.takes("a")
    world.clock.advance(500.0)
    world.bob.beat()
    assert world.alice.leases[0].left(world.clock()) == 100.0


def test_a_childs_beat_renews_the_leases_that_it_works_under(world: World) -> None:
    world.alice.takes("a", ttl=600.0)
    world.clock.advance(500.0)
    Worker(world.store, "alice/helper").beat()
    assert world.alice.leases[0].left(world.clock()) == 600.0


def test_a_parents_beat_renews_nothing_of_a_child(world: World) -> None:
    child = Worker(world.store, "alice/helper")
    child.takes("a", ttl=600.0)
    world.clock.advance(500.0)
    world.alice.beat()
    assert child.leases[0].left(world.clock()) == 100.0


def test_a_lapsed_lease_that_nobody_overlapped_goes_on_and_that_is_said(world: World) -> None:
    lease = world.alice.takes("a", ttl=60.0)
    world.clock.advance(3600.0)
    beat = world.alice.beat()
    assert [one.id for one in beat.revived] == [lease.id] and beat.held[0].fence == lease.fence


def test_giving_back_one_lease_renews_the_others(world: World) -> None:
    for name in "ab":
        world.alice.takes(name, ttl=600.0)
    world.clock.advance(500.0)
    release(world.store, "alice", (named("a"),), PLAIN, NOTHING_KNOWN)
    assert [lease.left(world.clock()) for lease in world.alice.leases] == [600.0]


def test_renewing_one_lease_renews_the_others(world: World) -> None:
    for name in "ab":
        world.alice.takes(name, ttl=600.0)
    world.clock.advance(500.0)
    renew(world.store, "alice", (named("a"),), None, PLAIN)
    assert [lease.left(world.clock()) for lease in world.alice.leases] == [600.0, 600.0]


def test_giving_something_back_tells_what_ended(world: World) -> None:
    world.overtaken()
    world.alice.takes("docs")
    outcome = release(world.store, "alice", (named("docs"),), PLAIN, NOTHING_KNOWN)
    assert outcome.beat is not None and [one.lease.title for one in outcome.beat.ended] == ["src/*"]


# -- hearing what ended


def test_an_end_is_told_by_every_command_until_mine_has_told_it(world: World) -> None:
    world.overtaken()
    alice = world.alice
    told = [len(asked().ended) for asked in (alice.beat, alice.beat, alice.mine, alice.mine)]
    assert told == [1, 1, 1, 0]


def test_only_mine_settles_it(world: World) -> None:
    world.overtaken()
    world.alice.renew()
    world.alice.renew("src/*")
    world.alice.release("src/*")
    world.alice.release()
    assert [ended.by for ended in world.alice.mine().ended] == ["bob"]


def test_each_end_is_told_to_its_own_holder_only(world: World) -> None:
    world.overtaken()
    assert world.bob.mine().ended == ()


def test_several_ends_are_told_at_once(world: World) -> None:
    for name in "ab":
        world.alice.takes(name, ttl=60.0)
    world.clock.advance(61.0)
    world.bob.takes("a")
    world.bob.takes("b")
    assert [ended.lease.title for ended in world.alice.mine().ended] == ["a", "b"]


# -- renewing


def test_renewing_everything_counts_every_ttl_from_now(world: World) -> None:
    world.alice.takes("a", ttl=600.0)
    world.alice.takes("b", ttl=60.0)
    world.clock.advance(59.0)
    world.alice.renew()
    assert [lease.left(world.clock()) for lease in world.alice.leases] == [600.0, 60.0]


def test_renewing_may_set_a_new_ttl(world: World) -> None:
    world.alice.takes("a", ttl=600.0)
    world.alice.renew("a", ttl=30.0)
    assert world.alice.leases[0].ttl == 30.0


def test_a_lapsed_lease_is_renewed_under_the_same_fence(world: World) -> None:
    lease = world.alice.takes("a", ttl=60.0)
    world.clock.advance(86400.0)
    assert [one.fence for one in world.alice.renew("a").renewed] == [lease.fence]


def test_a_lapsed_lease_that_was_overtaken_cannot_be_renewed(world: World) -> None:
    world.overtaken()
    outcome = world.alice.renew("src/*")
    assert not outcome.renewed and [(one.why, one.by) for one in outcome.ended] == [("taken", "bob")]


def test_it_cannot_be_renewed_either_once_the_other_gave_it_back(world: World) -> None:
    world.overtaken()
    world.bob.release()
    assert not world.alice.renew("src/*").renewed


def test_what_was_given_back_cannot_be_renewed(world: World) -> None:
    world.alice.takes("a")
    world.alice.release()
    outcome = world.alice.renew("a")
    assert not outcome.renewed and [want.text for want in outcome.missing] == ["a"]


def test_somebody_elses_lease_cannot_be_renewed(world: World) -> None:
    world.bob.takes("a")
    outcome = world.alice.renew("a")
    assert not outcome.renewed and [lease.agent for lease in outcome.foreign] == ["bob"]


def test_a_lease_is_renewed_by_any_path_of_it(world: World) -> None:
    lease = world.alice.takes("src/*")
    assert [one.id for one in world.alice.renew("src/auth/login.py").renewed] == [lease.id]


# -- giving back


def test_what_was_given_back_is_free(world: World) -> None:
    world.alice.takes("a")
    world.alice.release("a")
    assert world.bob.takes("a").agent == "bob"


def test_everything_is_given_back_when_nothing_is_named(world: World) -> None:
    for name in "ab":
        world.alice.takes(name)
    assert len(world.alice.release().released) == 2 and world.alice.leases == []


@pytest.mark.parametrize("text", ["gone.py", "src/Renamed.PY", "app/[id]", "never/was", "a b"])
def test_whatever_could_be_claimed_can_be_given_back(world: World, text: str) -> None:
    world.alice.takes(text)
    assert len(world.alice.release(text).released) == 1


def test_a_key_is_given_back_by_its_name(world: World) -> None:
    world.alice.takes(names=("deploy:x",))
    assert len(world.alice.release("deploy:x").released) == 1


def test_a_lease_is_given_back_by_its_title(world: World) -> None:
    lease = world.alice.takes("a", "b")
    want = Wanted(lease.title, frozenset((lease.title,)))
    outcome = release(world.store, "alice", (want,), PLAIN, NOTHING_KNOWN)
    assert [one.id for one in outcome.released] == [lease.id]


def test_another_case_names_it_where_the_file_system_folds(world: World) -> None:
    alice = Worker(world.store, "alice", fold=Fold(True, False))
    alice.takes("src/Login.py")
    assert len(alice.release("SRC/login.PY").released) == 1


def test_another_case_names_nothing_where_it_does_not(world: World) -> None:
    world.alice.takes("src/Login.py")
    assert [want.text for want in world.alice.release("src/login.py").missing] == ["src/login.py"]


def test_a_part_that_is_given_back_narrows_the_lease(world: World) -> None:
    lease = world.alice.takes("src/*")
    (left,) = world.alice.release("src/auth/login.py").narrowed
    assert (left.id, left.fence, left.title) == (lease.id, lease.fence, "src/* !src/auth/login.py")


def test_the_part_is_free_and_the_rest_is_kept(world: World) -> None:
    world.alice.takes("src/*")
    world.alice.release("src/auth/login.py")
    assert world.bob.takes("src/auth/login.py").fence == 2 and world.bob.refused("src/auth/token.py")


def test_one_of_several_patterns_is_given_back_alone(world: World) -> None:
    world.alice.takes("src/*", "docs/a.md")
    (left,) = world.alice.release("docs/a.md").narrowed
    assert (left.title, left.keys) == ("src/*", ("glob:src/*",))


def test_a_wider_pattern_gives_back_all_within(world: World) -> None:
    world.alice.takes("src/a", "docs/b")
    (left,) = world.alice.release("src/**").narrowed
    assert left.title == "docs/b"


def test_another_spelling_of_all_of_it_gives_back_all(world: World) -> None:
    world.alice.takes("src/**")
    outcome = world.alice.release("src/*")
    assert not outcome.narrowed and world.alice.leases == []


def test_a_pattern_that_crosses_the_lease_gives_back_what_they_share(world: World) -> None:
    world.alice.takes("src/**")
    (left,) = world.alice.release("**/*.py").narrowed
    assert not covers(left.footprint, "src/a.py") and covers(left.footprint, "src/a.md")


def test_narrowing_a_declared_key_gives_up_its_name_and_keeps_the_paths(world: World) -> None:
    world.alice.takes("db/**", names=("schema:main",))
    (left,) = world.alice.release("db/a.sql").narrowed
    assert (left.names, left.title) == ((), "db/** !db/a.sql")


def test_giving_up_the_name_of_a_declared_key_keeps_the_paths(world: World) -> None:
    world.alice.takes("db/**", names=("schema:main",))
    (left,) = world.alice.release("schema:main").narrowed
    assert (left.names, left.include) == ((), ("db/**",))


def test_a_lapsed_lease_can_be_given_back(world: World) -> None:
    world.alice.takes("a", ttl=60.0)
    world.clock.advance(61.0)
    assert len(world.alice.release("a").released) == 1


def test_what_one_does_not_hold_cannot_be_given_back(world: World) -> None:
    world.alice.takes("a")
    outcome = world.alice.release("b")
    assert [want.text for want in outcome.missing] == ["b"] and len(world.alice.leases) == 1


def test_giving_nothing_back_writes_nothing(world: World) -> None:
    world.alice.takes("a")
    world.alice.release("b")
    assert world.store.read().revision == 1


def test_somebody_elses_lease_cannot_be_given_back(world: World) -> None:
    world.bob.takes("src/*")
    outcome = world.alice.release("src/a")
    assert [lease.agent for lease in outcome.foreign] == ["bob"] and len(world.bob.leases) == 1


def test_giving_everything_back_leaves_others_leases(world: World) -> None:
    world.bob.takes("a")
    world.alice.release()
    assert len(world.bob.leases) == 1


def test_a_family_member_does_not_give_back_for_another(world: World) -> None:
    world.alice.takes("a")
    Worker(world.store, "alice/helper").release("a")
    assert len(world.alice.leases) == 1


def test_the_token_opens_a_lease_of_another_name(world: World) -> None:
    world.bob.takes("a", token="bobs")
    assert len(world.alice.release("a", token="bobs").released) == 1


def test_the_holder_hears_that_its_lease_was_given_back_by_token(world: World) -> None:
    world.bob.takes("a", token="bobs")
    world.alice.release("a", token="bobs")
    assert [(ended.why, ended.by) for ended in world.bob.mine().ended] == [("released", "alice")]


def test_a_wrong_token_opens_nothing(world: World) -> None:
    world.bob.takes("a", token="bobs")
    outcome = world.alice.release("a", token="guessed")
    assert not outcome.released and [lease.agent for lease in outcome.foreign] == ["bob"]


def test_what_was_overtaken_is_named_when_it_is_given_back(world: World) -> None:
    world.overtaken()
    assert [ended.by for ended in world.alice.release("src/*").ended] == ["bob"]


# -- sweeping


def swept(world: World) -> int:
    return world.store.update(plan_sweep)


def test_what_lapsed_long_ago_is_swept_and_told(world: World) -> None:
    world.alice.takes("a", ttl=60.0)
    world.clock.advance(60.0 + LAPSED_KEPT)
    assert swept(world) == 1
    assert [ended.why for ended in world.alice.mine().ended] == ["expired"]


def test_what_can_still_be_renewed_is_not_swept(world: World) -> None:
    world.alice.takes("a", ttl=60.0)
    world.clock.advance(59.0 + LAPSED_KEPT)
    assert swept(world) == 0 and len(world.alice.leases) == 1


def test_an_end_is_kept_a_week_for_a_holder_who_never_asks(world: World) -> None:
    world.overtaken()
    world.bob.release()
    world.clock.advance(ENDED_KEPT)
    kept = swept(world)
    world.clock.advance(1.0)
    assert (kept, swept(world)) == (0, 1)


def test_an_end_that_was_told_goes_sooner(world: World) -> None:
    world.overtaken()
    world.bob.release()
    world.alice.mine()
    world.clock.advance(LAPSED_KEPT + 1.0)
    assert swept(world) == 1


def test_ends_are_limited_the_oldest_go_first(world: World) -> None:
    ended = tuple(Ended(a_lease("a", fence=number), "taken", world.clock.wall) for number in range(ENDED_LIMIT + 3))
    world.store.update(lambda _: (Edits(ended=ended), None))
    assert (swept(world), next(iter(world.store.read().ended.all())).lease.fence) == (3, 3)


def test_nothing_to_sweep_writes_nothing(world: World) -> None:
    world.alice.takes("a")
    swept(world)
    assert world.store.read().revision == 1
