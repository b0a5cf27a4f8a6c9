"""What a clone keeps of what it publishes and fetches: its name as a writer, and what others hold as fetched last."""

import os

from gitlock import jsontext
from gitlock.domain.ledger import Ledger
from gitlock.errors import StoreBusy, StoreError, StoreUnavailable
from gitlock.stores.codec import Fields
from gitlock.stores.files import records
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import CLOEXEC, Layout, read_whole, remedy
from gitlock.stores.ledger import format_ledger, is_writer, parse_ledger

_WRITER = "writer"  # its record: agentlocks/writer.json
_ID_BYTES = 12
_ELSEWHERE_FORMAT = "gitlock-elsewhere/1"
_ELSEWHERE_LIMIT = 64 << 20  # bytes


class Writer:
    """The name under which a clone publishes: random, of no meaning to anybody.

    A copy of a clone (``cp -r``, the layer of an image) brings the name along. So it counts only at the place where it
    was made, or in the same folder elsewhere (a clone that was moved). ``attempt`` is the commit that was last sent,
    written down before: where the answer was lost it is still known as ours.
    """

    __slots__ = ("attempt", "name")

    def __init__(self, name: str, attempt: str | None = None) -> None:
        self.name = name
        self.attempt = attempt


class Publications:
    """In the clone's own ``agentlocks`` folder, wherever its store is."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def guard(self, timeout: float) -> "Turn":
        """``with`` it nobody else of this clone publishes; ``StoreBusy`` after ``timeout`` seconds."""
        self.layout.make()
        return Turn(Guard(self.layout.publishing, timeout, self.layout.file_mode), timeout)

    def next_guard(self) -> "Turn":
        """The place of the one who waits for that: ``StoreBusy`` at once where somebody has it."""
        self.layout.make()
        return Turn(Guard(self.layout.publishing + ".next", 0.0, self.layout.file_mode), 0.0)

    def writer(self) -> Writer | None:
        """The clone's name; None before it has published, and in a copy."""
        record = records.read(self.layout.folder, _WRITER)
        if record is None:
            return None
        try:
            read = Fields(record, _WRITER)
            name, attempt = read.text("writer"), read.text_or_none("attempt")
            inode, path = read.whole("inode"), read.text("path")
        except StoreError:
            return None
        here = self._here()
        return Writer(name, attempt) if is_writer(name) and (inode == here[0] or path == here[1]) else None

    def new_writer(self) -> Writer:
        """Another name, from now on."""
        writer = Writer(os.urandom(_ID_BYTES).hex())
        self.save(writer)
        return writer

    def save(self, writer: Writer) -> None:
        """Writes it down, before anything is sent."""
        inode, path = self._here()
        record: dict[str, object] = {"writer": writer.name, "attempt": writer.attempt, "inode": inode, "path": path}
        records.write(self.layout, self.layout.folder, _WRITER, record)

    def no_hooks(self) -> str:
        """An empty folder, made if need be."""
        records.make_folder(self.layout, self.layout.no_hooks)
        return self.layout.no_hooks

    def is_following(self) -> bool:
        """Whether some lease may follow a branch: one look at the disk."""
        return os.path.exists(self.layout.following)

    def set_following(self, wanted: bool) -> None:
        """Puts the sign that some lease does, or takes it away."""
        try:
            if wanted:
                self.layout.make()
                os.close(os.open(self.layout.following, os.O_WRONLY | os.O_CREAT | CLOEXEC, self.layout.file_mode))
            else:
                os.unlink(self.layout.following)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreUnavailable(
                f"can't write '{self.layout.following}': {error.strerror}", hint=remedy(error, self.layout.following)
            ) from None

    def elsewhere(self) -> list[tuple[str, Ledger]]:
        """What others hold, each with the remote that said so; what can't be read is not known."""
        try:
            data = read_whole(self.layout.elsewhere, _ELSEWHERE_LIMIT, judge=self.layout.judge)
            read = Fields(jsontext.loads((data or b"").decode("utf-8")), "elsewhere.json")
            if read.text("format") != _ELSEWHERE_FORMAT:
                return []
            rows = read.of("ledgers")
            found = []
            for row in rows if isinstance(rows, list) else []:
                one = Fields(row, "elsewhere.json")
                found.append((one.text("remote"), parse_ledger(one.text("text").encode(), "elsewhere.json")))
            return found
        except (StoreError, ValueError):
            return []

    def keep_elsewhere(self, found: list[tuple[str, Ledger]]) -> None:
        """Replaces it; nothing is kept of nothing."""
        if not found:
            try:
                os.unlink(self.layout.elsewhere)
            except FileNotFoundError:
                pass
            return
        rows = [{"remote": remote, "text": format_ledger(ledger).decode()} for remote, ledger in found]
        self.layout.make()
        data = jsontext.dumps({"format": _ELSEWHERE_FORMAT, "ledgers": rows}).encode() + b"\n"
        replace_file(self.layout.elsewhere, data, self.layout.file_mode)

    def _here(self) -> tuple[int, str]:
        folder = os.path.realpath(os.path.dirname(self.layout.folder))
        return os.stat(folder).st_ino, folder


class Turn:
    """The guard of publications, in words of its own."""

    __slots__ = ("_guard", "_timeout")

    def __init__(self, guard: Guard, timeout: float) -> None:
        self._guard = guard
        self._timeout = timeout

    def __enter__(self) -> None:
        try:
            self._guard.__enter__()
        except StoreBusy as error:
            raise StoreBusy(
                f"another publication of this clone has not ended within {self._timeout:g} s", hint=error.hint
            ) from None

    def __exit__(self, *_: object) -> None:
        self._guard.__exit__()
