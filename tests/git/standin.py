"""The seam between git, the stub and the program: real git and the real stub, with a stand-in for Python's side."""

import os
import shutil
from pathlib import Path

from gitlock.git.hooks import InstallOutcome, UninstallOutcome, install, uninstall
from gitlock.git.process import Git
from gitlock.git.repository import Repository, finish_discovery, start_discovery
from gitlock.templates import read_template
from tests.kit.repo import Repo

# Notes what it was called with, does what the file "does" says (for this hook, else for all), and answers so.
_PROGRAM = """\
#!/bin/sh
folder=${0%/*}
if [ "$1" = -I ]; then
    while [ "$1" != --asked ]; do shift; done
    shift 2
    cat >"$folder/input"
fi
[ "$1" = hook ] && shift
read -r line && printf 'input %s\\036' "$line" >>"$folder/calls"
printf '%s pid=%s\\036' "$*" "${GITLOCK_GIT_PID-none}" >>"$folder/calls"
if [ -f "$folder/does-$1" ]; then . "$folder/does-$1"; fi
if [ -f "$folder/does" ]; then . "$folder/does"; fi
exit 0
"""


class StandIn:
    """An interpreter, a start file and a program of our own, in ``folder``; by default every answer is yes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.python = folder / "python"
        self.python.write_text(_PROGRAM)
        self.python.chmod(0o755)
        self.start = folder / "start.py"
        self.start.write_text("# not read by the stand-in\n")

    def does(self, script: str, hook: str | None = None) -> None:
        """From now on it runs these lines of sh."""
        (self.folder / (f"does-{hook}" if hook else "does")).write_text(script + "\n")

    @property
    def calls(self) -> list[str]:
        """Each time that it was started: the hook and its arguments."""
        return [line.split(" pid=")[0] for line in self.raw_calls]

    @property
    def raw_calls(self) -> list[str]:
        """As ``calls``, with the git process that it was told of."""
        file = self.folder / "calls"
        return file.read_text().split("\x1e")[:-1] if file.exists() else []

    @property
    def input(self) -> bytes:
        """What it was given last on its standard input by a stub: the answers of git."""
        return (self.folder / "input").read_bytes()

    @property
    def hooks(self) -> list[str]:
        """The hooks that it was started for."""
        return [line.split()[0] for line in self.calls]

    def forget(self) -> None:
        """Forgets the calls so far."""
        (self.folder / "calls").unlink(missing_ok=True)

    def install(self, repo: Repo, **changes: object) -> InstallOutcome:
        """Installs into this repository, so that its hooks ask this stand-in."""
        values: dict[str, object] = {
            "template": read_template("hook.sh"),
            "interpreter": str(self.python),
            "start": str(self.start),
            "program": None,
        }
        return install(at(repo), **{**values, **changes})  # type: ignore[arg-type]


def at(repo: Repo) -> Repository:
    """The repository as the package sees it."""
    git = Git(str(repo.path), os.environ)
    return finish_discovery(git, start_discovery(git))


def give_back(repo: Repo) -> UninstallOutcome:
    """Uninstalls."""
    return uninstall(at(repo))


def hooks_folder(repo: Repo) -> Path:
    """The repository's own hooks folder."""
    return repo.common_dir / "hooks"


def write_hook(path: Path, body: str, *, mode: int = 0o755, time: int = 1_600_000_000) -> Path:
    """A hook as somebody wrote it long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    os.utime(path, (time, time + 0.25))
    return path


def bare_path(folder: Path, *programs: str) -> str:
    """A PATH with these programs and no git-lock."""
    folder.mkdir(exist_ok=True)
    for name in ("git", "sh", *programs):
        found = shutil.which(name)
        assert found is not None, name
        link = folder / name
        if not link.exists():
            link.symlink_to(found)
    return str(folder)


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything in a folder: bytes or link target, mode, time of change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        time = 0 if path.is_dir() and not path.is_symlink() else status.st_mtime_ns
        found[str(path.relative_to(folder))] = (content, status.st_mode, time)
    return found
