"""`--watch`: what changes is shown as it happens, on a terminal and in a pipe; Ctrl-C ends it; nothing is renewed."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.kit.processes import until
from tests.kit.program import child_environment, program
from tests.kit.repo import Repo

A, B = "src/a.py", "src/b.py"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, {A: "1\n", B: "1\n"})
    repo.lock("claim", A).ok()
    return repo


def test_in_a_pipe_each_change_is_printed_once(repo: Repo) -> None:
    with repo.start("list", "--watch", agent="bob") as watching:
        watching.says(A)
        repo.lock("claim", B).ok()
        watching.says(B)
        repo.lock("release", A).ok()
        until(lambda: watching.out.count("\n\n") == 2)
        last = watching.out.rpartition("\n\n")[2]
        assert A not in last and B in last
        assert watching.signal(signal.SIGINT).wait().code == 130
        assert watching.err == "" and "\x1b" not in watching.out


def test_whoever_only_looks_on_renews_nothing(repo: Repo) -> None:
    repo.lock("claim", B, "--ttl", "1s").ok()
    with repo.start("list", "--watch", agent="alice") as watching:
        until(lambda: watching.out.count("\n\n") == 1)  # it has lapsed
        assert B not in watching.out.rpartition("\n\n")[2]


def test_who_is_at_work_is_watched_as_well(repo: Repo) -> None:
    with repo.start("agents", "--watch", "--waiting", agent="bob") as watching:
        watching.says("nobody waits")
        repo.lock("state", "waiting", "-m", "which one?").ok()
        watching.says("which one?")


def test_a_terminal_is_drawn_anew(repo: Repo) -> None:
    ours, theirs = pty.openpty()
    env = child_environment({"TERM": "xterm"}, agent="bob")
    shown = b""
    with subprocess.Popen([program(), "list", "--watch"], cwd=repo.path, env=env, stdout=theirs, stdin=theirs) as child:
        os.close(theirs)
        while shown.count(b"\x1b[H\x1b[2J") < 2:  # by itself, since times go on
            shown += os.read(ours, 4096)
        child.send_signal(signal.SIGINT)
        assert child.wait() == 130
    os.close(ours)
    assert A.encode() in shown


@pytest.mark.parametrize("command", ["list", "agents"])
def test_a_program_asks_again_instead(command: str, repo: Repo) -> None:
    error = repo.json(command, "--watch")
    assert (error["code"], error["error"]["next"]) == (2, f"git lock {command} --json")
