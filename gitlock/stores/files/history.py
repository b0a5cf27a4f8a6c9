"""History as it is read: ``history.spool`` moved into ``history.db`` where that can be done, and both read.

SQLite with a rollback journal, never WAL: the library that Python brings may have WAL's reset bug (3.7.0 to 3.51.2).
Triggers refuse to change or delete a row. A full disk, a corrupt file or another's lock costs the history, half a
second at most, and nothing else.
"""

import os
import stat

from gitlock import jsontext
from gitlock.errors import StoreError
from gitlock.stores.files.layout import Layout, give_to_owner, read_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

PATIENCE = 0.5  # seconds that another's lock on the database is waited for
COLUMNS = ("at", "revision", "verb", "agent", "claim", "lease", "fence", "note", "victim")
_TEXTS = ("verb", "agent", "claim", "lease", "note", "victim")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, revision INTEGER NOT NULL, verb TEXT NOT NULL, agent TEXT NOT NULL,
    claim TEXT NOT NULL, lease TEXT NOT NULL, fence INTEGER NOT NULL, note TEXT NOT NULL, victim TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS event_stays BEFORE UPDATE ON event BEGIN
    SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER IF NOT EXISTS event_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
"""


def read_history(layout: Layout) -> tuple[list[dict[str, object]], str | None]:
    """Every event, oldest first, and what kept us from reading some of them (or None)."""
    import sqlite3

    if not layout.check():
        return [], None
    try:
        _ingest(layout)
    except (sqlite3.Error, OSError, StoreError):
        pass  # a read-only or full disk: the spool is read below, as it is
    fault = None
    events: list[dict[str, object]] = []
    if os.path.lexists(layout.history) and not _is_plain(layout.history):
        fault = f"'{layout.history}' is not a regular file"  # a pipe would make us wait
    elif os.path.lexists(layout.history):
        try:
            with _Reading(layout.history) as database:
                rows = database.execute(f"SELECT {', '.join(COLUMNS)} FROM event ORDER BY id").fetchall()
            found = [dict(zip(COLUMNS, _decoded(row), strict=True)) for row in rows]
            events = [event for event in found if _is_event(event)]
        except (sqlite3.Error, OSError, ValueError) as error:
            fault = f"'{layout.history}' can't be read ({error})"
    for path in (layout.spool, _moving(layout)):
        try:
            events += _spooled(read_whole(path, 128 << 20) or b"")
        except StoreError as error:
            fault = str(error)
    return sorted(events, key=_order), fault


def _order(event: dict[str, object]) -> tuple[float, int]:
    at, revision = event["at"], event["revision"]
    return (at if isinstance(at, float) else 0.0, revision if isinstance(revision, int) else 0)


def _moving(layout: Layout) -> str:
    return layout.spool + ".moving"


def _ingest(layout: Layout) -> None:
    """Moves the spool into the database. The spool is renamed first; what an interrupted move left is moved too."""
    import sqlite3

    if os.path.lexists(layout.history) and not _is_plain(layout.history):
        return  # a link would have the events written elsewhere; they stay in the spool
    moving = _moving(layout)
    if not os.path.exists(moving):
        if not _is_plain(layout.spool):
            return
        os.rename(layout.spool, moving)
    fresh = not os.path.exists(layout.history)
    database = sqlite3.connect(layout.history, timeout=PATIENCE, isolation_level=None)
    try:
        if fresh:
            os.chmod(layout.history, layout.file_mode)
            give_to_owner(layout.history, layout.folder)
        database.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.strip().split(";\n"):
            if statement.strip():
                database.execute(statement)
        events = _spooled(read_whole(moving, 128 << 20) or b"")
        marks = ", ".join("?" * len(COLUMNS))
        database.executemany(
            f"INSERT INTO event ({', '.join(COLUMNS)}) VALUES ({marks})", [_encoded(event) for event in events]
        )
        # Removed before the commit: a crash between the two loses these rows rather than doubling them.
        os.unlink(moving)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    finally:
        database.close()


class _Reading:
    def __init__(self, path: str) -> None:
        import sqlite3

        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self.database = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True, timeout=PATIENCE)

    def __enter__(self) -> "sqlite3.Connection":
        return self.database

    def __exit__(self, *_: object) -> None:
        self.database.close()


def _encoded(event: dict[str, object]) -> list[object]:
    """Names that are not UTF-8 can't be SQLite texts: they go in as JSON strings, marked by a leading quote."""
    row: list[object] = []
    for name in COLUMNS:
        value = event[name]
        odd = type(value) is str and (value[:1] == '"' or any(0xD800 <= ord(char) <= 0xDFFF for char in value))
        row.append(jsontext.dumps(value) if odd else value)
    return row


def _decoded(row: "tuple[object, ...]") -> list[object]:
    return [jsontext.loads(v) if type(v) is str and v[:1] == '"' else v for v in row]


def _spooled(data: bytes) -> list[dict[str, object]]:
    """The events of a spool; a line that is not one (cut short by a crash) is passed over."""
    found = []
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            event = jsontext.loads(line.decode("utf-8"))
        except ValueError:
            continue
        if type(event) is dict and _is_event(event):
            found.append({name: event[name] for name in COLUMNS})
    return found


def _is_event(event: dict[str, object]) -> bool:
    """Whether every field is there, and of its type: what somebody else wrote is passed over."""
    numbers = (type(event.get("revision")), type(event.get("fence"))) == (int, int)
    return numbers and type(event.get("at")) in (int, float) and all(type(event.get(name)) is str for name in _TEXTS)


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
