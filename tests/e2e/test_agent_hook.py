"""The hook of agent programs never breaks one: whatever goes wrong is no opinion, 0, and a line in the log."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitlock.domain.programs import PROGRAMS
from tests.kit.processes import Job, run_at_once, start
from tests.kit.program import ROOT, child_environment, program
from tests.kit.programs import Program
from tests.kit.repo import Repo
from tests.kit.result import Result

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n"})
    repo.lock("claim", "src/other.py").ok()
    return repo


def an_edit(repo: Repo, session: str = ONE, path: str = "src/a.py") -> dict[str, object]:
    return {
        "session_id": session, "cwd": str(repo.path), "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_use_id": "t1", "tool_input": {"file_path": path},
    }  # fmt: skip


def hook(repo: Repo, data: bytes, *words: str) -> Result:
    return repo.lock("agent-hook", "--harness", "claude", *words, agent=None, input=data)


STRANGE = {
    "nothing": b"",
    "no json": b"hello",
    "cut short": b'{"session_id": "5b0c", "tool_name": "Ed',
    "no object": b"[1]",
    "no event": b'{"session_id": "5b0c"}',
    "not a number": b'{"hook_event_name": NaN}',
    "nested too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("data", STRANGE.values(), ids=STRANGE)
def test_an_input_that_is_not_understood_is_no_opinion_and_logged(repo: Repo, data: bytes) -> None:
    result = hook(repo, data)
    assert (result.code, result.out, result.err) == (0, "", "")
    assert "claude" in (repo.store / "agent-hook.log").read_text()


def test_no_opinion_is_said_in_each_programs_own_form(repo: Repo) -> None:
    for name in PROGRAMS:
        result = repo.lock("agent-hook", "--harness", name, agent=None, input=b"hello")
        assert (result.code, result.out, result.err) == (0, "{}\n" if name in ("cursor", "opencode") else "", ""), name


def test_an_input_of_five_megabytes_is_read(repo: Repo) -> None:
    event = an_edit(repo)
    event["tool_input"] = {"file_path": "src/a.py", "content": "x" * 5_000_000}
    hook(repo, json.dumps(event).encode()).ok()
    assert [one["agent"] for one in repo.json("list")["data"]["leases"]] == ["alice", "claude-5b0cf1e2"]


def test_an_input_beyond_every_measure_is_not_read_to_its_end(repo: Repo) -> None:
    assert hook(repo, b'{"x": "' + b"x" * (20 << 20)).out == ""
    assert "more than" in (repo.store / "agent-hook.log").read_text()


def test_a_name_that_is_not_utf8_is_a_name(repo: Repo) -> None:
    data = json.dumps(an_edit(repo, path="NAME")).encode().replace(b"NAME", b"src/\xe9.py")
    hook(repo, data).ok()
    assert json.loads(hook(repo, data.replace(ONE.encode(), TWO.encode())).out)["hookSpecificOutput"]


def test_no_content_and_no_transcript_is_kept(repo: Repo) -> None:
    event = {**an_edit(repo), "transcript_path": "/secret/path", "tool_input": {
        "file_path": "src/a.py", "old_string": "SECRET-OLD", "new_string": "SECRET-NEW"}}  # fmt: skip
    hook(repo, json.dumps(event).encode()).ok()
    hook(repo, json.dumps({**event, "hook_event_name": "UserPromptSubmit", "prompt": "SECRET-PROMPT"}).encode()).ok()
    kept = b"".join(path.read_bytes() for path in repo.store.rglob("*") if path.is_file())
    assert b"SECRET" not in kept and b"/secret" not in kept


def test_a_store_that_can_not_be_read_is_no_opinion(repo: Repo) -> None:
    (repo.store / "state.json").write_text("{}")
    result = hook(repo, json.dumps(an_edit(repo)).encode())
    assert (result.code, result.out, result.err) == (0, "", "")
    assert "StoreCorrupt" in (repo.store / "agent-hook.log").read_text()


def test_fail_closed_refuses_what_could_not_be_checked(repo: Repo) -> None:
    assert hook(repo, json.dumps(an_edit(repo)).encode(), "--fail-closed").out == ""
    (repo.store / "state.json").write_text("{}")
    said = json.loads(hook(repo, json.dumps(an_edit(repo)).encode(), "--fail-closed").out)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "could not check" in said["hookSpecificOutput"]["permissionDecisionReason"]
    after = {**an_edit(repo), "hook_event_name": "PostToolUse"}
    assert hook(repo, json.dumps(after).encode(), "--fail-closed").out == ""


def test_an_input_that_never_ends_is_given_up(repo: Repo) -> None:
    argv = [str(program()), "agent-hook", "--harness", "claude"]
    with start(argv, cwd=repo.path, env=child_environment(), stdin=subprocess.PIPE) as hanging:
        assert hanging.wait().code == 0
    assert "not done within 2 s" in (repo.store / "agent-hook.log").read_text()


LATE = """\
import signal, sys
sys.path.insert(0, sys.argv[1])
from gitlock.entrypoints.agents import desk, main

def keep(self):  # the clock runs out while it remembers, and once more
    for _ in range(2):
        signal.raise_signal(signal.SIGALRM)

desk.Desk.keep = keep
main.main(["--harness", "cursor", *sys.argv[2:]])
"""


@pytest.mark.parametrize("words", [(), ("--fail-closed",)])
def test_an_answer_that_was_given_stays_the_only_one(repo: Repo, words: tuple[str, ...]) -> None:
    repo.lock("claim", "src/a.py").ok()
    event = {
        "conversation_id": ONE, "hook_event_name": "preToolUse", "cursor_version": "3.1.0", "tool_name": "Write",
        "tool_input": {"file_path": "src/a.py"}, "cwd": str(repo.path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", LATE, str(ROOT), *words], cwd=repo.path, env=child_environment(), text=True,
        input=json.dumps(event), capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["permission"] == "deny"
    assert "what was said may be said again" in (repo.store / "agent-hook.log").read_text()


def test_the_log_does_not_grow_for_ever(repo: Repo) -> None:
    log = repo.store / "agent-hook.log"
    log.write_text("x" * 70_000)
    hook(repo, b"")
    hook(repo, b"")
    assert log.stat().st_size < 1000


@pytest.mark.parametrize("words", [["--harness", "nobody"], [], ["--harness", "claude", "--later"], ["--harness"]])
def test_a_mistake_in_a_programs_settings_stops_no_tool(repo: Repo, words: list[str]) -> None:
    result = repo.lock("agent-hook", *words, agent=None, input=b"{}")
    assert result.code == 0 and result.out == ""
    assert "git lock agent-hook -h" in result.err


def test_help_is_for_people(repo: Repo) -> None:
    assert "--fail-closed" in repo.lock("agent-hook", "-h").ok().out


def test_a_repository_that_is_not_managed_is_left_alone(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    assert hook(repo, json.dumps(an_edit(repo)).encode()).out == ""
    assert hook(repo, json.dumps({**an_edit(repo), "hook_event_name": "SessionStart"}).encode()).out == ""
    assert not repo.store.exists()


def test_one_that_has_a_map_file_is_managed(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path, files={".gitlock.toml": "version = 1\n", "src/a.py": ""})
    hook(repo, json.dumps(an_edit(repo)).encode()).ok()
    assert repo.state()["leases"][0]["agent"] == "claude-5b0cf1e2"


def test_of_many_who_edit_one_file_at_once_one_holds_it(repo: Repo, tmp_path: Path) -> None:
    jobs = []
    for number in range(20):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(an_edit(repo, session=f"{number:08d}-0001")))
        line = f'exec "{program()}" agent-hook --harness claude <"{file}"'
        jobs.append(Job(["/bin/sh", "-c", line], repo.path, child_environment()))
    answers = [result.out for result in run_at_once(jobs)]
    log = repo.store / "agent-hook.log"
    late = len(log.read_text().splitlines()) if log.exists() else 0  # had no opinion, and said so: a slow machine
    assert [one["agent"] == "alice" for one in repo.json("list")["data"]["leases"]] == [True, False]
    assert sum(1 for out in answers if '"deny"' in out) == 19 - late
    assert sum(1 for out in answers if out == "") == 1 + late


def test_a_git_folder_and_what_git_ignores_are_not_claimed(repo: Repo) -> None:
    repo.write(".gitignore", "build/\n")
    claude = Program("claude", repo, ONE)
    assert claude.edits("build/x.o").may_run and claude.edits(".git/config").may_run
    assert [one["agent"] for one in repo.json("list")["data"]["leases"]] == ["alice"]


def test_the_agent_of_a_worktree_is_the_agent_of_the_sessions_in_it(repo: Repo) -> None:
    there = repo.worktree("there")
    git_dir = Path(there.git("rev-parse", "--absolute-git-dir").out.strip())
    (git_dir / "gitlock-agent").write_text("abc123 bob\n")
    Program("claude", there, ONE).does("src/a.py", "2\n")
    assert repo.json("who", "src/a.py")["data"]["results"][0]["leases"][0]["agent"] == "bob"
    assert Program("codex", there, TWO).edits("src/a.py").may_run  # the same agent


def test_sessions_that_began_in_the_same_minute_are_told_apart(repo: Repo) -> None:
    first = Program("codex", repo, "019a0b3c-4d5e-7f00-8000-00000000000a")
    second = Program("codex", repo, "019a0b3c-4d5e-7f01-8000-00000000000b")
    first.does("src/a.py", "2\n")
    assert not second.edits("src/a.py").may_run


def test_a_refused_call_that_ran_all_the_same_is_noticed(repo: Repo) -> None:
    Program("codex", repo, TWO).does("src/a.py", "2\n")
    claude = Program("claude", repo, ONE)
    assert not claude.edits("src/a.py").may_run
    assert "does not heed" in claude.edited("src/a.py").context
