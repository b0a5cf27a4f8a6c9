"""Who can be proved dead: never somebody who is alive, whatever hides them; and other users, and a guard that is held
by somebody who was stopped."""

import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.places import LAUNCH, as_user, can_unshare, plain_python, run
from tests.kit.processes import Running, start, until
from tests.kit.repo import Repo
from tests.kit.result import Result

REFUSED, UNCHECKED = 10, 20
PROCESSES = ("--pid", "--fork", "--mount-proc")

needs_pid_space = pytest.mark.skipif(not can_unshare(*PROCESSES), reason="can't make PID namespaces here")
needs_time_space = pytest.mark.skipif(
    not can_unshare("--time", "--boottime", "1000", "--fork"), reason="can't make time namespaces here"
)
needs_users = pytest.mark.skipif(
    os.geteuid() != 0 or plain_python() is None, reason="no interpreter that another user may run"
)


@pytest.fixture
def holder() -> Iterator[Running]:
    """A process that lives for as long as the test."""
    with start(["sleep", "600"]) as running:
        yield running


@pytest.fixture
def held(repo: Repo, holder: Running) -> Repo:
    """Alice holds ``a`` through a process that is alive."""
    repo.lock("claim", "a", "--pid", str(holder.pid), agent="alice").ok()
    return repo


def elsewhere(repo: Repo, script: str, *flags: str, agent: str = "bob") -> Result:
    """Runs lines of sh in namespaces of their own."""
    return repo.run("unshare", *flags, "sh", "-ec", script, agent=agent)


def liveness(repo: Repo) -> str:
    """What is known about the holder of ``a``."""
    (lease,) = repo.json("list", agent="bob")["data"]["leases"]
    return str(lease["liveness"])


# Hidden, and alive.

BOOT = "/proc/sys/kernel/random/boot_id"
BIND = "echo {0} >../other\nmount --bind ../other {1}"
HIDING = {
    "another PID namespace": (PROCESSES, ""),
    "another PID namespace, with our /proc": (("--pid", "--fork"), ""),
    "another host name": (("--uts",), "hostname elsewhere"),
    "a /proc that is not there": (("--mount",), "mount -t tmpfs none /proc"),
    "a /proc that shows no others": (("--mount",), "mount -t proc -o hidepid=2 none /proc"),
    "another boot id": (("--mount",), BIND.format("00000000-0000-4000-8000-000000000000", BOOT)),
    "another machine id": (("--mount",), BIND.format("0123456789abcdef0123456789abcdef", "/etc/machine-id")),
    "a time namespace": (("--time", "--boottime", "100000", "--fork"), ""),
    "a time namespace with another monotonic clock": (("--time", "--monotonic", "100000", "--fork"), ""),
}  # fmt: skip


@pytest.mark.parametrize("how", HIDING)
def test_a_holder_that_is_alive_and_hidden_keeps_its_lease(held: Repo, how: str) -> None:
    flags, script = HIDING[how]
    if not can_unshare(*flags):
        pytest.skip(f"can't make {how} here")
    elsewhere(held, f"{script}\nexec git-lock claim a", *flags).ended(REFUSED)


@needs_pid_space
def test_a_claim_from_another_pid_namespace_is_not_judged_by_its_number_here(repo: Repo) -> None:
    # Inside it is a number that is nobody's here, or somebody else's.
    elsewhere(repo, "sleep 600 & git-lock claim a --pid $!", *PROCESSES, agent="alice").ok()
    assert liveness(repo) == "unknown"
    repo.lock("claim", "a", agent="bob").ended(REFUSED)


@needs_time_space
def test_a_claim_from_a_time_namespace_knows_its_process_here(repo: Repo, holder: Running) -> None:
    flags = ("--time", "--boottime", "100000", "--fork")
    elsewhere(repo, f"git-lock claim a --pid {holder.pid}", *flags, agent="alice").ok()
    assert liveness(repo) == "alive"
    repo.lock("claim", "a", agent="bob").ended(REFUSED)


def test_a_holder_that_is_stopped_keeps_its_lease(held: Repo, holder: Running) -> None:
    holder.signal(signal.SIGSTOP)
    assert liveness(held) == "alive"
    held.lock("claim", "a", agent="bob").ended(REFUSED)


# Provably gone.


def test_a_holder_that_is_gone_loses_its_lease_at_once(held: Repo, holder: Running) -> None:
    holder.kill()
    held.lock("claim", "a", agent="bob").ok()


def test_a_zombie_is_gone(repo: Repo) -> None:
    code = (
        "import os, signal, sys\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    sys.stdin.read()\n"
        "    os._exit(0)\n"
        "print(pid, flush=True)\n"
        "signal.pause()\n"
    )
    reading, writing = os.pipe()
    with start([sys.executable, "-c", code], stdin=reading) as parent:
        os.close(reading)
        until(lambda: parent.out.strip() != "", "the child's number")
        child = int(parent.out)
        repo.lock("claim", "a", "--pid", str(child), agent="alice").ok()
        os.close(writing)
        until(lambda: ") Z " in Path(f"/proc/{child}/stat").read_text(), "the zombie")
        repo.lock("claim", "a", agent="bob").ok()


@needs_pid_space
def test_a_process_that_got_the_number_of_a_dead_holder_is_not_taken_for_it(repo: Repo) -> None:
    # In a namespace of its own nobody else takes a number between two lines.
    script = """
        sleep 600 & old=$!
        GITLOCK_AGENT=alice git-lock claim a --pid $old
        kill -9 $old
        wait $old || true
        echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
        sleep 600 & new=$!
        [ $new = $old ] || { echo "got $new, not $old"; exit 3; }
        git-lock claim a
    """
    elsewhere(repo, script, *PROCESSES).ok()


# Users.

# Git itself refuses another user's repository unless that user says otherwise.
TRUSTING = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
GROUP = 5000


def as_other(repo: Repo, uid: int, *words: str, umask: str = "077") -> Result:
    """Another user's git-lock, of the same group."""
    python = plain_python()
    assert python is not None
    env = {"HOME": "/nowhere", "XDG_CONFIG_HOME": "/nowhere", "GIT_CONFIG_GLOBAL": "/dev/null", **TRUSTING}
    command = [python, "-I", "-S", "-c", LAUNCH, *words]
    return repo.run(*as_user(uid, GROUP, umask=umask), *command, agent=f"user-{uid}", env=env)


def owned_by(tmp_path: Path, uid: int, *options: str) -> Repo:
    """A repository of this user's, which others can get to."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    repo = Repo.new(tmp_path, {"a": "1\n"}, options=options)
    run("chown", "-R", f"{uid}:{GROUP}", str(repo.path))
    return repo


@needs_users
def test_users_of_a_shared_repository_exclude_each_other_whatever_their_umask(tmp_path: Path) -> None:
    repo = owned_by(tmp_path, 5001, "--shared=group")
    as_other(repo, 5001, "claim", "a").ok()
    as_other(repo, 5002, "claim", "a").ended(REFUSED)
    as_other(repo, 5002, "claim", "b").ok()
    as_other(repo, 5001, "claim", "b").ended(REFUSED)
    as_other(repo, 5001, "release", "a").ok()
    as_other(repo, 5002, "claim", "a").ok()


@needs_users
def test_what_one_user_of_a_shared_repository_makes_the_others_may_write(tmp_path: Path) -> None:
    repo = owned_by(tmp_path, 5001, "--shared=group")
    repo.write(".gitlock.toml", 'version = 1\n[policy]\nmode = "warn"\n')
    as_other(repo, 5001, "claim", "a").ok()
    as_other(repo, 5002, "request", "a", "-m", "one line").ok()
    as_other(repo, 5001, "claim", "c", "--ticket")
    as_other(repo, 5001, "history", "--json").ok()
    as_other(repo, 5001, "hook", "pre-commit").ok()
    store = repo.path / ".git/agentlocks"
    closed = [file.name for file in [store, *store.rglob("*")] if file.stat().st_mode & 0o060 != 0o060]
    assert closed == []


@needs_users
def test_a_repository_that_is_not_shared_is_not_another_users(tmp_path: Path) -> None:
    repo = owned_by(tmp_path, 5001)
    as_other(repo, 5001, "claim", "a", umask="000").ok()
    answer = as_other(repo, 5002, "claim", "b").ended(UNCHECKED)
    assert "core.sharedRepository" in answer.err or "Permission denied" in answer.err
    assert (repo.path / ".git/agentlocks").stat().st_mode & 0o077 == 0


@needs_users
def test_what_root_claims_stays_the_owners(tmp_path: Path) -> None:
    repo = owned_by(tmp_path, 5001)
    repo.lock("claim", "a", agent="alice", env=TRUSTING).ok()
    as_other(repo, 5001, "claim", "b").ok()
    as_other(repo, 5001, "claim", "a").ended(REFUSED)


# The guard.


@pytest.fixture
def in_the_way(repo: Repo) -> Iterator[Running]:
    """A process that was stopped while it held the guard."""
    repo.install()
    repo.lock("claim", "a", agent="alice").ok()
    code = (
        "import fcntl, os, signal, sys\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX)\n"
        "print('mine', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"
    )
    with start([sys.executable, "-c", code, str(repo.store / "guard")]) as running:
        running.says("mine")
        until(lambda: ") T " in Path(f"/proc/{running.pid}/stat").read_text(), "the stop")
        yield running


def test_a_guard_that_is_held_by_a_stopped_process_is_named_and_the_wait_is_bounded(
    repo: Repo, in_the_way: Running
) -> None:
    answer = repo.lock("claim", "b", agent="bob").ended(UNCHECKED)
    assert f"process {in_the_way.pid}" in answer.err
    assert "stopped" in answer.err
    assert f"kill -CONT {in_the_way.pid}" in answer.err


def test_a_guard_that_is_held_keeps_no_reader_and_no_commit_waiting(repo: Repo, in_the_way: Running) -> None:
    assert [lease["agent"] for lease in repo.json("list", agent="bob")["data"]["leases"]] == ["alice"]
    repo.commit("goes on", {"a": "2\n"}, agent="alice").ok()
    repo.commit("is stopped", {"a": "3\n"}, agent="bob", check=False).ended(1)


def test_a_guard_is_free_again_once_its_holder_goes_on(repo: Repo, in_the_way: Running) -> None:
    with repo.start("claim", "b", agent="bob") as waiting:
        in_the_way.signal(signal.SIGCONT)
        waiting.wait().ok()
