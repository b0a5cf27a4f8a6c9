"""What was saved of a worktree before it was removed: enough to bring it back as it was."""

from gitlock.domain.value import Value

KEPT = 30 * 86400.0  # seconds that one is kept
ASIDE_BYTES = 16 << 20  # how large the ignored files of one worktree may be together, to be saved
ASIDE_FILES = 500  # and how many
OPERATION = "operation"  # the field of a record that names what git was in the middle of


class Aside(Value):
    """An ignored file that was saved outside git's objects (it may be a secret): its permissions, or where the link
    leads (``link``)."""

    __slots__ = ("link", "mode", "path")

    def __init__(self, path: str, mode: int, link: str | None = None) -> None:
        self.path = path
        self.mode = mode
        self.link = link


class Saved(Value):
    """The record of one snapshot. ``commit`` holds the state (kept by ``refs/gitlock/snapshots/<id>``), ``head`` is the
    commit that was checked out on ``branch`` (None: detached; ``made_branch``: it was made for the worktree), ``aside``
    the ignored files in the order of their numbers, of ``bytes`` together. ``why`` are the reasons against the removal
    that it went over. ``at`` is wall clock, in seconds."""

    __slots__ = (
        "agent", "aside", "at", "base", "base_name", "branch", "bytes", "commit", "extra", "head", "id", "made_branch",
        "path", "why", "worktree",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        agent: str,
        worktree: str,
        path: str,
        branch: str | None,
        made_branch: bool,
        head: str | None,
        commit: str,
        base: str,
        base_name: str,
        at: float,
        bytes: int,
        aside: tuple[Aside, ...] = (),
        why: tuple[str, ...] = (),
        extra: "dict[str, object] | None" = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.worktree = worktree
        self.path = path
        self.branch = branch
        self.made_branch = made_branch
        self.head = head
        self.commit = commit
        self.base = base
        self.base_name = base_name
        self.at = at
        self.bytes = bytes
        self.aside = aside
        self.why = why
        self.extra = extra or {}

    @property
    def operation(self) -> str | None:
        """What git was in the middle of, where that was saved as well."""
        found = self.extra.get(OPERATION)
        return found if isinstance(found, str) else None

    @property
    def ref(self) -> str:
        """What keeps its objects."""
        return f"refs/gitlock/snapshots/{self.id}"
