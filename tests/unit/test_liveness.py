"""Is a holder's process still there? Doubt is "unknown", and only proof is "dead". Asked of real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitlock.domain.lease import Holder, Lease
from gitlock.wiring.liveness import Here, start_time
from tests.kit.agents import a_lease
from tests.kit.processes import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no process table to read")


@pytest.fixture
def here() -> Here:
    """This machine, with a name that no other has."""
    found = Here("this-boot")
    found.boot = "machine:this-boot"
    return found


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def held_by(here: Here, pid: int | None, **changes: object) -> Lease:
    """A lease whose holder recorded this process, here and now."""
    holder = here.holder(pid=pid, worktree=None, branch=None, session=None, clone=None)
    return a_lease("a", holder=holder.replace(**changes))


def test_a_running_process_is_alive(here: Here, child: "subprocess.Popen[bytes]") -> None:
    assert here.liveness(held_by(here, child.pid)) == "alive"


def test_a_stopped_process_is_alive(here: Here, child: "subprocess.Popen[bytes]") -> None:
    lease = held_by(here, child.pid)
    child.send_signal(signal.SIGSTOP)
    assert here.liveness(lease) == "alive"


def test_a_process_that_ended_is_dead(here: Here, child: "subprocess.Popen[bytes]") -> None:
    lease = held_by(here, child.pid)
    child.kill()
    child.wait()
    assert here.liveness(lease) == "dead"


def test_a_zombie_is_dead_though_it_answers_signals(here: Here, child: "subprocess.Popen[bytes]") -> None:
    lease = held_by(here, child.pid)
    child.kill()
    until(lambda: start_time(child.pid) is None, "it is a zombie")
    os.kill(child.pid, 0)
    assert here.liveness(lease) == "dead"


def test_a_process_id_that_another_process_has_now_is_dead(here: Here, child: "subprocess.Popen[bytes]") -> None:
    lease = held_by(here, child.pid)
    assert lease.holder.started is not None
    reused = lease.replace(holder=lease.holder.replace(started=lease.holder.started - 1))
    assert here.liveness(reused) == "dead"


def test_without_a_start_time_a_process_id_proves_nothing(here: Here, child: "subprocess.Popen[bytes]") -> None:
    assert here.liveness(held_by(here, child.pid, started=None)) == "unknown"


def test_a_holder_that_recorded_no_process_is_unknown(here: Here) -> None:
    assert here.liveness(held_by(here, None)) == "unknown"


GONE = 2**22 - 1  # above every process id of this system as it is set up


DOUBTS: dict[str, dict[str, object]] = {
    "another host": {"host": "elsewhere"},
    "another host of the same boot": {"host": "elsewhere", "boot": "machine:this-boot"},
    "another process namespace": {"pid_space": "pid:[1]"},
    "an unknown process namespace": {"pid_space": None},
    "another machine of the same name": {"boot": "other:that-boot"},
    "another boot of a nameless machine": {"boot": ":that-boot"},
    "an unknown boot": {"boot": ""},
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_process_of_somewhere_else_is_never_called_dead(here: Here, doubt: str) -> None:
    assert here.liveness(held_by(here, GONE, started=1, **DOUBTS[doubt])) == "unknown"


def test_the_same_without_a_doubt_is_dead(here: Here) -> None:
    assert here.liveness(held_by(here, GONE, started=1)) == "dead"


def test_no_process_lives_on_when_the_machine_is_started_anew(here: Here) -> None:
    assert here.liveness(held_by(here, GONE, started=1, boot="machine:boot-before")) == "dead"


def test_a_process_that_is_there_was_not_ended_by_another_boot(here: Here, child: "subprocess.Popen[bytes]") -> None:
    assert here.liveness(held_by(here, child.pid, boot="machine:boot-before")) == "unknown"


def test_a_nameless_machine_cannot_tell_that_it_was_started_anew(here: Here) -> None:
    here.boot = ":this-boot"
    assert here.liveness(held_by(here, GONE, boot=":boot-before")) == "unknown"


def test_the_recorded_process_names_its_start(here: Here, child: "subprocess.Popen[bytes]") -> None:
    holder = held_by(here, child.pid).holder
    assert (holder.pid, holder.started, holder.boot) == (child.pid, start_time(child.pid), "machine:this-boot")


def test_a_holder_without_a_process_names_none(here: Here) -> None:
    holder: Holder = held_by(here, None).holder
    assert (holder.pid, holder.started, holder.pid_space) == (None, None, None)
