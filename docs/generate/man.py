"""Makes docs/man/git-lock.1: the prose of manual.txt, and what the commands declare.

    python docs/generate/man.py            writes the page
    python docs/generate/man.py --check    ends with 1 if the page is not what it would write

The markup of manual.txt: ``= SECTION``, ``== part``, a term and below it ``:   its text``, four spaces before what is
shown as it is, `code` in backquotes, *what one replaces* between stars.
"""

import re
import sys
from pathlib import Path
from textwrap import wrap

from gitlock import __version__
from gitlock.entrypoints.cli.options import CLAIM_FORMS, COMMON, FLAG, MANY, Command, Option
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.cli.terms import ENVIRONMENT, READINGS
from gitlock.entrypoints.exitcodes import MEANINGS

HERE = Path(__file__).resolve().parent
PROSE = HERE / "manual.txt"
PAGE = HERE.parent / "man" / "git-lock.1"

COLUMNS = 78
WRITTEN = "2026-11-30"  # the date in the page's foot: when its prose was last gone through

# The first line is how `git lock install-man` knows a page of ours.
HEAD = """\
.\\" This is the manual page of git-lock, made by docs/generate/man.py.
.nr HY 0
.TH GIT\\-LOCK 1 {date} "git\\-lock {version}" "git\\-lock manual"
.ad l
"""


def page() -> str:
    """The whole page."""
    text = PROSE.read_text()
    commands = [load(name) for name in COMMANDS if name not in HIDDEN]
    parts = {
        "@COMMON@": _options(COMMON),
        "@FORMS@": _options(CLAIM_FORMS),
        "@COMMANDS@": "\n\n".join(_command(command) for command in commands),
        "@READINGS@": _terms(READINGS),
        "@ENVIRONMENT@": _terms(ENVIRONMENT),
        "@EXIT@": "\n\n".join(f"{code}\n:   {_sentence(MEANINGS[code])}" for code in MEANINGS),
    }
    for mark, part in parts.items():
        assert mark in text, f"{PROSE.name} has no {mark}"
        text = text.replace(mark, part)
    return HEAD.format(date=WRITTEN, version=__version__) + roff(text)


def _command(command: Command) -> str:
    shared = {option.key for option in (*COMMON, *CLAIM_FORMS)}
    own = tuple(option for option in command.options if option.key not in shared)
    words = ["git lock " + command.name, "[OPTIONS]", command.arguments]
    lines = ["== " + " ".join(word for word in words if word), _sentence(command.summary), _prose(command.text)]
    also = [alias for alias, name in ALIASES.items() if name == command.name]
    if also:
        lines.append("Also called " + " and ".join(f"`git lock {alias}`" for alias in also) + ".")
    if own:
        lines.append(_options(own))
    lines.append("\n".join("    " + example for example in command.examples))
    lines.append("Exit status: " + ", ".join(str(code) for code in command.codes) + ".")
    return "\n\n".join(line for line in lines if line.strip())


def _terms(terms: dict[str, str]) -> str:
    return "\n\n".join(f"{term}\n:   {text}" for term, text in terms.items())


def _options(options: tuple[Option, ...]) -> str:
    return "\n\n".join(_option(option) for option in options)


def _option(option: Option) -> str:
    value = "" if option.kind == FLAG else f" *{option.metavar}*"
    text = _prose(option.help)
    if option.choices and not all(choice in text for choice in option.choices):
        text += f" One of {', '.join(option.choices)}."
    if option.kind == MANY:
        text += " May be given several times."
    return ", ".join(f"`{name}`{value}" for name in option.names) + f"\n:   {text}"


def _prose(text: str) -> str:
    """A declaration's sentence, whose stars are meant as they are."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else piece.replace("*", "\\*") for number, piece in enumerate(pieces))


def _sentence(text: str) -> str:
    return _prose(text[:1].upper() + text[1:]) + ("" if text.endswith("?") else ".")


# -- markup to roff


def roff(text: str) -> str:
    """The markup as macros of man(7)."""
    out: list[str] = []
    fresh = True  # just below a heading, where a paragraph needs no macro of its own
    for block in re.split(r"\n{2,}(?!    )|(?<=\n)\n(?=    )", text.strip("\n")):
        lines = block.strip("\n").split("\n")
        first = lines[0]
        if first.startswith("== "):
            out.append(f".SS {_heading(first[3:])}")
        elif first.startswith("= "):
            out.append(f".SH {_heading(first[2:])}")
        elif first.startswith("    "):
            out += [*(() if fresh else (".PP",)), ".RS 2", ".EX", *(_plain(line[4:]) for line in lines), ".EE", ".RE"]
        elif len(lines) > 1 and lines[1].startswith(":   "):
            out += [".TP", _inline(first), *_sentences(" ".join([lines[1][4:], *lines[2:]]))]
        else:
            out += [*(() if fresh else (".PP",)), *_sentences(" ".join(lines))]
        fresh = first.startswith("=")
    return "\n".join(out) + "\n"


def _heading(text: str) -> str:
    return '"' + _escaped(text).replace('"', "\\(dq") + '"'


def _sentences(text: str) -> list[str]:
    """Each sentence begins a line, as roff wants it, and no line is longer than its readers' screens."""
    found = []
    for sentence in re.split(r"(?<=[.:;)]) (?=[A-Z`*])", text):
        lines = wrap(_inline(sentence), COLUMNS, break_long_words=False, break_on_hyphens=False)
        found += [_guarded(line) for line in lines]
    return found


def _inline(text: str) -> str:
    out = []
    for piece in re.findall(r"`[^`]*`|(?<!\\)\*[^*`]+\*|\\.|[^`*\\]+|.", text):
        if len(piece) > 2 and piece[0] == piece[-1] == "`":
            out.append(f"\\fB{_escaped(piece[1:-1])}\\fR")
        elif len(piece) > 2 and piece[0] == piece[-1] == "*":
            out.append(f"\\fI{_escaped(piece[1:-1])}\\fR")
        else:
            out.append(_escaped(piece[1:] if piece in ("\\*", "\\`") else piece))
    return _guarded("".join(out))


def _plain(text: str) -> str:
    return _guarded(_escaped(text))


def _guarded(line: str) -> str:
    return "\\&" + line if line[:1] in (".", "'") else line


def _escaped(text: str) -> str:
    for char, name in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(char, name)
    return "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)


def main(words: list[str]) -> int:
    """Writes the page, or compares it."""
    made = page()
    if words == ["--check"]:
        same = PAGE.exists() and PAGE.read_text() == made
        print(f"{PAGE.name}: {'as it should be' if same else 'old: make docs'}", file=sys.stderr)
        return 0 if same else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
