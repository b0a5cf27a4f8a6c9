"""Holding a lease while a command runs: renewed every third of its TTL, given back when the command ends.

The command runs in a process group of its own, so that all of it can be stopped; where we have the terminal, the
group gets it, and job control (Ctrl-Z) works as in a shell. When the lease is lost the group is told to end, and is
killed ten seconds later: nobody goes on working under a lease that is somebody else's.
"""

import os
import signal
import subprocess
import time

from gitlock.domain.holding import Wanted, plan_renew
from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import NOTHING, Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from gitlock.domain.pattern import Fold
    from gitlock.stores.protocol import LeaseStore

GRACE = 10.0  # seconds between the request to end and the kill
BEATS = 3  # renewals within one TTL: two may be missed before others may take over
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")
ESCALATING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")  # a second one of these kills

ENDED, LOST, HELD_TOO_LONG, NOT_STARTED = "ended", "lost", "max-hold", "not-started"


class Ran(Value):
    """What became of the command. ``code`` is its own, or None where it never started; ``why`` is one of the words
    above; ``fault`` says more about a loss or a failed start."""

    __slots__ = ("code", "fault", "why")

    def __init__(self, why: str, code: int | None, fault: str = "") -> None:
        self.why = why
        self.code = code
        self.fault = fault


class Hold:
    """The lease while it is held, and our own idea of when it ends: the earlier of the two counts."""

    def __init__(self, store: "LeaseStore", lease: Lease, fold: "Fold") -> None:
        self.store = store
        self.lease = lease
        self.fold = fold
        self.pause = lease.ttl / BEATS
        self.deadline = time.monotonic() + lease.ttl
        self.next = time.monotonic() + self.pause
        self.fault = ""
        self.released = False

    def beat(self) -> bool:
        """Renews if it is time; False once the lease is lost. A store that can't be reached is tried again until the
        lease would have ended by itself."""
        now = time.monotonic()
        if now < self.next:
            return True
        if self.released:
            return True
        want = (Wanted(self.lease.id, frozenset((self.lease.id,))),)

        def plan(snapshot: Snapshot) -> tuple[Edits, str]:
            edits, outcome = plan_renew(snapshot, self.lease.agent, want, None, self.fold)
            if any(one.id == self.lease.id and one.fence == self.lease.fence for one in outcome.renewed):
                return edits.replace(events=()), "held"
            ended = [one for one in snapshot.ended.of((self.lease.agent,)) if one.lease.id == self.lease.id]
            return NOTHING, f"{ended[-1].why} by {ended[-1].by}" if ended else "released"

        try:
            answer = self.store.update(plan)
        except StoreError as error:
            self.fault = error.message
            self.next = now + min(1.0, self.pause)
            return now < self.deadline
        self.released = answer == "released"  # by the command itself, or by hand: given back is not lost
        if answer == "held" or self.released:
            self.deadline, self.next = now + self.lease.ttl, now + self.pause
            return True
        self.fault = answer
        return False


def run(
    hold: Hold,
    argv: list[str],
    environ: "Mapping[str, str]",
    *,
    stop_on_loss: bool,
    max_hold: float | None,
) -> Ran:
    """Runs the command to its end, or to the end of the lease."""
    try:
        child = subprocess.Popen(argv, env=dict(environ), process_group=0)
    except OSError as error:
        return Ran(NOT_STARTED, None, f"{argv[0]}: {error.strerror}")
    return _Watch(hold, child, stop_on_loss=stop_on_loss, max_hold=max_hold).until_end()


class _Watch:
    """One command being watched: the terminal, the signals and the clock."""

    def __init__(self, hold: Hold, child: "subprocess.Popen[bytes]", *, stop_on_loss: bool, max_hold: float | None) -> None:
        self.hold = hold
        self.child = child
        self.stop_on_loss = stop_on_loss
        self.end = time.monotonic() + max_hold if max_hold is not None else None
        self.stopping: str | None = None
        self.kill_at: float | None = None
        self.asked: set[str] = set()
        self.lost = False
        self.terminal = _our_terminal()

    def until_end(self) -> Ran:
        before = {}
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        for name in (*PASSED_ON, "SIGCHLD"):
            before[name] = signal.signal(getattr(signal, name), self._on_signal)
        wakeup = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        self._give_terminal(self.child.pid)
        try:
            while (code := self._poll()) is None:
                self._tick()
                self._sleep(read_end)
        finally:
            self._give_terminal(os.getpgrp())
            signal.set_wakeup_fd(wakeup)
            for name, old in before.items():
                signal.signal(getattr(signal, name), old)
            os.close(read_end)
            os.close(write_end)
        if self.stopping is not None:
            return Ran(self.stopping, code, self.hold.fault)
        return Ran(ENDED, code)

    def _on_signal(self, number: int, _: "FrameType | None") -> None:
        name = signal.Signals(number).name
        if name == "SIGCHLD":
            return
        if name in ESCALATING and self.asked & set(ESCALATING):
            self._signal(signal.SIGKILL)
            return
        self.asked.add(name)
        self._signal(number)

    def _poll(self) -> int | None:
        """The exit code once it has ended. A command that was stopped (Ctrl-Z) stops us too, as one job."""
        try:
            pid, status = os.waitpid(self.child.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return self.child.returncode if self.child.returncode is not None else 1
        if pid == 0:
            return None
        if os.WIFSTOPPED(status):
            if self.terminal is not None:
                self._give_terminal(os.getpgrp())
                os.kill(os.getpid(), signal.SIGSTOP)
                self._give_terminal(self.child.pid)
                self._signal(signal.SIGCONT)
            return None
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return self.child.returncode if self.child.returncode >= 0 else 128 - self.child.returncode

    def _tick(self) -> None:
        now = time.monotonic()
        if not self.lost and not self.hold.beat():
            self.lost = True
            if self.stop_on_loss:
                self._stop(LOST)
        if self.end is not None and now >= self.end:
            self._stop(HELD_TOO_LONG)
        if self.kill_at is not None and now >= self.kill_at:
            self._signal(signal.SIGKILL)
            self.kill_at = now + GRACE

    def _stop(self, why: str) -> None:
        if self.stopping is None:
            self.stopping = why
            self.kill_at = time.monotonic() + GRACE
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)  # one that is stopped could not hear it

    def _sleep(self, read_end: int) -> None:
        import select

        now = time.monotonic()
        times = [now + 60.0]
        if not self.lost:
            times.append(self.hold.next)
        times += [moment for moment in (self.end if self.stopping is None else None, self.kill_at) if moment is not None]
        if select.select([read_end], (), (), max(0.0, min(times) - now))[0]:
            os.read(read_end, 4096)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.child.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def _give_terminal(self, group: int) -> None:
        if self.terminal is None:
            return
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            os.tcsetpgrp(self.terminal, group)
        except OSError:
            self.terminal = None
        finally:
            signal.signal(signal.SIGTTOU, before)


def _our_terminal() -> int | None:
    """The terminal on standard input, if we are in the foreground of it."""
    try:
        if os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp():
            return 0
    except OSError:
        pass
    return None


def child_environ(
    environ: "Mapping[str, str]", lease: Lease, *, token: str | None, export_token: bool
) -> dict[str, str]:
    """What the command sees: who it works for, every lease up the chain, the fence, and the secret only if asked."""
    seen = dict(environ)
    seen["GITLOCK_AGENT"] = lease.agent
    seen["GITLOCK_LEASES"] = " ".join([*environ.get("GITLOCK_LEASES", "").split(), lease.id])
    seen["GITLOCK_FENCE"] = str(lease.fence)
    seen.pop("GITLOCK_TOKEN", None)
    if export_token and token is not None:
        seen["GITLOCK_TOKEN"] = token
    return seen


