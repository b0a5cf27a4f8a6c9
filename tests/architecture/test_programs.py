"""What is registered with agent programs is what their adapters know; the lists of programs are one list."""

import importlib
import json

import pytest

from gitlock.domain.programs import NESTED, PROGRAMS, Program, command_words
from gitlock.entrypoints.agents import claude, main
from tests.architecture.source import ROOT
from tests.kit.schemas import schema

# Events that an adapter knows, for whoever registers them by hand, and that setup leaves out; each with the reason.
LEFT_OUT = {
    "claude": {
        "PermissionDenied", "Elicitation", "StopFailure",  # not in every version: one once made it drop the whole file
    },
    "copilot": {"stop", "userPromptSubmit"},  # what it calls two of its events in Claude Code's words
    "cursor": {
        "beforeShellExecution", "afterShellExecution",  # the tool events tell the same
        "postToolUseFailure", "subagentStart",  # a name that a version does not know makes its whole file void
    },
}  # fmt: skip
NAMED_ELSEWHERE = {"Notification", "permission.replied"}  # known by their fields, or as a sign of life


def known(program: Program) -> set[str]:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{program.name}")
    return set(getattr(adapter, "EVENTS", claude.EVENTS))


def test_the_lists_of_programs_are_one() -> None:
    names = schema("setup")["$defs"]["program"]["properties"]["name"]["enum"]
    assert tuple(PROGRAMS) == main.HARNESSES == tuple(names)
    assert all((ROOT / f"gitlock/entrypoints/agents/{name}.py").exists() for name in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda one: one.name)
def test_every_event_that_is_asked_for_is_known_to_the_adapter(program: Program) -> None:
    events = {one.event for one in program.events} - NAMED_ELSEWHERE
    assert events <= known(PROGRAMS["copilot"] if program.name == "vscode" else program)


@pytest.mark.parametrize("program", [one for one in PROGRAMS.values() if one.name not in ("vscode", "devin")],
                         ids=lambda one: one.name)  # fmt: skip
def test_every_event_that_the_adapter_knows_is_asked_for_or_left_out_on_purpose(program: Program) -> None:
    assert known(program) - {one.event for one in program.events} == LEFT_OUT.get(program.name, set())


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda one: one.name)
def test_what_is_run_is_what_agent_hook_understands(program: Program) -> None:
    for asked in program.events:
        words = command_words(program, asked)
        assert words[:2] == ("git-lock", "agent-hook")
        assert not main.Asked(list(words[2:])).wrong


def test_no_settings_file_has_a_name_that_git_would_read_as_a_pattern() -> None:
    places = [place for one in PROGRAMS.values() for place in (one.private, one.project) if place is not None]
    assert all(not set("*?[\\! ") & set(place.path) for place in places)


def test_timeouts_leave_us_our_own_two_seconds() -> None:
    assert all(one.timeout >= main.LIMIT for program in PROGRAMS.values() for one in program.events)


def test_matchers_name_tools_that_the_adapters_know() -> None:
    spoken = {
        case["input"].get("tool_name") or case["input"].get("toolName")
        for program in PROGRAMS.values()
        for case in json.loads((ROOT / f"tests/agents/{program.name}.json").read_text())
    }
    for program in PROGRAMS.values():
        for asked in program.events:
            if asked.matcher and not (program.shape == NESTED and asked.event == "SessionStart"):
                assert spoken.intersection(asked.matcher.split("|")), (program.name, asked.event)
