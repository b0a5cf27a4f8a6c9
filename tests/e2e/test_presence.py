"""Presence: what sessions say of themselves, what is seen of them, and who needs attention."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.session import WAITING
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.sessions import SessionBook
from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.retiring import house
from tests.kit.schemas import assert_fits
from tests.unit.test_session import a_session

CLAUDE = {"CLAUDE_CODE_SESSION_ID": "5b0cf1e2-aaaa", "CLAUDE_PID": str(os.getpid())}


def rows(repo: Repo, *words: str) -> list[dict[str, Any]]:
    answer = repo.json("agents", *words, agent=None)
    assert_fits("agents", answer)
    found: list[dict[str, Any]] = answer["data"]["agents"]
    return found


def row(repo: Repo, agent: str, *words: str) -> dict[str, Any]:
    (found,) = [one for one in rows(repo, *words) if one["agent"] == agent]
    return found


def session_of(repo: Repo, agent: str) -> dict[str, Any]:
    everyone: list[dict[str, Any]] = [
        json.loads(path.read_bytes()) for path in (repo.store / "sessions").glob("*.json")
    ]
    (found,) = [one for one in everyone if one["agent"] == agent]
    return found


def book(repo: Repo) -> SessionBook:
    return SessionBook(Layout(str(repo.store)))


# -- state


def test_a_state_is_set_and_printed_with_its_text(repo: Repo) -> None:
    set_to = repo.json("state", "waiting", "-m", "which database?")
    assert_fits("state", set_to)
    found = repo.json("state")
    assert_fits("state", found)
    assert (found["data"]["session"]["state"], found["data"]["session"]["message"]) == ("waiting", "which database?")


def test_whoever_never_said_anything_has_no_session(repo: Repo) -> None:
    assert repo.json("state")["data"]["session"] is None
    assert not repo.store.exists()


@pytest.mark.parametrize(
    "words", [["queued"], ["asleep"], ["-m", "why"], ["working", "idle"], ["waiting", "-m", "x" * 501]], ids=str
)
def test_a_state_that_makes_no_sense_changes_nothing(repo: Repo, words: list[str]) -> None:
    repo.lock("state", "idle").ok()
    repo.lock("state", *words).ended(2)
    assert repo.json("state")["data"]["session"]["state"] == "idle"


def test_a_hostile_question_is_shown_as_text(repo: Repo) -> None:
    repo.lock("state", "waiting", "-m", "\x1b[2J\u202eevil").ok()
    assert "\x1b" not in repo.lock("agents").ok().out and "\\x1b[2J\\u202eevil" in repo.lock("agents").ok().out


def test_who_claims_is_at_work_again(repo: Repo) -> None:
    for state in ("waiting", "idle", "done"):
        repo.lock("state", state, agent=None, env=CLAUDE).ok()
        repo.lock("claim", "x", agent=None, env=CLAUDE).ok()
        assert session_of(repo, "claude-5b0cf1e2")["state"] == "working"


def test_a_renewal_does_not_end_a_wait(repo: Repo) -> None:
    repo.lock("claim", "x", agent=None, env=CLAUDE).ok()
    repo.lock("state", "waiting", agent=None, env=CLAUDE).ok()
    repo.lock("renew", agent=None, env=CLAUDE).ok()
    assert session_of(repo, "claude-5b0cf1e2")["state"] == "waiting"


def test_a_command_of_an_agent_program_registers_its_session(repo: Repo) -> None:
    repo.lock("claim", "x", agent=None, env=CLAUDE).ok()
    found = session_of(repo, "claude-5b0cf1e2")
    assert (found["program"], found["holder"]["pid"], found["state"]) == ("claude", os.getpid(), "working")


def test_people_and_names_that_are_only_given_have_no_session(repo: Repo) -> None:
    repo.lock("claim", "x", agent=None).ok()
    repo.lock("claim", "y", agent="alice").ok()
    assert not (repo.store / "sessions").exists()


def test_a_fresh_session_is_not_written_again(repo: Repo) -> None:
    repo.lock("claim", "x", agent=None, env=CLAUDE).ok()
    (path,) = (repo.store / "sessions").glob("*.json")
    before = path.stat().st_ino
    repo.lock("release", "x", agent=None, env=CLAUDE).ok()
    assert path.stat().st_ino == before


def test_presence_that_can_t_be_written_costs_no_claim(repo: Repo) -> None:
    repo.store.mkdir()
    (repo.store / "sessions").write_text("in the way")
    repo.lock("claim", "x", agent=None, env=CLAUDE).ok()


# -- queued


def test_who_waits_for_a_lease_is_queued_until_it_has_it(repo: Repo) -> None:
    repo.lock("claim", "x", agent="bob").ok()
    with repo.start("claim", "x", "--wait", agent=None, env=CLAUDE) as waiting:
        until(lambda: (repo.store / "sessions").exists() and rows(repo)[0]["state"] == "queued")
        assert row(repo, "bob")["blocks"] == [
            {"agent": "claude-5b0cf1e2", "claim": "x", "since": row(repo, "bob")["blocks"][0]["since"]}
        ]
        repo.lock("release", "x", agent="bob").ok()
        waiting.wait().ok()
    assert session_of(repo, "claude-5b0cf1e2")["state"] == "working"


def test_who_was_killed_while_it_waited_is_not_queued(repo: Repo) -> None:
    repo.lock("claim", "x", agent="bob").ok()
    with repo.start("claim", "x", "--wait", agent=None, env=CLAUDE) as waiting:
        until(lambda: (repo.store / "sessions").exists() and rows(repo)[0]["state"] == "queued")
        waiting.kill()
    assert session_of(repo, "claude-5b0cf1e2")["state"] == "queued"
    assert row(repo, "claude-5b0cf1e2")["state"] == "working"


def die(repo: Repo) -> None:
    """The one session's process is gone: it had a number that no process can have."""
    (session,) = book(repo).all()
    gone = session.holder.replace(pid=2**22 + 1, started=1, pid_space=os.readlink("/proc/self/ns/pid"))
    book(repo).write(session.replace(holder=gone))


# -- a session that waits for a person, and its TTL


def lapse(repo: Repo, *, message: str = "") -> None:
    """alice claims x, waits for a person, and lets the TTL pass: then x is no longer "not yours" to others."""
    repo.lock("claim", "x", "--ttl", "0.5s").ok()
    repo.lock("state", "waiting", "-m", message).ok()
    until(lambda: repo.lock("renew", "x", agent="bob").code == 13)


def test_a_lapsed_lease_of_who_waits_for_a_person_still_stands(repo: Repo) -> None:
    lapse(repo)
    refused = repo.lock("claim", "x", agent="bob").ended(10)
    assert "waits for a person" in refused.err


def test_a_commit_on_it_is_refused_as_well(repo: Repo) -> None:
    repo.install()
    lapse(repo)
    repo.commit("bob's", {"x": "bob\n"}, agent="bob", check=False).ended(1)


def test_once_it_waits_no_more_the_ttl_counts(repo: Repo) -> None:
    lapse(repo)
    (session,) = book(repo).all()
    book(repo).write(session.replace(state="idle"))
    repo.lock("claim", "x", agent="bob").ok()


def test_a_dead_session_excuses_nothing(repo: Repo) -> None:
    lapse(repo)
    die(repo)
    repo.lock("claim", "x", agent="bob").ok()


# -- agents


def test_every_worktree_has_its_row_whoever_made_it(repo: Repo) -> None:
    repo.worktree("by-hand")
    house(repo, "alice")
    found = {one["origin"]: (one["agent"], one["branch"]) for one in rows(repo)}
    assert found == {"main": (None, "main"), "git": (None, "by-hand"), "spawned": ("alice", "agent/alice")}


def test_a_row_says_what_git_knows_and_what_is_held(repo: Repo) -> None:
    alice = house(repo, "alice")
    alice.commit("one", {"a": "1\n"})
    alice.write("b", "2\n")
    repo.commit("theirs", {"c": "3\n"})
    alice.lock("claim", "a", "b", agent=None).ok()
    found = row(repo, "alice")
    assert (found["ahead"], found["behind"], found["dirty"], found["unpushed"]) == (1, 1, 1, None)
    assert (found["claims"], found["base"], found["port"]) == (["a b"], "refs/heads/main", 20010)


def test_what_no_remote_has_is_unpushed(repo: Repo) -> None:
    there = repo.clone()
    there.commit("one", {"a": "1\n"})
    assert rows(there)[0]["unpushed"] == 1


def test_overlaps_are_counted(repo: Repo) -> None:
    alice = house(repo, "alice")
    alice.write("a", "1\n")
    repo.write("a", "2\n")
    assert [one["overlaps"] for one in rows(repo)] == [1, 1]


def test_a_dead_session_is_shown_as_dead_whatever_its_last_word_was(repo: Repo) -> None:
    repo.lock("state", "waiting", "-m", "?").ok()
    die(repo)
    found = row(repo, "alice")
    assert (found["liveness"], found["counts"], found["state"]) == ("dead", False, "waiting")
    assert rows(repo, "--waiting") == []


def test_two_agents_in_one_worktree_are_marked_and_a_family_is_one(repo: Repo) -> None:
    for agent in ("alice", "alice/child"):
        repo.lock("state", "working", agent=agent).ok()
    assert [one["shared"] for one in rows(repo)] == [False, False]
    repo.lock("state", "working", agent="bob").ok()
    assert [one["shared"] for one in rows(repo)] == [True, True, True]
    assert "3 agents" not in repo.lock("doctor", agent=None).out
    assert "2 agents are at work" in repo.lock("doctor", agent=None).out


def test_a_worktree_that_can_t_be_looked_at_is_unknown_and_the_others_are_not(repo: Repo) -> None:
    alice = house(repo, "alice")
    (alice.path / ".git").write_text("gitdir: /nowhere\n")
    alice.path.joinpath("README.md").write_text("edited\n")
    found = {one["agent"]: one for one in rows(repo)}
    assert found["alice"]["dirty"] is None and found["alice"]["unknown"]
    assert found[None]["dirty"] == 0
    assert "1 of 2 worktrees could not be looked at" in repo.lock("agents").ok().err


def test_without_the_store_it_still_says_what_git_knows(repo: Repo) -> None:
    repo.lock("claim", "x").ok()
    (repo.store / "state.json").write_text("{")
    answer = repo.json("agents")
    assert answer["code"] == 0 and not answer["data"]["complete"]
    assert answer["data"]["agents"][0]["dirty"] == 0


def test_rows_fit_eighty_columns(repo: Repo) -> None:
    for agent in ("a-very-long-name-of-an-agent/and-its-child", "b" * 60):
        repo.lock("claim", f"{agent[:9]}/**", agent=agent).ok()
        repo.lock("state", "waiting", agent=agent).ok()
    repo.git("switch", "-q", "-c", "feature/with-a-rather-long-name-that-goes-on-and-on")
    table = [line for line in repo.lock("agents").ok().out.splitlines() if not line.startswith("  ")]
    assert len(table) == 3 and max(map(len, table)) <= 80


# -- the attention queue


def test_who_waits_longest_for_a_person_comes_first(repo: Repo) -> None:
    for number, agent in enumerate(("young", "old")):
        book(repo).write(
            a_session(id=agent, agent=agent, state=WAITING, since=2e9 - 100 * number, started=1e9, active=2e9)
        )
    book(repo).write(a_session(id="busy", agent="busy", active=2e9))
    assert [one["agent"] for one in rows(repo, "--waiting")] == ["old", "young"]
    assert repo.lock("agents", "--waiting", "--count").ok().out == "2\n"


def test_the_question_and_who_stands_behind_it_are_shown(repo: Repo) -> None:
    repo.lock("claim", "x").ok()
    repo.lock("state", "waiting", "-m", "which database?").ok()
    repo.lock("claim", "x", "--ticket", agent="bob").ended(21)
    said = repo.lock("agents", "--waiting").ok().out
    assert '"which database?"' in said and "keeps bob waiting for 'x'" in said


def test_an_empty_queue_is_a_number_too(repo: Repo) -> None:
    assert repo.lock("agents", "--waiting", "--count").ok().out == "0\n"
    repo.lock("agents", "--count").ended(2)


def test_gc_forgets_sessions_that_are_over(repo: Repo) -> None:
    repo.lock("claim", "x").ok()
    book(repo).write(a_session(id="old", active=1.0))
    repo.lock("gc").ok()
    assert list((repo.store / "sessions").iterdir()) == []


# -- scratch


def test_scratch_is_a_folder_outside_of_every_worktree(repo: Repo) -> None:
    there = repo.worktree("there")
    folders = [Path(one.lock("scratch").ok().out.removesuffix("\n")) for one in (repo, there)]
    assert folders[0] == folders[1] == repo.store / "agents" / "alice" / "scratch" and folders[0].is_dir()
    assert_fits("scratch", repo.json("scratch"))


def test_scratch_stays_in_this_clone_where_the_leases_are_elsewhere(repo: Repo, tmp_path: Path) -> None:
    env = {"GITLOCK_STORE": f"files:{tmp_path / 'shared'}"}
    assert repo.lock("scratch", env=env).ok().out.startswith(str(repo.store))
