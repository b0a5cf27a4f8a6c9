"""Names of agents and branches as names of files: harmless, readable, and never the same for two of them."""

from gitlock.digest import sha256_hex

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_DEVICES = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))))

SHOWN = 60  # characters of a name that stay; every file system takes 255 bytes with what is added


def file_name(text: str) -> str:
    """The name as it is where it is plain, else what is plain of it, ``~`` and a part of its SHA-256.

    ``~`` is in no plain name, and capital letters are not plain: names that differ in case alone get different files,
    also where the file system folds case. Never a folder, hidden, a device of Windows, or longer than 80 characters.
    """
    plain = 0 < len(text) <= SHOWN and text[0].isalnum() and text[-1] != "." and _PLAIN.issuperset(text)
    if plain and text.partition(".")[0] not in _DEVICES:
        return text
    shown = "".join(c if c in _PLAIN else "_" for c in text.lower()[:SHOWN]).strip(".-")
    return f"{shown or '_'}~{sha256_hex(text.encode('utf-8', 'surrogateescape'))[:16]}"
