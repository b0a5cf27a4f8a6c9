"""Makes docs/terminal.svg, the picture in README.md, from a real run of two agents in a throw-away repository.

    python docs/picture/make_terminal.py            write it
    python docs/picture/make_terminal.py --check    fail if it is not what a run shows now

git-lock must be on the PATH. Times and names of commits are replaced, so that every run gives the same bytes; nothing
else of what the programs said is changed, save that long lines are broken.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import wrap

PICTURE = Path(__file__).resolve().parents[1] / "terminal.svg"
COLUMNS = 88

FILES = {
    "src/auth/login.py": "def login(name):\n    return name\n",
    "src/auth/session.py": "def session(user):\n    return user\n",
    "src/api/users.py": "def users():\n    return []\n",
}
STORY = (
    ("alice", "git lock claim 'src/auth/*' -m 'new login'", 0),
    ("bob", "git lock claim 'src/**/login.*'", 10),
    ("bob", "git lock claim src/api -m 'rename users'", 0),
    ("bob", "git commit -am 'limit logins'", 1),
    ("bob", "git lock list", 0),
)
SAME_IN_EVERY_RUN = (
    (r"\bsince \d\d:\d\d\b", "since 09:12"),
    (r"\buntil \d\d:\d\d\b", "until 10:12"),
    (r"\(\d[\dhms ]* left\)", "(1h left)"),
    (r"\b\d+s( +)(?:\d\d?m  |1h   )", r"0s\g<1>1h   "),  # the columns HELD and LEFT
)

# What is drawn: a row is a list of pieces, each a text with its look.
Piece = tuple[str, str]
Row = list[Piece]


def run_story(folder: Path) -> Iterator[Row]:
    """Runs the commands and gives the rows of the terminal."""
    env = sealed(folder)
    tree = folder / "shop"
    for name, text in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    for command in (
        "git init --quiet", "git add .", "git commit --quiet -m first", "git lock install --quiet",
        "git worktree add --quiet -b alice ../alice", "git worktree add --quiet -b bob ../bob",
    ):  # fmt: skip
        subprocess.run(command.split(), cwd=tree, env=env, check=True, stdout=subprocess.DEVNULL)
    with (folder / "bob/src/auth/login.py").open("a") as file:
        file.write("LIMIT = 3\n")
    for number, (agent, command, status) in enumerate(STORY):
        if number:
            yield []
        yield [(f"{agent} $ ", agent), (command, "typed")]
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder / agent, env={**env, "GITLOCK_AGENT": agent}, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode != status:
            sys.exit(f"'{command}' ended with {done.returncode}, not with {status}:\n{done.stdout}")
        for line in done.stdout.splitlines():
            yield from rows_of(line)


def sealed(folder: Path) -> dict[str, str]:
    """An environment in which nobody's own settings take part."""
    (folder / "gitconfig").write_text("[user]\nname = Dana Dev\nemail = dana@example.com\n")
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "GIT_EXEC_PATH") if name in os.environ}
    return {
        **kept, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
    }  # fmt: skip


def rows_of(line: str) -> Iterator[Row]:
    """One line of output, broken where it is too long."""
    for pattern, text in SAME_IN_EVERY_RUN:
        line = re.sub(pattern, text, line)
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    whole = line.startswith("CLAIM ")
    for part in wrap(line, COLUMNS, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False) or [""]:
        yield [(part, "head" if whole else "hint" if line.startswith("hint:") else "said")]


LOOKS = {
    "alice": 'class="a" ', "bob": 'class="b" ', "typed": 'class="t" ', "head": 'class="t" ',
    "hint": 'class="h" ', "said": "",
}  # fmt: skip
SIZE, ADVANCE, LINE, MARGIN, BAR = 14, 8.4, 20, 20, 36

STYLE = """\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; }
.a { fill: #7ee787; font-weight: bold; }
.b { fill: #d2a8ff; font-weight: bold; }
.t { fill: #f0f6fc; font-weight: bold; }
.h { fill: #8b949e; }"""


def draw(rows: list[Row]) -> str:
    """The rows as an SVG without anything from outside; every piece has its width given, whatever the font."""
    width = round(COLUMNS * ADVANCE + 2 * MARGIN)
    height = BAR + len(rows) * LINE + MARGIN
    said = "\n".join("".join(text for text, _ in row) for row in rows)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f'<title id="title">{escape(said)}</title>',
        f"<style>\n{STYLE}\n</style>",
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="#0d1117" stroke="#30363d"/>',
    ]
    parts += [
        f'<circle cx="{MARGIN + 6 + 20 * place}" cy="20" r="6" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    ]
    for number, row in enumerate(rows):
        at, y = 0, BAR + number * LINE + SIZE + 4
        for text, look in row:
            lead = len(text) - len(text.lstrip())
            shown = text.strip()
            if shown:
                x, length = MARGIN + (at + lead) * ADVANCE, len(shown) * ADVANCE
                words = escape(re.sub(" {2,}", lambda found: "\N{NO-BREAK SPACE}" * len(found[0]), shown), quote=False)
                parts.append(
                    f'<text {LOOKS[look]}x="{x:.1f}" y="{y}" textLength="{length:.1f}">{words}</text>'
                )
            at += len(text)
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Writes the picture, or compares it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there, and write nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="git-lock-picture-") as folder:
        picture = draw(list(run_story(Path(folder))))
    if not given.check:
        PICTURE.write_text(picture, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit(f"{PICTURE.name} is not what a run shows now; make it again: python docs/picture/make_terminal.py")


if __name__ == "__main__":
    main()
