"""Which of the sessions that are at work have their edits stopped before they happen."""

from gitlock.domain.guarding import guard_among
from gitlock.domain.session import DONE
from gitlock.domain.standing import ALIVE, DEAD
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitlock.domain.lease import Holder, Lease
    from gitlock.domain.session import Session

LATELY = 86400.0  # seconds since it was heard of that a session whose process can't be told counts as there


class Guarded(Value):
    """A session that is at work, and its guard (``gitlock.domain.guarding``); None where that is not known."""

    __slots__ = ("guard", "session")

    def __init__(self, session: "Session", guard: str | None) -> None:
        self.session = session
        self.guard = guard


def guarded(
    sessions: "Iterable[Session]", leases: "Iterable[Lease]", liveness: "Callable[[Holder], str]", wall: float
) -> list[Guarded]:
    """The agents' sessions that are not over, nor dead, nor unheard of for a day."""
    held, known = tuple(leases), tuple(sessions)
    found = []
    for one in known:
        if one.kind != "agent" or one.state == DONE:
            continue
        word = liveness(one.holder)
        if word == DEAD or (word != ALIVE and wall - one.active > LATELY):
            continue
        found.append(Guarded(one, guard_among(one, held, known)))
    return found
