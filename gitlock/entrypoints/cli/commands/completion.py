"""``git lock completion``."""

from gitlock.entrypoints import exitcodes
from gitlock.entrypoints.cli.completing import SHELLS, script
from gitlock.entrypoints.cli.options import Command, Given
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import visible
from gitlock.errors import UsageError


def answer(given: Given) -> Answer:
    """The script for one shell."""
    shell = given.arguments[0]
    if shell not in SHELLS:
        raise UsageError(
            f"'{visible(shell)}' is no shell that there is a script for: it is one of {', '.join(SHELLS)}",
            hint="git lock completion bash",
        )
    text = script(shell)
    return Answer(lines=[text], data={"shell": shell, "script": text})


COMMAND = Command(
    "completion",
    "print a script that completes these commands",
    answer,
    text=(
        "Prints a script that completes commands, options, live claims, keys and agents, for `git lock` as well as for "
        "`git-lock`. Nothing that it completes is ever executed."
    ),
    arguments="|".join(SHELLS),
    least=1,
    most=1,
    codes=(exitcodes.DONE, exitcodes.USAGE),
    examples=(
        'eval "$(git lock completion bash)"',
        "git lock completion zsh > ~/.zfunc/_git-lock",
        "git lock completion fish > ~/.config/fish/conf.d/git-lock.fish",
    ),
)
