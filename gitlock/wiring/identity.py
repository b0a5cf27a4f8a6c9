"""Who is asking: one resolver, used by every command and hook alike. The first rule that says something decides."""

import os

from gitlock.domain.agent import KINDS, Agent, valid_agent
from gitlock.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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


def resolve_agent(given: str | None, kind: str | None, environ: "Mapping[str, str]", email: str | None) -> Agent:
    """The agent, its kind, and the rule that decided; ``UsageError`` for a name or kind that can't be."""
    wanted = kind or environ.get("GITLOCK_KIND") or None
    if wanted is not None and wanted not in KINDS:
        raise UsageError(f"'{wanted}' is no kind of agent: it is one of {', '.join(KINDS)}", id="bad-agent")
    name, source = _name(given, environ, email)
    if wanted is None:
        wanted = "ci" if environ.get("CI") == "true" else "human" if source in ("user.email", "host") else "agent"
    return Agent(name, wanted, source)


def session_of(environ: "Mapping[str, str]") -> str | None:
    """The agent session that the environment names, as an agent's name: ``claude-5b0cf1e2``."""
    for variable, program in SESSIONS:
        text = environ.get(variable)
        if text:
            plain = "".join(c for c in text if c.isascii() and (c.isalnum() or c in "._-"))
            short = plain.removeprefix("session-").strip(".-_")[:SHORT].strip(".-_")
            if short:
                return f"{program}-{short}"
    return None


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


def _name(given: str | None, environ: "Mapping[str, str]", email: str | None) -> tuple[str, str]:
    if given is not None:
        return valid_agent(given), "--agent"
    if environ.get("GITLOCK_AGENT"):
        return valid_agent(environ["GITLOCK_AGENT"]), "GITLOCK_AGENT"
    session = session_of(environ)
    if session is not None:
        return session, "session"
    for text in (email, environ.get("GIT_AUTHOR_EMAIL"), environ.get("GIT_COMMITTER_EMAIL"), environ.get("EMAIL")):
        if text:
            return _person(text), "user.email"
    user = environ.get("USER") or environ.get("LOGNAME") or "somebody"
    host = os.uname().nodename if hasattr(os, "uname") else environ.get("COMPUTERNAME", "here")
    return _person(f"{user}@{host}"), "host"


def _person(text: str) -> str:
    """An address as an agent's name; what a name may not hold becomes ``_``."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._@+-") else "_" for c in text.strip())[:100]
    plain = plain.lstrip("-.") or "somebody"
    return valid_agent(plain + "_" if plain.endswith(".lock") else plain)
