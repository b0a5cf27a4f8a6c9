"""Site: an opened repository, with its store, who is asking, and the policy. Only entry points see it."""

import os

from gitlock.domain.agent import Agent
from gitlock.domain.pattern import Fold
from gitlock.errors import GitlockError, RepositoryError
from gitlock.git.config import finish_config, is_true
from gitlock.git.repository import Repository, finish_discovery, read_small
from gitlock.wiring.identity import agent_process, registered_session, resolve_agent, session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Holder, Lease
    from gitlock.domain.policy import Policy
    from gitlock.domain.queue import Waiter
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
        if pid is None and self.agent.source in ("session", "worktree", "process"):
            pid = agent_process(self.environ)
        if pid is None and self.agent.source == "process":
            found = registered_session(self.url, self.repository.common_dir)
            pid = None if found is None else found.holder.pid
        return self.here.holder(
            pid=pid,
            worktree=self.repository.top,
            branch=current_branch(self.repository.git_dir),
            session=session_of(self.environ),
            clone=self.clone,
        )

    def now(self) -> "Instant":
        """This instant, for showing; decisions go by the store's own."""
        return self.clock.now()


def open_site(given: str | None = None, kind: str | None = None) -> Site:
    """Where we stand, for a command: asks git, both questions at once."""
    environ = dict(os.environ)
    try:
        os.getcwd()
    except OSError:
        raise RepositoryError("the current folder is gone", hint="cd to a folder that exists") from None
    from gitlock.wiring.begun import take_begun  # hooks need not ask where they are

    begun = take_begun()
    try:
        repository = finish_discovery(begun.git, begun.discovery)
    finally:
        settings_or_error = _finish(begun.config)
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


def current_branch(git_dir: str) -> str | None:
    """The branch that is checked out, read from ``HEAD``; None when detached (or where refs are not files)."""
    text = read_small(os.path.join(git_dir, "HEAD"))
    if text is not None and text.startswith("ref: refs/heads/"):
        name = text[16:].strip()
        return name if name != ".invalid" else None
    return None
