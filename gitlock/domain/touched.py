"""What a worktree has touched: paths that are changed in it, committed there or not."""

from gitlock.domain.value import Value

STAGED, UNSTAGED, UNTRACKED, UNMERGED, COMMITTED = "staged", "unstaged", "untracked", "unmerged", "committed"
UNCOMMITTED = frozenset((STAGED, UNSTAGED, UNTRACKED, UNMERGED))


class Touched(Value):
    """One path. ``kinds`` are the words above, in that order: more than one may hold. ``gone`` says that it is not
    there any more (deleted, or the old name of a rename)."""

    __slots__ = ("gone", "kinds", "path")

    def __init__(self, path: str, kinds: tuple[str, ...], *, gone: bool = False) -> None:
        self.path = path
        self.kinds = kinds
        self.gone = gone

    @property
    def is_dirty(self) -> bool:
        """Whether something of it is not committed."""
        return not UNCOMMITTED.isdisjoint(self.kinds)


class Sight(Value):
    """What was seen in one worktree. ``head`` is its commit (None before the first one); ``base`` where it left what
    its work is for, and ``base_name`` what that is; ``ahead`` and ``behind`` count commits against it, ``unpushed``
    those that no remote has. None: it is not known, or there is no such thing."""

    __slots__ = ("ahead", "base", "base_name", "behind", "branch", "head", "touched", "unpushed")

    def __init__(
        self,
        *,
        head: str | None,
        branch: str | None,
        base: str | None,
        base_name: str | None,
        ahead: int | None,
        behind: int | None,
        unpushed: int | None,
        touched: tuple[Touched, ...],
    ) -> None:
        self.head = head
        self.branch = branch
        self.base = base
        self.base_name = base_name
        self.ahead = ahead
        self.behind = behind
        self.unpushed = unpushed
        self.touched = touched

    @property
    def dirty(self) -> int:
        """How many paths are changed and not committed."""
        return sum(1 for one in self.touched if one.is_dirty)
