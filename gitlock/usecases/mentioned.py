"""Does a program's settings mention us at all? A look at the text of some files, for those who are in a hurry.

What the files really say, and whether it works, is for ``git lock doctor``.
"""

import os

from gitlock.domain.programs import PROGRAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitlock.domain.programs import Place, Program

LIMIT = 1 << 20  # bytes of a settings file that are looked at

_WORDS = (b"agent-hook", b'"git-lock@')  # our command, or our plugin as Claude Code's settings name it


def is_mentioned(program: "Program", top: str, environ: "Mapping[str, str]") -> bool:
    """Whether one of the program's own settings files has our command in it, or names our plugin."""
    return any(_mentions(path) for path in settings_files(program, top, environ))


def settings_files(program: "Program", top: str, environ: "Mapping[str, str]") -> "Iterator[str]":
    """The files that the program reads its hooks from in this worktree, whether they are there or not."""
    for one in (program, *(PROGRAMS[name] for name in program.reads)):
        for place in (one.private, one.project):
            if place is not None:
                yield os.path.join(top, place.path)
    user = user_file(program.user, environ)
    if user is not None:
        yield user


def user_file(place: "Place", environ: "Mapping[str, str]") -> str | None:
    """The person's own settings file; None where there is no home."""
    moved = environ.get(place.variable) if place.variable else None
    if moved:
        return os.path.join(moved, place.path.removeprefix(place.moves).lstrip("/"))
    home = environ.get("HOME")
    return os.path.join(home, place.path) if home else None


def _mentions(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        data = os.read(fd, LIMIT)
    except OSError:
        return False
    finally:
        os.close(fd)
    return any(word in data for word in _WORDS)
