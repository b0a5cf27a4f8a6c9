"""Presence: ``sessions/<id>.json``, one file a session, written by that session alone."""

import os

from gitlock.domain.session import STATES, WORKING, Session
from gitlock.errors import StoreError
from gitlock.stores.codec import Fields, decode_holder, encode_holder
from gitlock.stores.files import records
from gitlock.stores.files.atomic import replace_file
from gitlock.stores.files.layout import Layout

_FIELDS = frozenset((*Session.__slots__, "id"))

HALF_WRITTEN = 3600.0  # seconds after which a temporary file is nobody's any more
SUCCESSION_KEPT = 30 * 86400.0  # seconds that a session is known to go on as another agent


class SessionBook:
    """The sessions of one store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def all(self) -> list[Session]:
        """Every session that can be read, the longest at work first."""
        found = [self.find(name) for name in records.names(self._layout.sessions)]
        return sorted((one for one in found if one is not None), key=lambda one: (one.started, one.id))

    def find(self, name: str) -> Session | None:
        """One session, or None."""
        record = records.read(self._layout.sessions, name)
        try:
            return None if record is None else _decoded(record, name)
        except StoreError:
            return None

    def write(self, session: Session) -> None:
        """Replaces the session's file."""
        record = {name: getattr(session, name) for name in Session.__slots__ if name != "extra"}
        record["holder"] = encode_holder(session.holder)
        records.write(self._layout, self._layout.sessions, session.id, {**record, **session.extra}, lasting=False)

    def follow(self, session: str, agent: str, parent: str = "") -> None:
        """A session goes on as this agent: it took over from another one, which its program ended (clear, resume); or
        it works for the session ``parent``, as the sub-agent that the last part of ``agent`` names.

        ``<session>.as`` says so, for whoever is asked who that is. It is one open of a missing file for all others.
        """
        layout = self._layout
        records.make_folder(layout, layout.sessions)
        path = os.path.join(layout.sessions, session + ".as")
        replace_file(path, " ".join(filter(None, (session, agent, parent))).encode() + b"\n", layout.file_mode)

    def sweep(self, wall: float) -> int:
        """Removes what killed writers left, and successions that are old; answers how many."""
        count = 0
        for name in _others(self._layout.sessions):
            path = os.path.join(self._layout.sessions, name)
            patience = HALF_WRITTEN if name.endswith(".tmp") else SUCCESSION_KEPT
            try:
                if wall - os.lstat(path).st_mtime > patience:
                    os.unlink(path)
                    count += 1
            except OSError:
                continue
        return count

    def remove(self, name: str) -> bool:
        """The session has ended, and was heard of by whoever had to; whether it was there."""
        return records.remove(self._layout.sessions, name)


def _others(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith((".tmp", ".as"))]
    except OSError:
        return []


def _decoded(record: object, name: str) -> Session:
    read = Fields(record, name)
    state = read.text("state")
    return Session(
        id=name,
        program=read.text_or_none("program"),
        worktree_id=read.text_or_none("worktree_id"),
        holder=decode_holder(read.of("holder"), name),
        waited=read.number("waited"),
        touched=read.texts("touched"),
        touched_at=None if read.of("touched_at") is None else read.wall("touched_at"),
        shared=read.flag("shared"),
        hook_at=None if read.of("hook_at") is None else read.wall("hook_at"),
        extra=read.others(_FIELDS),
        agent=read.text("agent"),
        kind=read.text("kind"),
        message=read.text("message"),
        state=state if state in STATES else WORKING,
        since=read.wall("since"),
        started=read.wall("started"),
        active=read.wall("active"),
    )
