"""A mark that a failed command left on what it held: the next taker is told what failed, and when."""

from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import Lease
from gitlock.domain.overlap import contains, overlap
from gitlock.domain.pattern import Fold
from gitlock.domain.value import Value

COMMAND_LIMIT = 200  # characters of the command that are kept
KEPT = 7 * 86400.0  # seconds after which nobody needs to be told any more


class Taint(Value):
    """``command`` is what was run, ``code`` how it ended (None: it was stopped or never started), ``why`` in a word."""

    __slots__ = ("agent", "at", "code", "command", "exclude", "id", "include", "keys", "why")

    def __init__(
        self,
        *,
        id: str,
        agent: str,
        keys: tuple[str, ...],
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        command: str,
        code: int | None,
        why: str,
        at: float,
    ) -> None:
        self.id = id
        self.agent = agent
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.command = command
        self.code = code
        self.why = why
        self.at = at

    @property
    def footprint(self) -> Footprint:
        """The paths that it is on."""
        return Footprint.of(self.include, self.exclude)

    def touches(self, lease: Lease, fold: Fold, now: float) -> bool:
        """Whether the mark is on something that the lease holds, and not too old to matter (``now`` is wall time)."""
        if now - self.at > KEPT:
            return False
        if set(self.keys) & set(lease.names):
            return True
        if not self.include or not lease.include:
            return False
        return overlap(self.footprint, lease.footprint, fold).meets

    def is_within(self, lease: Lease, fold: Fold) -> bool:
        """Whether the lease holds all that the mark is on: a success there says that nothing of it is broken."""
        return set(self.keys) <= set(lease.names) and (
            not self.include or (bool(lease.include) and contains(lease.footprint, self.footprint, fold))
        )
