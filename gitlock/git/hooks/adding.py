"""Adds our lines to a hook manager's own files, and takes exactly them out again.

All files or none; links and what can't be read without doubt are refused; every other byte stays as it was. What was
added is kept in the record, word for word, so that ``uninstall`` takes out what this clone has added and nothing that
the project has.
"""

import os
import re
import stat

from gitlock.domain.value import Value
from gitlock.errors import UnsafeError
from gitlock.git.hooks.disk import FRESH, Guard, Record, unlink, unwritable, write_fresh
from gitlock.git.hooks.managers import read_script
from gitlock.git.hooks.native import MARKS, Addition
from gitlock.git.hooks.stub import calls_us
from gitlock.git.hooks.yamltext import insert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.repository import Repository

_SHELL = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?(?:\S*/)?)?(?:sh|bash|dash|ash|ksh|mksh|zsh)(?:\s|$)")
_MOST = 1 << 18  # bytes; what is longer is no hook and no configuration of hooks
_GONE = "changed since our lines were added: take them out by hand, from '# git-lock: begin' to '# git-lock: end'"


class Added(Value):
    """Which files have our lines now, and which had them, or a line of their own that asks us, already."""

    __slots__ = ("unchanged", "written")

    def __init__(self, written: tuple[str, ...], unchanged: tuple[str, ...]) -> None:
        self.written = written
        self.unchanged = unchanged


def add(repository: "Repository", wanted: tuple[Addition, ...], store: str, mode: int, *, bare_script: bool) -> Added:
    """Writes them. ``bare_script``: the manager runs its scripts by ``sh``, so that they need no first line."""
    unchanged: list[str] = []
    new: dict[str, bytes] = {}
    texts: dict[str, list[bytes]] = {}
    for one in wanted:
        data = new[one.path] if one.path in new else _read(one.path)
        if data is not None and _is_there(data, one):
            unchanged.append(one.path)
            continue
        after, text = _after(one, data, bare_script=bare_script)
        new[one.path] = after
        texts.setdefault(one.path, []).append(text)
    try:
        with Guard(repository.common_dir):
            record = Record(store)
            for path in new:
                made = not os.path.lexists(path)
                record.added.setdefault(path, {"made": made, "texts": []})
                record.added[path]["texts"] += [text.decode("utf-8", "surrogateescape") for text in texts[path]]
            if new:
                record.write(mode)
            for path, data in new.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                access = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else _mode_of_new(path)
                write_fresh(path, data, access)
                os.rename(path + FRESH, path)
    except OSError as fault:
        raise unwritable(os.path.dirname(next(iter(new), "")), fault) from fault
    return Added(tuple(new), tuple(path for path in dict.fromkeys(unchanged) if path not in new))


def take_out(record: Record) -> tuple[list[str], list[tuple[str, str]]]:
    """Takes out what this clone has added; the files that are as before, and those that can't be made so, and why."""
    done: list[str] = []
    left: list[tuple[str, str]] = []
    for path, entry in list(record.added.items()):
        unlink(path + FRESH)
        data = _plain(path)
        texts = [text.encode("utf-8", "surrogateescape") for text in entry["texts"]]
        kept = [text for text in texts if data is not None and text in data]
        rest = data
        for text in kept:
            if rest is not None and rest.count(text) == 1:
                rest = rest.replace(text, b"")
        if data is not None and rest is not None and rest != data:
            if entry["made"] and rest in (b"", b"#!/bin/sh\n"):
                os.unlink(path)
            else:
                write_fresh(path, rest, stat.S_IMODE(os.stat(path).st_mode))
                os.rename(path + FRESH, path)
            done.append(path)
        if rest is not None and MARKS[0].encode() in rest:
            left.append((path, _GONE))
        del record.added[path]
    return done, left


def _is_there(data: bytes, one: Addition) -> bool:
    return all(calls_us(data, hook) for hook in one.hooks)


def _after(one: Addition, data: bytes | None, *, bare_script: bool) -> tuple[bytes, bytes]:
    """The file with our lines, and our lines alone."""
    if one.keys:
        try:
            return insert(data or b"", one.keys, one.lines, MARKS)
        except ValueError as reason:
            raise _refused(one.path, str(reason)) from None
    text = "".join(f"{line}\n" for line in (MARKS[0], *one.lines, MARKS[1])).encode()
    if data is None:
        return b"#!/bin/sh\n" + text, text
    first, newline, rest = data.partition(b"\n")
    if first.endswith(b"\r") or b"\0" in data:
        raise _refused(one.path, "it is no shell script with plain line ends")
    if not first.startswith(b"#!"):
        if not bare_script:
            raise _refused(one.path, "it has no first line that names a shell")
        return text + data, text
    if not _SHELL.match(first):
        raise _refused(one.path, "it is no shell script")
    if not bare_script and not os.access(one.path, os.X_OK):
        raise _refused(one.path, "it is not executable, so that git passes over it")
    if not newline:
        text = b"\n" + text[:-1]
    return first + newline + text + rest, text


def _read(path: str) -> bytes | None:
    """The file's bytes; None where there is none. Links, folders and anything odd are refused."""
    folder = os.path.dirname(path)
    if os.path.islink(folder):
        raise _refused(path, f"'{folder}' is a link")
    if not os.path.lexists(path):
        return None
    if os.path.islink(path):
        raise _refused(path, "it is a link")
    data = _plain(path)
    if data is None:
        raise _refused(path, "it is no file, or too long")
    return data


def _plain(path: str) -> bytes | None:
    if os.path.islink(path) or not os.path.isfile(path) or os.stat(path).st_size >= _MOST:
        return None
    return read_script(path)


def _mode_of_new(path: str) -> int:
    return 0o644 if path.endswith((".yml", ".yaml")) else 0o755


def _refused(path: str, reason: str) -> UnsafeError:
    return UnsafeError(
        f"'{path}' is left alone: {reason}", hint="git lock install --print NAME shows the lines, to be added by hand"
    )
