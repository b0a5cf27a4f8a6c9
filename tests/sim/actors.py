"""What agents do: each command is a process of steps, which may be stopped or killed between any two."""

import functools
from collections.abc import Callable, Generator
from typing import Any

from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused
from gitlock.domain.holding import Wanted
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED, Lease
from gitlock.domain.pattern import PLAIN, parse_pattern
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts
from gitlock.domain.turn import Queued
from gitlock.errors import StoreError
from tests.sim.checker import Checker, Op
from tests.sim.protocol import Protocol
from tests.sim.world import Process, World

AGENTS = ("ann", "bob", "cyd", "bob/sub", "hid")
TEXTS = ("a/1", "a/2", "b/1", "a/*", "b/*", "*/1", "c", "**")
KEYS = ("deploy:x", "")
TTLS = (60.0, 20.0, 300.0, 4000.0)
LOOKS = 3
PATIENCE = 8  # looks of a waiter, before it gives up

Command = Generator[str, None, None]


def _reversed(plan: Callable[[Snapshot, Facts], tuple[Edits, Any]], facts: Facts, snapshot: Snapshot) -> Any:
    return plan(snapshot, facts)


def keys_of(include: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """What a claim maps to."""
    return (*names, *(path_key(text, parse_pattern(text).literal) for text in include))


class Actors:
    """Starts commands in one world."""

    def __init__(self, world: World, protocol: Protocol, checker: Checker) -> None:
        self.world = world
        self.protocol = protocol
        self.checker = checker

    def begin(self) -> None:
        """Some agent runs some command."""
        pick = self.world.tape.pick
        agent = AGENTS[pick(len(AGENTS))]
        commands: tuple[Callable[[str], tuple[Op, Callable[[Process, Op], Command]]], ...] = (
            self.a_claim, self.a_claim, self.a_claim, self.a_claim, self.a_release, self.a_release, self.a_renewal,
            self.a_look, self.a_grant, self.a_break, self.a_sweep, self.a_reading,
        )  # fmt: skip
        op, command = commands[pick(len(commands))](agent)
        process = self.world.start(agent)
        process.steps = command(process, op)
        self.world.processes.append(process)
        self.world.say(f"{process.name} begins: {op}")

    # -- commands

    def a_claim(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """Now, or in turn."""
        pick = self.world.tape.pick
        include = tuple(dict.fromkeys(TEXTS[pick(len(TEXTS))] for _ in range(1 + pick(2))))
        names = tuple(key for key in (KEYS[1 - pick(len(KEYS))],) if key)
        op = Op("claim", agent, include=include, keys=names, mode=(EXCLUSIVE, EXCLUSIVE, SHARED, INTENT)[pick(4)])
        claim = self.claim_of(op)
        waits = op.mode != INTENT and pick(3) > 0
        return op, lambda process, op: self.claiming(process, op, claim, waits=waits)

    def a_release(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """Of everything, of one lease, or of a part."""
        pick = self.world.tape.pick
        include = () if not pick(3) else (TEXTS[pick(len(TEXTS))],)
        op = Op("release", agent, include=include)
        return op, self.releasing

    def a_renewal(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """Of everything."""
        return Op("renew", agent), self.renewing

    def a_look(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """``mine``: hears what ended."""
        return Op("look", agent), self.looking

    def a_grant(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """Hands a part over to somebody."""
        pick = self.world.tape.pick
        asker = AGENTS[pick(len(AGENTS))]
        op = Op("grant", asker, include=(TEXTS[pick(len(TEXTS))],), by=agent)
        claim = self.claim_of(op)
        return op, lambda process, op: self.granting(process, op, claim)

    def a_break(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """Or a steal; by force or not."""
        pick = self.world.tape.pick
        verb = ("break", "steal")[pick(2)]
        op = Op(verb, agent, include=(TEXTS[pick(len(TEXTS))],), force=bool(pick(2)))
        claim = self.claim_of(op) if verb == "steal" else None
        return op, lambda process, op: self.breaking(process, op, claim)

    def a_sweep(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """``gc``."""
        return Op("sweep", agent), self.sweeping

    def a_reading(self, agent: str) -> tuple[Op, Callable[[Process, Op], Command]]:
        """``list``, without the guard."""
        return Op("read", agent), self.reading

    # -- their steps

    def claim_of(self, op: Op) -> Claim:
        """The wish; half of them name the program that stands behind them."""
        pick = self.world.tape.pick
        program = self.world.program_of(op.agent) if pick(2) else None
        return Claim(
            id=self.world.new_id(), agent=op.agent, kind="agent", mode=op.mode, keys=keys_of(op.include, op.keys),
            include=op.include, exclude=(), reason="", ttl=TTLS[pick(len(TTLS))], token_hash="0",
            holder=self.world.holder(op.agent, program),
        )  # fmt: skip

    def asking(
        self, process: Process, op: Op, plan_with: Callable[[Snapshot, Facts], tuple[Edits, Any]]
    ) -> Generator[str, None, Any]:
        """As ``usecases.claim.ask``: where a holder is gone, its files are looked at outside the guard."""
        facts = self.protocol.facts()
        answer: Any = None
        for attempt in range(LOOKS + 1):
            answer = yield from self.protocol.update(process, op, functools.partial(_reversed, plan_with, facts))
            if not isinstance(answer, LookFirst):
                return answer
            yield "look"
            op.clean |= {lease.id for lease in answer.leases} - self.world.dirty
            found = {lease.id: attempt >= LOOKS - 1 or self.protocol.is_dirty(lease.id) for lease in answer.leases}
            facts = facts.with_dirty(found)
        return answer

    def claiming(self, process: Process, op: Op, claim: Claim, *, waits: bool) -> Command:
        protocol, place = self.protocol, self.world.new_id()
        here = self.world.holder("ann", process)

        def plan(snapshot: Snapshot, facts: Facts) -> tuple[Edits, Any]:
            mine = snapshot.waiters.find(place)
            op.order = None if mine is None else mine.order
            joined: Any
            answer: Any
            edits, answer = protocol.plan_claim(
                snapshot, claim, fold=PLAIN, facts=facts, mode_of=lambda _: "enforce", place=mine
            )
            if isinstance(answer, Refused) and waits and mine is None:
                joined, answer = protocol.plan_join(
                    snapshot, claim, place, here, answer.conflicts, answer.ahead, PLAIN, facts
                )
                edits = joined.replace(
                    put=edits.put, queue=edits.queue + joined.queue, leave=edits.leave + joined.leave
                )
            edits, _ = protocol.with_beat(edits, snapshot, claim.agent)
            return edits, answer

        for _ in range(PATIENCE):
            answer = yield from self.asking(process, op, plan)
            if isinstance(answer, Granted):
                self.done(process, op, f"granted with fence {answer.lease.fence}", answer.lease)
                return
            if isinstance(answer, Clash) or not waits or not isinstance(answer, (Queued, Refused)):
                self.done(process, op, type(answer).__name__)
                return
            yield "asleep"
        yield from protocol.update(process, op, lambda snapshot: protocol.plan_leave(snapshot, place, "timed out"))
        self.done(process, op, "waited in vain")

    def releasing(self, process: Process, op: Op) -> Command:
        wanted = tuple(self.wanted(text) for text in op.include)

        def plan(snapshot: Snapshot) -> tuple[Edits, Any]:
            edits, answer = self.protocol.plan_release(snapshot, op.agent, wanted, PLAIN)
            edits, _ = self.protocol.with_beat(edits, snapshot, op.agent)
            return edits, answer

        yield from self.protocol.update(process, op, plan)
        self.done(process, op, "released")

    def renewing(self, process: Process, op: Op) -> Command:
        yield from self.protocol.update(
            process, op, lambda snapshot: self.protocol.plan_renew(snapshot, op.agent, (), None, PLAIN)
        )
        self.done(process, op, "renewed")

    def looking(self, process: Process, op: Op) -> Command:
        yield from self.protocol.update(process, op, lambda snapshot: self.protocol.plan_told(snapshot, op.agent))
        self.done(process, op, "looked")

    def granting(self, process: Process, op: Op, claim: Claim) -> Command:
        def plan(snapshot: Snapshot, facts: Facts) -> tuple[Edits, Any]:
            return self.protocol.plan_grant(snapshot, op.by, claim, fold=PLAIN, facts=facts)

        answer = yield from self.asking(process, op, plan)
        self.done(process, op, type(answer).__name__, answer.lease if isinstance(answer, Granted) else None)

    def breaking(self, process: Process, op: Op, claim: Claim | None) -> Command:
        wanted = tuple(self.wanted(text) for text in op.include)

        def plan(snapshot: Snapshot, facts: Facts) -> tuple[Edits, Any]:
            return self.protocol.plan_break(
                snapshot, op.agent, wanted, reason="sim", force=op.force, fold=PLAIN, facts=facts, claim=claim
            )

        answer = yield from self.asking(process, op, plan)
        taken = getattr(answer, "taken", None)
        self.done(process, op, type(answer).__name__, None if taken is None else taken.lease)

    def sweeping(self, process: Process, op: Op) -> Command:
        def plan(snapshot: Snapshot) -> tuple[Edits, Any]:
            edits, answer = self.protocol.plan_sweep(snapshot)
            gone = tuple(one.id for one in snapshot.waiters.ordered() if not self.world.waits(one))
            return edits.replace(leave=gone), answer

        yield from self.protocol.update(process, op, plan)
        self.done(process, op, "swept")

    def reading(self, process: Process, op: Op) -> Command:
        last = (0, 0)
        for _ in range(3):
            try:
                state = yield from self.protocol.load(begin=False)
            except StoreError:
                return
            if (state.epoch, state.revision) < last and self.checker.doc is not None:
                raise self.checker.broken("revisions", f"{process.name} read revision {state.revision} after {last[1]}")
            last = (state.epoch, state.revision)
            for lease in self.protocol.snapshot(state).leases.all():
                assert lease.id

    # -- small things

    def done(self, process: Process, op: Op, what: str, lease: Lease | None = None) -> None:
        """The command says so to whoever called it."""
        self.world.say(f"{process.name}: {what}")
        self.checker.acknowledged(op, None if lease is None else lease.fence)

    def wanted(self, text: str) -> Wanted:
        """What an argument of release, break or steal names."""
        return Wanted(text, frozenset((text, *keys_of((text,), ()))), include=(text,))
