"""``run`` at a terminal: it is the command's, as it would be without us. A real bash types and controls the jobs."""

from pathlib import Path

import pytest

from tests.kit.processes import is_gone, until
from tests.kit.repo import Repo
from tests.kit.terminal import Shell, bash

KEY = "deploy:x"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository in which nobody holds anything."""
    return Repo.new(tmp_path)


def at_terminal(repo: Repo, **scripts: str) -> Shell:
    """A bash in the repository, with these scripts in it: what they print is nowhere on the line that calls them."""
    for name, text in scripts.items():
        repo.write(name, text + "\n")
    return bash(repo.path, "")


def holders(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["leases"]] if repo.store.exists() else []


RUN = f"git-lock run {KEY} -- sh"
READ = "printf 'name? '; read name; echo hello $name"


def test_the_command_reads_from_the_terminal(repo: Repo) -> None:
    with at_terminal(repo, read=READ) as shell:
        shell.types(f"{RUN} read\r").shows("name?")
        assert holders(repo) == ["alice"]
        shell.types("dana\r").shows("hello dana")
        until(lambda: holders(repo) == [], "the lease to be given back")


def test_git_lock_run_does_so_as_well(repo: Repo) -> None:
    with at_terminal(repo, read=READ) as shell:
        shell.types(f"git lock run {KEY} -- sh read\r").shows("name?")
        shell.types("dana\r").shows("hello dana")


def test_the_interrupt_key_reaches_the_command_once(repo: Repo) -> None:
    script = "trap 'echo got it' INT; echo ready; until test -e go; do sleep 0.05; done; exit 5"
    with at_terminal(repo, catch=script) as shell:
        shell.types(f"{RUN} catch; echo code=$?\r").shows("ready\r\n")
        shell.types("\x03").shows("got it")
        repo.write("go", "")
        shell.shows("code=5")
        assert shell.screen.count("got it") == 1
    assert holders(repo) == []


def test_the_interrupt_key_may_be_pressed_as_often_as_the_command_likes(repo: Repo) -> None:
    script = "trap 'n=$((n+1)); echo key $n' INT; echo ready; until test -e go; do sleep 0.05; done"
    with at_terminal(repo, catch=script) as shell:
        shell.types(f"{RUN} catch; echo code=$?\r").shows("ready\r\n")
        for number in (1, 2, 3):
            shell.types("\x03").shows(f"key {number}")
        repo.write("go", "")
        shell.shows("code=0")


def test_a_command_that_the_interrupt_key_ends_is_130(repo: Repo) -> None:
    with at_terminal(repo, nap="echo ready; exec sleep 60") as shell:
        shell.types(f"{RUN} nap\r").shows("ready\r\n")
        shell.types("\x03").shows("$ ")
        shell.types("echo code=$?\r").shows("code=130")
    assert holders(repo) == []


def test_the_interrupt_key_ends_the_script_around_it_too(repo: Repo) -> None:
    with at_terminal(repo, nap="echo ready; exec sleep 60", outer=f"#!/bin/bash\n{RUN} nap\necho went on") as shell:
        shell.types("bash outer\r").shows("ready\r\n")
        shell.types("\x03").shows("$ ")
        shell.types("echo back at $((1+1))\r").shows("back at 2")
        assert "went on" not in shell.screen


def test_the_suspend_key_stops_both_and_fg_goes_on(repo: Repo) -> None:
    with at_terminal(repo, read=READ) as shell:
        shell.types(f"{RUN} read\r").shows("name?")
        shell.types("\x1a").shows("Stopped")
        shell.types("echo between $((1+1))\r").shows("between 2")
        shell.types("fg\r").shows("git-lock run")
        shell.types("dana\r").shows("hello dana")
        until(lambda: holders(repo) == [], "the lease to be given back")


def test_a_job_in_the_background_that_wants_to_read_stops_until_it_is_fetched(repo: Repo) -> None:
    with at_terminal(repo, read=READ) as shell:
        shell.types(f"{RUN} read &\r").shows("name?")
        pid = repo.state()["leases"][0]["holder"]["pid"]
        until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", "the job to stop")
        shell.types("fg\r").shows("git-lock run")
        shell.types("dana\r").shows("hello dana")


def test_the_command_sees_the_size_of_the_window_change(repo: Repo) -> None:
    script = "trap 'stty size' WINCH; echo ready; until test -e go; do sleep 0.05; done"
    with at_terminal(repo, size=script) as shell:
        shell.types(f"{RUN} size\r").shows("ready\r\n")
        shell.resize(51, 121).shows("51 121")
        repo.write("go", "")


def test_a_pager_behind_a_pipe_may_read_from_the_terminal(repo: Repo) -> None:
    pager = "cat >/dev/null; printf 'more? '; read key </dev/tty; echo pressed $key"
    with at_terminal(repo, many="echo line; echo line", pager=pager) as shell:
        shell.types(f"{RUN} many | sh pager\r").shows("more?")
        shell.types("q\r").shows("pressed q")


def test_a_password_may_be_asked_for_though_standard_input_is_a_file(repo: Repo) -> None:
    script = "printf 'secret? ' >/dev/tty; read secret </dev/tty; echo thanks for $secret"
    with at_terminal(repo, ask=script) as shell:
        shell.types(f"{RUN} ask </dev/null\r").shows("secret?")
        shell.types("xyzzy\r").shows("thanks for xyzzy")


def test_when_the_lease_is_lost_all_that_the_command_started_ends_and_nothing_else(repo: Repo) -> None:
    script = "sleep 60 & echo $! >pid; (trap '' TERM; exec sleep 61) & echo $! >deaf; echo ready; wait; wait"
    outer = f"{RUN} tree\necho code=$?, and on"
    with at_terminal(repo, tree=script, outer=outer) as shell:
        shell.types("sh outer | cat\r").shows("ready")
        repo.lock("break", KEY, "--reason", "x", "--force", "--yes", agent="bob").ok()
        shell.shows("code=14, and on")
        assert is_gone(int(repo.read("pid"))) and is_gone(int(repo.read("deaf")))


def test_one_who_waits_at_a_terminal_gives_up_at_the_interrupt_key(repo: Repo) -> None:
    repo.lock("claim", KEY, agent="bob").ok()
    with at_terminal(repo, read=READ) as shell:
        shell.types(f"{RUN} read; echo code=$?\r").shows("waiting for bob")
        shell.types("\x03").shows("interrupted by SIGINT")
    assert repo.state()["waiters"] == []
