"""What a process answered."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Result:
    """Exit code and both streams of a process that has ended.

    ``out`` and ``err`` are text (bytes that are not UTF-8 as surrogates); ``raw_out`` and ``raw_err`` are the bytes.
    A negative code is the signal that ended it.
    """

    def __init__(self, argv: Sequence[str], code: int, out: bytes, err: bytes, cwd: Path | None = None) -> None:
        self.argv = tuple(argv)
        self.code = code
        self.raw_out = out
        self.raw_err = err
        self.cwd = cwd

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.raw_out.decode("utf-8", "surrogateescape")

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self.raw_err.decode("utf-8", "surrogateescape")

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.out.splitlines()

    def ok(self) -> "Result":
        """Asserts that it ended with 0; shows everything if not."""
        return self.ended(0)

    def ended(self, code: int) -> "Result":
        """Asserts that it ended with this code; shows everything if not."""
        assert self.code == code, f"expected exit code {code}\n{self!r}"
        return self

    def json(self) -> Any:
        """The JSON document that is all of standard output."""
        try:
            return json.loads(self.raw_out)
        except ValueError as fault:
            raise AssertionError(f"standard output is not one JSON document: {fault}\n{self!r}") from fault

    def __repr__(self) -> str:
        words = shlex.join(self.argv)
        parts = [f"$ {words}   → {self.code}" + (f"   (in {self.cwd})" if self.cwd else "")]
        for name, text in (("out", self.out), ("err", self.err)):
            parts += [f"  {name}| {line}" for line in text.splitlines()] or [f"  {name}| (nothing)"]
        return "\n".join(parts)
