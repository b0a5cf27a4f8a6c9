"""Lines for where they go: a terminal has a width, a pipe or a log has none."""

import os
import re

_COMMAND = re.compile(r"\bgit lock [^;(),]*[^;(), ]")
_JOINT = "\x1f"  # stands for a blank where no line may end; no shown text has it


def fitted(lines: list[str], fd: int) -> list[str]:
    """The lines for a descriptor: on a terminal those that are wider than it are broken between words, but never
    within a command, which is to be copied; elsewhere (a pipe, a log) a line stays a line."""
    if not os.isatty(fd):
        return lines
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((80, 24)).columns)
    found: list[str] = []
    for line in lines:
        if len(line) <= width:
            found.append(line)
            continue
        joined = _COMMAND.sub(lambda match: match[0].replace(" ", _JOINT), line)
        lead = " " * (len(line) - len(line.lstrip(" ")) + 2)
        rows = textwrap.wrap(
            joined, width, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        found += [row.replace(_JOINT, " ") for row in rows]
    return found
