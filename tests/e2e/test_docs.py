"""What the documentation shows is what happens: its commands are run, its examples parsed, its links followed."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import STEPS, covers, overlap
from gitlock.domain.policy import BUILT_IN
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import MEANINGS
from gitlock.stores.files.state import parse_state
from gitlock.stores.files.table import EndedLines, LineTable
from gitlock.templates import read_template
from gitlock.wiring.mapfile import parse_map_file
from tests.kit.program import ROOT, child_environment
from tests.kit.redact import redact
from tests.kit.repo import Repo

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, ROOT / "SECURITY.md", *sorted(DOCS.rglob("*.md"))]
FILES = {
    "src/auth/login.py": "def login(name):\n    return name\n",
    "src/auth/session.py": "def session(user):\n    return user\n",
    "db/schema.sql": "create table users;\n",
}
SPANS = {r"\(\d[\dhms ]*( left)?\)": "(<span>)", r"\[(\w+) [0-9a-f]{7}\]": r"[\1 <id>]"}


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", _text(page))


# -- what is shown is run


class Step:
    """A command with its agent, and what the page says it answers."""

    def __init__(self, agent: str, command: str) -> None:
        self.agent = agent
        self.command = command
        self.lines: list[str] = []
        self.code = 0


def _steps(page: Path) -> list[Step]:
    steps: list[Step] = []
    for block in _blocks(page, "console"):
        for line in block.splitlines():
            prompt = re.fullmatch(r"(\w*)\$ (.*)", line)
            code = re.fullmatch(r"# exit code (\d+)", line)
            if prompt:
                steps.append(Step(prompt[1], prompt[2]))
            elif code:
                steps[-1].code = int(code[1])
            else:
                steps[-1].lines.append(line)
    return steps


@pytest.mark.parametrize("page", [README, DOCS / "map-file.md"], ids=lambda page: page.name)
def test_every_command_that_is_shown_answers_what_is_shown(page: Path, tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, files=FILES)
    for step in _steps(page):
        place = Repo(tmp_path / (step.agent or "repo"))
        done = place.run("bash", "-c", f"({step.command}) 2>&1", agent=step.agent or None)
        assert redact(done.out, tmp_path, also=SPANS).splitlines() == [
            redact(line, also=SPANS) for line in step.lines
        ], step.command
        assert done.code == step.code or (step.code == 0 and page != README), step.command
    assert repo.path.exists()


def test_the_demo_ends_as_it_says() -> None:
    done = subprocess.run(
        ["bash", str(ROOT / "demo" / "demo.sh")], env=child_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "steps ended as they should." in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) < 80


def test_the_picture_is_of_this_version() -> None:
    script = DOCS / "picture" / "make_terminal.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], env=child_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# -- what is named exists


def _codes(page: Path) -> Iterator[str]:
    """Code spans, and the lines of code blocks."""
    text = _text(page)
    for block in re.findall(r"(?ms)^```\w*\n(.*?)^```$", text):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```$", "", text))


def _commands(page: Path) -> Iterator[tuple[str, str]]:
    """Each command of ours that a page names, and the rest of its words."""
    for code in _codes(page):
        yield from re.findall(r"\bgit lock ([a-z][a-z-]*)\b([^|;&#]*)", code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_is_named_exists(page: Path) -> None:
    unknown = {name for name, _ in _commands(page) if name not in COMMANDS and name not in ALIASES and name != "hook"}
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_that_is_named_exists(page: Path) -> None:
    unknown = []
    for name, rest in _commands(page):
        name = ALIASES.get(name, name)
        if name not in COMMANDS:
            continue
        known = {spelling for option in load(name).options for spelling in option.names} | {"-h", "--help"}
        unknown += [(name, option) for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest) if option not in known]
    assert not unknown


def test_the_readme_has_every_command() -> None:
    shown = set(re.findall(r"^\| `git lock ([a-z-]+)", _text(README), re.MULTILINE))
    assert shown == set(COMMANDS) - set(HIDDEN), "the table of commands in README.md"


def test_the_readme_has_every_exit_code() -> None:
    part = _text(README).partition("### Exit codes")[2].partition("## ")[0]
    rows = re.findall(r"^\| ([\d, ]+)(?: \+ n)? \|", part, re.MULTILINE)
    shown = {int(code) for row in rows for code in row.split(",")}
    assert shown == set(MEANINGS), "the table of exit codes in README.md"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```$", "", _text(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        headings = re.findall(r"(?m)^#+ (.*)$", _text(there)) if anchor and there.is_file() else []
        if not there.exists() or (anchor and anchor not in map(_anchor, headings)):
            dead.append(target)
    assert not dead


def test_every_function_on_the_way_of_a_claim_and_a_commit_exists() -> None:
    layers = "__main__|entrypoints|wiring|usecases|stores|git|domain"
    names = re.findall(rf"`((?:{layers})\.[\w.]+)`", _text(DOCS / "architecture.md"))
    missing = []
    for name in names:
        module = f"gitlock.{name}"
        rest: list[str] = []
        while True:
            try:
                found: object = importlib.import_module(module)
                break
            except ModuleNotFoundError:
                module, _, last = module.rpartition(".")
                rest.insert(0, last)
        for part in rest:
            found = getattr(found, part, None)
        if found is None:
            missing.append(name)
    assert names
    assert not missing


def test_the_tree_names_what_is_there() -> None:
    tree = next(block for block in _blocks(DOCS / "architecture.md", "") if block.startswith("gitlock/"))
    folders = [ROOT / "gitlock"]
    missing = [
        str(path)
        for path in (ROOT / "gitlock").iterdir()
        if path.name not in ("__init__.py", "__pycache__", "py.typed") and f"── {path.name}" not in tree
    ]
    for line in tree.splitlines()[1:]:
        row = re.match(r"((?:│   |    )*)(?:├── |└── )(\S+)", line)
        if row is None:
            folders = [ROOT / "gitlock"]
            path = ROOT / line.split()[0] if line.strip() else ROOT
        else:
            depth = len(row[1]) // 4
            path = folders[depth] / row[2]
            folders = [*folders[: depth + 1], path]
        if not path.exists():
            missing.append(str(path))
    assert not missing


# -- what is stated holds


def test_the_example_of_the_state_is_one() -> None:
    (text,) = _blocks(DOCS / "protocol.md", "json")
    state = parse_state(text.encode(), "docs/protocol.md")
    assert LineTable(state.sections["leases"], "docs/protocol.md").all()
    assert EndedLines(state.sections["ended"], "docs/protocol.md").all()


def test_the_readme_shows_the_built_in_policy() -> None:
    (text,) = _blocks(README, "toml")
    assert parse_map_file(text.encode()).replace(source=BUILT_IN.source, lines={}) == BUILT_IN


def test_the_complete_schema_holds_the_built_in_policy() -> None:
    text = next(block for block in _blocks(DOCS / "map-file.md", "toml"))
    found = parse_map_file(text.encode())
    assert found.replace(source=BUILT_IN.source, lines={}, keys=(), spawn=BUILT_IN.spawn) == BUILT_IN


def test_the_template_of_the_map_file_is_the_built_in_policy() -> None:
    found = parse_map_file(read_template("gitlock.toml").encode())
    assert found.replace(source=BUILT_IN.source, lines={}, spawn=BUILT_IN.spawn) == BUILT_IN


def _footprint(text: str) -> Footprint:
    words = text.split()
    return Footprint.of([w for w in words if w[0] != "!"], [w[1:] for w in words if w[0] == "!"])


def _rows(page: Path, columns: str) -> list[list[str]]:
    table = _text(page).partition(columns)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]


def test_patterns_cover_what_their_table_says() -> None:
    wrong = []
    for pattern, yes, no in _rows(DOCS / "overlap.md", "| pattern | covers | does not cover |"):
        footprint = _footprint(pattern.strip("`"))
        for cell, wanted in ((yes, True), (no, False)):
            wrong += [(pattern, p) for p in re.findall("`([^`]+)`", cell) if covers(footprint, p) is not wanted]
    assert not wrong


def test_patterns_meet_as_their_table_says() -> None:
    wrong = []
    for one, other, answer in _rows(DOCS / "overlap.md", "| one | another | meet? |"):
        met = overlap(_footprint(one.strip("`")), _footprint(other.strip("`")))
        said = re.fullmatch(r"(yes|no)(?:: `(.*)`)?", answer)
        if not said or met.meets is not (said[1] == "yes") or (said[2] and met.witness != said[2]) or not met.exact:
            wrong.append((one, other, met))
    assert not wrong


def test_the_stated_bound_is_the_bound() -> None:
    assert f"{STEPS:,} steps" in _text(DOCS / "overlap.md")
