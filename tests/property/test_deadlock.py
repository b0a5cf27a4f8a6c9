"""A wait that would never end is refused; one that would end is not. Compared with a plain search over all waits."""

from collections.abc import Hashable

from hypothesis import given, settings
from hypothesis import strategies as st

from gitlock.domain.agent import lineage, related
from gitlock.domain.claim import Granted, Refused
from gitlock.domain.lease import EXCLUSIVE, SHARED, Lease
from gitlock.domain.pattern import PLAIN
from gitlock.domain.queue import Wait, Waiter, Want, closed_ring, excludes
from gitlock.domain.turn import Deadlock, Queued
from tests.kit.agents import a_claim
from tests.kit.queueing import PROCESS, Line

# -- the search alone, over any graph

NODES = st.integers(0, 7)
EDGES = st.sets(st.tuples(NODES, NODES).filter(lambda edge: edge[0] != edge[1]), max_size=20)


def ring_of(edges: set[tuple[int, int]], at: int) -> list[str] | None:
    """The ring that ``at`` closes, by the search that is tested."""

    def waits_of(name: Hashable) -> list[Wait]:
        node = int(str(name))
        on = [other for one, other in edges if one == node]
        return [Wait(Want(str(name), f"c{node}", node), at in on, lambda: map(str, on))] if on else []

    blockers = [str(other) for one, other in edges if one == at]
    ring = closed_ring(Want(str(at), f"c{at}", at), blockers, waits_of)
    return None if ring is None else [step.agent for step in ring.steps]


def reachable(edges: set[tuple[int, int]], at: int) -> set[int]:
    found: set[int] = set()
    line = [at]
    while line:
        one = line.pop()
        for _, other in (edge for edge in edges if edge[0] == one):
            if other not in found:
                found.add(other)
                line.append(other)
    return found


@given(EDGES, NODES)
def test_every_cycle_is_found_and_nothing_else(edges: set[tuple[int, int]], at: int) -> None:
    assert (ring_of(edges, at) is not None) == (at in reachable(edges, at))


@given(EDGES, NODES)
def test_a_ring_is_one(edges: set[tuple[int, int]], at: int) -> None:
    ring = ring_of(edges, at)
    if ring is not None:
        assert ring[0] == str(at) and len(set(ring)) == len(ring) >= 2
        steps = [(int(one), int(other)) for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)]
        assert set(steps) <= edges


@given(st.lists(st.tuples(NODES, NODES), max_size=20))
def test_a_chain_or_a_tree_is_no_cycle(pairs: list[tuple[int, int]]) -> None:
    edges = {(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]}
    assert all(ring_of(edges, node) is None for node in range(8))


# -- on a store: files, patterns, keys; parents and children; shared and exclusive

AGENTS = ("alice", "bob", "carol", "dave", "alice/a", "alice/b")
WANTS = ("src/a", "src/b", "src/*", "lib/**", "lib/x", "deploy:s", "deploy:t", "**/a")
STEP = st.tuples(
    st.sampled_from(("hold", "wait", "release", "leave", "die")),
    st.sampled_from(AGENTS),
    st.lists(st.sampled_from(WANTS), min_size=1, max_size=2, unique=True),
    st.sampled_from((EXCLUSIVE, EXCLUSIVE, SHARED)),
)


def waits_for(line: Line) -> set[tuple[str, str]]:
    """Who waits for whom, the plain way: every waiter against every lease and every earlier waiter; and everyone for
    whoever works for it and waits."""
    snapshot = line.store.read()
    waiters = [one for one in snapshot.waiters.ordered() if one.agent not in line.gone]
    edges = set()
    for one in waiters:
        earlier: list[Lease | Waiter] = [other for other in waiters if other.order < one.order]
        for other in (*snapshot.leases.all(), *earlier):
            if other.agent != one.agent and _exclude(one, other):
                edges.add((one.agent, other.agent))
        edges |= {(parent, one.agent) for parent in lineage(one.agent)[1:]}
    return edges


def _exclude(one: Waiter, other: Lease | Waiter) -> bool:
    return excludes(one, other.agent, other.mode, other.names, other.footprint, PLAIN)


def is_stuck(line: Line, agent: str) -> bool:
    edges = waits_for(line)
    found: set[str] = set()
    queue = [agent]
    while queue:
        one = queue.pop()
        for _, other in (edge for edge in edges if edge[0] == one):
            if other not in found:
                found.add(other)
                queue.append(other)
    # who waits for somebody that works for it waits for itself only if that one is stuck in turn
    return any(name in found for name in lineage(agent))


@settings(max_examples=300)
@given(st.lists(STEP, max_size=25))
def test_on_a_store_a_wait_is_refused_exactly_where_it_closes_a_cycle(
    steps: list[tuple[str, str, list[str], str]],
) -> None:
    line = Line()
    for what, agent, wants, mode in steps:
        if what == "release":
            line.releases(agent)
        elif what == "leave":
            for waiter in list(line.store.read().waiters.of((agent,))):
                line.leaves(waiter)
        elif what == "die":
            line.gone.add(agent)
        elif what == "hold":
            line.asks(agent, *wants, mode=mode)
        elif agent not in line.gone and not any(
            related(agent, one.agent) for one in line.store.read().waiters.ordered()
        ):
            _expect_the_same(line, agent, wants, mode)


def _expect_the_same(line: Line, agent: str, wants: list[str], mode: str) -> None:
    answer = line.asks(agent, *wants, mode=mode, join=PROCESS)
    if isinstance(answer, Queued):
        assert not is_stuck(line, agent), f"{agent} waits for ever: {sorted(waits_for(line))}"
    elif isinstance(answer, Deadlock):
        # as if it had been let in all the same
        queue = line.store.read()
        claim = a_claim(
            *(text for text in wants if ":" not in text), agent=agent, mode=mode,
            names=tuple(text for text in wants if ":" in text),
        )  # fmt: skip
        place = Waiter(
            id="probe", order=queue.order + 1, agent=agent, kind="agent", mode=mode, keys=claim.keys,
            include=claim.include, exclude=(), reason="", ttl=1.0, since=0.0, seen=queue.now, holder=PROCESS,
            process=PROCESS,
        )  # fmt: skip
        from gitlock.domain.snapshot import Edits

        line.store.update(lambda _: (Edits(queue=(place,), order=place.order), None))
        assert is_stuck(line, agent), f"{agent} was refused without need: {answer.ring}"
        line.leaves(place)
    else:
        assert isinstance(answer, (Granted, Refused))
