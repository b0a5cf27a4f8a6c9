"""The seal of ``state.json``: its format's name, how large it may be, and the checksum at its end.

Apart from what reads the document, for who wants to know no more than whether it is whole.
"""

from binascii import crc32

FORMAT = "gitlock/1"
SIZE_LIMIT = 64 << 20  # bytes; a hundred thousand leases take 50 MB

CRC_LINE = b'"crc32":"%08x"}\n'
CRC_LENGTH = len(CRC_LINE % 0)


def body_end(data: bytes) -> int:
    """Where the last line begins; -1 where that does not hold the checksum of all before it."""
    end = len(data) - CRC_LENGTH
    return end if end >= 0 and data[end:] == CRC_LINE % crc32(memoryview(data)[:end]) else -1
