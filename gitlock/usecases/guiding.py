"""Putting what agents are told where they read it: a paragraph in the project's own files, and folders of skills.

Every file is looked at before the first is written. Links, what is no text, and what somebody has changed by hand are
left alone, with the reason; of a file that is somebody else's, every byte outside of our block stays.
"""

import os
import re

from gitlock.domain.block import BadBlock, find_block, put_block, take_block
from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, UnsafeError, UsageError
from gitlock.usecases.settings.disk import Changed, Content, read_settings, remove_settings, write_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAIN = "AGENTS.md"  # what most agent programs read
OTHERS = ("CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md")  # what one of them reads in its place
SKILL_FOLDERS = (".agents/skills", ".claude/skills")
SKILL_FILE = "SKILL.md"

# What a file is, against what it should be: it says what we say; something older; nothing.
SAME, OLD, MISSING = "same", "old", "missing"

READ_LIMIT = 32 << 10  # bytes; Codex reads no more of its AGENTS.md files

_IMPORT = re.compile(r"(?<![\w`@./])@(?:\./|\.\./)?AGENTS\.md\b")


class Spot(Value):
    """One file below ``root`` as it was read (``content``), and as it should be (``after``; None: not there).
    ``state`` compares the two; ``long`` says that some program will not read as far as our part."""

    __slots__ = ("after", "content", "long", "path", "root", "state")

    def __init__(
        self, path: str, root: str, content: Content, after: bytes | None, state: str, *, long: bool = False
    ) -> None:
        self.path = path
        self.root = root
        self.content = content
        self.after = after
        self.state = state
        self.long = long

    @property
    def before(self) -> bytes | None:
        """Its bytes; None where it is not there."""
        return self.content.data

    @property
    def changes(self) -> bool:
        """Whether there is anything to be written."""
        return self.before != self.after


def paragraph_files(top: str, *, present: bool = False) -> list[str]:
    """The files of a worktree that are to have the paragraph: AGENTS.md, and each file that one program reads in its
    place, unless it imports or is AGENTS.md. With ``present``, those that have a block."""
    main = os.path.join(top, MAIN)
    real = {os.path.realpath(os.path.join(top, name)) for name in (MAIN, *OTHERS) if _is_plain(os.path.join(top, name))}
    found = [] if os.path.islink(main) and os.path.realpath(main) in real else [main]
    for name in OTHERS:
        path = os.path.join(top, name)
        if not os.path.lexists(path) or (os.path.islink(path) and os.path.realpath(path) in real):
            continue
        if present or not found or not _imports(path, top):
            found.append(path)
    if not present:
        return found
    return [path for path in found if paragraph(path, top, "").state == OLD]


def paragraph(path: str, root: str, text: str) -> Spot:
    """A file with the paragraph in it, up to date."""
    content = _read(path, root)
    try:
        after = put_block(content.data, text)
        has = content.data is not None and find_block(content.data) is not None
        where = find_block(after)
    except BadBlock as reason:
        raise _refused(path, str(reason)) from None
    state = SAME if after == content.data else OLD if has else MISSING
    return Spot(path, root, content, after, state, long=where is not None and where.end > READ_LIMIT)


def no_paragraph(path: str, root: str) -> Spot:
    """The same file as it was before the paragraph was put in."""
    content = _read(path, root)
    try:
        after = None if content.data is None else take_block(content.data)
    except BadBlock as reason:
        raise _refused(path, str(reason)) from None
    return Spot(path, root, content, after, MISSING if after == content.data else SAME)


def skill_folders(top: str) -> list[str]:
    """Where a worktree's skills go; one folder where one name leads to the other."""
    top = os.path.realpath(top)
    found = []
    for name in SKILL_FOLDERS:
        folder = os.path.realpath(os.path.join(top, name))
        if not folder.startswith(top.rstrip("/") + "/"):
            raise _refused(os.path.join(top, name), f"it leads out of the worktree, to '{folder}'")
        found.append(folder)
    return list(dict.fromkeys(found))


def skill(folder: str, root: str, name: str, text: str, is_as_made: "Callable[[str], bool]") -> Spot:
    """One skill's file in a folder of skills, up to date. One that was changed by hand is refused."""
    path = os.path.join(folder, name, SKILL_FILE)
    content = _read(path, root)
    after = text.encode()
    if content.data is None:
        return Spot(path, root, content, after, MISSING)
    if content.data.replace(b"\r\n", b"\n") == after:
        return Spot(path, root, content, content.data, SAME)
    _require_ours(path, content.data, is_as_made)
    return Spot(path, root, content, after, OLD)


def no_skill(folder: str, root: str, name: str, is_as_made: "Callable[[str], bool]") -> Spot:
    """The same file gone."""
    path = os.path.join(folder, name, SKILL_FILE)
    content = _read(path, root)
    if content.data is not None:
        _require_ours(path, content.data, is_as_made)
    return Spot(path, root, content, None, MISSING if content.data is None else SAME)


def write(spots: list[Spot]) -> None:
    """Makes the files what they should be, each whole or not at all."""
    for spot in spots:
        if not spot.changes:
            continue
        try:
            if spot.after is None:
                remove_settings(spot.path, spot.content, spot.root, ())
            else:
                write_settings(spot.path, spot.content, spot.after, spot.root)
        except Changed:
            raise GitlockError(
                f"somebody else has written '{spot.path}' meanwhile; it is as they left it", hint="run it again",
                id="changed",
            ) from None


def existing(folder: str) -> str:
    """The folder itself, or the nearest one above it that is there."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def tidy(spots: list[Spot]) -> None:
    """Takes away what skills that are gone leave behind: their folders, the folder of skills and the program's, as far
    as nothing else is in them."""
    for spot in spots:
        folder = os.path.dirname(spot.path)
        for _ in range(3):
            try:
                os.rmdir(folder)
            except OSError:
                break
            folder = os.path.dirname(folder)


def _read(path: str, root: str) -> Content:
    if os.path.islink(path):
        raise _refused(path, f"it is a link to '{os.readlink(path)}'", hint="name the file that it leads to")
    if os.path.isdir(path):
        raise UsageError(f"'{path}' is a folder", hint="name a file in it")
    try:
        return read_settings(path, root)
    except UnsafeError as reason:  # whose hint is about settings
        raise UnsafeError(reason.message, hint=f"ls -ld {word(os.path.dirname(path))}", id="guide-refused") from None


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _imports(path: str, root: str) -> bool:
    """Whether a file brings in AGENTS.md by ``@AGENTS.md``, outside of code."""
    text = (_read(path, root).data or b"").decode("utf-8", "replace")
    text = re.sub(r"(?ms)^ *(```|~~~).*?(^ *\1|\Z)", "", text)
    return _IMPORT.search(re.sub(r"`[^`\n]*`", "", text)) is not None


def _require_ours(path: str, data: bytes, is_as_made: "Callable[[str], bool]") -> None:
    if not is_as_made(data.decode("utf-8", "replace")):
        raise _refused(
            path, "it was changed by hand, or is not git-lock's", hint="move it away, or keep it as it is"
        )


def _refused(path: str, reason: str, hint: str | None = None) -> UnsafeError:
    return UnsafeError(f"'{path}' is left alone: {reason}", hint=hint, id="guide-refused")
