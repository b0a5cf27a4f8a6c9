"""What stops us, as exceptions. Expected answers (granted, refused, a violation) are values, never exceptions.

    GitlockError                  base; carries ``id`` (kebab-case, part of the JSON), ``message`` and ``hint``
    ├─ UsageError                 bad-usage, bad-key, bad-pattern, bad-path, bad-ttl, bad-agent, no-token
    ├─ ConfigError                bad-map-file, bad-setting; names file and line
    ├─ RepositoryError            not-a-repository, bare-repository, git-refused
    │   ├─ GitFailed              git-failed: what was asked, its status, what it said
    │   ├─ RemoteUnreachable      remote-unreachable: another repository gave no answer, or not in time
    │   └─ RemoteRefused          remote-refused: another repository does not take what we send
    ├─ LeaseError
    │   ├─ NoSuchLease            no-such-lease
    │   ├─ NotTheHolder           not-yours
    │   └─ LeaseOvertaken         overtaken
    ├─ UnsafeError                unsafe: refused by policy or for safety
    └─ StoreError                 store-error; the store could not be read or written: never "empty"
        ├─ StoreUnavailable       store-unavailable: permission, full disk, read-only, out of reach
        │   └─ StoreForeign       store-foreign: something else lies where a file of the store belongs
        ├─ StoreCorrupt           store-corrupt: names the file and what is wrong with it
        ├─ StoreTooNew            store-too-new: a format of a later version, never guessed at
        ├─ StoreMismatch          store-mismatch: this clone is bound to another store
        └─ StoreBusy              store-busy: the guard could not be had in time; names who is in the way

The words are made where they are known; the number that a process exits with is decided in one place,
``gitlock.entrypoints.exitcodes``. This module imports nothing.
"""


class GitlockError(Exception):
    """Something stopped us. ``hint`` is one command or sentence that helps."""

    id = "error"

    def __init__(self, message: str, *, hint: str | None = None, id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if id is not None:
            self.id = id

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, dict(self.__dict__)))


def _rebuild(kind: type[GitlockError], message: str, state: dict[str, object]) -> GitlockError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class UsageError(GitlockError):
    """The words that were given do not make sense: a flag, a key, a pattern, a path, a duration."""

    id = "bad-usage"


class ConfigError(GitlockError):
    """A setting or the map file can't be understood. No policy is ever guessed from it."""

    id = "bad-map-file"


class RepositoryError(GitlockError):
    """There is no repository here, or git refuses this one."""

    id = "not-a-repository"


class GitFailed(RepositoryError):
    """Git ended with an error. ``argv``, ``status`` and ``stderr`` say how."""

    id = "git-failed"

    def __init__(self, argv: tuple[str, ...], status: int, stderr: str, *, hint: str | None = None) -> None:
        said = stderr.strip().splitlines()
        super().__init__(
            f"git {argv[0] if argv else ''} failed ({status}): {said[0] if said else 'it said nothing'}", hint=hint
        )
        self.argv = argv
        self.status = status
        self.stderr = stderr


class RemoteUnreachable(RepositoryError):
    """Another repository gave no answer, or not in time."""

    id = "remote-unreachable"


class RemoteRefused(RepositoryError):
    """Another repository answered, and does not take what we send."""

    id = "remote-refused"


class LeaseError(GitlockError):
    """A lease is not what the caller takes it to be."""

    id = "lease-error"


class NoSuchLease(LeaseError):
    """Nothing of that name is held."""

    id = "no-such-lease"


class NotTheHolder(LeaseError):
    """It is somebody else's, or the token is not the one that it was granted with."""

    id = "not-yours"


class LeaseOvertaken(LeaseError):
    """It lapsed and somebody has taken it since."""

    id = "overtaken"


class UnsafeError(GitlockError):
    """Refused by policy or for safety."""

    id = "unsafe"


class StoreError(GitlockError):
    """The store could not be read or written. It is unknown what is held."""

    id = "store-error"


class StoreUnavailable(StoreError):
    """Permission, a full or read-only disk, or out of reach."""

    id = "store-unavailable"


class StoreForeign(StoreUnavailable):
    """A link, a pipe, a folder or somebody else's file lies where a file of the store belongs."""

    id = "store-foreign"


class StoreCorrupt(StoreError):
    """The state is there and can't be read in full."""

    id = "store-corrupt"


class StoreTooNew(StoreError):
    """A later git-lock wrote it."""

    id = "store-too-new"


class StoreMismatch(StoreError):
    """This clone is bound to another store; two stores would exclude nobody."""

    id = "store-mismatch"


class StoreBusy(StoreError):
    """The guard could not be had in time."""

    id = "store-busy"


class Interrupted(BaseException):
    """A signal ended a wait; ``number`` is which. No error: it passes every handler of errors."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
