"""Whose worktree is which: ``worktrees/<id>.json``, one file a worktree that git-lock made or adopted.

Written by whoever holds the lock ``spawning``, for as long as it takes to register a worktree (tens of milliseconds:
git runs while it is held, which the guard of the leases does not allow).
"""

import os

from gitlock.domain.worktree import SETUP, STATES, Worktree
from gitlock.errors import StoreBusy, StoreError
from gitlock.stores.codec import Fields
from gitlock.stores.files import records
from gitlock.stores.files.guard import Guard
from gitlock.stores.files.layout import Layout

WAIT = 60.0  # seconds that one waits for others that register a worktree; two dozen take about two seconds

_TEXTS = ("agent", "path", "base", "base_name", "tip", "state", "setup", "origin", "owner")
_FIELDS = frozenset((*Worktree.__slots__, "id"))


class WorktreeBook:
    """The worktrees of one store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def lock(self, timeout: float = WAIT) -> Guard:
        """Whoever makes or removes worktrees holds it; ``StoreBusy`` names who is in the way."""
        self._layout.make()
        return Guard(os.path.join(self._layout.folder, "spawning"), timeout, self._layout.file_mode)

    def making(self, name: str) -> Guard:
        """Held by whoever makes the worktree of that record, and by the gits that it has started, for as long as it
        takes; nobody ever waits for it."""
        records.make_folder(self._layout, self._layout.worktrees)
        return Guard(self._making(name), 1.0, self._layout.file_mode)

    def is_being_made(self, name: str) -> bool:
        """Whether somebody is at it still. The kernel's word: a process that is gone holds no lock."""
        path = self._making(name)
        if not os.path.lexists(path):
            return False
        try:
            with Guard(path, 0.0, self._layout.file_mode):
                return False
        except StoreBusy:
            return True

    def is_made(self, name: str) -> None:
        """Nobody is at it any more."""
        try:
            os.unlink(self._making(name))
        except FileNotFoundError:
            return

    def _making(self, name: str) -> str:
        return os.path.join(self._layout.worktrees, name + ".making")

    def all(self) -> list[Worktree]:
        """Every record that can be read, oldest first."""
        found = [self.find(name) for name in records.names(self._layout.worktrees)]
        return sorted((one for one in found if one is not None), key=lambda one: (one.made, one.id))

    def find(self, name: str) -> Worktree | None:
        """One record, or None."""
        record = records.read(self._layout.worktrees, name)
        try:
            return None if record is None else _decoded(record, name)
        except StoreError:
            return None

    def write(self, worktree: Worktree) -> None:
        """Replaces the record. Only under the lock."""
        record = {name: getattr(worktree, name) for name in Worktree.__slots__ if name != "extra"}
        records.write(self._layout, self._layout.worktrees, worktree.id, {**record, **worktree.extra})

    def remove(self, name: str) -> bool:
        """Removes the record; whether it was there. Only under the lock."""
        self.is_made(name)
        return records.remove(self._layout.worktrees, name)


def _decoded(record: object, name: str) -> Worktree:
    read = Fields(record, name)
    for field, known in (("state", STATES), ("setup", SETUP)):
        if read.text(field) not in known:
            raise read.fault(field)
    return Worktree(
        id=name,
        branch=read.text_or_none("branch"),
        made_branch=read.flag("made_branch"),
        slot=read.whole("slot"),
        port=read.whole("port"),
        sparse=read.flag("sparse"),
        lease=read.text_or_none("lease"),
        made_folder=read.text_or_none("made_folder"),
        made=read.wall("made"),
        extra=read.others(_FIELDS),
        **{field: read.text(field) for field in _TEXTS},
    )
