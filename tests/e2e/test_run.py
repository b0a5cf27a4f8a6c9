"""``run``: a lease for as long as a command runs, however that ends. At a terminal: test_run_terminal."""

import contextlib
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.processes import Job, Running, is_gone, run_at_once, until
from tests.kit.program import child_environment
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

KEY = "deploy:x"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository in which nobody holds anything."""
    return Repo.new(tmp_path, files={"src/a.py": "a\n", "src/b.py": "b\n"})


@contextlib.contextmanager
def running(repo: Repo, script: str, *words: str, agent: str = "alice", **more: Any) -> Iterator[Running]:
    """A command that has started: the script says so by itself, once it is ready."""
    with repo.start("run", KEY, *words, "--", "sh", "-c", script, agent=agent, **more) as one:
        yield one.says("ready")


def holders(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["leases"]]


def taints(repo: Repo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.state().get("taints", [])
    return found


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


SLEEP = "echo ready; exec sleep 60"

# -- the command's code, and ours


@pytest.mark.parametrize("code", [0, 1, 10, 14, 77, 127, 255])
def test_the_commands_code_is_ours(repo: Repo, code: int) -> None:
    repo.lock("run", KEY, "--", "sh", "-c", f"exit {code}").ended(code)


def test_a_command_that_a_signal_ended_has_the_code_that_a_shell_would_say(repo: Repo) -> None:
    repo.lock("run", KEY, "--", "sh", "-c", "kill -KILL $$").ended(137)


@pytest.mark.parametrize("program", ["/no/such/program", "no-such-program", "/", "./README"])
def test_a_command_that_can_not_be_started_is_127_and_marks_nothing(repo: Repo, program: str) -> None:
    repo.write("README", "no program")
    failed = repo.lock("run", KEY, "--", program).ended(127)
    assert "could not be started" in failed.err
    assert holders(repo) == [] and taints(repo) == []


@pytest.mark.parametrize(
    "words",
    [["run"], ["run", KEY], ["run", KEY, "--"], ["run", "--", "true"], ["run", KEY, "--ttl", "4s", "--", "true"],
     ["run", KEY, "--max-hold", "soon", "--", "true"], ["run", KEY, "--on-lease-loss", "cry", "--", "true"],
     ["run", KEY, "--no-wait", "--timeout", "1s", "--", "true"],
     ["run", KEY, "--result", "/no/such/file", "--", "true"]],
    ids=" ".join,
)  # fmt: skip
def test_words_that_make_no_sense_start_nothing(repo: Repo, words: list[str]) -> None:
    repo.lock(*words).ended(2)
    assert not repo.store.exists()


def test_a_result_tells_the_commands_code_from_ours(repo: Repo, tmp_path: Path) -> None:
    result = tmp_path / "result"

    def run(*words: str, code: int) -> dict[str, Any]:
        repo.lock("run", KEY, "--result", str(result), *words).ended(code)
        found: dict[str, Any] = json.loads(result.read_text())
        return found

    assert run("--", "sh", "-c", "exit 14", code=14) == {"ours": False, "why": "child", "code": 14, "child_code": 14}
    late = run("--max-hold", "0.1s", "--", "sleep", "60", code=14)
    assert late == {"ours": True, "why": "max-hold", "code": 14, "child_code": 143}
    assert run("--", "/no/such", code=127) == {"ours": True, "why": "not-started", "code": 127, "child_code": None}
    repo.lock("claim", KEY, agent="bob").ok()
    assert run("--no-wait", "--", "true", code=10) == {"ours": True, "why": "refused", "code": 10, "child_code": None}
    assert run("--timeout", "0.1s", "--", "true", code=11)["why"] == "refused"


def test_an_old_result_misleads_nobody_while_the_command_runs(repo: Repo, tmp_path: Path) -> None:
    result = tmp_path / "result"
    result.write_text("old")
    with running(repo, SLEEP, "--result", str(result)):
        assert result.read_text() == ""


def test_in_json_standard_output_is_the_answer_alone(repo: Repo) -> None:
    answer = repo.json("run", KEY, "--", "sh", "-c", "echo out; exit 3")
    assert_fits("run", answer)
    assert (answer["code"], answer["data"]) == (3, {"ours": False, "child_code": 3})
    assert_fits("run", repo.json("run", KEY, "--", "true"))
    assert_fits("run", repo.json("run", KEY, "--", "/no/such"))
    assert_fits("run", repo.json("run", KEY, "--max-hold", "0.1s", "--", "sleep", "60"))


# -- what is held, and what the command sees


def test_the_lease_is_held_while_the_command_runs_and_given_back_after(repo: Repo) -> None:
    with running(repo, SLEEP) as run:
        (lease,) = repo.json("list")["data"]["leases"]
        assert (lease["agent"], lease["keys"], lease["liveness"]) == ("alice", [KEY], "alive")
        assert (lease["holder"]["pid"], lease["ttl_s"]) == (run.pid, 900)
        run.signal(signal.SIGTERM).wait().ended(143)
    assert holders(repo) == []


def test_several_claims_are_one_lease_and_options_may_stand_on_either_side(repo: Repo) -> None:
    words = ["run", "--ttl", "20s", KEY, "-m", "why", "src/*", "--", sys.executable, "-c", "print('--ttl', '5s')"]
    assert repo.lock(*words).ok().out == "--ttl 5s\n"
    (event,) = [one for one in repo.json("history")["data"]["events"] if one["verb"] == "claim"]
    assert (event["claim"], event["note"]) == (f"{KEY} src/*", "why")


def test_all_or_nothing(repo: Repo) -> None:
    repo.lock("claim", "src/b.py", agent="bob").ok()
    repo.lock("run", "--no-wait", KEY, "src/*", "--", "touch", "started").ended(10)
    assert holders(repo) == ["bob"] and not (repo.path / "started").exists()


def test_the_command_sees_for_whom_and_under_what_it_runs(repo: Repo) -> None:
    show = "import os; print({k: v for k, v in os.environ.items() if k.startswith('GITLOCK_')})"
    seen = eval(repo.lock("run", KEY, "--", *python(show)).ok().out)  # noqa: S307 - our own dictionary
    assert (seen["GITLOCK_AGENT"], seen["GITLOCK_FENCE"]) == ("alice", "1")
    assert len(seen["GITLOCK_LEASES"]) == 12 and "GITLOCK_TOKEN" not in seen


def test_the_secret_is_given_to_the_command_only_if_it_is_asked_for(repo: Repo) -> None:
    out = repo.lock("run", KEY, "--export-token", "--", "sh", "-c", "echo $GITLOCK_TOKEN").ok().out
    assert len(out.strip()) == 32
    inner = 'git-lock run env:1 -- sh -c "echo [\\$GITLOCK_TOKEN]"'
    assert repo.lock("run", KEY, "--export-token", "--", "sh", "-c", inner).ok().out == "[]\n"


def test_a_person_is_still_a_person_inside(repo: Repo) -> None:
    answer = json.loads(repo.lock("run", KEY, "--", "git-lock", "whoami", "--json", agent=None).ok().out)
    assert (answer["data"]["agent"]["id"], answer["data"]["agent"]["kind"]) == ("dana@example.com", "human")


def test_standard_input_is_the_commands(repo: Repo) -> None:
    assert repo.lock("run", KEY, "--", "cat", input="words\n").ok().out == "words\n"


def test_a_descriptor_that_was_passed_to_us_is_passed_to_the_command(repo: Repo) -> None:
    script = f"git-lock run {KEY} -- sh -c 'cat <&7' 7<README.md"
    repo.write("README.md", "words\n")
    assert repo.run("sh", "-c", script, agent="alice").ok().out == "words\n"


def test_inside_another_run_every_lease_up_the_chain_is_seen(repo: Repo) -> None:
    script = f'git-lock run env:1 -- git-lock run {KEY} -- sh -c "echo \\$GITLOCK_LEASES"'
    outer = repo.lock("run", KEY, "--", "sh", "-c", script).ok()
    assert len(set(outer.out.split())) == 2
    assert holders(repo) == []


def test_what_was_held_before_is_held_after(repo: Repo) -> None:
    repo.lock("claim", "src/*").ok()
    repo.lock("run", "src/a.py", "--", "true").ok()
    assert holders(repo) == ["alice"]


def test_what_the_command_gives_back_early_is_no_loss(repo: Repo) -> None:
    script = f"git-lock release {KEY} >/dev/null && git-lock claim {KEY} --agent bob -q && echo done"
    assert repo.lock("run", KEY, "--", "sh", "-c", script).ok().out == "done\n"
    assert holders(repo) == ["bob"]


def test_a_lease_that_the_command_made_stronger_is_given_back_too(repo: Repo) -> None:
    repo.lock("run", "--shared", KEY, "--", "git-lock", "claim", "-q", KEY).ok()
    assert holders(repo) == []


COUNT = f"git-lock run {KEY} -- sh -c 'read n <count; echo $((n + 1)) >count'"


@pytest.mark.parametrize("agent", ["alice", None])
def test_the_commands_of_one_agent_exclude_one_another_too(repo: Repo, agent: str | None) -> None:
    repo.write("count", "0\n")
    job = Job(["sh", "-c", "; ".join([COUNT] * 5)], repo.path, child_environment(agent=agent))
    for result in run_at_once([job] * 8):
        result.ok()
    assert repo.read("count") == "40\n"


def test_one_who_waits_for_another_command_of_its_own_is_told_so(repo: Repo) -> None:
    with running(repo, SLEEP) as run, repo.start("run", KEY, "--", "true") as other:
        other.says("waiting for alice (another command of yours)")
        repo.lock("run", KEY, "--no-wait", "--", "true").ended(10)
        run.signal(signal.SIGTERM).wait()
        other.wait().ok()


def test_what_is_claimed_by_hand_meanwhile_is_not_given_back_with_the_command(repo: Repo) -> None:
    with running(repo, "echo ready; until test -e go; do sleep 0.05; done") as run:
        assert "already yours" in repo.lock("claim", KEY).ok().out
        repo.write("go", "")
        run.wait().ok()
    assert holders(repo) == ["alice"]


def test_a_command_that_lost_its_environment_still_knows_under_what_it_runs(repo: Repo) -> None:
    inner = f"env -u GITLOCK_LEASES git-lock run {KEY} -- true"
    repo.lock("run", KEY, "--", "sh", "-c", inner).ok()


def test_two_commands_of_one_agent_that_wait_for_each_other_inside_are_told(repo: Repo) -> None:
    script = "echo ready; until test -e go; do sleep 0.05; done; exec git-lock run env:{} -- true"
    with (
        repo.start("run", "env:1", "--", "sh", "-c", script.format(2)) as one,
        repo.start("run", "env:2", "--", "sh", "-c", script.format(1)) as two,
    ):
        one.says("ready")
        two.says("ready")
        repo.write("go", "")
        assert sorted([one.wait().code, two.wait().code]) == [0, 15]


def test_a_persons_scripts_wait_for_one_another_with_acquire(repo: Repo) -> None:
    (token,) = repo.lock("acquire", KEY, agent=None).ok().lines
    repo.lock("acquire", KEY, "--no-wait", agent=None).ended(10)
    with repo.start("acquire", KEY, agent=None) as other:
        other.says("waiting for")
        repo.lock("unlock", KEY, "--token-file", "-", input=token, agent=None).ok()
        assert other.wait().ok().lines not in ([], [token])


def test_an_agent_is_one_wherever_it_speaks(repo: Repo) -> None:
    repo.lock("acquire", KEY).ok()
    answer = repo.json("acquire", KEY)
    assert_fits("acquire", answer)
    assert answer["data"]["already"]


def test_it_waits_its_turn(repo: Repo) -> None:
    repo.lock("claim", KEY, agent="bob").ok()
    with repo.start("run", KEY, "--", "echo", "went") as run:
        run.says("waiting for bob")
        repo.lock("release", "--all", agent="bob").ok()
        assert run.wait().ok().out == "went\n"


def test_a_signal_while_it_waits_starts_nothing(repo: Repo) -> None:
    repo.lock("claim", KEY, agent="bob").ok()
    with repo.start("run", KEY, "--result", "result", "--", "touch", "started") as run:
        run.says("waiting for bob").signal(signal.SIGTERM).wait().ended(143)
    assert json.loads(repo.read("result"))["why"] == "interrupted"
    assert not (repo.path / "started").exists() and repo.state()["waiters"] == []


# -- renewal, loss, the longest hold


def test_it_renews_every_third_of_the_ttl(repo: Repo) -> None:
    with running(repo, SLEEP, "--ttl", "5s"):
        first = repo.state()["leases"][0]["renewed"]
        until(lambda: repo.state()["leases"][0]["renewed"] > first, "a renewal", timeout=5)
        assert repo.state()["leases"][0]["renewed"] - first < 4
        assert [one["verb"] for one in repo.json("history")["data"]["events"]] == ["claim"]


def test_a_lease_that_is_stolen_stops_the_command_at_once(repo: Repo) -> None:
    with running(repo, SLEEP) as run:
        repo.lock("steal", KEY, "--reason", "mine", "--force", agent="bob").ok()
        stopped = run.wait().ended(14)
    assert "lost (stolen by bob): the command is told to end" in stopped.err
    assert holders(repo) == ["bob"]


def test_a_lost_lease_may_leave_the_command_alone(repo: Repo) -> None:
    script = "echo ready; until test -e go; do sleep 0.05; done; exit 7"
    with running(repo, script, "--on-lease-loss", "continue") as run:
        repo.lock("break", KEY, "--reason", "x", "--force", "--yes", agent="bob").ok()
        run.says("the command goes on")
        repo.write("go", "")
        run.wait().ended(7)


def test_a_command_that_ends_well_after_the_loss_has_lost_all_the_same(repo: Repo) -> None:
    script = f"git-lock steal {KEY} --reason x --force --agent bob -q; exit 0"
    repo.lock("run", KEY, "--", "sh", "-c", f"trap '' TERM; {script}").ended(14)


def test_the_time_that_it_may_be_held_at_most_ends_the_command(repo: Repo) -> None:
    with repo.start("run", KEY, "--max-hold", "0.5s", "--", "sh", "-c", SLEEP) as run:
        run.says("ready")
        late = run.wait().ended(14)
    assert "held for --max-hold" in late.err
    assert holders(repo) == []


TREE = """
import os, signal, sys, time
for name in ("child", "grandchild"):
    if os.fork():
        break
    os.umask(0o077)
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(f"pid-{os.getpid()}", "w").close()
time.sleep(60)
"""


@pytest.mark.parametrize("kind", ["willing", "deaf"])
def test_all_that_the_command_started_is_told_to_end_and_then_killed(repo: Repo, kind: str) -> None:
    with repo.start("run", KEY, "--ttl", "30s", "--", *python(TREE), kind) as run:
        until(lambda: len(list(repo.path.glob("pid-*"))) == 3, "the processes")
        pids = [int(path.name[4:]) for path in repo.path.glob("pid-*")]
        repo.lock("break", KEY, "--reason", "x", "--force", "--yes", agent="bob").ok()
        ended = run.wait().ended(14)
    assert all(is_gone(pid) for pid in pids), ended


def test_what_outlives_a_command_that_ended_well_is_left_alone(repo: Repo) -> None:
    out = repo.lock("run", KEY, "--", "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!").ok().out
    pid = int(out)
    assert not is_gone(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_store_that_is_out_of_reach_for_a_while_costs_nothing(repo: Repo) -> None:
    state = repo.store / "state.json"
    with running(repo, SLEEP, "--ttl", "5s") as run:
        first = repo.state()["leases"][0]["renewed"]
        state.rename(repo.store / "aside")
        state.mkdir()
        until(lambda: _seconds_since(first) > 2.5, "a renewal that failed")
        state.rmdir()
        (repo.store / "aside").rename(state)
        until(lambda: repo.state()["leases"][0]["renewed"] > first, "a renewal")
        run.signal(signal.SIGTERM).wait().ended(143)


def test_a_store_that_stays_out_of_reach_stops_the_command_when_the_lease_has_expired(repo: Repo) -> None:
    with running(repo, SLEEP, "--ttl", "5s") as run:
        (repo.store / "state.json").rename(repo.store / "aside")
        (repo.store / "state.json").mkdir()
        lost = run.wait().ended(14)
    assert "out of reach until it had expired" in lost.err


def _seconds_since(wall: float) -> float:
    return time.time() - wall


def test_a_holder_that_was_stopped_past_its_ttl_has_lost_what_was_taken_meanwhile(repo: Repo) -> None:
    repo.install()
    with repo.start("run", "src/*", "--ttl", "5s", "--", "sh", "-c", "echo ready; exec sleep 60") as run:
        run.says("ready").signal(signal.SIGSTOP)
        repo.lock("claim", "src/a.py", "--timeout", "30s", agent="bob").ok()
        run.signal(signal.SIGCONT)
        lost = run.wait().ended(14)
    assert "lost (taken by bob)" in lost.err
    refused = repo.commit("late", {"src/a.py": "late\n"}, agent="alice", check=False).ended(1)
    assert "held by bob" in refused.err or "lapsed, and bob took" in refused.err


def test_a_command_whose_run_was_stopped_while_nobody_came_goes_on(repo: Repo) -> None:
    with running(repo, "echo ready; until test -e go; do sleep 0.05; done", "--ttl", "5s") as run:
        run.signal(signal.SIGSTOP)
        until(lambda: repo.json("list", agent="bob")["data"]["leases"] == [], "the expiry")
        run.signal(signal.SIGCONT)
        repo.write("go", "")
        run.wait().ok()


# -- signals, and the end of run itself

CATCH = "trap 'echo got {0}; exit 5' {0}; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"])
def test_a_signal_is_passed_on(repo: Repo, name: str) -> None:
    with running(repo, CATCH.format(name)) as run:
        ended = run.signal(signal.Signals[f"SIG{name}"]).wait().ended(5)
    assert f"got {name}" in ended.out
    assert holders(repo) == []


def test_a_second_signal_kills(repo: Repo) -> None:
    with running(repo, "trap 'echo no' TERM INT; echo ready; while :; do sleep 0.05; done") as run:
        run.signal(signal.SIGTERM).says("no")
        run.signal(signal.SIGINT).wait().ended(137)
    assert holders(repo) == []


def test_a_signal_that_is_none_to_end_does_not_count(repo: Repo) -> None:
    script = "trap 'echo one' USR1; trap 'echo two; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with running(repo, script) as run:
        run.signal(signal.SIGUSR1).says("one").signal(signal.SIGUSR1).signal(signal.SIGTERM).wait().ended(5)


def test_a_hang_up_that_was_ignored_is_ignored_by_all(repo: Repo) -> None:
    with repo.start("whoami") as whoami:
        program = whoami.argv[0]
    inner = "echo ready; until test -e go; do sleep 0.05; done"
    script = f'trap "" HUP; exec {shlex.quote(program)} run {KEY} -- sh -c "{inner}"'
    with Running(["/bin/sh", "-c", script], cwd=repo.path) as run:
        run.says("ready").signal(signal.SIGHUP)
        repo.write("go", "")
        run.wait().ok()


def test_when_run_is_killed_its_lease_is_free_as_soon_as_it_is_wanted(repo: Repo) -> None:
    with running(repo, SLEEP) as run:
        run.signal(signal.SIGKILL).wait()
        repo.lock("claim", KEY, agent="bob").ok()


def test_when_run_is_killed_its_command_is_told_to_end(repo: Repo) -> None:
    script = "trap 'echo told >told; exit' TERM; echo ready; while :; do sleep 0.05; done"
    with running(repo, script) as run:
        run.signal(signal.SIGKILL).wait()
        until((repo.path / "told").exists, "the word to the command")


def test_one_who_waits_has_it_within_a_look_when_run_is_killed(repo: Repo) -> None:
    with running(repo, SLEEP) as run, repo.start("claim", "--wait", KEY, agent="bob") as bob:
        bob.says("waiting for alice")
        run.signal(signal.SIGKILL).wait()
        bob.wait(timeout=10).ok()


# -- marks of failure


def test_a_failure_is_told_to_whoever_takes_it_next_until_it_is_mended(repo: Repo) -> None:
    repo.lock("run", KEY, "--", "sh", "-c", "exit 3").ended(3)
    told = repo.lock("claim", KEY, agent="bob").ok()
    assert "warning: 'sh -c exit 3', run by alice under a lease on this, ended with 3" in told.err
    repo.lock("release", "--all", agent="bob").ok()
    (warned,) = repo.json("claim", KEY, agent="carol")["data"]["warnings"]
    assert "ended with 3" in warned
    repo.lock("release", "--all", agent="carol").ok()
    assert "ended with 3" in repo.lock("run", KEY, "--", "true", agent="dave").ok().err
    assert repo.lock("claim", KEY, agent="erin").ok().err == ""


def test_a_mark_can_be_cleared_by_hand(repo: Repo) -> None:
    repo.lock("run", KEY, "--", "false").ended(1)
    repo.lock("release", "--clear-taint", KEY, agent="bob").ok()
    assert repo.lock("claim", KEY, agent="carol").ok().err == ""


def test_a_mark_on_paths_is_told_to_who_takes_a_part_of_them(repo: Repo) -> None:
    repo.lock("run", "src/*", "--", "false").ended(1)
    assert "run by alice" in repo.lock("claim", "src/a.py", agent="bob").ok().err
    assert "run by alice" not in repo.lock("claim", "docs/x", agent="carol").err


def test_a_success_on_a_part_does_not_mend_the_whole(repo: Repo) -> None:
    repo.lock("run", "src/*", "--", "false").ended(1)
    repo.lock("run", "src/a.py", "--", "true", agent="bob").ok()
    assert "run by alice" in repo.lock("claim", "src/b.py", agent="carol").ok().err


def test_of_many_failures_the_last_is_told(repo: Repo) -> None:
    for code in (3, 4, 5):
        repo.lock("run", KEY, "--", "sh", "-c", f"exit {code}").ended(code)
    assert [one["code"] for one in taints(repo)] == [5]


def test_a_command_that_was_stopped_leaves_a_mark(repo: Repo) -> None:
    repo.lock("run", KEY, "--max-hold", "0.2s", "--", "sleep", "60").ended(14)
    assert [one["why"] for one in taints(repo)] == ["max-hold"]


def test_a_commands_words_are_shown_as_words_and_cut(repo: Repo) -> None:
    repo.lock("run", KEY, "--", "sh", "-c", "exit 1", "\x1b[31m\u202e" + "x" * 9999).ended(1)
    told = repo.lock("claim", KEY, agent="bob").ok().err
    assert "\\x1b[31m\\u202e" in told and "\x1b" not in told and len(told) < 600


def test_the_commands_words_may_be_any_bytes(repo: Repo) -> None:
    assert repo.lock("run", KEY, "--", "printf", "%s", "caf\udce9").ok().raw_out == b"caf\xe9"
    repo.lock("run", KEY, "--", "sh", "-c", "exit 1", "caf\udce9").ended(1)
    repo.lock("claim", KEY, agent="bob").ok()
