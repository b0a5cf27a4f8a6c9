"""Site: an opened repository, with its store, who is asking, and the policy. Only entry points see it."""

import os

from gitlock.domain.agent import Agent
from gitlock.domain.pattern import Fold
from gitlock.errors import GitlockError, RepositoryError
from gitlock.git.config import finish_config, is_true
from gitlock.git.repository import Repository, current_branch
from gitlock.wiring.identity import RUNNER, agent_process, registered_session, resolve_agent, session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.beat import SeatOf
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Holder, Lease
    from gitlock.domain.policy import Policy
    from gitlock.domain.queue import Waiter
    from gitlock.domain.seat import Seat
    from gitlock.domain.session import Session
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Child
    from gitlock.stores.clock import SystemClock
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.publications import Publications
    from gitlock.stores.files.store import FileStore
    from gitlock.wiring.liveness import Here

HOOK_GUARD_TIMEOUT = 1.0  # seconds; a hook rather says "could not check" than keep a commit waiting


class Site:
    """What an entry point works with. Everything is opened, and its module loaded, when it is first asked for."""

    def __init__(
        self,
        repository: Repository,
        settings: dict[str, str],
        environ: dict[str, str],
        agent: Agent,
        *,
        guard_timeout: float | None = None,
        session: "Session | None" = None,
    ) -> None:
        self.repository = repository
        self.settings = settings
        self.environ = environ
        self.agent = agent
        self.fold = Fold(is_true(settings.get("core.ignorecase")), is_true(settings.get("core.precomposeunicode")))
        self.url = store_url(environ, settings)
        self._guard_timeout = guard_timeout
        self._clock: SystemClock | None = None
        self._here: Here | None = None
        self._facts: Facts | None = None
        self._store: FileStore | None = None
        self._policy: Policy | None = None
        self._registered: tuple[Session | None] | None = None if session is None else (session,)
        self._seat: tuple[Seat | None] | None = None
        self._left: dict[str, bool] = {}

    @property
    def folder(self) -> str:
        """The clone's own ``agentlocks`` folder; a files store elsewhere still keeps caches and the mode here."""
        return os.path.join(self.repository.common_dir, "agentlocks")

    @property
    def own_layout(self) -> "Layout":
        """The clone's own folder as a layout: what belongs to this clone alone, wherever its leases are."""
        from gitlock.stores.files.layout import Layout, shared_bits

        return Layout(self.folder, shared_bits(self.settings.get("core.sharedrepository")))

    def liveness_of(self, holder: "Holder") -> str:
        """What can be proved about a holder's process."""
        return self.here.holder_liveness(holder)

    @property
    def clock(self) -> "SystemClock":
        """The machine's clocks."""
        if self._clock is None:
            from gitlock.stores.clock import SystemClock

            self._clock = SystemClock()
        return self._clock

    @property
    def here(self) -> "Here":
        """This machine, boot and PID namespace."""
        if self._here is None:
            from gitlock.wiring.liveness import Here

            self._here = Here(self.clock.boot)
        return self._here

    @property
    def facts(self) -> "Facts":
        """What can be said about holders and waiters; asked only about those that recorded a process."""
        if self._facts is None:
            from gitlock.domain.standing import Facts

            self._facts = Facts(
                self._liveness, process_waits=self._process_waits, watch=self._watch, runs_under=self._runs_under,
                waits_for_person=self._waits_for_person,
            )  # fmt: skip
        return self._facts

    def _liveness(self, lease: "Lease") -> str:
        return self.here.liveness(lease)

    def _process_waits(self, waiter: "Waiter") -> bool:
        return self.here.process_waits(waiter, self.store.layout.waiting)

    def _watch(self, holder: "Holder") -> int:
        return self.here.watch(holder)

    def _runs_under(self, holder: "Holder") -> bool:
        return self.here.runs_under(holder)

    def _waits_for_person(self, lease: "Lease") -> bool:
        from gitlock.usecases.presence import waits_for_person

        return waits_for_person(self.store.layout, lease, self.here.holder_liveness, self.now().wall)

    @property
    def store(self) -> "FileStore":
        """The store, opened; ``StoreError`` or ``ConfigError`` if that can't be done."""
        if self._store is None:
            from gitlock.stores.files.layout import shared_bits
            from gitlock.stores.opening import open_store

            shared = shared_bits(self.settings.get("core.sharedrepository"))
            self._store = open_store(
                self.url, self.repository.common_dir, self.clock, shared=shared, guard_timeout=self._guard_timeout
            )
        return self._store

    @property
    def store_folder(self) -> str:
        """Where the store's files are."""
        from gitlock.stores.opening import store_folder

        return store_folder(self.url, self.repository.common_dir)

    @property
    def publications(self) -> "Publications":
        """What this clone publishes and has fetched; in its own folder, wherever the store is."""
        from gitlock.stores.files.layout import Layout, shared_bits
        from gitlock.stores.files.publications import Publications

        return Publications(Layout(self.folder, shared_bits(self.settings.get("core.sharedrepository"))))

    @property
    def follows_branches(self) -> bool:
        """Whether some lease may last until its branch is merged: one look at the disk."""
        return os.path.exists(os.path.join(self.folder, "following"))

    @property
    def knows_elsewhere(self) -> bool:
        """Whether anything was fetched of what other clones hold: one look at the disk."""
        return os.path.exists(os.path.join(self.folder, "elsewhere.json"))

    @property
    def policy(self) -> "Policy":
        """The policy that claims go by: the map file as it lies in the worktree."""
        if self._policy is None:
            from gitlock.wiring.policies import policy_of_worktree

            self._policy = policy_of_worktree(self.repository.top, self.settings, self.folder)
        return self._policy

    @property
    def email(self) -> str | None:
        """Git's ``user.email``."""
        return self.settings.get("user.email")

    @property
    def bypass(self) -> str:
        """The reason given in ``GITLOCK_BYPASS``, or empty."""
        return self.environ.get("GITLOCK_BYPASS", "").strip()

    @property
    def clone(self) -> str | None:
        """Which clone this is, where several may share the store; None in a store of its own, so that a repository
        which was moved is no other one."""
        return None if self.url == "files" else self.repository.common_dir

    def holder(self, pid: int | None = None) -> "Holder":
        """Where the agent works. ``pid`` is a process that it named; a session's own is looked for."""
        source = self.agent.source
        if pid is None and (
            source in ("session", "worktree", "process") or (source == "GITLOCK_AGENT" and RUNNER in self.environ)
        ):
            pid = agent_process(self.environ)
        if pid is None and (found := self._of_process()) is not None:
            pid = found.holder.pid
        return self.here.holder(
            pid=pid,
            worktree=self.repository.top,
            branch=current_branch(self.repository.git_dir),
            session=self.session,
            clone=self.clone,
        )

    @property
    def session(self) -> str | None:
        """The agent session that asks, by our name for it: the one that decided who asks, or that the environment
        names."""
        found = self._of_process()
        return session_of(self.environ) if found is None else found.holder.session

    def _of_process(self) -> "Session | None":
        """The session that has registered the process above us, where that decided who asks."""
        if self.agent.source != "process":
            return None
        if self._registered is None:
            self._registered = (registered_session(self.url, self.repository.common_dir),)
        return self._registered[0]

    def seat_of(self, holder: "Holder") -> "Seat | None":
        """Where one of this agent's leases is held from by now: here, if it was claimed in this worktree, whatever was
        checked out in it then; else nothing better is known than what the lease says."""
        if self._seat is None:
            self._seat = (self._find_seat(),)
        (seat,) = self._seat
        if seat is None or holder.worktree is None or (holder.worktree, holder.branch) == (seat.worktree, seat.branch):
            return None
        if holder.host != self.here.host or holder.clone != self.clone:
            return None
        return seat if holder.worktree == seat.worktree or self._has_left(holder.worktree) else None

    def _find_seat(self) -> "Seat | None":
        top, git_dir = self.repository.top, self.repository.git_dir
        if top is None:
            return None
        branch = current_branch(git_dir)
        if branch is None:
            from gitlock.git.operation import is_in_between

            if is_in_between(git_dir, None):
                return None
        from gitlock.domain.seat import Seat

        return Seat(top, branch)

    def seats(self) -> "SeatOf":
        """As ``seat_of``, of any holder in any worktree of this clone."""
        from gitlock.git.checkouts import seats

        found = seats(self.repository.common_dir)
        place = (self.here.host, self.clone)

        def seat_of(holder: "Holder") -> "Seat | None":
            return found.get(holder.worktree or "") if (holder.host, holder.clone) == place else None

        return seat_of

    def _has_left(self, worktree: str) -> bool:
        """Whether a worktree is not where it was, and its clone does not know it there any more."""
        found = self._left.get(worktree)
        if found is None:
            from gitlock.git.checkouts import has_left

            found = self._left[worktree] = has_left(self.repository.common_dir, worktree)
        return found

    def now(self) -> "Instant":
        """This instant, for showing; decisions go by the store's own."""
        return self.clock.now()


def open_site(given: str | None = None, kind: str | None = None) -> Site:
    """Where we stand, for a command."""
    environ = dict(os.environ)
    try:
        os.getcwd()
    except OSError:
        raise RepositoryError("the current folder is gone", hint="cd to a folder that exists") from None
    from gitlock.wiring.begun import take_begun  # hooks need not ask where they are

    begun = take_begun()
    settings_or_error = _finish(begun.config)
    repository = begun.repository(settings_or_error if isinstance(settings_or_error, dict) else None)
    if isinstance(settings_or_error, GitlockError):
        raise settings_or_error
    repository = _prefixed(repository, environ)
    settings = settings_or_error
    store = store_url(environ, settings)
    agent = resolve_agent(given, kind, environ, settings.get("user.email"), repository, store)
    return Site(repository, settings, environ, agent)


def store_url(environ: "Mapping[str, str]", settings: dict[str, str]) -> str:
    """The address of the store that is asked for here."""
    return environ.get("GITLOCK_STORE") or settings.get("gitlock.store") or "files"


def _finish(config: "Child") -> "dict[str, str] | GitlockError":
    try:
        return finish_config(config)
    except GitlockError as error:  # the repository's own error, if there is one, explains more
        return error


def _prefixed(repository: Repository, environ: dict[str, str]) -> Repository:
    """The repository with the folder in it that the user stands in (a shell alias is started at the top)."""
    prefix = environ.get("GIT_PREFIX", "")
    # In the hooks of a commit the index is named; there is no need to look further.
    if not prefix or repository.prefix or "GIT_INDEX_FILE" in environ or repository.top is None:
        return repository
    from gitlock.wiring.prefix import users_prefix

    return repository.replace(prefix=users_prefix(prefix, repository.top, repository.git))
