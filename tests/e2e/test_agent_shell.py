"""Shell commands of agents: writes that are plain to see are named before, what was really changed is seen after."""

from pathlib import Path

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo

ONE, TWO = "5b0cf1e2-0001-4000-8000-000000000001", "77aa55cc-0002-4000-8000-000000000002"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository in which src/a.py is another session's."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n", "c.py": "1\n"})
    repo.lock("install", agent=None).ok()
    Program("claude", repo, ONE).does("src/a.py", "2\n")
    return repo


WRITES = (
    "echo x > src/a.py", "echo x >>src/a.py", "make 2>src/a.py", "cat c.py | tee src/a.py", "tee -a src/a.py < c.py",
    "sed -i s/1/2/ src/a.py", "cd src && sed -i.bak s/1/2/ a.py", "mv src/a.py src/z.py", "mv c.py src/a.py",
    "cp c.py src/a.py", "cp c.py src/b.py && cp src/b.py src/a.py", "rm -f src/a.py", "git restore src/a.py",
    "git checkout -- src/a.py", "git checkout HEAD src/a.py", "git -C src checkout -- a.py", "git rm src/a.py",
    "git mv src/a.py src/z.py", "truncate -s 0 src/a.py", "bash -c 'rm src/a.py'", "sudo rm src/a.py",
    "cat > src/a.py <<'EOF'\nx\nEOF", "patch src/a.py < fix.diff",
)  # fmt: skip


def test_a_plain_write_of_what_another_holds_is_warned_about(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    named = "'src/a.py' is held by claude-5b0cf1e2"
    silent = [command for command in WRITES if named not in codex.runs(command).context]
    assert silent == []
    repo.lock("release", "src/a.py", agent="claude-5b0cf1e2").ok()
    assert [command for command in WRITES if codex.runs(command).context] == []  # the same, of nobody's file


def test_and_refused_where_the_clone_says_so(repo: Repo) -> None:
    repo.git("config", "gitlock.shellWrites", "enforce")
    codex = Program("codex", repo, TWO)
    for command in ("echo x > src/a.py", "git -C src restore a.py"):
        assert not codex.runs(command).may_run, command
        assert codex.runs(command.replace("a.py", "b.py")).may_run, command
    repo.git("config", "gitlock.shellWrites", "off")
    assert codex.runs("rm src/a.py").context == ""


TREES = ("git reset --hard", "git stash", "git checkout .", "git restore .", "git clean -fd", "git switch -f main")


def test_a_command_over_the_whole_tree_names_who_is_at_work_there(repo: Repo) -> None:
    codex = Program("codex", repo, TWO)
    silent = [command for command in TREES if "others are at work" not in codex.runs(command).context]
    assert silent == []
    assert [command for command in TREES if not codex.runs(command).may_run] == []


READS = (
    "cat src/a.py", "sed -n 1p src/a.py", "grep x src/a.py", "git diff src/a.py", "git status", "git log -p src/a.py",
    "diff src/a.py src/b.py", "cp src/a.py /tmp/copy", "python src/a.py", "git lock list", "cd src", "ls > /dev/null",
    "git stash list", "wc -l src/a.py 2>/dev/null", "echo '> src/a.py'", "git show HEAD:src/a.py", "",
)  # fmt: skip


def test_a_read_is_never_refused_nor_warned_about(repo: Repo) -> None:
    repo.git("config", "gitlock.shellWrites", "enforce")
    codex = Program("codex", repo, TWO)
    assert [command for command in READS if codex.runs(command).result.out] == []


def test_what_a_script_changed_of_anothers_is_said_afterwards_and_to_be_read_in_history(repo: Repo) -> None:
    repo.lock("claim", "src/b.py", agent="bob").ok()
    Program("claude", repo, ONE).tells("end", reason="other")
    codex = Program("codex", repo, TWO)
    codex.tells("start", source="startup")
    codex.runs("python fix.py")
    repo.write("src/b.py", "2\n")
    assert "'src/b.py' is held by bob" in codex.ran("python fix.py").context
    (event,) = [one for one in repo.json("history")["data"]["events"] if one["verb"] == "trespass"]
    assert (event["agent"], event["claim"]) == ("codex-77aa55cc", "src/b.py")


def test_what_was_changed_before_the_session_is_not_its_doing(repo: Repo) -> None:
    repo.write("c.py", "2\n")
    Program("claude", repo, ONE).tells("end", reason="other")
    codex = Program("codex", repo, TWO)
    codex.tells("start", source="startup")
    codex.runs("true")
    assert codex.ran("true").context == ""
    assert "c.py" not in repo.lock("list").out
