"""The high-water mark: a second copy of epoch, fence and revision, beside the store's folder.

A store that was deleted, or put back from an older copy, is noticed by it. It is written after the state, in place
and without fsync: a mark that lags by a write is harmless (the state counts), one that is ahead would not be.
"""

import os

from gitlock import jsontext
from gitlock.domain.value import Value
from gitlock.errors import StoreError
from gitlock.stores.codec import Fields
from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK, give_to_owner, read_whole

_WIDTH = 160  # bytes; always written in full by one call, so that no reader sees half of one


class Mark(Value):
    """What was last written."""

    __slots__ = ("counter", "epoch", "revision", "store")

    def __init__(self, store: str, epoch: int, counter: int, revision: int) -> None:
        self.store = store
        self.epoch = epoch
        self.counter = counter
        self.revision = revision


def read_mark(path: str) -> Mark | None:
    """The mark, or None where there is none that can be read (then it protects nothing, and harms nothing)."""
    try:
        data = read_whole(path, 4096)
        if data is None:
            return None
        read = Fields(jsontext.loads(data.decode("ascii")), path)
        return Mark(read.text("store"), read.whole("epoch"), read.whole("counter"), read.whole("revision"))
    except (StoreError, ValueError):
        return None


def write_mark(path: str, mark: Mark, mode: int) -> None:
    """Best effort: a failure costs only the notice that it would have given."""
    text = jsontext.dumps(
        {"store": mark.store, "epoch": mark.epoch, "counter": mark.counter, "revision": mark.revision}
    )
    data = text.encode().ljust(_WIDTH - 1) + b"\n"
    try:
        try:
            fd = os.open(path, os.O_WRONLY | NOFOLLOW | NONBLOCK | CLOEXEC)
        except FileNotFoundError:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | NOFOLLOW | NONBLOCK | CLOEXEC, mode)
            if hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            give_to_owner(path, os.path.dirname(path))
        try:
            os.write(fd, data)
        finally:
            os.close(fd)
    except OSError:
        return
