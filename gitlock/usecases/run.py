"""Holding a lease while a command runs: renewed every third of its TTL, given back when the command ends.

When the lease is lost the command is told to end, and killed ten seconds later: nobody goes on working under a lease
that is somebody else's.
"""

import os
import select
import signal
import time

from gitlock.domain.holding import Wanted, plan_release, plan_renew
from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import NOTHING, Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.errors import StoreError
from gitlock.usecases.command import Command
from gitlock.usecases.wait import hand_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import FrameType
    from typing import Protocol

    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.stores.protocol import Bell, LeaseStore
    from gitlock.usecases.wait import Stop

    class Eyes(Protocol):
        """Somebody who looks at what the command does, every now and then."""

        next: float  # when the next look is due, on the monotonic clock

        def look(self) -> None:
            """Looks if it is time. Never raises."""

GRACE = 10.0  # seconds between the request to end and the kill
BEATS = 3  # renewals within one TTL: two may be missed before others may take over
RETRY = 1.0  # seconds between tries of a renewal that the store did not take
LEFTOVERS = 0.1  # seconds between looks at what is left of a command that was stopped
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
ESCALATING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")  # a second one of these kills
KEYBOARD = ("SIGINT", "SIGQUIT")  # what a terminal sends to the command itself

ENDED, LOST, HELD_TOO_LONG, NOT_STARTED = "ended", "lost", "max-hold", "not-started"
HELD, GIVEN_BACK = "held", "given-back"


class Ran(Value):
    """What became of the command. ``code`` is its own, or None where it never started; ``why`` is one of the words
    above; ``fault`` says more about a loss or a failed start. ``signal`` is what ended it at the keyboard's wish."""

    __slots__ = ("code", "fault", "signal", "why")

    def __init__(self, why: str, code: int | None, fault: str = "", signal: int | None = None) -> None:
        self.why = why
        self.code = code
        self.fault = fault
        self.signal = signal


class Hold:
    """The lease while it is held, and our own idea of when it ends: the earlier of the two counts."""

    def __init__(self, store: "LeaseStore", lease: Lease, fold: "Fold", facts: "Facts") -> None:
        self.store = store
        self.lease = lease
        self.fold = fold
        self.facts = facts
        self.pause = lease.ttl / BEATS
        self.deadline = time.monotonic() + lease.ttl
        self.next = time.monotonic() + self.pause
        self.given_back = False
        self.loss: str | None = None

    @property
    def due(self) -> float | None:
        """When the next renewal is due, on the monotonic clock; None where there is nothing to renew."""
        return None if self.loss is not None or self.given_back else self.next

    def beat(self, *, now: bool = False) -> None:
        """Renews if it is time; with ``now``, looks at least whether the lease is still there. Afterwards ``loss``
        says why it is lost, if it is.

        A store that can't be reached is tried again until the lease would have ended by itself.
        """
        if self.loss is not None or self.given_back:
            return
        due = time.monotonic() >= self.next
        if not due and not now:
            return
        try:
            self._take(self.store.update(self._renewed) if due else self._state(self.store.read()), due)
        except StoreError as error:
            if due:
                self.next = time.monotonic() + min(RETRY, self.pause)
            if time.monotonic() >= self.deadline:
                self.loss = f"the store was out of reach until it had expired: {error.message}"

    def end(self, *, keep: bool) -> None:
        """Gives it back (unless ``keep``: it was ours before). Raises ``StoreError`` where that can't be done."""
        if self.loss is not None or self.given_back:
            return

        def plan(snapshot: Snapshot) -> tuple[Edits, str]:
            state = self._state(snapshot)
            if state != HELD or keep or not self._is_ours(snapshot):
                return NOTHING, state
            return plan_release(snapshot, self.lease.agent, self._named, self.fold)[0], state

        self._take(self.store.update(plan), False)
        if not keep and self.loss is None:
            hand_on(self.store, self.fold, self.facts, (self.lease,))

    def is_ours(self) -> bool:
        """Whether it is still there, and this command's to be given back."""
        return self.loss is None and not self.given_back and self._is_ours(self.store.read())

    @property
    def _named(self) -> tuple[Wanted, ...]:
        return (Wanted(self.lease.id, frozenset((self.lease.id,))),)

    def _renewed(self, snapshot: Snapshot) -> tuple[Edits, str]:
        state = self._state(snapshot)
        if state != HELD:
            return NOTHING, state
        return plan_renew(snapshot, self.lease.agent, self._named, None, self.fold)[0].replace(events=()), state

    def _state(self, snapshot: Snapshot) -> str:
        agent, name = self.lease.agent, self.lease.id
        if any(one.id == name for one in snapshot.leases.of((agent,))):
            return HELD
        for ended in snapshot.ended.of((agent,)):
            if ended.lease.id == name and ended.why != "released":
                return f"{ended.why} by {ended.by}" if ended.by else ended.why
        return GIVEN_BACK  # by the command itself, or by hand

    def _is_ours(self, snapshot: Snapshot) -> bool:
        """Whether it is this command's still, and not its agent's: one who claims it by hand meanwhile keeps it."""
        found = [one for one in snapshot.leases.of((self.lease.agent,)) if one.id == self.lease.id]
        return bool(found) and found[0].holder.pid == self.lease.holder.pid

    def _take(self, state: str, renewed: bool) -> None:
        if state == GIVEN_BACK:
            self.given_back = True
        elif state != HELD:
            self.loss = state
        elif renewed:
            self.next = time.monotonic() + self.pause
            self.deadline = time.monotonic() + self.lease.ttl


class NoHold(Hold):
    """Nothing is held: the command runs to its own end."""

    def __init__(self) -> None:
        self.loss = None
        self.given_back = True

    def beat(self, *, now: bool = False) -> None:  # noqa: ARG002 - a hold's
        return


class LoneBell:
    """A bell where there is no store whose bells others could ring: our own signals do."""

    def __init__(self) -> None:
        self._reads, self._rings = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._rings, False)

    def wait(self, timeout: float, also: "Iterable[int]" = ()) -> bool:
        """Sleeps until it is rung; never anything of anybody else's."""
        if select.select((self._reads, *also), (), (), timeout)[0]:
            try:
                os.read(self._reads, 4096)
            except BlockingIOError:
                pass
        return False

    def ring(self) -> None:
        """Ends a sleep."""
        try:
            os.write(self._rings, b".")
        except BlockingIOError:
            return  # it has been rung often enough

    def fileno(self) -> int:
        """Where a byte rings it."""
        return self._rings

    def give_word(self) -> None:
        """There is nobody to hear it."""

    def close(self) -> None:
        """Gives back what it is made of."""
        os.close(self._reads)
        os.close(self._rings)


def run(
    hold: Hold,
    argv: list[str],
    environ: "Mapping[str, str]",
    bell: "Bell",
    *,
    stop_on_loss: bool,
    max_hold: float | None,
    stdout: int | None,
    lost: "Callable[[str], object]",
    pending: "Stop",
    folder: str | None = None,
    started: "Callable[[int], object] | None" = None,
    eyes: "Eyes | None" = None,
) -> Ran:
    """Runs the command to its end, or to the end of the lease. ``bell`` is rung by whoever takes the lease away;
    ``lost`` is told at once. ``pending`` has the signal that came before, if there was one. It runs in ``folder``, or
    where we are; ``started`` is told its process id; ``eyes`` look at what it does while it runs."""
    watch = _Watch(hold, bell, stop_on_loss=stop_on_loss, max_hold=max_hold, lost=lost, eyes=eyes)
    restore = watch.listen()
    try:
        try:
            watch.command = Command(argv, environ, stdout=stdout, folder=folder)
        except OSError as error:
            return Ran(NOT_STARTED, None, f"{argv[0]}: {error.strerror}")
        if started is not None:
            started(watch.command.pid)
        if pending.number is not None:
            watch.hear(pending.number)
        return watch.until_end()
    finally:
        restore()


class _Watch:
    """One command being watched: the signals, the lease and the clock."""

    def __init__(
        self,
        hold: Hold,
        bell: "Bell",
        *,
        stop_on_loss: bool,
        max_hold: float | None,
        lost: "Callable[[str], object]",
        eyes: "Eyes | None",
    ) -> None:
        self.eyes = eyes
        self.hold = hold
        self.bell = bell
        self.stop_on_loss = stop_on_loss
        self.lost = lost
        self.end = time.monotonic() + max_hold if max_hold is not None else None
        self.command: Command | None = None
        self.stopping: str | None = None
        self.kill_at: float | None = None
        self.heard: list[int] = []
        self.asked = False

    def listen(self) -> "Callable[[], None]":
        """From now on signals are passed on; answers what undoes that. Those that were ignored when we came (nohup)
        still are."""
        before = {}
        for name in (*PASSED_ON, "SIGCHLD"):
            number = getattr(signal, name)
            if name == "SIGCHLD" or signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self._on_signal)
        wakeup = signal.set_wakeup_fd(self.bell.fileno(), warn_on_full_buffer=False)

        def restore() -> None:
            signal.set_wakeup_fd(wakeup)
            for number, old in before.items():
                signal.signal(number, old)

        return restore

    def _on_signal(self, number: int, _: "FrameType | None") -> None:
        if number != signal.SIGCHLD:
            self.hear(number)
        self.bell.ring()

    def hear(self, number: int) -> None:
        """Passes a signal on; the second one that asks to end kills. What the keyboard sends, a command at our
        terminal has had already."""
        command = self.command
        if command is None:
            self.heard.append(number)
            return
        name = signal.Signals(number).name
        if command.shares_group and name in KEYBOARD:
            return
        if name in ESCALATING:
            if self.asked:
                number = signal.SIGKILL
            self.asked = True
        command.send(number)

    def until_end(self) -> Ran:
        command = self.command
        assert command is not None
        while self.heard:
            self.hear(self.heard.pop(0))
        while command.reap() is None or (self.stopping is not None and self._left()):
            self._tick()
            self._sleep()
        code = command.code
        assert code is not None
        if self.hold.loss is not None and self.stop_on_loss and self.stopping is None:
            self.stopping = LOST  # it ended by itself in this very moment
        by = -code if code < 0 and command.shares_group else None
        return Ran(self.stopping or ENDED, 128 - code if code < 0 else code, self.hold.loss or "", by)

    def _left(self) -> bool:
        """Whether something of a command that was told to end is still there."""
        assert self.command is not None
        if self.kill_at is None:
            return False
        if not self.command.members():
            return False
        if time.monotonic() >= self.kill_at:
            self.command.send(signal.SIGKILL)
            self.kill_at = None
            return False
        return True

    def _tick(self) -> None:
        assert self.command is not None
        hold, now = self.hold, time.monotonic()
        if hold.loss is None:
            hold.beat()
            if hold.loss is not None:
                self.lost(hold.loss)
        if hold.loss is not None and self.stop_on_loss:
            self._stop(LOST)
        if self.eyes is not None:
            self.eyes.look()
        if self.end is not None and now >= self.end:
            self._stop(HELD_TOO_LONG)
        if self.kill_at is not None and now >= self.kill_at:
            self.command.send(signal.SIGKILL)
            self.kill_at = now + GRACE

    def _stop(self, why: str) -> None:
        if self.stopping is None:
            assert self.command is not None
            self.stopping = why
            self.kill_at = time.monotonic() + GRACE
            self.command.send(signal.SIGTERM)
            self.command.send(signal.SIGCONT)  # one that is stopped could not hear it

    def _sleep(self) -> None:
        assert self.command is not None
        now = time.monotonic()
        times = [now + 60.0]
        if (due := self.hold.due) is not None:
            times.append(due)
        if self.eyes is not None:
            times.append(self.eyes.next)
        if self.stopping is None and self.end is not None:
            times.append(self.end)
        if self.kill_at is not None:
            times.append(self.kill_at)
        if self.command.code is not None:
            times.append(now + LEFTOVERS)
        if self.bell.wait(max(0.0, min(times) - now)) and self.hold.loss is None:
            self.hold.beat(now=True)
            if self.hold.loss is not None:
                self.lost(self.hold.loss)


def child_environ(
    environ: "Mapping[str, str]", lease: Lease | None, agent: str, kind: str, *, token: str | None = None
) -> dict[str, str]:
    """What the command sees: who it works for, every lease up the chain, the fence, and the secret if there is one
    for it."""
    seen = dict(environ)
    seen["GITLOCK_AGENT"] = agent
    seen["GITLOCK_KIND"] = kind  # a name alone would make an agent of a person
    seen.pop("GITLOCK_TOKEN", None)
    if token is not None:
        seen["GITLOCK_TOKEN"] = token
    if lease is None:
        return seen
    seen["GITLOCK_LEASES"] = " ".join(dict.fromkeys([*environ.get("GITLOCK_LEASES", "").split(), lease.id]))
    seen["GITLOCK_FENCE"] = str(lease.fence)
    return seen
