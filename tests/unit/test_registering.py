"""Our entries in a program's settings: found by what they run, mended in their place, taken out to the byte."""

import json
from typing import Any

import pytest

from gitlock.domain.hookcommand import commands, is_current, is_ours, kept_words
from gitlock.domain.programs import PLUGIN, PROGRAMS, Place, Program
from gitlock.domain.registering import ABSENT, INCOMPLETE, OFF, SET_UP, Marks, Odd, fresh, look, put, take

JSON_PROGRAMS = [program for program in PROGRAMS.values() if program.shape != PLUGIN]
CLAUDE = PROGRAMS["claude"]
LOCAL = Place(".claude/settings.local.json")
OURS = "git-lock agent-hook --harness claude"


def claude_with(*handlers: dict[str, Any], matcher: str | None = None, event: str = "PreToolUse") -> str:
    group = {"hooks": list(handlers)} if matcher is None else {"matcher": matcher, "hooks": list(handlers)}
    return json.dumps({"hooks": {event: [group]}}, indent=2)


def entries(text: str, event: str = "PreToolUse") -> list[Any]:
    found = json.loads(text)["hooks"][event]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("program", JSON_PROGRAMS, ids=lambda one: one.name)
@pytest.mark.parametrize(
    "before",
    [
        "{}", "{}\n", "{\n}\n", "", "\n", '{"hooks": {}}', '{"hooks": {"Stop": [], "stop": []}, "version": 1}',
        '{\r\n\t"model": "x", // ours\r\n\t"hooks": {\r\n\t\t"Stop": [ { "hooks": [ { "command": "a" }]}],\r\n },\r\n}',
        '\ufeff{"permissions": {"allow": ["a"]}}',
    ],
)  # fmt: skip
def test_what_is_put_in_comes_out_again_to_the_byte(program: Program, before: str) -> None:
    place = program.private or program.project
    after, marks = put(program, place, before, Marks(), shared=False)
    assert look(program, place, after).state == SET_UP
    assert put(program, place, after, marks, shared=False) == (after, marks)
    assert take(program, place, after, marks) == before


@pytest.mark.parametrize("program", JSON_PROGRAMS, ids=lambda one: one.name)
def test_a_file_of_ours_says_nothing_else(program: Program) -> None:
    for shared in (False, True):
        text = fresh(program, program.project, shared=shared)
        assert look(program, program.project, text, shared=shared).state == SET_UP
        assert all(is_ours(word) for word in _commands(json.loads(text)))


def _commands(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [found[name] for name in ("command", "bash", "powershell") if name in found]
        return own + [one for value in found.values() for one in _commands(value)]
    return [one for value in found for one in _commands(value)] if isinstance(found, list) else []


def test_others_keep_their_number_in_the_list() -> None:
    after, _ = put(CLAUDE, LOCAL, claude_with({"type": "command", "command": "lint"}), Marks(), shared=False)
    assert [one["hooks"][0]["command"] for one in entries(after)] == ["lint", OURS]


def test_what_others_add_later_stays() -> None:
    after, marks = put(CLAUDE, LOCAL, "{}\n", Marks(), shared=False)
    document = json.loads(after)
    document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    document["model"] = "x"
    left = json.loads(take(CLAUDE, LOCAL, json.dumps(document), marks))
    assert left == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "model": "x"}


def test_a_handler_of_ours_in_somebodys_group_goes_alone() -> None:
    text = claude_with({"command": "lint"}, {"command": OURS}, matcher="Edit")
    assert entries(take(CLAUDE, LOCAL, text, None)) == [{"matcher": "Edit", "hooks": [{"command": "lint"}]}]


@pytest.mark.parametrize(
    ("command", "is_it"),
    [
        (OURS, True),
        ("/home/u/.local/bin/git-lock agent-hook --harness claude", True),
        ('"C:/Tools/git-lock.exe" agent-hook --harness claude', True),
        ("git lock agent-hook --harness claude", True),
        ("command -v git-lock >/dev/null 2>&1 || exit 0; git-lock agent-hook --harness claude", True),
        ("git-lock list", False),
        ("my-git-lock-thing agent-hook", False),
        ("echo agent-hook", False),
    ],
)
def test_an_entry_is_ours_by_what_it_runs(command: str, is_it: bool) -> None:
    assert is_ours(command) is is_it


@pytest.mark.parametrize(
    "change",
    [
        {"command": "/opt/bin/git-lock agent-hook --harness claude"},
        {"command": f"{OURS} --fail-closed"},
        {"command": f"{OURS} --agent nightly"},
        {"command": "git-lock", "args": ["agent-hook", "--harness", "claude"]},
        {"timeout": 60},
        {"statusMessage": "asking"},
    ],
    ids=["another path", "fail-closed", "agent", "exec form", "timeout", "another key"],
)
def test_a_persons_own_change_of_our_entry_is_left_as_it_is(change: dict[str, Any]) -> None:
    document = json.loads(fresh(CLAUDE, LOCAL, shared=False))
    document["hooks"]["PreToolUse"][0]["hooks"][0] |= change
    text = json.dumps(document)
    assert look(CLAUDE, LOCAL, text).state == SET_UP
    assert put(CLAUDE, LOCAL, text, Marks(), shared=False)[0] == text


@pytest.mark.parametrize(
    ("group", "handler", "expected"),
    [
        ({}, {"command": f"{OURS} --mode warn"}, {"command": OURS}),
        ({}, {"command": f"{OURS} --mode warn --fail-closed"}, {"command": OURS}),
        ({}, {"command": "git-lock agent-hook --harness cursor"}, {"command": OURS}),
        ({}, {"command": "git-lock", "args": ["agent-hook", "--old"]}, {"command": OURS}),
        ({"matcher": "Edit|Write"}, {}, {}),
        ({}, {"timeout": 0.01}, {"timeout": 10}),
    ],
    ids=["an old option", "an old one and one of a person's", "another program", "exec form", "matcher", "timeout"],
)
def test_an_old_entry_is_mended_in_its_place(
    group: dict[str, Any], handler: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = json.loads(fresh(CLAUDE, LOCAL, shared=False))
    old = json.loads(json.dumps(before))
    old["hooks"]["PreToolUse"][0] |= group
    old["hooks"]["PreToolUse"][0]["hooks"][0] |= {"statusMessage": "kept", **handler}
    assert look(CLAUDE, LOCAL, json.dumps(old)).state == INCOMPLETE
    after, _ = put(CLAUDE, LOCAL, json.dumps(old), Marks(), shared=False)
    assert look(CLAUDE, LOCAL, after).state == SET_UP
    (mended,) = entries(after)
    assert mended["matcher"] == before["hooks"]["PreToolUse"][0]["matcher"]
    assert mended["hooks"][0]["statusMessage"] == "kept"
    assert {name: mended["hooks"][0][name] for name in expected} == expected


def test_what_a_person_added_to_our_words_survives_the_mending() -> None:
    assert kept_words(f"{OURS} --mode warn --fail-closed") == ""  # not understood: nothing is guessed
    assert kept_words(f"{OURS} --fail-closed") == "--fail-closed"
    asked = CLAUDE.events[0]
    assert commands(CLAUDE, asked, shared=False, kept="--agent x")["command"] == f"{OURS} --agent x"


def test_a_missing_event_is_named() -> None:
    document = json.loads(fresh(CLAUDE, LOCAL, shared=False))
    del document["hooks"]["PreToolUse"]
    looked = look(CLAUDE, LOCAL, json.dumps(document))
    assert (looked.state, looked.why) == (INCOMPLETE, "nothing asks us at PreToolUse")


@pytest.mark.parametrize("switch", [{"disableAllHooks": True}, {"hooksConfig": {"enabled": False}},
                                    {"hooksConfig": {"disabled": ["git-lock"]}}], ids=str)  # fmt: skip
def test_a_switch_that_turns_us_off_is_seen(switch: dict[str, Any]) -> None:
    document = {**json.loads(fresh(CLAUDE, LOCAL, shared=False)), **switch}
    assert look(CLAUDE, LOCAL, json.dumps(document)).state == OFF


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[]", 1),
        ('{"hooks": []}', 1),
        ('{"a": 1,\n"hooks": null}', 2),
        ('{"hooks": {\n"PreToolUse": {}}}', 2),
        ('{"hooks": {},\n"hooks": {}}', 2),
        ('{"hooks": {"Stop": [], "Stop": []}}', 1),
    ],
)
def test_what_can_not_be_added_to_without_doubt_is_not(text: str, line: int) -> None:
    with pytest.raises(Odd) as caught:
        put(CLAUDE, LOCAL, text, Marks(), shared=False)
    assert caught.value.line == line


def test_a_key_that_is_there_twice_elsewhere_is_none_of_ours() -> None:
    text = '{"model": "a", "model": "b"}'
    after, marks = put(CLAUDE, LOCAL, text, Marks(), shared=False)
    assert take(CLAUDE, LOCAL, after, marks) == text


def test_without_a_memory_nothing_but_ours_goes() -> None:
    after, _ = put(CLAUDE, LOCAL, '{"model": "x"}', Marks(), shared=False)
    assert json.loads(take(CLAUDE, LOCAL, after, None)) == {"model": "x"}
    assert look(CLAUDE, LOCAL, take(CLAUDE, LOCAL, after, None)).state == ABSENT


@pytest.mark.parametrize("name", ["gemini", "copilot", "devin"])
def test_where_a_missing_program_would_stop_tools_it_is_looked_for(name: str) -> None:
    program = PROGRAMS[name]
    asked = program.events[0]
    for shared in (False, True):
        texts = commands(program, asked, shared=shared).values()
        assert all(is_current(program, asked, text, shared=shared) for text in texts)
    bare = next(iter(commands(program, asked, shared=False).values())).split("; ")[-1]
    assert not is_current(program, asked, bare, shared=False)


def test_words_are_plain_wherever_nothing_has_to_be_looked_for() -> None:
    for name in ("claude", "codex", "cursor", "windsurf"):
        program = PROGRAMS[name]
        for asked in program.events:
            assert commands(program, asked, shared=False) == {"command": f"git-lock agent-hook --harness {name}"}
