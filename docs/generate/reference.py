"""Makes docs/cli.md from what the commands declare, and docs/exit-codes.md from the one table of exit codes.

    python docs/generate/reference.py            writes both
    python docs/generate/reference.py --check    ends with 1 if one of them is not what it would write

tests/architecture/test_reference.py holds both to it.
"""

import sys
from pathlib import Path

from gitlock.entrypoints.cli.options import ALWAYS, CLAIM_FORMS, COMMON, FLAG, MANY, Command, Option
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import ADVICE, MEANINGS

DOCS = Path(__file__).resolve().parents[1]

MADE = "<!-- Made by docs/generate/reference.py: change the declarations, then run it. -->\n"

CLI = """\
# The commands

`git lock COMMAND -h` shows one of these, `git lock --help` the manual page. Options may stand before or after
arguments; `--` ends them. A value follows its option (`--ttl 90s`) or is joined to it (`--ttl=90s`). Exit codes are
explained in [exit-codes.md](exit-codes.md), the answers of `--json` by the schemas in `gitlock/schemas`.

## Of every command

{common}

Wherever claims are named, three options force one reading of a name:

{forms}

{commands}
"""

EXIT_CODES = """\
# Exit codes

They are stable: scripts and agents may branch on them. With `--json` the envelope's `code` is the same number, and
`error.id` says more.

| code | meaning | what it asks for | of |
|---|---|---|---|
{rows}

`run` passes on the code of its command once that has started; `--result FILE` tells ours from the command's. Git's
hooks end with 0, 20 or 22; what git makes of it is 1.
"""


def pages() -> dict[Path, str]:
    """Every page that is made here, with its text."""
    return {DOCS / "cli.md": MADE + "\n" + _cli(), DOCS / "exit-codes.md": MADE + "\n" + _exit_codes()}


def _cli() -> str:
    shown = [load(name) for name in COMMANDS if name not in HIDDEN]
    commands = "\n\n".join([_overview(), *(_command(command) for command in shown)])
    return CLI.format(common=_options(COMMON), forms=_options(CLAIM_FORMS), commands=commands)


def _overview() -> str:
    overview = load("overview")
    return f"## git lock\n\nAlone it shows {overview.summary}.\n\n{_codes(overview)}"


def _command(command: Command) -> str:
    common = {option.key for option in (*COMMON, *CLAIM_FORMS)}
    own = tuple(option for option in command.options if option.key not in common)
    forms = any(option.key == CLAIM_FORMS[0].key for option in command.options)
    also = [alias for alias, name in ALIASES.items() if name == command.name]
    parts = [
        f"## git lock {command.name}",
        f"`git lock {' '.join(word for word in (command.name, '[OPTIONS]', command.arguments) if word)}`"
        + (f", also called {' and '.join(f'`git lock {alias}`' for alias in also)}" if also else ""),
        command.text,
        _options(own),
        f"Takes {', '.join(f'`{form.names[-1]}`' for form in CLAIM_FORMS)}." if forms else "",
        "```sh\n" + "\n".join(command.examples) + "\n```" if command.examples else "",
        _codes(command),
    ]
    return "\n\n".join(part for part in parts if part)


def _options(options: tuple[Option, ...]) -> str:
    if not options:
        return ""
    rows = [f"| {_names(option)} | {_cell(_help(option))} |" for option in options]
    return "\n".join(["| option | meaning |", "|---|---|", *rows])


def _names(option: Option) -> str:
    value = "" if option.kind == FLAG else f" {option.metavar}"
    return ", ".join(f"`{name}{value}`" for name in option.names)


def _help(option: Option) -> str:
    text = option.help
    if option.kind == MANY:
        text += " May be given several times."
    if option.choices and not all(choice in text for choice in option.choices):
        text += f" One of {', '.join(option.choices)}."
    return text


def _codes(command: Command) -> str:
    return "Exit codes: " + ", ".join(str(code) for code in command.codes) + "."


def _exit_codes() -> str:
    by_code = {code: [name for name in COMMANDS if code in load(name).codes] for code in MEANINGS}
    rows = []
    for code, meaning in MEANINGS.items():
        names = by_code[code]
        of = "every command" if code in (0, *ALWAYS) else ", ".join(f"`{name}`" for name in names if name not in HIDDEN)
        rows.append(f"| {code} | {_cell(meaning)} | {_cell(ADVICE[code])} | {of} |")
    return EXIT_CODES.format(rows="\n".join(rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(words: list[str]) -> int:
    """Writes the pages, or compares them."""
    code = 0
    for path, text in pages().items():
        if words == ["--check"]:
            if not path.exists() or path.read_text() != text:
                print(f"{path.name} is old: python docs/generate/reference.py", file=sys.stderr)
                code = 1
        else:
            path.write_text(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
