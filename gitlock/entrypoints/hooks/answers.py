"""What the stub asked git while Python was starting; the answers come on standard input.

For pre-push what git told it; settings, map file and (for pre-commit) staged changes: in this order, each followed by
``=<status>`` and a NUL. Whatever is not exactly
as expected (a stub that asks for other settings, a git that failed, an answer that was cut short) counts as not asked:
then we ask git ourselves, and hear what it has to say about its failure.
"""

import os

from gitlock.errors import RepositoryError
from gitlock.git.process import Known

ASKED = "--asked"  # the stub has asked; which settings for, is the next word


class Answers:
    """What is known already; None for what has to be asked."""

    __slots__ = ("config", "map_file", "pushed", "staged")

    def __init__(
        self,
        config: Known | None = None,
        map_file: Known | None = None,
        staged: Known | None = None,
        pushed: bytes | None = None,
    ) -> None:
        self.config = config
        self.map_file = map_file
        self.staged = staged
        self.pushed = pushed


def read_answers(hook: str) -> Answers:
    """The answers on standard input, read to its end."""
    return parse_answers(hook, _read_all())


def read_input() -> bytes:
    """What git wrote to this hook. Nothing where nobody writes: at a terminal, or with standard input closed."""
    try:
        found = b"" if os.isatty(0) else _read_all()
    except OSError:
        return b""
    return found if found.strip() else b""  # a shell that hands nothing on may write an empty line


def _read_all() -> bytes:
    parts = []
    while chunk := os.read(0, 1 << 18):
        parts.append(chunk)
    return b"".join(parts)


def parse_answers(hook: str, data: bytes) -> Answers:
    """The answers that were read; ``RepositoryError`` where it is not known what is pushed."""
    if hook == "pre-push":
        pushed, nul, data = data.partition(b"\0")  # lines of git's hold no NUL
        if not nul or pushed[-2:] != b"=0":
            raise RepositoryError("what is pushed could not be read", hint="git push (once more)", id="not-read")
        found = parse_answers("", data)
        found.pushed = pushed[:-2]
        return found
    # Settings are "name, newline, value, NUL": no name begins with "=", so the first that seems to is the status.
    config, mark, rest = (b"\0" + data).partition(b"\0=")
    status, nul, rest = rest.partition(b"\0")
    if not mark or not nul or status not in (b"0", b"1"):
        return Answers()
    settings = Known(int(status), config[1:] + b"\0" if len(config) > 1 else b"")
    if hook != "pre-commit":
        return Answers(settings, _ended(rest))
    end = rest.find(b"=0\0")  # a map file may hold this as well: then its own end tells
    while end >= 0:
        map_file = rest[:end]
        if _is_whole(map_file):
            staged = _ended(rest[end + 3 :])
            if staged is None or staged.finish()[1].count(b"\0") % 2:  # letter and name: a file may be called "=0"
                return Answers()
            return Answers(settings, Known(0, map_file), staged)
        end = rest.find(b"=0\0", end + 1)
    return Answers()


def _ended(data: bytes) -> Known | None:
    """An answer that ends with a good status."""
    return Known(0, data[:-3]) if data.endswith(b"=0\0") else None


def _is_whole(data: bytes) -> bool:
    """Whether these are the two answers of ``cat-file --batch``, neither cut short."""
    for _ in range(2):
        head, newline, data = data.partition(b"\n")
        words = head.split(b" ")
        if len(words) == 3 and words[1] == b"blob" and words[2].isdigit():
            size = int(words[2])
            if data[size : size + 1] != b"\n":
                return False
            data = data[size + 1 :]
        elif not newline:
            return False
    return not data


def map_entry(out: bytes) -> tuple[bytes | None, bytes]:
    """One answer of ``cat-file --batch``: the blob (None where there is none) and what follows it."""
    head, _, rest = out.partition(b"\n")
    words = head.split(b" ")
    if len(words) == 3 and words[1] == b"blob" and words[2].isdigit():
        size = int(words[2])
        return rest[:size], rest[size + 1 :]
    if head.endswith((b" missing", b" ambiguous")) or len(words) == 3:
        return None, rest
    raise RepositoryError("git's answer about the map file is not understood", id="git-failed")
