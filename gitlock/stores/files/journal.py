"""Who did what. Best effort and never on the path of locking: no fault here changes an outcome.

Events go to ``history.spool``, one JSON line each, by one appending write outside the guard. Reading history moves
them into ``history.db`` (SQLite, append-only), where it can; where it can't, the spool is read as it is.
"""

import os

from gitlock import jsontext
from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK, Layout, give_to_owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.snapshot import Event

SPOOL_LIMIT = 64 << 20  # bytes; beyond it events are dropped rather than filling the disk


def append_events(layout: Layout, events: "tuple[Event, ...]", revision: int, wall: float) -> None:
    """Adds a line for each event; whatever goes wrong is nobody's business but the history's."""
    rows = [
        jsontext.dumps(
            {
                "at": wall,
                "revision": revision,
                "verb": event.verb,
                "agent": event.agent,
                "claim": event.claim,
                "lease": event.lease,
                "fence": event.fence,
                "note": event.note,
                "victim": event.victim,
            }
        )
        for event in events
    ]
    try:
        flags = os.O_RDWR | os.O_APPEND | NOFOLLOW | NONBLOCK | CLOEXEC
        try:
            fd = os.open(layout.spool, flags)
        except FileNotFoundError:
            fd = os.open(layout.spool, flags | os.O_CREAT, 0o600)
            if hasattr(os, "fchmod"):
                os.fchmod(fd, layout.file_mode)
            give_to_owner(layout.spool, layout.folder)
        try:
            size = os.fstat(fd).st_size
            if size < SPOOL_LIMIT:
                os.write(fd, (_ending(fd, size) + "\n".join(rows) + "\n").encode())
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return


def _ending(fd: int, size: int) -> str:
    """What the last line lacks, where a full disk or a crash cut it short."""
    return "\n" if size and os.pread(fd, 1, size - 1) != b"\n" else ""
