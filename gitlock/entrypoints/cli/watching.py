"""``--watch``: the same answer again and again, whenever it has changed. Ctrl-C ends it.

On a terminal the screen is drawn anew, so that times go on; elsewhere (a pipe, a log) an answer is printed only when
something else than a time is different, with an empty line before it. Nothing is renewed by looking on: a window that
somebody forgot must not keep a lease alive.
"""

import os

from gitlock.entrypoints.cli.output import Answer, write, write_bytes
from gitlock.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import NoReturn

    from gitlock.entrypoints.cli.options import Given

_HOME_AND_CLEAR = b"\x1b[H\x1b[2J\x1b[3J"  # ECMA-48: the cursor to the top, everything gone; xterm: what was above too


def refuse_json(given: "Given", command: str) -> None:
    """One envelope is one answer: who reads JSON asks again."""
    if given.flag("json"):
        raise UsageError("--watch is for people; a program asks again", hint=f"git lock {command} --json")


def watch(look: "Callable[[], tuple[Answer, Hashable]]", rest: "Callable[[float], None]", every: float) -> "NoReturn":
    """Shows what ``look`` answers, with what makes one answer differ from the next but for the time. ``rest`` sleeps
    for so many seconds, or until there may be something new; ``every`` is the longest that a screen stays."""
    is_terminal = os.isatty(1)
    before: object = None
    while True:
        answer, sign = look()
        if is_terminal or sign != before:
            if is_terminal:
                write_bytes(1, _HOME_AND_CLEAR)
            elif before is not None:
                write(1, "")
            for line in answer.lines:
                write(1, line)
            for note in answer.notes:
                write(2, note)
        before = sign
        rest(every)
