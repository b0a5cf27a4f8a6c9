"""The simulation makes the system calls of the real store, in their order."""

import sys
from pathlib import Path

import pytest

from tests.faults.injecting import can_trace, traced
from tests.faults.scenarios import SCENARIOS, beside_others
from tests.kit.repo import Repo
from tests.sim.protocol import STEPS

STORE = ".git/agentlocks"
MEANS = {
    ("flock", f"{STORE}/guard"): "lock guard",
    ("read", f"{STORE}.mark"): "read mark",
    ("read", f"{STORE}/state.json"): "read state",
    ("write", f"{STORE}/state.json.tmp"): "write tmp",
    ("fsync", f"{STORE}/state.json.tmp"): "sync tmp",
    ("rename", f"{STORE}/state.json.tmp"): "rename",
    ("fsync", STORE): "sync folder",
    ("write", f"{STORE}.mark"): "write mark",
    ("close", f"{STORE}/guard"): "unlock",
}


@pytest.mark.skipif(not can_trace(), reason="strace can't trace here")
@pytest.mark.parametrize("name", ["claim", "release", "renew"])
def test_the_real_store_takes_the_steps_that_are_simulated(tmp_path: Path, name: str) -> None:
    scenario = next(one for one in SCENARIOS if one.name == name)
    repo = Repo.new(tmp_path, {"src/own.py": "1\n"})
    beside_others(repo)
    calls = traced(scenario.argv, repo.path, scenario.env, tmp_path / "log")
    steps = [MEANS[call.name, call.path] for call in calls if (call.name, call.path) in MEANS]
    once = [step for number, step in enumerate(steps) if steps[number - 1 : number] != [step]]
    assert tuple(once) == STEPS, sys.argv
