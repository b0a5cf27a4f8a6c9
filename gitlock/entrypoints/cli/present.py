"""``run --presence``: a program without hooks is seen, watched, and cleared up after."""

from gitlock.domain.policy import OFF
from gitlock.domain.session import DONE
from gitlock.entrypoints.cli.output import hint, warning, write
from gitlock.entrypoints.wording import clock, finding_line, place_word, visible
from gitlock.errors import GitlockError
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.edit import is_elsewhere
from gitlock.usecases.leave import leave
from gitlock.usecases.presence import own_id, touch_session
from gitlock.usecases.watching import Watcher
from gitlock.wiring.spotting import mode_setting, site_like
from gitlock.wiring.travelling import journey, travels_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.decision import Finding
    from gitlock.domain.lease import Lease
    from gitlock.wiring.running import Runner
    from gitlock.wiring.site import Site

SHOWN = 5  # paths that are named one by one


class Presence:
    """The program's session from its beginning to its end; ``eyes`` look at what it does meanwhile."""

    def __init__(self, runner: "Runner") -> None:
        self.runner = runner
        passes = is_elsewhere if mode_setting(runner.settings, "otherWorktrees") == OFF else None
        self.is_over = False
        self.eyes = Watcher(runner, runner.program, self._changed, self._blind, passes=passes)

    def begin(self) -> None:
        """Before the program starts: what is changed by then is none of its doing."""
        self.eyes.begin()

    def started(self, process: int) -> None:
        """It runs."""
        self.runner.runs_as(process)
        self.eyes.attend()

    def end(self, lease: "Lease | None") -> None:
        """It has ended: what it took goes back, but for what is still changed. ``lease`` is what it was run under, if
        that ends with it. Raises ``GitlockError`` where that can't be done."""
        self.eyes.look_now()
        also = frozenset() if lease is None else frozenset((lease.id,))
        kept = leave(self.runner, self.runner.ends_with, also)[1]
        self._stays(self.runner, kept)
        self._elsewhere()
        self.eyes.attend(DONE)
        if not kept:
            self._forget(self.runner)
        self.is_over = True

    def close(self) -> None:
        """Whatever has happened, the program does not run any more: not if it never came to its lease, either."""
        if not self.is_over:
            self._forget(self.runner)

    def _elsewhere(self) -> None:
        """The same in other repositories that it has claimed something in."""
        travels = travels_of(self.runner.environ)
        if travels is None:
            return
        name = journey(self.runner.name)
        for top in travels.tops(name):
            site = site_like(self.runner, top)
            if site is None or site.repository.common_dir == self.runner.repository.common_dir:
                continue
            kept = leave(site, self.runner.ends_with)[1]
            self._stays(site, kept)
            if kept:
                touch_session(site, state=DONE)
            else:
                self._forget(site)
        travels.forget(name)

    def _forget(self, site: "Site") -> None:
        SessionBook(site.store.layout).remove(own_id(site, site.holder()))

    def _stays(self, site: "Site", kept: "tuple[Lease, ...]") -> None:
        if not kept:
            return
        now = site.now()
        names = ", ".join(f"'{visible(one.title, 200)}'" for one in kept[:SHOWN])
        more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
        until = clock(now.wall + max(one.left(now) for one in kept), now.wall)
        agent = visible(site.agent.id)
        write(2, f"git-lock: still changed, and held for {agent} until committed, at most until {until}: {names}{more}")

    def _changed(self, findings: "tuple[Finding, ...]") -> None:
        now = self.runner.now()
        program = visible(self.runner.program, 40)
        for one in findings[:SHOWN]:
            where = ""
            if one.lease is not None and is_elsewhere(self.runner, one.lease):
                where = f" in another worktree ({visible(one.lease.holder.branch or 'detached')})"
            write(2, warning(f"{program} changed what somebody else holds{where}: {finding_line(one, now)}"))
        if len(findings) > SHOWN:
            write(2, warning(f"and {len(findings) - SHOWN} more: git lock check --worktree"))
        path = place_word(findings[0].path, self.runner.repository.prefix, claim=True)
        write(2, hint(f'git lock request {path} -m "why" (asks for it; until then, don\'t commit it)'))

    def _blind(self, error: GitlockError) -> None:
        program = visible(self.runner.program, 40)
        write(2, warning(f"what {program} changes can't be looked at: {visible(error.message, 300)}"))
