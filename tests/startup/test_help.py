"""Every command explains itself, in 80 columns, whatever the terminal; and what is typed wrongly is answered with 2."""

from collections.abc import Callable

import pytest

from gitlock.entrypoints.cli.options import COMMON, Command
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import MEANINGS
from tests.kit.result import Result

Lock = Callable[..., Result]
COLUMNS = 80


def told(run_lock: Lock, *words: str) -> str:
    """A help text, which must be one: on standard output, in 80 columns, without a word on the other stream."""
    result = run_lock(*words).ok()
    assert result.raw_err == b""
    wide = [line for line in result.lines if len(line) > COLUMNS]
    assert not wide, wide
    return result.out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_tells_its_options_and_its_exit_codes(run_lock: Lock, name: str) -> None:
    command: Command = load(name)
    text = told(run_lock, name, "-h")
    flat = " ".join(text.split())
    assert flat.startswith(f"Usage: git lock {name}")
    missing = [option.names[-1] for option in command.options if option.names[-1] not in flat]
    missing += [line for line in command.examples if " ".join(line.split()) not in flat]
    missing += [str(code) for code in command.codes if " ".join(f"{code} {MEANINGS[code]}".split()) not in flat]
    assert not missing, f"not in the help of {name}: {missing}\n{text}"


@pytest.mark.parametrize("name", ["run", "who"])
def test_the_meanings_of_exit_codes_stand_below_one_another(run_lock: Lock, name: str) -> None:
    status = told(run_lock, name, "-h").partition("Exit status:\n")[2].splitlines()
    starts = {line.index(MEANINGS[code][:12]) for code in load(name).codes for line in status
              if line.split()[:1] == [str(code)]}  # fmt: skip
    continued = {len(line) - len(line.lstrip()) for line in status if line.strip() and not line.split()[0].isdigit()}
    assert len(starts) == 1 and continued <= starts


@pytest.mark.parametrize("words", [("claim", "--help"), ("claim", "x", "-h"), ("ls", "-h")])
def test_help_is_given_wherever_it_is_asked_for(run_lock: Lock, words: tuple[str, ...]) -> None:
    assert told(run_lock, *words).startswith("Usage: git lock ")


def test_the_program_lists_its_commands(run_lock: Lock) -> None:
    text = told(run_lock, "-h")
    missing = [name for name in COMMANDS if name not in HIDDEN and f"\n  {name} " not in text]
    assert not missing
    assert not [name for name in HIDDEN if f"\n  {name} " in text]


def test_the_version_is_told(run_lock: Lock) -> None:
    from gitlock import __version__

    assert told(run_lock, "--version") == f"git-lock {__version__}\n"


@pytest.mark.parametrize("columns", ["200", "40", "0", "many"])
def test_help_does_not_follow_a_pipe_s_width(run_lock: Lock, columns: str) -> None:
    wide = run_lock("claim", "-h", env={"COLUMNS": columns}).ok()
    assert all(len(line) <= COLUMNS for line in wide.lines)


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_the_command(run_lock: Lock, alias: str) -> None:
    usage = run_lock(alias, "-h").ok().lines[0]
    assert usage.startswith((f"Usage: git lock {ALIASES[alias]}", f"Usage: git lock {alias}"))


def test_every_command_has_the_common_options() -> None:
    assert all(load(name).options[-len(COMMON) :] == COMMON for name in COMMANDS)


WRONG = [
    (["clam"], "no such command 'clam'"),
    (["--nonsense"], "--nonsense"),
    (["claim", "--nonsense", "x"], "--nonsense"),
    (["claim", "--tt", "90s", "x"], "--tt"),
    (["claim", "x", "--ttl"], "--ttl"),
    (["claim", "x", "--shared=yes"], "--shared"),
    (["claim", "x", "-qx"], "-x"),
    (["list", "--color", "pink"], "pink"),
    (["list", "extra"], "extra"),
    (["who"], "PATH"),
    (["mine", "--kind", "robot"], "robot"),
]


@pytest.mark.parametrize(
    ("words", "named"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_what_is_typed_wrongly_is_named_with_a_hint(run_lock: Lock, words: list[str], named: str) -> None:
    result = run_lock(*words).ended(2)
    first, *rest = result.err.splitlines()
    assert result.out == ""
    assert first.startswith("git-lock: ") and named in first
    assert any(line.startswith("hint: git lock") for line in rest)


@pytest.mark.parametrize(
    ("words", "named"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_and_so_it_is_in_json(run_lock: Lock, words: list[str], named: str) -> None:
    envelope = run_lock(*words, "--json").ended(2).json()
    assert envelope["error"]["id"] == "bad-usage" and named in envelope["error"]["message"]
