"""A worktree has other commits than a moment ago (a switch, a merge): which of their paths do others hold?

Only for a warning, so it is quick rather than complete: git is asked for nothing while nobody else holds anything,
no other worktree is looked into for holders that are gone, and no remote is talked to for objects that are not here.
"""

from gitlock.domain.change import Change
from gitlock.domain.decision import HELD, Finding, decide
from gitlock.domain.lease import EXCLUSIVE
from gitlock.domain.standing import DOUBTFUL
from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.baseline import baseline
from gitlock.git.changes import changed_between, merge_base, still_changed_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.domain.snapshot import Snapshot
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git


class Arrival(Value):
    """Findings of paths that others hold exclusively: ``changed`` by this branch since it left what it is for,
    ``brought`` in just now (and not among the former)."""

    __slots__ = ("brought", "changed")

    def __init__(self, changed: tuple[Finding, ...] = (), brought: tuple[Finding, ...] = ()) -> None:
        self.changed = changed
        self.brought = brought


class Look:
    """One reading of the store, and a git that stays at home."""

    def __init__(
        self, git: "Git", snapshot: "Snapshot", agent: "Agent", policy: "Policy", fold: "Fold", facts: "Facts"
    ) -> None:
        self._git = git.offline()
        self._snapshot = snapshot
        self._agent = agent
        self._policy = policy.replace(unclaimed="allow")  # what nobody has claimed is no news here
        self._fold = fold
        self._facts = facts

    @property
    def is_alone(self) -> bool:
        """Whether nobody else holds anything."""
        leases = self._snapshot.leases
        return leases.count() == len(list(leases.of((self._agent.id,))))

    def after_switch(self, old: str, new: str, branch: str | None) -> Arrival:
        """HEAD went from the commit ``old`` to ``new``, which is the tip of ``branch`` (None: of none)."""
        if self.is_alone:
            return Arrival()
        changed = self._held(self._of_branch(branch, new))
        shown = {one.path for one in changed}
        brought = self._held([] if old == new else self._between(old, new))
        return Arrival(changed, tuple(one for one in brought if one.path not in shown))

    def after_merge(self, old: str, new: str, branch: str | None) -> Arrival:
        """The merge took HEAD from ``old`` to ``new``. What others hold and have landed is no news; what is also
        changed here is: by this branch before the merge, or not committed yet."""
        if self.is_alone:
            return Arrival()
        brought = self._held(self._between(old, new))
        if not brought:
            return Arrival()
        own = {change.path for change in self._of_branch(branch, old)}
        try:
            own |= {change.path for change in still_changed_here(self._git, [one.path for one in brought])}
        except RepositoryError:
            pass
        return Arrival(brought=tuple(one for one in brought if one.path in own))

    def _held(self, changes: list[Change]) -> tuple[Finding, ...]:
        if not changes:
            return ()
        found = decide(
            changes, self._snapshot, self._agent.id, self._agent.kind, self._policy, self._fold, self._facts
        )
        return tuple(
            one
            for one in found.findings
            if one.kind == HELD
            and one.lease is not None
            and one.lease.mode == EXCLUSIVE
            and one.standing != DOUBTFUL
        )

    def _of_branch(self, branch: str | None, tip: str) -> list[Change]:
        """What the branch has changed since it left what it is for; nothing where that is not known."""
        if branch is None:
            return []
        try:
            base = baseline(self._git, branch)
            return [] if base is None else changed_between(self._git, merge_base(self._git, base, tip), tip)
        except RepositoryError:
            return []  # cut off history, objects that are not here

    def _between(self, old: str, new: str) -> list[Change]:
        try:
            return changed_between(self._git, old, new)
        except RepositoryError:
            return []
