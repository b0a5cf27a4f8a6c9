"""The life of a lease through the real program: TTLs, heartbeats, processes that die, ends that are told, tokens."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitlock.stores.files.store import FileStore
from tests.kit.agents import Worker
from tests.kit.clock import ManualClock
from tests.kit.processes import until
from tests.kit.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, {"src/a": "1\n", "src/b": "1\n", "docs/c": "1\n"})


def lease_of(repo: Repo, agent: str = "alice") -> dict[str, Any]:
    """The one lease of an agent, as the state has it: looking at it renews nothing."""
    (lease,) = [lease for lease in repo.state()["leases"] if lease["agent"] == agent]
    assert isinstance(lease, dict)
    return lease


def lapsed(repo: Repo, *claim: str, agent: str = "alice") -> None:
    """A claim that has expired by now; its holder has not been heard of since."""
    repo.lock("claim", *claim, "--ttl", "0.05s", agent=agent).ok()
    until(lambda: repo.lock("status", claim[0], "--exit-code", agent="looker").code == 4, "it expires")


# -- TTL


@pytest.mark.parametrize("ttl", ["0s", "-1h", "8d", "1w", "90", "soon", ""])
def test_a_ttl_that_cannot_be_is_a_usage_error(repo: Repo, ttl: str) -> None:
    repo.lock("claim", "src/a", f"--ttl={ttl}").ended(2)
    assert not (repo.store / "state.json").exists()


@pytest.mark.parametrize(("ttl", "seconds"), [("90s", 90), ("20m", 1200), ("2h", 7200), ("7d", 604800)])
def test_a_claim_lasts_as_long_as_it_says(repo: Repo, ttl: str, seconds: int) -> None:
    assert repo.json("claim", "src/a", "--ttl", ttl)["data"]["lease"]["ttl_s"] == seconds


def test_a_claim_by_hand_lasts_an_hour(repo: Repo) -> None:
    assert repo.json("claim", "src/a")["data"]["lease"]["ttl_s"] == 3600


def test_the_map_file_says_otherwise(repo: Repo) -> None:
    repo.write(".gitlock.toml", 'version = 1\n[defaults]\nttl = "5m"\n')
    assert repo.json("claim", "src/a")["data"]["lease"]["ttl_s"] == 300


# -- heartbeats

COMMANDS: list[tuple[str, ...]] = [
    (), ("list",), ("mine",), ("check",), ("who", "docs/c"), ("status", "docs/c"), ("claim", "docs/c"),
    ("release", "docs/c"), ("renew", "docs/c"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words) or "overview")
def test_every_command_of_the_holder_renews_its_leases(repo: Repo, command: tuple[str, ...]) -> None:
    repo.lock("claim", "src/a", "--ttl", "0.05s").ok()
    before = lease_of(repo)["renewed_mono"]
    repo.lock(*command)
    assert [lease["renewed_mono"] > before for lease in repo.state()["leases"] if "src/a" in lease["include"]] == [True]


def test_a_commit_of_the_holder_renews_its_leases(repo: Repo) -> None:
    repo.install()
    repo.lock("claim", "src/a", "--ttl", "0.05s").ok()
    before = lease_of(repo)["renewed_mono"]
    repo.commit("alice's", {"src/a": "2\n"}, agent="alice")
    assert lease_of(repo)["renewed_mono"] > before


def test_a_lease_that_was_renewed_lately_is_not_written_again(repo: Repo) -> None:
    repo.lock("claim", "src/a").ok()
    before = (repo.store / "state.json").read_bytes()
    repo.lock("mine").ok()
    assert (repo.store / "state.json").read_bytes() == before


@pytest.mark.parametrize("command", [("list",), ("who", "src/a"), ("check", "src/a"), ("claim", "src/b")])
def test_no_command_of_another_renews_them(repo: Repo, command: tuple[str, ...]) -> None:
    repo.lock("claim", "src/a", "--ttl", "0.05s").ok()
    before = lease_of(repo)["renewed_mono"]
    repo.lock(*command, agent="bob")
    assert lease_of(repo)["renewed_mono"] == before


# -- ends are told


def test_mine_tells_an_end_exactly_once_and_by_whom(repo: Repo) -> None:
    lapsed(repo, "src/*")
    repo.lock("claim", "src/a", agent="bob").ok()
    told = [repo.lock("mine") for _ in range(2)]
    assert [result.code for result in told] == [13, 0]
    assert "'src/*' (fence 1) lapsed, and bob took 'src/a' (fence 2)" in told[0].err


@pytest.mark.parametrize("command", [("list",), ("check",), ("claim", "docs/c"), ("release", "--all"), ("renew",), ()])
def test_every_other_command_tells_it_until_then(repo: Repo, command: tuple[str, ...]) -> None:
    lapsed(repo, "src/*")
    repo.lock("claim", "src/a", agent="bob").ok()
    told = [repo.lock(*command).err for _ in range(2)]
    assert all("bob took 'src/a'" in text for text in told)
    repo.lock("mine").ended(13)


def test_a_lapsed_lease_that_nobody_took_is_renewed_under_the_same_fence(repo: Repo) -> None:
    lapsed(repo, "src/*")
    assert repo.json("renew", "src/*", "--ttl", "1h")["data"]["lease"]["fence"] == 1


def test_a_lapsed_lease_that_was_taken_is_not_and_the_answer_says_by_whom(repo: Repo) -> None:
    lapsed(repo, "src/*")
    repo.lock("claim", "src/a", agent="bob").ok()
    assert "bob" in repo.lock("renew", "src/*").ended(19).err


@pytest.mark.parametrize("command", ["renew", "release"])
def test_what_never_was_is_no_lease(repo: Repo, command: str) -> None:
    repo.lock("claim", "src/a").ok()
    repo.lock(command, "never/was").ended(13)


@pytest.mark.parametrize("command", ["renew", "release"])
def test_what_is_anothers_is_not_yours(repo: Repo, command: str) -> None:
    repo.lock("claim", "src/*").ok()
    assert "alice" in repo.lock(command, "src/a", agent="bob").ended(12).err


def test_what_is_gone_or_was_renamed_can_be_given_back(repo: Repo) -> None:
    repo.lock("claim", "src/a", "src/b").ok()
    repo.git("mv", "src/a", "docs/a")
    (repo.path / "src/b").unlink()
    assert "still hold 'src/b'" in repo.lock("release", "src/a").ok().out
    repo.lock("release", "src/b").ok()
    assert repo.state()["leases"] == []


# -- claiming again


def test_what_one_holds_already_keeps_its_fence_and_says_so(repo: Repo) -> None:
    repo.lock("claim", "src/*").ok()
    result = repo.lock("claim", "src/a").ok()
    assert "already yours" in result.out and "fence 1" in result.out


def test_shared_becomes_exclusive_only_for_the_last_one(repo: Repo) -> None:
    for agent in ("alice", "bob"):
        repo.lock("claim", "src/*", "--shared", agent=agent).ok()
    repo.lock("claim", "src/*").ended(10)
    kept = lease_of(repo)["mode"]
    repo.lock("release", "--all", agent="bob").ok()
    repo.lock("claim", "src/*").ok()
    assert (kept, lease_of(repo)["mode"]) == ("shared", "exclusive")


def test_a_refusal_lists_everything_that_stands_in_the_way(repo: Repo) -> None:
    for path, agent in (("src/a", "bob"), ("src/b", "carol"), ("deploy:x", "dave")):
        repo.lock("claim", path, agent=agent).ok()
    answer = repo.json("claim", "src/*", "deploy:x", "docs/c")
    assert answer["code"] == 10
    assert {one["lease"]["agent"] for one in answer["error"]["conflicts"]} == {"bob", "carol", "dave"}


# -- tokens


def test_a_token_gives_back_what_another_name_holds(repo: Repo, tmp_path: Path) -> None:
    file = tmp_path / "token"
    repo.lock("claim", "src/a", "--token-file", str(file)).ok()
    repo.lock("release", "src/a", agent="bob").ended(12)
    repo.lock("release", "src/a", "--token-file", str(file), agent="bob").ok()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "released by bob" in repo.lock("mine").ended(13).err


def test_a_token_is_read_from_standard_input_or_the_environment(repo: Repo) -> None:
    for number in range(2):
        token = repo.lock("claim", "src/a", "--print-token").ok().out.strip()
        if number:
            repo.lock("release", "src/a", "--token-file", "-", agent="bob", input=token).ok()
        else:
            repo.lock("release", "src/a", agent="bob", env={"GITLOCK_TOKEN": token}).ok()
    assert repo.state()["leases"] == []


def test_a_wrong_token_opens_nothing(repo: Repo) -> None:
    repo.lock("claim", "src/a").ok()
    repo.lock("release", "src/a", agent="bob", env={"GITLOCK_TOKEN": "0" * 32}).ended(12)


def test_a_token_is_nowhere_but_in_its_file(repo: Repo, tmp_path: Path) -> None:
    file = tmp_path / "token"
    repo.lock("claim", "src/a", "--token-file", str(file)).ok()
    token = file.read_text().strip()
    shown = "".join(repo.lock(*words, "--json").out for words in (("list",), ("mine",), ("renew",), ("history",)))
    stored = b"".join(path.read_bytes() for path in repo.store.rglob("*") if path.is_file())
    assert len(token) == 32 and token not in shown and token.encode() not in stored


# -- processes


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives as long as alice's work does."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as one:
        yield one
        one.kill()


def test_a_living_holder_is_shown_as_alive_and_stands_in_the_way(
    repo: Repo, process: "subprocess.Popen[bytes]"
) -> None:
    repo.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    repo.lock("claim", "src/a", agent="bob").ended(10)
    assert [lease["liveness"] for lease in repo.json("list", agent="bob")["data"]["leases"]] == ["alive"]


def test_what_a_dead_holder_left_clean_is_taken_at_once(repo: Repo, process: "subprocess.Popen[bytes]") -> None:
    repo.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    process.kill()
    process.wait()
    repo.lock("claim", "src/a", agent="bob").ok()
    assert "your recorded process was gone" in repo.lock("mine").ended(13).err


def test_what_a_dead_holder_left_changed_is_orphaned_and_kept(repo: Repo, process: "subprocess.Popen[bytes]") -> None:
    repo.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    repo.write("src/b", "half done\n")
    process.kill()
    process.wait()
    assert "its paths are still changed" in repo.lock("claim", "src/a", agent="bob").ended(10).err


def test_what_is_orphaned_is_taken_over_by_the_command_that_is_named(
    repo: Repo, process: "subprocess.Popen[bytes]"
) -> None:
    repo.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    repo.write("src/b", "half done\n")
    process.kill()
    process.wait()
    refused = repo.json("claim", "b", agent="bob", cwd=repo.path / "src")["error"]
    assert refused["next"] == "git lock steal b --reason 'why'"
    repo.lock("steal", "b", "--reason", "why", agent="bob", cwd=repo.path / "src").ok()


def test_what_it_left_changed_outside_its_lease_keeps_nothing(
    repo: Repo, process: "subprocess.Popen[bytes]"
) -> None:
    repo.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    repo.write("docs/c", "half done\n")
    process.kill()
    process.wait()
    repo.lock("claim", "src/a", agent="bob").ok()


def test_an_orphaned_lease_stops_a_commit(repo: Repo, process: "subprocess.Popen[bytes]") -> None:
    repo.install()
    there = repo.worktree("there")
    there.lock("claim", "src/*", "--pid", str(process.pid)).ok()
    there.write("src/b", "half done\n")
    process.kill()
    process.wait()
    refused = repo.commit("bob's", {"src/a": "2\n"}, agent="bob", check=False)
    assert refused.code == 1 and "src/a" in refused.err and "alice" in refused.err
    assert "git lock steal src/a --reason 'why'" in refused.err


def test_a_process_that_is_not_there_cannot_be_named(repo: Repo, process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    repo.lock("claim", "src/a", "--pid", str(process.pid)).ended(2)


@pytest.mark.parametrize("pid", ["0", "1", "-1", "abc", "99999999999", "1e3", ""])
def test_what_is_no_process_of_ones_own_cannot_be_named(repo: Repo, pid: str) -> None:
    repo.lock("claim", "src/a", f"--pid={pid}").ended(2)


def test_a_plain_claim_records_no_process(repo: Repo) -> None:
    repo.lock("claim", "src/a").ok()
    assert lease_of(repo)["holder"]["pid"] is None


# -- another boot


def held_since_another_boot(repo: Repo, *, ago: float, ttl: float) -> None:
    """A lease of alice's that was renewed in another boot, by the wall clock so many seconds ago."""
    repo.lock("claim", "docs/c", agent="carol").ok()
    clock = ManualClock()
    clock.wall = lease_of(repo, "carol")["renewed"] - ago
    Worker(FileStore(str(repo.store), clock), "alice").takes("src/*", ttl=ttl)


def test_across_boots_the_wall_clock_says_that_it_lasts(repo: Repo) -> None:
    held_since_another_boot(repo, ago=60.0, ttl=3600.0)
    repo.lock("claim", "src/a", agent="bob").ended(10)


def test_across_boots_the_wall_clock_says_that_it_is_over(repo: Repo) -> None:
    held_since_another_boot(repo, ago=3601.0, ttl=3600.0)
    repo.lock("claim", "src/a", agent="bob").ok()


def test_a_lease_from_the_future_lasts_its_ttl_from_first_sight(repo: Repo) -> None:
    held_since_another_boot(repo, ago=-1e8, ttl=3600.0)
    repo.lock("claim", "src/a", agent="bob").ended(10)
    seen = lease_of(repo)
    assert seen["boot"] == lease_of(repo, "carol")["boot"] and seen["fence"] == 2
