"""One delimited block in a text file that is somebody else's: found, put in, refreshed, and taken out again.

Everything around the block stays as it is, byte for byte: line endings, a byte order mark, a missing final newline.
What is put in can be taken out without any memory of how the file was: whether it ended with a newline is told by
whether there is one behind the block.
"""

import re

from gitlock.domain.value import Value

BEGIN, END = "<!-- git-lock:begin -->", "<!-- git-lock:end -->"

_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})([^\r\n]*)")  # CommonMark 0.31, 4.5


class BadBlock(ValueError):
    """The marks do not delimit exactly one block, or the file is no text; the message says which, as a clause."""


class Block(Value):
    """Where the block is: from the first byte of its begin mark to the last of its end mark. ``newline`` is what ends
    its lines."""

    __slots__ = ("end", "newline", "start")

    def __init__(self, start: int, end: int, newline: bytes) -> None:
        self.start = start
        self.end = end
        self.newline = newline


def find_block(data: bytes) -> Block | None:
    """The block of a file, None where there is none. ``BadBlock`` for two, for one that is not closed, for one in a
    code fence, which somebody shows to others, and for what is not UTF-8. A mark counts only as a line of its own."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise BadBlock(f"it is not UTF-8 (byte {fault.start + 1})") from None
    marks = [(BEGIN.encode(), "begin"), (END.encode(), "end")]
    found = [
        (name, at, number, line)
        for number, (at, line) in enumerate(_lines(data), 1)
        for mark, name in marks
        if line.removeprefix(b"\xef\xbb\xbf" if at == 0 else b"").strip() == mark
    ]
    if not found:
        return None
    names = [name for name, *_ in found]
    places = [number for _, _, number, _ in found]
    if names == ["begin", "end"]:
        (_, first, _, opening), (_, last, _, closing) = found
        fence = _open_fence(data[:first])
        if fence:
            raise BadBlock(f"the block that begins in line {places[0]} stands in the code fence of line {fence}")
        newline = b"\r\n" if opening.endswith(b"\r\n") else b"\n"
        inner = closing.rstrip(b"\r\n \t")
        return Block(first + opening.index(BEGIN.encode()), last + len(inner), newline)
    if "end" not in names:
        raise BadBlock(f"the block that begins in line {places[0]} has no '{END}'")
    if names[0] == "end":
        raise BadBlock(f"'{END}' in line {places[0]} has no '{BEGIN}' before it")
    if names.count("begin") == names.count("end") and names == ["begin", "end"] * names.count("begin"):
        raise BadBlock(f"there are {names.count('begin')} blocks, in lines {', '.join(map(str, places[::2]))}")
    raise BadBlock(f"the marks in lines {', '.join(map(str, places))} do not delimit one block")


def put_block(data: bytes | None, text: str) -> bytes:
    """The file with this text between the marks: in place of what was there, else at its end. ``data`` is None for a
    file that is not there yet. ``BadBlock`` as ``find_block`` raises it."""
    block = None if data is None else find_block(data)
    if data is None:
        return _delimited(text, b"\n") + b"\n"
    if block is not None:
        return data[: block.start] + _delimited(text, block.newline) + data[block.end :]
    fence = _open_fence(data)
    if fence:
        raise BadBlock(f"the code fence that line {fence} opens is not closed")
    first = data.find(b"\n")
    newline = b"\r\n" if first > 0 and data[first - 1 : first] == b"\r" else b"\n"
    if not data.endswith(b"\n"):
        return data + (newline * 2 if data else b"") + _delimited(text, newline)
    return data + newline + _delimited(text, newline) + newline


def take_block(data: bytes) -> bytes | None:
    """The file as it was before ``put_block``; None where that had made it. A file without a block is returned as it
    is. ``BadBlock`` as ``find_block`` raises it."""
    block = find_block(data)
    if block is None:
        return data
    newline = block.newline
    before, after = data[: block.start], data[block.end :]
    if not after:
        return before.removesuffix(newline * 2)
    after = after.removeprefix(newline)
    if not before and not after:
        return None
    if before == newline or before.endswith(b"\n" + newline):
        before = before.removesuffix(newline)
    return before + after


def _delimited(text: str, newline: bytes) -> bytes:
    lines = [BEGIN, *text.strip("\n").split("\n"), END]
    return newline.join(line.encode() for line in lines)


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    """Each line with its ending, and where it begins. Only a line feed ends one."""
    lines = []
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        lines.append((at, data[at:end]))
        at = end
    return lines


def _open_fence(data: bytes) -> int:
    """The line that opens a code fence which is not closed at the end; 0 where none is open."""
    opened, fence = 0, b""
    for number, (_, line) in enumerate(_lines(data), 1):
        found = _FENCE.match(line)
        if found is None:
            continue
        marks, words = found.groups()
        if not opened and not (marks.startswith(b"`") and b"`" in words):
            opened, fence = number, marks
        elif opened and marks.startswith(fence) and not words.strip():
            opened = 0
    return opened
