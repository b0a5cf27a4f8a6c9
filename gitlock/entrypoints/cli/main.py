"""``git lock …``: finds the command, reads its options (plainly, or by click), and delivers its answer."""

from gitlock.entrypoints.cli.options import parted, read_plainly
from gitlock.entrypoints.cli.output import deliver_error
from gitlock.entrypoints.cli.running import load, run
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS
from gitlock.errors import UsageError


def main(words: list[str]) -> int:
    """Runs one command and returns its exit code."""
    try:
        return _read_and_run(words)
    except UsageError as error:
        return deliver_error(error, as_json="--json" in words)


def _read_and_run(words: list[str]) -> int:
    if not words or words[0][:1] == "-":
        overview = load("overview")
        given = read_plainly(overview, words)
        if given is not None:
            return run(overview, given)
    name = ALIASES.get(words[0], words[0])
    if name in COMMANDS:
        command = load(name)
        own, rest = parted(command, words[1:])
        given = read_plainly(command, own)
        if given is not None:
            return run(command, given.replace(rest=rest))
    from gitlock.entrypoints.cli.clicking import run_by_click

    if words[:1] == ["help"]:  # what people type; `git lock help claim` is `git lock claim -h`
        words = [*words[1:], "--help"]
    return run_by_click(words)
