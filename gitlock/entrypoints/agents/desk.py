"""What the answers to one event work on: the sites of its paths, the session's record, and what is to be said."""

from gitlock.domain.session import WORKING, Session, session_id
from gitlock.domain.sitting import Sitting, remember, sitting_of
from gitlock.entrypoints.agents.plain import is_fresh
from gitlock.git.config import start_config
from gitlock.git.locate import absolute, current_folder, locate, locate_folder
from gitlock.git.process import Git
from gitlock.wiring.asking import Asking
from gitlock.wiring.spotting import is_managed, open_spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.entrypoints.agents.neutral import Event
    from gitlock.git.locate import Spot
    from gitlock.git.process import Child
    from gitlock.wiring.site import Site


class Desk:
    """One event of one program. ``places`` are the worktrees that its paths lie in, each with those paths; for an
    event without paths, the one that its folder lies in. Empty where git-lock has nothing to say."""

    def __init__(
        self,
        program: str,
        event: "Event",
        given: str | None,
        environ: dict[str, str],
        early: "dict[str, Child] | None" = None,
    ) -> None:
        self.event = event
        self.program = program
        self.git = Git(None, environ)
        self.cwd = event.cwd or current_folder()
        self.home = locate_folder(self.cwd)
        self.asking = Asking(program, event.session, event.child, given, self.home, environ)
        self._config: dict[str, Child] = dict(early or {})  # settings that git was asked for already
        self._sites: dict[str, Site] = {}
        self._session: Session | None = None
        self.sitting = Sitting()
        self.texts: list[str] = []
        self.places: dict[Spot, tuple[str, ...]] = {}
        self._find_places(event.paths)

    def _find_places(self, paths: tuple[str, ...]) -> None:
        """Git is asked for the settings of each, and answers while Python goes on loading."""
        found: dict[Spot, tuple[str, ...]] = {}
        for path in paths:
            for spot in locate(self.absolute(path)):
                tree = spot.replace(path="")
                found[tree] = tuple(dict.fromkeys((*found.get(tree, ()), spot.path)))
        if not paths:
            found = dict.fromkeys(self._stands_in(), ())
        for tree, names in found.items():
            if is_managed(tree, self.git):
                self.places[tree] = names
                if tree.top not in self._config and tree.top not in self._sites:
                    self._config[tree.top] = start_config(self.git.elsewhere(tree.top))

    def _stands_in(self) -> "list[Spot]":
        """Where the session is, and what other repositories it has been at work in: what names no path is about all of
        them."""
        from gitlock.wiring.travelling import journey, travels_of

        found = [self.home.replace(path="")] if self.home is not None else []
        travels = travels_of(self.asking.environ)
        for top in travels.tops(journey(self.asking.session)) if travels is not None else ():
            spot = locate_folder(top)
            if spot is not None and not spot.path and spot.common_dir not in [one.common_dir for one in found]:
                found.append(spot)
        return found

    def absolute(self, path: str) -> str:
        """A path as the program wrote it, from the folder that the event names."""
        return absolute(self.cwd, path)

    def manages(self, spot: "Spot") -> bool:
        """Whether git-lock has anything to say there."""
        return spot.replace(path="") in self.places or is_managed(spot, self.git)

    def for_paths(self, paths: tuple[str, ...]) -> "Desk":
        """The same desk for other paths than the event names: its places are theirs."""
        self.places = {}
        self._find_places(paths)
        return self

    def for_spots(self, files: list[str]) -> "Desk":
        """A desk for these files alone; what is said and remembered stays with this one."""
        other = object.__new__(Desk)
        other.__dict__.update(self.__dict__)
        other.places = {}
        if files:
            other._find_places(tuple(files))
        return other

    @property
    def now(self) -> float:
        """The wall clock, in seconds."""
        return self.site(self.first).now().wall

    def site(self, tree: "Spot") -> "Site":
        """One of the places, opened."""
        if tree.top not in self._sites:
            config = self._config.pop(tree.top, None) or start_config(self.git.elsewhere(tree.top))
            self._sites[tree.top] = open_spot(tree, config, self.git, self.asking)
        return self._sites[tree.top]

    def follow(self, before: Session) -> None:
        """The session goes on where another one ended: also in the other repositories that that was at work in."""
        from gitlock.wiring.travelling import journey, travels_of

        travels = travels_of(self.asking.environ)
        if travels is None or before.holder.session is None:
            return
        name = journey(before.holder.session)
        for top in travels.tops(name):
            travels.add(journey(self.asking.session), top, self.now)
        travels.forget(name)
        self.for_paths(())

    def reopen(self) -> None:
        """Who asks is somebody else from now on: the sites are opened anew."""
        self._sites.clear()

    @property
    def first(self) -> "Spot":
        """The place that the session's record is kept in: where it stands, if that is one of them."""
        home = self.home.replace(path="") if self.home is not None else None
        return home if home in self.places else next(iter(self.places))

    @property
    def prefix(self) -> str:
        """The folder that the agent stands in, below the top of a worktree of the first place's repository."""
        home = self.home
        if home is None or home.common_dir != self.first.common_dir or not home.path:
            return ""
        return home.path + "/"

    # -- the session's record

    def attend(
        self, *, state: str | None = WORKING, message: str = "", touched: "tuple[str, ...] | None" = None
    ) -> None:
        """The session is at work (or in another state): its record says so, in each of the repositories."""
        from gitlock.usecases.presence import touch_session

        self._session = touch_session(
            self.site(self.first), state=state, message=message, touched=touched, hook=True
        )
        self.sitting = sitting_of(self._session)
        self._travelled(self.site(self.first), self._session)
        for tree in self.places:
            if tree.common_dir != self.first.common_dir:
                site = self.site(tree)
                self._travelled(site, touch_session(site, state=state, message=message, hook=True))

    def _travelled(self, site: "Site", record: Session | None) -> None:
        if record is not None and record.started == record.active:
            from gitlock.wiring.travelling import remember_place

            remember_place(site, record)

    def saw(self, kind: str) -> None:
        """A hook before a tool of that kind was seen: what guards a session is known by that."""
        self.sitting = self.sitting.saw(kind, self.now)

    def is_fresh(self) -> bool:
        """Whether its record needs no word from us."""
        site = self.site(self.first)
        session, top = site.environ.get("GITLOCK_SESSION"), site.repository.top
        return is_fresh(site.store.layout.folder, site.agent.id, session, top, site.now().wall)

    @property
    def session(self) -> Session | None:
        """The record, as it was last seen."""
        return self._session

    def keep(self) -> None:
        """Writes down what is to be remembered; called once what is said was said."""
        session = self._session
        if session is None or self.sitting == sitting_of(session):
            return
        from gitlock.errors import GitlockError
        from gitlock.stores.files.sessions import SessionBook

        try:
            SessionBook(self.site(self.first).store.layout).write(remember(session, self.sitting))
        except GitlockError:
            return

    def find_session(self, site: "Site", lease: "Lease") -> Session | None:
        """The record of a lease's holder."""
        from gitlock.stores.files.sessions import SessionBook

        holder = lease.holder
        return SessionBook(site.store.layout).find(session_id(lease.agent, holder.session, holder.worktree))

    def tell(self, text: str) -> None:
        """Something for the agent."""
        if text and text not in self.texts:
            self.texts.append(text)
