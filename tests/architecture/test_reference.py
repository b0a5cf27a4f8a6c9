"""docs/cli.md and docs/exit-codes.md say what the commands declare."""

import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

GENERATOR = ROOT / "docs" / "generate" / "reference.py"


def test_the_reference_is_what_the_commands_declare() -> None:
    check = [sys.executable, str(GENERATOR), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["cli.md", "exit-codes.md"])
def test_a_page_that_was_changed_by_hand_is_seen(page: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("docs") / "docs"
    (copy / "generate").mkdir(parents=True)
    (copy / "generate" / GENERATOR.name).write_bytes(GENERATOR.read_bytes())
    for name in ("cli.md", "exit-codes.md"):
        text = (ROOT / "docs" / name).read_text()
        (copy / name).write_text(text + "more\n" if name == page else text)
    check = [sys.executable, str(copy / "generate" / GENERATOR.name), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, cwd=copy)
    assert done.returncode == 1
    assert page in done.stderr
