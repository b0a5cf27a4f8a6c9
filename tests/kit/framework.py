"""The pre-commit framework (and prek), with our hooks built once for a whole test run from this very checkout."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.kit.program import ROOT
from tests.kit.repo import Repo

STAGES = {"git-lock": "pre-commit", "git-lock-merge": "pre-merge-commit", "git-lock-prepare-msg": "prepare-commit-msg"}
# And those that refuse no commit.
OTHERS = {
    "git-lock-msg": "commit-msg", "git-lock-push": "pre-push", "git-lock-checkout": "post-checkout",
    "git-lock-post-merge": "post-merge", "git-lock-post-rewrite": "post-rewrite",
}  # fmt: skip


class Framework:
    """``source`` is a repository of all that this checkout holds, uncommitted too; ``home`` keeps what is built."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "git-lock"
        self.home = folder / "pre-commit-home"
        self.program = Path(sys.executable).parent / "pre-commit"

    @property
    def env(self) -> Mapping[str, str | None]:
        """What every call needs. Without a git-lock of the developer's on PATH: the framework has its own."""
        return {"PRE_COMMIT_HOME": str(self.home), "PREK_HOME": str(self.home) + "-prek", "PATH": self.path}

    @property
    def path(self) -> str:
        """PATH without the tested program."""
        places = os.environ.get("PATH", os.defpath).split(os.pathsep)
        return os.pathsep.join(place for place in places if not (Path(place) / "git-lock").exists())

    def config(self, *ids: str) -> str:
        """A ``.pre-commit-config.yaml`` with these hooks of ours."""
        rev = Repo(self.source).head
        hooks = "".join(f"  - id: {name}\n" for name in ids)
        return f"repos:\n- repo: {self.source.as_uri()}\n  rev: {rev}\n  hooks:\n{hooks}"

    def install(self, repo: Repo, *ids: str, program: Path | None = None) -> None:
        """Puts the config and the framework's own git hooks in."""
        repo.write(".pre-commit-config.yaml", self.config(*ids))
        stages = [word for name in ids for word in ("--hook-type", {**STAGES, **OTHERS}[name])]
        repo.run(str(program or self.program), "install", *stages, env=self.env).ok()


def built(shared: Path) -> Framework:
    """The one of this test run; built by whoever comes first."""
    folder = shared / "framework"
    framework = Framework(folder)
    with open(shared / "framework.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _source(framework.source)
            scratch = Repo.new(folder, files={"x": "x"}, name="scratch")
            framework.install(scratch, *STAGES, *OTHERS)
            done = subprocess.run(
                [framework.program, "install-hooks"], cwd=scratch.path, capture_output=True, text=True,
                env={**os.environ, "PRE_COMMIT_HOME": str(framework.home)}, timeout=300,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "done").touch()
    return framework


def _source(place: Path) -> None:
    """One commit of every file that a commit of everything here would hold."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=True,
    )  # fmt: skip
    repo = Repo(place)
    place.mkdir()
    repo.git("init", "--quiet")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    repo.git("add", "--all", "--force")
    repo.git("commit", "--quiet", "--no-verify", "-m", "this checkout")
