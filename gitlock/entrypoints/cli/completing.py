"""The completion scripts, made from what the commands declare.

Commands, options and fixed values stand in the script itself, so that most keystrokes start no program. What only the
store knows (live claims, agents, keys) the script asks for with ``complete-words``.
"""

from gitlock.domain.programs import PROGRAMS
from gitlock.entrypoints.cli.options import FLAG, MANY, Command, Option
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.templates import read_template
from gitlock.usecases.words import AGENTS, CLAIMS, KEYS, OTHERS, REQUESTS

TEMPLATES = {"bash": "git-lock.bash", "zsh": "_git-lock", "fish": "git-lock.fish"}
SHELLS = tuple(TEMPLATES)

# What a word can be, beside the kinds that complete-words knows and fixed values ("auto|always|never").
NOTHING, FILES, NEW = "", "files", "new"

_TAKERS = ("acquire", "claim", "run")  # what they name need not be held: keys and files
_BREAKERS = ("break", "escalate", "request", "steal", "wait")  # what they name is somebody else's
_METAVARS = {
    "P": FILES, "PATH": FILES, "FILE": FILES, "DIR": FILES, "K": KEYS, "AGENT": AGENTS, "CLAIM": CLAIMS, "ID": REQUESTS,
}  # fmt: skip

DESCRIPTION = "leases on paths and named keys"


def script(shell: str) -> str:
    """The script for one of ``SHELLS``."""
    commands = [load(name) for name in COMMANDS if name not in HIDDEN]
    text = read_template(f"completion/{TEMPLATES[shell]}").replace("@DESCRIPTION@", DESCRIPTION)
    rows = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)
    for mark, lines in rows.items():
        text = text.replace(mark, "\n".join(lines))
    return text.rstrip("\n")


def argument_of(command: Command) -> str:
    """What a command's arguments are."""
    metavar = _metavar(command)
    if "|" in metavar:
        return metavar
    if metavar == "CLAIM":
        return NEW if command.name in _TAKERS else OTHERS if command.name in _BREAKERS else CLAIMS
    if metavar == "PROGRAM":
        return "|".join((*PROGRAMS, "all"))
    return _METAVARS.get(metavar, NOTHING)


def _metavar(command: Command) -> str:
    return command.arguments.partition(" ")[0].strip("[].")


def value_of(option: Option) -> str:
    """What an option's value is."""
    if option.choices:
        return "|".join(option.choices)
    return AGENTS if option.key == "agent" else _METAVARS.get(option.metavar, NOTHING)


def _spellings(command: Command) -> list[str]:
    return [command.name, *(alias for alias, name in ALIASES.items() if name == command.name)]


def _bash(commands: list[Command]) -> dict[str, list[str]]:
    table = []
    for command in commands:
        options = []
        for option in command.options:
            options += [name if option.kind == FLAG else f"{name}={value_of(option)}" for name in option.names]
        table.append(f"\t{'|'.join(_spellings(command))})")
        table.append(f"\t\ttakes='{argument_of(command)}'")
        table.append(f"\t\trest='{'yes' if command.rest else ''}'")
        table.append(f"\t\toptions='{' '.join(options)} -h --help' ;;")
    return {"@TABLE@": table, "@COMMANDS@": ["|".join(command.name for command in commands)]}


def _zsh(commands: list[Command]) -> dict[str, list[str]]:
    actions = {
        NOTHING: " ", FILES: "_files", NEW: " __git-lock_new", KEYS: " __git-lock_words keys key",
        AGENTS: " __git-lock_words agents agent", CLAIMS: " __git-lock_words claims claim",
        OTHERS: " __git-lock_words others claim", REQUESTS: " __git-lock_words requests request",
    }  # fmt: skip

    def action(wanted: str) -> str:
        return f"({wanted.replace('|', ' ')})" if "|" in wanted else actions[wanted]

    def specs(command: Command) -> "list[str]":
        found = []
        for option in command.options:
            says = _says(option.help).replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:").replace("[", "\\[")
            value = "" if option.kind == FLAG else f":{option.metavar.lower()}:{action(value_of(option))}"
            once = "*" if option.kind == MANY else f"({' '.join(option.names)})"
            for name in option.names:
                joined = "" if option.kind == FLAG else "=" if name[:2] == "--" else "+"
                found.append(_quoted(f"{once}{name}{joined}[{says}]{value}"))
        if command.arguments:
            metavar = _metavar(command).lower()
            each = "*" if command.most is None else ""
            found.append(_quoted(f"{each}:{'word' if '|' in metavar else metavar}:{action(argument_of(command))}"))
        return found

    table = []
    for command in commands:
        table.append(f"\t\t({'|'.join(_spellings(command))})")
        table.append("\t\t\t_arguments -s -S $explain \\")
        table.append(" \\\n".join(f"\t\t\t\t{spec}" for spec in specs(command)) + " && ret=0 ;;")
    listed = [f"\t\t{_quoted(command.name + ':' + _says(command.summary))}" for command in commands]
    runs = "|".join(name for command in commands if command.rest for name in _spellings(command))
    return {"@TABLE@": table, "@COMMANDS@": listed, "@RUNS@": [runs]}


def _fish(commands: list[Command]) -> dict[str, list[str]]:
    def value(wanted: str) -> str:
        if wanted == FILES:
            return "-r -F"
        if wanted == NOTHING:
            return "-x"
        words = wanted.replace("|", " ") if "|" in wanted else f"(__git_lock_words {wanted})"
        return f"-x -k -a {_quoted(words, fish=True)}"

    listed, table = [], []
    for command in commands:
        says = _quoted(_says(command.summary), fish=True)
        listed.append(f"complete -c git-lock -n __git_lock_bare -a {command.name} -d {says}")
        start = f"complete -c git-lock -n {_quoted('__git_lock_at ' + ' '.join(_spellings(command)), fish=True)}"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}" for name in option.names)
            takes = "" if option.kind == FLAG else f" {value(value_of(option))}"
            table.append(f"{start} {names}{takes} -d {_quoted(_says(option.help), fish=True)}")
        wanted = argument_of(command)
        if wanted in (FILES, NEW):
            table.append(f"{start} -F")
        if wanted == NEW:
            table.append(f"{start} -k -a '(__git_lock_words keys)'")
        elif wanted not in (FILES, NOTHING):
            table.append(f"{start} {value(wanted).replace('-x ', '')}")
    runs = " ".join(name for command in commands if command.rest for name in _spellings(command))
    return {"@TABLE@": table, "@COMMANDS@": listed, "@RUNS@": [runs]}


def _says(text: str) -> str:
    return text.rstrip(".")


def _quoted(text: str, *, fish: bool = False) -> str:
    """One word of the script, whatever it holds."""
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"
