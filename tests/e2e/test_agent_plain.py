"""The edit of a file that is the session's already is let through at a glance: never where there is more to be done."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"
ME = "claude-5b0cf1e2"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository in which nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


@pytest.fixture
def claude(repo: Repo) -> Program:
    """A session that holds src/a.py, and was let through once since."""
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    assert claude.edits("src/a.py", call="plain").result.out == ""
    return claude


def lease(repo: Repo, path: str = "src/a.py") -> dict[str, Any]:
    (found,) = [one for one in repo.state()["leases"] if one["include"] == [path]]
    return dict(found)


def test_a_glance_writes_nothing(repo: Repo, claude: Program) -> None:
    before = (repo.store / "state.json").stat().st_ino
    assert claude.edits("src/a.py").may_run
    assert (repo.store / "state.json").stat().st_ino == before


def test_what_was_stolen_is_refused(repo: Repo, claude: Program) -> None:
    repo.lock("steal", "src/a.py", "--force", "--reason", "urgent", agent="bob").ok()
    assert not claude.edits("src/a.py").may_run


def test_what_was_given_back_is_claimed_anew(repo: Repo, claude: Program) -> None:
    repo.lock("release", "src/a.py", agent=ME).ok()
    assert claude.edits("src/a.py").may_run
    assert lease(repo)["agent"] == ME


def test_only_part_of_a_patch_is_not_enough(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    codex.does("src/a.py", "2\n")
    repo.lock("claim", "src/b.py", agent="bob").ok()
    assert not codex.edits("src/a.py", "src/b.py").may_run
    assert codex.edits("src/a.py").may_run


def test_a_lease_that_is_due_is_renewed(repo: Repo, claude: Program) -> None:
    repo.lock("claim", "src/b.py", "--ttl", "1s", agent=ME).ok()
    before = lease(repo, "src/b.py")["renewed"]
    while lease(repo, "src/b.py")["renewed"] == before:  # a tenth of a second later at most
        assert claude.edits("src/a.py").may_run


def test_a_branch_that_was_switched_is_written_down(repo: Repo, claude: Program) -> None:
    repo.git("symbolic-ref", "HEAD", "refs/heads/other")
    assert claude.edits("src/a.py").may_run
    assert lease(repo)["holder"]["branch"] == "other"


def test_a_second_call_on_what_the_first_only_tries_is_counted(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.edits("src/a.py", call="first")
    claude.edits("src/a.py", call="second")
    assert lease(repo)["tentative"] == ["first", "second"]


def test_an_announcement_is_no_claim(repo: Repo) -> None:
    there = repo.worktree("there")
    Program("codex", there, TWO).does("src/a.py", "2\n")
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")  # announced, since somebody in another worktree holds it
    assert "in another worktree" in claude.edits("src/a.py").context


def test_what_a_command_of_its_own_holds_is_not_enough(repo: Repo, claude: Program) -> None:
    repo.lock("release", "src/a.py", agent=ME).ok()
    with repo.start("run", "src/a.py", "--", "sh", "-c", "echo ready; sleep 60", agent=ME) as one:
        one.says("ready")
        claude.edits("src/a.py")
        assert [row["holder"].get("apart") for row in repo.state()["leases"]] == [True]


def test_a_store_elsewhere_is_asked_there(repo: Repo, claude: Program, tmp_path: Path) -> None:
    repo.git("config", "gitlock.store", f"files:{tmp_path / 'store'}")
    assert claude.edits("src/a.py").result.out == ""
    assert "StoreMismatch" in (repo.store / "agent-hook.log").read_text()


def test_a_damaged_store_is_said_to_be_one(repo: Repo, claude: Program) -> None:
    state = repo.store / "state.json"
    state.write_bytes(state.read_bytes().replace(b"src/a.py", b"src/z.py", 1))
    claude.edits("src/a.py")
    assert "StoreCorrupt" in (repo.store / "agent-hook.log").read_text()


# -- after an edit


def test_after_another_edit_of_the_same_file_nothing_is_written(repo: Repo, claude: Program) -> None:
    def traces() -> set[int]:
        return {file.stat().st_ino for file in (repo.store / "state.json", *(repo.store / "sessions").glob("*.json"))}

    before = traces()
    assert claude.edited("src/a.py").context == ""
    assert traces() == before


def test_a_request_is_told_after_an_edit(repo: Repo, claude: Program) -> None:
    repo.lock("request", "src/a.py", "-m", "please", agent="bob").ok()
    assert "bob asks you" in claude.edited("src/a.py").context


def test_an_answer_is_told_after_an_edit(repo: Repo, claude: Program) -> None:
    repo.lock("claim", "src/b.py", agent="bob").ok()
    repo.lock("request", "src/b.py", "-m", "please", agent=ME).ok()
    request = repo.json("inbox", agent="bob")["data"]["requests"][0]["id"]
    repo.lock("decline", request, "-m", "no", agent="bob").ok()
    assert "declined" in claude.edited("src/a.py").context


def test_a_lease_that_was_lost_is_told_after_an_edit(repo: Repo, claude: Program) -> None:
    repo.lock("claim", "src/b.py", agent=ME).ok()
    repo.lock("steal", "src/b.py", "--force", "--reason", "urgent", agent="bob").ok()
    assert "src/b.py" in claude.edited("src/a.py").context


def test_a_place_in_the_queue_that_has_come_is_told_after_an_edit(repo: Repo, claude: Program) -> None:
    repo.lock("claim", "src/b.py", agent="bob").ok()
    repo.lock("claim", "--ticket", "src/b.py", agent=ME).ended(21)
    repo.lock("release", "src/b.py", agent="bob").ok()
    assert "src/b.py" in claude.edited("src/a.py").context


# -- after a pause


def record_of(repo: Repo, **changes: Any) -> dict[str, Any]:
    """The session's record; with changes made to it, as of a minute ago."""
    (file,) = (repo.store / "sessions").glob("*.json")
    record: dict[str, Any] = json.loads(file.read_text())
    if changes:
        earlier = {"active": record["active"] - 60, "hook_at": record["hook_at"] - 60}
        file.write_text(json.dumps({**record, **earlier, **changes}, separators=(",", ":")))
    return record


def test_after_a_pause_the_session_is_heard_of_again_and_nothing_else_changes(repo: Repo, claude: Program) -> None:
    before = record_of(repo, later="kept")
    claude.edits("src/a.py")
    after = record_of(repo)
    assert after["active"] > before["active"] and after["hook_at"] == after["active"]
    assert {**after, "active": 0, "hook_at": 0} == {**before, "later": "kept", "active": 0, "hook_at": 0}


def test_after_a_pause_what_else_is_news_of_a_session_is_written_down(repo: Repo, claude: Program) -> None:
    before = record_of(repo)
    record_of(repo, holder={**before["holder"], "branch": "other"})
    claude.edits("src/a.py")
    assert record_of(repo)["holder"]["branch"] == "main"


def test_a_session_that_was_waiting_is_at_work_again(repo: Repo, claude: Program) -> None:
    claude.tells("asks", tool_name="Bash", tool_input={"command": "make"})
    claude.edits("src/a.py")
    (row,) = [one for one in repo.json("agents")["data"]["agents"] if one["agent"] == ME]
    assert row["state"] == "working"
