"""Our entries in a program's settings: found by what they run, mended in their place, taken out to the byte."""

import json
from typing import Any

import pytest

from gitlock.domain.hookcommand import commands, does_more, is_current, is_ours, kept_words
from gitlock.domain.programs import PLUGIN, PROGRAMS, Place, Program
from gitlock.domain.registering import ABSENT, INCOMPLETE, OFF, SET_UP, Marks, Odd, fresh, look, put, take

JSON_PROGRAMS = [program for program in PROGRAMS.values() if program.shape != PLUGIN]
CLAUDE = PROGRAMS["claude"]
LOCAL = Place(".claude/settings.local.json")
OURS = "git-lock agent-hook --harness claude"
WRITTEN = f"command -v git-lock >/dev/null 2>&1 || exit 0; {OURS}"


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
    after, marks = put(program, place, before, Marks())
    assert look(program, place, after).state == SET_UP
    assert put(program, place, after, marks) == (after, marks)
    assert take(program, place, after, marks) == before


@pytest.mark.parametrize("program", JSON_PROGRAMS, ids=lambda one: one.name)
def test_a_file_of_ours_says_nothing_else(program: Program) -> None:
    text = fresh(program, program.project)
    assert look(program, program.project, text).state == SET_UP
    assert all(is_ours(word) for word in _commands(json.loads(text)))


def _commands(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [found[name] for name in ("command", "bash", "powershell") if name in found]
        return own + [one for value in found.values() for one in _commands(value)]
    return [one for value in found for one in _commands(value)] if isinstance(found, list) else []


def test_others_keep_their_number_in_the_list() -> None:
    after, _ = put(CLAUDE, LOCAL, claude_with({"type": "command", "command": "lint"}), Marks())
    assert [one["hooks"][0]["command"] for one in entries(after)] == ["lint", WRITTEN]


def test_what_others_add_later_stays() -> None:
    after, marks = put(CLAUDE, LOCAL, "{}\n", Marks())
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
    document = json.loads(fresh(CLAUDE, LOCAL))
    document["hooks"]["PreToolUse"][0]["hooks"][0] |= change
    text = json.dumps(document)
    assert look(CLAUDE, LOCAL, text).state == SET_UP
    assert put(CLAUDE, LOCAL, text, Marks())[0] == text


@pytest.mark.parametrize(
    ("group", "handler", "expected"),
    [
        ({}, {"command": f"{OURS} --mode warn"}, {"command": WRITTEN}),
        ({}, {"command": f"{OURS} --mode warn --fail-closed"}, {"command": WRITTEN}),
        ({}, {"command": "git-lock agent-hook --harness cursor"}, {"command": WRITTEN}),
        ({}, {"command": "git-lock", "args": ["agent-hook", "--old"]}, {"command": WRITTEN}),
        ({"matcher": "Edit|Write"}, {}, {}),
        ({}, {"timeout": 0.01}, {"timeout": 10}),
    ],
    ids=["an old option", "an old one and one of a person's", "another program", "exec form", "matcher", "timeout"],
)
def test_an_old_entry_is_mended_in_its_place(
    group: dict[str, Any], handler: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = json.loads(fresh(CLAUDE, LOCAL))
    old = json.loads(json.dumps(before))
    old["hooks"]["PreToolUse"][0] |= group
    old["hooks"]["PreToolUse"][0]["hooks"][0] |= {"statusMessage": "kept", **handler}
    assert look(CLAUDE, LOCAL, json.dumps(old)).state == INCOMPLETE
    after, _ = put(CLAUDE, LOCAL, json.dumps(old), Marks())
    assert look(CLAUDE, LOCAL, after).state == SET_UP
    (mended,) = entries(after)
    assert mended["matcher"] == before["hooks"]["PreToolUse"][0]["matcher"]
    assert mended["hooks"][0]["statusMessage"] == "kept"
    assert {name: mended["hooks"][0][name] for name in expected} == expected


def test_what_a_person_added_to_our_words_survives_the_mending() -> None:
    assert kept_words(f"{OURS} --mode warn --fail-closed") == ""  # not understood: nothing is guessed
    assert kept_words(f"{OURS} --fail-closed") == "--fail-closed"
    asked = CLAUDE.events[0]
    assert commands(CLAUDE, asked, kept="--agent x")["command"] == f"{WRITTEN} --agent x"


def test_a_missing_event_is_named() -> None:
    document = json.loads(fresh(CLAUDE, LOCAL))
    del document["hooks"]["PreToolUse"]
    looked = look(CLAUDE, LOCAL, json.dumps(document))
    assert (looked.state, looked.why) == (INCOMPLETE, "nothing asks us at PreToolUse")


@pytest.mark.parametrize("switch", [{"disableAllHooks": True}, {"hooksConfig": {"enabled": False}},
                                    {"hooksConfig": {"disabled": ["git-lock"]}}], ids=str)  # fmt: skip
def test_a_switch_that_turns_us_off_is_seen(switch: dict[str, Any]) -> None:
    document = {**json.loads(fresh(CLAUDE, LOCAL)), **switch}
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
        put(CLAUDE, LOCAL, text, Marks())
    assert caught.value.line == line


def test_a_key_that_is_there_twice_elsewhere_is_none_of_ours() -> None:
    text = '{"model": "a", "model": "b"}'
    after, marks = put(CLAUDE, LOCAL, text, Marks())
    assert take(CLAUDE, LOCAL, after, marks) == text


def test_without_a_memory_nothing_but_ours_goes() -> None:
    after, _ = put(CLAUDE, LOCAL, '{"model": "x"}', Marks())
    assert json.loads(take(CLAUDE, LOCAL, after, None)) == {"model": "x"}
    assert look(CLAUDE, LOCAL, take(CLAUDE, LOCAL, after, None)).state == ABSENT


@pytest.mark.parametrize("name", ["gemini", "copilot", "devin"])
def test_where_a_missing_program_would_stop_tools_it_is_looked_for(name: str) -> None:
    program = PROGRAMS[name]
    asked = program.events[0]
    assert all(is_current(program, asked, text) for text in commands(program, asked).values())
    bare = next(iter(commands(program, asked).values())).split("; ")[-1]
    assert not is_current(program, asked, bare)


def test_words_are_plain_wherever_nothing_has_to_be_looked_for() -> None:
    for name in ("codex", "cursor", "windsurf"):
        program = PROGRAMS[name]
        for asked in program.events:
            assert commands(program, asked) == {"command": f"git-lock agent-hook --harness {name}"}


SHADOWED = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "%s"}]}], "Stop": %s}}'


@pytest.mark.parametrize("last", ["[]", '[{"hooks": [{"type": "command", "command": "mine"}]}]'])
def test_of_an_event_that_is_there_twice_nothing_of_anothers_is_taken(last: str) -> None:
    text = SHADOWED % (OURS, last)
    with pytest.raises(Odd, match="'Stop' is there twice"):
        take(CLAUDE, LOCAL, text, None)


MORE = [f"{OURS}; say done", f"tee log | {OURS}", f"lint && {OURS}", f"{OURS} & say hi", f"a\n{OURS}"]
NO_MORE = [
    f"{OURS} || true", f"[ -x /o/git-lock ] && /o/{OURS} 2>/dev/null || exit 0", f'cd "$P" && {OURS} 2>&1',
    f"X=1 {OURS}", f"if command -v git-lock; then {OURS}; fi", f"sh -c '{OURS}; exit 0'", f"{OURS} # mine; yes",
    f"{OURS} >/tmp/a 2>&1;",
]  # fmt: skip


@pytest.mark.parametrize("command", MORE)
def test_what_a_person_runs_in_the_same_command_is_not_taken_out_with_us(command: str) -> None:
    with pytest.raises(Odd, match="runs git-lock and something else"):
        take(CLAUDE, LOCAL, claude_with({"type": "command", "command": command}), None)


def test_what_a_person_runs_in_the_same_command_is_not_written_over() -> None:
    old = claude_with({"type": "command", "command": "git-lock agent-hook --of-old; say done"})
    with pytest.raises(Odd, match="runs git-lock and something else"):
        put(CLAUDE, LOCAL, old, Marks())


@pytest.mark.parametrize("command", NO_MORE)
def test_what_only_serves_our_command_goes_with_it(command: str) -> None:
    assert "git-lock" not in take(CLAUDE, LOCAL, claude_with({"type": "command", "command": command}), None)


@pytest.mark.parametrize("program", JSON_PROGRAMS, ids=lambda one: one.name)
def test_our_own_commands_do_nothing_else(program: Program) -> None:
    written = [one for asked in program.events for one in commands(program, asked).values()]
    assert not any(does_more(one) for one in written)


def test_entries_by_the_hundred_are_not_taken_out_one_by_one() -> None:
    with pytest.raises(Odd, match="more than 200 entries"):
        take(CLAUDE, LOCAL, claude_with(*[{"type": "command", "command": OURS}] * 201), None)
