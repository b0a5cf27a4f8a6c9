"""The queue as lines of the state document, and waiters as records. Loaded only where somebody waits."""

from bisect import bisect_left

from gitlock import jsontext
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, MODES
from gitlock.domain.pattern import parse_pattern
from gitlock.domain.queue import Waiter
from gitlock.errors import StoreCorrupt, UsageError
from gitlock.stores.codec import SEPARATOR, Fields, anchor_entries, decode_holder, encode_holder
from gitlock.stores.files.table import entries_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SKIP = len(b'{"at":"')
_SEPARATOR = SEPARATOR.encode()
_FIELDS = frozenset((
    "at", "agent", "id", "order", "kind", "mode", "keys", "include", "exclude", "reason", "ttl", "since", "seen",
    "seen_mono", "boot", "offered", "offered_mono", "passed", "holder", "process",
))  # fmt: skip


class WaiterLines:
    """The queue as lines, in order; each is parsed at most once, and only when it is asked for."""

    __slots__ = ("_parsed", "_rows", "_where")

    def __init__(self, rows: list[bytes], where: str) -> None:
        self._rows = rows
        self._where = where
        self._parsed: dict[int, Waiter] = {}

    def count(self) -> int:
        return len(self._rows)

    def ordered(self) -> "Iterator[Waiter]":
        for number in range(len(self._rows)):
            yield self._waiter(number)

    def of(self, agents: "Iterable[str]") -> list[Waiter]:
        needles = tuple(b',"agent":' + jsontext.dumps(agent).encode() + b"," for agent in agents)
        rows = enumerate(self._rows)
        return [self._waiter(n) for n, row in rows if row.startswith(needles, row.find(b'"', _SKIP) + 1)]

    def find(self, id: str) -> Waiter | None:
        needle = b'"id":' + jsontext.dumps(id).encode() + b","
        found = (self._waiter(n) for n, row in enumerate(self._rows) if needle in row)
        return next((waiter for waiter in found if waiter.id == id), None)

    def backwards(self, before: int | None, anchors: frozenset[str], names: frozenset[str]) -> "Iterator[Waiter]":
        if not anchors and not names:
            return
        exact, below = entries_around(anchors, names)
        end = len(self._rows) if before is None else bisect_left(range(len(self._rows)), before, key=self._order)
        for number in range(end - 1, -1, -1):
            if _reaches(self._rows[number], exact, below):
                yield self._waiter(number)

    def outlines(
        self, anchors: frozenset[str] | None, names: frozenset[str]
    ) -> "Iterator[tuple[object, str, Callable[[], Waiter]]]":
        exact, below = entries_around(anchors or frozenset(), names)
        for number, row in enumerate(self._rows):
            if anchors is not None and not _reaches(row, exact, below):
                continue
            begin = row.find(b'"', _SKIP) + len(b'","agent":"')
            agent = row[begin : row.find(b'"', begin)].decode("ascii", "replace")  # no name needs an escape
            yield row[row.find(b',"mode":', begin) : row.find(b',"reason":', begin)], agent, self._whole(number)

    def _whole(self, number: int) -> "Callable[[], Waiter]":
        return lambda: self._waiter(number)

    def _order(self, number: int) -> int:
        row = self._rows[number]
        begin = row.find(b',"order":') + len(b',"order":')
        try:
            return int(row[begin : row.find(b",", begin)])
        except ValueError:
            raise StoreCorrupt(f"{self._where}, waiter {number + 1}: 'order' is missing or not understood") from None

    def _waiter(self, number: int) -> Waiter:
        waiter = self._parsed.get(number)
        if waiter is None:
            where = f"{self._where}, waiter {number + 1}"
            try:
                waiter = decode_waiter(jsontext.loads(self._rows[number].decode("utf-8")), where)
            except ValueError as error:
                raise StoreCorrupt(f"{where}: {error}") from None
            self._parsed[number] = waiter
        return waiter


def _reaches(row: bytes, exact: set[bytes], below: tuple[bytes, ...]) -> bool:
    at = row[_SKIP : row.find(b'"', _SKIP)]
    if at in exact or at.startswith(below):
        return True
    return _SEPARATOR in at and any(entry in exact or entry.startswith(below) for entry in at.split(_SEPARATOR))


def edited_queue(rows: list[bytes], leave: tuple[str, ...], queue: tuple[Waiter, ...]) -> list[bytes]:
    """The rows after an edit. New waiters have the highest order, so that appending keeps the rows in order."""
    new = {waiter.id: jsontext.dumps(encode_waiter(waiter)).encode() for waiter in queue}
    needles = {name: b'"id":' + jsontext.dumps(name).encode() + b"," for name in (*leave, *new)}
    kept = []
    for row in rows:
        name = next((name for name, needle in needles.items() if needle in row), None)
        if name is None:
            kept.append(row)
        elif name in new:
            kept.append(new.pop(name))
    return [*kept, *new.values()]


def encode_waiter(waiter: Waiter) -> dict[str, object]:
    """The record of a waiter; it begins as a lease's does."""
    offered = waiter.offered
    return {
        "at": SEPARATOR.join(anchor_entries(waiter.footprint, waiter.names)),
        "agent": waiter.agent,
        "id": waiter.id,
        "order": waiter.order,
        "kind": waiter.kind,
        "mode": waiter.mode,
        "keys": waiter.keys,
        "include": waiter.include,
        "exclude": waiter.exclude,
        "reason": waiter.reason,
        "ttl": waiter.ttl,
        "since": waiter.since,
        "seen": waiter.seen.wall,
        "seen_mono": waiter.seen.mono,
        "boot": waiter.seen.boot,
        "offered": None if offered is None else offered.wall,
        "offered_mono": None if offered is None else offered.mono,
        "passed": waiter.passed,
        "holder": encode_holder(waiter.holder),
        "process": None if waiter.process is None else encode_holder(waiter.process),
        **waiter.extra,
    }


def decode_waiter(record: object, where: str) -> Waiter:
    """The waiter of a record, or ``StoreCorrupt``."""
    read = Fields(record, where)
    include, exclude = read.texts("include"), read.texts("exclude")
    try:
        for text in (*include, *exclude):
            parse_pattern(text)
    except UsageError as error:
        raise StoreCorrupt(f"{where}: {error}") from None
    boot = read.text("boot")
    offered = None
    if read.of("offered") is not None:
        offered = Instant(read.number("offered"), read.number("offered_mono"), boot)
    mode = read.text("mode")
    process = read.of("process")
    return Waiter(
        id=read.text("id"),
        order=read.whole("order"),
        agent=read.text("agent"),
        kind=read.text("kind"),
        mode=mode if mode in MODES else EXCLUSIVE,
        keys=read.texts("keys"),
        include=include,
        exclude=exclude,
        reason=read.text("reason"),
        ttl=read.number("ttl"),
        since=read.number("since"),
        seen=Instant(read.number("seen"), read.number("seen_mono"), boot),
        offered=offered,
        passed=read.whole("passed"),
        holder=decode_holder(read.of("holder"), where),
        process=None if process is None else decode_holder(process, where),
        extra={name: value for name, value in read.record.items() if name not in _FIELDS},
    )
