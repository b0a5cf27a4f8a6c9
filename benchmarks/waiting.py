"""What waiting costs: the time from a release to the next waiter holding it, and the CPU of waiters that only wait.

Each waiter is a process of its own, forked from one that has everything loaded (a thousand whole interpreters would
need 12 GB, and do the same), with the real store on the disk and the wait that ``git lock claim --wait`` does. The
bounds are those of the specification: a median of at most 100 ms with 1,000 waiters, which cost at most 0.1 core.

    python benchmarks/waiting.py [--waiters N…] [--rounds N] [--idle SECONDS] [--apart]

``--apart`` lets the waiters ask for different, overlapping things (a file each, and now and then the folder) instead
of all for one.
"""

import argparse
import os
import signal
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

from gitlock.domain.claim import Claim, Granted
from gitlock.domain.holding import Wanted
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, Holder
from gitlock.domain.pattern import PLAIN
from gitlock.domain.standing import Facts
from gitlock.git.process import Git
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from gitlock.usecases.claim import Wish, ask
from gitlock.usecases.release import release
from gitlock.usecases.wait import Stop, claim_in_turn
from gitlock.wiring.liveness import Here

HAND_OVER_BOUND = 0.100  # seconds, median, with 1,000 waiters
IDLE_BOUND = 0.1  # cores, all of them together
WAITERS = (10, 100, 1000)
GO = {signal.SIGUSR1}
SETTLE = 20.0  # seconds until everybody has looked once after the last one joined
EVENT = struct.Struct("=id")  # which waiter, and when it had the lease (monotonic)


class World:
    """One store, and what a process needs to work with it."""

    def __init__(self, folder: Path) -> None:
        clock = SystemClock()
        self.here = Here(clock.boot)
        self.store = FileStore(str(folder / "agentlocks"), clock.now, guard_timeout=60.0)
        pipes = self.store.layout.waiting
        self.facts = Facts(
            self.here.liveness, process_waits=lambda waiter: self.here.process_waits(waiter, pipes),
            watch=self.here.watch,
        )  # fmt: skip

    def holder(self, pid: int | None) -> Holder:
        return self.here.holder(pid=pid, worktree=None, branch=None, session=None, clone=None)

    def wish(self, agent: str, include: tuple[str, ...]) -> Wish:
        claim = Claim(
            id=os.urandom(6).hex(), agent=agent, kind="agent", mode=EXCLUSIVE,
            keys=tuple(path_key(text, None) for text in include), include=include, exclude=(), reason="measured",
            ttl=3600.0, token_hash="0" * 64, holder=self.holder(None),
        )  # fmt: skip
        return Wish(claim, "", (), lambda _: "enforce", PLAIN, self.facts, Git(None, {}), False)


def what(number: int, apart: bool) -> tuple[str, ...]:
    if not apart:
        return ("src/**",)
    if number % 25 == 24:
        return ("src/**",)
    return (f"src/part{number % 25}/file.py", f"src/part{(number + 1) % 25}/file.py")


def wait_and_hold(world: World, number: int, apart: bool, say: int) -> None:
    """A waiter's whole life: waits, says when it has the lease, gives it back when it is told to, and says when."""
    signal.pthread_sigmask(signal.SIG_BLOCK, GO)
    wish = world.wish(f"agent-{number}", what(number, apart))
    waited = claim_in_turn(
        world.store, wish, process=world.holder(os.getpid()), timeout=None, queued=lambda _: None, stop=Stop()
    )
    now = time.monotonic()
    answer = waited.outcome.answer
    assert isinstance(answer, Granted), answer
    os.write(say, EVENT.pack(number, now))
    signal.sigwait(GO)
    begin = time.monotonic()
    named = (Wanted(answer.lease.id, frozenset((answer.lease.id,))),)
    release(world.store, wish.claim.agent, named, PLAIN, world.facts)
    os.write(say, EVENT.pack(-number, begin))


def fork(world: World, number: int, apart: bool, say: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        wait_and_hold(world, number, apart, say)
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends this process only
        os.write(2, f"waiter {number}: {error!r}\n".encode())
        os._exit(1)


def cpu_of(pids: list[int]) -> float:
    """Seconds of CPU that these processes have used."""
    used = 0
    for pid in pids:
        try:
            used += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        except OSError:
            continue
    return used / 1e9


def measure(count: int, rounds: int, idle: float, apart: bool) -> tuple[list[float], float]:
    """Times of hand-overs, in seconds, and cores that the waiters use while nothing happens."""
    with tempfile.TemporaryDirectory(prefix="git-lock-waiting-") as folder:
        world = World(Path(folder))
        first = ask(world.store, world.wish("agent-0", ("src/**",))).answer
        assert isinstance(first, Granted)
        hear, say = os.pipe()
        pids: dict[int, int] = {}
        try:
            for number in range(1, count + 1):
                pids[number] = fork(world, number, apart, say)
                while world.store.read().waiters.count() < number:  # in this order
                    time.sleep(0.001)
            time.sleep(SETTLE)
            before, begin = cpu_of(list(pids.values())), time.monotonic()
            time.sleep(idle)
            cores = (cpu_of(list(pids.values())) - before) / (time.monotonic() - begin)

            took: list[float] = []
            holding: list[int] = []
            released = time.monotonic()
            named = (Wanted(first.lease.id, frozenset((first.lease.id,))),)
            release(world.store, "agent-0", named, PLAIN, world.facts)
            while len(took) < rounds:
                number, at = EVENT.unpack(os.read(hear, EVENT.size))
                if number < 0:
                    released = at
                    continue
                took.append(at - released)
                holding.append(number)
                os.kill(pids[holding.pop(0)], signal.SIGUSR1)
            return took, cores
        finally:
            for pid in pids.values():
                os.kill(pid, signal.SIGKILL)
            for pid in pids.values():
                os.waitpid(pid, 0)
            os.close(hear)
            os.close(say)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures hand-over and idle cost of waiters.")
    parser.add_argument("--waiters", type=int, nargs="+", default=WAITERS)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--idle", type=float, default=10.0)
    parser.add_argument("--apart", action="store_true")
    asked = parser.parse_args()
    print(f"{'waiters':>8}  {'hand-over':>10}  {'9 of 10':>10}  {'idle':>10}")
    fine = True
    for count in asked.waiters:
        took, cores = measure(count, min(asked.rounds, count), asked.idle, asked.apart)
        median, most = statistics.median(took), sorted(took)[int(len(took) * 0.9)]
        print(f"{count:>8}  {median * 1e3:>7.1f} ms  {most * 1e3:>7.1f} ms  {cores:>5.3f} core", flush=True)
        fine = fine and median <= HAND_OVER_BOUND and cores <= IDLE_BOUND
    print(f"{'bound':>8}  {HAND_OVER_BOUND * 1e3:>7.1f} ms  {'':>10}  {IDLE_BOUND:>5.3f} core", end="  ")
    print("met" if fine else "NOT met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
