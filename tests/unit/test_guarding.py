"""What guards a session, out of its record; and what each program takes for a refusal."""

import importlib
import json

import pytest

from gitlock.domain.guarding import BROKEN, EDIT, EDIT_AND_SHELL, FAR, NONE, guard_of
from gitlock.domain.lease import Holder
from gitlock.domain.programs import PROGRAMS
from gitlock.domain.session import WORKING, Session
from gitlock.domain.sitting import SEEN_AGAIN, Sitting, remember, sitting_of
from gitlock.entrypoints.agents.neutral import BEFORE, Say
from gitlock.usecases.examining.dialects import DIALECTS, ODD, REFUSED, SILENT

START = 1_000_000.0


def a_session(*, hook_at: float | None = None, kind: str = "agent", sitting: Sitting | None = None) -> Session:
    session = Session(
        id="claude-1", agent="claude-1", kind=kind, program="claude", holder=Holder("host", worktree="/tree"),
        worktree_id=None, state=WORKING, since=START, message="", waited=0.0, started=START, active=START,
        hook_at=hook_at,
    )  # fmt: skip
    return remember(session, sitting or Sitting())


def seen(*kinds: str, at: float = START) -> Sitting:
    sitting = Sitting()
    for kind in kinds:
        sitting = sitting.saw(kind, at)
    return sitting


@pytest.mark.parametrize(
    ("session", "holds", "guard"),
    [
        (a_session(), False, None),
        (a_session(), True, NONE),
        (a_session().replace(touched=("a.py",)), False, NONE),
        (a_session(sitting=seen("commit")), False, NONE),
        (a_session(kind="human", sitting=seen("commit")), True, None),
        (a_session(hook_at=START), True, None),  # a hook, and no edit through it yet
        (a_session(hook_at=START, sitting=seen("shell")), True, None),
        (a_session(hook_at=START, sitting=seen("edit")), False, EDIT),
        (a_session(hook_at=START, sitting=seen("edit", "shell")), False, EDIT_AND_SHELL),
        (a_session(hook_at=START, sitting=seen("edit", "shell", "unheeded")), False, BROKEN),
    ],
)
def test_a_guard_is_what_was_seen(session: Session, holds: bool, guard: str | None) -> None:
    assert guard_of(session, holds=holds) == guard


@pytest.mark.parametrize(
    ("later", "guard"), [(FAR, EDIT), (FAR + 1, NONE)], ids=["as long as hooks may be away", "longer"]
)
def test_hooks_that_have_stopped_guard_nothing(later: float, guard: str) -> None:
    sitting = seen("edit").saw("commit", START + later)
    assert guard_of(a_session(hook_at=START, sitting=sitting)) == guard


def test_a_call_that_has_not_ended_is_why_no_hook_was_seen() -> None:
    sitting = seen("edit").saw("commit", START + FAR + 1).began("toolu_1", START + 2)
    assert guard_of(a_session(hook_at=START, sitting=sitting)) == EDIT


def test_hooks_that_are_back_guard_again() -> None:
    sitting = seen("edit").saw("commit", START + FAR + 1)
    assert guard_of(a_session(hook_at=START + FAR + 2, sitting=sitting)) == EDIT


def test_what_was_seen_a_moment_ago_is_not_written_again() -> None:
    sitting = seen("edit")
    assert sitting.saw("edit", START + SEEN_AGAIN - 1) is sitting
    assert sitting.saw("edit", START + SEEN_AGAIN) != sitting


def test_what_was_seen_is_kept_in_the_record() -> None:
    assert sitting_of(a_session(sitting=seen("edit"))).seen == {"edit": START}


# -- what doctor feeds, and how it listens


def test_there_is_a_dialect_for_each_program() -> None:
    assert set(DIALECTS) == set(PROGRAMS)


FED = [(name, event) for name, dialect in DIALECTS.items() for event in dialect.payloads]


@pytest.mark.parametrize(("name", "event"), FED)
def test_what_is_fed_is_read_as_an_edit_of_that_path(name: str, event: str) -> None:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{name}")
    payload = DIALECTS[name].payloads[event]("/r/a.txt", "/r")
    found = adapter.read(json.loads(json.dumps(payload)), event, {"DEVIN_PROJECT_DIR": "/r"})
    assert (found.kind, found.tool_kind, found.paths) == (BEFORE, "edit", ("/r/a.txt",))


@pytest.mark.parametrize(("name", "event"), FED)
def test_our_refusal_is_heard_as_one_and_our_silence_as_none(name: str, event: str) -> None:
    adapter = importlib.import_module(f"gitlock.entrypoints.agents.{name}")
    dialect = DIALECTS[name]
    found = adapter.read(dialect.payloads[event]("/r/a.txt", "/r"), event, {})
    refusal, silence = adapter.reply(found, Say("refuse", "no, it is bob's")), adapter.reply(found, Say())
    heard = dialect.hear(refusal.code, refusal.out, refusal.err)
    assert (heard.kind, heard.text.strip()) == (REFUSED, "no, it is bob's")
    assert dialect.hear(silence.code, silence.out, silence.err).kind == SILENT


DENY = (
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"x"}}'
)


@pytest.mark.parametrize(
    ("name", "code", "out", "kind"),
    [
        ("claude", 0, DENY, REFUSED),
        ("claude", 0, " " + DENY, ODD),  # it must begin with the brace
        ("claude", 0, DENY.replace('"hookEventName":"PreToolUse",', ""), ODD),
        ("claude", 1, DENY, ODD),
        ("claude", 0, "hello", ODD),
        ("codex", 0, DENY, REFUSED),
        ("codex", 0, DENY.replace('"x"', '"x","why":1'), ODD),
        ("codex", 0, DENY.replace('"x"', '" "'), ODD),
        ("codex", 2, "", ODD),
        ("gemini", 0, DENY, ODD),
        ("gemini", 0, '{"decision":"deny","reason":"x"}', REFUSED),
        ("gemini", 3, "Traceback", REFUSED),
        ("cursor", 0, "", ODD),
        ("cursor", 0, DENY, SILENT),
        ("cursor", 0, '{"permission":"deny","agent_message":"x"}', REFUSED),
        ("copilot", 0, DENY, SILENT),
        ("copilot", 1, "", REFUSED),
        ("copilot", 0, '{"permissionDecision":"deny","permissionDecisionReason":"x"}', REFUSED),
        ("opencode", 0, DENY, SILENT),
        ("windsurf", 0, DENY, ODD),
        ("windsurf", 1, "", ODD),
        ("devin", 2, "", REFUSED),
    ],
)
def test_an_answer_is_heard_as_its_program_hears_it(name: str, code: int, out: str, kind: str) -> None:
    assert DIALECTS[name].hear(code, out, "").kind == kind
