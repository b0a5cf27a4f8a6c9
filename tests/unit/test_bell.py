"""Bells: a waiter's own pipe. Whoever frees something rings it; one without a reader tells that its waiter is gone."""

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from gitlock.domain.instant import Instant
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import Edits
from gitlock.stores.files.bell import PipeBell, last_word, listens, ring_pipes, sweep_pipes
from gitlock.stores.files.store import FileStore
from gitlock.wiring.liveness import Here
from tests.kit.agents import HERE, a_claim
from tests.kit.clock import ManualClock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "waiting"


def a_bell(folder: Path, name: str = "t1") -> PipeBell:
    return PipeBell(str(folder), name, 0o700, 0o600, str(folder / "state"))


def test_who_is_rung_wakes(folder: Path) -> None:
    bell = a_bell(folder)
    ringer = threading.Timer(0.05, ring_pipes, (str(folder), ["t1"]))
    ringer.start()
    assert bell.wait(60)
    ringer.join()
    bell.close()


def test_a_ring_before_the_sleep_is_not_lost_and_several_are_one(folder: Path) -> None:
    bell = a_bell(folder)
    ring_pipes(str(folder), ["t1"] * 3)
    assert [bell.wait(0), bell.wait(0)] == [True, False]
    bell.close()


def test_a_pipe_that_is_full_of_rings_stops_nobody(folder: Path) -> None:
    bell = a_bell(folder)
    ring_pipes(str(folder), ["t1"] * 70_000)
    assert bell.wait(0)
    bell.close()


def test_nobody_rings_and_the_time_passes(folder: Path) -> None:
    bell = a_bell(folder)
    assert not bell.wait(0.01)
    bell.close()


def test_another_descriptor_wakes_without_being_a_ring(folder: Path) -> None:
    bell = a_bell(folder)
    read_end, write_end = os.pipe()
    os.write(write_end, b"x")
    assert not bell.wait(60, [read_end])
    bell.close()
    os.close(read_end)
    os.close(write_end)


def test_one_may_ring_ones_own(folder: Path) -> None:
    bell = a_bell(folder)
    bell.ring()
    assert bell.wait(60)
    bell.close()


def test_a_pipe_is_private_and_taken_away(folder: Path) -> None:
    bell = a_bell(folder)
    found = (folder / "t1").lstat().st_mode
    assert (stat.S_ISFIFO(found), found & 0o777, folder.stat().st_mode & 0o777) == (True, 0o600, 0o700)
    bell.close()
    assert list(folder.iterdir()) == []


def test_where_no_pipe_can_be_made_the_state_is_watched(folder: Path) -> None:
    folder.write_text("a file is in the way")
    state = folder.parent / "state"
    bell = PipeBell(str(folder), "t1", 0o700, 0o600, str(state))
    assert bell.fileno() == -1 and not bell.wait(0.01)
    writer = threading.Timer(0.05, state.write_text, ("new",))
    writer.start()
    assert bell.wait(60)
    writer.join()
    bell.ring()
    assert bell.wait(60)
    bell.close()


@pytest.fixture
def dead(folder: Path) -> Path:
    """The pipe of one that was killed."""
    folder.mkdir()
    os.mkfifo(folder / "t1")
    return folder / "t1"


def test_the_pipe_of_one_that_died_is_swept_by_who_rings(folder: Path, dead: Path) -> None:
    ring_pipes(str(folder), ["t1"])
    assert not dead.exists()


def test_sweeping_spares_the_living(folder: Path, dead: Path) -> None:
    bell = a_bell(folder, "t2")
    assert sweep_pipes(str(folder)) == 1
    assert [path.name for path in folder.iterdir()] == ["t2"] and not dead.exists()
    bell.close()


@pytest.mark.parametrize("name", ["../outside", ".", "", "a/b", "t1\n"])
def test_no_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    bell = a_bell(folder, "t2")
    os.mkfifo(folder.parent / "outside")
    ring_pipes(str(folder), [name])
    sweep_pipes(str(folder), [name])
    assert (folder.parent / "outside").exists() and listens(str(folder), name) is None
    bell.close()


def test_what_is_no_pipe_is_neither_written_nor_removed(folder: Path) -> None:
    folder.mkdir()
    (folder / "file").write_text("mine")
    (folder / "link").symlink_to(folder / "file")
    (folder / "folder").mkdir()
    names = ["file", "link", "folder", "nothing"]
    ring_pipes(str(folder), names)
    assert sweep_pipes(str(folder)) == 0
    assert (folder / "file").read_text() == "mine" and len(list(folder.iterdir())) == 3
    assert [listens(str(folder), name) for name in names] == [None, None, None, False]


def test_a_pipe_says_whether_somebody_reads_it(folder: Path, dead: Path) -> None:
    bell = a_bell(folder, "t2")
    assert (listens(str(folder), "t1"), listens(str(folder), "t2")) == (False, True)
    assert not bell.wait(0), "being asked is no ring"
    bell.close()
    assert listens(str(folder), "t2") is False


def test_a_word_is_dated(folder: Path) -> None:
    bell = a_bell(folder)
    os.utime(folder / "t1", (1000, 1000))
    assert last_word(str(folder), "t1") == 1000
    bell.give_word()
    assert last_word(str(folder), "t1") > 1000
    bell.close()
    assert last_word(str(folder), "t1") == 0


# -- does a waiter still wait? as those see it who share its machine, its container, or only the disk


def waiter_of(here: Here, pid: int) -> Waiter:
    process = here.holder(pid=pid, worktree=None, branch=None, session=None, clone=None)
    claim = a_claim("a")
    return Waiter(
        id="t1", order=1, agent="bob", kind="agent", mode="exclusive", keys=claim.keys, include=("a",), exclude=(),
        reason="", ttl=60.0, since=0.0, seen=Instant(0.0, 0.0, ""), holder=HERE, process=process,
    )  # fmt: skip


def elsewhere(boot: str, /, **changes: str) -> Here:
    """The machine as seen from another container (``pid_space``), or another one (``boot``, ``host``)."""
    here = Here(boot)
    for name, value in changes.items():
        setattr(here, name, value)
    return here


BOOT = "6f2c1b1e"


def test_from_its_own_machine_the_process_is_looked_at(folder: Path) -> None:
    here = Here(BOOT)
    waiter = waiter_of(here, os.getpid())
    assert here.process_waits(waiter, str(folder))
    assert waiter.process is not None
    recycled = waiter.replace(process=waiter.process.replace(started=1))
    assert not here.process_waits(recycled, str(folder))


def test_from_another_container_its_pipe_is(folder: Path) -> None:
    waiter = waiter_of(Here(BOOT), os.getpid())
    there = elsewhere(BOOT, pid_space="pid:[1]", host="box")
    bell = a_bell(folder)
    assert there.process_waits(waiter, str(folder))
    bell.close()
    assert not there.process_waits(waiter, str(folder))


def test_from_another_machine_its_word_counts_for_a_minute(folder: Path) -> None:
    waiter = waiter_of(Here(BOOT), os.getpid())
    there = elsewhere("another", boot="machine:another", host="mill")
    bell = a_bell(folder)
    assert there.process_waits(waiter, str(folder))
    old = time.time() - 61
    os.utime(folder / "t1", (old, old))
    assert not there.process_waits(waiter, str(folder))
    bell.close()


def test_after_the_machine_was_started_anew_nobody_of_before_waits(folder: Path) -> None:
    waiter = waiter_of(elsewhere(BOOT, boot="machine:" + BOOT), os.getpid())
    there = elsewhere("later", boot="machine:later")
    bell = a_bell(folder)
    assert not there.process_waits(waiter, str(folder))
    bell.close()


def test_a_store_sweeps_the_pipe_of_one_that_lost_its_place(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "agentlocks"), ManualClock())
    waiter = waiter_of(Here(BOOT), os.getpid())
    store.update(lambda _: (Edits(queue=(waiter,), order=1), None))
    (tmp_path / "agentlocks" / "waiting").mkdir()
    os.mkfifo(tmp_path / "agentlocks" / "waiting" / "t1")
    store.update(lambda _: (Edits(leave=("t1",)), None))
    assert list((tmp_path / "agentlocks" / "waiting").iterdir()) == []
