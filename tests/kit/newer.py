"""A git with configured hooks for the tests that need one, and one without for those that are about the other way."""

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
    return str(Path(found).parent) if found is not None and _has_configured_hooks(found) else None


def path_without_configured_hooks(folder: Path) -> str:
    """A PATH whose git says that it has none; that is the git of the PATH, unless it has them."""
    found, path = shutil.which("git"), os.environ.get("PATH", os.defpath)
    if found is None or not _has_configured_hooks(found):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "git"
    program.write_text(f"#!/bin/sh\ncase \" $* \" in *' hook list '*) exit 129 ;; esac\nexec '{found}' \"$@\"\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{path}"


@functools.cache
def _has_configured_hooks(git: str) -> bool:
    return subprocess.run([git, "hook", "list", "pre-commit"], capture_output=True).returncode in (0, 1)
