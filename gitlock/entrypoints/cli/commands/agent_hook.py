"""``git lock agent-hook``: declared here for help and mistakes; what it does lies in ``gitlock.entrypoints.agents``."""

from gitlock.domain.programs import PROGRAMS
from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer

HARNESSES = tuple(PROGRAMS)


def answer(given: Given) -> Answer:
    """Answers one event in the program's own form, and ends the process."""
    from gitlock.entrypoints.agents.main import main
    from gitlock.errors import UsageError

    harness = given.text("harness")
    if harness is None:
        raise UsageError("say which program asks", hint="git lock agent-hook --harness claude")
    words = [f"--harness={harness}"]
    words += [f"--{name}={value}" for name in ("event", "agent") if (value := given.text(name))]
    words += ["--fail-closed"] if given.flag("fail_closed") else []
    main(words)


COMMAND = Command(
    "agent-hook",
    "what an agent program runs at each of its events",
    answer,
    text=(
        "Reads one event from standard input, as the program writes it, and answers in the program's own form: an edit "
        "of a file that is free is claimed for the session, one of a file that another holds in this worktree is "
        "refused, and requests of others are delivered. Whatever goes wrong here is no opinion (0), and a line in "
        "agentlocks/agent-hook.log. Windsurf and Devin are refused with 2, as they want it. docs/agents.md says what "
        "each program tells us and can be stopped from."
    ),
    options=(
        Option(
            "--harness", kind=VALUE, metavar="NAME", help="The program: " + ", ".join(HARNESSES) + ".",
            choices=HARNESSES,
        ),
        Option("--event", kind=VALUE, metavar="EVENT", help="The event, where the program's input does not name it."),
        Option("--fail-closed", help="Refuse edits that could not be checked: for runs that nobody watches."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE),
    examples=("git lock agent-hook --harness claude", "git lock agent-hook --harness copilot --event preToolUse"),
)  # fmt: skip
