"""Adds lines to a YAML file without a YAML library, where that can be done safely; every other byte stays.

Only block style with plain keys is read: enough to find one chain of keys, each alone on its line. Whatever is not
plainly that is refused (``ValueError`` with the reason), and the person is shown the lines instead.
"""

import re

_TOP = re.compile(r"(?:([\"']?)[\w.-]+\1\s*:(?:\s|$)|-(?:\s|$)|#|$)")


def insert(data: bytes, keys: tuple[str, ...], lines: tuple[str, ...], marks: tuple[str, str]) -> tuple[bytes, bytes]:
    """The file with ``lines`` under ``keys``, between the two marks; and the inserted bytes alone.

    They come first under the last key that is there; the keys that are not there are added with them.
    """
    rows, end = _rows(data)
    low, high, indent, depth = 0, len(rows), 0, 0
    listed = False
    for key in keys:
        at = _header(rows, low, high, indent, key)
        if at is None:
            break
        if listed:
            raise ValueError(f"what is above '{key}' is a list")
        low, high, indent, listed = _children(rows, at, high, indent)
        depth += 1
    missing = keys[depth:]
    item = lines[0].startswith("- ")
    if depth and _has_children(rows, low, high) and listed != (item and not missing):
        raise ValueError(f"what is under '{keys[depth - 1]}' is not of the expected form")
    new = [marks[0], *(" " * 2 * number + f"{key}:" for number, key in enumerate(missing))]
    new += [" " * 2 * len(missing) + line for line in lines] + [marks[1]]
    text = "".join(" " * indent + row + end for row in new).encode()
    if depth:
        place = len("".join(row + end for row in rows[:low]).encode())
        return data[:place] + text + data[place:], text
    if data and not data.endswith(end.encode()):
        text = end.encode() + text[: -len(end)]  # the file has no newline at its end, and goes on having none
    return data + text, text


def _rows(data: bytes) -> tuple[list[str], str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    end = "\r\n" if "\r\n" in text else "\n"
    rows = text.split(end)
    begun = False
    for row in rows:
        if "\r" in row or "\n" in row:
            raise ValueError("its lines end in more than one way")
        if "\t" in row[: len(row) - len(row.lstrip())]:
            raise ValueError("it is indented with tabs")
        if row == "---" and not begun:
            continue
        if not row.startswith(" ") and not _TOP.match(row):
            raise ValueError(f"its line {row[:40]!r} is not of the plain form that can be read without doubt")
        begun = begun or _says_something(row)
    return rows, end


def _says_something(row: str) -> bool:
    text = row.strip()
    return bool(text) and not text.startswith("#")


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _header(rows: list[str], low: int, high: int, indent: int, key: str) -> int | None:
    """The line of a key among the children of one mapping; it must stand alone on its line."""
    name = re.compile(rf"([\"']?){re.escape(key)}\1\s*:(?=\s|$)(.*)")
    found = [
        (number, match)
        for number in range(low, high)
        if _indent(rows[number]) == indent and (match := name.match(rows[number][indent:]))
    ]
    if not found:
        return None
    if len(found) > 1:
        raise ValueError(f"'{key}' is there more than once")
    number, match = found[0]
    rest = match[2].strip()
    if rest and not rest.startswith("#"):
        raise ValueError(f"'{key}' has its value on the same line")
    return number


def _children(rows: list[str], at: int, high: int, indent: int) -> tuple[int, int, int, bool]:
    """Where the children of the key on line ``at`` begin and end, how far they are indented, and whether a list."""
    low = at + 1
    below = low
    first: str | None = None
    for number in range(low, high):
        row = rows[number]
        if not _says_something(row):
            continue
        deep = _indent(row) > indent or (_indent(row) == indent and row.lstrip().startswith("- "))
        if not deep:
            break
        first = first if first is not None else row
        below = number + 1
    if first is None:
        return low, low, indent + 2, False
    return low, below, _indent(first), first.lstrip().startswith("- ")


def _has_children(rows: list[str], low: int, high: int) -> bool:
    return any(_says_something(row) for row in rows[low:high])
