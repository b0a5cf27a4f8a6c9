"""An event of an agent program, and what is said about it, in nobody's dialect: the adapters translate."""

from gitlock.domain.value import Value

# What happens. A program's event that is none of these is only a sign of life (BEAT).
START, PROMPT, BEFORE, AFTER, FAILED, WAITING, STOP, END, CHILD_START, CHILD_STOP, BEAT = (
    "start", "prompt", "before", "after", "failed", "waiting", "stop", "end", "child-start", "child-stop", "beat",
)  # fmt: skip

EDIT, SHELL, OTHER = "edit", "shell", "other"  # kinds of tools

# What we have to say. There is no "allow": that would pass over the program's own questions.
NOTHING, REFUSE, WARN, CONTEXT, GO_ON = "nothing", "refuse", "warn", "context", "go-on"

TEXT_LIMIT = 9000  # characters that are said at once; programs cut at 10,000


class Event(Value):
    """One event, with what we need of it and no more: no file's content, no transcript, no address.

    ``session`` is the program's own id, ``child`` the sub-agent's. ``call`` names the tool call; ``paths`` are as the
    program wrote them, relative ones to ``cwd``. ``question`` is what a person is asked; ``reason`` how a session began
    or ended; ``again`` says that this stop, or prompt, comes of our own word. ``raw`` is the program's name for the
    event.
    """

    __slots__ = (
        "again", "call", "child", "command", "cwd", "kind", "paths", "question", "raw", "reason", "session", "tool",
        "tool_kind",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        *,
        raw: str = "",
        session: str = "",
        child: str = "",
        cwd: str = "",
        tool: str = "",
        tool_kind: str = OTHER,
        call: str = "",
        paths: tuple[str, ...] = (),
        command: str = "",
        question: str = "",
        reason: str = "",
        again: bool = False,
    ) -> None:
        self.kind = kind
        self.raw = raw
        self.session = session
        self.child = child
        self.cwd = cwd
        self.tool = tool
        self.tool_kind = tool_kind
        self.call = call
        self.paths = paths
        self.command = command
        self.question = question
        self.reason = reason
        self.again = again


class Say(Value):
    """What is said: ``text`` to the agent. ``name`` is what its shells should know the session by, where they can be
    told."""

    __slots__ = ("name", "text", "verb")

    def __init__(self, verb: str = NOTHING, text: str = "", name: str = "") -> None:
        self.verb = verb if text else NOTHING
        self.text = text
        self.name = name


class Reply(Value):
    """An answer as the program reads it."""

    __slots__ = ("code", "err", "out")

    def __init__(self, out: str = "", code: int = 0, err: str = "") -> None:
        self.out = out
        self.code = code
        self.err = err
