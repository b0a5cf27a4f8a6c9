"""Agents at work on one store in a simulated machine: commands are killed, stopped and cut off at any step, clocks
jump, programs die, the power goes, the store is deleted. An independent judge looks at every document.

A failure prints the steps that lead to it, cut down, and its tape. Put the tape into ``tapes/`` under the name of what
was wrong: it is played from then on.
"""

from pathlib import Path

import pytest

from tests.kit.program import is_soak
from tests.sim.mutants import MUTANTS
from tests.sim.running import Run, play, search, shrunk
from tests.sim.world import Tape

PARTS = 4
SEEDS = 20_000 if is_soak() else 100  # in each part
STEPS = 1000  # of each seed
MUTANT_SEEDS, MUTANT_STEPS = 200, 400

TRIED = (
    "is killed", "is stopped", "the power goes", "the wall clock", "the program of", "look", "Broken", "waited in vain",
    "released", "swept", "Granted", "Refused", "StillThere",
)  # fmt: skip
TAPES = sorted((Path(__file__).parent / "tapes").glob("*.txt"))

pytestmark = pytest.mark.timeout(7200 if is_soak() else 300)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_breaks_whatever_happens(part: int) -> None:
    for seed in range(part * SEEDS, (part + 1) * SEEDS):
        found = search(seed, STEPS)
        assert found is None, f"seed {seed}: {shrunk(found)}"


def test_a_short_run_is_two_hundred_thousand_steps() -> None:
    assert PARTS * SEEDS * STEPS >= 200_000


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_bug_is_found(name: str) -> None:
    assert any(search(seed, MUTANT_STEPS, MUTANTS[name]) for seed in range(MUTANT_SEEDS))


def test_what_is_found_is_cut_down_to_a_tape_that_shows_it_again() -> None:
    mutant = MUTANTS["shared_beside_exclusive"]
    found = next(one for seed in range(MUTANT_SEEDS) if (one := search(seed, MUTANT_STEPS, mutant)))
    short = shrunk(found, mutant)
    again = play(Tape(recorded=short.choices), short.steps, mutant)
    assert again is not None and str(again.what) == str(short.what)
    assert len(short.trace) < 60


def test_a_seed_gives_the_same_run_twice() -> None:
    runs = [Run(Tape(seed=11)) for _ in range(2)]
    for run in runs:
        for _ in range(500):
            run.step()
    assert runs[0].world.trace == runs[1].world.trace


def test_a_run_does_what_it_is_meant_to_try() -> None:
    """Nothing is proved by a simulation in which nothing happens."""
    said, grants = "", 0
    for seed in range(20):
        run = Run(Tape(seed))
        for _ in range(STEPS):
            run.step()
        said += "\n".join(run.world.trace)
        grants += run.checker.grants
    assert grants > 200
    assert [what for what in TRIED if what not in said] == []


@pytest.mark.parametrize("tape", TAPES, ids=lambda path: path.stem)
def test_what_was_found_once_stays_right(tape: Path) -> None:
    choices = [int(word) for word in tape.read_text().split()]
    found = play(Tape(recorded=choices), len(choices))
    assert found is None, str(found)
