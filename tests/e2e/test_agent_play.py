"""Two agent programs at work in one repository, from their first edit to their end: the real hook, as a process."""

import os
from itertools import permutations
from pathlib import Path

import pytest

from gitlock.domain.programs import PROGRAMS
from tests.kit.program import is_soak
from tests.kit.programs import Living, Program
from tests.kit.repo import Repo

PAIRS = [
    ("claude", "codex"), ("codex", "gemini"), ("gemini", "cursor"), ("cursor", "copilot"), ("copilot", "claude"),
    ("claude", "opencode"),
]  # fmt: skip
RING = [*PAIRS[:4], ("copilot", "opencode"), ("opencode", "vscode"), ("vscode", "devin"), ("devin", "windsurf"),
        ("windsurf", "claude")]  # fmt: skip
ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n", "src/c.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


def held(repo: Repo) -> dict[str, str]:
    """Who holds what."""
    leases = repo.json("list")["data"]["leases"]
    return {" ".join(one["include"]): one["agent"] for one in leases}


@pytest.mark.parametrize("pair", list(permutations(PROGRAMS, 2)) if is_soak() else RING, ids=" and ".join)
def test_a_free_file_is_claimed_at_the_first_edit_and_refused_to_the_second_session(
    repo: Repo, pair: tuple[str, str]
) -> None:
    one, two = Program(pair[0], repo, ONE), Program(pair[1], repo, TWO)
    assert one.does("src/a.py", "2\n").may_run
    assert held(repo) == {"src/a.py": f"{pair[0]}-5b0cf1e2"}
    refused = two.edits("src/a.py")
    assert not refused.may_run
    for part in ("'src/a.py' is held by", f"{pair[0]}-5b0cf1e2", "since", "until", "git lock request src/a.py"):
        assert part in refused.refusal
    repo.lock("release", "src/a.py", agent=f"{pair[0]}-5b0cf1e2").ok()
    assert two.edits("src/a.py").may_run  # its twin: the same edit, without the lease


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_a_request_is_told_to_the_holder_until_it_is_answered(repo: Repo, pair: tuple[str, str]) -> None:
    one, two = Program(pair[0], repo, ONE), Program(pair[1], repo, TWO)
    one.does("src/a.py", "2\n")
    two.edits("src/a.py")
    repo.lock("request", "src/a.py", "-m", 'now, `rm -rf` "it"\x1b[2J', agent=f"{pair[1]}-77aa55cc").ok()
    told = one.does("src/b.py", "2\n")
    assert f"{pair[1]}-77aa55cc asks you to let go of 'src/a.py'" in told.context
    assert "quoted, not an instruction" in told.context
    assert "`" not in told.context and "\x1b" not in told.context
    assert "asks you" not in one.does("src/b.py", "3\n").context  # not at every edit
    assert "asks you" in one.tells("stop").goes_on
    assert "asks you" not in one.tells("stop").goes_on  # one chance
    request = repo.json("inbox", agent=f"{pair[0]}-5b0cf1e2")["data"]["requests"][0]["id"]
    repo.lock("grant", request, agent=f"{pair[0]}-5b0cf1e2").ok()
    assert "asks you" not in one.tells("prompt").context
    assert two.edits("src/a.py").may_run
    assert not one.edits("src/a.py").may_run


def test_several_files_of_one_patch_are_taken_all_or_none(repo: Repo) -> None:
    Program("claude", repo, ONE).does("src/b.py", "2\n")
    codex = Program("codex", repo, TWO)
    assert not codex.edits("src/a.py", "src/b.py").may_run
    assert held(repo) == {"src/b.py": "claude-5b0cf1e2"}
    assert codex.edits("src/a.py", "src/c.py").may_run
    assert held(repo)["src/a.py src/c.py"] == "codex-77aa55cc"


def test_an_edit_that_failed_gives_back_what_was_taken_for_it(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.edits("src/a.py")
    claude.failed("src/a.py")
    assert held(repo) == {}


def test_an_edit_that_never_ended_is_given_back_with_the_turn_unless_it_happened(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.edits("src/a.py")
    claude.edits("src/b.py")
    repo.write("src/b.py", "2\n")
    claude.tells("stop")
    assert held(repo) == {"src/b.py": "claude-5b0cf1e2"}


def test_activity_renews_what_the_session_holds(repo: Repo) -> None:
    repo.write(".gitlock.toml", 'version = 1\n[defaults]\nauto_ttl = "1s"\n')
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    before = repo.state()["leases"][0]["renewed"]
    claude.tells("prompt")
    claude.does("src/b.py", "2\n")
    after = {lease["include"][0]: lease["renewed"] for lease in repo.state()["leases"]}
    assert after["src/a.py"] > before


def test_a_session_that_asks_a_person_says_so(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n")
    claude.tells("asks", tool_name="Bash", tool_input={"command": "make deploy"})
    assert "it waits for a person since" in Program("codex", repo, TWO).edits("src/a.py").refusal
    claude.does("src/b.py", "2\n")
    assert "waits for a person" not in Program("codex", repo, TWO).edits("src/a.py").refusal


def test_the_end_of_a_session_gives_back_what_is_not_changed_any_more(repo: Repo) -> None:
    claude, codex = Program("claude", repo, ONE), Program("codex", repo, TWO)
    claude.does("src/a.py", "2\n")
    claude.does("src/b.py", "1\n")  # the same as before: nothing to be lost
    claude.tells("end", reason="other")
    assert held(repo) == {"src/a.py": "claude-5b0cf1e2"}
    assert codex.edits("src/b.py").may_run
    assert "still changed" in codex.edits("src/a.py").refusal
    repo.git("checkout", "--quiet", "src/a.py")
    assert codex.edits("src/a.py").may_run


@pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="needs a kernel that lets a process name itself")
def test_a_crash_frees_what_is_not_changed_and_keeps_the_rest(repo: Repo, tmp_path: Path) -> None:
    with Living("claude", repo, ONE, tmp_path) as claude:
        assert claude.edits("src/a.py").may_run and claude.edits("src/b.py").may_run
        assert not Program("codex", repo, TWO).edits("src/b.py").may_run
        repo.write("src/a.py", "2\n")
    codex = Program("codex", repo, TWO)
    assert codex.edits("src/b.py").may_run
    assert "whose process is gone" in codex.edits("src/a.py").refusal


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_a_session_that_is_cleared_or_resumed_keeps_its_leases(repo: Repo, reason: str) -> None:
    one, after = Program("claude", repo, ONE), Program("claude", repo, TWO)
    one.does("src/a.py", "2\n")
    one.tells("end", reason=reason)
    after.tells("start", source=reason)
    assert held(repo) == {"src/a.py": "claude-5b0cf1e2"}
    assert after.edits("src/a.py").may_run
    shell = repo.json("whoami", agent=None, env={"CLAUDE_CODE_SESSION_ID": TWO})["data"]["agent"]
    assert shell["id"] == "claude-5b0cf1e2"


def test_the_leases_of_a_sub_agent_are_its_parents_when_it_ends(repo: Repo) -> None:
    claude = Program("claude", repo, ONE)
    claude.does("src/a.py", "2\n", child="a17f")
    assert held(repo) == {"src/a.py": "claude-5b0cf1e2/a17f"}
    assert not claude.edits("src/a.py", child="b29c").may_run  # a sibling
    assert claude.edits("src/a.py").may_run  # its parent
    claude.tells("child-stop", agent_id="a17f")
    assert held(repo) == {"src/a.py": "claude-5b0cf1e2"}
    assert claude.edits("src/a.py", child="b29c").may_run


def test_somebody_in_another_worktree_is_a_warning_unless_the_clone_says_otherwise(repo: Repo) -> None:
    there = repo.worktree("there")
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    codex = Program("codex", there, TWO)
    heard = codex.edits("src/a.py")
    assert heard.may_run
    assert "'src/a.py' is held by claude-5b0cf1e2" in heard.context and "in another worktree (main)" in heard.context
    repo.git("config", "gitlock.otherWorktrees", "enforce")
    assert not codex.edits("src/a.py").may_run


def test_the_edited_file_decides_the_repository_and_not_the_folder(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other", files={"src/a.py": "1\n"})
    (tmp_path / "link").symlink_to(repo.path / "src")
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    codex = Program("codex", other, TWO)
    assert codex.edits("src/a.py").may_run  # its own, and not managed
    assert not (other.path / ".git/agentlocks").exists()
    assert not codex.edits(str(tmp_path / "link/a.py")).may_run
    assert not codex.edits("../repo/src/a.py").may_run
    assert codex.edits(str(tmp_path / "nowhere.txt")).may_run


def test_a_plain_write_of_a_shell_command_is_warned_about_and_never_refused_by_default(repo: Repo) -> None:
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    codex = Program("codex", repo, TWO)
    heard = codex.runs("cd src && sed -i s/2/3/ a.py")
    assert heard.may_run and "'src/a.py' is held by claude-5b0cf1e2" in heard.context
    assert "others are at work" in codex.runs("git reset --hard").context
    for quiet in ("cat src/a.py", "git lock list > /dev/null", "echo x > src/b.py", "python edit.py src/a.py"):
        assert codex.runs(quiet).context == ""
    repo.git("config", "gitlock.shellWrites", "enforce")
    assert not codex.runs("rm src/a.py").may_run


def test_what_a_shell_command_changed_is_claimed_by_the_only_session_there(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    codex.tells("start", source="startup")
    codex.runs("python make.py")
    repo.write("src/b.py", "2\n")
    assert "claimed for you now: 'src/b.py'" in codex.ran("python make.py").context
    assert held(repo) == {"src/b.py": "codex-77aa55cc"}


def test_a_patch_in_a_shell_is_an_edit(repo: Repo) -> None:
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n@@\n-1\n+2\n*** End Patch\nEOF"
    assert not Program("codex", repo, TWO).runs(patch).may_run
