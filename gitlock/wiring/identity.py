"""Who is asking: one resolver, used by every command and hook alike. The first rule that says something decides."""

import os

from gitlock.domain.agent import KINDS, Agent, valid_agent
from gitlock.errors import GitlockError, UsageError
from gitlock.git.badge import read_badge
from gitlock.git.repository import read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.session import Session
    from gitlock.git.repository import Repository

# Session variables of agent programs. Order matters: some programs set another's variables as well (Amp sets
# Claude Code's, Qwen Code sets Gemini's), and are asked for first.
SESSIONS = (
    ("AMP_CURRENT_THREAD_ID", "amp"),
    ("QWEN_CODE_SESSION_ID", "qwen"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("KIMI_SESSION_ID", "kimi"),
)
PID_VARIABLES = ("CLAUDE_PID", "OPENCODE_PID")
PROGRAMS = frozenset((
    "claude", "codex", "gemini", "qwen", "cursor-agent", "opencode", "copilot", "amp", "aider", "kimi", "droid",
    "devin",
))  # fmt: skip

SHORT = 8  # characters of a session id that stay in an agent's name; the whole id would not fit a line


def resolve_agent(
    given: str | None,
    kind: str | None,
    environ: "Mapping[str, str]",
    email: str | None,
    repository: "Repository | None" = None,
    store: str = "files",
) -> Agent:
    """The agent, its kind, and the rule that decided; ``UsageError`` for a name or kind that can't be.

    ``repository`` is where it stands: a worktree that was made for an agent says so, and so does a session that is
    registered in its ``store``.
    """
    wanted = kind or environ.get("GITLOCK_KIND") or None
    if wanted is not None and wanted not in KINDS:
        raise UsageError(f"'{wanted}' is no kind of agent: it is one of {', '.join(KINDS)}", id="bad-agent")
    name, source = _name(given, environ, email, repository, store)
    if wanted is None:
        wanted = "ci" if environ.get("CI") == "true" else "human" if source in ("user.email", "host") else "agent"
    return Agent(name, wanted, source)


def session_of(environ: "Mapping[str, str]") -> str | None:
    """The agent session that the environment names, as an agent's name: ``claude-5b0cf1e2``.

    ``GITLOCK_SESSION`` holds such a name: of the session that a hook's input names, and in the shells of programs
    that name none.
    """
    named = environ.get("GITLOCK_SESSION")
    if named and _usable(named) is not None:
        return named
    for variable, program in SESSIONS:
        text = environ.get(variable)
        if text:
            found = session_name(program, text)
            if found is not None:
                return found
    return None


def session_name(program: str, text: str) -> str | None:
    """What a program's session is called; None where nothing of its id can stand in a name.

    The first characters of an id tell two sessions apart, unless it begins with the time, which sessions that were
    started within a minute have in common: then it is the last ones. (UUID version 7, RFC 9562; OpenCode's ids.)
    """
    plain = "".join(c for c in text if c.isascii() and (c.isalnum() or c in "._-"))
    plain = plain.removeprefix("session-").strip(".-_")
    begins_with_time = (len(plain) == 36 and plain[14] == "7" and plain[8] == "-") or plain.startswith("ses_")
    short = (plain[-SHORT:] if begins_with_time else plain[:SHORT]).strip(".-_")
    return f"{program}-{short}" if short else None


def agent_process(environ: "Mapping[str, str]") -> int | None:
    """The long-lived process of the agent program that we run under, or None.

    Never a guessed parent: the shell that runs a command is dead a moment after it.
    """
    from gitlock.wiring.liveness import ancestors, command_of

    above = ancestors()
    for variable in PID_VARIABLES:
        for pid in above:
            if environ.get(variable) == str(pid):
                return pid
    return next((pid for pid in above if command_of(pid) in PROGRAMS), None)


def registered_session(store: str, common_dir: str) -> "Session | None":
    """The session that has registered the nearest process above us, or None.

    Looked for only where there are sessions at all. A process is known by its number and its start time together.
    """
    folder = _store_folder(store, common_dir)
    if not os.path.isdir(os.path.join(folder, "sessions")):
        return None
    from gitlock.stores.clock import SystemClock
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.wiring.liveness import Here, ancestors, start_time

    found = [one for one in SessionBook(Layout(folder)).all() if one.holder.pid is not None]
    if not found:
        return None
    here = Here(SystemClock().boot)
    place = (here.host, here.boot, here.pid_space)
    ours = [one for one in found if (one.holder.host, one.holder.boot, one.holder.pid_space) == place]
    # The last to begin: a process that took up a new session is that one.
    known = {one.holder.pid: one for one in ours}
    for pid in ancestors() if known else ():
        if pid in known and known[pid].holder.started == start_time(pid):
            return known[pid]
    return None


def _name(
    given: str | None, environ: "Mapping[str, str]", email: str | None, repository: "Repository | None", store: str
) -> tuple[str, str]:
    if given is not None:
        return valid_agent(given), "--agent"
    if environ.get("GITLOCK_AGENT"):
        return valid_agent(environ["GITLOCK_AGENT"]), "GITLOCK_AGENT"
    badge = read_badge(repository.git_dir) if repository is not None else None
    if badge is not None and (name := _usable(badge[1])) is not None:
        return name, "worktree"
    session = session_of(environ)
    if session is not None:
        return (session if repository is None else _continued(session, store, repository.common_dir)), "session"
    if repository is not None:
        found = registered_session(store, repository.common_dir)
        if found is not None and (name := _usable(found.agent)) is not None:
            return name, "process"
    for text in (email, environ.get("GIT_AUTHOR_EMAIL"), environ.get("GIT_COMMITTER_EMAIL"), environ.get("EMAIL")):
        if text:
            return _person(text), "user.email"
    user = environ.get("USER") or environ.get("LOGNAME") or "somebody"
    host = os.uname().nodename if hasattr(os, "uname") else environ.get("COMPUTERNAME", "here")
    return _person(f"{user}@{host}"), "host"


def _continued(session: str, store: str, common_dir: str) -> str:
    """The agent of a session that goes on where another one ended (see ``SessionBook.follow``), else its own name."""
    text = read_small(os.path.join(_store_folder(store, common_dir), "sessions", session + ".as"))
    if text is None:
        return session
    new, _, agent = text.strip().partition(" ")
    return _usable(agent) or session if new == session else session


def _store_folder(store: str, common_dir: str) -> str:
    """Where sessions are; a store that can't be is complained of where it is opened."""
    return store[6:] if store[:7] == "files:/" else os.path.join(common_dir, "agentlocks")


def _usable(name: str) -> str | None:
    """A name that some file gives, if it may name an agent: a broken file is no reason to fail."""
    try:
        return valid_agent(name)
    except GitlockError:
        return None


def _person(text: str) -> str:
    """An address as an agent's name; what a name may not hold becomes ``_``."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._@+-") else "_" for c in text.strip())[:100]
    plain = plain.lstrip("-.") or "somebody"
    return valid_agent(plain + "_" if plain.endswith(".lock") else plain)
