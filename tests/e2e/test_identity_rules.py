"""Who is asking: the worktree that was made for an agent, and the process that a session has registered."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitlock.domain.session import session_id
from gitlock.git.badge import write_badge
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.sessions import SessionBook
from gitlock.wiring.identity import program_of
from gitlock.wiring.liveness import Here, start_time
from tests.kit.repo import Repo
from tests.unit.test_session import a_session

CLAUDE = {"CLAUDE_CODE_SESSION_ID": "5b0cf1e2-aaaa"}


@pytest.fixture
def mine(repo: Repo) -> Repo:
    """A worktree that was made for alice."""
    there = repo.worktree("alice")
    write_badge(there.git("rev-parse", "--absolute-git-dir").out.strip(), "0123abcd", "alice")
    return there


def who(repo: Repo, *before: str, agent: str | None = None, **more: object) -> tuple[str, str]:
    """The agent there, and the rule that decided."""
    found = repo.json("whoami", *before, agent=agent, **more)["data"]["agent"]  # type: ignore[arg-type]
    return found["id"], found["source"]


def badge_of(repo: Repo) -> Path:
    return Path(repo.git("rev-parse", "--absolute-git-dir").out.strip()) / "gitlock-agent"


# -- rule 3: the worktree


def test_in_its_worktree_an_agent_is_known_from_any_folder(mine: Repo) -> None:
    mine.write("deep/er/x", "")
    assert (who(mine), who(mine, cwd="deep/er")) == (("alice", "worktree"), ("alice", "worktree"))


def test_git_c_and_an_alias_lead_to_the_same_agent(mine: Repo, repo: Repo) -> None:
    repo.git("config", "alias.me", "!git lock whoami")
    mine.write("deep/x", "")
    by_option = repo.git("-C", str(mine.path), "lock", "whoami").out
    by_alias = mine.git("me", cwd="deep").out
    assert by_option == by_alias == "alice (agent): the agent that this worktree was made for\n"


def test_elsewhere_one_is_not_that_agent(mine: Repo, repo: Repo) -> None:
    assert who(repo) == ("dana@example.com", "user.email")


@pytest.mark.parametrize(
    ("env", "rule"),
    [({"GITLOCK_AGENT": "bob"}, ("bob", "GITLOCK_AGENT")), (CLAUDE, ("alice", "worktree"))],
    ids=["given in the environment", "an agent program runs inside"],
)
def test_only_what_is_said_outright_goes_before_the_worktree(
    mine: Repo, env: dict[str, str], rule: tuple[str, str]
) -> None:
    assert who(mine, env=env) == rule


def test_a_worktree_that_was_moved_is_still_its_agent_s(mine: Repo, repo: Repo) -> None:
    moved = Repo(mine.path.parent / "moved")
    repo.git("worktree", "move", str(mine.path), str(moved.path))
    assert who(moved) == ("alice", "worktree")


def test_another_worktree_of_the_same_name_inherits_nothing(mine: Repo, repo: Repo) -> None:
    repo.git("worktree", "remove", str(mine.path))
    repo.git("worktree", "add", "-q", str(mine.path), "alice")
    assert who(mine) == ("dana@example.com", "user.email")


def test_a_hook_asks_as_the_agent_of_its_worktree(mine: Repo, repo: Repo) -> None:
    repo.lock("claim", "README.md", agent="alice").ok()
    repo.install()
    mine.commit("allowed", {"README.md": "alice's\n"})
    repo.commit("not allowed", {"README.md": "dana's\n"}, check=False).ended(1)


def test_where_git_dir_is_set_the_worktree_is_still_known(mine: Repo) -> None:
    env = {"GIT_DIR": str(badge_of(mine).parent), "GIT_INDEX_FILE": str(badge_of(mine).parent / "index")}
    assert who(mine, env=env) == ("alice", "worktree")


@pytest.mark.parametrize(
    "text", ["", "\n", "no-agent", "x y z ../..", "!! alice", "id -x", "id a.lock", "\0\0", "id é"]
)
def test_a_broken_badge_breaks_no_command(mine: Repo, text: str) -> None:
    badge_of(mine).write_text(text)
    assert who(mine) == ("dana@example.com", "user.email")
    mine.lock("claim", "x", agent=None).ok()


# -- rule 4: a session that goes on as another one


def test_a_session_that_follows_another_keeps_its_id(repo: Repo) -> None:
    SessionBook(Layout(str(repo.store))).follow("claude-5b0cf1e2", "claude-0ldone00")
    assert who(repo, env=CLAUDE) == ("claude-0ldone00", "session")


@pytest.mark.parametrize("text", ["", "claude-other alice", "claude-5b0cf1e2 ../x", "claude-5b0cf1e2"])
def test_a_broken_succession_is_none(repo: Repo, text: str) -> None:
    folder = repo.store / "sessions"
    folder.mkdir(parents=True)
    (folder / "claude-5b0cf1e2.as").write_text(text)
    assert who(repo, env=CLAUDE) == ("claude-5b0cf1e2", "session")


# -- rule 5: a process that a session has registered


@pytest.fixture
def here() -> Here:
    return Here(SystemClock().boot)


def register(repo: Repo, here: Here, **changes: object) -> None:
    """A session whose process is this one."""
    register_in(repo.store, repo, here, **changes)


def register_in(folder: Path, repo: Repo, here: Here, **changes: object) -> None:
    """The same in another store."""
    holder = here.holder(pid=os.getpid(), worktree=str(repo.path), branch="main", session=None, clone=None)
    book = SessionBook(Layout(str(folder)))
    book.write(a_session(id="known", agent="known", holder=holder.replace(**changes)))


def test_below_a_registered_process_one_is_its_agent(repo: Repo, here: Here) -> None:
    register(repo, here)
    assert who(repo) == ("known", "process")


def test_what_it_claims_is_held_by_that_process(repo: Repo, here: Here) -> None:
    register(repo, here)
    lease = repo.json("claim", "x", agent=None)["data"]["lease"]
    assert (lease["agent"], lease["kind"], lease["holder"]["pid"]) == ("known", "agent", os.getpid())


@pytest.mark.parametrize(
    "changes", [{"started": 1}, {"boot": "another"}, {"host": "another"}, {"pid_space": "pid:[1]"}], ids=str
)
def test_another_process_of_that_number_is_not_it(repo: Repo, here: Here, changes: dict[str, object]) -> None:
    register(repo, here, **changes)
    assert who(repo) == ("dana@example.com", "user.email")


def test_a_process_that_is_not_above_us_is_not_it(repo: Repo, here: Here) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        register(repo, here, pid=other.pid, started=start_time(other.pid))
        found = who(repo)
        other.kill()
    assert found == ("dana@example.com", "user.email")


def test_the_sessions_of_a_store_elsewhere_are_asked_there(repo: Repo, here: Here, tmp_path: Path) -> None:
    register_in(tmp_path / "shared", repo, here)
    env = {"GITLOCK_STORE": f"files:{tmp_path / 'shared'}"}
    assert (who(repo, env=env), who(repo)) == (("known", "process"), ("dana@example.com", "user.email"))


# -- what programs give the shells of their sub-agents


def test_a_shell_of_a_codex_thread_is_a_sub_agent_of_its_session(repo: Repo) -> None:
    env = {"CODEX_SESSION_ID": "01a22b7f-80eb-7483-a1c8-f2b7a08b54e9",
           "CODEX_THREAD_ID": "01a22b7f-81dc-75f2-b17b-b4fc81e28665"}  # fmt: skip
    assert who(repo, env=env) == ("codex-a08b54e9/81e28665", "session")


def test_the_main_thread_is_the_session_itself(repo: Repo) -> None:
    thread = "01a22b7f-80eb-7483-a1c8-f2b7a08b54e9"
    env = {"CODEX_SESSION_ID": thread, "CODEX_THREAD_ID": thread}
    assert who(repo, env=env) == ("codex-a08b54e9", "session")


def test_a_sub_agent_goes_on_as_its_session_does(repo: Repo) -> None:
    SessionBook(Layout(str(repo.store))).follow("codex-a08b54e9", "codex-0ldone00")
    env = {"CODEX_SESSION_ID": "01a22b7f-80eb-7483-a1c8-f2b7a08b54e9",
           "CODEX_THREAD_ID": "01a22b7f-81dc-75f2-b17b-b4fc81e28665"}  # fmt: skip
    assert who(repo, env=env) == ("codex-0ldone00/81e28665", "session")


def test_a_session_that_nobody_has_heard_of_is_the_one_of_its_process(repo: Repo, here: Here) -> None:
    register(repo, here)  # of Claude Code, as the variable is
    assert who(repo, env=CLAUDE) == ("known", "process")


def test_one_that_has_been_heard_of_is_itself(repo: Repo, here: Here) -> None:
    register(repo, here)
    name = "claude-5b0cf1e2"
    SessionBook(Layout(str(repo.store))).write(a_session(id=session_id(name, name, None), agent=name))
    assert who(repo, env=CLAUDE) == (name, "session")


def test_a_session_of_another_program_than_the_process_is_itself(repo: Repo, here: Here) -> None:
    register(repo, here)
    assert who(repo, env={"COPILOT_AGENT_SESSION_ID": "c97ea083-eeec"}) == ("copilot-c97ea083", "session")


def test_what_a_process_is_known_by_claims_in_its_session(repo: Repo, here: Here) -> None:
    register(repo, here, session="claude-0ther000")
    lease = repo.json("claim", "x", agent=None)["data"]["lease"]
    assert lease["holder"]["session"] == "claude-0ther000"


# -- what a process is


def process_words(*words: str, executable: str | None = None) -> str | None:
    """What a process with this command line is taken for."""
    with subprocess.Popen(words, executable=executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = program_of(process.pid)
        process.kill()
    return found


@pytest.mark.parametrize(
    ("script", "found"),
    [("gemini", "gemini"), ("codex.py", "codex"), ("gemini-notes", None), ("claude.txt", None)],
)
def test_an_interpreter_is_the_program_whose_script_it_runs(tmp_path: Path, script: str, found: str | None) -> None:
    (tmp_path / script).write_text("print(flush=True)\ninput()\n")
    assert process_words(sys.executable, "-B", str(tmp_path / script)) == found


def test_a_process_is_the_program_that_its_command_line_begins_with(tmp_path: Path) -> None:
    words = (f"{tmp_path}/copilot", "-c", "print(flush=True); input()")
    assert process_words(*words, executable=sys.executable) == "copilot"


def test_a_program_that_is_only_spoken_of_is_none() -> None:
    assert process_words("sh", "-c", "echo; read line", "gemini") is None
