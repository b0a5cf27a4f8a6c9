"""The same options for click: help, completion, and the words for every mistake."""

from textwrap import wrap

import click

from gitlock import __version__
from gitlock.entrypoints.cli.options import FLAG, MANY, Command, Given, parted
from gitlock.entrypoints.cli.output import write
from gitlock.entrypoints.cli.running import load, run
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import MEANINGS, USAGE

COLUMNS = 80
WIDTH = {"max_content_width": COLUMNS, "help_option_names": ["-h", "--help"]}


class Table(click.Group):
    """Commands that are imported when they are asked for. ``rest`` are the words of a command that one of them runs."""

    rest: tuple[str, ...] = ()

    def list_commands(self, _: click.Context) -> list[str]:
        return [name for name in COMMANDS if name not in HIDDEN]

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        name = ALIASES.get(name, name)
        return as_click(load(name), self.rest) if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in self.list_commands(ctx)])


def as_click(command: Command, rest: tuple[str, ...] = ()) -> click.Command:
    """One declared command, as click's."""
    parameters: list[click.Parameter] = []
    for option in command.options:
        parameters.append(
            click.Option(
                [*option.names, option.key],
                is_flag=option.kind == FLAG,
                multiple=option.kind == MANY,
                metavar=option.metavar or None,
                help=option.help,
                type=click.Choice(option.choices) if option.choices else click.STRING,
                default=option.default if option.kind not in (FLAG, MANY) else None,
            )
            if option.kind != FLAG
            else click.Option([*option.names, option.key], is_flag=True, help=option.help)
        )
    if command.arguments:
        parameters.append(
            click.Argument(["arguments"], nargs=-1, required=command.least > 0, metavar=command.arguments)
        )

    def callback(**values: object) -> int:
        return run(command, given_of(command, values, rest))

    digits = max((len(str(code)) for code in command.codes), default=0)
    status = [
        line
        for code in command.codes
        for line in wrap(f"{code:<{digits}}  {MEANINGS[code]}", COLUMNS - 6, subsequent_indent=" " * (digits + 2))
    ]
    pages = [command.text, "\b\nExamples:\n" + "\n".join(f"  {line}" for line in command.examples)]
    epilog = "\b\nExit status:\n" + "\n".join(f"  {line}" for line in status)
    return click.Command(
        command.name,
        params=parameters,
        callback=callback,
        help="\n\n".join(pages),
        epilog=epilog,
        short_help=command.summary,
        context_settings=dict(WIDTH),
    )


def given_of(command: Command, values: dict[str, object], rest: tuple[str, ...] = ()) -> Given:
    """What click has read, as the lean parser gives it."""
    words = values.pop("arguments", ())
    assert isinstance(words, tuple)
    if command.most is not None and len(words) > command.most:
        raise click.UsageError(f"got unexpected extra argument ({words[command.most]})")
    kept: dict[str, bool | str | list[str] | None] = {}
    for key, value in values.items():
        if isinstance(value, tuple):
            kept[key] = [str(item) for item in value]
        elif value is None or isinstance(value, (bool, str)):
            kept[key] = value
    return Given(kept, [str(word) for word in words], list(rest))


def group() -> click.Group:
    """The whole program, for click."""
    return Table(
        "git-lock",
        params=[click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version,
                             help="Say which version this is.")],
        help=(
            "Leases on paths and named keys, so that agents and people can share one repository.\n\n"
            "Called alone it says who holds what, and whether that is enforced here."
        ),
        epilog="`git lock COMMAND -h` explains one command.",
        context_settings=dict(WIDTH),
    )  # fmt: skip


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        write(1, f"git-lock {__version__}")
        ctx.exit(0)


def run_by_click(words: list[str]) -> int:
    """Runs the words as click reads them; its complaints are usage errors (2)."""
    program = group()
    name = ALIASES.get(words[0], words[0]) if words else ""
    if name in COMMANDS and isinstance(program, Table):
        own, rest = parted(load(name), words[1:])
        words, program.rest = [words[0], *own], tuple(rest)
    try:
        code = program.main(words, prog_name="git lock", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as empty:
        write(2, empty.format_message())
        return USAGE
    except click.ClickException as error:
        return _complain(error, words)
    except click.exceptions.Abort:
        return 130


def _complain(error: click.ClickException, words: list[str]) -> int:
    from gitlock.entrypoints.cli.output import deliver_error
    from gitlock.errors import UsageError

    message = error.format_message().rstrip(".")
    asked = next((text for text in words if text in COMMANDS or text in ALIASES), "")
    hint = f"git lock {asked} -h" if asked else "git lock -h"
    return deliver_error(UsageError(message[:1].lower() + message[1:], hint=hint), as_json="--json" in words)
