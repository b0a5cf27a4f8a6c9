"""A removal that is killed at any step is taken back or finished, by the next one or by the doctor; many at once."""

import os
from pathlib import Path

import pytest

from tests.kit.processes import Job, run_at_once, start, until
from tests.kit.program import child_environment, is_soak, program
from tests.kit.repo import Repo
from tests.kit.retiring import book_of, house, meddling, record_of

# What git is asked for at each step, the how-many-eth time, and whether the worktree has to be there afterwards.
STEPS = {
    "while looking": ("--ignored --exclude-standard", 1, True),
    "before it is moved aside": ("--ignored=traditional", 1, True),
    "when it was moved aside": ("--ignored=traditional", 2, True),
    "before git's entry goes": (" worktree remove ", 1, True),
    "before its branch goes": (" update-ref -d ", 1, False),
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"a.py": "1\n"})


def killed(repo: Repo, step: str) -> None:
    """A removal that dies at this step."""
    when, times, _ = STEPS[step]
    env = meddling(repo.path.parent / "bin", when, "kill -9 $PPID; exit 1", times=times)
    assert repo.lock("retire", "a", env=env).code == -9


@pytest.mark.parametrize("step", STEPS)
def test_the_next_one_finishes_what_was_killed(repo: Repo, step: str) -> None:
    tree = house(repo)
    killed(repo, step)
    repo.lock("retire", "a").ok()
    assert not tree.path.exists() and record_of(repo) is None
    assert "agent/a" not in repo.git("worktree", "list").out + repo.git("branch", "--list").out
    assert not list((repo.store / "trash").glob("*"))


@pytest.mark.parametrize("step", STEPS)
def test_the_doctor_mends_what_was_killed(repo: Repo, step: str) -> None:
    tree = house(repo)
    killed(repo, step)
    repo.lock("doctor", "--fix")
    record = record_of(repo)
    if STEPS[step][2]:
        assert tree.read("a.py") == "1\n" and record is not None and record.state == "ready"
        assert tree.git("status", "--porcelain").out == ""
    else:
        assert not tree.path.exists() and record is None


def test_the_doctor_only_tells_of_it_unless_asked_to_mend(repo: Repo) -> None:
    house(repo)
    killed(repo, "when it was moved aside")
    findings = repo.json("doctor")["data"]["findings"]
    (found,) = [one for one in findings if "was broken off" in one["what"]]
    record = record_of(repo)
    assert record is not None
    assert (found["state"], found["next"]) == ("bad", f"git lock retire {record.id}")


def test_what_somebody_put_at_its_place_meanwhile_is_not_written_over(repo: Repo) -> None:
    tree = house(repo)
    killed(repo, "when it was moved aside")
    tree.path.mkdir()
    tree.write("mine.py", "m\n")
    answer = repo.json("retire", "a")
    assert (answer["code"], answer["error"]["id"]) == (17, "in-the-way")
    assert tree.read("mine.py") == "m\n"


def test_a_removal_that_is_still_at_work_is_left_alone(repo: Repo, tmp_path: Path) -> None:
    house(repo)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    env = meddling(tmp_path / "bin", " update-ref -d ", f"echo here >&2; read _ <{pipe}")
    with repo.start("retire", "a", env=env) as first:
        until_at(repo, "retiring")
        answer = repo.json("retire", "a")
        assert (answer["code"], answer["error"]["id"]) == (17, "being-removed")
        pipe.write_text("go on\n")
        first.wait().ok()
    assert record_of(repo) is None


def until_at(repo: Repo, state: str) -> None:
    """Waits until the record says so."""
    until(lambda: (record := record_of(repo)) is not None and record.state == state, f"a record that is {state}")


def test_read_only_folders_are_deleted_as_well(repo: Repo) -> None:
    tree = house(repo)
    tree.write(".gitignore", "target/\n")
    tree.write("target/mod/file", "x\n")
    (tree.path / "target/mod").chmod(0o555)
    repo.lock("retire", "a", "--force").ok()
    assert not tree.path.exists() and not list((repo.store / "trash").glob("*"))


def test_links_are_removed_and_never_followed(repo: Repo, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x\n")
    tree = house(repo)
    (tree.path / "link").symlink_to(precious)
    repo.lock("retire", "a", "--force").ok()
    assert (precious / "file").read_text() == "x\n"


def test_many_at_once_all_succeed_while_others_spawn_and_look(repo: Repo) -> None:
    retired, spawned = (20, 10) if is_soak() else (6, 3)
    for number in range(retired):
        house(repo, f"old{number}")
    words = [["retire", f"old{number}"] for number in range(retired)]
    words += [["spawn", f"new{number}"] for number in range(spawned)]
    look = "while :; do git lock agents --json >/dev/null || exit 1; done"
    with start(["/bin/sh", "-c", look], cwd=repo.path, env=child_environment()) as looking:
        jobs = [Job([str(program()), *row], repo.path, child_environment(agent="boss")) for row in words]
        results = run_at_once(jobs)
        assert looking.is_alive, looking.result()
    assert [result.code for result in results] == [0] * len(jobs), [r for r in results if r.code]
    assert sorted(one.agent for one in book_of(repo).all()) == [f"new{number}" for number in range(spawned)]


def test_what_died_while_git_was_deleting_its_entry_is_finished(repo: Repo) -> None:
    tree = house(repo)
    admin = tree.git("rev-parse", "--absolute-git-dir").out.strip()
    act = f"rm {admin}/HEAD; kill -9 $PPID; exit 1"
    env = meddling(repo.path.parent / "bin", " worktree remove ", act)
    assert repo.lock("retire", "a", env=env).code == -9
    repo.lock("retire", "a").ok()
    assert not os.path.exists(admin) and record_of(repo) is None
