"""The one table: which number a process exits with. Stable; agents branch on them.

docs/exit-codes.md, the "EXIT STATUS" of every help text, and what agents are told are made from this table.
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

# What each asks for: what whoever gets it does next.
ADVICE = {
    DONE: "go on; after a claim, read again what it covers before you change it",
    ERROR: "read the message: it names what went wrong, and the hint what may help",
    USAGE: "mend the command, as `git lock COMMAND -h` shows it, or the line of the map file that is named",
    STATUS_FREE: "claim it, if you need it",
    STATUS_EXPIRED: "claim it, if you need it: whoever had it hears of that",
    STATUS_CORRUPT: "nothing is known, so change nothing: `git lock doctor`",
    HELD: "do not change it. Do other work with `git lock claim --ticket`, ask with `git lock request`, or claim less",
    TIMED_OUT: "it is still held: ask with `git lock request`, or take a ticket and do other work",
    NOT_YOURS: "`git lock whoami`: only the lease's own agent, or its token, can do this",
    NO_SUCH_LEASE: "`git lock mine` says which lease ended, why, and who has it now; claim again before you go on",
    LOST: "the command was stopped: look at what it left half done, then run it again",
    DEADLOCK: "give back what the others wait for, then claim all that you need at once",
    REFUSED: "read the reason: it says what has to be done first. `--force` is for a person to decide",
    STALE_BASE: "bring in what others have done (merge or rebase), read again, then claim again",
    OVERTAKEN: "another has worked there since: claim again, read again, and do your change anew on top of theirs",
    UNCHECKED: "it is not known who holds what, so change nothing: try again in a moment, then `git lock doctor`",
    QUEUED: "do other work, then `git lock claim --resume TICKET`; an offer stands for 2 minutes",
    VIOLATION: "claim what nobody has claimed (`git lock claim --staged`); leave out or ask for what another holds",
    NOT_STARTED: "nothing has run: see that the command exists and may be executed",
    SIGNALLED: "nothing was taken, and the place in the queue is gone: claim again if you still need it",
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
