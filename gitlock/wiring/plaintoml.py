"""TOML as nearly every map file is written, read without ``tomllib``, whose loading takes as long as a whole hook.

One setting a line: ``[table]``, ``[[list]]``, ``name = value`` with a plain string, a whole number, true or false, or a
list of plain strings; comments. Whatever else there is, a fault above all, is left to ``tomllib``: where this reads a
text, both say the same.
"""

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_DIGITS = 18  # of a number


def read_plain(text: str) -> "dict[str, object] | None":
    """The document, or None where it is not as plain as that."""
    document: dict[str, object] = {}
    lists: dict[str, list[object]] = {}
    table: dict[str, object] = document
    for row in text.split("\n"):
        line = row.strip(" \t")
        if not (line.isascii() and line.replace("\t", " ").isprintable()):
            return None
        if not line or line[0] == "#":
            continue
        if line[0] != "[":
            if not _set(table, line):
                return None
            continue
        double = line.startswith("[[")
        name, end, rest = line[1 + double :].partition("]" * (1 + double))
        name = name.strip(" \t")
        if not end or not name or not _NAME.issuperset(name) or not _is_over(rest):
            return None
        if name in document and not (double and name in lists):
            return None
        table = {}
        if double:
            document[name] = lists.setdefault(name, [])
            lists[name].append(table)
        else:
            document[name] = table
    return document


def _set(table: "dict[str, object]", line: str) -> bool:
    name, sign, rest = line.partition("=")
    name = name.strip(" \t")
    if not sign or not name or not _NAME.issuperset(name) or name in table:
        return False
    rest = rest.strip(" \t")
    if rest[:1] == "[":
        found: list[str] = []
        rest = rest[1:].lstrip(" \t")
        while rest[:1] != "]":
            text, rest = _string(rest)
            if text is None:
                return False
            found.append(text)
            rest = rest.lstrip(" \t")
            if rest[:1] == ",":
                rest = rest[1:].lstrip(" \t")
            elif rest[:1] != "]":
                return False
        table[name] = found
        return _is_over(rest[1:])
    if rest[:1] in ("'", '"'):
        table[name], rest = _string(rest)
        return table[name] is not None and _is_over(rest)
    word = rest.partition("#")[0].rstrip(" \t")
    if word in ("true", "false"):
        table[name] = word == "true"
    elif word.isdigit() and len(word) <= _DIGITS and (word == "0" or word[0] != "0"):
        table[name] = int(word)
    else:
        return False
    return True


def _string(rest: str) -> "tuple[str | None, str]":
    """The plain string that a text begins with, and what comes behind it."""
    quote = rest[:1]
    end = rest.find(quote, 1) if quote in ("'", '"') and quote else -1
    text = rest[1:end]
    if end < 0 or (quote == '"' and "\\" in text) or rest.startswith(quote * 3):
        return None, ""
    return text, rest[end + 1 :]


def _is_over(rest: str) -> bool:
    rest = rest.strip(" \t")
    return not rest or rest[0] == "#"
