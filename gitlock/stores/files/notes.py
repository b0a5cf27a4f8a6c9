"""The one shared file of each branch: ``notes/<branch>.json``, replaced whole. The last writer wins.

A reader sees one text that somebody wrote, never a part of one. Every text also goes into history, so that one which
was written over is not lost (as far as history goes: it is best effort).
"""

import os

from gitlock import jsontext
from gitlock.domain.filename import file_name
from gitlock.domain.snapshot import Event
from gitlock.domain.value import Value
from gitlock.errors import StoreCorrupt, StoreError, UsageError
from gitlock.stores.codec import Fields
from gitlock.stores.files import records
from gitlock.stores.files.history import read_history
from gitlock.stores.files.journal import append_events
from gitlock.stores.files.layout import Layout, look_at, read_whole

TEXT_LIMIT = 256 << 10  # bytes of a note's text: every version stays in history
_FILE_LIMIT = 8 * TEXT_LIMIT  # bytes of its file: a byte may be six characters of JSON
_VERB = "note"


class Note(Value):
    """A branch's note: the text, who wrote it (``kind`` is what they are), and when (UTC seconds)."""

    __slots__ = ("agent", "at", "branch", "kind", "text")

    def __init__(self, branch: str, text: str, agent: str, kind: str, at: float) -> None:
        self.branch = branch
        self.text = text
        self.agent = agent
        self.kind = kind
        self.at = at


class NoteBook:
    """The notes of one store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def read(self, branch: str) -> Note | None:
        """The branch's note, None where there is none; ``StoreError`` where there is one that can't be read."""
        path = self._path(branch)
        data = read_whole(path, _FILE_LIMIT)
        if data is None:
            return None
        try:
            read = Fields(jsontext.loads(data.decode("utf-8")), path)
            note = Note(read.text("branch"), read.text("text"), read.text("agent"), read.text("kind"), read.wall("at"))
        except (ValueError, StoreError):
            raise StoreCorrupt(f"'{path}' is not a note", hint=look_at(path)) from None
        if note.branch != branch:
            raise StoreCorrupt(f"'{path}' is the note of another branch", hint=look_at(path))
        return note

    def has(self, branch: str) -> bool:
        """Whether there is a note of the branch, also one that can't be read."""
        return os.path.lexists(self._path(branch))

    def write(self, note: Note) -> None:
        """Replaces the branch's note. ``UsageError`` for a text that is too long."""
        size = len(note.text.encode("utf-8", "surrogateescape"))
        if size > TEXT_LIMIT:
            raise UsageError(
                f"the text has {size} bytes, and a note may have {TEXT_LIMIT}",
                hint="put it into a file, commit that, and name it in the note",
            )
        record: dict[str, object] = {name: getattr(note, name) for name in Note.__slots__}
        records.write(self._layout, self._layout.notes, file_name(note.branch), record, lasting=False, synced=True)
        append_events(self._layout, (Event(_VERB, note.agent, _claim(note.branch), note=note.text),), 0, note.at)

    def versions(self, branch: str) -> tuple[list[Note], str | None]:
        """Every text that the branch's note had, oldest first, and what kept us from reading some (or None)."""
        events, fault = read_history(self._layout)
        found = []
        for event in events:
            if event["verb"] == _VERB and event["claim"] == _claim(branch):
                at = event["at"]
                moment = float(at) if isinstance(at, (int, float)) else 0.0
                found.append(Note(branch, str(event["note"]), str(event["agent"]), "agent", moment))
        return found, fault

    def _path(self, branch: str) -> str:
        return os.path.join(self._layout.notes, file_name(branch) + ".json")


def _claim(branch: str) -> str:
    return f"note:{branch}"
