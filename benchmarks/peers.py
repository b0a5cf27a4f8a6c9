"""git-lock and the programs and libraries that do the nearest thing, in the same rounds as a bare Python.

Three questions: a whole hook on three staged files with ten leases; a claim and its release as two processes; and
taking and giving back a lock in one process, for the libraries. What is compared is what each of them calls its quick
path; none does the same as another (a library's lock knows no paths, overlap, owner or history).

    python benchmarks/peers.py [--rounds N] [--json] [--peers FOLDER] [--only hook pair cold warm]

The peers come from the package index and live in an environment of their own, which `make bench` makes (.venv-peers).
One that is not there, or does not run, is named and left out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ground import STAGED, Ground, Scratch, ground, in_turn, present
from lfs_server import lock_server
from measure import ROUNDS, Table, Work, bare_python, beside, compare

PEERS = Path(__file__).resolve().parents[1] / ".venv-peers"
HELD = 10
PAIRS = 200  # takings and givings in one process, a round
OUT_OF_REACH = {
    "mcp_agent_mail": "not in the package index under this name",
    "agentmutex": "a Go program that is published as source only",
}

NO_OP = """\
repos:
-   repo: local
    hooks:
    -   id: nothing
        name: nothing
        entry: "true"
        language: system
        pass_filenames: false
        always_run: true
"""

# One lock, taken and given back: what a process does once, or a worker many times.
LIBRARIES = {
    "flock": ("import fcntl, os", "fd = os.open(path, os.O_RDWR | os.O_CREAT); fcntl.flock(fd, 2); os.close(fd)"),
    "filelock": ("import filelock", "with filelock.FileLock(path): pass"),
    "fasteners": ("import fasteners", "with fasteners.InterProcessLock(path): pass"),
    "portalocker": ("import portalocker", "with portalocker.Lock(path): pass"),
}

WORKER = """
import sys
{setup}
path = sys.argv[1]
for line in sys.stdin:
    for _ in range(int(line)):
        {once}
    print(flush=True)
"""

OURS = (
    "import os; sys.path.insert(0, sys.argv[2]); from pathlib import Path\n"
    "from waiting import World, Wanted, PLAIN, ask, release\n"
    "world = World(Path(sys.argv[1]))\n"
    "for n in range(99): ask(world.store, world.wish(f'agent-{n}', (f'lib/part{n}/file{n}.py',)))\n"
    "def pair():\n"
    "    lease = ask(world.store, world.wish('alice', ('src/auth/login.py',))).answer.lease.id\n"
    "    release(world.store, 'alice', (Wanted(lease, frozenset((lease,))),), PLAIN, world.facts)\n"
)


class Field:
    """The peers that are there; asking for one that is not notes why it is left out."""

    def __init__(self, folder: Path, place: Ground) -> None:
        self.bin = folder / "bin"
        self.place = place
        self.left_out = dict(OUT_OF_REACH)

    def add(self, works: dict[str, Work], name: str, make: Callable[[], Callable[[], None]]) -> None:
        """Sets a peer up and runs it once; whatever goes wrong leaves it out."""
        try:
            work = make()
            work()
        except (OSError, RuntimeError, ValueError) as error:
            self.left_out[name] = " ".join(str(error).split())[:160]
        else:
            works[name] = work

    def program(self, name: str) -> str:
        """One of the environment of the peers."""
        if not (self.bin / name).exists():
            raise FileNotFoundError(f"'{name}' is not installed beside {self.bin}")
        return str(self.bin / name)

    def tool(self, name: str) -> str:
        """One of this machine."""
        found = shutil.which(name)
        if found is None:
            raise FileNotFoundError(f"no program '{name}' on this machine")
        return found


def patch(repo: Scratch, file: Path) -> str:
    """What an agent's harness tells a hook: it is about to change the three files."""
    lines = "".join(f"*** Update File: {repo.path / path}\n@@\n-1\n+2\n" for path in STAGED)
    asked = {
        "session_id": "alice-session", "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
        "cwd": str(repo.path), "tool_input": {"command": f"*** Begin Patch\n{lines}*** End Patch\n"},
    }  # fmt: skip
    file.write_text(json.dumps(asked))
    return str(file)


def agent_lease(field: Field, repo: Scratch) -> dict[str, str]:
    """Ten leases in the room of agent-lease; gives what names the room."""
    room = {"AGENT_LEASE_DB": str(field.place.folder / f"room-{time.monotonic_ns()}.db"), "AGENT_NAME": "alice"}
    for number in range(1, HELD):
        claim = [field.program("agent-lease"), "claim", str(repo.path / f"lib/part{number}/file{number}.py")]
        repo.process(claim, env={**room, "AGENT_NAME": f"agent-{number}"})()
    return room


def file_claims(field: Field, repo: Scratch) -> list[str]:
    """Ten claims of agent-file-claim; gives how the program is called."""
    folder = field.place.folder / f"file-claims-{time.monotonic_ns()}"
    folder.mkdir()
    held = [[str(repo.path / f"lib/part{n}/file{n}.py"), f"agent-{n}", time.time()] for n in range(1, HELD)]
    (folder / "file-claims.json").write_text(json.dumps({"held": held, "refused": 0, "where": {}}))
    return [field.program("agent-file-claim"), "--dir", str(folder)]


def framework(field: Field) -> Callable[[], None]:
    """The pre-commit framework's hook, with one hook of its own that does nothing."""
    repo = field.place.repository("framework")
    (repo.path / ".pre-commit-config.yaml").write_text(NO_OP)
    repo.run("git", "add", ".pre-commit-config.yaml")
    repo.run(field.program("pre-commit"), "install")
    return repo.process([".git/hooks/pre-commit"])


def whole_hook(field: Field, rounds: int) -> Table:
    ours = field.place.repository("hook")
    ours.run(beside("git-lock"), "install")
    ours.hold(HELD)
    plain = field.place.repository("plain")
    (plain.path / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    (plain.path / ".git/hooks/pre-commit").chmod(0o755)
    stdin = patch(ours, field.place.folder / "patch.json")
    works: dict[str, Work] = {
        "a hook in sh that does nothing": plain.process([".git/hooks/pre-commit"]),
        "git-lock": ours.process([".git/hooks/pre-commit"]),
    }
    field.add(works, "agent-file-claim", lambda: ours.process([*file_claims(field, ours), "hook"], stdin=stdin))
    field.add(
        works, "agent-lease", lambda: ours.process(
            [field.program("agent-lease-guard")], env=agent_lease(field, ours), stdin=stdin
        ),
    )  # fmt: skip
    field.add(works, "pre-commit framework, no-op", lambda: framework(field))
    return compare(works, rounds=rounds)


def collab(field: Field, repo: Scratch) -> Callable[[], None]:
    """Claim and release of agent-collab, which wants to be told what the claim answered."""
    said = field.place.folder / "collab.json"
    call = [field.program("agent-collab"), "--db", str(field.place.folder / "collab.db")]
    repo.process([*call, "init"])()
    for number in range(1, HELD):
        who = ["--resource", f"lib/part{number}/file{number}.py", "--owner", f"agent-{number}"]
        repo.process([*call, "claim", *who, "--ttl", "3600"])()
    mine = ["--resource", STAGED[0], "--owner", "alice"]
    claim = repo.process([*call, "claim", *mine, "--ttl", "3600"], stdout=str(said))

    def release() -> None:
        generation = json.loads(said.read_text())["generation"]
        repo.process([*call, "release", *mine, "--generation", generation])()

    return in_turn(claim, release)


def lfs(field: Field, repo: Scratch, address: str) -> Callable[[], None]:
    field.tool("git-lfs")
    repo.run("git", "config", "lfs.url", address)
    repo.run("git", "config", f"lfs.{address}.locksverify", "false")
    return in_turn(
        repo.process(["git", "lfs", "lock", STAGED[0]]), repo.process(["git", "lfs", "unlock", "--force", STAGED[0]])
    )


def two_processes(field: Field, rounds: int) -> Table:
    repo = field.place.repository("pair")
    repo.hold(HELD)
    path = "docs/guide.md"
    git_lock = beside("git-lock")
    works: dict[str, Work] = {
        "two bare pythons": in_turn(repo.process(bare_python()), repo.process(bare_python())),
        "git-lock": in_turn(repo.process([git_lock, "claim", path]), repo.process([git_lock, "release", path])),
    }

    def file_claim() -> Callable[[], None]:
        asked = field.place.folder / "write.json"
        told = {"session_id": "alice-session", "tool_name": "Write", "cwd": str(repo.path)}
        asked.write_text(json.dumps({**told, "tool_input": {"file_path": path}}))
        call = file_claims(field, repo)
        return in_turn(repo.process([*call, "hook"], stdin=str(asked)), repo.process([*call, "release", path]))

    def lease() -> Callable[[], None]:
        room, call = agent_lease(field, repo), field.program("agent-lease")
        return in_turn(repo.process([call, "claim", path], env=room), repo.process([call, "release", path], env=room))

    field.add(works, "agent-file-claim", file_claim)
    field.add(works, "agent-collab", lambda: collab(field, repo))
    field.add(works, "agent-lease", lease)
    with lock_server() as address:
        field.add(works, "git-lfs (lock, unlock)", lambda: lfs(field, repo, address))
        return compare(works, rounds=rounds)


def one_process_cold(field: Field, rounds: int) -> Table:
    repo = field.place.repository("cold")
    repo.hold(HELD)
    path = str(field.place.folder / "cold.lock")
    works: dict[str, Work] = {
        "git-lock run KEY -- true": repo.process([beside("git-lock"), "run", "deploy:here", "--", "true"]),
    }
    field.add(works, "flock(1) FILE true", lambda: repo.process([field.tool("flock"), path, "true"]))
    for name, (setup, once) in LIBRARIES.items():
        code = f"path = {path!r}\n{setup}\n{once}"
        field.add(
            works, f"python, {name}", lambda code=code: repo.process([field.program("python"), "-c", code])  # type: ignore[misc]
        )
    return compare(works, rounds=rounds)


class Worker:
    """A process that is ready, and takes and gives back a lock so many times when it is told to."""

    def __init__(self, python: str, setup: str, once: str, *words: str, env: Mapping[str, str]) -> None:
        argv = [python, "-c", WORKER.format(setup=setup, once=once), *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def work(self) -> None:
        """One round."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        try:
            self.process.stdin.write(f"{PAIRS}\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it says why
        if not self.process.stdout.readline():
            raise RuntimeError(self.process.stderr.read().strip().rpartition("\n")[2])

    def end(self) -> None:
        """It has nothing left to read, and ends."""
        self.process.communicate()


def one_process_warm(field: Field, rounds: int) -> Table:
    workers: list[Worker] = []

    def ready(python: str, setup: str, once: str, *words: str) -> Callable[[], None]:
        workers.append(Worker(python, setup, once, *words, env=field.place.env))
        return workers[-1].work

    works: dict[str, Work] = {}
    try:
        for name, (setup, once) in LIBRARIES.items():
            lock = str(field.place.folder / f"{name}.lock")
            python = field.program if name != "flock" else (lambda _: sys.executable)
            field.add(
                works, name, lambda p=python, s=setup, o=once, f=lock: ready(p("python"), s, o, f)  # type: ignore[misc]
            )
        store = tempfile.mkdtemp(dir=field.place.folder)
        works["git-lock, written through to the disk, 99 others held"] = ready(
            sys.executable, OURS, "pair()", store, str(Path(__file__).parent)
        )
        table = compare(works, baseline="flock", rounds=rounds)
        return table._replace(rows=[row._replace(cpu=0.0) for row in table.rows])  # it is spent in the workers
    finally:
        for worker in workers:
            worker.end()


def main() -> int:
    """Prints the tables."""
    kinds = {
        "hook": (f"a whole hook: 3 staged files, {HELD} leases", whole_hook),
        "pair": (f"claim and release, two processes, {HELD} leases", two_processes),
        "cold": ("a lock taken and given back by one new process", one_process_cold),
        "warm": (f"a lock taken and given back {PAIRS} times in one process", one_process_warm),
    }
    parser = argparse.ArgumentParser(description="Times git-lock and its peers.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peers", type=Path, default=PEERS, metavar="FOLDER", help="the environment they live in")
    parser.add_argument("--only", nargs="+", choices=kinds, default=list(kinds))
    asked = parser.parse_args()
    with ground() as place:
        field = Field(asked.peers, place)
        os.chdir(place.folder)
        tables = {}
        for kind in asked.only:
            title, measure = kinds[kind]
            tables[title] = measure(field, asked.rounds)
        present(tables, field.left_out, asked.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
