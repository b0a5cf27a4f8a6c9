"""A program: many waiters in one queue, some of which are killed, stopped or told to stop. Prints what happened.

    python crowd.py FOLDER COUNT same|apart SEED

Each waiter is a process of its own, forked so that hundreds of them fit; the store and the wait are the real ones.
That two do not hold the same at once is seen twice: by the order of events, and by files that only one can make.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from gitlock.domain.claim import Claim, Granted
from gitlock.domain.holding import Wanted
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.pattern import PLAIN, parse_pattern
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts
from gitlock.errors import Interrupted
from gitlock.git.process import Git
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from gitlock.usecases.claim import Wish, ask
from gitlock.usecases.release import release
from gitlock.usecases.wait import Stop, claim_in_turn
from gitlock.wiring.liveness import Here

PARTS = 6  # files that a folder has


class Crowd:
    """The store, and the log that all append to."""

    def __init__(self, folder: Path, count: int, kind: str, seed: int) -> None:
        self.folder = folder
        self.count = count
        self.kind = kind
        self.random = random.Random(seed)
        clock = SystemClock()
        self.here = Here(clock.boot)
        self.store = FileStore(str(folder / "agentlocks"), clock.now, guard_timeout=60.0)
        pipes = self.store.layout.waiting
        self.facts = Facts(
            self.here.liveness, process_waits=lambda waiter: self.here.process_waits(waiter, pipes),
            watch=self.here.watch,
        )  # fmt: skip
        self.log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        (folder / "held").mkdir()
        self.wants: dict[int, tuple[str, ...]] = {0: ("src",)}

    def note(self, *words: object) -> None:
        os.write(self.log, (json.dumps(words) + "\n").encode())

    def want(self) -> tuple[str, ...]:
        if self.kind == "same" or self.random.random() < 0.08:
            return ("src",)
        first = self.random.randrange(PARTS)
        return tuple(sorted({f"src/{first}", f"src/{self.random.choice((first, (first + 1) % PARTS))}"}))

    def holder(self, pid: int | None) -> Holder:
        return self.here.holder(pid=pid, worktree=None, branch=None, session=None, clone=None)

    def wish(self, number: int) -> Wish:
        include = self.wants[number]
        claim = Claim(
            id=os.urandom(6).hex(), agent=f"agent-{number}", kind="agent", mode=EXCLUSIVE,
            keys=tuple(path_key(text, parse_pattern(text).literal) for text in include), include=include, exclude=(),
            reason="", ttl=3600.0, token_hash="0" * 64, holder=self.holder(None),
        )  # fmt: skip
        return Wish(claim, "", (), lambda _: "enforce", PLAIN, self.facts, Git(None, {}), False)

    def live(self, number: int) -> None:
        """A waiter's life."""
        stop = Stop()
        signal.signal(signal.SIGTERM, lambda signum, _: stop.ask(signum))
        try:
            waited = claim_in_turn(
                self.store, self.wish(number), process=self.holder(os.getpid()), timeout=None,
                queued=lambda _: None, stop=stop,
            )  # fmt: skip
        except Interrupted:
            self.note("left", number)
            return
        answer = waited.outcome.answer
        assert isinstance(answer, Granted), answer
        self.note("got", number, answer.lease.fence)
        alone = self.occupy(number)
        self.note("gave" if alone else "CLASH", number)
        self.give(answer.lease)

    def occupy(self, number: int) -> bool:
        """Whether nobody else is where the lease is."""
        wanted = self.wants[number]
        files = [f"src-{part}" for part in range(PARTS) if "src" in wanted or f"src/{part}" in wanted]
        made = []
        try:
            for name in files:
                os.close(os.open(self.folder / "held" / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                made.append(name)
            return True
        except FileExistsError:
            return False
        finally:
            for name in made:
                os.unlink(self.folder / "held" / name)

    def give(self, lease: Lease) -> None:
        release(self.store, lease.agent, (Wanted(lease.id, frozenset((lease.id,))),), PLAIN, self.facts)

    def fork(self, number: int) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                self.live(number)
                os._exit(0)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is told and ends this process only
                self.note("FAILED", number, repr(error))
                os._exit(1)
        return pid

    def waiting(self) -> int:
        return self.store.read().waiters.count()


def main() -> int:
    folder, count, kind, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    crowd = Crowd(folder, count, kind, seed)
    first = ask(crowd.store, crowd.wish(0)).answer
    assert isinstance(first, Granted)
    pids: dict[int, int] = {}
    try:
        for number in range(1, count + 1):
            crowd.wants[number] = crowd.want()
            pids[number] = crowd.fork(number)
            while crowd.waiting() < number:
                time.sleep(0.001)
        victims = crowd.random.sample(sorted(pids), count // 4)
        killed, stopped, left = (victims[k::3] for k in range(3))
        for number in killed:
            os.kill(pids[number], signal.SIGKILL)
        for number in stopped:
            os.kill(pids[number], signal.SIGSTOP)
        for number in left:
            os.kill(pids[number], signal.SIGTERM)
        for number in (*killed, *left):
            os.waitpid(pids.pop(number), 0)
        crowd.give(first.lease)
        for number in sorted(set(pids) - set(stopped)):
            os.waitpid(pids.pop(number), 0)
        crowd.note("resumed")
        for number in stopped:
            os.kill(pids[number], signal.SIGCONT)
        for number in stopped:
            os.waitpid(pids.pop(number), 0)
        events = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
        state: Snapshot = crowd.store.update(lambda snapshot: (Edits(), snapshot))
        print(json.dumps({
            "wants": crowd.wants, "killed": killed, "stopped": stopped, "left": left, "events": events,
            "waiters": state.waiters.count(), "leases": state.leases.count(),
            "pipes": len(os.listdir(crowd.store.layout.waiting)),
        }))  # fmt: skip
        return 0
    finally:
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
