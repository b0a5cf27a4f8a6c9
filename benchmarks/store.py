"""What the files store costs as it grows, under contention, and in one process.

The bounds are those of the specification. Leases are mixed as they are found: most on folders, a quarter on single
files, some keys, and one in a hundred an announcement about a name anywhere (which every question has to look at).

    python benchmarks/store.py [--rounds N] [--json]
"""

import argparse
import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ground import STAGED, Ground, Scratch, ground
from measure import ROUNDS, Table, bare_python, beside, compare

import gitlock
from gitlock.domain.claim import Claim, plan_claim
from gitlock.domain.holding import Wanted, plan_release, plan_renew
from gitlock.domain.instant import Instant
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, INTENT, Holder, Lease
from gitlock.domain.pattern import PLAIN, parse_pattern
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts, nothing_known
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore

SIZES = (10, 100, 1_000, 10_000)
CROWDS = (8, 64)
PAIRS = 50  # claims and releases in one process, a round

# One process: takes a path that all want, waiting for its turn, and gives it back.
CONTENDER = """
import gc, sys
gc.disable()
package, folder, agent = sys.argv[1:]
sys.path.append(package)
from gitlock.bundle import use_bundle
use_bundle()
import os
from gitlock.domain.claim import Claim
from gitlock.domain.lease import Holder
from gitlock.domain.pattern import PLAIN
from gitlock.domain.standing import Facts
from gitlock.git.process import Git
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from gitlock.usecases.claim import Wish, ask
from gitlock.wiring.liveness import Here
clock = SystemClock()
here = Here(clock.boot)
store = FileStore(folder, clock.now, guard_timeout=60.0)
pipes = store.layout.waiting
facts = Facts(here.liveness, process_waits=lambda waiter: here.process_waits(waiter, pipes), watch=here.watch)
def holder(pid):
    return here.holder(pid=pid, worktree=None, branch=None, session=None, clone=None)
claim = Claim(
    id=os.urandom(6).hex(), agent=agent, kind="agent", mode="exclusive", keys=("file:wanted/by/all.py",),
    include=("wanted/by/all.py",), exclude=(), reason="", ttl=3600.0, token_hash="0" * 64, holder=holder(None),
)
wish = Wish(claim, "", (), lambda _: "enforce", PLAIN, facts, Git(None, {}), False)
granted = ask(store, wish).answer
if type(granted).__name__ != "Granted":
    from gitlock.usecases.wait import Stop, claim_in_turn
    granted = claim_in_turn(
        store, wish, process=holder(os.getpid()), timeout=60.0, queued=lambda _: None, stop=Stop()
    ).outcome.answer
from gitlock.domain.holding import Wanted
from gitlock.usecases.release import release
lease = granted.lease.id
done = release(store, agent, (Wanted(lease, frozenset((lease,))),), PLAIN, facts)
os._exit(0 if done.released else 1)
"""


class Figure(NamedTuple):
    """One row: what, how much, of what, and the bound; ``least`` where more is better."""

    name: str
    value: float
    of: str
    bound: float | None
    least: bool = False

    @property
    def over(self) -> bool:
        return self.bound is not None and (self.value < self.bound if self.least else self.value > self.bound)


def others(count: int, now: Instant) -> tuple[Lease, ...]:
    """So many leases of fifty agents, none of them on what is measured."""
    leases = []
    for number in range(count):
        folder, mode = f"pkg{number % 97}/part{number // 97}", EXCLUSIVE
        key, pattern = "", f"{folder}/*"
        if number % 100 == 99:
            pattern, mode = f"**/only_{number}.py", INTENT
        elif number % 25 == 24:
            key, pattern = f"deploy:place-{number}", ""
        elif number % 4 == 3:
            pattern = f"{folder}/file{number}.py"
        include = (pattern,) if pattern else ()
        keys = (key,) if key else tuple(path_key(text, parse_pattern(text).literal) for text in include)
        made = lease(f"{number:012x}", f"agent-{number % 50}", keys, include, number + 1, now)
        leases.append(made.replace(mode=mode))
    return tuple(leases)


def lease(id: str, agent: str, keys: tuple[str, ...], include: tuple[str, ...], fence: int, now: Instant) -> Lease:
    """One that was just made."""
    return Lease(
        id=id, agent=agent, kind="agent", mode=EXCLUSIVE, keys=keys, include=include, exclude=(),
        reason="work on it until noon", fence=fence, acquired=now.wall, renewed=now, ttl=7200.0, token_hash="0" * 64,
        holder=Holder("somewhere", worktree="/somewhere/repo", branch="main"),
    )  # fmt: skip


def ratio(table: Table, name: str) -> float:
    return next(row.ratio for row in table.rows if row.name == name)


def open_store(folder: Path) -> FileStore:
    return FileStore(str(folder), SystemClock().now)


def fill(store: FileStore, count: int) -> None:
    """Puts the others in, in one write."""

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        return Edits(put=others(count, snapshot.now), counter=count), None

    store.update(plan)


# -- growth: whole processes


def grown(place: Ground, size: int) -> Scratch:
    """A repository in which alice holds what is staged, and others the rest."""
    repo = place.repository(f"size-{size}")
    fill(open_store(repo.path / ".git/agentlocks"), size - 1)
    repo.run(beside("git-lock"), "claim", *STAGED)
    return repo


def growth(repos: dict[int, Scratch], rounds: int) -> list[Figure]:
    lock = beside("git-lock")
    figures = []
    for verb, words, bounds in (
        ("check", ("check",), {100: None, 1_000: 1.3, 10_000: 3.0}),
        ("claim", ("claim", "src/new.py"), {100: None, 1_000: 1.5, 10_000: 4.0}),
    ):
        names = {size: f"{verb}, {size:,} leases" for size in SIZES}

        places = {names[size]: repos[size] for size in SIZES}

        def free(name: str, places: dict[str, Scratch] = places) -> None:
            if name.startswith("claim"):
                give_back(places[name])

        works = {names[size]: repos[size].process((lock, *words)) for size in SIZES}
        table = compare(works, baseline=names[10], rounds=rounds, before_each=free)
        figures += [Figure(names[size], ratio(table, names[size]), "of 10", bound) for size, bound in bounds.items()]
    return figures


def give_back(repo: Scratch) -> None:
    """Takes back what the measured claim took, so that each is a first one."""
    store = open_store(repo.path / ".git/agentlocks")
    new = (Wanted("src/new.py", frozenset(("src/new.py",))),)
    store.update(lambda snapshot: plan_release(snapshot, "alice", new, PLAIN))


# -- contention: many processes at one moment


def crowd(repo: Scratch, argvs: list[list[str]]) -> Callable[[], None]:
    """All of them at once, until the last has ended."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]

    def once() -> None:
        pids = [os.posix_spawn(argv[0], argv, repo.env, file_actions=actions) for argv in argvs]
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        if any(codes):
            raise RuntimeError(f"of {len(pids)} processes {sum(map(bool, codes))} failed")

    return once


def contention(repo: Scratch, rounds: int) -> list[Figure]:
    package = str(Path(gitlock.__file__).parents[1])
    figures = []
    for count in CROWDS:
        argv = [sys.executable, "-I", "-S", "-c", CONTENDER, package, str(repo.path / ".git/agentlocks")]
        table = compare(
            {"contenders": crowd(repo, [[*argv, f"crowd-{number}"] for number in range(count)])},
            baseline={"bare": crowd(repo, [bare_python()] * count)},
            rounds=rounds,
        )
        name = f"{count} processes, each claim + release of the same path"
        figures.append(Figure(name, ratio(table, "contenders"), f"of {count} bare Pythons", 1.3))
    return figures


# -- one process


def in_process(store: FileStore, folder: Path, rounds: int) -> Figure:
    """Claim and release beside what a disk can do: as many bytes, locked, written, made to last and renamed."""
    facts = Facts(nothing_known)
    size = os.stat(store.layout.state).st_size

    def ours() -> None:
        for number in range(PAIRS):
            store.update(taking(f"{number:012x}", facts))
            store.update(lambda snapshot: plan_release(snapshot, "alice", (), PLAIN))

    def raw() -> None:
        data, target, spare = b"x" * size, folder / "raw", folder / "raw.tmp"
        for _ in range(2 * PAIRS):
            guard = os.open(folder / "raw.lock", os.O_RDWR | os.O_CREAT)
            fcntl.flock(guard, fcntl.LOCK_EX)
            fd = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.write(fd, data)
            os.fsync(fd)
            os.close(fd)
            os.rename(spare, target)
            os.close(guard)

    table = compare({"raw": raw, "ours": ours}, baseline="ours", rounds=rounds)
    return Figure("claim + release in one process, 100 leases", ratio(table, "raw"), "of raw speed", 0.1, least=True)


def taking(id: str, facts: Facts) -> Callable[[Snapshot], tuple[Edits, object]]:
    """A plan that claims one file."""
    claim = Claim(
        id=id, agent="alice", kind="agent", mode=EXCLUSIVE, keys=("file:src/new.py",), include=("src/new.py",),
        exclude=(), reason="", ttl=3600.0, token_hash="0" * 64, holder=Holder("here"),
    )  # fmt: skip
    return lambda snapshot: plan_claim(snapshot, claim, fold=PLAIN, facts=facts, mode_of=lambda _: "enforce")


def heartbeat(place: Ground, rounds: int) -> list[Figure]:
    """Renewing all leases of an agent who has a hundred, and of one who has one; the store holds a hundred for both."""
    repos, stores = {}, {}
    for count in (1, 100):
        repos[count] = place.repository(f"beat-{count}")
        stores[count] = open_store(repos[count].path / ".git/agentlocks")
        stores[count].update(mine_and_others(count))
    words = (beside("git-lock"), "renew", "--quiet")
    table = compare({str(n): repo.process(words) for n, repo in repos.items()}, baseline="1", rounds=rounds)
    inside = compare({str(n): _beats(store) for n, store in stores.items()}, baseline="1", rounds=rounds)
    return [
        Figure("heartbeat of 100 leases, as a process", ratio(table, "100"), "of 1", 2.0),
        Figure("heartbeat of 100 leases, the write alone", ratio(inside, "100"), "of 1", None),
    ]


def mine_and_others(count: int) -> Callable[[Snapshot], tuple[Edits, None]]:
    """A plan that puts a hundred leases in, so many of them alice's."""

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        now = snapshot.now
        mine = [lease(f"a{n:011x}", "alice", (f"file:src/f{n}",), (f"src/f{n}",), n + 1, now) for n in range(count)]
        return Edits(put=(*mine, *others(100 - count, now)), counter=200), None

    return plan


def _beats(store: FileStore) -> Callable[[], None]:
    def beat() -> None:
        store.update(lambda snapshot: plan_renew(snapshot, "alice", (), None, PLAIN))

    return beat


# -- the whole


def measured(place: Ground, rounds: int) -> list[Figure]:
    """Every row."""
    repos = {size: grown(place, size) for size in SIZES}
    figures = growth(repos, rounds)
    figures += contention(repos[10], rounds)
    store = open_store(place.folder / "store-100")
    fill(store, 100)
    figures.append(in_process(store, place.folder, rounds))
    return figures + heartbeat(place, rounds)


def text(figures: list[Figure]) -> str:
    """An aligned table; a row that is over its bound is marked."""
    lines = [("", "", "", "bound", "")]
    for one in figures:
        bound = "" if one.bound is None else f"{'>=' if one.least else '<='} {one.bound:g}"
        lines.append((one.name, f"{one.value:.2f}x", one.of, bound, "OVER" if one.over else ""))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    layout = f"{{:<{widths[0]}}}  {{:>{widths[1]}}}  {{:<{widths[2]}}}  {{:<{widths[3]}}}  {{}}"
    return "\n".join(layout.format(*cells).rstrip() for cells in lines).lstrip("\n")


def main() -> int:
    """Prints the figures beside their bounds."""
    parser = argparse.ArgumentParser(description="Measures the files store.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ground() as place:
        figures = measured(place, asked.rounds)
    if asked.json:
        print(json.dumps([one._asdict() for one in figures], indent=2))
    else:
        print(text(figures))
        print(f"load: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
