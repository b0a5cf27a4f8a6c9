"""Requests as files: ``requests/<id>.json``, one each, replaced whole; answered ones move to ``requests/answered/``
once they were heard, so that nobody has to read them again.

They are outside the state document: a request that can't be read is passed over, and costs nobody a lease. They are
written under the guard: two who answer at once are one after the other.
"""

import os

from gitlock import jsontext
from gitlock.domain.request import OPEN, Request
from gitlock.errors import StoreError, UnsafeError, UsageError
from gitlock.stores.codec import Fields, decode_holder, encode_holder
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import Layout, read_whole
from gitlock.stores.files.records import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = 7 * 86400.0  # seconds that a request is kept, answered or not
SIZE_LIMIT = 1 << 16  # bytes
LIMIT = 200  # requests at a time: everybody's every command reads them
ASKER_LIMIT = 20  # open requests of one agent: whoever floods us is refused, not the reader

_TEXTS = ("kind", "asker", "asker_kind", "claim", "mode", "text", "state", "answer")
_LISTS = ("to", "keys", "include", "exclude", "told")


class RequestBook:
    """The requests of one store."""

    def __init__(self, layout: Layout, guard_timeout: float) -> None:
        self._layout = layout
        self._timeout = guard_timeout
        self._answered = os.path.join(layout.requests, "answered")

    def all(self, *, heard: bool = False) -> list[Request]:
        """Every request that can be read, oldest first; with ``heard``, also answers that were heard."""
        found = [self._read(self._layout.requests, name) for name in _names(self._layout.requests)]
        if heard:
            found += [self._read(self._answered, name) for name in _names(self._answered)]
        return sorted((one for one in found if one is not None), key=lambda one: (one.at, one.id))

    def find(self, name: str) -> Request | None:
        """One request; None where there is none of that name, or none that is understood."""
        if not (name.isascii() and name.isalnum()):
            return None
        return self._read(self._layout.requests, name) or self._read(self._answered, name)

    def add(self, request: Request) -> None:
        """Writes down a new request, or one that is asked again; ``UnsafeError`` where there are too many."""
        data = _encoded(request)
        if len(data) > SIZE_LIMIT:
            raise UsageError("that is too much for one request: ask for less, or for a pattern that covers it")
        with self._guarded():
            if not os.path.lexists(self._path(request.id)):
                self._make_room(request)
            self._write(request.id, data)

    def change(self, name: str, change: "Callable[[Request], Request | None]") -> Request | None:
        """Replaces a request by what ``change`` makes of it as it is now; nothing where that is None."""
        with self._guarded():
            before = self._read(self._layout.requests, name)
            after = None if before is None else change(before)
            if after is not None:
                self._write(name, _encoded(after))
            return after

    def put_aside(self, name: str) -> None:
        """Moves an answer that was heard out of everybody's way. Never fails."""
        try:
            make_folder(self._layout, self._answered)
            os.replace(self._path(name), os.path.join(self._answered, name + ".json"))
        except (OSError, StoreError):
            return

    def sweep(self, now: float) -> int:
        """Removes what is old; answers how many."""
        count = 0
        for request in self.all(heard=True):
            if now - (request.answered_at or request.at) > KEPT:
                count += self._remove(request.id)
        return count

    def _guarded(self) -> Guard:
        make_folder(self._layout, self._layout.requests)
        return Guard(self._layout.guard, self._timeout, self._layout.file_mode)

    def _make_room(self, request: Request) -> None:
        found = self.all()
        mine = sum(1 for one in found if one.state == OPEN and one.asker == request.asker)
        if mine >= ASKER_LIMIT:
            raise UnsafeError(
                f"{request.asker} has asked {mine} times already, and has to wait for answers",
                id="too-many-requests", hint="git lock inbox --all",
            )  # fmt: skip
        surplus = len(found) + 1 - LIMIT
        for old in sorted(found, key=lambda one: one.answered_at or one.at):
            if surplus <= 0:
                break
            if old.state != OPEN or request.at - old.at > KEPT:
                surplus -= self._remove(old.id)
        if surplus > 0:
            raise UnsafeError(
                f"there are {LIMIT} open requests already", id="too-many-requests", hint="git lock inbox --all"
            )

    def _remove(self, name: str) -> bool:
        for folder in (self._layout.requests, self._answered):
            try:
                os.unlink(os.path.join(folder, name + ".json"))
                return True
            except OSError:
                continue
        return False

    def _path(self, name: str) -> str:
        return os.path.join(self._layout.requests, name + ".json")

    def _write(self, name: str, data: bytes) -> None:
        replace_file(self._path(name), data, self._layout.file_mode)

    def _read(self, folder: str, name: str) -> Request | None:
        try:
            data = read_whole(os.path.join(folder, name + ".json"), SIZE_LIMIT)
            if data is None:
                return None
            read = Fields(jsontext.loads(data.decode("utf-8")), name)
            return Request(
                id=name,
                ttl=read.number("ttl"),
                at=read.wall("at"),
                answered_by=read.text_or_none("answered_by"),
                answered_at=None if read.of("answered_at") is None else read.wall("answered_at"),
                holder=decode_holder(read.of("holder"), name),
                **{field: read.text(field) for field in _TEXTS},  # type: ignore[arg-type]
                **{field: read.texts(field) for field in _LISTS},  # type: ignore[arg-type]
            )
        except (StoreError, ValueError):
            return None


def _encoded(request: Request) -> bytes:
    record = {name: getattr(request, name) for name in Request.__slots__}
    return jsontext.dumps({**record, "holder": encode_holder(request.holder)}).encode() + b"\n"


def _names(folder: str) -> list[str]:
    try:
        return [name[:-5] for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return []
