"""Which git-lock the tests run, and with what environment."""

import atexit
import functools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Set by conftest for the long runs; under pytest's prefix, so that no tested process sees it.
SOAK_VARIABLE = "PYTEST_GITLOCK_SOAK"

# One that answers for this very checkout, without the package being installed.
_LAUNCHER = """\
#!{python} -P
import sys
sys.path.insert(0, {root!r})
from gitlock.__main__ import main
sys.exit(main())
"""


def is_soak() -> bool:
    """Whether this is a long run (`make soak`)."""
    return os.environ.get(SOAK_VARIABLE) == "1"


@functools.cache
def program() -> Path:
    """The git-lock that is tested: the installed script if it runs this checkout, else a launcher that does.

    The installed one is preferred since it is what people have; its folder goes first on PATH, so that `git lock`
    and the hooks find the same.
    """
    beside = Path(sys.executable).parent
    installed = beside / "git-lock"
    if installed.exists() and _installed_package() == ROOT / "gitlock":
        return installed
    folder = Path(tempfile.mkdtemp(prefix="git-lock-program-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    launcher = folder / "git-lock"
    launcher.write_text(_LAUNCHER.format(python=sys.executable, root=str(ROOT)))
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return launcher


def _installed_package() -> Path | None:
    """Where this interpreter finds gitlock when nothing but its own site folder is asked."""
    code = "import gitlock, os; print(os.path.dirname(os.path.realpath(gitlock.__file__)))"
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd="/", check=False)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def child_environment(extra: dict[str, str | None] | None = None, *, agent: str | None = None) -> dict[str, str]:
    """The sealed environment of this moment with the tested program first on PATH.

    In ``extra``, ``None`` takes a variable out. Without ``agent``, a process is the person of the git configuration.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["PATH"] = f"{program().parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    if agent is not None:
        env["GITLOCK_AGENT"] = agent
    for name, value in (extra or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env
