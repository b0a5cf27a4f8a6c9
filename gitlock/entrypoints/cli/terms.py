"""What is said of the command line as a whole, once: the ways to read a claim, the environment, the way of a change.

For the manual page, the skills and ``git lock guide``. `code` stands in backquotes, *what one replaces* between stars,
as in docs/generate/manual.txt; ``plain`` leaves both marks out.
"""

from gitlock.domain.value import Value

# How a word that names a claim is read; tried in this order.
READINGS = {
    "`path:`*P*, `file:`*P*, `glob:`*P*, `:(`*magic*`)`*P*": (
        "What the prefix says. Of git's magic, `glob`, `icase`, `exclude`, `literal` and `top` are understood."
    ),
    "a key of the map file": "That key, and the paths that it stands for.",
    "a path that exists": (
        "That path, though it may look like a pattern, as *app/[id]/page.tsx* does. A folder covers all that is in it."
    ),
    "a word with a wildcard, or one that begins with `./`, `/` or `!`": (
        "A pattern. Quote it, or the shell replaces it by the files of this moment."
    ),
    "*namespace*`:`*name*": "A key, such as *deploy:staging*, that means what you agree on.",
    "anything else": "A path that does not exist yet.",
}

ENVIRONMENT = {
    "`GITLOCK_AGENT`": "The agent as whom you act.",
    "`GITLOCK_KIND`": "What you are: `agent`, `human`, `bot` or `ci`.",
    "`GITLOCK_SESSION`": (
        "Which session of an agent program this is, as `claude-5b0cf1e2`. Set by `git lock agent-hook` where a program "
        "lets it, and put above the program's own variable."
    ),
    "`GITLOCK_TOKEN`": "The secret of a lease, for `git lock release`, where the lease is not in your name.",
    "`GITLOCK_LEASES`, `GITLOCK_FENCE`": (
        "Set by `git lock run` for its command: what is held on its behalf, and the fence of the newest lease. "
        "`GITLOCK_AGENT` and `GITLOCK_KIND` are set as well, and `GITLOCK_TOKEN` with `--export-token`."
    ),
    "`GITLOCK_RUNNER`": (
        "Set by `git lock run --presence` for its command, beside `GITLOCK_AGENT` and `GITLOCK_SESSION`: which process "
        "is asked whether the command is still there."
    ),
    "`GITLOCK_SCRATCH`, `GITLOCK_SLOT`, `GITLOCK_PORT_BASE`, `GITLOCK_PORTS`": (
        "Set by `git lock spawn` for its command: the agent's private folder, the number of its worktree, the first "
        "port of those that are reserved for it, and how many they are."
    ),
    "`GITLOCK_STORE`": "Where the leases are, in place of *gitlock.store*.",
    "`GITLOCK_BYPASS`": "A reason. The hooks let the commit pass, record the reason, and show it.",
    "`NO_COLOR`": "When set, nothing is coloured unless `--color always` asks for it.",
    "`GIT_PREFIX`": (
        "Set by git for an alias that is a shell command. Paths are then relative to the folder that the alias was "
        "used in."
    ),
}


class Step(Value):
    """One step of the way of a change: ``text`` says what is done, ``command`` by which command, empty for none."""

    __slots__ = ("command", "name", "text")

    def __init__(self, name: str, text: str, command: str = "") -> None:
        self.name = name
        self.text = text
        self.command = command


FLOW = (
    Step(
        "claim",
        "Claim, before the first change, everything that the task needs, in one claim. It is granted whole or not at "
        "all.",
        "git lock claim 'src/auth/*' tests/test_auth.py -m 'new login'",
    ),
    Step("read", "Read again what you have claimed: it may have changed since you read it."),
    Step("act", "Act: change it, test it, commit it."),
    Step(
        "release",
        "Release it as soon as it is committed. A part may go back before the rest.",
        "git lock release 'src/auth/*' tests/test_auth.py",
    ),
)


def plain(text: str) -> str:
    """Without the marks."""
    pieces = text.split("`")
    return "".join(piece if number % 2 else piece.replace("*", "") for number, piece in enumerate(pieces))
