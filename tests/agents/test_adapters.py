"""Each program's input as it is written, and our answers as it reads them: one file of cases a program, to the byte.

A refusal in the wrong shape lets the edit happen without a word, so every shape stands here in full.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlock.domain.programs import PROGRAMS
from gitlock.entrypoints.agents.main import HARNESSES
from gitlock.entrypoints.agents.neutral import Event, Say
from gitlock.entrypoints.agents.payload import PATH_LIMIT, as_paths

HERE = Path(__file__).parent
ENVIRON = {"DEVIN_PROJECT_DIR": "/devin"}
TEXT = "git-lock: no"

CASES = [
    pytest.param(file.stem, case, id=f"{file.stem}: {case['name']}")
    for file in sorted(HERE.glob("*.json"))
    for case in json.loads(file.read_text())
]


def event_of(harness: str, case: dict[str, Any]) -> Event:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{harness}")
    event = adapter.read(case["input"], case.get("event", ""), ENVIRON)
    assert isinstance(event, Event)
    return event


@pytest.mark.parametrize(("harness", "case"), CASES)
def test_an_input_is_read_as_it_is_meant(harness: str, case: dict[str, Any]) -> None:
    event = event_of(harness, case)
    found = {name: getattr(event, name) for name in case["expect"]}
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()} == case["expect"]


@pytest.mark.parametrize(("harness", "case"), CASES)
def test_an_answer_has_the_shape_that_the_program_reads(harness: str, case: dict[str, Any]) -> None:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{harness}")
    event = event_of(harness, case)
    for verb, (code, out, err) in case["replies"].items():
        name = "cursor-5b0cf1e2" if harness == "cursor" and event.kind == "start" else ""
        reply = adapter.reply(event, Say(verb, "" if verb == "nothing" else TEXT, name))
        assert (reply.code, reply.out, reply.err) == (code, out, err), verb


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_program_has_its_cases_and_a_refusal_among_them(harness: str) -> None:
    cases = json.loads((HERE / f"{harness}.json").read_text())
    assert any("refuse" in case["replies"] for case in cases)


# VS Code runs what Copilot's files ask for, and tells of it in other words: these are all that it has.
VSCODE = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SubagentStart", "SubagentStop",
    "Stop",
)  # fmt: skip


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_event_that_a_program_tells_us_of_has_a_case(harness: str) -> None:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{harness}")
    asked = VSCODE if harness == "vscode" else [one.event for one in PROGRAMS[harness].events]
    cases = json.loads((HERE / f"{harness}.json").read_text())
    seen = {event_of(harness, case).raw for case in cases}
    if harness == "copilot":  # which has two spellings of each
        seen |= {name[:1].lower() + name[1:] for name in seen}
    assert {*asked, *getattr(adapter, "EVENTS", ())} - seen == set()


def test_what_can_be_no_path_is_none() -> None:
    assert as_paths("a", "a\0b", "", "x" * (PATH_LIMIT + 1), "a") == ("a",)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("PreToolUse") | st.just("apply_patch"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({name for param in CASES for name in param.values[1]["input"]})  # type: ignore[index]


@pytest.mark.parametrize("harness", HARNESSES)
@given(record=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=8), verb=st.sampled_from(("warn", "refuse")))
def test_no_input_makes_an_adapter_fail(harness: str, record: dict[str, object], verb: str) -> None:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{harness}")
    event = adapter.read(record, "", {})
    if event is not None:
        assert "allow" not in adapter.reply(event, Say(verb, TEXT)).out
