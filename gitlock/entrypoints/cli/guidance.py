"""What agents are told: the guide, the skills, the paragraph for AGENTS.md. All of it is made of templates/agents, of
what the commands declare, and of the tables of exit codes and terms; docs/generate/agents.py makes the plugin of it.
"""

import re
from textwrap import fill

from gitlock import __version__
from gitlock.digest import sha256_hex
from gitlock.domain.value import Value
from gitlock.entrypoints.cli.options import CLAIM_FORMS, COMMON, Command, Option
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.cli.terms import ENVIRONMENT, FLOW, READINGS, plain
from gitlock.entrypoints.exitcodes import ADVICE, MEANINGS, SIGNALLED
from gitlock.templates import read_template

COLUMNS = 80
SKILL_FILE = "SKILL.md"

# Skills by name, and the templates that each is made of.
SKILLS = {"git-lock": ("working.md", "example.md"), "git-lock-watch": ("watching.md",)}

# Added to each skill's own name and description. The digest tells a file that we made from one that was edited since.
_HEAD = """\
license: MIT
compatibility: Needs git and the git-lock program, so that `git lock whoami` answers.
metadata:
  made-by: git lock guide
  digest: "{digest}"
"""
_DIGEST = re.compile(r'(?m)^  digest: "([0-9a-f]{16})"\n')


class Skill(Value):
    """One skill: ``name`` is also its folder's, ``text`` all of its SKILL.md."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text


def guide() -> str:
    """All that an agent has to know, to be read once; no line is longer than 80 characters."""
    return _parts(_template("working.md"))[1].strip("\n") + "\n"


def paragraph() -> str:
    """What stands in AGENTS.md, between the marks."""
    return _template("paragraph.md")


def skills() -> tuple[Skill, ...]:
    """Every skill that we ship."""
    return tuple(Skill(name, _skill(templates)) for name, templates in SKILLS.items())


def is_as_made(text: str) -> bool:
    """Whether a SKILL.md is, word for word, what some version of us made: only then it may be replaced or removed."""
    text = text.replace("\r\n", "\n")
    found = _DIGEST.search(text)
    return found is not None and found[1] == _digest(_DIGEST.sub("", text, count=1))


def _skill(templates: tuple[str, ...]) -> str:
    head, body = _parts(_template(templates[0]))
    body += "".join(_template(name) for name in templates[1:])
    text = f"---\n{head}{_HEAD}---\n{body}"
    bare = text.replace('  digest: "{digest}"\n', "")
    return text.replace("{digest}", _digest(bare))


def _digest(text: str) -> str:
    return sha256_hex(text.encode())[:16]


def _parts(text: str) -> tuple[str, str]:
    """What stands between the lines of dashes, and what follows."""
    _, head, body = text.split("---\n", 2)
    return head, body


def _template(name: str) -> str:
    text = read_template(f"agents/{name}")
    text = text.replace("@FLOW@", _flow())
    return re.sub("@CODES ([a-z ]+)@", lambda found: _codes(found[1].split()), text)


def _flow() -> str:
    lines = []
    for number, step in enumerate(FLOW, 1):
        lines.append(_item(f"{number}. ", step.text))
        if step.command:
            lines += ["", f"       {step.command}", ""]
    return "\n".join(lines).strip("\n")


def _codes(commands: list[str]) -> str:
    ended = {code for name in commands for code in load(name).codes}
    lines = []
    for code in MEANINGS:
        if code in ended:
            named = f"{code}: " if code != SIGNALLED else ""  # whose meaning begins with its number
            lines.append(_item("* ", named + MEANINGS[code]))
            lines.append(_item("  → ", ADVICE[code] + "."))
    return "\n".join(lines)


def _item(mark: str, text: str) -> str:
    """A list's item, wrapped; code is never parted."""
    held = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    rest = " " * len(mark)
    wrapped = fill(
        held, COLUMNS, initial_indent=mark, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return wrapped.replace("\0", " ")


# -- for programs


def facts() -> dict[str, object]:
    """The same for a program that wants to learn the commands: what ``git lock guide --json`` has under ``guide``."""
    commands = [load(name) for name in COMMANDS if name not in HIDDEN]
    return {
        "version": __version__,
        "text": guide(),
        "flow": [{"step": step.name, "text": step.text, "command": step.command or None} for step in FLOW],
        "commands": [_command(command) for command in commands],
        "common_options": [_option(option) for option in COMMON],
        "exit_codes": [
            {
                "code": code,
                "meaning": MEANINGS[code],
                "advice": ADVICE[code],
                "commands": [command.name for command in commands if code in command.codes],
            }
            for code in MEANINGS
        ],
        "claims": [{"form": plain(form), "meaning": plain(meaning)} for form, meaning in READINGS.items()],
        "environment": [
            {"names": plain(names).split(", "), "meaning": plain(meaning)} for names, meaning in ENVIRONMENT.items()
        ],
        "skills": [{"name": skill.name, "text": skill.text} for skill in skills()],
    }


def _command(command: Command) -> dict[str, object]:
    shared = {option.key for option in COMMON}
    own = [option for option in command.options if option.key not in shared]
    return {
        "name": command.name,
        "summary": command.summary,
        "text": command.text,
        "usage": " ".join(word for word in ("git lock", command.name, "[OPTIONS]", command.arguments) if word),
        "least_arguments": command.least,
        "most_arguments": command.most,
        "runs_a_command": command.rest,
        "aliases": [alias for alias, name in ALIASES.items() if name == command.name],
        "claim_forms": any(option.key == CLAIM_FORMS[1].key for option in own),
        "options": [_option(option) for option in own],
        "exit_codes": list(command.codes),
        "examples": list(command.examples),
        "answers_json": command.name != "agent-hook",  # which answers in the form of the program that asks it
    }


def _option(option: Option) -> dict[str, object]:
    return {
        "names": list(option.names),
        "kind": option.kind,
        "value": option.metavar or None,
        "choices": list(option.choices) or None,
        "default": option.default,
        "meaning": option.help,
    }
