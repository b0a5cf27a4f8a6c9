"""Text that is meant to do harm: strategies, a corpus, and what an answer to it may look like."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st

from gitlock.entrypoints.wording import visible

CORPUS = Path(__file__).parent / "corpus"
CPU_SECONDS = 5.0  # of one example: hundreds of times what it takes; only work that grows without bound gets there


def corpus(name: str) -> list[str]:
    """The lines of a file, in Python's escapes: ``\\x1b``, ``\\u202e``, ``\\udcff`` for a byte that is not UTF-8. Lines
    that begin with ``#`` tell what follows."""
    rows = (CORPUS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    texts = [row for row in rows if row and row[:1] != "#"]
    return [text.encode("latin-1", "backslashreplace").decode("unicode_escape") for text in texts]


@contextmanager
def bounded() -> Iterator[None]:
    """What runs inside may take so much processor time (whatever else the machine is doing)."""

    def too_much(*_: object) -> None:
        raise AssertionError(f"took more than {CPU_SECONDS:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, too_much)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# Pieces that mean something somewhere, and letters between them.
PIECES = st.sampled_from([
    "a", "b", "src", "login.py", "é", "日本", "e\u0301", "\U0001f600", "*", "**", "?", "[", "]", "[a-z]", "[!a]",
    "[^a]", "[z-a]", "[a-", "[]]", "[[:alpha:]]", "!", "\\", "\\*", "/", "//", "./", "../", "..", ".", "~", "$HOME",
    "{", "}", ",", "{a,b}", ":", "::", "path:", "file:", "glob:", "key:", ":(", ":(glob)", ":(exclude)",
    ":(top,literal)", ":(icase", ":/", "deploy:x", ".git", ".git/config", ".GIT", "-", "--", "-rf", " ", "\t", "\n",
    "\r", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\udcff", "\ud800", "%s", "'", '"', "`",
    "$(x)", ";", "|", "#", "@{u}", ".lock", "a" * 300, "*a" * 40, "../" * 40,
])  # fmt: skip

pieced = st.lists(PIECES, max_size=12).map("".join)
any_text = st.one_of(pieced, st.text(st.characters(), max_size=60), st.sampled_from(corpus("names")))
# What a process may be given: no NUL, and every byte sequence as Python decodes it.
arguments = any_text.map(lambda text: os.fsdecode(text.replace("\0", "").encode("utf-8", "surrogatepass")))


def printable(data: bytes) -> bool:
    """Whether a terminal would only show it: UTF-8, no control character but the newline, nothing invisible."""
    return all(char == "\n" or char.isprintable() for char in data.decode("utf-8"))


def assert_speakable(error: Exception) -> None:
    """An error of ours can be shown, and fits a screen."""
    assert visible(str(error)).isprintable()
    assert len(str(error)) < 10_000
