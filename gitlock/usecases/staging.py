"""Claiming what is staged: every path that the next commit changes and that its author does not hold yet."""

from gitlock.domain.agent import related
from gitlock.domain.coverage import Coverage
from gitlock.domain.lease import EXCLUSIVE
from gitlock.domain.pattern import escape, parse_pattern
from gitlock.errors import UsageError
from gitlock.git.changes import staged
from gitlock.usecases.reading import STAGED, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.pattern import Fold
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore


def staged_unheld(store: "LeaseStore", git: "Git", agent: str, fold: "Fold") -> tuple[Taken, ...]:
    """The staged paths that no exclusive lease of the agent, its parent or its children covers.

    ``UsageError`` where nothing is staged.
    """
    changes = staged(git)
    if not changes:
        raise UsageError("nothing is staged", hint="git add what you have changed, or name what to claim")
    leases = [lease for lease in store.read().leases.all() if lease.mode == EXCLUSIVE and related(lease.agent, agent)]
    own = Coverage([(lease, lease.footprint) for lease in leases if lease.include], fold)
    paths = [change.path for change in changes if not own.tags_covering(change.path)]
    return tuple(Taken(path, STAGED, (parse_pattern(escape(path)).text,)) for path in paths)
