"""Set-up commands of a repository run only once a person has approved exactly these (``git lock trust``).

What is approved is named by a digest over the commands, the content of the repository's files that they name as words,
and the clone. One byte of either changed, and it is another one, that nobody has approved. What those files call in
turn is not part of it. Where the repository comes from is shown, and never what trust goes by: an address is easily
borrowed.
"""

import os

from gitlock.digest import sha256_hex
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git
    from gitlock.stores.files.trusted import TrustBook


class Setup(Value):
    """The commands to be run in a new worktree, in order. ``files`` are the repository's files that they name, as
    (path, blob). ``trusted`` says that a person has approved this exact content."""

    __slots__ = ("commands", "digest", "files", "trusted")

    def __init__(
        self, commands: tuple[str, ...], files: tuple[tuple[str, str], ...], digest: str, *, trusted: bool
    ) -> None:
        self.commands = commands
        self.files = files
        self.digest = digest
        self.trusted = trusted


def setup_commands(
    git: "Git", commands: "tuple[str, ...] | list[str]", base: str, common_dir: str, book: "TrustBook"
) -> Setup:
    """The set-up that the map file of the commit ``base`` asks for, and whether it may run in this clone."""
    files = _named_files(git, commands, base)
    # Every part with its length before it: no two different lists are the same text.
    parts = ["gitlock-trust 1", os.path.realpath(common_dir), str(len(commands)), *commands]
    parts += [part for pair in files for part in pair]
    encoded = [os.fsencode(part) for part in parts]
    digest = sha256_hex(b"".join(b"%d:%b," % (len(part), part) for part in encoded))
    return Setup(tuple(commands), files, digest, trusted=bool(commands) and book.find(digest) is not None)


def _named_files(git: "Git", commands: "tuple[str, ...] | list[str]", base: str) -> tuple[tuple[str, str], ...]:
    """The files of the commit that are words of the commands; links in it are followed to what they lead to."""
    words = sorted({path for command in commands for word in _words(command) if (path := _as_path(word))})
    if not words:
        return ()
    lines = b"".join(os.fsencode(f"{base}:{path}") + b"\n" for path in words)
    out = git.feed("cat-file", "--batch-check=%(objecttype) %(objectname)", "--follow-symlinks", stdin=lines)
    found = []
    answers = iter(os.fsdecode(out).split("\n"))
    for path in words:
        kind, _, name = next(answers).partition(" ")
        if kind in ("dangling", "loop", "symlink", "notdir"):
            next(answers)  # the rest of what git has to say about a link that leads to nothing here
        elif kind == "blob":
            found.append((path, name))
    return tuple(found)


def _words(command: str) -> list[str]:
    import shlex

    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
        return [*words, *shlex.split(command)]
    except ValueError:  # a quote without its fellow: the shell will say so
        return command.split()


def _as_path(word: str) -> str:
    """The word as a path below the top; empty where it can't be one. Commands run at the top."""
    path = os.path.normpath(word) if word and "\0" not in word and "\n" not in word else ""
    return "" if path in ("", ".") or path.startswith(("/", "../")) or path == ".." else path
