"""A git with configured hooks, for the tests that need one."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

REASON = "no git with configured hooks (2.54 and later) is here: name its folder in TEST_GIT_NEW"


@functools.cache
def newer_git() -> str | None:
    """The folder of one: what TEST_GIT_NEW names (a folder, or the program), else the git on the PATH if it is one."""
    named = os.environ.get("TEST_GIT_NEW")
    if named:
        return str(Path(named).parent if Path(named).is_file() else Path(named))
    found = shutil.which("git")
    if found is None:
        return None
    known = subprocess.run([found, "hook", "list", "pre-commit"], capture_output=True).returncode in (0, 1)
    return str(Path(found).parent) if known else None
