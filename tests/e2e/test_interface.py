"""How the program behaves as a program: streams, colours, widths, options, and wherever it is called from."""

import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.kit.processes import PATIENCE, until
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo
from tests.kit.result import Result


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every test gets a copy of."""
    return Repo.new(tmp_path_factory.mktemp("pattern"), files={"src/auth/login.py": "x", "src/api.py": "x"}).path


@pytest.fixture
def repo(pattern: Path, tmp_path: Path) -> Repo:
    """alice holds one file, for a long reason."""
    copy = Repo(tmp_path / "repo")
    shutil.copytree(pattern, copy.path, symlinks=True)
    copy.lock("claim", "src/auth/login.py", "-m", "so many words " * 12).ok()
    return copy


def shell(repo: Repo, line: str, *, cwd: str = ".") -> Result:
    """A line of sh."""
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=repo.path / cwd,
        env=child_environment(agent="alice"),
        capture_output=True,
        timeout=PATIENCE,
    )
    return Result(["sh", "-c", line], done.returncode, done.stdout, done.stderr, repo.path)


def at_terminal(repo: Repo, *words: str, columns: int = 100, env: dict[str, str | None] | None = None) -> str:
    """What it writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    try:
        size = child_environment({"TERM": "xterm-256color", "COLUMNS": str(columns), **(env or {})}, agent="alice")
        done = subprocess.run(
            [str(program()), *words],
            cwd=repo.path,
            env=size,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            timeout=PATIENCE,
        )
        assert done.returncode == 0
        os.set_blocking(ours, False)
        return os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(theirs)


# -- colours and widths

TABLES = [["list"], ["list", "--all"], ["history"], []]


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_pipe_gets_no_colour_and_80_columns(repo: Repo, words: list[str]) -> None:
    shown = repo.lock(*words, env={"COLUMNS": "200", "FORCE_COLOR": "1", "TERM": "xterm-256color"}).ok()
    assert b"\x1b" not in shown.raw_out
    assert max(len(line) for line in shown.lines) <= 80


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_terminal_gets_both(repo: Repo, words: list[str]) -> None:
    shown = at_terminal(repo, *words, columns=120)
    assert "\x1b[" in shown


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        (["--color", "never"], {}, False),
        (["--color=always"], {"NO_COLOR": "1"}, True),
        (["--json"], {}, False),
    ],
)
def test_who_decides_about_colour(repo: Repo, words: list[str], env: dict[str, str | None], coloured: bool) -> None:
    assert ("\x1b[" in at_terminal(repo, "list", *words, env=env)) == coloured


def test_colour_in_a_pipe_is_had_for_the_asking(repo: Repo) -> None:
    shown = repo.lock("list", "--color", "always").ok()
    assert "\x1b[" in shown.out
    assert "\x1b" not in repo.lock("list", "--color", "always", "--json").ok().out


def test_a_table_says_the_same_in_colour(repo: Repo) -> None:
    coloured, plain = repo.lock("whoami", "--color", "always"), repo.lock("whoami")
    assert coloured.out == plain.out
    heads = [
        re.sub(r"\x1b\[[0-9;]*m", "", repo.lock("list", *words).lines[0]).split() for words in ((), ("--color=always",))
    ]
    assert heads[0] == heads[1]


# -- streams


def test_json_is_all_of_standard_output(repo: Repo) -> None:
    repo.lock("claim", "lapsing", "--ttl", "0.001s").ok()
    repo.lock("claim", "lapsing", agent="bob").ok()
    for words in (["list"], ["claim", "new.py"], ["claim", "new.py"], ["release", "new.py"], ["mine"], ["nonsense"]):
        assert repo.lock(*words, "--json").out.count("\n") == 1
        repo.lock(*words, "--json").json()


@pytest.mark.parametrize(
    ("words", "code"),
    [(["claim", "src/api.py"], 0), (["list"], 0), (["mine"], 0), (["release", "--all"], 0),
     (["check", "src/auth/login.py"], 0), (["whoami"], 0), (["status", "free"], 0), ([], 0)],
)  # fmt: skip
def test_quiet_says_nothing_when_nothing_failed(repo: Repo, words: list[str], code: int) -> None:
    quiet = repo.lock(*words, "-q").ended(code)
    assert (quiet.out, quiet.err) == ("", "")


def test_quiet_still_says_what_failed(repo: Repo) -> None:
    refused = repo.lock("claim", "src/auth/login.py", "--quiet", agent="bob").ended(10)
    assert refused.out == "" and refused.err.startswith("git-lock: 'src/auth/login.py' is held by alice")


def test_quiet_json_is_json(repo: Repo) -> None:
    assert repo.lock("list", "-q", "--json").json()["ok"]


def test_a_reader_that_goes_away_is_no_fault(repo: Repo) -> None:
    for number in range(40):
        repo.lock("claim", f"many/{number}.py", "-m", "words " * 30).ok()
    shown = shell(repo, "{ git lock list; git lock history --json; git lock list --json; } | head -1")
    assert shown.lines[0].startswith("CLAIM") and shown.err == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", ">&- 2>&- <&-"])
def test_closed_streams_change_nothing_of_the_deed(repo: Repo, closed: str) -> None:
    done = shell(repo, f"git-lock claim src/api.py {closed}; echo code $? >code")
    assert repo.read("code") == "code 0\n"
    assert "Traceback" not in done.err
    assert repo.json("status", "src/api.py")["data"]["results"][0]["state"] == "held"
    assert shell(repo, f"git-lock list {closed}").code == 0


def test_a_full_disk_behind_standard_output_is_said(repo: Repo) -> None:
    done = shell(repo, "git-lock list >/dev/full; echo $?; git-lock list --json >/dev/full; echo $?")
    assert done.out == "1\n1\n"
    assert done.err.splitlines() == ["git-lock: No space left on device"] * 2


# -- options


@pytest.mark.parametrize(
    "line",
    [
        "claim src/api.py --ttl 90s -m why",
        "claim --ttl 90s -m why src/api.py",
        "claim --ttl=90s src/api.py --reason=why",
        "claim --ttl 1h --ttl 90s -m why -- src/api.py",
        "claim -mwhy src/api.py --ttl 90s",
        "claim --no-wait src/api.py --ttl 90s -m why",
    ],
)
def test_options_stand_anywhere(repo: Repo, line: str) -> None:
    lease = repo.json(*line.split())["data"]["lease"]
    assert (lease["include"], lease["ttl_s"], lease["reason"]) == (["src/api.py"], 90.0, "why")


def test_what_follows_two_dashes_is_a_name(repo: Repo) -> None:
    assert repo.json("claim", "--", "--ttl", "-q")["data"]["lease"]["include"] == ["--ttl", "-q"]


def test_flags_may_be_bundled(repo: Repo) -> None:
    assert repo.lock("claim", "-qn", "src/api.py").ok().out == ""
    assert repo.json("status", "src/api.py")["data"]["results"][0]["state"] == "free"


@pytest.mark.parametrize(
    "words", [["--ttx", "90s"], ["-Z"], ["-qZ"], ["--ttl"], ["--shared=yes"], ["--tt", "90s"]], ids=" ".join
)
def test_a_flag_that_is_none_is_refused_with_a_hint(repo: Repo, words: list[str]) -> None:
    refused = repo.lock("claim", "src/api.py", *words).ended(2)
    assert "\nhint: git lock claim -h\n" in refused.err


def test_an_option_in_the_place_of_a_value_is_none(repo: Repo) -> None:
    refused = repo.lock("claim", "src/api.py", "--reason", "--json").ended(2)
    assert refused.json()["error"]["message"] == "--reason needs a value, and --json is an option"
    repo.lock("claim", "src/api.py", "--reason=--json").ok()


# -- places


def test_it_works_from_any_folder_of_any_worktree(repo: Repo) -> None:
    linked = repo.worktree("linked")
    for number, (tree, cwd) in enumerate([(repo, "src"), (repo, "src/auth"), (linked, "."), (linked, "src/auth")]):
        answer = tree.json("claim", f"new{number}.py", cwd=cwd)
        assert answer["data"]["lease"]["include"] == [os.path.normpath(f"{cwd}/new{number}.py")]
    assert len(linked.json("list")["data"]["leases"]) == 5


def test_git_s_own_way_of_going_elsewhere(repo: Repo) -> None:
    shell(repo, "git -C src/auth lock claim here.py && git -C src lock claim '../top.py'").ok()
    shell(repo, f"cd / && git -C '{repo.path}/src' lock claim '*.ts'").ok()
    leases = repo.json("mine")["data"]["leases"]
    assert [lease["include"] for lease in leases][1:] == [["src/auth/here.py"], ["top.py"], ["src/*.ts"]]


@pytest.mark.parametrize(
    ("alias", "line"),
    [
        ("lock claim", "git mine x.py"),
        ("!git lock claim", "git mine x.py"),
        ('!f() { git lock claim "$1"; }; f', "git mine x.py"),
    ],
)
def test_an_alias_claims_where_one_stands(repo: Repo, alias: str, line: str) -> None:
    repo.git("config", "alias.mine", alias)
    shell(repo, line, cwd="src/auth").ok()
    assert repo.json("mine")["data"]["leases"][-1]["include"] == ["src/auth/x.py"]


def test_settings_for_one_call_are_heard(repo: Repo) -> None:
    shown = shell(repo, "git -c user.email=eve@example.com -c gitlock.mode=nonsense lock which x").ended(2)
    assert "gitlock.mode is 'nonsense'" in shown.err


def test_a_bare_repository_has_keys_and_paths(tmp_path: Path) -> None:
    bare = Repo.new(tmp_path, bare=True)
    lease = bare.json("claim", "deploy:staging", "src/*.py", "src/a/../b.py")["data"]["lease"]
    assert lease["keys"] == ["deploy:staging", "glob:src/*.py", "file:src/b.py"]
    for words in (
        ["list"],
        ["mine"],
        ["status", "deploy:staging"],
        ["who", "src/b.py"],
        ["history"],
        [],
        ["release", "--all"],
    ):
        bare.lock(*words).ok()
    for words in (["install"], ["check"], ["claim", "--staged"]):
        assert "needs a worktree" in bare.lock(*words).ended(1).err


def test_inside_git_s_own_folder(repo: Repo) -> None:
    repo.lock("claim", "deploy:staging", cwd=".git").ok()
    assert "deploy:staging" in repo.lock("list", cwd=".git/objects").ok().out


@pytest.mark.parametrize("words", [["list"], ["claim", "x"], ["check", "x"], ["whoami"], ["install"], []], ids=" ".join)
def test_outside_any_repository(tmp_path: Path, words: list[str]) -> None:
    said = Repo(tmp_path).lock(*words).ended(1)
    assert said.err == "git-lock: this is not a git repository\nhint: git init\n"


def test_a_folder_that_is_gone(repo: Repo) -> None:
    said = shell(repo, "mkdir gone && cd gone && rmdir ../gone && git-lock list")
    assert (said.code, said.err) == (1, "git-lock: the current folder is gone\nhint: cd to a folder that exists\n")


@pytest.mark.parametrize("place", ["missing", "a-file"])
def test_a_git_that_is_not_there(repo: Repo, tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").touch()
    said = repo.run(str(program()), "list", env={"PATH": str(tmp_path / place)}).ended(1)
    assert said.err == "git-lock: the git program was not found\nhint: put git on the PATH\n"


def test_a_repository_that_git_refuses_is_could_not_check(repo: Repo) -> None:
    if os.geteuid() == 0:
        os.chown(repo.path, 12345, 12345)
        os.chown(repo.path / ".git", 12345, 12345)
        said = repo.lock("check", "x").ended(20)
        assert "safe.directory" in said.err and "hint: git config --global --add safe.directory" in said.err
    else:
        repo.lock("check", "src/auth/login.py").ok()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_ends_as_one(repo: Repo, number: signal.Signals) -> None:
    """A pipe for standard input holds it where it can be met."""
    reading, writing = os.pipe()
    try:
        with repo.start("check", "--stdin", stdin=reading) as running:
            os.close(reading)
            until(lambda: _blocked(running.pid), "it to read", timeout=PATIENCE)
            ended = running.signal(number).wait()
            assert ended.code in (128 + number, -number)
            assert "Traceback" not in ended.err
    finally:
        os.close(writing)


def _blocked(pid: int) -> bool:
    """Whether the process waits in a read of a pipe, having started up."""
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text() or Path(f"/proc/{pid}/syscall").read_text().startswith(
        "0 0x0 "
    )


def test_a_table_wraps_the_reason_before_it_cuts_a_claim(repo: Repo) -> None:
    repo.lock("release", "--all").ok()
    repo.lock("claim", "src/auth/login.py", "-m", "being edited", agent="claude-77aa55cc").ok()
    repo.lock("claim", "docs/*", "--intent", agent="bob").ok()
    said = repo.lock("list").ok().lines
    assert any(line.startswith("src/auth/login.py  claude-77aa55cc") for line in said), said
    assert all(len(line) <= 80 for line in said)
