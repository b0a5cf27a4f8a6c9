"""The manual page is what its generator makes, speaks of all that there is, and can be read everywhere."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from docs.generate.man import PAGE, page
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import COMMANDS, HIDDEN
from tests.architecture.source import ROOT, modules

COLUMNS = 80

# What programs of ours say to one another; nobody sets these by hand.
INTERNAL = {"GITLOCK_GIT_PID", "GITLOCK_PROBE"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as `man` shows it at 80 columns, as plain text. Fails for anything that its formatter complains of."""
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    done = subprocess.run(
        ["man", "--warnings", "-l", str(PAGE)],
        capture_output=True,
        cwd=tmp_path_factory.mktemp("man"),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": str(COLUMNS), "MANPAGER": "cat"},
        check=True,
    )
    assert done.stderr.decode() == ""
    return re.sub(".\b|\x1b\\[[0-9;]*m", "", done.stdout.decode())


def test_the_page_is_what_its_generator_makes() -> None:
    assert PAGE.read_text() == page(), "make docs"


def test_no_line_is_wider_than_a_terminal(shown: str) -> None:
    assert [line for line in shown.splitlines() if len(line) > COLUMNS] == []


def test_the_page_has_the_sections_that_one_looks_for(shown: str) -> None:
    headings = [line for line in shown.splitlines() if re.fullmatch("[A-Z ]+", line)]
    assert headings == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "CLAIMS", "WHO IS ASKING", "ENVIRONMENT",
        "CONFIGURATION", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in HIDDEN])
def test_the_page_has_every_command_with_its_options(shown: str, name: str) -> None:
    part = shown.partition(f"\n   git lock {name} ")[2].partition("\n   git lock ")[0]
    common = shown.partition("\nOPTIONS")[2].partition("\nCOMMANDS")[0]
    assert part and all(option.names[-1] in part + common for option in load(name).options)


def test_no_example_is_broken_over_two_lines(shown: str) -> None:
    examples = [example for name in COMMANDS if name not in HIDDEN for example in load(name).examples]
    assert [example for example in examples if example not in shown] == []


def test_the_page_has_every_variable_that_is_read(shown: str) -> None:
    texts = [(ROOT / name).read_text() for name in modules("gitlock")]
    read = {name for text in texts for name in re.findall(r"\bGITLOCK_[A-Z_]+\b", text)}
    environment = shown.partition("\nENVIRONMENT")[2].partition("\nCONFIGURATION")[0]
    assert {name for name in read - INTERNAL if name not in environment} == set()


def test_the_page_has_every_setting_that_is_read(shown: str) -> None:
    texts = [(ROOT / name).read_text() for name in modules("gitlock")]
    read = {name for text in texts for name in re.findall(r'"gitlock\.([a-z]+)"', text)}
    settings = shown.partition("\nCONFIGURATION")[2].partition("\nFILES")[0].lower()
    assert {name for name in read if f"gitlock.{name}" not in settings} == set()


def test_the_other_formatter_finds_no_fault_either(tmp_path: Path) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    copy = tmp_path / PAGE.name
    copy.write_bytes(PAGE.read_bytes())
    done = subprocess.run(["mandoc", "-Tlint", str(copy)], capture_output=True, text=True, check=False)
    assert done.stdout == ""
