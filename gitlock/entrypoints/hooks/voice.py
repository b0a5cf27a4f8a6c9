"""Where a hook speaks: standard error, since git gives standard output to somebody else."""

import os
import sys


def say(text: str) -> None:
    """One line to standard error, whatever its encoding can't show escaped."""
    os.write(2, (text + "\n").encode(getattr(sys.stderr, "encoding", None) or "utf-8", "backslashreplace"))
