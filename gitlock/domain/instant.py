"""A point in time as a store tells it: two clocks, so that neither a stepped wall clock nor a reboot fools us.

``mono`` counts seconds since ``boot`` began and means nothing in another boot (or time namespace, which is part of
``boot``). ``wall`` is UTC and can be stepped by anyone; it decides only where the boots differ.
"""

from gitlock.domain.value import Value


class Instant(Value):
    """Seconds on both clocks; ``boot`` is empty where the machine can't say which boot it is in."""

    __slots__ = ("boot", "mono", "wall")

    def __init__(self, wall: float, mono: float, boot: str) -> None:
        self.wall = wall
        self.mono = mono
        self.boot = boot

    def since(self, earlier: "Instant") -> float:
        """Seconds from ``earlier`` to this instant, by the clock that both share."""
        if self.boot and self.boot == earlier.boot:
            return self.mono - earlier.mono
        return self.wall - earlier.wall

    def plus(self, seconds: float) -> "Instant":
        """This instant, so many seconds later."""
        return Instant(self.wall + seconds, self.mono + seconds, self.boot)
