"""The dependency rule of pyproject.toml holds."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT


def test_imports_point_down() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout, done.stdout
