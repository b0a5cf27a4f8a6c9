"""The agent programs that we know: which of their events we ask for, where each reads its settings, and what a person
still has to do. Names of events and files are spelled as the program spells them: a wrong one is passed over in
silence, or (Cursor) makes the whole file void.
"""

from gitlock.domain.value import Value

# How an entry is written in a program's settings.
NESTED = "nested"  # {"EVENT": [{"matcher": …, "hooks": [{"type": "command", "command": …, "timeout": …}]}]}
FLAT = "flat"  # {"EVENT": [{"command": …, "matcher": …, "timeout": …}]}
TWO_SHELLS = "two-shells"  # {"EVENT": [{"type": "command", "bash": …, "powershell": …, "timeoutSec": …}]}
PLUGIN = "plugin"  # a file of code that is ours as a whole

SECONDS, MILLISECONDS, NO_TIMEOUT = "s", "ms", ""

# Whether our command looks first if there is a git-lock. It must where a hook that can't be started stops the program's
# tools; it does where another program may run the same file, but a person's entry that does not is left as it is.
MUST_LOOK, LOOKS, PLAIN = "must", "looks", ""


class Asked(Value):
    """One event that we ask to be told of. ``matcher`` names tools, "" is every one; ``timeout`` is in seconds."""

    __slots__ = ("event", "matcher", "timeout")

    def __init__(self, event: str, *, matcher: str = "", timeout: int = 10) -> None:
        self.event = event
        self.matcher = matcher
        self.timeout = timeout


class Place(Value):
    """A settings file: ``path`` is relative to the worktree, or to the person's home, or to what ``variable`` names
    (then without ``moves``, the part of the path that the variable stands for). ``within`` leads to the object that
    holds the events: ("hooks",), or () for the file itself."""

    __slots__ = ("moves", "path", "variable", "within")

    def __init__(
        self, path: str, *, variable: str = "", moves: str = "", within: tuple[str, ...] = ("hooks",)
    ) -> None:
        self.path = path
        self.variable = variable
        self.moves = moves
        self.within = within


class Program(Value):
    """One agent program.

    ``private`` is a project file that belongs to one clone alone by the program's own convention (None: it has none),
    ``project`` the one that teams commit, ``user`` the person's own. ``unit`` is what timeouts are written in,
    ``extra`` what each of our entries says besides. ``looks_first`` says whether our command looks first if git-lock
    is there. ``heads`` is what a file that we create begins with. ``reads`` names the programs whose project files it
    runs too. ``commands`` and ``folders`` (below the home) show that it is on this machine. ``todo`` are the sentences
    that tell a person what is still theirs to do; ``limits`` is what it can't be stopped from.
    """

    __slots__ = (
        "commands", "events", "extra", "folders", "heads", "limits", "looks_first", "name", "private", "project",
        "reads", "shape", "title", "todo", "unit", "user",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        title: str,
        *,
        events: tuple[Asked, ...],
        shape: str,
        project: Place,
        user: Place,
        private: Place | None = None,
        unit: str = SECONDS,
        extra: tuple[tuple[str, object], ...] = (),
        looks_first: str = PLAIN,
        heads: tuple[tuple[str, object], ...] = (),
        reads: tuple[str, ...] = (),
        commands: tuple[str, ...] = (),
        folders: tuple[str, ...] = (),
        todo: tuple[str, ...] = (),
        limits: str = "",
    ) -> None:
        self.name = name
        self.title = title
        self.events = events
        self.shape = shape
        self.private = private
        self.project = project
        self.user = user
        self.unit = unit
        self.extra = extra
        self.looks_first = looks_first
        self.heads = heads
        self.reads = reads
        self.commands = commands
        self.folders = folders
        self.todo = todo
        self.limits = limits


_CLAUDE_TOOLS = "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell"
_CODEX_TOOLS = "apply_patch|Edit|Write|Bash"
_GEMINI_TOOLS = "write_file|replace|run_shell_command"
_CURSOR_TOOLS = "Write|Delete|Shell"
_COPILOT_TOOLS = "edit|create|str_replace_editor|write|apply_patch|bash|powershell"
_DEVIN_TOOLS = "edit|write|exec"

# Of Claude Code's events, those that every version since 2.1 knows: a name that it does not know once made it drop
# the whole file. What the others tell (PermissionDenied, Elicitation, StopFailure) a later event tells as well.
_CLAUDE = (
    Asked("SessionStart"),
    Asked("UserPromptSubmit"),
    Asked("PreToolUse", matcher=_CLAUDE_TOOLS),
    Asked("PostToolUse", matcher=_CLAUDE_TOOLS),
    Asked("PostToolUseFailure", matcher=_CLAUDE_TOOLS),
    Asked("PermissionRequest", timeout=5),
    Asked("Notification", timeout=5),
    Asked("SubagentStart", timeout=5),
    Asked("SubagentStop", timeout=5),
    Asked("Stop"),
    Asked("SessionEnd", timeout=5),
)

_COPILOT_EVENTS = (
    Asked("sessionStart"),
    Asked("userPromptSubmitted"),
    Asked("preToolUse", matcher=_COPILOT_TOOLS),
    Asked("postToolUse", matcher=_COPILOT_TOOLS),
    Asked("postToolUseFailure", matcher=_COPILOT_TOOLS),
    Asked("permissionRequest", timeout=5),
    Asked("notification", timeout=5),
    Asked("subagentStart", timeout=5),
    Asked("subagentStop", timeout=5),
    Asked("agentStop"),
    Asked("sessionEnd", timeout=5),
)

_ALL = (
    Program(
        "claude",
        "Claude Code",
        events=_CLAUDE,
        shape=NESTED,
        looks_first=LOOKS,
        private=Place(".claude/settings.local.json"),
        project=Place(".claude/settings.json"),
        user=Place(".claude/settings.json", variable="CLAUDE_CONFIG_DIR", moves=".claude"),
        commands=("claude",),
        folders=(".claude",),
        todo=(
            "Sessions that run already read their hooks at the start: begin a new one.",
            "In a folder that Claude Code has not been in, say yes to its question whether the workspace is trusted.",
        ),
    ),
    Program(
        "codex",
        "OpenAI Codex",
        events=(
            Asked("SessionStart", matcher="startup|resume|clear|compact"),
            Asked("UserPromptSubmit"),
            Asked("PreToolUse", matcher=_CODEX_TOOLS),
            Asked("PostToolUse", matcher=_CODEX_TOOLS),
            Asked("PermissionRequest", timeout=5),
            Asked("SubagentStart", timeout=5),
            Asked("SubagentStop", timeout=5),
            Asked("Stop"),
            Asked("Interrupt", timeout=3),
            Asked("SessionEnd", timeout=3),  # it cuts longer ones of these two down to 3, and says so each time
        ),
        shape=NESTED,
        project=Place(".codex/hooks.json"),
        user=Place(".codex/hooks.json", variable="CODEX_HOME", moves=".codex"),
        commands=("codex",),
        folders=(".codex",),
        todo=(
            "In codex, trust these hooks, once: it asks when it starts. Until then none runs; codex exec is silent.",
            "Trust the project when codex asks, or by codex exec --trust: it reads .codex/ of trusted projects alone.",
        ),
    ),
    Program(
        "gemini",
        "Gemini CLI",
        events=(
            Asked("SessionStart", timeout=5),
            Asked("BeforeAgent", timeout=5),
            Asked("BeforeTool", matcher=_GEMINI_TOOLS, timeout=5),
            Asked("AfterTool", matcher=_GEMINI_TOOLS, timeout=5),
            Asked("Notification", timeout=5),
            Asked("AfterAgent", timeout=5),
            Asked("SessionEnd", timeout=2),
        ),
        shape=NESTED,
        unit=MILLISECONDS,
        looks_first=MUST_LOOK,
        extra=(("name", "git-lock"),),
        project=Place(".gemini/settings.json"),
        user=Place(".gemini/settings.json", variable="GEMINI_CLI_HOME"),
        commands=("gemini",),
        folders=(".gemini",),
        todo=(
            "Trust the folder in gemini (/permissions): in an untrusted one it runs no hook at all.",
            "Where there is no terminal, GEMINI_CLI_TRUST_WORKSPACE=true says so.",
        ),
    ),
    Program(
        "cursor",
        "Cursor",
        events=(
            Asked("sessionStart"),
            Asked("beforeSubmitPrompt"),
            Asked("preToolUse", matcher=_CURSOR_TOOLS),
            Asked("postToolUse", matcher=_CURSOR_TOOLS),
            Asked("afterFileEdit"),
            Asked("stop"),
            Asked("subagentStop"),
            Asked("sessionEnd"),
        ),
        shape=FLAT,
        heads=(("version", 1),),
        project=Place(".cursor/hooks.json"),
        user=Place(".cursor/hooks.json"),
        reads=("claude",),
        commands=("cursor-agent", "cursor"),
        folders=(".cursor",),
        todo=("Trust the workspace in Cursor: in an untrusted one it runs no project hooks.",),
        limits="completions of the editor count as a person's edits",
    ),
    Program(
        "copilot",
        "GitHub Copilot CLI",
        events=_COPILOT_EVENTS,
        shape=TWO_SHELLS,
        looks_first=MUST_LOOK,
        heads=(("version", 1),),
        project=Place(".github/hooks/git-lock.json"),
        user=Place(".copilot/hooks/git-lock.json", variable="COPILOT_HOME", moves=".copilot"),
        reads=("claude", "vscode"),
        commands=("copilot",),
        folders=(".copilot",),
        todo=("Trust the folder when copilot asks; sessions that run already have to be begun anew.",),
    ),
    # VS Code runs what Copilot's files ask for, in its own words: one file serves both, two would run everything twice.
    Program(
        "vscode",
        "VS Code (agent mode)",
        events=_COPILOT_EVENTS,
        shape=TWO_SHELLS,
        looks_first=MUST_LOOK,
        heads=(("version", 1),),
        project=Place(".github/hooks/git-lock.json"),
        user=Place(".copilot/hooks/git-lock.json", variable="COPILOT_HOME", moves=".copilot"),
        reads=("claude", "copilot"),
        commands=("code", "code-insiders"),
        folders=(".vscode",),
        todo=(
            "Trust the workspace in VS Code.",
            "See that hooks are on there (chat.hooks.enabled): an organisation can switch them off.",
        ),
        limits="what it asks a person is not told to hooks",
    ),
    Program(
        "opencode",
        "OpenCode",
        events=(
            Asked("session.created"),
            Asked("chat.message"),
            Asked("tool.execute.before"),
            Asked("tool.execute.after"),
            Asked("permission.asked"),
            Asked("permission.updated"),
            Asked("permission.replied"),
            Asked("session.idle"),
            Asked("session.error"),
            Asked("session.deleted"),
        ),
        shape=PLUGIN,
        unit=NO_TIMEOUT,
        project=Place(".opencode/plugins/git-lock.ts", within=()),
        user=Place(".config/opencode/plugins/git-lock.ts", variable="XDG_CONFIG_HOME", moves=".config", within=()),
        commands=("opencode",),
        folders=(".config/opencode",),
        todo=("Start opencode anew: plugins are loaded when it starts.",),
    ),
    Program(
        "windsurf",
        "Windsurf (Devin Desktop)",
        events=(
            Asked("pre_user_prompt"),
            Asked("pre_write_code"),
            Asked("post_write_code"),
            Asked("pre_run_command"),
            Asked("post_run_command"),
            Asked("post_cascade_response"),
        ),
        shape=FLAT,
        unit=NO_TIMEOUT,
        extra=(("show_output", False),),
        project=Place(".windsurf/hooks.json"),
        user=Place(".codeium/windsurf/hooks.json"),
        commands=("windsurf",),
        folders=(".codeium/windsurf",),
        todo=("Open the folder anew in Windsurf, so that it reads its hooks.",),
        limits="it can be refused an edit, but told nothing else",
    ),
    Program(
        "devin",
        "Devin CLI",
        events=(
            Asked("SessionStart"),
            Asked("UserPromptSubmit"),
            Asked("PreToolUse", matcher=_DEVIN_TOOLS),
            Asked("PostToolUse", matcher=_DEVIN_TOOLS),
            Asked("PermissionRequest", timeout=5),
            Asked("Stop"),
            Asked("SessionEnd", timeout=5),
        ),
        shape=NESTED,
        looks_first=MUST_LOOK,
        project=Place(".devin/hooks.v1.json", within=()),
        user=Place(".config/devin/config.json", variable="XDG_CONFIG_HOME", moves=".config"),
        reads=("claude",),
        commands=("devin",),
        folders=(".config/devin",),
        todo=("Begin a new session: hooks are read at its start.",),
    ),
)

PROGRAMS = {program.name: program for program in _ALL}


def command_words(program: Program, asked: Asked) -> tuple[str, ...]:
    """What is run at one event, as words: the same in every version, since some programs ask a person to approve each
    new wording. Copilot's own dialect does not name the event, so the words do; VS Code runs Copilot's."""
    if program.shape == TWO_SHELLS:
        return ("git-lock", "agent-hook", "--harness", "copilot", "--event", asked.event)
    return ("git-lock", "agent-hook", "--harness", program.name)
