"""A command of an agent's says that its session is at work. Cheap where that is known already, and it never fails."""

import os
import time

from gitlock.domain.session import QUEUED, WORKING, session_id
from gitlock.git.badge import read_badge
from gitlock.git.repository import read_small
from gitlock.wiring.identity import session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.wiring.site import Site

FRESH = 30.0  # seconds that a session's file is good enough as it is
_AT_WORK = f'"state":"{WORKING}"'


def has_session(site: "Site") -> bool:
    """Whether whoever asks is a session: of an agent program, in an agent's own worktree, or registered by a process.
    A name that is only given (``--agent``, a script's ``GITLOCK_AGENT``) is none."""
    if site.agent.source == "GITLOCK_AGENT":
        return session_of(site.environ) is not None or read_badge(site.repository.git_dir) is not None
    return site.agent.source in ("session", "worktree", "process")


def attend(site: "Site", *, acts: bool = True) -> None:
    """The session is at work: whoever ``acts`` (claims, releases) does not wait for a person any more. Two looks at its
    file if that says so and is fresh."""
    if not has_session(site):
        return
    try:
        name = session_id(site.agent.id, site.session, site.repository.top)
        path = os.path.join(site.store.layout.sessions, name + ".json")
        age = time.time() - os.stat(path).st_mtime
        if 0 <= age < FRESH and (not acts or _AT_WORK in (read_small(path) or "")):
            return
    except OSError:
        pass  # there is no file yet
    from gitlock.usecases.presence import touch_session
    from gitlock.wiring.travelling import remember_place

    remember_place(site, touch_session(site, state=WORKING if acts else None))


def attend_waiting(site: "Site", title: str) -> "Callable[[], None]":
    """The session is queued for a lease; answers what takes that back."""
    if not has_session(site):
        return lambda: None
    from gitlock.usecases.presence import touch_session

    touch_session(site, state=QUEUED, message=title)

    def go_on() -> None:
        touch_session(site, state=WORKING)

    return go_on
