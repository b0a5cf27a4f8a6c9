"""Opening the repository for one call of a long-lived server, as the session of the program that has started it.

A server is started once, and its environment stays as it was then: the session that it names may have ended since
(clear), or be that of a program further up which has started ours. So where the process that started us is registered
by a session, that has the last word over an inherited variable. Nothing is remembered from one call to the next: a
server outlives sessions, branches and whole worktrees.
"""

import os

from gitlock.domain.agent import Agent, valid_agent
from gitlock.domain.session import DONE
from gitlock.domain.standing import ALIVE
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, RepositoryError, UnsafeError, UsageError
from gitlock.git.config import finish_config, start_config
from gitlock.git.locate import locate, locate_folder
from gitlock.git.process import Git
from gitlock.git.repository import finish_discovery, start_discovery
from gitlock.usecases.places import has_glob
from gitlock.wiring.identity import agent_process, registered_sessions, resolve_agent, session_of
from gitlock.wiring.site import Site, store_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.session import Session

FIXED = ("--agent", "GITLOCK_AGENT", "worktree")  # rules that no session can contradict


class Serving(Value):
    """What the server was started with: the folder (None: the program's project, else the current one), and who it
    says it is."""

    __slots__ = ("agent", "folder", "kind")

    def __init__(self, folder: str | None = None, agent: str | None = None, kind: str | None = None) -> None:
        self.folder = folder
        self.agent = agent
        self.kind = kind


class Served(Value):
    """One call's site. ``session`` is the record of the session that calls, where there is one; ``pid`` the process
    that lives as long as the session does: what is claimed is tied to that, and not to the server. ``by_call`` says
    that the call itself named its agent."""

    __slots__ = ("by_call", "pid", "session", "site")

    def __init__(self, site: Site, session: "Session | None", pid: int | None, *, by_call: bool) -> None:
        self.site = site
        self.session = session
        self.pid = pid
        self.by_call = by_call


def serve(serving: Serving, folder: str | None, claims: list[str], asked: str | None) -> Served:
    """The site of a call. ``folder`` is where the caller stands, from the server's own; an absolute path among its
    ``claims`` decides the worktree; ``asked`` is who the caller says it is."""
    environ = dict(os.environ)
    home = _home(serving, folder, environ)
    place = _place(home, claims)
    git = Git(None, environ).elsewhere(place)
    discovery, config = start_discovery(git), start_config(git)
    try:
        repository = finish_discovery(git, discovery)
    except GitlockError:
        config.finish()
        raise
    settings = finish_config(config)
    url = store_url(environ, settings)
    # Whose worktree the caller stands in says who it is; whose it reaches into does not.
    stands = locate_folder(home)
    own = stands is not None and stands.common_dir == os.path.realpath(repository.common_dir)
    seat = repository.replace(git_dir=stands.git_dir if stands is not None and own else repository.common_dir)
    base = resolve_agent(serving.agent, serving.kind, environ, settings.get("user.email"), seat, url)
    above = registered_sessions(url, repository.common_dir)
    agent, session = _who(base, above, asked, environ, url, repository.common_dir)
    pid = agent_process(environ) if session is None else session.holder.pid
    if session is not None and session.holder.session is not None:
        child = agent.id.removeprefix(session.agent)  # a sub-agent is a session of its own
        environ["GITLOCK_SESSION"] = session.holder.session + child
    site = Site(repository, settings, environ, agent, session=session)
    return Served(site, session, pid, by_call=asked is not None)


def _home(serving: Serving, folder: str | None, environ: dict[str, str]) -> str:
    """The folder that the caller stands in, absolute."""
    start = serving.folder or environ.get("CLAUDE_PROJECT_DIR") or "."
    try:
        home = start if os.path.isabs(start) else os.path.join(os.getcwd(), start)
    except OSError:
        raise RepositoryError(
            "the folder that this server was started in is gone", hint="start it anew, in a folder that exists"
        ) from None
    home = os.path.normpath(home)
    if folder is not None:
        home = os.path.join(home, folder)
    if "\0" in home or not os.path.isdir(home):
        raise RepositoryError(
            f"there is no folder '{home}'", hint="name one that exists with folder, or start the server with --repo DIR"
        )
    return home


def _place(home: str, claims: list[str]) -> str:
    """The folder that git is asked in: the caller's own, or the worktree that the absolute paths among its claims lie
    in. Paths of two worktrees at once would be one claim in neither."""
    tops: dict[str, str] = {}
    for text in claims:
        plain = _plain(text)
        if not plain.startswith("/") or "\0" in plain:
            continue
        if has_glob(plain) and not os.path.lexists(plain):
            names = plain.split("/")
            plain = "/".join(names[: next(at for at, name in enumerate(names) if has_glob(name))]) + "/x"
        tops.update((spot.top, text) for spot in locate(plain)[:1])
    if not tops:
        return home
    stands = locate_folder(home)
    if stands is not None and any(_is_relative(text) for text in claims):
        tops.setdefault(stands.top, next(text for text in claims if _is_relative(text)))
    if len(tops) > 1:
        (_, first), (_, second), *_ = tops.items()
        message = f"'{first}' and '{second}' are in two worktrees: claim what is in one at a time"
        raise UsageError(message, id="bad-path")
    top = next(iter(tops))
    return home if stands is not None and stands.top == top else top


def _is_relative(text: str) -> bool:
    """Whether an argument means a path from the caller's folder: not an absolute one, and no key."""
    plain = _plain(text)
    return not plain.startswith("/") and ":" not in plain


def _plain(text: str) -> str:
    """An argument without what says how it is to be read."""
    return text.lstrip("!").removeprefix("path:").removeprefix("file:").removeprefix("glob:")


def _who(
    base: Agent, above: "list[Session]", asked: str | None, environ: dict[str, str], url: str, common_dir: str
) -> "tuple[Agent, Session | None]":
    """Who calls, and the record of its session."""
    found = _of_process(base, above, environ, url, common_dir)
    if asked is not None:
        named = [one for one in found or (base.id,) if asked == one or asked.startswith(one + "/")]
        if not named and (found or base.kind != "human"):
            raise UnsafeError(
                f"this server speaks for {' or '.join(found or (base.id,))}, and not for '{asked}'",
                hint="call whoami, or leave agent out",
                id="not-you",
            )
        valid_agent(asked)
        if not named and (other := _session_elsewhere(asked, url, common_dir)) is not None:
            raise UnsafeError(
                f"'{asked}' is a session of another program, {other.program or 'unknown'} (process {other.holder.pid})",
                hint="choose another name, or leave agent out",
                id="not-you",
            )
        root = max(named, key=len, default=asked)
    elif len(found) > 1:
        raise UnsafeError(
            f"several sessions run in the program that started this server: {', '.join(found)}",
            hint=f"call again with agent set to the one that is you, such as agent='{found[0]}'",
            id="which-agent",
        )
    else:
        root = found[0] if found else base.id
    session = next((one for one in reversed(above) if one.agent == root), None)
    name = asked or root
    if name == base.id:
        return base, session
    kind = base.kind if base.kind != "human" or environ.get("GITLOCK_KIND") else "agent"
    source = "--agent" if session is None else "process" if name == session.agent else "session"
    return Agent(name, kind, source), session


def _of_process(
    base: Agent, above: "list[Session]", environ: dict[str, str], url: str, common_dir: str
) -> tuple[str, ...]:
    """The agents whose sessions the call can be from, by the process that started us; empty where that says nothing.

    The session that the environment names is believed unless it is over, or registered by another process: then it
    was inherited.
    """
    if base.source in FIXED:
        return (base.id,)
    if not above:
        return ()
    if base.source == "session":
        own = session_of(environ)
        records = [one for one in above if one.holder.session == own or one.agent == base.id]
        if any(one.state != DONE for one in records) or (not records and not _is_known(own, url, common_dir)):
            return (base.id,)
    live = [one.agent for one in above if one.state != DONE] or [above[-1].agent]
    names = dict.fromkeys(live)
    return tuple(one for one in names if not any(one.startswith(other + "/") for other in names))


def _session_elsewhere(agent: str, url: str, common_dir: str) -> "Session | None":
    """The session of this agent, or of the one whose sub-agent it would be, whose process is there. It is none above
    us: those were asked before."""
    from gitlock.stores.clock import SystemClock
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.stores.opening import store_folder
    from gitlock.wiring.liveness import Here

    here = Here(SystemClock().boot)
    for one in SessionBook(Layout(store_folder(url, common_dir))).all():
        is_it = agent == one.agent or agent.startswith(one.agent + "/")
        if is_it and one.state != DONE and here.holder_liveness(one.holder) == ALIVE:
            return one
    return None


def _is_known(session: str | None, url: str, common_dir: str) -> bool:
    """Whether some process has registered this session."""
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.stores.opening import store_folder

    book = SessionBook(Layout(store_folder(url, common_dir)))
    return any(one.holder.session == session and one.holder.pid is not None for one in book.all())
