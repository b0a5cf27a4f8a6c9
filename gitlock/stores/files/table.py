"""The leases of one revision as lines of text: what can't concern a question is passed over without being parsed.

Every record begins ``{"at":"…","agent":"…"``. ``at`` holds the anchors of its patterns and its keys, and nothing
that JSON would escape, so that a slice and a set decide (docs/protocol.md, "One record a line").
"""

from gitlock import jsontext
from gitlock.domain.lease import Ended, Lease
from gitlock.errors import StoreCorrupt
from gitlock.stores.codec import SEPARATOR, decode_ended, decode_lease, encode_ended, encode_lease

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.queue import Waiter

    Whole = Callable[[], Waiter]

_HEAD = b'{"at":"'
_SKIP = len(_HEAD)
_SEPARATOR = SEPARATOR.encode()


class LineTable:
    """Leases found by slices of their lines; each line is parsed at most once."""

    __slots__ = ("_parsed", "_rows", "_where")

    def __init__(self, rows: list[bytes], where: str) -> None:
        self._rows = rows
        self._where = where
        self._parsed: dict[int, Lease] = {}

    def count(self) -> int:
        return len(self._rows)

    def all(self) -> list[Lease]:
        return [self._lease(number) for number in range(len(self._rows))]

    def of(self, agents: "Iterable[str]") -> list[Lease]:
        needles = tuple(b',"agent":' + jsontext.dumps(agent).encode() + b"," for agent in agents)
        found = []
        for number, row in enumerate(self._rows):
            end = row.find(b'"', _SKIP)
            if row.startswith(needles, end + 1):
                found.append(self._lease(number))
        return found

    def near(self, anchors: frozenset[str], names: frozenset[str]) -> list[Lease]:
        wanted = {a.encode("ascii", "ignore") for a in anchors} | {b":" + name.encode() for name in names}
        found = []
        for number, row in enumerate(self._rows):
            at = row[_SKIP : row.find(b'"', _SKIP)]
            if at in wanted or (_SEPARATOR in at and not wanted.isdisjoint(at.split(_SEPARATOR))):
                found.append(self._lease(number))
        return found

    def around(self, anchors: frozenset[str], names: frozenset[str]) -> list[Lease]:
        if not anchors and not names:
            return []
        exact, below_any = entries_around(anchors, names)
        found = []
        for number, row in enumerate(self._rows):
            at = row[_SKIP : row.find(b'"', _SKIP)]
            if (
                at in exact
                or at.startswith(below_any)
                or (_SEPARATOR in at and any(e in exact or e.startswith(below_any) for e in at.split(_SEPARATOR)))
            ):
                found.append(self._lease(number))
        return found

    def edited(self, drop: tuple[str, ...], put: tuple[Lease, ...], granted: int | None = None) -> list[bytes]:
        """The rows after an edit; those that it does not concern are carried over as they are. A lease whose fence is
        above ``granted``, every fence given before this edit, is looked for only among those that were parsed."""
        rows: list[bytes | None] = list(self._rows)
        added = []
        for name in drop:
            number = self._find(name)
            if number is not None:
                rows[number] = None
        for lease in put:
            text = jsontext.dumps(encode_lease(lease)).encode()
            number = self._find(lease.id, parsed_only=granted is not None and lease.fence > granted)
            if number is None:
                added.append(text)
            else:
                rows[number] = text
        return [row for row in rows if row is not None] + added

    def _find(self, id: str, parsed_only: bool = False) -> int | None:
        for number, lease in self._parsed.items():
            if lease.id == id:
                return number
        if parsed_only:
            return None
        needle = b'"id":' + jsontext.dumps(id).encode() + b","
        for number, row in enumerate(self._rows):
            if needle in row and self._lease(number).id == id:
                return number
        return None

    def _lease(self, number: int) -> Lease:
        lease = self._parsed.get(number)
        if lease is None:
            row = self._rows[number]
            where = f"{self._where}, lease {number + 1}"
            if not row.startswith(_HEAD):
                raise StoreCorrupt(f"{where}: it does not begin as a lease does")
            try:
                lease = decode_lease(jsontext.loads(row.decode("utf-8")), where)
            except ValueError as error:
                raise StoreCorrupt(f"{where}: {error}") from None
            self._parsed[number] = lease
        return lease


class EndedLines:
    """Ended leases as lines; those of other agents are not parsed. Each begins ``{"agent":"…"``."""

    __slots__ = ("_where", "rows")

    def __init__(self, rows: list[bytes], where: str) -> None:
        self.rows = rows
        self._where = where

    def all(self) -> list[Ended]:
        return [self._ended(number) for number in range(len(self.rows))]

    def of(self, agents: "Iterable[str]") -> list[Ended]:
        needles = tuple(b'{"agent":' + jsontext.dumps(agent).encode() + b"," for agent in agents)
        return [self._ended(number) for number, row in enumerate(self.rows) if row.startswith(needles)]

    def edited(self, forget: tuple[str, ...], told: tuple[str, ...], added: tuple[Ended, ...]) -> list[bytes]:
        """The rows after an edit."""
        rows = self.rows
        if forget or told:
            rows = []
            for number, row in enumerate(self.rows):
                ended = self._ended(number)
                if ended.lease.id in forget:
                    continue
                rows.append(_ended_row(ended.replace(told=True)) if ended.lease.id in told else row)
        return [*rows, *(_ended_row(ended) for ended in added)]

    def _ended(self, number: int) -> Ended:
        where = f"{self._where}, ended {number + 1}"
        try:
            return decode_ended(jsontext.loads(self.rows[number].decode("utf-8")), where)
        except ValueError as error:
            raise StoreCorrupt(f"{where}: {error}") from None


class NoWaiters:
    """An empty queue, which is nearly always the case: nothing of the queue needs to be loaded for it."""

    __slots__ = ()

    def count(self) -> int:
        return 0

    def ordered(self) -> "tuple[Waiter, ...]":
        return ()

    def of(self, _: "Iterable[str]") -> "tuple[Waiter, ...]":
        return ()

    def find(self, _: str) -> None:
        return None

    def backwards(self, _: int | None, __: frozenset[str], ___: frozenset[str]) -> "tuple[Waiter, ...]":
        return ()

    def outlines(self, _: frozenset[str] | None, __: frozenset[str]) -> "tuple[tuple[object, str, Whole], ...]":
        return ()


def entries_around(anchors: frozenset[str], names: frozenset[str]) -> tuple[set[bytes], tuple[bytes, ...]]:
    """How a record is found whose patterns may meet ones with these anchors, or that has one of these names: an entry
    of its ``at`` is among the first, or begins with one of the second."""
    exact = {b":" + name.encode() for name in names}
    below = []
    for anchor in anchors:
        text = anchor.encode("ascii", "ignore")
        below.append(text)
        exact.update(_above(text))
    return exact, tuple(below)


def _ended_row(ended: Ended) -> bytes:
    return jsontext.dumps(encode_ended(ended)).encode()


def _above(anchor: bytes) -> list[bytes]:
    """Every anchor that stands for a place at or above this one."""
    found = [b"", anchor, anchor.rstrip(b"/")]
    start = anchor.find(b"/")
    while start >= 0:
        found += (anchor[:start], anchor[: start + 1])
        start = anchor.find(b"/", start + 1)
    return found
