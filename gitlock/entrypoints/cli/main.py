"""``git lock …``: finds the command, reads its options (plainly, or by click), and delivers its answer."""

import os

from gitlock.entrypoints.cli.options import Command, Given, parted, read_plainly
from gitlock.entrypoints.cli.output import Answer, deliver, deliver_error, write
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS
from gitlock.errors import GitlockError, Interrupted, UsageError


def main(words: list[str]) -> int:
    """Runs one command and returns its exit code."""
    try:
        return _read_and_run(words)
    except UsageError as error:
        return deliver_error(error, as_json="--json" in words)


def _read_and_run(words: list[str]) -> int:
    if not words or words[0][:1] == "-":
        overview = load("overview")
        given = read_plainly(overview, words)
        if given is not None:
            return run(overview, given)
    name = ALIASES.get(words[0], words[0])
    if name in COMMANDS:
        command = load(name)
        own, rest = parted(command, words[1:])
        given = read_plainly(command, own)
        if given is not None:
            return run(command, given.replace(rest=rest))
    from gitlock.entrypoints.cli.clicking import run_by_click

    return run_by_click(words)


def load(name: str) -> Command:
    """The declared command of that name."""
    module, attribute, _ = COMMANDS[name]
    found = getattr(__import__(module, fromlist=[attribute]), attribute)
    assert isinstance(found, Command)
    return found


def run(command: Command, given: Given) -> int:
    """Answers one command. Whatever stops us is said in a line and a hint: a traceback is a bug."""
    try:
        answer = command.answer(given)
        assert isinstance(answer, Answer)
        return deliver(answer, given)
    except GitlockError as error:
        return deliver_error(error, as_json=given.flag("json"))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on: not our fault, and not worth a word
        return 141
    except KeyboardInterrupt:
        return 130
    except Interrupted as stopped:
        return 128 + stopped.number
    except OSError as error:
        write(2, f"git-lock: {error.strerror or error}" + (f": '{error.filename}'" if error.filename else ""))
        return 1
