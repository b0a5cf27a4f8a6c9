"""What every store owes. One contract suite (``tests/contract``) runs on each of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol, TypeVar

    from gitlock.domain.snapshot import Event, Plan, Snapshot

    T = TypeVar("T")

    class Bell(Protocol):
        """Rung when it may be one's turn."""

        def wait(self, timeout: float, also: "Iterable[int]" = ()) -> bool:
            """Sleeps until rung (True), until ``timeout`` seconds have passed, or until one of these other descriptors
            can be read (False)."""

        def ring(self) -> None:
            """Wakes whoever sleeps on it in this process; a signal handler may call it."""

        def fileno(self) -> int:
            """A descriptor that rings it when written to, for signals; -1 where there is none."""

        def give_word(self) -> None:
            """Says to those who can't see our process that we still wait. Never raises."""

        def close(self) -> None:
            """Takes it down."""

    class LeaseStore(Protocol):
        """Leases, read and changed one revision at a time."""

        def read(self) -> Snapshot:
            """One revision that existed, with the store's own *now*.

            Never blocks on a writer, never writes, never shows half a record. Revisions never go backwards for one
            reader. What can't be known raises ``StoreError``: it is never answered with "empty".
            """

        def update(self, plan: "Plan[T]") -> T:
            """Applies the edits of exactly the snapshot that the plan saw, or runs the plan again.

            The outcome is that of the run that was applied. All edits or none are seen by ``read``, also after a
            crash; once this returns they last, also over power loss. Empty edits write nothing and leave the
            revision alone. Raises ``StoreError`` if nothing could be written; ``StoreBusy`` if not in time.
            """

        def note(self, events: tuple[Event, ...]) -> None:
            """Adds to history, where that can be done. Changes nothing else, and never raises."""

        def wait(self, revision: int, timeout: float) -> None:
            """Returns when the revision is no longer ``revision``, or after ``timeout`` seconds.

            May return early, and never later than a poll (50 ms) after the change.
            """

        def trace(self) -> object:
            """Something that differs after every write; costs next to nothing."""

        def watch(self, trace: object, timeout: float) -> None:
            """As ``wait``, by a trace that was had before."""

        def bell(self, waiter: str) -> "Bell":
            """Something that a waiter of this id can sleep on; made before it joins the queue: no ring is lost."""

        def ring(self, waiters: "Iterable[str]") -> None:
            """Wakes waiters. Best effort: a waiter looks by itself from time to time, and ringing never raises."""

        def close(self) -> None:
            """Gives back what is held open; the store can't be used afterwards."""
