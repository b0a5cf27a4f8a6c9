"""Finding a declared command, and answering it: whatever stops us is said in a line and a hint."""

import os

from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer, deliver, deliver_error, interrupted
from gitlock.entrypoints.cli.table import COMMANDS
from gitlock.errors import GitlockError, Interrupted


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
        return deliver(interrupted(stopped.number), given)
    except OSError as error:
        place = f": '{os.fsdecode(error.filename)}'" if isinstance(error.filename, (str, bytes)) else ""
        stopped_by = GitlockError(f"{error.strerror or error}{place}")
        try:
            return deliver_error(stopped_by, as_json=given.flag("json"))
        except OSError:  # a full disk behind standard output: the other stream may still be read
            return deliver_error(stopped_by, as_json=False)
