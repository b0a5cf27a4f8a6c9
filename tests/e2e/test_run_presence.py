"""``run --presence``: a program without hooks is a session, is watched, and leaves nothing behind but its work."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.processes import is_gone, until
from tests.kit.programs import Program
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits
from tests.kit.terminal import bash

CLAUDE = "5b0cf1e2-0001-4000-8000-000000000001"
WAITS = "echo ready $$; until test -e go; do sleep 0.05; done"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository in which nobody holds anything, and which does not see the files that tests speak by."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    (repo.path / ".git/info/exclude").write_text("/go\n/script\n/started\n")
    return repo


def run(repo: Repo, script: str, *words: str, **more: Any) -> Any:
    """The answer of a shell script that is run so, by a person."""
    return repo.lock("run", "--presence", *words, "--", "sh", "-c", script, agent=None, **more)


def runs(repo: Repo, script: str = WAITS, *words: str, **more: Any) -> Any:
    """The same beside the test, once the script says that it is ready."""
    return repo.start("run", "--presence", *words, "--", "sh", "-c", script, agent=more.pop("agent", None), **more)


def leases(repo: Repo) -> dict[str, dict[str, Any]]:
    """What is held, by what."""
    return {" ".join(one["include"] or one["keys"]): one for one in repo.json("list")["data"]["leases"]}


def sessions(repo: Repo) -> list[dict[str, Any]]:
    """Who is there."""
    rows: list[dict[str, Any]] = repo.json("agents")["data"]["agents"]
    return [row for row in rows if row["session"] is not None]


def trespasses(repo: Repo) -> list[dict[str, Any]]:
    """What history says of files of others that were changed."""
    return [one for one in repo.json("history")["data"]["events"] if one["verb"] == "trespass"]


# -- who it is


def test_the_program_is_a_session_while_it_runs(repo: Repo) -> None:
    with runs(repo) as one:
        one.says("ready")
        (row,) = sessions(repo)
        assert re.fullmatch(r"sh-[0-9a-f]{8}", row["agent"])
        assert (row["state"], row["kind"], row["liveness"]) == ("working", "agent", "alive")
        assert row["program"] == "sh"
        repo.write("go", "")
        one.wait().ok()
    assert sessions(repo) == []


def test_what_it_starts_knows_who_it_is(repo: Repo) -> None:
    who = json.loads(run(repo, "git lock whoami --json").ok().out)["data"]["agent"]
    assert who["id"].startswith("sh-") and who["kind"] == "agent"


@pytest.mark.parametrize(
    ("words", "env", "agent", "kind"),
    [(["--agent", "bob"], {}, "bob", "agent"), ([], {"GITLOCK_AGENT": "bob"}, "bob", "agent"),
     ([], {"CLAUDE_CODE_SESSION_ID": CLAUDE}, "claude-5b0cf1e2", "agent"), (["--kind", "human"], {}, None, "human")],
    ids=["option", "variable", "session", "person"],
)  # fmt: skip
def test_who_is_somebody_already_stays_that(
    repo: Repo, words: list[str], env: dict[str, str], agent: str | None, kind: str
) -> None:
    person = repo.json("whoami", agent=None)["data"]["agent"]["id"]
    script = 'echo "$GITLOCK_AGENT $GITLOCK_KIND $GITLOCK_SESSION"'
    seen = run(repo, script, *words, env=env).ok().out.split()
    assert seen[:2] == [agent or person, kind] and seen[2].startswith("sh-")


def test_two_at_once_are_two(repo: Repo) -> None:
    with runs(repo) as one, runs(repo) as two:
        one.says("ready")
        two.says("ready")
        rows = sessions(repo)
        assert len({row["agent"] for row in rows}) == 2 and [row["shared"] for row in rows] == [True, True]


# -- what it changes


def test_a_free_file_that_it_changes_is_claimed_while_it_runs(repo: Repo) -> None:
    with runs(repo, "echo 2 > src/a.py; " + WAITS) as one:
        one.says("ready")
        until(lambda: "src/a.py" in leases(repo), "the change to be seen")
        assert leases(repo)["src/a.py"]["agent"].startswith("sh-")
        assert leases(repo)["src/a.py"]["liveness"] == "alive"


def test_what_is_still_changed_at_its_end_is_kept_and_said(repo: Repo) -> None:
    done = run(repo, "echo 2 > src/a.py").ok()
    assert "still changed, and held for sh-" in done.err and "'src/a.py'" in done.err
    assert leases(repo)["src/a.py"]["liveness"] == "dead"
    repo.lock("claim", "src/a.py", agent="bob").ended(10)
    repo.git("checkout", "--quiet", "src/a.py")
    repo.lock("claim", "src/a.py", agent="bob").ok()


def test_anothers_file_that_it_changes_is_warned_about_and_written_down(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", "-m", "mine", agent="bob").ok()
    done = run(repo, "echo 2 > src/a.py; echo 2 > src/b.py").ok()
    assert "sh changed what somebody else holds: 'src/a.py' is held by bob" in done.err
    assert "git lock request src/a.py" in done.err and "'src/b.py' is held" not in done.err
    (event,) = trespasses(repo)
    assert event["claim"] == "src/a.py" and event["agent"].startswith("sh-")
    assert "held by bob; while sh ran" in repo.lock("history", "--agent", "bob").ok().out


def test_what_was_changed_before_is_not_its_doing(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    repo.write("src/a.py", "2\n")
    repo.write("src/b.py", "2\n")
    assert run(repo, "true").ok().err == ""
    assert leases(repo).keys() == {"src/a.py"} and trespasses(repo) == []


def test_a_file_that_was_changed_before_and_is_changed_again_is_its_doing(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    repo.write("src/a.py", "2\n")
    assert "held by bob" in run(repo, "echo 33 > src/a.py").ok().err


def test_beside_a_session_at_work_nobody_knows_whose_a_change_is(repo: Repo) -> None:
    repo.lock("install", agent=None).ok()
    Program("claude", repo, CLAUDE).does("src/a.py", "2\n")
    assert run(repo, "echo 3 > src/a.py; echo 3 > src/b.py").ok().err == ""
    assert leases(repo).keys() == {"src/a.py"}


def test_beside_a_session_that_rests_everybody_does(repo: Repo) -> None:
    repo.lock("install", agent=None).ok()
    claude = Program("claude", repo, CLAUDE)
    claude.does("src/a.py", "2\n")
    claude.tells("stop")
    assert "held by claude-5b0cf1e2" in run(repo, "echo 3 > src/a.py").ok().err


def test_a_file_that_is_held_in_another_worktree_is_warned_about_only(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    there = repo.worktree("there")
    warned = "somebody else holds in another worktree (main): 'src/a.py' is held by bob"
    assert warned in run(there, "echo 2 > src/a.py").ok().err
    assert trespasses(repo) == []
    repo.git("config", "gitlock.otherWorktrees", "off")
    assert run(there, "echo 33 > src/a.py").ok().err == ""


def test_its_commit_of_what_it_changed_passes(repo: Repo) -> None:
    repo.lock("install", agent=None).ok()
    script = f"echo 2 > src/a.py; {WAITS}; git commit --quiet -am x"
    with runs(repo, script) as one:
        one.says("ready")
        until(lambda: "src/a.py" in leases(repo), "the change to be seen")
        repo.write("go", "")
        one.wait().ok()
    assert "src/a.py" not in leases(repo)


# -- what it claims


def test_what_it_claims_itself_goes_back_at_its_end(repo: Repo) -> None:
    run(repo, "git lock claim src/a.py deploy:x && git lock mine").ok()
    assert leases(repo) == {}


def test_what_it_claims_in_another_repository_goes_back_too(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other")
    run(repo, "cd ../other && git lock claim x y").ok()
    assert other.state()["counter"] == 1 and leases(other) == {} and sessions(other) == []


def test_the_claims_that_are_given_are_held_meanwhile_and_go_back(repo: Repo) -> None:
    with runs(repo, WAITS, "src/a.py", "deploy:x") as one:
        one.says("ready")
        (lease,) = leases(repo).values()
        assert (lease["agent"][:3], lease["liveness"]) == ("sh-", "alive")
        repo.write("go", "")
        one.wait().ok()
    assert leases(repo) == {}


def test_of_the_claims_that_are_given_what_is_still_changed_stays(repo: Repo) -> None:
    run(repo, "echo 2 > src/a.py", "src/*").ok()
    assert list(leases(repo)) == ["src/a.py"]
    assert leases(repo)["src/a.py"]["liveness"] == "dead"


def test_a_refused_claim_starts_nothing_and_leaves_nobody(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    run(repo, "touch started", "--no-wait", "src/a.py").ended(10)
    run(repo, "touch started", "--timeout", "0.1s", "src/a.py").ended(11)
    assert not (repo.path / "started").exists() and sessions(repo) == []


def test_a_lease_that_it_uses_is_renewed(repo: Repo) -> None:
    repo.write(".gitlock.toml", 'version = 1\n[defaults]\nauto_ttl = "6s"\n')
    with runs(repo, "echo 2 > src/a.py; " + WAITS) as one:
        one.says("ready")
        until(lambda: "src/a.py" in leases(repo), "the change to be seen")
        before = repo.state()["leases"][0]["renewed"]
        until(lambda: repo.state()["leases"][0]["renewed"] > before, "a renewal")


# -- how it ends


def test_the_programs_code_is_ours(repo: Repo, tmp_path: Path) -> None:
    run(repo, "exit 7").ended(7)
    run(repo, "kill -KILL $$").ended(137)
    result = tmp_path / "result"
    run(repo, "exit 3", "--result", str(result)).ended(3)
    assert json.loads(result.read_text()) == {"ours": False, "why": "child", "code": 3, "child_code": 3}
    repo.lock("run", "--presence", "--", "no-such-program", agent=None).ended(127)
    assert sessions(repo) == []


def test_in_json_standard_output_is_the_answer_alone(repo: Repo) -> None:
    answer = repo.json("run", "--presence", "--", "sh", "-c", "echo out; exit 3", agent=None)
    assert_fits("run", answer)
    assert (answer["code"], answer["data"]) == (3, {"ours": False, "child_code": 3})


def test_a_signal_reaches_the_program_and_everything_goes_back(repo: Repo) -> None:
    with runs(repo, "git lock claim -q x; " + WAITS) as one:
        one.says("ready").signal(signal.SIGTERM).wait().ended(143)
    assert leases(repo) == {} and sessions(repo) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_when_we_are_killed_the_program_ends_and_what_it_held_is_free(repo: Repo) -> None:
    with runs(repo, "git lock claim -q src/a.py src/b.py; " + WAITS) as one:
        pid = int(one.says("ready ").out.split()[-1])
        repo.write("src/b.py", "2\n")
        os.kill(one.pid, signal.SIGKILL)
        until(lambda: is_gone(pid), "the program to end")
    repo.lock("claim", "src/a.py", agent="bob").ended(10)  # one claim, and of that src/b.py is changed
    repo.git("checkout", "--quiet", "src/b.py")
    repo.lock("claim", "src/a.py", agent="bob").ok()


def test_the_interrupt_key_ends_program_and_session(repo: Repo) -> None:
    repo.write("script", "trap 'echo got it; exit 5' INT; " + WAITS + "\n")
    with bash(repo.path, "") as shell:
        shell.types("git-lock run --presence -- sh script; echo code=$?\r").shows("ready")
        shell.types("\x03").shows("got it").shows("code=5")
        assert shell.screen.count("got it") == 1
        until(lambda: sessions(repo) == [], "the session to end")


def test_a_program_that_runs_for_too_long_is_stopped(repo: Repo) -> None:
    stopped = run(repo, "git lock claim -q x; sleep 60", "--max-hold", "0.5s").ended(14)
    assert "the command ran for --max-hold" in stopped.err
    assert leases(repo) == {} and sessions(repo) == []


# -- where there is nothing to watch


def test_outside_of_every_repository_the_program_just_runs(repo: Repo) -> None:
    outside = repo.path.parent
    done = run(repo, "echo hi; exit 3", cwd=outside).ended(3)
    assert done.out == "hi\n" and "no repository here" in done.err
    assert run(repo, "true", "-q", cwd=outside).ok().err == ""
    assert "not a git repository" in run(repo, "touch started", "x", cwd=outside).ended(1).err
    assert not (outside / "started").exists()


def test_in_a_bare_repository_it_is_only_seen(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    run(repo, "echo $GITLOCK_AGENT", cwd=tmp_path / "bare.git").ok()


def test_a_store_that_can_not_be_read_is_said_once_and_stops_nothing(repo: Repo) -> None:
    repo.lock("claim", "x", agent="bob").ok()
    (repo.store / "state.json").write_text("{}")
    done = run(repo, "echo hi").ok()
    assert done.out == "hi\n" and done.err.count("can't be looked at") == 1


@pytest.mark.parametrize("words", [["--ttl", "20m"], ["--shared"], ["-m", "why"], ["--timeout", "1s"], ["--no-wait"]])
def test_what_is_said_of_a_claim_needs_one(repo: Repo, words: list[str]) -> None:
    assert "nothing is claimed" in run(repo, "touch started", *words).ended(2).err
    assert not (repo.path / "started").exists()


def test_without_a_command_its_own_example_is_shown(repo: Repo) -> None:
    assert "hint: git lock run --presence -- " in repo.lock("run", "--presence", agent=None).ended(2).err


def test_its_guard_is_none_and_said_to_be_that_of_a_watched_program(repo: Repo) -> None:
    with runs(repo, "echo 2 > src/a.py; " + WAITS) as one:
        one.says("ready")
        until(lambda: "src/a.py" in leases(repo), "the change to be seen")
        (row,) = sessions(repo)
        assert row["guard"] == "none"
        for words in (("agents",), ()):
            assert "run --presence sees what it has changed, and stops nothing" in repo.lock(*words).ok().out
        repo.write("go", "")
