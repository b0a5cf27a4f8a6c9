"""Real repositories that tell a story, and the real program run in them.

    repo = Repo.new(tmp_path, files={"src/login.py": "1\\n"})
    repo.install()
    repo.lock("claim", "src/login.py", agent="alice").ok()
    repo.commit("bob's", files={"src/login.py": "2\\n"}, agent="bob", check=False).ended(1)
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.kit.processes import Running, start
from tests.kit.program import child_environment, program
from tests.kit.result import Result

Environment = Mapping[str, str | None]

PATIENCE = 60.0  # seconds until a process counts as hung; only there to end a hang


class Repo:
    """A working tree (or a bare repository) at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Repo({str(self.path)!r})"

    @classmethod
    def new(
        cls,
        folder: Path,
        files: Mapping[str, str | bytes] | None = None,
        *,
        bare: bool = False,
        name: str = "repo",
        options: tuple[str, ...] = (),
    ) -> "Repo":
        """A repository with one commit on main in ``folder/name``; ``options`` go to git init."""
        files = {"README.md": "hello\n"} if files is None else files
        if bare:
            source = cls.new(folder, files, name=f"{name}.source", options=options)
            source.git("clone", "--quiet", "--bare", str(source.path), str(folder / name))
            return cls(folder / name)
        repo = cls(folder / name)
        repo.path.mkdir(parents=True)
        repo.git("init", "--quiet", *options)
        repo.commit("first", files)
        return repo

    def clone(self, name: str = "clone") -> "Repo":
        """A clone beside it; its ``origin`` is this repository."""
        there = Repo(self.path.parent / name)
        self.git("clone", "--quiet", str(self.path), str(there.path))
        return there

    def worktree(self, name: str, branch: str | None = None) -> "Repo":
        """A linked worktree beside it, on a new branch (by default called as the folder is)."""
        there = Repo(self.path.parent / name)
        self.git("worktree", "add", "--quiet", "-b", branch or name, str(there.path))
        return there

    # -- files and commits

    def write(self, path: str, content: str | bytes) -> Path:
        """Writes a file of the working tree, with the folders above it."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def read(self, path: str) -> str:
        """The text of a file of the working tree."""
        return (self.path / path).read_text()

    def commit(
        self,
        message: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        agent: str | None = None,
        check: bool = True,
        env: Environment | None = None,
    ) -> Result:
        """Writes and adds these files and commits what is staged; without ``check`` a refusal is an answer too."""
        for path, content in (files or {}).items():
            self.write(path, content)
        if files:
            self.git("--literal-pathspecs", "add", "--", *files)
        return self.git("commit", "--quiet", "-m", message, agent=agent, check=check, env=env)

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD").out.strip()

    # -- programs

    def git(
        self,
        *args: str,
        check: bool = True,
        env: Environment | None = None,
        input: str | bytes | None = None,
        agent: str | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        """Runs git here; hooks and `git lock` find the tested program."""
        result = self.run("git", *args, env=env, input=input, agent=agent, cwd=cwd)
        return result.ok() if check else result

    def lock(
        self,
        *args: str,
        agent: str | None = "alice",
        env: Environment | None = None,
        input: str | bytes | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        """Runs git-lock here as a process; ``agent=None`` is the person of the git configuration."""
        return self.run(str(program()), *args, env=env, input=input, agent=agent, cwd=cwd)

    def json(
        self,
        *args: str,
        agent: str | None = "alice",
        env: Environment | None = None,
        input: str | bytes | None = None,
        cwd: str | Path | None = None,
    ) -> dict[str, Any]:
        """Runs it with --json and gives the envelope, whose code must be the one it ended with."""
        where = args.index("--") if "--" in args else len(args)
        result = self.lock(*args[:where], "--json", *args[where:], agent=agent, env=env, input=input, cwd=cwd)
        envelope = result.json()
        assert isinstance(envelope, dict), f"not an envelope\n{result!r}"
        assert envelope.get("code") == result.code, f"the envelope's code is not the exit code\n{result!r}"
        return envelope

    def run(
        self,
        *argv: str,
        env: Environment | None = None,
        input: str | bytes | None = None,
        agent: str | None = None,
        cwd: str | Path | None = None,
    ) -> Result:
        """Runs any program here, without a terminal and, unless given, without input."""
        where = self.path if cwd is None else self.path / cwd
        done = subprocess.run(
            argv,
            cwd=where,
            env=child_environment(dict(env or {}), agent=agent),
            input=input.encode() if isinstance(input, str) else input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Result(argv, done.returncode, done.stdout, done.stderr, where)

    def start(
        self,
        *args: str,
        agent: str | None = "alice",
        env: Environment | None = None,
        cwd: str | Path | None = None,
        stdin: int | None = None,
    ) -> Running:
        """Starts git-lock here and goes on; use it as a context manager, which ends it whatever happens."""
        where = self.path if cwd is None else self.path / cwd
        environment = child_environment(dict(env or {}), agent=agent)
        return start([str(program()), *args], cwd=where, env=environment, stdin=stdin)

    # -- what git-lock keeps

    def install(self, *args: str) -> Result:
        """Puts git's gates in."""
        return self.lock("install", *args, agent=None).ok()

    @property
    def common_dir(self) -> Path:
        """The git folder that all worktrees share."""
        return (self.path / self.git("rev-parse", "--git-common-dir").out.strip()).resolve()

    @property
    def store(self) -> Path:
        """The folder of the file store."""
        return self.common_dir / "agentlocks"

    def state(self) -> dict[str, Any]:
        """The authority, as it stands on the disk."""
        document = json.loads((self.store / "state.json").read_bytes())
        assert isinstance(document, dict)
        return document
