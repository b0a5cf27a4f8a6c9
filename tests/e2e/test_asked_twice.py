"""Hooks that are set up in two places (a plugin, and a settings file) ask at once for one call: the answers agree."""

import json
from pathlib import Path

import pytest

from tests.kit.processes import Job, run_at_once
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo

SESSION = "5b0cf1e2-0001-4000-8000-000000000001"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("claim", "src/b.py", "-m", "new login").ok()
    return repo


def event(repo: Repo, name: str, path: str) -> bytes:
    return json.dumps({
        "session_id": SESSION, "cwd": str(repo.path), "hook_event_name": name, "tool_name": "Edit",
        "tool_use_id": "t1", "tool_input": {"file_path": path},
    }).encode()  # fmt: skip


def both(repo: Repo, name: str, path: str) -> list[str]:
    """What two hooks answer that are asked at once."""
    repo.write(".git/event", event(repo, name, path))
    words = ["sh", "-c", 'exec "$0" agent-hook --harness claude <.git/event', str(program())]
    jobs = [Job(words, cwd=repo.path, env=child_environment()) for _ in range(2)]
    return [done.ok().out for done in run_at_once(jobs)]


def test_a_free_file_is_claimed_once(repo: Repo) -> None:
    assert both(repo, "PreToolUse", "src/a.py") == ["", ""]
    both(repo, "PostToolUse", "src/a.py")
    leases = [(one["agent"], one["keys"]) for one in repo.json("list")["data"]["leases"]]
    assert leases == [("alice", ["file:src/b.py"]), ("claude-5b0cf1e2", ["file:src/a.py"])]


def test_a_refusal_is_the_same_from_both(repo: Repo) -> None:
    first, second = (json.loads(text)["hookSpecificOutput"] for text in both(repo, "PreToolUse", "src/b.py"))
    assert first == second
    assert first["permissionDecision"] == "deny" and "a moment ago" not in first["permissionDecisionReason"]


def test_the_same_call_is_no_second_try(repo: Repo) -> None:
    words = ("agent-hook", "--harness", "claude")
    said = [repo.lock(*words, agent=None, input=event(repo, "PreToolUse", "src/b.py")).ok().out for _ in range(2)]
    assert said[0] == said[1]
