"""As whom the server acts: as the session of the program that has started it, like that program's hooks and its shell.

The program is a process of the tests; the server is its child, as in the real ones, and is given no variable.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.mcp import Client, Host
from tests.kit.repo import Repo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the processes above us")

ONE, TWO = "019a1b2c-0000-4000-8000-00000000000a", "77aa55cc-1111-4111-8111-00000000000b"
VARIABLE, CLEARED = "CLAUDE_CODE_SESSION_ID", "5b0cf1e2-0001"
FIRST, SECOND = "codex-019a1b2c", "codex-77aa55cc"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository for all of these tests."""
    return Repo.new(tmp_path_factory.mktemp("identity"), files={"src/a.py": "a\n", "src/b.py": "b\n"})


@pytest.fixture
def repo(shared: Repo) -> Iterator[Repo]:
    """It is managed, and knows of no session: the store is made anew for each test."""
    shared.lock("claim", "src/b.py", agent="bob").ok()
    yield shared
    shutil.rmtree(shared.store)
    shared.store.with_name("agentlocks.mark").unlink()


@pytest.fixture(scope="module")
def programs(shared: Repo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Host]]:
    """Codex, which tells its server nothing, and Claude, which told it the session that it had at that moment."""
    with (
        Host("codex", shared, tmp_path_factory.mktemp("codex")) as codex,
        Host("claude", shared, tmp_path_factory.mktemp("claude"), env={VARIABLE: CLEARED}) as claude,
    ):
        yield {"codex": codex, "claude": claude}


@pytest.fixture
def codex(repo: Repo, programs: dict[str, Host]) -> Host:
    """Codex with its server, and no session yet."""
    return programs["codex"]


@pytest.fixture
def claude(repo: Repo, programs: dict[str, Host]) -> Host:
    """Claude, of whose session nothing is known yet."""
    return programs["claude"]


def test_the_server_acts_as_the_session_of_its_program(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    lease = codex.client.claims("src/a.py")["lease"]
    who = codex.client.call("whoami")
    assert (lease["agent"], who["source"], who["session"], who["kind"]) == (FIRST, "process", FIRST, "agent")
    assert who["hook_seen_at"] is not None and who["program"] == "codex"


def test_its_leases_live_as_long_as_the_program(repo: Repo, tmp_path: Path) -> None:
    with Host("codex", repo, tmp_path) as codex:
        codex.begins(ONE)
        lease = codex.client.claims("src/a.py")["lease"]
        assert lease["liveness"] == "alive"
        assert Path(f"/proc/{lease['holder']['pid']}/comm").read_text() == "codex\n"
    repo.lock("claim", "src/a.py", agent="carol").ok()  # the program is gone, and nothing of it was changed


def test_what_its_hooks_hold_is_its_own(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"
    codex.begins(ONE, "PreToolUse", tool_name="apply_patch", tool_use_id="c1", tool_input={"command": patch})
    assert codex.client.claims("src/a.py")["already"]
    assert codex.client.call("release", all=True)["released"][0]["agent"] == FIRST


def test_two_sessions_of_one_process_are_told_apart_by_the_caller(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    codex.begins(TWO)
    error = codex.client.refused("claim", 17, claims=["src/a.py"])
    assert error["id"] == "which-agent" and FIRST in error["message"] and SECOND in error["message"]
    assert codex.client.claims("src/a.py", agent=FIRST)["lease"]["agent"] == FIRST
    assert codex.client.refused("claim", 10, claims=["src/a.py"], agent=SECOND)["id"] == "held"


def test_a_session_that_is_over_is_no_candidate(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    codex.begins(ONE, "SessionEnd", reason="other")
    codex.begins(TWO)
    assert codex.client.call("whoami")["agent"] == SECOND


def test_many_calls_at_once_leave_the_session_s_record_whole(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    calls = [codex.client.start("claim", claims=[f"src/{number}.py"]) for number in range(16)]
    assert {call.result()["agent"] for call in calls} == {FIRST}
    assert [(one["agent"], one["state"]) for one in codex.client.read("gitlock://agents") if one["agent"] != "bob"] == [
        (FIRST, "working")
    ]
    assert not list((repo.store / "sessions").glob(".*.tmp"))


def test_a_sub_agent_may_name_itself_and_nobody_else_may(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    assert codex.client.claims("src/a.py", agent=f"{FIRST}/tests")["lease"]["agent"] == f"{FIRST}/tests"
    error = codex.client.refused("release", 17, claims=["src/b.py"], agent="bob")
    assert error["id"] == "not-you" and FIRST in error["message"]


def test_a_session_variable_that_was_inherited_does_not_count(repo: Repo, claude: Host, tmp_path: Path) -> None:
    """Codex in a shell of Claude's: its environment still names the other's session."""
    claude.begins(CLEARED)
    with Host("codex", repo, tmp_path, env={VARIABLE: CLEARED}) as inner:
        inner.begins(ONE)
        assert inner.client.call("whoami")["agent"] == FIRST


def test_a_session_variable_is_believed_where_nothing_speaks_against_it(claude: Host) -> None:
    who = claude.client.call("whoami")
    assert (who["agent"], who["source"]) == ("claude-5b0cf1e2", "session")
    assert claude.client.claims("src/a.py")["lease"]["holder"]["session"] == "claude-5b0cf1e2"


def test_a_variable_of_a_session_that_is_over_gives_way_to_the_new_one(claude: Host) -> None:
    """The server's environment stays as it was when it was started; the program's session does not."""
    claude.begins(CLEARED)
    claude.begins(CLEARED, "SessionEnd", reason="other")
    claude.begins("9999aaaa-0002")
    assert claude.client.call("whoami")["agent"] == "claude-9999aaaa"


def test_a_cleared_session_goes_on_as_the_same_agent(claude: Host) -> None:
    claude.begins(CLEARED)
    claude.client.claims("src/a.py")
    claude.begins(CLEARED, "SessionEnd", reason="clear")
    claude.begins("9999aaaa-0002", source="clear")
    assert claude.client.claims("src/a.py")["already"]


def test_without_a_session_it_is_the_person(repo: Repo, codex: Host) -> None:
    who = codex.client.call("whoami")
    assert (who["agent"], who["kind"], who["source"]) == ("dana@example.com", "human", "user.email")
    assert codex.client.claims("src/a.py", agent="helper")["lease"]["agent"] == "helper"


def test_a_person_s_server_does_not_speak_for_the_session_of_a_program(repo: Repo, codex: Host) -> None:
    codex.begins(ONE)
    codex.client.claims("src/a.py")
    with Client.of(repo) as client:
        for name in (FIRST, f"{FIRST}/tests"):
            assert client.refused("release", 17, claims=["src/a.py"], agent=name)["id"] == "not-you"


def test_the_name_that_it_was_started_with_comes_first(repo: Repo) -> None:
    with Client.of(repo, "--agent", "builder", env={VARIABLE: CLEARED}) as client:
        assert client.call("whoami")["agent"] == "builder"
        assert client.refused("claim", 17, claims=["src/a.py"], agent="bob")["id"] == "not-you"


def test_the_program_s_own_name_of_itself_is_no_identity(repo: Repo) -> None:
    with Client.of(repo, mode="2026-07-28") as client:
        assert client.sdk.server_capabilities is not None
        assert client.call("whoami")["source"] == "user.email"


def test_an_agent_s_worktree_says_who_it_is(repo: Repo) -> None:
    where = repo.json("spawn", "painter", agent=None)["data"]["worktree"]["path"]
    with Client.of(repo, cwd=where) as client:
        assert client.call("whoami")["agent"] == "painter"
    with Client.of(repo) as client:
        answer = client.claims(os.path.join(where, "src/a.py"))
        assert (answer["agent"], answer["lease"]["holder"]["worktree"]) == ("dana@example.com", where)
