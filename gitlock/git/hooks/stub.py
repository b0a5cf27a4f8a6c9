"""Our hook file as bytes: made from its template, and told from everything else that may lie in a hooks folder.

A stub carries the SHA-256 of the rest of itself in its second line. So a stub of any version of git-lock is known as
untouched without a record of what was written where, and one that somebody has edited is known as edited.
"""

import hashlib
import os
import re

GATES = ("pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-push")  # the hooks of ours that can refuse

MARKER = b"# git-lock stub v1 "
BEFORE = ".before-git-lock"  # ends the name of the hook that was there before
_NEW = b"@DIGEST@"


def render(template: str, values: dict[str, str]) -> bytes:
    """The template with every ``@NAME@`` replaced by its value as one quoted word of sh."""

    def word(found: "re.Match[bytes]") -> bytes:
        return found[0] if found[0] == _NEW else quote(values[found[1].decode()])

    text = re.sub(rb"@([A-Z]+)@", word, template.encode())
    return text.replace(_NEW, _digest(text.replace(_NEW, b"", 1)), 1)


def quote(text: str) -> bytes:
    """One word of sh, whatever is in the text (a path may hold quotes, newlines, bytes that are no UTF-8)."""
    return b"'" + os.fsencode(text).replace(b"'", b"'\\''") + b"'"


def provenance(data: bytes) -> str:
    """``pristine``: a stub as git-lock wrote it; ``edited``: it was one; empty: anything else."""
    lines = data.split(b"\n", 2)
    if len(lines) < 3 or not lines[1].startswith(MARKER):
        return ""
    blank = b"\n".join((lines[0], MARKER, lines[2]))
    return "pristine" if lines[1][len(MARKER) :] == _digest(blank) else "edited"


def calls_us(data: bytes, hook: str) -> bool:
    """Whether somebody's own script has a line that runs ``git-lock hook <hook>``."""
    call = rb"(?m)^(?!\s*#).*\bgit[- ]lock\s+hook\s+['\"]?" + re.escape(hook).encode() + rb"(?![-\w])"
    return re.search(call, data) is not None


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
