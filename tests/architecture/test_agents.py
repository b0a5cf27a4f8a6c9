"""What agents are told is made of one source, names only what exists, and has the forms that agent programs take."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.generate.agents import HOOKS, PLUGINS, main, pages
from gitlock import __version__
from gitlock.domain.programs import PROGRAMS
from gitlock.entrypoints.cli.guidance import SKILLS, guide, is_as_made, paragraph, skills
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import ALIASES, COMMANDS, HIDDEN
from gitlock.entrypoints.exitcodes import ADVICE, MEANINGS
from tests.architecture.source import ROOT
from tests.kit.clients import BIN, FOLDER

TEXTS = {"guide": guide(), "paragraph": paragraph()} | {skill.name: skill.text for skill in skills()}
MANIFESTS = [f"plugins/{name}/{kind}/plugin.json" for name in PLUGINS for kind in (".claude-plugin", ".codex-plugin")]


def _json(path: str) -> Any:
    return json.loads((ROOT / path).read_text())


def _front(text: str) -> Any:
    return yaml.safe_load(text.split("---\n")[1])


# -- one source


def test_the_files_are_what_their_generator_makes(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capfd.readouterr().err


def test_a_skill_that_was_changed_is_known() -> None:
    for skill in skills():
        assert is_as_made(skill.text) and is_as_made(skill.text.replace("\n", "\r\n"))
        assert not is_as_made(skill.text.replace("lease", "lock", 1))
        assert not is_as_made(skill.text.replace("  digest:", "  was:"))


def test_every_exit_code_asks_for_something() -> None:
    assert set(ADVICE) == set(MEANINGS)


def test_the_guide_has_every_code_of_the_commands_that_it_names() -> None:
    named = {name for name in _commands(guide()) if name in COMMANDS and name not in ("guide", "doctor")}
    codes = {code for name in named for code in load(name).codes}
    shown = {int(code) for code in re.findall(r"(?m)^\* (\d+)(?:: | \+ n)", guide())}
    assert shown == codes


# -- what is named exists


def _spans(text: str) -> list[str]:
    """Code spans, lines of code blocks, and indented code."""
    blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```$", text)
    rest = re.sub(r"(?ms)^```.*?^```$", "", text)
    spans = [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", rest)]
    indented = re.findall(r"(?m)^ {4,}(.*)$", rest)
    return [*spans, *indented, *(line for block in blocks for line in block.splitlines())]


def _calls(text: str) -> list[tuple[str, str]]:
    return [call for span in _spans(text) for call in re.findall(r"\bgit lock ([a-z][a-z-]*)\b([^|;&#]*)", span)]


def _commands(text: str) -> set[str]:
    return {name for name, _ in _calls(text)}


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_that_is_named_exists(name: str) -> None:
    assert {one for one in _commands(TEXTS[name]) if one not in COMMANDS and one not in ALIASES} == set()


@pytest.mark.parametrize("name", TEXTS)
def test_every_option_that_is_named_exists(name: str) -> None:
    unknown = []
    for command, rest in _calls(TEXTS[name]):
        own = re.split(r" -- |  ", rest)[0]  # what follows is another command, or (in a list) an explanation
        known = {spelling for option in load(ALIASES.get(command, command)).options for spelling in option.names}
        unknown += [(command, one) for one in re.findall(r"(?<!\S)--?[a-z][a-z-]*", own) if one not in {*known, "-h"}]
    assert unknown == []


@pytest.mark.parametrize("name", TEXTS)
def test_every_exit_code_that_is_named_is_one_of_the_command_before_it(name: str) -> None:
    said = re.findall(r"`git lock ([a-z]+)[^`]*`[^`.]{0,40}?(?:\bend with|answers|\()\s*(\d+)\b", TEXTS[name])
    assert [(command, code) for command, code in said if int(code) not in load(command).codes] == []


# -- the forms


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_keeps_to_the_format(name: str) -> None:
    head = _front(TEXTS[name])
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert head["name"] == name and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= 64
    assert 0 < len(head["description"]) <= 1024 and len(head["compatibility"]) <= 500
    assert all(isinstance(value, str) for value in head["metadata"].values())
    assert len(TEXTS[name].splitlines()) < 500  # what the format asks for


def test_the_paragraph_is_short() -> None:
    assert len(paragraph().splitlines()) <= 10


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_manifest_names_its_folder_and_this_version(path: str) -> None:
    found = _json(path)
    assert (found["name"], found["version"]) == (path.split("/")[1], __version__)


@pytest.mark.parametrize("path", MANIFESTS)
def test_what_a_manifest_points_at_is_there(path: str) -> None:
    folder = ROOT / path.rsplit("/", 2)[0]
    named = [value for value in _json(path).values() if isinstance(value, str) and value.startswith("./")]
    assert all((folder / value).exists() for value in named)


def test_both_marketplaces_offer_every_plugin() -> None:
    claude, codex = _json(".claude-plugin/marketplace.json"), _json(".agents/plugins/marketplace.json")
    assert claude["owner"]["name"] and claude["name"] == codex["name"] == "git-lock"
    sources = [{one["name"]: one["source"] for one in claude["plugins"]}]
    sources.append({one["name"]: one["source"]["path"] for one in codex["plugins"]})
    for found in sources:
        assert found == {name: f"./plugins/{name}" for name in PLUGINS}
        assert all((ROOT / path).is_dir() for path in found.values())


@pytest.mark.parametrize("program", HOOKS)
def test_the_hooks_ask_at_every_event_that_setup_asks_at(program: str) -> None:
    hooks = _json(f"plugins/git-lock/{HOOKS[program]}")["hooks"]
    assert list(hooks) == [asked.event for asked in PROGRAMS[program].events]
    commands = {handler["command"] for groups in hooks.values() for group in groups for handler in group["hooks"]}
    (command,) = commands
    assert command.split("; ")[-1] == f"git-lock agent-hook --harness {program}"


def test_the_server_is_a_command_of_ours() -> None:
    (server,) = _json("plugins/git-lock-mcp/.mcp.json")["mcpServers"].values()
    assert server["command"] == "git-lock" and server["args"][0] in set(COMMANDS) - set(HIDDEN)


@pytest.mark.parametrize("path", [".", *(f"plugins/{name}" for name in PLUGINS)])
def test_claude_code_accepts_it(path: str, tmp_path: Path) -> None:
    claude = BIN / "claude"
    if not FOLDER or not claude.exists():
        pytest.skip("clients: GITLOCK_CLIENTS names no folder with claude in it")
    done = subprocess.run(
        [str(claude), "plugin", "validate", "--strict", str(ROOT / path)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_is_made_for_a_reason() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in pages()} == {".claude-plugin", ".agents", "plugins"}
