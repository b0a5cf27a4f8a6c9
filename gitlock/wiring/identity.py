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
# What else shows that we run in a shell of such a program; it names no session.
MARKERS = (
    ("CLAUDECODE", "claude"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_CI", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("CURSOR_AGENT", "cursor"),
    ("OPENCODE", "opencode"),
    ("DEVIN_PROJECT_DIR", "devin"),
)
PID_VARIABLES = ("CLAUDE_PID", "OPENCODE_PID")
RUNNER = "GITLOCK_RUNNER"  # the process of a `git lock run --presence`, in all that runs under it
PROGRAMS = frozenset((
    "claude", "codex", "gemini", "qwen", "cursor-agent", "opencode", "copilot", "amp", "aider", "kimi", "droid",
    "devin",
))  # fmt: skip
INTERPRETERS = ("node", "bun", "deno", "python")

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
                return _of_parent(found, text, environ.get("CODEX_SESSION_ID")) if program == "codex" else found
    return None


def _of_parent(own: str, thread: str, session: str | None) -> str:
    """A thread of Codex's, as a sub-agent of the session that it belongs to if it is not that session itself."""
    parent = session_name("codex", session) if session and session != thread else None
    return own if parent is None else f"{parent}/{own.removeprefix('codex-')}"


def program_around(environ: "Mapping[str, str]") -> str | None:
    """The agent program in whose shell we run, as far as the environment says. Nearly everybody has none, so this is
    no more than some looks at a dictionary."""
    named = environ.get("GITLOCK_SESSION")
    if named:
        return named.partition("-")[0]
    for variable, program in (*SESSIONS, *MARKERS):
        if environ.get(variable):
            return program
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

    Never a guessed parent: the shell that runs a command is dead a moment after it. Under ``run --presence`` it is what
    that has started, whatever its name.
    """
    from gitlock.wiring.liveness import ancestors

    above = ancestors()
    runner = environ.get(RUNNER)
    if runner is not None:
        for at, pid in enumerate(above):
            if str(pid) == runner:
                return above[max(0, at - 1)]  # the runner itself, above what lost its parents and came back to it
    for variable in PID_VARIABLES:
        for pid in above:
            if environ.get(variable) == str(pid):
                return pid
    return next((pid for pid in above if program_of(pid) is not None), None)


def program_of(pid: int) -> str | None:
    """The agent program that a process is, or None: by its name, which may be that of its main thread only; by the file
    that it runs; or, for an interpreter's process, by the script."""
    from gitlock.wiring.liveness import command_of, words_of

    name = command_of(pid)
    if name in PROGRAMS:
        return name
    words = words_of(pid)
    stem = _stem(words[0]) if words else ""
    if stem.rstrip("0123456789.") in INTERPRETERS:
        stem = next((_stem(word) for word in words[1:] if word[:1] != "-"), "")
    return stem if stem in PROGRAMS else None


def _stem(path: str) -> str:
    name, dot, ending = os.path.basename(path).rpartition(".")
    return name if dot and ending in ("js", "mjs", "cjs", "py", "exe") else os.path.basename(path)


def registered_session(store: str, common_dir: str) -> "Session | None":
    """The session that has registered the nearest process above us, or None.

    The last to begin: a process that took up a new session is that one.
    """
    found = registered_sessions(store, common_dir)
    return found[-1] if found else None


def registered_sessions(store: str, common_dir: str) -> "list[Session]":
    """All sessions of the nearest process above us that any has registered, the last to begin last.

    Looked for only where there are sessions at all. A process is known by its number and its start time together.
    """
    folder = store_folder(store, common_dir)
    if not os.path.isdir(os.path.join(folder, "sessions")):
        return []
    from gitlock.stores.clock import SystemClock
    from gitlock.stores.files.layout import Layout
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.wiring.liveness import Here, ancestors, start_time

    found = [one for one in SessionBook(Layout(folder)).all() if one.holder.pid is not None]
    if not found:
        return []
    here = Here(SystemClock().boot)
    place = (here.host, here.boot, here.pid_space)
    ours = [one for one in found if (one.holder.host, one.holder.boot, one.holder.pid_space) == place]
    known = {one.holder.pid for one in ours}
    for pid in ancestors() if known else ():
        if pid in known:
            started = start_time(pid)
            of_it = [one for one in ours if one.holder.pid == pid and one.holder.started == started]
            if of_it:
                return of_it
    return []


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
        return (session, "session") if repository is None else _session_here(session, environ, store, repository)
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


def _session_here(
    session: str, environ: "Mapping[str, str]", store: str, repository: "Repository"
) -> tuple[str, str]:
    """The agent of a session that the environment names. One that nobody has heard of here, below a process whose
    session is known, is that one: programs give shells of sub-agents names that no hook gets to see, and long-lived
    children the name of a session that is over."""
    folder = os.path.join(store_folder(store, repository.common_dir), "sessions")
    agent = continued(session, folder)
    if agent == session and not environ.get("GITLOCK_SESSION") and os.path.isdir(folder):
        from gitlock.domain.session import session_id

        if not os.path.exists(os.path.join(folder, session_id(session, session, None) + ".json")):
            found = registered_session(store, repository.common_dir)
            program = session.partition("-")[0]
            if found is not None and found.program == program and (name := _usable(found.agent)) is not None:
                return name, "process"
    return agent, "session"


def continued(session: str, folder: str) -> str:
    """The agent of a session that goes on where another one ended (see ``SessionBook.follow``), else its own name. Of a
    sub-agent's session, the part before the slash may be such a one."""
    own, slash, child = session.partition("/")
    text = read_small(os.path.join(folder, own + ".as"))
    if text is None:
        return session
    new, agent, _ = _succession(text)
    return (_usable(agent) or own if new == own else own) + slash + child


def works_for(session: str, folder: str) -> tuple[str, str]:
    """The session that another one works for, and the sub-agent that it is there, where a file in ``folder`` says so;
    else that session itself, and no sub-agent."""
    text = read_small(os.path.join(folder, session + ".as"))
    if text is not None:
        new, agent, parent = _succession(text)
        child = agent.rpartition("/")[2]
        if new == session and _usable(parent) and _usable(child):
            return parent, child
    return session, ""


def _succession(text: str) -> tuple[str, str, str]:
    """A session, the agent that it goes on as, and the session that it works for ("": none)."""
    words = [*text.split(), "", "", ""]
    return words[0], words[1], words[2]


def store_folder(store: str, common_dir: str) -> str:
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
