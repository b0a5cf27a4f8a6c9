"""Runs one simulated world, finds the step at which something broke, and cuts the tape down to what it takes."""

from collections.abc import Callable

from gitlock.domain.claim import Granted
from gitlock.domain.pattern import PLAIN
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts
from tests.sim.actors import Actors
from tests.sim.checker import Broken, Checker, Op
from tests.sim.protocol import Protocol
from tests.sim.world import Process, Tape, World

Mutate = Callable[[Protocol], None]

AT_ONCE = 4  # commands that run at one moment
SHOWN = 40  # lines of a trace


class Run:
    """A world from its beginning. ``step`` makes one step; ``Broken`` says what does not hold."""

    def __init__(self, tape: Tape, mutate: Mutate | None = None) -> None:
        self.world = World(tape)
        self.checker = Checker(self.world)
        self.protocol = Protocol(self.world, self.checker)
        if mutate is not None:
            mutate(self.protocol)
        self.actors = Actors(self.world, self.protocol, self.checker)

    def step(self) -> None:
        """Something happens: as a rule, one process makes one step."""
        world = self.world
        chance = world.tape.pick(1000)
        if chance < 880:
            self._advance()
        elif chance < 930:
            self._passes((0.4, 5.0, 0.01, 30.0)[world.tape.pick(4)])
        elif chance < 945:
            self._pause()
        elif chance < 965:
            self._kill()
        elif chance < 975:
            world.wall += (-3600.0, 3600.0, -86400.0 * 30, 86400.0 * 30)[world.tape.pick(4)]
            world.say(f"the wall clock is put to {world.wall:.0f}")
        elif chance < 985:
            self._program_dies()
        elif chance < 990:
            self._passes(200.0)
        elif chance < 993:
            self._passes(2 * 86400.0)
        elif chance < 997:
            world.say("the power goes")
            world.reboot()
            self.checker.power_came_back()
        elif chance < 999:
            self._guard_timeout()
        else:
            self._lose()

    def _advance(self) -> None:
        world = self.world
        ready = [one for one in world.processes if not one.paused and not self._blocked(one)]
        if len(world.processes) < AT_ONCE and (not ready or world.tape.pick(3) == 2):
            self.actors.begin()
            return
        if ready:
            self._run(ready[world.tape.pick(len(ready))])
        elif world.processes:
            world.processes[0].paused = False

    def _run(self, process: Process) -> None:
        assert process.steps is not None
        try:
            what = next(process.steps)
        except StopIteration:
            self.world.kill(process)
        else:
            if what not in ("blocked", "asleep"):
                self.world.say(f"{process.name}: {what}")

    def _blocked(self, process: Process) -> bool:
        guard = self.world.guard
        return process in guard and guard[0] is not process

    def _passes(self, seconds: float) -> None:
        self.world.mono += seconds
        self.world.wall += seconds
        self.world.say(f"{seconds:g} s pass")

    def _pause(self) -> None:
        if self.world.processes:
            process = self.world.processes[self.world.tape.pick(len(self.world.processes))]
            process.paused = not process.paused
            self.world.say(f"{process.name} is {'stopped' if process.paused else 'continued'}")

    def _kill(self) -> None:
        if self.world.processes:
            process = self.world.processes[self.world.tape.pick(len(self.world.processes))]
            self.world.say(f"{process.name} is killed")
            self.world.kill(process)

    def _program_dies(self) -> None:
        alive = [one for one in self.world.programs.values() if one.alive]
        if alive:
            program = alive[self.world.tape.pick(len(alive))]
            self.world.kill(program)
            left = bool(self.world.tape.pick(2))
            doc = self.checker.doc or {"leases": ()}
            if left:
                self.world.dirty |= {one["id"] for one in doc["leases"] if one["agent"] == program.agent}
            self.world.say(f"the program of {program.agent} dies{', its files changed' if left else ''}")

    def _guard_timeout(self) -> None:
        waiting = self.world.guard[1:]
        if waiting and self.world.guard[0].paused:
            process = waiting[self.world.tape.pick(len(waiting))]
            self.world.say(f"{process.name} has waited too long for the guard")
            self.world.kill(process)

    def _lose(self) -> None:
        if self.world.guard or self.world.disk.state is None or self.world.disk.mark is None:
            return  # a writer that is at work would put it back
        self.world.say("somebody deletes the store")
        for process in [*self.world.processes]:
            self.world.kill(process)
        self.world.disk.remove()
        self.world.lost = True
        self.checker.store_was_lost()

    def settle(self) -> None:
        """Faults stop: whoever still waits is served or gives up, nothing is in the way for ever, all can be had."""
        for process in self.world.processes:
            process.paused = False
        for _ in range(4000):
            ready = [one for one in self.world.processes if not self._blocked(one)]
            if not ready:
                break
            self._run(ready[0])
            self.world.mono += 0.05
        if self.world.processes:
            raise Broken("ends", f"{[one.name for one in self.world.processes]} never end")
        # What another boot has dated ahead, by a wall clock that was put back since, counts from when it is first seen.
        if not self._all_can_be_had() and not self._all_can_be_had():
            raise Broken("free in the end", "two weeks later, not everything can be had")

    def _all_can_be_had(self) -> bool:
        self._passes(8 * 86400.0)
        op = Op("claim", "zoe", include=("**",), keys=("deploy:x",))
        claim = self.actors.claim_of(op)
        process = self.world.start("zoe")
        answers: list[object] = []

        def plan(snapshot: Snapshot, facts: Facts) -> tuple[Edits, object]:
            edits, answer = self.protocol.plan_claim(
                snapshot, claim, fold=PLAIN, facts=facts, mode_of=lambda _: "enforce"
            )
            answers.append(answer)
            return edits, answer

        for _ in self.actors.asking(process, op, plan):
            pass
        return isinstance(answers[-1], Granted)


class Found:
    """What broke, and the decisions that lead there."""

    def __init__(self, what: Broken, choices: list[int], steps: int, trace: list[str]) -> None:
        self.what = what
        self.choices = choices
        self.steps = steps
        self.trace = trace

    @property
    def size(self) -> tuple[int, int]:
        """What is to become smaller."""
        return len(self.choices), self.steps

    def __str__(self) -> str:
        tape = " ".join(map(str, self.choices))
        lines = [f"  {line}" for line in self.trace[-SHOWN:]]
        return "\n".join([str(self.what), f"after {self.steps} steps:", *lines, f"tape: {tape}"])


def play(tape: Tape, steps: int, mutate: Mutate | None = None) -> Found | None:
    """Runs so many steps; what broke, or None."""
    run = Run(tape, mutate)
    for number in range(steps):
        try:
            run.step()
        except Broken as error:
            return Found(error, tape.choices, number + 1, run.world.trace)
    try:
        run.settle()
    except Broken as error:
        return Found(error, tape.choices, steps, run.world.trace)
    return None


def search(seed: int, steps: int, mutate: Mutate | None = None) -> Found | None:
    """One seed."""
    return play(Tape(seed), steps, mutate)


def shrunk(found: Found, mutate: Mutate | None = None, *, tries: int = 1500) -> Found:
    """The same break with fewer decisions: pieces are cut out, as long as something still breaks."""
    best = found
    size = max(1, len(best.choices) // 2)
    while size and tries > 0:
        at = 0
        while at < len(best.choices) and tries > 0:
            tries -= 1
            shorter = best.choices[:at] + best.choices[at + size :]
            again = play(Tape(recorded=shorter), best.steps, mutate)
            if again is not None and again.what.rule == best.what.rule and again.size < best.size:
                best = again
            else:
                at += size
        size //= 2
    return best
