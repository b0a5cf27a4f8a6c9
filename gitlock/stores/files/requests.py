"""Requests as files: ``requests/<id>.json``, one each, replaced whole by whoever asks or answers.

They are outside the state document: a request that can't be read is passed over, and costs nobody a lease.
"""

import os

from gitlock import jsontext
from gitlock.domain.request import OPEN, Request
from gitlock.errors import StoreError, StoreUnavailable
from gitlock.stores.codec import Fields
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.layout import Layout, read_whole

KEPT = 7 * 86400.0  # seconds that an answered request is kept
SIZE_LIMIT = 1 << 16  # bytes
LIMIT = 1000  # requests at most: whoever floods us is refused, not the reader

_FIELDS = (
    "id", "kind", "asker", "asker_kind", "to", "claim", "keys", "include", "exclude", "mode", "ttl", "text", "at",
    "state", "answer", "answered_by", "answered_at", "told",
)  # fmt: skip


def read_requests(layout: Layout) -> list[Request]:
    """Every request that can be read, oldest first."""
    found = []
    for name in _names(layout):
        request = read_request(layout, name[:-5])
        if request is not None:
            found.append(request)
    return sorted(found, key=lambda request: (request.at, request.id))


def read_request(layout: Layout, name: str) -> Request | None:
    """One request; None where there is none of that name, or none that is understood."""
    if not name.isalnum():
        return None
    try:
        data = read_whole(os.path.join(layout.requests, name + ".json"), SIZE_LIMIT)
        if data is None:
            return None
        read = Fields(jsontext.loads(data.decode("utf-8")), name)
        return Request(
            id=name,
            kind=read.text("kind"),
            asker=read.text("asker"),
            asker_kind=read.text("asker_kind"),
            to=read.texts("to"),
            claim=read.text("claim"),
            keys=read.texts("keys"),
            include=read.texts("include"),
            exclude=read.texts("exclude"),
            mode=read.text("mode"),
            ttl=read.number("ttl"),
            text=read.text("text"),
            at=read.number("at"),
            state=read.text("state"),
            answer=read.text("answer"),
            answered_by=read.text_or_none("answered_by"),
            answered_at=None if read.of("answered_at") is None else read.number("answered_at"),
            told=read.texts("told"),
        )
    except (StoreError, ValueError):
        return None


def write_request(layout: Layout, request: Request) -> None:
    """Writes one request; ``StoreUnavailable`` if that can't be done."""
    layout.make()
    try:
        os.makedirs(layout.requests, mode=layout.folder_mode, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"can't make '{layout.requests}': {error.strerror}") from None
    record = {name: getattr(request, name) for name in _FIELDS}
    path = os.path.join(layout.requests, request.id + ".json")
    if not os.path.exists(path) and len(_names(layout)) >= LIMIT:
        raise StoreUnavailable(f"there are {LIMIT} requests already", hint="git lock inbox --all")
    replace_file(path, jsontext.dumps(record).encode() + b"\n", layout.file_mode)


def sweep_requests(layout: Layout, now: float) -> int:
    """Removes answered requests that are old; answers how many."""
    count = 0
    for request in read_requests(layout):
        if request.state != OPEN and now - (request.answered_at or request.at) > KEPT:
            try:
                os.unlink(os.path.join(layout.requests, request.id + ".json"))
                count += 1
            except OSError:
                continue
    return count


def _names(layout: Layout) -> list[str]:
    try:
        return [name for name in os.listdir(layout.requests) if name.endswith(".json")]
    except OSError:
        return []
