"""What the file system under a store can promise. Tried out with a file of our own, which is gone afterwards."""

import os
import tempfile
import time

from gitlock.domain.value import Value

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOUNTS = "/proc/self/mountinfo"

# Shared with other machines (or with a host outside), where a lock may hold on one side only.
NETWORK = frozenset((
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "glusterfs", "lustre",
    "ocfs2", "gfs2", "gpfs", "beegfs", "vboxsf", "prl_fs", "drvfs",
))  # fmt: skip
_TRIAL = 1_700_000_000_123_456_789  # a time with something in every digit
_FINE = 1_000_000  # nanoseconds: what keeps milliseconds is fine enough


class Medium(Value):
    """``kind`` is the system's word for the file system, ``source`` what is mounted. ``locks``, ``fine`` (times of
    files below a second) and ``skew`` (the disk's clock less ours, in seconds) are None where it could not be tried;
    ``error`` says why nothing could be written."""

    __slots__ = ("error", "fine", "folder", "kind", "locks", "network", "skew", "source")

    def __init__(
        self,
        folder: str,
        kind: str,
        source: str,
        network: bool,
        locks: bool | None,
        fine: bool | None,
        skew: float | None,
        error: str,
    ) -> None:
        self.folder = folder
        self.kind = kind
        self.source = source
        self.network = network
        self.locks = locks
        self.fine = fine
        self.skew = skew
        self.error = error


def look_at_medium(folder: str, mounts: str = MOUNTS) -> Medium:
    """The file system of ``folder``, which exists."""
    kind, source = mounted(folder, mounts)
    network = kind in NETWORK or kind.startswith("fuse")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".trial-") as file:
            file.write(b"x")
            file.flush()
            skew = os.fstat(file.fileno()).st_mtime - time.time()
            os.utime(file.name, ns=(_TRIAL, _TRIAL))
            fine = abs(os.stat(file.name).st_mtime_ns - _TRIAL) < _FINE
            return Medium(folder, kind, source, network, _locks(file.fileno()), fine, skew, "")
    except OSError as error:
        return Medium(folder, kind, source, network, None, None, None, error.strerror or str(error))


def mounted(folder: str, mounts: str = MOUNTS) -> tuple[str, str]:
    """The kind of the file system and what is mounted there; "unknown" where the system has no such list."""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            rows = file.read().splitlines()
    except OSError:
        return "unknown", ""
    path = os.path.realpath(folder)
    best, kind, source = "", "unknown", ""
    for row in rows:
        left, _, right = row.partition(" - ")
        words, facts = left.split(" "), right.split(" ")
        if len(words) < 5 or len(facts) < 2:
            continue
        point = _plain(words[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # what is mounted later lies above
            best, kind, source = point, facts[0], _plain(facts[1])
    return kind, source


def _plain(text: str) -> str:
    """A name as the list writes it: blanks and backslashes as octal numbers."""
    parts = text.split("\\")
    return parts[0] + "".join(
        chr(int(part[:3], 8)) + part[3:] if part[:3].isdigit() else "\\" + part for part in parts[1:]
    )


def _locks(fd: int) -> bool | None:
    if fcntl is None:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
