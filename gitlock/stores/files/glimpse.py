"""An agent's own leases as plain records, out of a state document that is beyond doubt, without reading the rest.

For who only wants to see that nothing has to be done. Wherever anything at all is not plain (a store that lies
elsewhere, was lost, is damaged, can't be trusted, has another format) there is no answer, and the store itself is to
be opened, which says what is the matter.
"""

import os

from gitlock import jsontext
from gitlock.errors import StoreError
from gitlock.stores.files.layout import read_whole
from gitlock.stores.files.seal import FORMAT, SIZE_LIMIT, body_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.instant import Instant
    from gitlock.stores.files.layout import Layout

    Record = dict[str, object]

_ROW = b'\n{"at":"'
_AT = len(_ROW)
_SEPARATOR = b"|"  # between the entries of "at", as gitlock.stores.codec has it
_HOOK_AT = '"hook_at":'  # a quotation mark in a text would be escaped
_LEASES = b'\n"leases":[\n'

KNOWN = frozenset((
    "at", "agent", "id", "kind", "mode", "keys", "include", "exclude", "reason", "fence", "acquired", "renewed",
    "renewed_mono", "boot", "ttl", "token_sha256", "holder",
))  # fmt: skip
_HARMLESS = frozenset(("tentative", "until_merged"))  # of leases on other paths


def own_records(layout: "Layout", agents: tuple[str, ...]) -> "tuple[list[Record], bool] | None":
    """The lease records of these agents, as they are written, and whether the document says more of them (a lease that
    ended, a place in the queue); None where that can't be said for sure."""
    try:
        whole = _whole(layout)
        if whole is None:
            return None
        data = whole[1]
        records: list[Record] = []
        named = 0
        for agent in agents:
            needle = _named(agent)
            named += data.count(needle)
            needle = b'",' + needle
            at = data.find(needle)
            while at >= 0:
                begin = data.rfind(b"\n", 0, at)
                if data.startswith(_ROW, begin) and data.find(b'"', begin + _AT) == at:
                    records.append(_record(data, begin))
                at = data.find(needle, at + 1)
    except (StoreError, OSError, ValueError):
        return None
    return records, named > len(records)


def near_records(
    layout: "Layout", agents: tuple[str, ...], anchors: set[str]
) -> "tuple[str, list[Record], list[Record]] | None":
    """The store's name; the lease records of these agents; and those that have one of these anchors, in the order of
    the document. None where that can't be said for sure, where such an anchor is somebody else's as well, and where the
    document says more of the agents, or something to everybody."""
    try:
        whole = _whole(layout)
        if whole is None:
            return None
        header, data = whole
        store = header.get("store")
        begin = data.find(_LEASES)
        if type(store) is not str or not store or header.get("notice") != "" or begin < 0:
            return None
        begin += len(_LEASES) - 1
        end = data.index(b"\n],", begin)
        needles = [_named(agent) for agent in agents]
        own, near = [], []
        wanted = {anchor.encode("ascii", "ignore") for anchor in anchors}
        lead = tuple([b'",' + needle for needle in needles])
        while begin < end:
            if not data.startswith(_ROW, begin):
                return None
            stop = data.find(b'"', begin + _AT)
            found = data[begin + _AT : stop]
            is_near = not wanted.isdisjoint(found.split(_SEPARATOR))
            if data.startswith(lead, stop):
                record = _record(data, begin)
                own.append(record)
                if is_near:
                    near.append(record)
            elif is_near:
                return None
            begin = data.find(b"\n", stop)
        if sum([data.count(needle) for needle in needles]) != len(own):
            return None
    except (StoreError, OSError, ValueError):
        return None
    return store, own, near


def _named(agent: str) -> bytes:
    return b'"agent":' + jsontext.dumps(agent).encode() + b","


def _record(data: bytes, begin: int) -> "Record":
    """The record of the line behind this newline; ``ValueError`` where it holds none."""
    record = jsontext.loads(data[begin + 1 : data.find(b"\n", begin + 1)].rstrip(b",").decode("utf-8"))
    if type(record) is not dict:
        raise ValueError("not a record")
    return record


def _whole(layout: "Layout") -> "tuple[Record, bytes] | None":
    """The document and its first line, if it is whole, nobody else's, and the newest; may raise ``StoreError``,
    ``OSError`` and ``ValueError``."""
    if os.path.lexists(layout.bound) or not layout.check():
        return None
    mark = read_whole(layout.mark, 4096)  # before the state, as the store does
    data = read_whole(layout.state, SIZE_LIMIT, judge=layout.judge)
    if mark is None or data is None or body_end(data) < 0:
        return None
    header = jsontext.loads(data[: data.find(b"\n")].rstrip(b",").decode("utf-8") + "}")
    known = jsontext.loads(mark.decode("ascii"))
    if type(header) is not dict or type(known) is not dict:
        return None
    return (header, data) if _is_newest(header, known, layout.folder) else None


def _is_newest(header: "Record", known: "Record", folder: str) -> bool:
    """Whether the document is of this very store, and not older than the mark says that it must be."""
    written, told = header.get("revision"), known.get("revision")
    return (
        header.get("format") == FORMAT
        and header.get("home") == folder
        and header.get("store") == known.get("store")
        and type(written) is int
        and type(told) is int
        and told <= written
    )


def hook_at(text: str) -> float | None:
    """When a hook was last seen, out of the text of a session's record: most of the time this is all that is wanted of
    it. None where none ever was."""
    _, found, rest = text.partition(_HOOK_AT)
    try:
        return float(rest.partition(",")[0].rstrip("}\n")) if found else None
    except ValueError:
        return None  # null: never


def is_quiet(record: "Record", now: "Instant", top: str, branch: str) -> bool:
    """Whether no heartbeat has to do anything about a lease: renew it, or say where it is held from by now."""
    holder, ttl, mono = record.get("holder"), record.get("ttl"), record.get("renewed_mono")
    if not record.keys() <= KNOWN | _HARMLESS or type(holder) is not dict:
        return False
    if holder.get("worktree") != top or (holder.get("branch") != branch and "until_merged" not in record):
        return False
    if not isinstance(ttl, (int, float)) or not isinstance(mono, (int, float)):
        return False
    return bool(now.boot) and record.get("boot") == now.boot and 0 <= now.mono - mono < ttl / 10
