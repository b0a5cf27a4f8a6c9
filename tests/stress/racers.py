"""Processes that race for one store: started as a program, since a test must not fork itself.

Everything is imported before the first fork, so that a racer costs a millisecond and works as the commands do:
a store of its own, opened for each step. What went wrong is written to standard output; the last line is a summary.
"""

import itertools
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable

from gitlock.domain.claim import Claim, Granted, Refused, plan_claim
from gitlock.domain.footprint import Footprint
from gitlock.domain.holding import Wanted, plan_release
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, Holder
from gitlock.domain.overlap import overlap
from gitlock.domain.pattern import PLAIN, parse_pattern
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts, nothing_known
from gitlock.errors import StoreError
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.store import FileStore

CLOCK = SystemClock()
PATIENCE = 120.0  # seconds for the guard: a crowd on a busy machine may wait long, and must not be called stuck

# All of them cover src/auth/login.py; no two are equal.
WISHES: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("src/auth/login.py",), ()), (("src/auth/*",), ()), (("src/auth/**",), ()), (("src/**",), ()), (("src",), ()),
    (("**/login.py",), ()), (("**/*.py",), ()), (("**",), ()), (("*",), ()), (("src/*",), ()),
    (("src/*/login.py",), ()), (("src/?uth/login.py",), ()), (("src/[a-c]uth/*",), ()), (("**/auth/*.py",), ()),
    (("src/auth/l*.p?",), ()), (("**/auth/**",), ()), (("src/auth/log[!x]n.py",), ()), (("s*/a*/l*",), ()),
    (("**/*gin.py",), ()), (("*/*/*",), ()), (("src/auth",), ("src/auth/gen/**",)), (("src/**",), ("**/*.md",)),
    (("**",), ("docs/**", "tests/**")), (("**/*.py",), ("src/auth/[a-k]*.py",)),
    (("docs/a", "src/auth/login.py"), ()), (("a", "b", "src/auth/*"), ()),
    (("src/api/*", "src/auth/*"), ("src/api/x",)), (("src/auth/login.*", "src/auth/token.*"), ()),
    (("**/login.*",), ("docs/**",)), (("src/auth/[k-m]*",), ()), (("src/a*", "src/a*/**"), ()), (("[r-t]rc/**",), ()),
]  # fmt: skip


def a_wish(agent: str, include: tuple[str, ...], exclude: tuple[str, ...] = ()) -> Claim:
    keys = tuple(path_key(text, parse_pattern(text).literal) for text in include)
    return Claim(
        id=os.urandom(6).hex(), agent=agent, kind="agent", mode=EXCLUSIVE, keys=keys, include=include, exclude=exclude,
        reason="", ttl=600.0, token_hash="", holder=Holder("here"),
    )  # fmt: skip


def claim(folder: str, wish: Claim) -> object:
    store = FileStore(folder, CLOCK.now, guard_timeout=PATIENCE)
    facts = Facts(nothing_known)
    return store.update(
        lambda snapshot: plan_claim(snapshot, wish, fold=PLAIN, facts=facts, mode_of=lambda _: "enforce")
    )


def release(folder: str, agent: str, *wanted: Wanted) -> None:
    store = FileStore(folder, CLOCK.now, guard_timeout=PATIENCE)
    store.update(lambda snapshot: plan_release(snapshot, agent, wanted, PLAIN))


def fork(work: Callable[[], None]) -> int:
    """A child that does the work and ends, whatever happens."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.alarm(300)
        work()
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Turnstile:
    """Lets all racers go in one moment, again and again: each takes a byte of one pipe. The next time it is another
    pipe's turn, or a quick one would take a byte that is meant for a slow one."""

    def __init__(self, racers: int) -> None:
        self.racers = racers
        self.gates = [os.pipe(), os.pipe()]
        self.done, self.say_done = os.pipe()

    def wait(self) -> None:
        self.gates.reverse()
        assert os.read(self.gates[0][0], 1)

    def arrived(self, answer: bytes) -> None:
        os.write(self.say_done, answer)

    def let_go(self) -> bytes:
        """One byte of each, once all have arrived again."""
        self.gates.reverse()
        os.write(self.gates[0][1], b"g" * self.racers)
        found = b""
        while len(found) < self.racers:
            if not select.select([self.done], [], [], PATIENCE)[0]:
                sys.exit(f"{self.racers - len(found)} racers did not arrive")
            found += os.read(self.done, self.racers)
        return found


def race(folder: str, rounds: int) -> None:
    """Every racer wants what all others want; in each round exactly one gets it, whole.

    Two witnesses beside the store: a file that only one may have made, and a number that is counted up without a lock.
    """
    turn = Turnstile(len(WISHES))
    inside, counter = f"{folder}.inside", f"{folder}.counter"
    _count(counter, 0)

    def racer(number: int) -> None:
        agent, (include, exclude) = f"racer-{number}", WISHES[number]
        for _ in range(rounds):
            turn.wait()
            answer = claim(folder, a_wish(agent, include, exclude))
            won = isinstance(answer, Granted) and not answer.already
            if won:
                try:
                    os.close(os.open(inside, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                except FileExistsError:
                    say("two are inside:", agent)
                _count(counter, _counted(counter) + 1)
            elif not (isinstance(answer, Refused) and len(answer.conflicts) == 1):
                say("neither won nor refused by one:", agent, answer)
            turn.arrived(b"w" if won else b".")
            turn.wait()
            if won:
                os.unlink(inside)
                release(folder, agent)
            turn.arrived(b".")

    pids = [fork(lambda number=number: racer(number)) for number in range(len(WISHES))]  # type: ignore[misc]
    fence = 0
    for number in range(rounds):
        winners = turn.let_go().count(b"w")
        held = FileStore(folder, CLOCK.now).read().leases.all()
        whole = [one for one in held if (one.include, one.exclude) == WISHES[int(one.agent.removeprefix("racer-"))]]
        if winners != 1 or len(list(held)) != 1 or len(whole) != 1:
            say("round", number, "winners", winners, "held", [one.title for one in held])
        if whole and whole[0].fence <= fence:
            say("round", number, "fence", whole[0].fence, "after", fence)
        fence = max([fence, *(one.fence for one in held)])
        turn.let_go()
    for pid in pids:
        os.waitpid(pid, 0)
    left = FileStore(folder, CLOCK.now).read().leases.count()
    say(json.dumps({"rounds": rounds, "counted": _counted(counter), "left": left}))


def _count(path: str, number: int) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(str(number))


def _counted(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())


def churn(folder: str, cycles: int) -> None:
    """Agents claim what others do not hold, and give it back, all at once: no two live leases ever meet."""

    def worker(number: int) -> None:
        rng = random.Random(number)
        for _ in range(cycles):
            include, exclude = rng.choice(WISHES)
            wanted = include if rng.random() < 0.5 else (f"place/{rng.randint(0, 9)}/*",)
            if isinstance(claim(folder, a_wish(f"racer-{number}", wanted, exclude)), Granted):
                _look(folder)
                release(folder, f"racer-{number}")

    pids = [fork(lambda number=number: worker(number)) for number in range(8)]  # type: ignore[misc]
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    say(json.dumps({"codes": codes, "left": FileStore(folder, CLOCK.now).read().leases.count()}))


def _look(folder: str) -> None:
    for one, other in itertools.combinations(FileStore(folder, CLOCK.now).read().leases.all(), 2):
        if one.agent != other.agent and overlap(one.footprint, other.footprint).meets:
            say("two live leases meet:", one.title, "and", other.title)


def mix(folder: str, writes: int) -> None:
    """Writers replace ten leases at once; whoever reads sees ten of one write, and never goes back in time."""
    stop, stopping = os.pipe()
    leases = [Footprint.of((f"p{number}",)) for number in range(10)]
    for number in range(len(leases)):
        claim(folder, a_wish(f"w{number}", (f"p{number}",)))

    def all_anew(snapshot: Snapshot) -> tuple[Edits, None]:
        mark = str(snapshot.revision)
        return Edits(put=tuple(one.replace(reason=mark) for one in snapshot.leases.all())), None

    FileStore(folder, CLOCK.now).update(all_anew)  # all leases have a reason before anybody reads

    def writer() -> None:
        for _ in range(writes):
            FileStore(folder, CLOCK.now, guard_timeout=PATIENCE).update(all_anew)

    def reader() -> None:
        before = seen = 0
        os.close(stopping)
        os.set_blocking(stop, False)
        while True:
            found = FileStore(folder, CLOCK.now).read()
            marks = {lease.reason for lease in found.leases.all()}
            if len(marks) != 1 or found.leases.count() != len(leases):
                say("mixed:", found.revision, sorted(marks), found.leases.count())
            if found.revision < before:
                say("backwards:", before, found.revision)
            with open(os.path.join(folder, "state.json"), "rb") as file:
                json.load(file)
            before, seen = found.revision, seen + 1
            try:
                if os.read(stop, 1) == b"":
                    break
            except BlockingIOError:
                continue
        if seen < 10:
            say("a reader read only", seen)

    readers = [fork(reader) for _ in range(2)]
    writers = [fork(writer) for _ in range(2)]
    codes = [os.waitpid(pid, 0)[1] for pid in writers]
    os.close(stopping)
    codes += [os.waitpid(pid, 0)[1] for pid in readers]
    say(json.dumps({"codes": codes, "revision": FileStore(folder, CLOCK.now).read().revision}))


def killed(folder: str, kills: int) -> None:
    """A worker claims and gives back without end, and is killed in the middle of whatever it does."""
    rng = random.Random(5)
    highest = 0
    for number in range(kills):
        told, tell = os.pipe()

        def worker(number: int = number, tell: int = tell) -> None:
            agent = f"racer-{number}"
            while True:
                answer = claim(folder, a_wish(agent, ("src/auth/*", "docs/**", "a")))
                assert isinstance(answer, Granted)
                os.write(tell, b"+%d\n" % answer.lease.fence)
                release(folder, agent)
                os.write(tell, b"-%d\n" % answer.lease.fence)

        pid = fork(worker)
        os.close(tell)
        said = os.read(told, 4096)
        time.sleep(rng.random() * 0.02)  # not to wait for something: the moment of the kill is what is tried
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while more := os.read(told, 65536):
            said += more
        os.close(told)
        highest = _judge_killed(folder, f"racer-{number}", said.decode().split(), highest)
    say(json.dumps({"kills": kills, "highest": highest, "files": sorted(os.listdir(folder))}))


def _judge_killed(folder: str, agent: str, said: list[str], highest: int) -> int:
    """What was acknowledged is so; the step that was killed happened whole or not at all; the next one works."""
    found = FileStore(folder, CLOCK.now).read()
    held = {lease.fence: lease for lease in found.leases.of((agent,))}
    word, fence = said[-1][0], int(said[-1][1:])
    if word == "-" and fence in held:
        say("given back, and still held:", agent, fence)
    if len(held) > 1 or any(lease.include != ("src/auth/*", "docs/**", "a") for lease in held.values()):
        say("half granted:", agent, held)
    if min([fence, *held]) <= highest or found.counter < fence:
        say("fences went back:", fence, "after", highest)
    answer = claim(folder, a_wish(agent, ("src/auth/*",)))
    if not isinstance(answer, Granted):
        say("the next claim was refused:", answer)
    release(folder, agent)
    return max([found.counter, *held, fence])


def hold(path: str) -> None:
    """Takes the guard, says so, and keeps it until standard input ends."""
    with Guard(path, PATIENCE, 0o600):
        say("held")
        sys.stdin.read()


def update(folder: str) -> None:
    """One write of the state, by a store that waits for its turn."""
    try:
        FileStore(folder, CLOCK.now, guard_timeout=PATIENCE).update(lambda s: (Edits(counter=s.counter + 1), None))
        say("written")
    except StoreError as error:
        say("failed:", error)


if __name__ == "__main__":
    name, place, *rest = sys.argv[1:]
    {"race": race, "churn": churn, "mix": mix, "killed": killed, "hold": hold, "update": update}[name](  # type: ignore[operator]
        place, *map(int, rest)
    )
