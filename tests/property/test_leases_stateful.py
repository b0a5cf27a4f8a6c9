"""Agents claim, renew, give back, narrow and die while time passes and clocks jump; a model says what must come out.

The model knows no patterns, only which paths of a small world and which keys each lease stands for, and decides by
looking at every path. The world has a witness for each pair of its patterns that meets; only for a lease that gave up
a part, which may keep paths of no world, the engine is asked.
"""

import functools
import itertools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gitlock.domain.claim import Granted, LookFirst, Refused
from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.lease import STRENGTH, Lease
from gitlock.domain.overlap import covers, overlap
from gitlock.domain.standing import Facts
from gitlock.stores.files.store import FileStore
from gitlock.stores.memory import MemoryStore
from tests.kit.agents import HERE, Answer, Worker
from tests.kit.clock import ManualClock
from tests.kit.program import is_soak

if TYPE_CHECKING:
    from gitlock.stores.protocol import LeaseStore

PATTERNS = ["a", "src/*", "src/a", "src/b.py", "**/*.py", "**", "docs/**", "docs/b.py", "*.py"]
WORLD = ["a", "a/x.py", "src/a", "src/a/y.py", "src/b.py", "src/c/d", "docs/b.py", "docs/e", "top.py", "z"]
KEYS = ["deploy:x", "schema:y"]
AGENTS = ["alice", "bob", "team", "team/one", "team/two"]
TTLS = [60.0, 600.0, 3600.0]

patterns = st.lists(st.sampled_from(PATTERNS), max_size=3, unique=True).map(tuple)
keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True).map(tuple)
modes = st.sampled_from(["exclusive", "exclusive", "shared", "intent"])


@functools.cache
def reach(include: tuple[str, ...], exclude: tuple[str, ...] = ()) -> frozenset[str]:
    """The paths of the world that patterns stand for."""
    footprint = Footprint.of(include, exclude)
    return frozenset(path for path in WORLD if include and covers(footprint, path))


REACH = {text: reach((text,)) for text in PATTERNS + WORLD}


def family(one: str, other: str) -> bool:
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


class Known:
    """What the model knows about one lease."""

    def __init__(self, lease: Lease, paths: frozenset[str], pid: int, now: Instant) -> None:
        self.id, self.agent, self.mode, self.fence, self.ttl = lease.id, lease.agent, lease.mode, lease.fence, lease.ttl
        self.include, self.paths, self.names = lease.include, paths, frozenset(lease.names)
        self.footprint, self.narrowed = lease.footprint, False
        self.pid, self.renewed = pid, now

    def left(self, now: Instant) -> float:
        """Monotonic on one boot; by the wall across boots, and never more than the TTL."""
        passed = now.mono - self.renewed.mono if now.boot == self.renewed.boot else now.wall - self.renewed.wall
        return min(self.ttl, self.ttl - passed)

    def meets(self, agent: str, mode: str, include: tuple[str, ...], names: tuple[str, ...]) -> bool:
        if family(self.agent, agent) or "intent" in (self.mode, mode) or (self.mode == mode == "shared"):
            return False
        if self.paths & reach(include) or self.names & set(names):
            return True
        return self.narrowed and bool(include) and overlap(self.footprint, Footprint.of(include)).meets


class Leases(RuleBasedStateMachine):
    """The rules; subclasses say on which store."""

    def open_store(self, _: ManualClock) -> "LeaseStore":
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.clock = ManualClock()
        self.store = self.open_store(self.clock)
        self.held: dict[str, Known] = {}
        self.over: dict[str, str] = {}  # id of a lease that ended against its holder's will → why
        self.heard: set[str] = set()
        self.fence = 0
        self.pids = {agent: number for number, agent in enumerate(AGENTS, 100)}
        self.dead: set[int] = set()
        self.dirty: set[int] = set()

    def worker(self, agent: str) -> Worker:
        return Worker(self.store, agent, holder=HERE.replace(pid=self.pids[agent], started=1))

    def facts(self) -> Facts:
        return Facts(lambda lease: "dead" if lease.holder.pid in self.dead else "alive")

    def ask(self, wish: Callable[[Facts], Answer]) -> Answer:
        """As the command does: where holders are gone, looks at what they left and asks again."""
        facts = self.facts()
        answer = wish(facts)
        while isinstance(answer, LookFirst):
            facts = facts.with_dirty({lease.id: lease.holder.pid in self.dirty for lease in answer.leases})
            answer = wish(facts)
        return answer

    def is_over(self, known: Known) -> bool:
        """Lapsed, or left clean by a process that is gone."""
        return known.left(self.clock()) <= 0 or (known.pid in self.dead and known.pid not in self.dirty)

    def picture(self) -> tuple[object, ...]:
        found = self.store.read()
        renewed = [lease.replace(renewed=None) for lease in found.leases.all()]
        return (renewed, list(found.ended.all()), found.counter)

    # -- what agents do

    @rule(agent=st.sampled_from(AGENTS), text=st.sampled_from(["a", "src/*", "**"]))
    def claim_something_common(self, agent: str, text: str) -> None:
        self.claim(agent, (text,), (), "exclusive", 600.0)

    @rule(agent=st.sampled_from(AGENTS), include=patterns, names=keys, mode=modes, ttl=st.sampled_from(TTLS))
    def claim(self, agent: str, include: tuple[str, ...], names: tuple[str, ...], mode: str, ttl: float) -> None:
        if not include and not names:
            return
        now, before = self.clock(), self.picture()
        paths = reach(include)
        in_way = {one.id for one in self.held.values() if one.meets(agent, mode, include, names)}
        live = {name for name in in_way if not self.is_over(self.held[name])}
        worker = self.worker(agent)
        answer = self.ask(lambda facts: worker.claim(*include, names=names, mode=mode, ttl=ttl, facts=facts))
        if isinstance(answer, Refused):
            assert {conflict.lease.id for conflict in answer.conflicts} == live and live
            assert self.picture() == before
            for name in live:  # what a clock of another boot dated ahead counts from its first sight
                if self.held[name].renewed.boot != now.boot and self.held[name].renewed.wall > now.wall:
                    self.held[name].renewed = now
            return
        assert isinstance(answer, Granted)
        lease = answer.lease
        if answer.already:
            known = self.held[lease.id]
            assert (known.agent, known.fence) == (agent, lease.fence) and paths <= known.paths
            assert lease.ttl == max(ttl, known.ttl) and STRENGTH[lease.mode] >= STRENGTH[mode]
            known.ttl, known.renewed, known.pid = lease.ttl, now, self.pids[agent]
            return
        assert not live
        assert (lease.include, lease.names, lease.mode, lease.ttl) == (include, names, mode, ttl)
        assert lease.fence > self.fence
        self.fence = lease.fence
        for name in in_way:
            self.over[name] = "taken" if self.held.pop(name).left(now) <= 0 else "dead"
        self.held[lease.id] = Known(lease, paths, self.pids[agent], now)

    @rule(agent=st.sampled_from(AGENTS), ttl=st.sampled_from([None, *TTLS]))
    def renew_everything(self, agent: str, ttl: float | None) -> None:
        outcome = self.worker(agent).renew(ttl=ttl)
        own = {one.id for one in self.held.values() if one.agent == agent}
        assert {lease.id for lease in outcome.renewed} == own
        for lease in outcome.renewed:
            known = self.held[lease.id]
            assert lease.fence == known.fence
            known.renewed, known.ttl = self.clock(), lease.ttl

    @rule(agent=st.sampled_from(AGENTS), text=st.sampled_from(PATTERNS))
    def renew_one(self, agent: str, text: str) -> None:
        outcome = self.worker(agent).renew(text)
        for lease in outcome.renewed:
            known = self.held[lease.id]
            assert (lease.fence, known.agent) == (known.fence, agent)
            known.renewed = self.clock()
        assert all(ended.lease.id in self.over or ended.lease.id in self.heard for ended in outcome.ended)

    @rule(agent=st.sampled_from(AGENTS))
    def beat(self, agent: str) -> None:
        beat = self.worker(agent).beat()
        now = self.clock()
        above = {one.id for one in self.held.values() if agent == one.agent or agent.startswith(one.agent + "/")}
        assert {lease.id for lease in beat.held} == above
        for lease in beat.held:
            self.held[lease.id].renewed = lease.renewed
            assert self.held[lease.id].left(now) > lease.ttl * 0.9 - 1e-6

    @rule(agent=st.sampled_from(AGENTS))
    def release_everything(self, agent: str) -> None:
        outcome = self.worker(agent).release()
        own = {one.id for one in self.held.values() if one.agent == agent}
        assert {lease.id for lease in outcome.released} == own
        for name in own:
            del self.held[name]

    @rule(agent=st.sampled_from(AGENTS), text=st.sampled_from(PATTERNS + WORLD))
    def release_a_part(self, agent: str, text: str) -> None:
        outcome = self.worker(agent).release(text)
        touched = {lease.id for lease in (*outcome.released, *outcome.narrowed)}
        assert all(self.held[name].agent == agent for name in touched)
        own = [one for one in self.held.values() if one.agent == agent]
        exact = {one.id for one in own if one.include == (text,) and not one.names}
        assert not exact or touched == exact
        for lease in outcome.narrowed:
            known = self.held[lease.id]
            known.paths, known.names, known.include = known.paths - REACH[text], frozenset(lease.names), lease.include
            known.footprint, known.narrowed = lease.footprint, True
            assert lease.fence == known.fence
        for lease in outcome.released:
            assert lease.id in exact or self.held[lease.id].paths <= REACH[text]
            del self.held[lease.id]

    @rule(agent=st.sampled_from(AGENTS))
    def hear(self, agent: str) -> None:
        told = self.worker(agent).mine().ended
        for ended in told:
            assert self.over.pop(ended.lease.id) == ended.why
            self.heard.add(ended.lease.id)
        for lease in self.worker(agent).leases:
            self.held[lease.id].renewed = lease.renewed
        self.beat(agent)

    # -- what happens to them

    @rule(agent=st.sampled_from(AGENTS), dirty=st.booleans())
    def die(self, agent: str, dirty: bool) -> None:
        self.dead.add(self.pids[agent])
        if dirty:
            self.dirty.add(self.pids[agent])
        self.pids[agent] += 100

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0, 700.0, 4000.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(seconds=st.sampled_from([-3600.0, 3600.0, -1e8, 1e8]))
    def somebody_sets_the_clock(self, seconds: float) -> None:
        before = {one.id: one.left(self.clock()) for one in self.held.values() if one.renewed.boot == self.clock().boot}
        self.clock.step_wall(seconds)
        assert before == {name: self.held[name].left(self.clock()) for name in before}

    @rule(seconds=st.sampled_from([60.0, 86400.0]))
    def the_machine_sleeps(self, seconds: float) -> None:
        self.clock.suspend(seconds)

    @precondition(lambda self: self.clock.boots < 3)
    @rule(seconds=st.sampled_from([30.0, 7200.0, -86400.0]))
    def the_machine_is_started_anew(self, seconds: float) -> None:
        self.clock.reboot(seconds)

    # -- what is always so

    @invariant()
    def no_two_live_leases_exclude_each_other(self) -> None:
        now = self.clock()
        live = [lease for lease in self.store.read().leases.all() if lease.left(now) > 0]
        for one, other in itertools.combinations(live, 2):
            modes = {one.mode, other.mode}
            if family(one.agent, other.agent) or "intent" in modes or modes == {"shared"}:
                continue
            assert not set(one.names) & set(other.names)
            assert not reach(one.include, one.exclude) & reach(other.include, other.exclude)

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        found = {lease.id: lease for lease in self.store.read().leases.all()}
        assert found.keys() == self.held.keys()
        for name, lease in found.items():
            known = self.held[name]
            assert reach(lease.include, lease.exclude) == known.paths
            assert (lease.fence, lease.left(self.clock())) == (known.fence, known.left(self.clock()))

    @invariant()
    def no_fence_is_used_twice(self) -> None:
        found = self.store.read()
        fences = [lease.fence for lease in found.leases.all()]
        assert len(set(fences)) == len(fences) and all(fence <= found.counter for fence in fences)

    @invariant()
    def every_end_that_nobody_heard_of_is_remembered(self) -> None:
        untold = {ended.lease.id for ended in self.store.read().ended.all() if not ended.told}
        assert untold == self.over.keys()


class LeasesInMemory(Leases):
    def open_store(self, clock: ManualClock) -> "LeaseStore":
        return MemoryStore(clock)


class LeasesInFiles(Leases):
    def open_store(self, clock: ManualClock) -> "LeaseStore":
        self.folder = Path(tempfile.mkdtemp())
        return FileStore(str(self.folder / "agentlocks"), clock)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


class TestLeasesInMemory(LeasesInMemory.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=3000 if is_soak() else 150, stateful_step_count=50)


class TestLeasesInFiles(LeasesInFiles.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(
        max_examples=1000 if is_soak() else 60, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
    )


@pytest.mark.parametrize("one", PATTERNS)
@pytest.mark.parametrize("other", PATTERNS)
def test_the_world_has_a_witness_for_each_pair_that_meets(one: str, other: str) -> None:
    assert bool(REACH[one] & REACH[other]) == overlap(Footprint.of((one,)), Footprint.of((other,))).meets
