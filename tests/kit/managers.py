"""Real hook managers, fetched once for a whole test run: husky from npm, lefthook and prek from their wheels.

A test that misses one skips and says so: it can't be had without a network.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# The versions that were tried; a newer one may be pinned when the tests pass with it.
HUSKY = "husky@9.1.7"
LEFTHOOK = "lefthook==2.2.2"
PREK = "prek==0.5.11"

REASON = "no network: {} can't be fetched"


class Managers:
    """The folder where they lie; each program by its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def program(self, name: str) -> Path:
        """The program, or a skip with the reason why it is not here."""
        found = self.folder / "bin" / name
        if not found.exists():
            pytest.skip(REASON.format(name))
        return found


def fetched(shared: Path) -> Managers:
    """All that can be had, in a folder that all workers of a run share; fetched by whoever comes first."""
    folder = shared / "managers"
    with open(shared / "managers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            (folder / "bin").mkdir(parents=True)
            _husky(folder)
            _wheels(folder)
            (folder / "done").touch()
    return Managers(folder)


def _husky(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        return
    words = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), HUSKY]
    if _runs(words, folder):
        (folder / "bin/husky").symlink_to(folder / "node_modules/.bin/husky")


def _wheels(folder: Path) -> None:
    for name, what in (("lefthook", LEFTHOOK), ("prek", PREK)):
        place = folder / f"{name}-wheel"
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), what]
        if not _runs(words, folder):
            continue
        programs = [path for path in place.rglob(name) if path.is_file() and path.stat().st_size > 1 << 20]
        if programs:
            programs[0].chmod(0o755)
            (folder / "bin" / name).symlink_to(programs[0])


def _runs(words: list[str], folder: Path) -> bool:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=90, env={**os.environ, "CI": "true"})
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
