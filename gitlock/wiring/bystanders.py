"""Is it a person who asks? Every trace of an agent program counts, and any one is enough to say no.

A lock against haste and habit, not against malice: a program that hides all traces of itself can't be told from a
person (docs/worktrees.md says so).
"""

import os

from gitlock.wiring.identity import PID_VARIABLES, PROGRAMS, SESSIONS
from gitlock.wiring.liveness import ancestors, command_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.agent import Agent

# What agent programs set for the commands that they run, besides the sessions that we know them by.
MARKERS = (
    *(name for name, _ in SESSIONS), *PID_VARIABLES, "AGENT", "AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CODEX_CI",
    "GEMINI_CLI", "QWEN_CODE", "CURSOR_AGENT", "OPENCODE", "AGENT_THREAD_ID", "CLINE_ACTIVE", "ROO_ACTIVE", "CRUSH",
    "GOOSE_TERMINAL", "TRAE_AI_SHELL_ID", "AUGMENT_AGENT", "ANTIGRAVITY_AGENT",
)  # fmt: skip
_WORDS = 3  # of a command line: the interpreter, an option of its, the script


def why_no_person(agent: "Agent", environ: "Mapping[str, str]") -> str | None:
    """What says that no person is asking, as a half sentence; None where nothing does."""
    if agent.kind != "human":
        return f"you act as {agent.id}, which is no person ({agent.kind})"
    if environ.get("CI", "").lower() in ("true", "1"):
        return "this runs in a CI job"
    found = next((name for name in MARKERS if environ.get(name)), None)
    if found is not None:
        return f"an agent program has set {found}"
    for pid in ancestors():
        program = _program(pid)
        if program is not None:
            return f"the agent program {program} is above this process (pid {pid})"
    return None


def _program(pid: int) -> str | None:
    """The agent program that a process is, by its name or by the script that an interpreter runs there."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(4096)).split("\0")[:_WORDS]
    except OSError:
        words = []
    names = [command_of(pid), *(os.path.basename(word) for word in words)]
    stems = [name.removesuffix(ending) for name in names for ending in ("", ".js", ".mjs", ".cjs", ".py", ".exe")]
    return next((stem for stem in stems if stem in PROGRAMS), None)
