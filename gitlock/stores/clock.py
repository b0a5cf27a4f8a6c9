"""The machine's clocks, as one ``Instant``.

``CLOCK_MONOTONIC`` with the boot id and the offset of the time namespace beside it: it stops while the machine is
suspended, as all who contend do, and nobody can step it. Measured in docs/protocol.md, "Time".
"""

import os
import sys
import time

from gitlock.domain.instant import Instant


class SystemClock:
    """Reads the clocks. ``boot`` is looked up once."""

    __slots__ = ("boot",)

    def __init__(self) -> None:
        self.boot = boot_id()

    def now(self) -> Instant:
        """This instant, to the millisecond."""
        return Instant(round(time.time(), 3), round(time.monotonic(), 3), self.boot)


def boot_id() -> str:
    """Which boot (and which time namespace) the monotonic clock counts in; empty where the system can't say."""
    if sys.platform == "linux":
        boot = _text("/proc/sys/kernel/random/boot_id").strip()
        for row in _text("/proc/self/timens_offsets").splitlines():
            words = row.split()
            if words[:1] == ["monotonic"] and words[1:] != ["0", "0"]:
                boot += "+" + ".".join(words[1:])
        return boot
    if sys.platform == "darwin":
        return _boot_session()
    return ""


def _text(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(fd, 4096).decode("ascii", "replace")
    finally:
        os.close(fd)


def _boot_session() -> str:
    """The name that macOS gives this boot, asked of the kernel (``sysctl kern.bootsessionuuid``)."""
    import ctypes

    libc = ctypes.CDLL(None)
    buffer = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(64)
    failed = libc.sysctlbyname(b"kern.bootsessionuuid", buffer, ctypes.byref(size), None, 0)
    return "" if failed else buffer.value.decode("ascii", "replace")
