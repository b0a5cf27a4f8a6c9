"""What git writes to a hook: to us, and to the hook that was there before, unchanged; and what else may lie about."""

import os
import pty
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.entrypoints import hooks
from gitlock.entrypoints.hooks.answers import parse_answers
from gitlock.entrypoints.hooks.framework import arguments, pushed
from gitlock.errors import RepositoryError
from gitlock.git.hooks import GATES, HOOKS
from gitlock.git.process import Git
from gitlock.templates import read_template
from tests.git.standin import StandIn, bare_path, hooks_folder, write_hook
from tests.kit.newer import path_without_configured_hooks
from tests.kit.program import child_environment
from tests.kit.repo import Repo

LINES = b"refs/heads/a=0 1 refs/heads/b 2\nrefs/heads/\xff\\n$(id) 3 HEAD 4\n"
URL = "https://example.invalid/$(id)"
SHELLS = ("/bin/sh", "bash --posix", "busybox sh", "mksh")


@pytest.fixture(autouse=True)
def _without_configured_hooks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_without_configured_hooks(tmp_path_factory.getbasetemp() / "older-git"))


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


def _shell(words: str) -> str:
    program, _, rest = words.partition(" ")
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not here")
    return read_template("hook.sh").replace("#!/bin/sh", f"#!{found} {rest}".rstrip(), 1)


@pytest.fixture(params=SHELLS)
def chained(request: pytest.FixtureRequest, repo: Repo, stand_in: StandIn) -> Path:
    """Our pre-push, before one that keeps what it is given."""
    hook = write_hook(hooks_folder(repo) / "pre-push", f"cat >'{stand_in.folder}/after'; printf '%s|' \"$@\" >&2")
    stand_in.install(repo, template=_shell(request.param))
    return hook


def _after(stand_in: StandIn) -> bytes:
    return (stand_in.folder / "after").read_bytes()


# -- a push


@pytest.mark.parametrize("lines", [LINES, b"", b"x" * 70_000 + b"\n"], ids=["two refs", "nothing", "a long one"])
def test_a_push_reaches_us_and_the_hook_that_was_there(
    lines: bytes, chained: Path, repo: Repo, stand_in: StandIn
) -> None:
    done = repo.run(str(chained), "origin", URL, input=lines).ok()
    assert parse_answers("pre-push", stand_in.input).pushed == lines == _after(stand_in)
    assert stand_in.calls == [f"pre-push origin {URL}"] and done.err == f"origin|{URL}|"


def test_a_push_of_tens_of_thousands_of_refs_reaches_both(chained: Path, repo: Repo, stand_in: StandIn) -> None:
    zero = "0" * 40
    lines = "".join(f"refs/heads/a{n} {zero} refs/heads/b{n} {zero}\n" for n in range(30_000)).encode()
    repo.run(str(chained), "origin", URL, input=lines).ok()
    assert parse_answers("pre-push", stand_in.input).pushed == lines == _after(stand_in)


def test_without_cat_it_is_read_all_the_same(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.install(repo)
    stand_in.python.write_text(f"#!/bin/sh\nexec {shutil.which('cat')} >'{stand_in.folder}/input'\n")
    path = bare_path(tmp_path / "bin")
    repo.run(str(hooks_folder(repo) / "pre-push"), "origin", URL, input=b"a 1 b 2\nc 3 d 4\n", env={"PATH": path}).ok()
    assert parse_answers("pre-push", stand_in.input).pushed == b"a 1 b 2\nc 3 d 4\n"


@pytest.mark.parametrize("code", [20, 22])
def test_a_refused_push_ends_there(code: int, chained: Path, repo: Repo, stand_in: StandIn) -> None:
    stand_in.does(f"exit {code}")
    repo.run(str(chained), "origin", URL, input=LINES).ended(code)
    assert not (stand_in.folder / "after").exists()


def test_git_s_own_push_is_asked_about_once(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.install(repo)
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote"))
    repo.git("push", "--quiet", str(tmp_path / "remote"), "main", "main:other")
    assert stand_in.calls == [f"pre-push {tmp_path}/remote {tmp_path}/remote"]
    rows = (parse_answers("pre-push", stand_in.input).pushed or b"").splitlines()
    assert [row.split()[2] for row in rows] == [b"refs/heads/main", b"refs/heads/other"]


def test_an_unmanaged_repository_leaves_the_input_alone(chained: Path, repo: Repo, stand_in: StandIn) -> None:
    shutil.rmtree(repo.store)
    repo.run(str(chained), "origin", URL, input=LINES).ok()
    assert (_after(stand_in), stand_in.calls) == (LINES, [])


def test_the_second_choice_of_a_program_is_given_it_as_well(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    program = StandIn(tmp_path / "program")
    program.python.write_text(f"#!/bin/sh\nread -r line; echo \"$line\" >'{tmp_path}/line'\n")
    stand_in.install(repo, program=str(program.python))
    stand_in.python.unlink()
    repo.run(str(hooks_folder(repo) / "pre-push"), "origin", URL, input=LINES).ok()
    assert (tmp_path / "line").read_bytes() == LINES.split(b"\n")[0] + b"\n"


def _closed(hook: Path, repo: Repo) -> int:
    return subprocess.run(["sh", "-c", '"$1" origin url <&-', "sh", str(hook)], cwd=repo.path, timeout=60,
                          env=child_environment({})).returncode  # fmt: skip


def _terminal(hook: Path, repo: Repo) -> int:
    ours, theirs = pty.openpty()
    try:
        return subprocess.run([str(hook), "origin", "url"], cwd=repo.path, stdin=theirs, timeout=60,
                              env=child_environment({})).returncode  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("how", [_closed, _terminal])
def test_nobody_waits_where_nobody_writes(how: Callable[[Path, Repo], int], repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    assert how(hooks_folder(repo) / "pre-push", repo) == 0
    assert parse_answers("pre-push", stand_in.input).pushed == b""


@pytest.mark.parametrize("data", [b"", b"refs/heads/a 1", b"a 1 b 2\n=1\0", b"a 1 b 2\n"])
def test_a_push_that_was_not_read_in_full_is_not_taken_for_an_empty_one(data: bytes) -> None:
    with pytest.raises(RepositoryError):
        parse_answers("pre-push", data)


# -- the others


def test_what_is_installed_is_what_the_program_answers_to() -> None:
    assert (hooks.HOOKS, hooks.GATES) == (HOOKS, GATES)


def test_the_hook_that_was_there_reads_what_was_rewritten(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    write_hook(hooks_folder(repo) / "post-rewrite", f"cat >'{tmp_path}/rewritten'")
    stand_in.install(repo)
    old = repo.head
    repo.git("commit", "--quiet", "--amend", "-m", "other")
    assert (tmp_path / "rewritten").read_text() == f"{old} {repo.head}\n"


@pytest.mark.parametrize("words", [("HEAD", "HEAD", "0"), ("0" * 40, "1" * 40, "1"), ("0" * 64, "1" * 64, "1")])
def test_what_is_no_switch_asks_nobody(words: tuple[str, ...], repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    repo.run(str(hooks_folder(repo) / "post-checkout"), *words).ok()
    assert stand_in.calls == []


def test_what_the_framework_checks_out_for_itself_asks_nobody(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    repo.git("checkout", "--quiet", "-b", "new", env={"_PRE_COMMIT_SKIP_POST_CHECKOUT": "1"})
    assert stand_in.calls == []


@pytest.mark.parametrize("hook", [name for name in HOOKS if name not in GATES])
def test_what_is_no_gate_stops_nothing(hook: str, repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    words = ("1", "2", "1") if hook == "post-checkout" else ("x",)
    for answer in ("exit 20", "exit 22", "exit 1", "exit 127", "kill -9 $$"):
        stand_in.does(answer)
        done = repo.run(str(hooks_folder(repo) / hook), *words).ok()
        assert done.err.count("git-lock:") <= 1, answer
    assert stand_in.hooks == [hook] * 5


# -- what lies in the place of a note


@pytest.mark.parametrize("name", ["gitlock-judged", "gitlock-asked", "gitlock-passed", "gitlock-receipt",
                                  "gitlock-template", "gitlock-agent"])  # fmt: skip
def test_a_pipe_in_the_place_of_a_note_keeps_no_commit_waiting(name: str, repo: Repo) -> None:
    repo.install()
    repo.lock("claim", "**").ok()
    os.mkfifo(repo.common_dir / name)
    repo.commit("x", {"x": "1\n"}, agent="alice").ok()
    repo.commit("y", {"y": "1\n"}, agent="alice", env={"GITLOCK_GIT_PID": None}).ok()
    refused = repo.lock("hook", "pre-commit", agent="bob", env={"GITLOCK_BYPASS": "why"})
    assert refused.code == 0


def test_a_pipe_in_the_place_of_a_note_keeps_no_stub_waiting(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    stand_in.does("exit 1")
    (repo.store / "mode").write_text("warn open\n")
    for name in ("gitlock-judged", "gitlock-asked"):
        os.mkfifo(repo.common_dir / name)
    assert "mode warn" in repo.commit("x", {"x": "1\n"}).err


def test_a_pipe_in_the_place_of_the_map_file_is_no_map_file(repo: Repo) -> None:
    os.mkfifo(repo.path / ".gitlock.toml")
    assert "can't read .gitlock.toml" in repo.lock("claim", "x").ended(2).err


# -- inside the pre-commit framework


def test_the_framework_s_variables_are_git_s_arguments() -> None:
    told = {"PRE_COMMIT_FROM_REF": "1", "PRE_COMMIT_TO_REF": "2", "PRE_COMMIT_CHECKOUT_TYPE": "1"}
    assert arguments("post-checkout", told) == ["1", "2", "1"]
    assert arguments("post-checkout", {}) == arguments("post-merge", told) == arguments("commit-msg", told) == []


@pytest.mark.parametrize("told", [{"PRE_COMMIT_FROM_REF": "1" * 40, "PRE_COMMIT_TO_REF": "HEAD"}, {}, {
    "PRE_COMMIT_TO_REF": "HEAD"}], ids=["more of a branch", "a whole history", "what prek tells"])  # fmt: skip
def test_the_framework_s_push_is_a_line_as_git_writes_it(told: dict[str, str], repo: Repo) -> None:
    told = {name: repo.head if value == "HEAD" else value for name, value in told.items()}
    told |= {"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main", "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/there"}
    old = told.get("PRE_COMMIT_FROM_REF", "0" * 40)
    line = f"refs/heads/main {repo.head} refs/heads/there {old}\n".encode()
    assert pushed(Git(str(repo.path), os.environ), told) == line


def test_the_framework_that_tells_nothing_pushes_nothing(repo: Repo) -> None:
    assert pushed(Git(str(repo.path), os.environ), {}) == b""
