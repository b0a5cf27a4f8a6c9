"""Real processes on one store: exactly one wins, a reader sees one revision, and no death leaves a mess."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import covers
from gitlock.domain.snapshot import Edits
from gitlock.errors import StoreBusy
from gitlock.stores.files.store import FileStore
from tests.kit.clock import ManualClock
from tests.kit.processes import Running, start, until
from tests.kit.program import ROOT, child_environment, is_soak
from tests.stress.racers import WISHES

PROGRAM = str(Path(__file__).with_name("racers.py"))


def racing(*words: object) -> Running:
    """The racers' program at work."""
    environment = child_environment({"PYTHONPATH": str(ROOT)})
    return start([sys.executable, PROGRAM, *map(str, words)], env=environment, stdin=subprocess.PIPE)


def raced(*words: object) -> dict[str, Any]:
    """What the racers found out: their summary, and not one complaint."""
    with racing(*words) as running:
        result = running.wait(timeout=600.0).ok()
    *complaints, summary = result.lines
    assert not complaints, "\n".join(complaints[:20])
    found = json.loads(summary)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "agentlocks"


linux_only = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system does not say who waits for a lock")


def test_the_racers_want_32_different_things_that_all_meet() -> None:
    assert len(set(WISHES)) == 32 and all(covers(Footprint.of(*wish), "src/auth/login.py") for wish in WISHES)


@pytest.mark.timeout(600)
def test_of_32_who_want_the_same_exactly_one_gets_it_each_time(folder: Path) -> None:
    rounds = 20_000 if is_soak() else 200
    assert raced("race", folder, rounds) == {"rounds": rounds, "counted": rounds, "left": 0}


@pytest.mark.timeout(600)
def test_those_who_come_and_go_never_hold_what_meets(folder: Path) -> None:
    assert raced("churn", folder, 5000 if is_soak() else 40) == {"codes": [0] * 8, "left": 0}


@pytest.mark.timeout(600)
def test_a_reader_among_writers_sees_one_revision_that_existed(folder: Path) -> None:
    writes = 20_000 if is_soak() else 150
    assert raced("mix", folder, writes) == {"codes": [0, 0, 0, 0], "revision": 11 + 2 * writes}


@pytest.mark.timeout(600)
def test_a_writer_killed_at_any_moment_leaves_a_store_that_works(folder: Path) -> None:
    kills = 5000 if is_soak() else 60
    known = {"README", "guard", "history.spool", "state.json", "state.json.tmp"}
    found = raced("killed", folder, kills)
    assert found["kills"] == kills and set(found["files"]) <= known


# -- the guard


def begun(folder: Path) -> FileStore:
    """A store that was written to once."""
    store = FileStore(str(folder), ManualClock(), guard_timeout=0.2)
    store.update(lambda _: (Edits(counter=1), None))
    return store


def waits_for(process: Running, path: Path) -> bool:
    """Whether the process stands in the kernel's queue for a lock on this very file."""
    inode = path.stat().st_ino
    rows = [row.split() for row in Path("/proc/locks").read_text().splitlines()]
    return any(row[1] == "->" and row[5] == str(process.pid) and row[6].endswith(f":{inode}") for row in rows)



@linux_only
def test_a_stopped_holder_is_named_with_what_helps(folder: Path) -> None:
    store = begun(folder)
    with racing("hold", folder / "guard").says("held") as holder:
        holder.signal(signal.SIGSTOP)
        until(lambda: " T " in Path(f"/proc/{holder.pid}/stat").read_text(), "it stops")
        with pytest.raises(StoreBusy) as busy:
            store.update(lambda _: (Edits(counter=2), None))
    assert f"process {holder.pid}" in busy.value.message and "stopped" in busy.value.message
    assert busy.value.hint == f"kill -CONT {holder.pid}"


def test_a_store_that_is_locked_can_be_read(folder: Path) -> None:
    store = begun(folder)
    with racing("hold", folder / "guard").says("held") as holder:
        holder.signal(signal.SIGSTOP)
        assert store.read().counter == 1


@linux_only
def test_what_helps_against_a_stopped_holder_helps(folder: Path) -> None:
    begun(folder)
    with racing("hold", folder / "guard").says("held") as holder:
        holder.signal(signal.SIGSTOP)
        with racing("update", folder) as writer:
            until(lambda: waits_for(writer, folder / "guard"), "it waits")
            holder.signal(signal.SIGCONT)
            assert holder.process.stdin is not None
            holder.process.stdin.close()
            writer.says("written")


@linux_only
def test_a_killed_holder_frees_the_guard(folder: Path) -> None:
    begun(folder)
    with racing("hold", folder / "guard").says("held") as holder, racing("update", folder) as writer:
        until(lambda: waits_for(writer, folder / "guard"), "it waits")
        holder.kill()
        writer.says("written")


@linux_only
@pytest.mark.parametrize("replaced", [True, False])
def test_a_guard_that_was_removed_under_a_waiter_lets_nobody_in_beside_another(folder: Path, replaced: bool) -> None:
    begun(folder)
    guard = folder / "guard"
    with racing("hold", guard).says("held") as first, racing("update", folder) as writer:
        until(lambda: waits_for(writer, guard), "it waits")
        if replaced:
            guard.with_name("new").touch()
            guard.with_name("new").rename(guard)
        else:
            guard.unlink()
        with racing("hold", guard).says("held") as second:
            first.kill()
            until(lambda: waits_for(writer, guard), "it waits for the new one")
            assert "written" not in writer.out
            second.kill()
            writer.says("written")


def test_a_waiting_writer_leaves_an_alarm_of_others_as_it_was(folder: Path) -> None:
    store = begun(folder)
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 3600.0)
        with racing("hold", folder / "guard").says("held"), pytest.raises(StoreBusy):
            store.update(lambda _: (Edits(counter=2), None))
        assert signal.setitimer(signal.ITIMER_REAL, 0)[0] > 0 and not rang
    finally:
        signal.signal(signal.SIGALRM, before)


def test_nothing_is_left_open(folder: Path) -> None:
    store = begun(folder)

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"))

    before = descriptors()
    for number in range(200):
        store.update(lambda _, number=number: (Edits(counter=number), None))  # type: ignore[misc]
        store.read()
    assert descriptors() == before
