"""Presence: what a session says of itself, written at its beats. No lease depends on it, and nothing here fails."""

from gitlock.domain.session import MESSAGE_LIMIT, TOUCHED_LIMIT, WAITING, WATCHED, WORKING, Session, session_id
from gitlock.domain.sitting import is_under_way
from gitlock.domain.standing import DEAD
from gitlock.errors import GitlockError
from gitlock.git.badge import read_badge
from gitlock.stores.files.sessions import SessionBook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from gitlock.domain.agent import Agent
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Holder, Lease
    from gitlock.git.repository import Repository
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.store import FileStore

    class Here(Protocol):
        """This machine."""

        def holder_liveness(self, holder: Holder) -> str: ...

    class Place(Protocol):
        """Where a session is at work: what of a site is needed."""

        agent: Agent
        repository: Repository

        @property
        def store(self) -> FileStore: ...

        @property
        def here(self) -> Here: ...

        def holder(self, pid: int | None = None) -> Holder: ...

        def now(self) -> Instant: ...


OFTEN = 30.0  # seconds: a beat that changes nothing but the time is not written more often


def touch_session(
    site: "Place",
    *,
    branch: str | None = None,
    touched: "Iterable[str] | None" = None,
    state: str | None = None,
    message: str = "",
    hook: bool = False,
    program: str | None = None,
) -> Session | None:
    """The session is at work: renews its file, or makes it. What is not given stays as it was.

    ``hook`` says that a hook of the agent's own program was the occasion; ``program`` is the name of one that has none
    and is watched. A person gets no file by this unless there
    is one (or ``state`` is given). Answers the session as it is now; None where there is none, or nothing could be
    written. Never raises.
    """
    try:
        return _touch(site, branch, touched, state, message, hook, program)
    except (GitlockError, OSError):
        return None


def own_id(site: "Place", holder: "Holder") -> str:
    """The id of the session that asks."""
    return session_id(site.agent.id, holder.session, holder.worktree)


def waits_for_person(
    layout: "Layout", lease: "Lease", liveness: "Callable[[Holder], str]", wall: float = 0.0
) -> bool:
    """Whether the session that holds the lease waits for a person, or (at ``wall``) for a tool call that has not
    ended, and is not known to be dead. Reads one small file: it may be asked under the guard."""
    holder = lease.holder
    found = SessionBook(layout).find(session_id(lease.agent, holder.session, holder.worktree))
    if found is None or found.agent != lease.agent or not (found.state == WAITING or is_under_way(found, wall)):
        return False
    return liveness(found.holder) != DEAD


def _touch(
    site: "Place",
    branch: str | None,
    touched: "Iterable[str] | None",
    state: str | None,
    message: str,
    hook: bool,
    program: str | None,
) -> Session | None:
    book = SessionBook(site.store.layout)
    holder = site.holder()
    if branch is not None:
        holder = holder.replace(branch=branch)
    wall = site.now().wall
    name = own_id(site, holder)
    before = book.find(name)
    if before is None and site.agent.kind == "human" and state is None:
        return None
    session = before if before is not None else _new(site, name, holder, wall, program)
    if holder.pid is None and holder.host == session.holder.host and site.here.holder_liveness(session.holder) != DEAD:
        # A command that finds no process of its agent's above it says nothing about the one that was found before.
        old = session.holder
        holder = holder.replace(pid=old.pid, started=old.started, pid_space=old.pid_space, boot=old.boot)
    after = session.replace(agent=site.agent.id, kind=site.agent.kind, holder=holder, active=wall)
    if state is not None:
        after = after.now_in(state, wall, message[:MESSAGE_LIMIT])
    if touched is not None:
        after = after.replace(touched=tuple(touched)[:TOUCHED_LIMIT], touched_at=wall)
    if hook:
        after = after.replace(hook_at=wall)
    if before is None or _is_news(before, after):
        book.write(after)
    return after


def _new(site: "Place", name: str, holder: "Holder", wall: float, program: str | None) -> Session:
    badge = read_badge(site.repository.git_dir)
    extra: dict[str, object] | None = None if program is None else {WATCHED: True}
    if program is None and holder.session is not None:
        program = holder.session.partition("-")[0]
    return Session(
        id=name,
        agent=site.agent.id,
        kind=site.agent.kind,
        program=program,
        holder=holder,
        worktree_id=badge[0] if badge is not None else None,
        state=WORKING,
        since=wall,
        message="",
        waited=0.0,
        started=wall,
        active=wall,
        extra=extra,
    )


def _is_news(before: Session, after: Session) -> bool:
    """Whether anything but the time has changed, or that by enough."""
    if not 0 <= after.active - before.active < OFTEN or (before.touched_at is None) != (after.touched_at is None):
        return True
    if after.hook_at is not None and (before.hook_at is None or after.hook_at - before.hook_at >= OFTEN):
        return True  # a command of the session's may have renewed the rest
    same = {"active": 0.0, "hook_at": None, "touched_at": None}
    return before.replace(**same) != after.replace(**same)
