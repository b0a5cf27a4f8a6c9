"""After a shell command: what did it change? Claimed where it is free and surely this session's, else reported."""

from gitlock.domain.decision import HELD, Finding
from gitlock.domain.lease import Lease
from gitlock.domain.policy import OFF
from gitlock.domain.session import DONE, TOUCHED_LIMIT, WORKING, Session
from gitlock.domain.sitting import is_under_way
from gitlock.domain.standing import DEAD
from gitlock.domain.value import Value
from gitlock.git.changes import worktree_changes
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.edit import before_edit, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.lease import Holder
    from gitlock.usecases.edit import Ground

LATELY = 3600.0  # seconds since it was last heard of that a session of unknown liveness counts as there


class Observed(Value):
    """``touched`` are all changed paths of the worktree; ``taken`` what was claimed of them; ``foreign`` what is held
    by others and was changed by the command; ``shared`` says that others are at work in the same worktree."""

    __slots__ = ("foreign", "shared", "taken", "touched")

    def __init__(
        self,
        touched: tuple[str, ...],
        taken: tuple[Lease, ...] = (),
        foreign: tuple[Finding, ...] = (),
        *,
        shared: bool = False,
    ) -> None:
        self.touched = touched
        self.taken = taken
        self.foreign = foreign
        self.shared = shared


def observe(
    site: "Ground", before: Session | None, named: "tuple[str, ...]", others: bool, *, act: bool = True
) -> Observed:
    """What is changed now. New is what was not when this session last looked, and what the command ``named`` itself.

    With ``others`` at work in the worktree nobody knows whose a change is: then nothing is claimed, and only what the
    command named is reported. Without ``act`` it only looks.
    """
    top = site.repository.require_top()
    changed = tuple(change.path for change in worktree_changes(site.repository.git, top))
    if not act or len(changed) > TOUCHED_LIMIT:
        return Observed(changed, shared=others)
    known = set(before.touched) if before is not None and before.touched_at is not None else set(changed)
    fresh = tuple(path for path in changed if path not in known or path in named)
    return weigh(site, changed, fresh, named, others)


def weigh(
    site: "Ground", changed: tuple[str, ...], fresh: tuple[str, ...], named: tuple[str, ...], others: bool
) -> Observed:
    """Whose the ``fresh`` ones among the changed paths are; what is nobody's is claimed, without ``others``."""
    if not fresh:
        return Observed(changed, shared=others)
    decision = judge(site, fresh, site.store.read())
    foreign = tuple(
        one for one in decision.findings
        if one.kind == HELD and one.mode != OFF and (one.path in named or not others)
    )  # fmt: skip
    taken: tuple[Lease, ...] = ()
    if decision.takeable and not others:
        taken = before_edit(site, decision.takeable, "").taken
    return Observed(changed, taken, foreign, shared=others)


def others_here(
    site: "Ground", own: str, liveness: "Callable[[Holder], str]", wall: float, *, since: float | None = None
) -> list[Session]:
    """Other sessions that are at work in this worktree: not dead, not ended, and heard of lately. A sub-agent and its
    parent are one. With ``since``, without those that have done nothing from then on: whose turn had ended, or who
    waited, and have no tool call under way."""
    top = site.repository.top
    root = site.agent.id.partition("/")[0]
    found = []
    for one in SessionBook(site.store.layout).all():
        if one.id == own or one.holder.worktree != top or one.state == DONE or one.agent.partition("/")[0] == root:
            continue
        if since is not None and one.state != WORKING and one.since <= since and not is_under_way(one, wall):
            continue
        word = liveness(one.holder)
        if word != DEAD and (word == "alive" or wall - one.active < LATELY):
            found.append(one)
    return found
