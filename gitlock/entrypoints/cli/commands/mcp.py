"""``git lock mcp``: declared here for help and mistakes; the server lies in ``gitlock.entrypoints.mcp``."""

from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.errors import GitlockError, UsageError

EXTRA = "pip install 'git-lock[mcp]'"


def answer(given: Given) -> Answer:
    """Serves until the program that has started it closes the pipe, and ends the process."""
    from gitlock.wiring.serving import Serving

    _require_sdk()
    _require_input()
    serving = Serving(given.text("repo"), given.text("agent"), given.text("kind"))
    try:
        from gitlock.entrypoints.mcp.main import run
    except ImportError as error:
        raise GitlockError(f"the package 'mcp' is broken: {error}", hint=EXTRA, id="no-mcp") from None
    run(serving, quiet=given.flag("quiet"))


def _require_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise GitlockError("the MCP server needs the package 'mcp', which is not installed", hint=EXTRA, id="no-mcp")
    if find_spec("mcp.server.mcpserver") is None:
        message = "the package 'mcp' that is installed is older than 2.3, which the MCP server needs"
        raise GitlockError(message, hint=EXTRA, id="no-mcp")


def _require_input() -> None:
    import os

    try:
        os.read(0, 0)
    except OSError:  # it is closed, or open for writing alone
        message = "standard input can't be read: a program speaks to this server through it"
        raise UsageError(message, hint="git lock mcp -h") from None


COMMAND = Command(
    "mcp",
    "an MCP server for agent programs, on standard input and output",
    answer,
    text=(
        "Offers claim, release, status, request_release, inbox and whoami as tools of the Model Context Protocol, and "
        "the live leases as resources. An agent program starts it; docs/mcp.md says how each is told to. It acts as "
        "the session of that program, as its hooks and its shell do. Needs the extra: " + EXTRA + ". Once it runs, "
        "standard output is the protocol's; --json is for what keeps it from starting."
    ),
    options=(
        Option("--repo", kind=VALUE, metavar="DIR", help="The repository (else CLAUDE_PROJECT_DIR, or this folder)."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.SIGNALLED),
    examples=("git lock mcp", "claude mcp add git-lock -- git-lock mcp"),
)
