"""The package as people get it: one wheel a test session, installed by the real installers."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.kit.program import ROOT
from tests.kit.result import Result

PATIENCE = 100.0  # seconds until an installer counts as hung

_NO_NETWORK = (
    "Failed to establish a new connection", "Temporary failure in name resolution", "Name or service not known",
    "Network is unreachable", "Could not find a version that satisfies", "dns error", "Connection refused",
    "timed out", "No matching distribution found", "Could not fetch URL", "error sending request",
)  # fmt: skip


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made once a test session, by whichever worker comes first."""
    top = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        top = top.parent
    folder = top / name
    with (top / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / ".made").touch()
    return folder


def wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""

    def build(folder: Path) -> None:
        isolation = ["--no-build-isolation"] if find_spec("hatchling") else []
        fetch(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *isolation, "-w", str(folder), str(ROOT)],
            os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )

    (found,) = once(factory, "wheel", build).glob("*.whl")
    return found


class Machine:
    """A home folder in which something is installed, and the environment of its owner: nothing of the tests' own
    programs is on its PATH."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home = home
        self.programs = programs
        system = ["/usr/local/bin", "/usr/bin", "/bin"]
        git = shutil.which("git")
        assert git is not None
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "VIRTUAL_"))}
        self.env |= {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "PATH": os.pathsep.join([str(programs), str(Path(git).parent), *system]),
            "MANPAGER": "cat",
            "MANWIDTH": "80",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_PYTHON_DOWNLOADS": "never",
        }

    def run(self, *argv: str, env: dict[str, str] | None = None) -> Result:
        """Runs a program in the home folder."""
        done = subprocess.run(
            argv, cwd=self.home, env=self.env | (env or {}), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        return Result(argv, done.returncode, done.stdout, done.stderr, self.home)


def fetch(argv: list[str], env: "dict[str, str]") -> None:
    """Runs an installer; skips the test where the packages can't be fetched."""
    done = subprocess.run(
        argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if done.returncode:
        said = done.stdout + done.stderr
        if any(sign in said for sign in _NO_NETWORK):
            pytest.skip(f"network: packages can't be fetched here ({said.strip().splitlines()[-1][:120]})")
        raise AssertionError(f"{argv} ended with {done.returncode}\n{said}")


def new_environment(folder: Path, *packages: str, env: dict[str, str]) -> Path:
    """A fresh virtual environment with these packages, installed by pip from outside it; its folder of programs."""
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(make, check=True, capture_output=True, timeout=PATIENCE)
    fetch([sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet", *packages], env)
    return folder / "bin"
