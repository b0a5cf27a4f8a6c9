"""What an agent program is told to run: the words that we write into its settings, and those in which we find ourselves
again, by whoever they were written.

The words are the same in every version: some programs have a person approve each new wording. They are plain, without
quotes and variables, so that every shell reads them alike; only where a git-lock that is missing would do harm do they
look for it first. Never is it ``python FILE``: Python ends with 2 where the file is gone, which stops every tool.
"""

import re

from gitlock.domain.programs import MUST_LOOK, TWO_SHELLS, command_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.programs import Asked, Program

_SH_GUARD = "command -v git-lock >/dev/null 2>&1 || exit 0; "
_PS_GUARD = "if (Get-Command git-lock -ErrorAction SilentlyContinue) { "
_US = re.compile(r"(?:\bgit-lock(?:\.exe)?[\"']?|\bgit(?:\.exe)?\s+lock|-m\s+gitlock)\s+agent-hook\b")
_ASIDE = re.compile(r"[0-9]?[<>]+&?[ ]*[^ ;&|]+|\s#.*")  # redirections and comments
_PARTS = re.compile(r"[;&|\n]+")
_SERVES = re.compile(  # parts of a command line that do nothing for themselves
    r"$|(?:(?:command|which|type|hash|test|cd|exit|return|export|set|if|then|else|fi|true|false|exec)\b|[\[:]|\w+=|"
    r"Get-Command\b)"
)
_OPTION = re.compile(r"--[a-z-]+")
_VALUES = ("--harness", "--event", "--agent")  # agent-hook's options that have a value
_KEPT = ("--agent", "--fail-closed")  # what a person adds to our words, and is not ours to take out


def commands(program: "Program", asked: "Asked", *, kept: str = "") -> dict[str, str]:
    """What one event's entry runs, by the field that says it. ``kept`` are words of a person's own."""
    words = " ".join(command_words(program, asked)) + (kept and f" {kept}")
    bash = (_SH_GUARD if program.looks_first else "") + words
    if program.shape != TWO_SHELLS:
        return {"command": bash}
    return {"bash": bash, "powershell": f"{_PS_GUARD}{words} }}" if program.looks_first else words}


def is_ours(command: str) -> bool:
    """Whether a command runs our agent-hook, in whatever words."""
    return _US.search(command) is not None


def is_current(program: "Program", asked: "Asked", command: str) -> bool:
    """Whether a command of ours says today's words, with or without a person's additions: the program's name, the event
    where that is needed, no option that agent-hook does not know, and the look whether git-lock is there."""
    options = _options(command)
    wanted = _options(" ".join(command_words(program, asked))) or {}
    if options is None or any(options.get(name) != value for name, value in wanted.items()):
        return False
    if options.get("--event", asked.event) != asked.event:
        return False
    return program.looks_first != MUST_LOOK or _looks_first(command)


def kept_words(command: str) -> str:
    """What a person added to our words: options that agent-hook knows and setup does not write."""
    options = _options(command) or {}
    return " ".join(f"{name} {options[name]}".strip() for name in _KEPT if name in options)


def does_more(command: str) -> bool:
    """Whether a command of ours runs something else besides, which is a person's: not what looks for git-lock, sets the
    stage for it, or turns its exit code into another."""
    found = _US.search(command)
    if found is None:
        return False
    before, after = (_ASIDE.sub(" ", part) for part in (command[: found.start()], command[found.end() :]))
    parts = [*_PARTS.split(before)[:-1], *_PARTS.split(after)[1:]]
    return not all(_SERVES.match(part.strip(" \t'\"(){}")) for part in parts)


def _looks_first(command: str) -> bool:
    """Whether it ends well where there is no git-lock: ours, or a person's own way to say so."""
    found = _US.search(command)
    before = command[: found.start()] if found else ""
    return any(word in before for word in ("command -v", "Get-Command", "which ", "type ", "[ -x", "test -x", "&&"))


def _options(command: str) -> "dict[str, str] | None":
    """The options after agent-hook, as far as its own words go; None where one is not known."""
    found = _US.search(command)
    if found is None:
        return None
    rest = re.split(r"[;&|<>{}()]|\s#", command[found.end() :])[0].split()
    options: dict[str, str] = {}
    while rest:
        name, equals, value = rest.pop(0).strip("\"'").partition("=")
        if name in _VALUES:
            options[name] = (value if equals else rest.pop(0) if rest else "").strip("\"'")
        elif name == "--fail-closed" and not equals:
            options[name] = ""
        else:
            return None
    return options
