"""Waiting for a lease, as real processes: in order, past the dead and the stopped, and never for ever."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.processes import Running, until
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """alice holds a key and a folder."""
    repo = Repo.new(tmp_path, files={"src/a.py": "a\n", "src/b.py": "b\n", "lib/c.py": "c\n"})
    repo.lock("claim", "deploy:x", "src/*", agent="alice").ok()
    return repo


@contextlib.contextmanager
def waiting(repo: Repo, agent: str, *words: str, **more: Any) -> Iterator[Running]:
    """A process that stands in the queue."""
    with repo.start("claim", "--wait", *words, agent=agent, **more) as one:
        yield one.says("waiting for")


def queue(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["waiters"]]


def holders(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["leases"]]


def pipes(repo: Repo) -> list[str]:
    return [path.name for path in (repo.store / "waiting").iterdir()]


# -- the queue


def test_a_waiter_has_the_lease_once_it_is_given_back(world: Repo) -> None:
    with waiting(world, "bob", "deploy:x") as bob:
        world.lock("release", "--all", agent="alice").ok()
        bob.wait().ok()
    assert holders(world) == ["bob"]
    assert queue(world) == [] and pipes(world) == []


def test_waiters_are_served_in_the_order_in_which_they_came(world: Repo) -> None:
    names = ["bob", "carol", "dave", "erin"]
    with contextlib.ExitStack() as stack:
        places = [stack.enter_context(waiting(world, name, "src/a.py")) for name in names]
        world.lock("release", "--all", agent="alice").ok()
        for name, place in zip(names, places, strict=True):
            place.wait().ok()
            assert holders(world) == [name]
            world.lock("release", "--all", agent=name).ok()


def test_overlapping_waiters_are_served_in_order_and_others_are_not_held_up(world: Repo) -> None:
    with (
        waiting(world, "bob", "src/a.py", "lib/*") as bob,
        waiting(world, "carol", "lib/c.py", "docs/x") as carol,
        waiting(world, "dave", "src/b.py") as dave,
    ):
        world.lock("release", "--all", agent="alice").ok()
        bob.wait().ok()
        dave.wait().ok()
        assert queue(world) == ["carol"]
        world.lock("release", "--all", agent="bob").ok()
        carol.wait().ok()


def test_a_try_goes_before_nobody_who_waits(world: Repo) -> None:
    with waiting(world, "bob", "src/a.py", "lib/*"):
        refused = world.lock("claim", "lib/c.py", "docs/y", agent="carol").ended(10)
        assert "bob waits for" in refused.err
        world.lock("claim", "docs/y", agent="carol").ok()


def test_the_killed_are_passed_over(world: Repo) -> None:
    with waiting(world, "bob", "deploy:x") as bob, waiting(world, "carol", "deploy:x") as carol:
        bob.kill()
        world.lock("release", "--all", agent="alice").ok()
        carol.wait().ok()
    assert queue(world) == [] and pipes(world) == []


def test_the_stopped_are_passed_over_and_come_last_when_they_go_on(world: Repo) -> None:
    with waiting(world, "bob", "deploy:x") as bob, waiting(world, "carol", "deploy:x") as carol:
        bob.signal(signal.SIGSTOP)
        world.lock("release", "--all", agent="alice").ok()
        carol.wait().ok()
        with waiting(world, "dave", "deploy:x") as dave:
            bob.signal(signal.SIGCONT)
            until(lambda: sorted(queue(world)) == ["bob", "dave"], "bob back in the queue")
            world.lock("release", "--all", agent="carol").ok()
            dave.wait().ok()
            world.lock("release", "--all", agent="dave").ok()
        bob.wait().ok()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_gives_up_the_place(world: Repo, name: str) -> None:
    number = signal.Signals[name]
    with waiting(world, "bob", "deploy:x") as bob, waiting(world, "carol", "deploy:x"):
        stopped = bob.signal(number).wait().ended(128 + number)
        assert f"interrupted by {name}" in stopped.err
        assert queue(world) == ["carol"]
        assert len(pipes(world)) == 1


def test_a_signal_that_was_ignored_when_it_came_is_ignored(world: Repo) -> None:
    with world.start("whoami") as whoami:
        program = whoami.argv[0]
    shell = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", program, "claim", "--wait", "deploy:x", "--agent", "bob"]
    with Running(shell, cwd=world.path) as bob:
        bob.says("waiting for").signal(signal.SIGHUP)
        world.lock("release", "--all", agent="alice").ok()
        bob.wait().ok()


def test_an_interrupt_in_json_is_an_answer(world: Repo) -> None:
    with world.start("claim", "--wait", "deploy:x", "--json", agent="bob") as bob:
        until(lambda: queue(world) == ["bob"], "bob in the queue")
        answer = bob.signal(signal.SIGTERM).wait().ended(143).json()
    assert_fits("claim", answer)
    assert answer["error"]["id"] == "interrupted"


def test_when_the_time_is_up_the_place_is_given_up(world: Repo) -> None:
    late = world.lock("claim", "deploy:x", "--timeout", "0.3s", agent="bob").ended(11)
    assert "in vain: 'deploy:x src/*' is held by alice" in late.err
    assert queue(world) == [] and pipes(world) == []


def test_a_lease_counts_who_waits_for_it(world: Repo) -> None:
    with (
        waiting(world, "bob", "deploy:x"),
        waiting(world, "carol", "src/b.py"),
        waiting(world, "dave", "src/b.py") as dave,
    ):
        (lease,) = world.json("list")["data"]["leases"]
        assert lease["waiting"] == 3
        dave.kill()
        (lease,) = world.json("list")["data"]["leases"]
        assert lease["waiting"] == 2


def test_a_lease_that_expires_goes_to_the_first_who_waits(world: Repo) -> None:
    world.lock("claim", "lib/c.py", "--ttl", "1.5s", agent="erin").ok()
    with waiting(world, "bob", "lib/c.py") as bob, waiting(world, "carol", "lib/*"):
        bob.wait().ok()
    assert "bob" in holders(world)


def test_the_lease_of_a_holder_that_died_goes_to_the_first_who_waits(world: Repo) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        world.lock("claim", "deploy:y", "--pid", str(process.pid), agent="erin").ok()
        with waiting(world, "bob", "deploy:y") as bob:
            process.kill()
            process.wait()
            bob.wait().ok()
    told = world.lock("mine", agent="erin").ended(13)
    assert "your recorded process was gone" in told.err


def test_a_waiter_behind_one_that_died_notices_by_itself(world: Repo) -> None:
    world.lock("claim", "lib/c.py", "--ttl", "2s", agent="erin").ok()
    with waiting(world, "bob", "lib/c.py") as bob, waiting(world, "carol", "lib/c.py") as carol:
        bob.kill()
        carol.wait().ok()


def test_one_waits_for_what_is_held_from_another_worktree(world: Repo) -> None:
    with waiting(world.worktree("tree"), "bob", "src/a.py") as bob:
        world.lock("release", "--all", agent="alice").ok()
        bob.wait().ok()


def test_a_waiter_is_not_told_twice_what_it_did_not_ask(world: Repo) -> None:
    with world.start("claim", "--wait", "-q", "deploy:x", agent="bob") as bob:
        until(lambda: queue(world) == ["bob"], "bob in the queue")
        world.lock("release", "--all", agent="alice").ok()
        assert bob.wait().ok().err == ""


def test_what_a_waiter_holds_is_renewed_while_it_waits(world: Repo) -> None:
    world.lock("claim", "lib/c.py", "--ttl", "1.5s", agent="bob").ok()
    with waiting(world, "bob", "deploy:x"):
        first = lapses(world, "bob")
        until(lambda: lapses(world, "bob") > first + 1, "renewals")
        world.lock("claim", "lib/c.py", agent="carol").ended(10)


def lapses(repo: Repo, agent: str) -> float:
    """When the agent's only lease was renewed last."""
    (row,) = [row for row in repo.state()["leases"] if row["agent"] == agent]
    renewed: float = row["renewed"]
    return renewed


def test_acquire_waits_and_prints_only_the_token(world: Repo) -> None:
    with world.start("acquire", "deploy:x", agent="bob") as bob:
        bob.says("waiting for")
        world.lock("release", "--all", agent="alice").ok()
        (token,) = bob.wait().ok().lines
    world.lock("release", "deploy:x", "--token-file", "-", agent="carol", input=token).ok()


# -- wait, which takes nothing


def test_wait_returns_when_it_is_free_and_takes_nothing(world: Repo) -> None:
    with world.start("wait", "deploy:x", agent="bob") as bob:
        bob.says("waiting for alice")
        assert queue(world) == []
        world.lock("release", "--all", agent="alice").ok()
        bob.wait().ok()
    assert holders(world) == []


def test_wait_for_what_is_free_returns_at_once(world: Repo) -> None:
    answer = world.json("wait", "lib/c.py", agent="bob")
    assert_fits("wait", answer)
    assert [one["state"] for one in answer["data"]["results"]] == ["free"]


def test_wait_gives_up_when_its_time_is_up(world: Repo) -> None:
    answer = world.json("wait", "deploy:x", "--timeout", "0.2s", agent="bob")
    assert_fits("wait", answer)
    assert (answer["code"], answer["error"]["id"]) == (11, "timed-out")


def test_a_signal_ends_wait(world: Repo) -> None:
    with world.start("wait", "deploy:x", agent="bob") as bob:
        bob.says("waiting for").signal(signal.SIGTERM).wait().ended(143)


# -- no wait that would never end


def test_two_who_would_wait_for_one_another_are_told_at_once(world: Repo) -> None:
    world.lock("claim", "lib/*", agent="bob").ok()
    with waiting(world, "alice", "lib/c.py"):
        answer = world.json("claim", "--wait", "src/b.py", agent="bob")
    assert_fits("claim", answer)
    assert (answer["code"], answer["error"]["id"]) == (15, "deadlock")
    ring = [(one["agent"], one["claim"]) for one in answer["data"]["ring"]]
    assert ring == [("bob", "src/b.py"), ("alice", "lib/c.py")]


RINGS = {
    "files": [f"f{number}" for number in range(5)],
    "patterns": [f"d{number}/**/*.py" for number in range(5)],
    "keys": [f"env:{number}" for number in range(5)],
    "all kinds": ["src2/*.ts", "env:1", "docs/x.md", "env:3", "lib2/**"],
}


@pytest.mark.parametrize("held", RINGS.values(), ids=RINGS)
def test_five_in_a_ring(world: Repo, held: list[str]) -> None:
    names = ["bob", "carol", "dave", "erin", "frank"]
    for name, claim in zip(names, held, strict=True):
        world.lock("claim", claim, agent=name).ok()
    with contextlib.ExitStack() as stack:
        for name, wanted in zip(names[:-1], held[1:], strict=True):
            stack.enter_context(waiting(world, name, wanted))
        ring = world.lock("claim", "--wait", held[0], agent="frank").ended(15)
        assert all(name in ring.err for name in names)
        assert queue(world) == names[:-1]


def test_a_chain_is_no_ring(world: Repo) -> None:
    world.lock("claim", "lib/*", agent="bob").ok()
    with waiting(world, "bob", "src/a.py"), waiting(world, "carol", "lib/c.py"):
        world.lock("release", "--all", agent="alice").ok()


def test_a_ring_through_the_queue_is_one(world: Repo) -> None:
    world.lock("claim", "lib/*", agent="bob").ok()
    with waiting(world, "carol", "src/a.py", "lib/c.py"):
        world.lock("claim", "--wait", "docs/x", "src/a.py", agent="bob").ended(15)


def test_a_try_is_refused_as_held_and_not_as_a_ring(world: Repo) -> None:
    world.lock("claim", "lib/*", agent="bob").ok()
    with waiting(world, "alice", "lib/c.py"):
        world.lock("claim", "src/b.py", agent="bob").ended(10)


def test_who_runs_under_a_lease_and_waits_for_it_by_another_name_is_told_at_once(world: Repo) -> None:
    inner = ["git-lock", "claim", "--wait", "env:1", "--agent", "somebody-else"]
    inside = world.lock("run", "env:1", "--", *inner, agent="bob").ended(15)
    assert "held for the command that this runs under, by bob" in inside.err


def test_who_runs_under_a_lease_has_it(world: Repo) -> None:
    inside = world.lock("run", "env:1", "--", "git-lock", "claim", "--wait", "env:1", agent="bob").ok()
    assert "already yours" in inside.out


def test_a_ring_through_the_command_around_us_is_one(world: Repo) -> None:
    """bob's command waits for alice, by the name of carol; alice waits for bob."""
    world.lock("claim", "lib/*", agent="alice").ok()
    wait = "until test -e ../go; do sleep 0.05; done"
    script = f"touch ../started; {wait}; exec git-lock claim --wait lib/c.py --agent carol"
    with world.start("run", "env:1", "--", "sh", "-c", script, agent="bob") as bob:
        until((world.path.parent / "started").exists, "the command")
        with waiting(world, "alice", "env:1"):
            (world.path.parent / "go").touch()
            bob.wait().ended(15)
