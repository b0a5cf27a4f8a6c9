"""Tickets: places in the queue for those who can't wait between turns. They outlive every process."""

from pathlib import Path

import pytest

from gitlock.domain.instant import Instant
from gitlock.domain.queue import OFFER, Waiter
from gitlock.domain.snapshot import Edits
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """alice holds a folder."""
    repo = Repo.new(tmp_path, files={"src/a.py": "a\n", "lib/b.py": "b\n"})
    repo.lock("claim", "src/*", agent="alice").ok()
    return repo


def draw(repo: Repo, *words: str, agent: str = "bob") -> str:
    """A ticket."""
    (ticket,) = repo.lock("claim", "--ticket", *words, agent=agent).ended(21).lines
    return ticket


def queue(repo: Repo) -> list[str]:
    return [row["agent"] for row in repo.state()["waiters"]]


def pass_time(repo: Repo, ticket: str, seconds: float) -> None:
    """Dates what a ticket remembers so far back, in an earlier boot: the machine may not have been up for as long."""
    store = FileStore(str(repo.store), SystemClock().now)

    def back(instant: Instant) -> Instant:
        return Instant(instant.wall - seconds, 0.0, "an earlier boot")

    def aged(waiter: Waiter) -> Waiter:
        return waiter.replace(seen=back(waiter.seen), offered=None if waiter.offered is None else back(waiter.offered))

    store.update(lambda s: (Edits(queue=tuple(aged(one) for one in s.waiters.ordered() if one.id == ticket)), None))


def test_a_ticket_is_a_place_that_needs_no_process(world: Repo) -> None:
    answer = world.json("claim", "--ticket", "src/a.py", agent="bob")
    assert_fits("claim", answer)
    assert (answer["code"], answer["error"]["id"]) == (21, "queued")
    ticket = answer["data"]["ticket"]
    assert (ticket["claim"], ticket["ahead"], ticket["offered"]) == ("src/a.py", 0, False)
    assert answer["error"]["next"] == f"git lock claim --resume {ticket['id']}"
    assert queue(world) == ["bob"]


def test_a_ticket_for_what_is_free_is_the_lease_itself(world: Repo) -> None:
    world.lock("claim", "--ticket", "lib/*", agent="bob").ok()
    assert queue(world) == []


def test_asking_again_gives_the_same_ticket(world: Repo) -> None:
    assert draw(world, "src/a.py") == draw(world, "src/a.py")
    assert queue(world) == ["bob"]


def test_a_ticket_tells_its_place(world: Repo) -> None:
    draw(world, "src/a.py", agent="carol")
    ticket = draw(world, "src/*")
    answer = world.json("claim", "--resume", ticket, agent="bob")
    assert_fits("claim", answer)
    assert (answer["code"], answer["data"]["ticket"]["ahead"]) == (21, 1)


def test_a_ticket_keeps_its_place_before_those_who_come_later(world: Repo) -> None:
    draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    refused = world.lock("claim", "src/a.py", agent="carol").ended(10)
    assert "bob waits for 'src/a.py'" in refused.err


def test_what_is_offered_is_taken_by_resuming(world: Repo) -> None:
    ticket = draw(world, "src/a.py", "-m", "one line")
    world.lock("release", "--all", agent="alice").ok()
    (lease,) = [world.json("claim", "--resume", ticket, agent="bob")["data"]["lease"]]
    assert (lease["agent"], lease["include"], lease["reason"]) == ("bob", ["src/a.py"], "one line")
    assert queue(world) == []


def test_a_ticket_is_resumed_from_another_worktree(world: Repo) -> None:
    there = world.worktree("tree")
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    lease = there.json("claim", "--resume", ticket, agent="bob", cwd="src")["data"]["lease"]
    assert (lease["include"], lease["holder"]["worktree"]) == (["src/a.py"], str(there.path))


def test_the_turn_of_a_ticket_is_shown(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    (row,) = world.state()["waiters"]
    assert row["id"] == ticket and row["offered"] is not None


def test_a_turn_that_comes_when_a_lease_expires_is_taken_too(world: Repo) -> None:
    world.lock("claim", "lib/b.py", "--ttl", "1s", agent="alice").ok()
    ticket = draw(world, "lib/*")
    until(lambda: world.lock("claim", "--resume", ticket, agent="bob").code == 0, "the lease to expire")


def test_a_turn_that_nobody_rings_for_is_offered_by_whoever_comes_by(world: Repo) -> None:
    world.lock("claim", "lib/b.py", "--ttl", "1s", agent="alice").ok()
    draw(world, "lib/b.py")
    until(lambda: "is held by" not in world.lock("claim", "lib/b.py", agent="carol").ended(10).err, "the expiry")
    assert world.state()["waiters"][0]["offered"] is not None


def test_an_offer_that_is_not_taken_passes_on(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    with world.start("claim", "--wait", "src/a.py", agent="carol") as carol:
        carol.says("waiting for")
        world.lock("release", "--all", agent="alice").ok()
        assert carol.is_alive
        pass_time(world, ticket, OFFER + 1)
        carol.wait().ok()
    lost = world.lock("claim", "--resume", ticket, agent="bob").ended(13)
    assert "lost its place" in lost.err


def test_an_offer_that_is_not_taken_passes_on_to_a_ticket_too(world: Repo) -> None:
    first, second = draw(world, "src/a.py"), draw(world, "src/a.py", agent="carol")
    world.lock("release", "--all", agent="alice").ok()
    pass_time(world, first, OFFER + 1)
    world.lock("claim", "--resume", first, agent="bob").ended(13)
    world.lock("claim", "--resume", second, agent="carol").ok()
    assert queue(world) == []


def test_what_was_offered_and_nobody_else_wants_can_still_be_had(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    pass_time(world, ticket, OFFER + 1)
    world.lock("claim", "--resume", ticket, agent="bob").ok()
    assert queue(world) == []


def test_a_ticket_that_nobody_speaks_of_for_a_day_is_no_place(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    pass_time(world, ticket, 86400 + 1)
    world.lock("release", "--all", agent="alice").ok()
    world.lock("claim", "src/a.py", agent="carol").ok()
    assert queue(world) == []


def test_a_word_about_a_ticket_keeps_it_for_another_day(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    pass_time(world, ticket, 86400 - 60)
    world.lock("claim", "--resume", ticket, agent="bob").ended(21)
    pass_time(world, ticket, 86400 - 60)
    world.lock("release", "--all", agent="alice").ok()
    world.lock("claim", "--resume", ticket, agent="bob").ok()


@pytest.mark.parametrize("agent", ["carol", "bobby", None])
def test_somebody_elses_ticket_is_refused(world: Repo, agent: str | None) -> None:
    ticket = draw(world, "src/a.py")
    refused = world.lock("claim", "--resume", ticket, agent=agent).ended(12)
    assert "is bob's" in refused.err


def test_who_works_for_an_agent_may_resume_its_ticket(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    assert world.json("claim", "--resume", ticket, agent="bob/helper")["data"]["lease"]["agent"] == "bob"


@pytest.mark.parametrize("name", ["t000000000000", "", "../state", "\u202e"])
def test_a_ticket_that_is_none_is_unknown(world: Repo, name: str) -> None:
    draw(world, "src/a.py")
    world.lock("claim", "--resume", name, agent="bob").ended(13)


def test_a_place_of_a_process_is_no_ticket(world: Repo) -> None:
    with world.start("claim", "--wait", "src/a.py", agent="bob") as bob:
        bob.says("waiting for")
        world.lock("claim", "--resume", world.state()["waiters"][0]["id"], agent="bob").ended(13)


def test_a_ticket_is_used_once(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    world.lock("claim", "--resume", ticket, agent="bob").ok()
    world.lock("claim", "--resume", ticket, agent="bob").ended(13)


def test_a_plain_claim_of_the_same_uses_it_up(world: Repo) -> None:
    draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    world.lock("claim", "src/a.py", agent="bob").ok()
    assert queue(world) == []


def test_a_ticket_that_closes_a_ring_is_refused(world: Repo) -> None:
    world.lock("claim", "lib/*", agent="bob").ok()
    draw(world, "src/a.py")
    world.lock("claim", "--ticket", "lib/b.py", agent="alice").ended(15)


def test_a_ticket_may_be_for_what_the_command_around_it_holds(world: Repo) -> None:
    inner = ["git-lock", "claim", "--ticket", "env:1", "--agent", "carol"]
    world.lock("run", "env:1", "--", *inner, agent="bob").ended(21)
    assert queue(world) == ["carol"]


@pytest.mark.parametrize(
    "words", [["--ticket", "--wait", "a"], ["--resume", "t1", "a"], ["--resume", "t1", "--key", "a:b"],
              ["--ticket", "--timeout", "1s", "a"], ["--ticket", "--no-wait", "a"]],
)  # fmt: skip
def test_ways_to_claim_that_exclude_one_another(world: Repo, words: list[str]) -> None:
    world.lock("claim", *words, agent="bob").ended(2)


def test_the_token_of_what_was_resumed_can_be_kept(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    world.lock("release", "--all", agent="alice").ok()
    world.lock("claim", "--resume", ticket, "--token-file", "token", agent="bob").ok()
    world.lock("release", "src/a.py", "--token-file", "token", agent="carol").ok()


def test_an_agent_hears_from_any_command_that_its_turn_has_come(world: Repo) -> None:
    ticket = draw(world, "src/a.py")
    assert "your turn" not in world.lock("list", agent="bob").ok().err
    world.lock("release", "--all", agent="alice").ok()
    told = world.lock("list", agent="bob").ok().err
    assert f"it is your turn for 'src/a.py': git lock claim --resume {ticket} (within" in told
    taken = world.lock("claim", "--resume", ticket, agent="bob").ok()
    assert taken.err == ""
