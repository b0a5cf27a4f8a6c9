"""What ``git lock setup`` has written into settings of agent programs: ``setup.json``, for taking it out again to the
byte, and for new worktrees of the clone.

One for the clone, in its own folder; one for a person, in their folder for state. Nothing depends on it but how exactly
things are put back: our entries are known by themselves.
"""

import os

from gitlock import jsontext
from gitlock.domain.registering import Marks
from gitlock.domain.value import Value
from gitlock.errors import StoreError, StoreTooNew, StoreUnavailable
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import Layout, read_whole, remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.jsonc import Path

WAIT = 20.0  # seconds that one setup waits for another, which takes milliseconds a worktree
FORMAT = 1
SIZE_LIMIT = 1 << 22  # bytes: thousands of worktrees


class Written(Value):
    """One settings file that we have written to: whether we ``made`` it, the ``folders`` that we made for it, the
    outermost first, and the ``marks`` in it."""

    __slots__ = ("folders", "made", "marks")

    def __init__(self, *, made: bool, folders: tuple[str, ...] = (), marks: Marks | None = None) -> None:
        self.made = made
        self.folders = folders
        self.marks = marks or Marks()


class Hidden(Value):
    """The ``text`` that was added to git's list of ignored files; ``made`` says that there was no such file."""

    __slots__ = ("made", "text")

    def __init__(self, text: str, *, made: bool) -> None:
        self.text = text
        self.made = made


class Setups(Value):
    """``programs`` are those that every worktree of the clone is to have; ``files`` what was written, by absolute path;
    ``hidden`` what was added to git's list of ignored files, by the path that it hides."""

    __slots__ = ("files", "hidden", "programs")

    def __init__(
        self,
        programs: tuple[str, ...] = (),
        files: "dict[str, Written] | None" = None,
        hidden: "dict[str, Hidden] | None" = None,
    ) -> None:
        self.programs = programs
        self.files = files or {}
        self.hidden = hidden or {}


class SetupBook:
    """The record in one folder. ``layout`` makes the folder where it is the store's."""

    def __init__(self, folder: str, layout: Layout | None = None) -> None:
        self._folder = folder
        self._layout = layout
        self._mode = layout.file_mode if layout is not None else 0o600

    @property
    def path(self) -> str:
        """The record's own file."""
        return os.path.join(self._folder, "setup.json")

    @property
    def _lock_file(self) -> str:
        return os.path.join(self._folder, "setting-up")

    def lock(self) -> Guard:
        """One setup at a time; ``StoreBusy`` names who is in the way, and what a later version remembers is refused
        (``StoreTooNew``)."""
        self._make()
        if (self._version() or 0) > FORMAT:
            raise StoreTooNew(f"'{self.path}' was written by a later git-lock", hint="git lock --version")
        return Guard(self._lock_file, WAIT, self._mode)

    def read(self) -> Setups:
        """What is remembered; nothing where that can't be read."""
        try:
            data = read_whole(self.path, SIZE_LIMIT)
            return Setups() if data is None else _decoded(jsontext.loads(data.decode("utf-8")))
        except (StoreError, ValueError):
            return Setups()

    def _version(self) -> int | None:
        """The format of what is there; None where that can't be read."""
        try:
            data = read_whole(self.path, SIZE_LIMIT)
            record = {"format": FORMAT} if data is None else jsontext.loads(data.decode("utf-8"))
        except (StoreError, ValueError):
            return None
        version = record.get("format") if isinstance(record, dict) else None
        return version if isinstance(version, int) else None

    def _spare(self) -> None:
        """What can't be read is not written over: somebody may still make sense of it."""
        if self._version() == FORMAT:
            return
        try:
            os.replace(self.path, self.path + ".unread")
        except OSError as error:
            raise StoreUnavailable(
                f"can't put '{self.path}' aside: {error.strerror}", hint=remedy(error, self.path)
            ) from None

    def write(self, setups: Setups, *, coming: str = "") -> None:
        """Replaces it, without files that are not there any more (``coming`` is about to be). Only under the lock.
        One that can't be read is kept beside it."""
        self._spare()
        record = {
            "format": FORMAT,
            "programs": list(setups.programs),
            "files": {
                path: _encoded(one) for path, one in setups.files.items() if path == coming or os.path.lexists(path)
            },
            "hidden": {path: {"text": one.text, "made": one.made} for path, one in setups.hidden.items()},
        }
        if not any((setups.programs, record["files"], setups.hidden)):
            try:
                os.unlink(self.path)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise StoreUnavailable(
                    f"can't remove '{self.path}': {error.strerror}", hint=remedy(error, self.path)
                ) from None
            self._leave()
            return
        replace_file(self.path, jsontext.dumps(record).encode() + b"\n", self._mode)

    def _make(self) -> None:
        if self._layout is not None:
            self._layout.make()
            return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"can't make '{self._folder}': {error.strerror}", hint=remedy(error, self._folder)
            ) from None

    def _leave(self) -> None:
        """Nothing is left in a person's folder where nothing is remembered. Whoever waits for the lock looks again."""
        if self._layout is not None:
            return
        try:
            os.unlink(self._lock_file)
            os.rmdir(self._folder)
        except OSError:
            return  # something else of ours is in it


def _encoded(written: Written) -> dict[str, object]:
    return {
        "made": written.made,
        "folders": list(written.folders),
        "keys": [list(path) for path in written.marks.made],
        "rests": [[list(path), text] for path, text in written.marks.rests],
        "blank": written.marks.blank,
    }


def _decoded(record: object) -> Setups:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return Setups()
    files = record.get("files")
    hidden = record.get("hidden")
    return Setups(
        tuple(_texts(record.get("programs"))),
        {path: _written(one) for path, one in files.items()} if isinstance(files, dict) else {},
        {path: _hidden(one) for path, one in hidden.items()} if isinstance(hidden, dict) else {},
    )


def _written(record: object) -> Written:
    if not isinstance(record, dict):
        return Written(made=False)
    rests = record.get("rests")
    pairs = [one for one in rests if isinstance(one, list) and len(one) == 2] if isinstance(rests, list) else []
    keys, blank = record.get("keys"), record.get("blank")
    return Written(
        made=record.get("made") is True,
        folders=tuple(_texts(record.get("folders"))),
        marks=Marks(
            tuple(_path(one) for one in keys) if isinstance(keys, list) else (),
            tuple((_path(where), text) for where, text in pairs if isinstance(text, str)),
            blank if isinstance(blank, str) else None,
        ),
    )


def _hidden(record: object) -> Hidden:
    text = record.get("text") if isinstance(record, dict) else ""
    made = isinstance(record, dict) and record.get("made") is True
    return Hidden(text if isinstance(text, str) else "", made=made)


def _path(steps: object) -> "Path":
    return tuple(step for step in steps if isinstance(step, str | int)) if isinstance(steps, list) else ()


def _texts(found: object) -> list[str]:
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []
