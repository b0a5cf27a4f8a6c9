"""What a map file said, kept beside the store under a name made of its content's hash: ``gitlock.wiring.policies``
writes it. Apart from that, for who only wants to see whether such a policy is plain.
"""

import os
from binascii import crc32

from gitlock import jsontext
from gitlock.digest import sha256_hex
from gitlock.errors import StoreError
from gitlock.stores.files.layout import read_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CACHE_FORMAT = 1  # raise it whenever Policy or KeyRule changes its fields
LIMIT = 4 << 20  # bytes: four times the longest map file


def cache_file(data: bytes, store_folder: str) -> str:
    """Where the policy of a map file with this content is kept."""
    return os.path.join(store_folder, f"map-{sha256_hex(data)}.json")


def kept_fields(path: str) -> "dict[str, Any] | None":
    """The fields of the policy that is kept there; None where there is none. One that is half written, or damaged, is
    told by its checksum."""
    try:
        kept = read_whole(path, LIMIT) or b""
        if kept[:9] != b"%08x " % crc32(kept[9:]):
            return None
        found = jsontext.loads(kept[9:].decode("ascii"))
    except (StoreError, ValueError):
        return None
    if type(found) is not dict or found.get("cache") != CACHE_FORMAT:
        return None
    fields = found.get("policy")
    return fields if type(fields) is dict else None
