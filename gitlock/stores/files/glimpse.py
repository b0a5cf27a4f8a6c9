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
    from gitlock.stores.files.layout import Layout

    Record = dict[str, object]

_ROW = b'\n{"at":"'


def own_records(layout: "Layout", agents: tuple[str, ...]) -> "tuple[list[Record], bool] | None":
    """The lease records of these agents, as they are written, and whether the document says more of them (a lease that
    ended, a place in the queue); None where that can't be said for sure."""
    try:
        if os.path.lexists(layout.bound) or not layout.check():
            return None
        mark = read_whole(layout.mark, 4096)  # before the state, as the store does
        data = read_whole(layout.state, SIZE_LIMIT, judge=layout.judge)
        if mark is None or data is None:
            return None
        end = body_end(data)
        if end < 0 or not _is_newest(data[: data.find(b"\n")], mark, layout.folder):
            return None
        records: list[Record] = []
        named = 0
        for agent in agents:
            needle = b'"agent":' + jsontext.dumps(agent).encode() + b","
            named += data.count(needle)
            needle = b'",' + needle
            at = data.find(needle)
            while at >= 0:
                begin = data.rfind(b"\n", 0, at)
                if data.startswith(_ROW, begin) and data.find(b'"', begin + len(_ROW)) == at:
                    record = jsontext.loads(data[begin + 1 : data.find(b"\n", at)].rstrip(b",").decode("utf-8"))
                    if type(record) is not dict:
                        return None
                    records.append(record)
                at = data.find(needle, at + 1)
    except (StoreError, OSError, ValueError):
        return None
    return records, named > len(records)


def _is_newest(first: bytes, mark: bytes, folder: str) -> bool:
    """Whether the document is of this very store, and not older than the mark says that it must be."""
    header = jsontext.loads(first.rstrip(b",").decode("utf-8") + "}")
    known = jsontext.loads(mark.decode("ascii"))
    if type(header) is not dict or type(known) is not dict:
        return False
    written, told = header.get("revision"), known.get("revision")
    return (
        header.get("format") == FORMAT
        and header.get("home") == folder
        and header.get("store") == known.get("store")
        and type(written) is int
        and type(told) is int
        and told <= written
    )
