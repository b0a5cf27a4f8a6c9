"""Watching a program without hooks: what it changes in its worktree is looked at every now and then, and at its end.

What is nobody's is claimed for it, what is another's is said. Both only where nobody else can have done it: sessions
that are at work in the same worktree are not told apart by their changes. What it writes and commits between two looks
is not seen here, but by the gates of the commit.
"""

import os
import time

from gitlock.domain.session import TOUCHED_LIMIT, WORKING
from gitlock.domain.sitting import AGAIN
from gitlock.errors import GitlockError
from gitlock.git.changes import worktree_changes
from gitlock.usecases.observe import others_here, weigh
from gitlock.usecases.presence import own_id, touch_session
from gitlock.usecases.renew import pulse
from gitlock.usecases.trespass import write_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from gitlock.domain.decision import Finding
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Holder, Lease
    from gitlock.usecases import edit

    class Here(Protocol):
        """This machine."""

        def holder_liveness(self, holder: Holder) -> str: ...

    class Ground(edit.Ground, Protocol):
        """What of a site is needed."""

        @property
        def here(self) -> Here: ...

        def now(self) -> Instant: ...

    Trace = tuple[int, int, int] | None  # what tells one content of a file from the next; None for one that is gone
    Tell = Callable[[tuple[Finding, ...]], object]
    Passes = Callable[[Ground, Lease], bool]

PAUSE = 2.0  # seconds between two looks
SHARE = 20  # and at least so many times as long as a look takes: a large worktree is not looked at all day


class Watcher:
    """One program, watched. ``tell`` is given what others hold and it has changed, but for leases that it ``passes``
    over; ``next`` is when the next look is due; ``fault`` the last one that kept us from looking, said to ``failed``
    when it is another one than before."""

    def __init__(
        self,
        site: "Ground",
        program: str,
        tell: "Tell",
        failed: "Callable[[GitlockError], object]",
        *,
        passes: "Passes | None" = None,
    ) -> None:
        self.site = site
        self.passes = passes
        self.program = program
        self.tell = tell
        self.failed = failed
        self.fault = ""
        self.next = 0.0
        self._seen: dict[str, Trace] | None = None
        self._since = 0.0
        self._told: dict[tuple[str, str], float] = {}

    def begin(self) -> None:
        """What is changed already is none of the program's."""
        self.attend()
        self._guarded(self._first)

    def look(self) -> None:
        """Looks if it is time. Never raises."""
        if time.monotonic() >= self.next:
            self.look_now()

    def look_now(self) -> None:
        """Looks."""
        begun = time.monotonic()
        self.attend()
        self._guarded(self._look)
        done = time.monotonic()
        self.next = done + max(PAUSE, (done - begun) * SHARE)

    def attend(self, state: str = WORKING) -> None:
        """The program is there (or, in another state, not any more)."""
        touched = tuple(self._seen) if self._seen else None
        touch_session(self.site, state=state, touched=touched, program=self.program)

    def _guarded(self, act: "Callable[[], None]") -> None:
        try:
            act()
        except GitlockError as error:
            if error.message != self.fault:
                self.fault = error.message
                self.failed(error)
        except OSError:
            return  # the worktree went away under us: the next look says so

    def _first(self) -> None:
        if self.site.repository.top is not None:
            self._since = self.site.now().wall
            self._seen = self._traces()
        done = time.monotonic()
        self.next = done + PAUSE

    def _look(self) -> None:
        site = self.site
        pulse(site.store, site.agent.id, site.seat_of)
        if self._seen is None:
            return
        before, since = self._seen, self._since
        self._since = site.now().wall
        self._seen = self._traces()
        fresh = tuple(path for path, trace in self._seen.items() if before.get(path, ()) != trace)
        if not fresh or len(fresh) > TOUCHED_LIMIT:
            return
        others = others_here(site, self._own(), site.here.holder_liveness, self._since, since=since)
        found = weigh(site, tuple(self._seen), fresh, (), bool(others))
        news = tuple(one for one in found.foreign if self._is_news(one))
        if news:
            self.tell(news)
            write_down(self.site, news, f"while {self.program} ran")

    def _traces(self) -> "dict[str, Trace]":
        here = self.site.repository
        top = here.require_top()
        return {one.path: _trace(os.path.join(top, one.path)) for one in worktree_changes(here.git, top)}

    def _own(self) -> str:
        return own_id(self.site, self.site.holder())

    def _is_news(self, finding: "Finding") -> bool:
        if finding.lease is None:
            return False
        if self.passes is not None and self.passes(self.site, finding.lease):
            return False
        key = (finding.path, finding.lease.id)
        last = self._told.get(key)
        if last is not None and self._since - last < AGAIN:
            return False
        self._told[key] = self._since
        return True


def _trace(path: str) -> "Trace":
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
