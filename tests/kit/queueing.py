"""Agents in a queue on a store in memory, without a process: the plans that waiting commands run, step by step.

    line = Line()
    line.holds("alice", "src/*")
    bob = line.waits("bob", "src/a.py")      # the place that it got
    line.releases("alice")
    assert line.turns() == ["bob"]
"""

import itertools

from gitlock.domain.claim import Claim, Granted, Refused, plan_claim
from gitlock.domain.holding import plan_release
from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts, nothing_known
from gitlock.domain.turn import Deadlock, Queued, plan_join, plan_leave, plan_offers, turns
from gitlock.stores.memory import MemoryStore
from tests.kit.agents import HERE, a_claim, by_id, enforced
from tests.kit.clock import ManualClock

PROCESS = HERE.replace(pid=4711, started=1)
Answer = Granted | Refused | Queued | Deadlock


class Line:
    """A store, its queue, and which waiters are dead or stopped."""

    def __init__(self, fold: Fold = PLAIN) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.fold = fold
        self.gone: set[str] = set()  # agents whose waiting process is dead or stopped
        self.facts = Facts(nothing_known, process_waits=lambda waiter: waiter.agent not in self.gone)
        self.process = PROCESS
        self._numbers = itertools.count(1)

    def asks(
        self, agent: str, *include: str, place: Waiter | None = None, join: Holder | str | None = None,
        chain: tuple[Lease, ...] = (), wish: Claim | None = None, **more: object,
    ) -> Answer:  # fmt: skip
        """Puts a claim; ``join`` (a process, or the word ticket) makes a refusal into a place."""
        claim = wish or _claim(agent, *include, **more)  # type: ignore[arg-type]
        claim = claim.replace(chain=frozenset(lease.id for lease in chain))

        def plan(snapshot: Snapshot) -> tuple[Edits, Answer]:
            edits, answer = plan_claim(
                snapshot, claim, fold=self.fold, facts=self.facts, mode_of=enforced,
                place=None if place is None else snapshot.waiters.find(place.id),
            )  # fmt: skip
            assert isinstance(answer, (Granted, Refused)), answer
            if join is None or not isinstance(answer, Refused):
                return edits, answer
            process = None if join == "ticket" else PROCESS
            return plan_join(
                snapshot, claim, f"t{next(self._numbers)}", process, answer.conflicts, answer.ahead, self.fold,
                self.facts,
            )  # fmt: skip

        return self.store.update(plan)

    def holds(self, agent: str, *include: str, **more: object) -> Lease:
        """Takes a lease that must be granted."""
        answer = self.asks(agent, *include, **more)  # type: ignore[arg-type]
        assert isinstance(answer, Granted), answer
        return answer.lease

    def waits(self, agent: str, *include: str, **more: object) -> Waiter:
        """Takes a place that must be given."""
        answer = self.asks(agent, *include, join=PROCESS, **more)  # type: ignore[arg-type]
        assert isinstance(answer, Queued), answer
        return answer.waiter

    def draws(self, agent: str, *include: str, **more: object) -> Waiter:
        """Takes a ticket that must be given."""
        answer = self.asks(agent, *include, join="ticket", **more)  # type: ignore[arg-type]
        assert isinstance(answer, Queued), answer
        return answer.waiter

    def takes(self, waiter: Waiter) -> Answer:
        """A waiter asks again, at its place."""
        return self.asks(waiter.agent, place=waiter, wish=claim_of(waiter))

    def releases(self, agent: str) -> None:
        """Gives back everything."""
        self.store.update(lambda snapshot: (plan_release(snapshot, agent, (), self.fold)[0], None))

    def drops(self, lease: Lease) -> None:
        """Gives back one lease."""
        self.store.update(lambda s: (plan_release(s, lease.agent, (by_id(lease),), self.fold)[0], None))

    def leaves(self, waiter: Waiter) -> None:
        """Gives up a place."""
        self.store.update(lambda snapshot: (plan_leave(snapshot, waiter.id, "test")[0], None))

    def offers(self) -> list[str]:
        """Makes the offers that are due, and says whose turn it is."""
        return [one.agent for one in self.store.update(lambda s: plan_offers(s, self.fold, self.facts))]

    def turns(self) -> list[str]:
        """Whose turn it is."""
        return [one.agent for one, _ in turns(self.store.read(), self.fold, self.facts)]

    def now(self, waiter: Waiter) -> Waiter:
        """A waiter as it stands in the queue."""
        found = self.store.read().waiters.find(waiter.id)
        assert found is not None, f"{waiter.agent} has lost its place"
        return found

    @property
    def queue(self) -> list[str]:
        """Who stands there, in order."""
        return [waiter.agent for waiter in self.store.read().waiters.ordered()]


def claim_of(waiter: Waiter) -> Claim:
    """What a waiter wants."""
    found = _claim(waiter.agent, *waiter.include, names=waiter.names, exclude=waiter.exclude, mode=waiter.mode)
    return found.replace(holder=waiter.holder)


def _claim(
    agent: str, *include: str, names: tuple[str, ...] = (), exclude: tuple[str, ...] = (), mode: str = EXCLUSIVE,
    ttl: float = 600.0, command: int | None = None,
) -> Claim:  # fmt: skip
    """A wish; ``command`` is the process of a command that is apart, as that of ``run``."""
    holder = HERE if command is None else HERE.replace(pid=command, extra={"apart": True})
    keys = tuple(text for text in include if ":" in text)
    paths = tuple(text for text in include if ":" not in text)
    found = a_claim(*paths, agent=agent, names=(*names, *keys), exclude=exclude, mode=mode, ttl=ttl, holder=holder)
    return found.replace(nested=command is not None)
