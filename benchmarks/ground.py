"""Where the benchmarks that compare whole programs stand: a scratch repository, a clean environment, and processes.

    with ground() as place:
        repo = place.repository("ours")
        table = compare({"hook": repo.process([".git/hooks/pre-commit"])})

The environment is that of nobody: no ``PYTHON*`` (one of them forbids the byte code that everything here relies on), no
``GIT_*``, no configuration of the user's, a home of its own.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from measure import Table, beside

STAGED = ("src/auth/login.py", "src/auth/token.py", "src/auth/user.py")  # what the commit is about
FOREIGN = ("PYTHON", "GIT_", "GITLOCK_", "PRE_COMMIT", "XDG_", "VIRTUAL_ENV")


class Scratch:
    """A repository with three staged files, and the environment of whoever works in it."""

    def __init__(self, path: Path, env: Mapping[str, str]) -> None:
        self.path = path
        self.env = dict(env)

    def run(self, *argv: str, agent: str = "alice", stdin: str = "") -> str:
        """Runs a program to set things up, and gives its output."""
        done = subprocess.run(
            argv, cwd=self.path, env={**self.env, "GITLOCK_AGENT": agent}, input=stdin, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def process(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdin: str = os.devnull,
        stdout: str = os.devnull,
    ) -> Callable[[], None]:
        """One process, as ``compare`` starts those that it is given, but here, with input and output of its own."""
        environment = {**self.env, "GITLOCK_AGENT": "alice", **(env or {})}
        program = shutil.which(argv[0], path=environment["PATH"]) or str(self.path / argv[0])
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]

        def once() -> None:
            os.chdir(self.path)
            pid = os.posix_spawn(program, list(argv), environment, file_actions=actions)
            ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if ended:
                raise RuntimeError(f"ended with {ended}: {' '.join(argv)}")

        return once

    def hold(self, count: int) -> None:
        """So many leases: one of alice's on what is staged, the others elsewhere, each of another agent."""
        self.run(beside("git-lock"), "claim", "src/auth/", agent="alice")
        for number in range(1, count):
            self.run(beside("git-lock"), "claim", f"lib/part{number}/file{number}.py", agent=f"agent-{number}")


class Ground:
    """A folder that goes away, and what is set up in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        home = folder / "home"
        home.mkdir()
        path = f"{Path(beside('git-lock')).parent}{os.pathsep}{self.env.get('PATH', os.defpath)}"
        self.env.update(HOME=str(home), GIT_CONFIG_NOSYSTEM="1", PATH=path)
        (home / ".gitconfig").write_text("[user]\n\tname = alice\n\temail = alice@example.com\n")

    def repository(self, name: str) -> Scratch:
        """A new one, with one commit and three changes that are staged."""
        repo = Scratch(self.folder / name, self.env)
        repo.path.mkdir()
        repo.run("git", "init", "--quiet")
        for content in ("1\n", "2\n"):
            for path in STAGED:
                (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
                (repo.path / path).write_text(content)
            repo.run("git", "add", ".")
            if content == "1\n":
                repo.run("git", "commit", "--quiet", "-m", "first")
        return repo


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """A place to measure in; the current folder is the old one again afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="git-lock-bench-") as folder:
        try:
            yield Ground(Path(folder).resolve())
        finally:
            os.chdir(before)


def in_turn(*works: Callable[[], None]) -> Callable[[], None]:
    """One after the other, as one piece of work."""

    def all_of_them() -> None:
        for work in works:
            work()

    return all_of_them


def present(tables: Mapping[str, Table], left_out: Mapping[str, str], as_json: bool) -> None:
    """Prints what was measured: tables under their titles, and what could not be measured, with the reason."""
    if as_json:
        made = {title: json.loads(table.as_json()) for title, table in tables.items()}
        load = [round(each, 1) for each in os.getloadavg()]
        print(json.dumps({"load": load, "tables": made, "left_out": dict(left_out)}, indent=2))
        return
    for title, table in tables.items():
        print(f"{title} ({table.rounds} rounds)\n")
        print(table.text(), end="\n\n")
    for name, why in left_out.items():
        print(f"left out: {name}: {why}")
    print(f"load: {', '.join(f'{each:.1f}' for each in os.getloadavg())}", flush=True)
