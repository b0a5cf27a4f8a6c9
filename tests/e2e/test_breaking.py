"""break and steal: a last resort, with a reason, told to the victim once, and written down."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.gate import history, map_file
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """alice holds a folder, and the gates are in."""
    repo = Repo.new(tmp_path, files={"src/a.py": "a\n", "src/b.py": "b\n"})
    repo.install()
    repo.lock("claim", "src/*", "-m", "new login", agent="alice").ok()
    return repo


def holders(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["leases"]]


# -- break


def test_break_only_shows_what_it_would_do(world: Repo) -> None:
    before = (world.store / "state.json").read_bytes()
    shown = world.lock("break", "src/*", "--force", agent="bob").ok()
    assert shown.out == "would break: 'src/*' of alice, who is told\n"
    assert "hint: to do it: git lock break 'src/*' --reason 'why' --yes" in shown.err
    assert (world.store / "state.json").read_bytes() == before


def test_a_dry_run_has_the_code_that_the_real_one_would_have(world: Repo) -> None:
    assert world.lock("break", "src/*", agent="bob").code == 17
    assert world.lock("break", "lib/x", agent="bob").code == 13


def test_break_ends_the_lease_of_one_who_may_be_at_work_only_by_force(world: Repo) -> None:
    refused = world.json("break", "src/*", "--reason", "gone", "--yes", agent="bob")
    assert_fits("break", refused)
    assert (refused["code"], refused["error"]["id"]) == (17, "holder-alive")
    assert "git lock request" in refused["error"]["next"]
    done = world.json("break", "src/*", "--reason", "gone", "--yes", "--force", agent="bob")
    assert_fits("break", done)
    assert [lease["agent"] for lease in done["data"]["leases"]] == ["alice"]
    assert holders(world) == []


def test_break_ends_the_lease_of_the_dead_without_force(world: Repo) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        world.lock("claim", "env:1", "--pid", str(process.pid), agent="erin").ok()
        alive = world.lock("break", "env:1", "--reason", "x", "--yes", agent="bob").ended(17)
        assert "is alive" in alive.err
        process.kill()
        process.wait()
    world.lock("break", "env:1", "--reason", "x", "--yes", agent="bob").ok()


def test_what_is_free_already_needs_no_breaking(world: Repo) -> None:
    world.lock("break", "lib/x", "--reason", "x", "--yes", agent="bob").ok()


@pytest.mark.parametrize(
    "words", [["break", "src/*", "--yes"], ["steal", "src/*"], ["steal", "src/*", "--reason", " "], ["break"]]
)
def test_a_reason_is_needed(world: Repo, words: list[str]) -> None:
    world.lock(*words, agent="bob").ended(2)
    assert holders(world) == ["alice"]


def test_force_release_is_break(world: Repo) -> None:
    world.lock("force-release", "src/*", "--reason", "x", "--force", "--yes", agent="bob").ok()


def test_whoever_waits_has_it_when_it_is_broken(world: Repo) -> None:
    with world.start("claim", "--wait", "src/a.py", agent="carol") as carol:
        carol.says("waiting for")
        world.lock("break", "src/*", "--reason", "x", "--force", "--yes", agent="bob").ok()
        carol.wait().ok()


# -- steal


def test_a_steal_is_one_step_with_a_new_fence(world: Repo) -> None:
    before = world.state()
    done = world.json("steal", "src/a.py", "--reason", "crashed", "--force", agent="bob")
    assert_fits("steal", done)
    assert done["data"]["lease"]["fence"] > before["leases"][0]["fence"]
    assert world.state()["revision"] == before["revision"] + 1
    assert holders(world) == ["bob"]


def test_a_steal_is_refused_while_nothing_proves_that_the_holder_is_gone(world: Repo) -> None:
    refused = world.json("steal", "src/a.py", "--reason", "crashed", agent="bob")
    assert_fits("steal", refused)
    assert (refused["code"], holders(world)) == (17, ["alice"])


def test_a_steal_goes_before_nobody_who_waits(world: Repo) -> None:
    with world.start("claim", "--wait", "src/a.py", agent="carol") as carol:
        carol.says("waiting for")
        refused = world.lock("steal", "src/a.py", "--reason", "x", "--force", agent="bob").ended(10)
        assert "carol waits for" in refused.err
    assert holders(world) == ["alice"]


def test_the_former_holders_commit_is_refused(world: Repo) -> None:
    world.lock("steal", "src/a.py", "--reason", "crashed", "--force", agent="bob").ok()
    world.commit("late", {"src/a.py": "late\n"}, agent="alice", check=False).ended(1)
    world.git("reset", "--quiet")
    world.commit("now mine", {"src/a.py": "new\n"}, agent="bob")


# -- the victim, and the history


def test_the_victim_is_warned_by_every_command_until_mine_has_told_it_once(world: Repo) -> None:
    world.lock("steal", "src/a.py", "--reason", "looked \x1b[31mdead", "--force", agent="bob").ok()
    for _ in range(2):
        warned = world.lock("list", agent="alice").ok().err + world.lock("claim", "lib/x", agent="alice").ok().err
        assert "warning: your lease 'src/*' (fence 1) was stolen by bob" in warned
        world.lock("release", "lib/x", agent="alice").ok()
    told = world.json("mine", agent="alice")
    (ended,) = told["data"]["ended"]
    assert (told["code"], ended["ended"]["why"], ended["ended"]["by"]) == (13, "stolen", "bob")
    assert world.lock("mine", agent="alice").ok().err == ""


def test_the_reason_is_shown_escaped(world: Repo) -> None:
    world.lock("steal", "src/a.py", "--reason", "looked \x1b[31mdead\u202e", "--force", agent="bob").ok()
    told = world.lock("mine", agent="alice").ended(13).err
    assert '"looked \\x1b[31mdead\\u202e"' in told and "\x1b" not in told


def test_the_history_has_who_whose_and_why(world: Repo) -> None:
    world.lock("break", "src/*", "--reason", "one", "--force", "--yes", agent="bob").ok()
    world.lock("claim", "src/*", agent="alice").ok()
    world.lock("steal", "src/a.py", "--reason", "two", "--force", agent="carol").ok()
    rows = [*history(world, "break"), *history(world, "steal")]
    told = [(row["agent"], row["victim"], row["note"]) for row in rows]
    assert told == [("bob", "alice", "one"), ("carol", "alice", "two")]


# -- with a second person's word


@pytest.fixture
def strict(world: Repo) -> Repo:
    """The same, where breaking needs a second person."""
    world.write(".gitlock.toml", map_file('[policy]\nbreaking = "approval"'))
    return world


BREAK = ["break", "src/*", "--reason", "machine is gone", "--force", "--yes"]


def asked(repo: Repo, *words: str, agent: str | None = "bob") -> str:
    """The request that a refused attempt made."""
    refused = repo.json(*words, agent=agent)
    assert (refused["code"], refused["error"]["id"]) == (17, "approval")
    everything = repo.json("inbox", "--all", agent="bob")["data"]["requests"]
    (request,) = [one for one in everything if one["kind"] == "breaking"]
    assert request["id"] in refused["error"]["message"]
    return str(request["id"])


def test_without_a_second_person_nothing_is_broken_and_one_is_asked(strict: Repo) -> None:
    name = asked(strict, *BREAK)
    assert holders(strict) == ["alice"]
    assert asked(strict, *BREAK) == name
    shown = strict.lock("inbox", agent=None).ok().out
    assert f"{name}  bob wants to break 'src/*'" in shown and "machine is gone" in shown


@pytest.mark.parametrize("words", [BREAK, ["steal", "src/*", "--reason", "x", "--force"]], ids=lambda words: words[0])
def test_with_a_second_persons_word_it_is(strict: Repo, words: list[str]) -> None:
    strict.lock("grant", asked(strict, *words), agent=None).ok()
    strict.lock(*words, agent="bob").ok()
    assert "alice" not in holders(strict)


def test_a_word_counts_once(strict: Repo) -> None:
    strict.lock("grant", asked(strict, *BREAK), agent=None).ok()
    strict.lock(*BREAK, agent="bob").ok()
    strict.lock("claim", "src/*", agent="alice").ok()
    strict.lock(*BREAK, agent="bob").ended(17)


def test_a_word_counts_for_the_holder_that_it_was_about(strict: Repo) -> None:
    strict.lock("grant", asked(strict, *BREAK), agent=None).ok()
    strict.lock("release", "--all", agent="alice").ok()
    strict.lock("claim", "src/*", agent="carol").ok()
    strict.lock(*BREAK, agent="bob").ended(17)
    assert holders(strict) == ["carol"]


@pytest.mark.parametrize("agent", ["carol", "alice"])
def test_only_a_person_may_approve(strict: Repo, agent: str) -> None:
    strict.lock("grant", asked(strict, *BREAK), agent=agent).ended(17)
    strict.lock(*BREAK, agent="bob").ended(17)


def test_nobody_approves_its_own(strict: Repo) -> None:
    name = asked(strict, *BREAK, agent=None)
    strict.lock("grant", name, agent=None).ended(17)


def test_a_second_persons_no_is_heard(strict: Repo) -> None:
    strict.lock("decline", asked(strict, *BREAK), "-m", "she is at lunch", agent=None).ok()
    assert "she is at lunch" in strict.lock("list", agent="bob").ok().err
    strict.lock(*BREAK, agent="bob").ended(17)


def test_a_dry_run_asks_nobody(strict: Repo) -> None:
    strict.lock("break", "src/*", "--force", agent="bob").ok()
    assert json.loads(strict.lock("inbox", "--all", "--json", agent=None).out)["data"]["requests"] == []
