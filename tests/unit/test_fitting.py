"""Lines at a terminal, and elsewhere."""

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitlock.entrypoints.cli.fitting import fitted

LONG = "edits that are checked before they happen: " + ", ".join(f"claude-{n:08}" for n in range(9))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    yield slave
    os.close(slave)
    os.close(master)


def test_at_a_terminal_no_line_is_wider_than_it(terminal: int) -> None:
    lines = fitted([LONG, "short"], terminal)
    assert max(map(len, lines)) <= 80 and " ".join(map(str.strip, lines)) == f"{LONG} short"


def test_elsewhere_a_line_stays_a_line(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        assert fitted([LONG], log.fileno()) == [LONG]


def test_a_command_is_never_broken(terminal: int) -> None:
    command = f"git lock claim --wait {' '.join(f'src/part-{n}.py' for n in range(12))}"
    lines = fitted([f"hint: to wait for it, as long as it takes: {command} (or do other work first)"], terminal)
    assert any(command in line for line in lines)


def test_of_two_commands_each_stays_whole(terminal: int) -> None:
    first, second = "git lock setup claude --user", "git lock setup claude --shared"
    lines = fitted([f"hint: {first} (for you alone), or {second} (for all, to be committed)"], terminal)
    assert len(lines) == 2 and all(any(one in line for line in lines) for one in (first, second))
