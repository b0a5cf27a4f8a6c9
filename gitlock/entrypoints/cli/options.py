"""Options, declared once and read twice: by the lean parser here on the plain path, and by click (``clicking``) for
help, completion, and everything that is not plain.

The lean parser knows ``--name VALUE``, ``--name=VALUE``, ``-n VALUE``, flags, ``--``, and options before or after
arguments. Whatever else it meets, it gives up, and click has the last word: so both always agree.
"""

from gitlock.domain.value import Value
from gitlock.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ALWAYS = (1, 2)  # exit codes that every command has: an error of any other kind, and words that make no sense

FLAG, VALUE, MANY = "flag", "value", "many"


class Option(Value):
    """``names`` as typed; ``kind`` is a flag, one value (the last counts) or many; ``choices`` limit a value."""

    __slots__ = ("choices", "default", "help", "kind", "metavar", "names")

    def __init__(
        self,
        *names: str,
        kind: str = FLAG,
        metavar: str = "",
        help: str = "",
        choices: tuple[str, ...] = (),
        default: str | None = None,
    ) -> None:
        self.names = names
        self.kind = kind
        self.metavar = metavar
        self.help = help
        self.choices = choices
        self.default = default

    @property
    def key(self) -> str:
        """What the value is filed under: the long name without dashes."""
        return self.names[-1].lstrip("-").replace("-", "_")


class Given(Value):
    """What was typed. ``values`` holds a bool, a text or None, or a list, under each option's key; ``rest`` is what
    followed ``--``, for a command that runs another."""

    __slots__ = ("arguments", "rest", "values")

    def __init__(
        self, values: "dict[str, bool | str | list[str] | None]", arguments: list[str], rest: "list[str] | None" = None
    ) -> None:
        self.values = values
        self.rest = rest or []
        self.arguments = arguments

    def flag(self, key: str) -> bool:
        return self.values.get(key) is True

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def many(self, key: str) -> list[str]:
        value = self.values.get(key)
        return value if isinstance(value, list) else []


COMMON = (
    Option("--json", help="Answer with one JSON envelope."),
    Option("-q", "--quiet", help="Say only what failed."),
    Option("--agent", kind=VALUE, metavar="NAME", help="Act as this agent."),
    Option(
        "--kind", kind=VALUE, metavar="KIND", help="What you are: agent, human, bot or ci.",
        choices=("agent", "human", "bot", "ci"),
    ),
    Option(
        "--color", kind=VALUE, metavar="WHEN", help="Colours: auto, always or never.",
        choices=("auto", "always", "never"), default="auto",
    ),
)  # fmt: skip

CLAIM_FORMS = (
    Option("--path", kind=MANY, metavar="P", help="Take P as a literal path."),
    Option("--glob", kind=MANY, metavar="P", help="Take P as a pattern."),
    Option("--key", kind=MANY, metavar="K", help="Take K as a semantic key."),
)


class Command(Value):
    """One command. ``arguments`` is the metavar of what it takes besides options, empty for none; ``least`` how many
    are needed; ``rest`` says that what follows ``--`` is another command. ``answer`` does
    the work: it gets what was typed, and returns an ``Answer``."""

    __slots__ = (
        "answer", "arguments", "codes", "examples", "least", "most", "name", "options", "rest", "summary", "text",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        summary: str,
        answer: "Callable[[Given], object]",
        *,
        text: str = "",
        arguments: str = "",
        least: int = 0,
        most: int | None = None,
        options: tuple[Option, ...] = (),
        codes: tuple[int, ...] = (),
        examples: tuple[str, ...] = (),
        rest: bool = False,
    ) -> None:
        self.name = name
        self.rest = rest
        self.summary = summary
        self.answer = answer
        self.text = text
        self.arguments = arguments
        self.least = least
        self.most = most if arguments else 0
        self.options = (*options, *COMMON)
        self.codes = tuple(sorted({*codes, *ALWAYS}))
        self.examples = examples


def parted(command: Command, words: list[str]) -> tuple[list[str], list[str]]:
    """The command's own words, and those of the command that it runs (everything after the first ``--``)."""
    if not command.rest or "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def read_plainly(command: Command, words: list[str]) -> Given | None:
    """What was typed, or None where click has to look: help, a mistake, or a spelling that only it knows.

    ``UsageError`` for an option in the place of another's value: click would take it for the value, without a word.
    """
    by_name = {name: option for option in command.options for name in option.names}
    values: dict[str, bool | str | list[str] | None] = {}
    arguments: list[str] = []
    at = 0
    while at < len(words):
        typed = words[at]
        at += 1
        if typed == "--":
            arguments += words[at:]
            break
        if typed[:1] != "-" or typed == "-":
            arguments.append(typed)
            continue
        head, equals, value = typed.partition("=")
        option = by_name.get(typed if not equals or typed[:2] != "--" else head)
        if option is None:
            return None
        if option.kind == FLAG:
            if equals:
                return None
            values[option.key] = True
            continue
        if not equals:
            if at >= len(words):
                return None
            value = words[at]
            at += 1
            if value in by_name:
                raise UsageError(
                    f"{typed} needs a value, and {value} is an option", hint=f"if that is the value: {typed}={value}"
                )
        if option.choices and value not in option.choices:
            return None
        if option.kind == MANY:
            held = values.setdefault(option.key, [])
            if isinstance(held, list):
                held.append(value)
        else:
            values[option.key] = value
    if len(arguments) < command.least or (command.most is not None and len(arguments) > command.most):
        return None
    for option in command.options:
        if option.kind == VALUE and option.default is not None:
            values.setdefault(option.key, option.default)
    return Given(values, arguments)
