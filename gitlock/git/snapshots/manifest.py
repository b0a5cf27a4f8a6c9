"""What a snapshot knows besides its trees, and the text that it is written down in.

The text is a line ``gitlock-snapshot 1``, then records that end in NUL, a tab before the path, bytes as they are:

    head OID                         the commit that was checked out; absent before the first one
    staged OID                       the tree of the index
    file PERMISSIONS OID TAB path    a file whose bytes are not the index's (octal permissions)
    link OID TAB path                the same for a symbolic link
    gone TAB path                    in the index, but not among the files
    stage MODE OID NUMBER TAB path   one side of a conflict
    intent MODE TAB path             announced (``git add -N``)
    skip TAB path                    skip-worktree
    assume TAB path                  assume-unchanged
    left WHY TAB path                what the snapshot does not hold
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError

FORMAT = b"gitlock-snapshot 1\n"


class Kept(Value):
    """One file as it lay there: ``mode`` is its permissions, or None for a symbolic link (the blob is its target)."""

    __slots__ = ("blob", "mode", "path")

    def __init__(self, path: str, blob: str, mode: int | None) -> None:
        self.path = path
        self.blob = blob
        self.mode = mode


class Stage(Value):
    """One side of a conflict: ``number`` is 1 (base), 2 (ours) or 3 (theirs)."""

    __slots__ = ("blob", "mode", "number", "path")

    def __init__(self, path: str, mode: str, blob: str, number: int) -> None:
        self.path = path
        self.mode = mode
        self.blob = blob
        self.number = number


class Manifest(Value):
    """Everything that is not simply the staged tree. Paths are relative to the top, with ``/``."""

    __slots__ = ("assumed", "files", "gone", "head", "intents", "left_out", "skipped", "staged", "stages")

    def __init__(
        self,
        head: str | None,
        staged: str,
        files: tuple[Kept, ...] = (),
        gone: tuple[str, ...] = (),
        stages: tuple[Stage, ...] = (),
        intents: tuple[tuple[str, str], ...] = (),
        skipped: tuple[str, ...] = (),
        assumed: tuple[str, ...] = (),
        left_out: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.head = head
        self.staged = staged
        self.files = files
        self.gone = gone
        self.stages = stages
        self.intents = intents
        self.skipped = skipped
        self.assumed = assumed
        self.left_out = left_out


class Snapshot(Value):
    """A worktree's state as ``commit``."""

    __slots__ = ("commit", "manifest")

    def __init__(self, commit: str, manifest: Manifest) -> None:
        self.commit = commit
        self.manifest = manifest

    @property
    def head(self) -> str | None:
        """The commit that was checked out; None before the first one."""
        return self.manifest.head

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """(path, why) of what could not be kept: say so before anything is removed."""
        return self.manifest.left_out


def write(manifest: Manifest) -> bytes:
    """The manifest as text."""
    rows = [f"staged {manifest.staged}"]
    if manifest.head is not None:
        rows.append(f"head {manifest.head}")
    for file in manifest.files:
        kind = f"link {file.blob}" if file.mode is None else f"file {file.mode:o} {file.blob}"
        rows.append(f"{kind}\t{file.path}")
    rows += [f"gone\t{path}" for path in manifest.gone]
    rows += [f"stage {one.mode} {one.blob} {one.number}\t{one.path}" for one in manifest.stages]
    rows += [f"intent {mode}\t{path}" for path, mode in manifest.intents]
    rows += [f"skip\t{path}" for path in manifest.skipped]
    rows += [f"assume\t{path}" for path in manifest.assumed]
    rows += [f"left {why}\t{path}" for path, why in manifest.left_out]
    return FORMAT + b"".join(os.fsencode(row) + b"\0" for row in rows)


def parse(data: bytes) -> Manifest:
    """The manifest that the text states; ``RepositoryError`` for any other text, and for a path that leads astray."""
    if not data.startswith(FORMAT):
        raise _fault("is no snapshot of git-lock, or one of a later version")
    rows = os.fsdecode(data[len(FORMAT) :]).split("\0")
    if rows.pop():
        raise _fault("is cut short")
    names = {"staged": "", "head": ""}
    found: dict[str, list[tuple[list[str], str]]] = {}
    for row in rows:
        head, tab, path = row.partition("\t")
        kind, *words = head.split(" ")
        if kind == "left":
            words = [" ".join(words)]
        if kind in names and not tab and len(words) == 1:
            names[kind] = _object_name(words[0])
            continue
        if not _is_safe(path) or len(words) != _WORDS.get(kind):
            raise _fault("holds a record that makes no sense")
        found.setdefault(kind, []).append((words, path))
    if not names["staged"]:
        raise _fault("is cut short")
    try:
        files = [Kept(path, _object_name(words[1]), int(words[0], 8) & 0o777) for words, path in found.get("file", ())]
        stages = tuple(
            Stage(path, _mode(words[0]), _object_name(words[1]), (1, 2, 3)[int(words[2]) - 1])
            for words, path in found.get("stage", ())
        )
    except (ValueError, IndexError):
        raise _fault("holds a record that makes no sense") from None
    return Manifest(
        names["head"] or None,
        names["staged"],
        files=(*files, *(Kept(path, _object_name(words[0]), None) for words, path in found.get("link", ()))),
        gone=_paths(found, "gone"),
        stages=stages,
        intents=tuple((path, _mode(words[0])) for words, path in found.get("intent", ())),
        skipped=_paths(found, "skip"),
        assumed=_paths(found, "assume"),
        left_out=tuple((path, words[0]) for words, path in found.get("left", ())),
    )


_WORDS = {"file": 2, "link": 1, "gone": 0, "stage": 3, "intent": 1, "skip": 0, "assume": 0, "left": 1}
_MODES = ("100644", "100755", "120000", "160000")


def _paths(found: dict[str, list[tuple[list[str], str]]], kind: str) -> tuple[str, ...]:
    return tuple(path for _, path in found.get(kind, ()))


def _object_name(text: str) -> str:
    if len(text) not in (40, 64) or any(c not in "0123456789abcdef" for c in text):
        raise _fault("holds a name of an object that is none")
    return text


def _mode(text: str) -> str:
    if text not in _MODES:
        raise _fault("holds a mode that git does not know")
    return text


def _is_safe(path: str) -> bool:
    """Whether a path stays below the top, outside git's own folder. A trailing slash is a nested repository's."""
    parts = path.removesuffix("/").split("/")
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)


def _fault(why: str) -> RepositoryError:
    return RepositoryError(f"the snapshot {why}", id="bad-snapshot")
