"""The one table: which number a process exits with. Stable; agents branch on them.

docs/exit-codes.md and the "EXIT STATUS" of every help text are made from this table.
"""

from gitlock.errors import (
    ConfigError,
    GitlockError,
    LeaseOvertaken,
    NoSuchLease,
    NotTheHolder,
    RemoteRefused,
    RemoteUnreachable,
    StoreError,
    UnsafeError,
    UsageError,
)

DONE = 0
ERROR = 1
USAGE = 2
STATUS_FREE = 3
STATUS_EXPIRED = 4
STATUS_CORRUPT = 5
HELD = 10
TIMED_OUT = 11
NOT_YOURS = 12
NO_SUCH_LEASE = 13
LOST = 14
DEADLOCK = 15
REFUSED = 17
STALE_BASE = 18
OVERTAKEN = 19
UNCHECKED = 20
QUEUED = 21
VIOLATION = 22
NOT_STARTED = 127
SIGNALLED = 128

MEANINGS = {
    DONE: "done",
    ERROR: "any other error",
    USAGE: "usage: bad flag, key, pattern, TTL, map file or setting",
    STATUS_FREE: "only `status --exit-code`: free (0 = held)",
    STATUS_EXPIRED: "only `status --exit-code`: expired, and taken by nobody",
    STATUS_CORRUPT: "only `status --exit-code`: the store is corrupt or can't be read",
    HELD: "held by another, or others queue ahead: nothing was granted",
    TIMED_OUT: "the wait's time ran out",
    NOT_YOURS: "not yours: the token or identity is not the lease's",
    NO_SUCH_LEASE: "no such lease; `mine`: a lease of yours ended",
    LOST: "`run`: the lease was lost while the command ran, or --max-hold was reached",
    DEADLOCK: "deadlock: the wait would close a cycle (of one agent with itself, or of several); the cycle is named",
    REFUSED: "refused by policy or for safety",
    STALE_BASE: "`claim --fresh`: the base is stale, others have changed these paths since",
    OVERTAKEN: "the fence is old: the lease was taken over meanwhile",
    UNCHECKED: "could not check: the store can't be read, is corrupt, is locked too long, or is out of reach",
    QUEUED: "queued: a ticket was issued, or its turn has not come",
    VIOLATION: "violation: a path is held by another, or must be claimed and is not",
    NOT_STARTED: "`run`, `spawn`: the command could not be started",
    SIGNALLED: "128 + n: interrupted by signal n while waiting",
}


def code_of(error: BaseException) -> int:
    """The number for an error that stopped us."""
    for kind, code in (
        (UsageError, USAGE),
        (ConfigError, USAGE),
        (StoreError, UNCHECKED),
        (NoSuchLease, NO_SUCH_LEASE),
        (NotTheHolder, NOT_YOURS),
        (LeaseOvertaken, OVERTAKEN),
        (UnsafeError, REFUSED),
        (RemoteUnreachable, UNCHECKED),
        (RemoteRefused, REFUSED),
    ):
        if isinstance(error, kind):
            return code
    if isinstance(error, GitlockError) and error.id == "git-refused":
        return UNCHECKED
    return ERROR
