"""Who asks, where a program's event names a session: as which agent that session acts in the repository of a file."""

import os

from gitlock.domain.agent import Agent, valid_agent
from gitlock.errors import StoreError, UsageError
from gitlock.git.repository import Repository
from gitlock.wiring.identity import continued, resolve_agent, session_name, store_folder, works_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.locate import Spot


class Asking:
    """Who asks: the session and sub-agent that a program names, by our names, and where it stands."""

    __slots__ = ("child", "environ", "given", "home", "session")

    def __init__(
        self, program: str, session: str, child: str, given: str | None, home: "Spot | None", environ: dict[str, str]
    ) -> None:
        self.session = session_name(program, session) or program
        self.child = (session_name("", child) or "").lstrip("-")
        self.given = given
        self.home = home
        self.environ = {**environ, "GITLOCK_SESSION": self.session}


def asked_as(
    asking: Asking, spot: "Spot", repository: Repository, email: str | None, store: str
) -> tuple[Agent, dict[str, str]]:
    """The agent, and the environment that says so. Whose worktree we stand in counts only where that is of the same
    repository as the file."""
    home = asking.home
    stands = home.git_dir if home is not None and home.common_dir == spot.common_dir else spot.common_dir
    environ, session, child = asking.environ, asking.session, asking.child
    if not child:
        session, child = works_for(session, _sessions(asking, spot, store))
        environ = {**environ, "GITLOCK_SESSION": session}
    agent = resolve_agent(asking.given, None, environ, email, repository.replace(git_dir=stands), store)
    agent = _known_at_home(agent, session, home, spot)
    if child:
        environ = {**environ, "GITLOCK_SESSION": f"{session}/{child}"}
        try:
            agent = Agent(valid_agent(f"{agent.id}/{child}"), agent.kind, agent.source)
        except UsageError:
            pass  # the two names are too long together: it works as its parent
    return agent, environ


def _sessions(asking: Asking, spot: "Spot", store: str) -> str:
    """Where the repository that the session stands in keeps its sessions."""
    if asking.home is not None and asking.home.common_dir != spot.common_dir:
        return os.path.join(asking.home.common_dir, "agentlocks", "sessions")
    return os.path.join(store_folder(store, spot.common_dir), "sessions")


def _known_at_home(agent: Agent, session: str, home: "Spot | None", spot: "Spot") -> Agent:
    """Where a session goes on as another agent, the repository that it stands in knows that; from now on this one,
    too."""
    if agent.source != "session" or agent.id != session or home is None or home.common_dir == spot.common_dir:
        return agent
    name = continued(session, os.path.join(home.common_dir, "agentlocks", "sessions"))
    if name == session:
        return agent
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.sessions import SessionBook

    try:
        SessionBook(Layout(os.path.join(spot.common_dir, "agentlocks"))).follow(session, name)
    except StoreError:
        pass  # so it is looked for there the next time again
    return Agent(name, agent.kind, agent.source)
