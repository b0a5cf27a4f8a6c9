"""Time that a test moves by hand: nothing sleeps, and nothing depends on how fast the machine is."""

from gitlock.domain.instant import Instant

START = 1_893_553_445.0  # 2030-01-02T03:04:05Z


class ManualClock:
    """Both clocks of one machine. Calling it gives this instant, as a store asks for it."""

    def __init__(self) -> None:
        self.wall = START
        self.mono = 1000.0
        self.boots = 1

    def __call__(self) -> Instant:
        return Instant(self.wall, self.mono, f"boot-{self.boots}")

    def advance(self, seconds: float) -> None:
        """Time passes, on both clocks."""
        self.wall += seconds
        self.mono += seconds

    def step_wall(self, seconds: float) -> None:
        """Somebody puts the wall clock forward or back; no time passes."""
        self.wall += seconds

    def suspend(self, seconds: float) -> None:
        """The machine sleeps: the wall clock goes on, the monotonic one stands still."""
        self.wall += seconds

    def reboot(self, seconds: float = 30.0) -> None:
        """The machine is started anew: the monotonic clock begins again, in another boot."""
        self.wall += seconds
        self.mono = 5.0
        self.boots += 1
