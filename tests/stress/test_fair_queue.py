"""Two hundred who wait at once: served in order, past the killed, the stopped and those who left, and never two."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.queue import PASSES
from tests.kit.processes import Job, run_at_once, until
from tests.kit.program import ROOT, child_environment, is_soak, program
from tests.kit.repo import Repo

COUNT = 400 if is_soak() else 200
KINDS = ("same", "apart")


Found = dict[str, Any]


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Found]:
    """What became of a crowd: made once for all that is asked about it, by whichever worker of pytest comes first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    @functools.cache
    def made(kind: str) -> Found:
        result = shared / f"crowd-{kind}.json"
        try:
            (shared / f"crowd-{kind}").mkdir()
        except FileExistsError:
            until(result.exists, "the other worker's crowd", timeout=110)
        else:
            _make(kind, result)
        found: Found = json.loads(result.read_text())
        return found

    return made


def _make(kind: str, result: Path) -> None:
    folder = tempfile.mkdtemp(prefix="git-lock-crowd-")
    argv = [sys.executable, str(Path(__file__).with_name("crowd.py")), folder, str(COUNT), kind, "7"]
    env = {**child_environment(), "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=110, check=False, env=env)
        said = done.stdout if done.returncode == 0 else json.dumps({"events": [["FAILED", done.stdout, done.stderr]]})
        result.with_suffix(".new").write_text(said)
        result.with_suffix(".new").rename(result)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def order(found: Found) -> list[int]:
    return [event[1] for event in found["events"] if event[0] == "got"]


def overlap(one: list[str], other: list[str]) -> bool:
    return "src" in one or "src" in other or bool(set(one) & set(other))


def is_narrower(one: list[str], other: list[str]) -> bool:
    return one != other and ("src" in other or set(one) < set(other))


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_ever_holds_what_another_does(crowd: Callable[[str], Found], kind: str) -> None:
    found = crowd(kind)
    assert [event for event in found["events"] if event[0] in ("CLASH", "FAILED")] == []


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_is_served_who_stayed(crowd: Callable[[str], Found], kind: str) -> None:
    found = crowd(kind)
    gone = {*found["killed"], *found["left"]}
    assert sorted(order(found)) == [number for number in range(1, COUNT + 1) if number not in gone]


@pytest.mark.parametrize("kind", KINDS)
def test_fences_grow_in_the_order_of_grants(crowd: Callable[[str], Found], kind: str) -> None:
    fences = [event[2] for event in crowd(kind)["events"] if event[0] == "got"]
    assert len(set(fences)) == len(fences)
    if kind == "same":
        assert fences == sorted(fences)


def test_for_the_same_claim_the_order_is_that_in_which_they_came(crowd: Callable[[str], Found]) -> None:
    found = crowd("same")
    served = order(found)
    stopped = set(found["stopped"])
    steady = [number for number in served if number not in stopped]
    assert steady == sorted(steady)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stopped_come_after_all_that_did_not_stop(crowd: Callable[[str], Found], kind: str) -> None:
    found = crowd(kind)
    at = found["events"].index(["resumed"])
    late = {event[1] for event in found["events"][at:] if event[0] == "got"}
    assert late == set(found["stopped"])


def test_of_overlapping_claims_only_narrower_ones_pass_and_no_more_often_than_they_may(
    crowd: Callable[[str], Found],
) -> None:
    found = crowd("apart")
    stopped = set(found["stopped"])
    wants = {int(number): want for number, want in found["wants"].items()}
    served = [number for number in order(found) if number not in stopped]
    passes: Counter[int] = Counter()
    for place, number in enumerate(served):
        for later in served[place + 1 :]:
            if later < number and overlap(wants[later], wants[number]):
                assert is_narrower(wants[number], wants[later]), f"{number} passed {later}: {wants}"
                passes[later] += 1
    assert passes and all(count <= PASSES for count in passes.values()), passes


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_behind(crowd: Callable[[str], Found], kind: str) -> None:
    found = crowd(kind)
    assert (found["waiters"], found["leases"], found["pipes"]) == (0, 0, 0)


def test_twenty_four_whole_commands_are_served_one_at_a_time(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    count = tmp_path / "count"
    count.write_text("0")
    script = f"read n <{count}; echo $((n + 1)) >{count}"
    argv = [str(program()), "run", "count:1", "--", "sh", "-c", script]
    jobs = [Job(argv, repo.path, child_environment(agent=f"agent{number}")) for number in range(24)]
    for result in run_at_once(jobs):
        result.ok()
    assert count.read_text() == "24\n"
