"""``state.json``, the one authoritative document: text to rows and back.

    {"format":"gitlock/1","store":"…","epoch":1,"revision":17,"counter":41,"order":5,…
    "leases":[
    {"at":…},
    {"at":…}
    ],
    "waiters":[
    ],
    "ended":[
    ],
    "crc32":"89abcdef"}

It is one JSON document and one record a line. The checksum is over all bytes before its own line: of random
corruptions one in 25 is still valid JSON, so syntax proves nothing. Sections and header fields that a later version
added are carried along.
"""

from binascii import crc32

from gitlock import jsontext
from gitlock.domain.lease import EPOCH_LIMIT
from gitlock.domain.value import Value
from gitlock.errors import StoreCorrupt, StoreTooNew
from gitlock.stores.codec import Fields
from gitlock.stores.files.layout import MEND
from gitlock.stores.files.seal import CRC_LINE, FORMAT, SIZE_LIMIT, body_end

__all__ = ["FORMAT", "SIZE_LIMIT", "State", "format_state", "fresh", "parse_state"]

_SECTION_END = b"],"


class State(Value):
    """One revision as text. ``header`` keeps every field of the first line."""

    __slots__ = ("counter", "epoch", "header", "order", "revision", "sections", "store")

    def __init__(self, header: dict[str, object], sections: dict[str, list[bytes]], where: str) -> None:
        read = Fields(header, where)
        self.header = header
        self.sections = sections
        self.store = read.text("store")
        self.epoch = read.whole("epoch")
        if self.epoch >= EPOCH_LIMIT:
            raise read.fault("epoch")
        self.revision = read.whole("revision")
        self.counter = read.whole("counter")
        self.order = read.whole("order")


def fresh(
    store: str,
    epoch: int = 1,
    counter: int = 0,
    revision: int = 0,
    notice: str = "",
    until: float = 0.0,
    ended: "list[bytes] | None" = None,
) -> State:
    """A store that nothing was written to yet. ``notice`` is for everybody, ``until`` a wall time."""
    header: dict[str, object] = {
        "format": FORMAT, "store": store, "epoch": epoch, "revision": revision, "counter": counter, "order": 0,
        "notice": notice, "notice_until": until,
    }  # fmt: skip
    return State(header, {"leases": [], "waiters": [], "ended": ended or []}, "new state")


def parse_state(data: bytes, where: str) -> State:
    """The state that ``data`` holds; ``StoreCorrupt`` or ``StoreTooNew`` if that can't be told in full."""
    if not data:
        raise _corrupt(where, "it is empty")
    _refuse_other_formats(data, where)
    head_end = data.find(b"\n")
    header = _header(data[:head_end] if head_end >= 0 else data, where)
    end_of_body = body_end(data)
    if end_of_body < head_end or end_of_body < 0:
        raise _corrupt(where, "its checksum does not match (cut short, damaged, or edited by hand)")
    rows = data[head_end + 1 : end_of_body].split(b"\n")
    sections: dict[str, list[bytes]] = {}
    at = 0
    try:
        while at < len(rows) - 1:  # the split leaves an empty last piece
            if not (rows[at].startswith(b'"') and rows[at].endswith(b'":[')):
                raise _corrupt(where, f"line {at + 2} should begin a section")
            end = rows.index(_SECTION_END, at + 1)
            found = rows[at + 1 : end]
            sections[rows[at][1:-3].decode()] = [row[:-1] for row in found[:-1]] + found[-1:]
            at = end + 1
    except ValueError:
        raise _corrupt(where, "a section does not end") from None
    if not {"leases", "waiters", "ended"} <= sections.keys():
        raise _corrupt(where, "a section is missing")
    return State(header, sections, where)


def format_state(state: State) -> bytes:
    """The bytes of a state."""
    parts = [jsontext.dumps(state.header).encode()[:-1], b",\n"]
    for name, rows in state.sections.items():
        parts += (b'"' + name.encode() + b'":[\n', b",\n".join(rows), b"\n" if rows else b"", _SECTION_END, b"\n")
    crc = 0
    for part in parts:  # a large document is put together once, and not copied for each line at its end
        crc = crc32(part, crc)
    return b"".join((*parts, CRC_LINE % crc))


def _refuse_other_formats(data: bytes, where: str) -> None:
    """The format is the first field of every version, however the rest is laid out."""
    first = b"".join(data[:200].split())
    lead = b'{"format":"'
    written = first[len(lead) :].partition(b'"')[0] if first.startswith(lead) else b""
    if written == FORMAT.encode():
        return
    shown = written[:40].decode("ascii", "replace")
    name, _, number = written.partition(b"/")
    if name == b"gitlock" and number.isdigit() and len(number) < 10 and int(number) > 1:
        raise StoreTooNew(
            f"{where} has the format '{shown}' of a later git-lock; this one reads '{FORMAT}'",
            hint="pip install --upgrade git-lock",
        )
    raise _corrupt(where, f"it has the format '{shown}'" if written else "it names no format")


def _header(line: bytes, where: str) -> dict[str, object]:
    try:
        header = jsontext.loads(line.decode("utf-8").rstrip(",") + "}")
    except ValueError:
        raise _corrupt(where, "its first line is not understood") from None
    if type(header) is not dict:
        raise _corrupt(where, "its first line is not understood")
    return header


def _corrupt(where: str, why: str) -> StoreCorrupt:
    return StoreCorrupt(f"can't read {where}: {why}", hint=MEND)
