"""What the hooks of a session remember from one event to the next, in the field ``hooks`` of its record.

Nothing depends on it: who forgets says something twice, or not at all.
"""

from gitlock.domain.session import Session
from gitlock.domain.value import Value

FIELD = "hooks"
AGAIN = 300.0  # seconds after which an open request is told once more
LIMIT = 50  # entries of each kind
SEEN_AGAIN = 600.0  # seconds after which it is written down once more that a kind of hook was seen
UNDER_WAY = 3600.0  # seconds that a tool call which has not ended counts as work

TYPE_CHECKING = False
if TYPE_CHECKING:
    Times = dict[str, float]


class Sitting(Value):
    """``heard`` is when something was last said, by what it was; ``refused`` when a call, or a path, was; ``calls``
    when a tool call that has not ended began; ``later`` what could not be said at its time; ``over`` how and when the
    program ended the session in favour of another one; ``seen`` when a hook before an ``edit`` or a ``shell``
    command was last seen, a call that ran though it was refused (``unheeded``), and a ``commit`` of which no hook of
    the program had told."""

    __slots__ = ("calls", "heard", "later", "over", "refused", "seen")

    def __init__(
        self,
        heard: "Times | None" = None,
        refused: "Times | None" = None,
        calls: "Times | None" = None,
        later: tuple[str, ...] = (),
        over: "Times | None" = None,
        seen: "Times | None" = None,
    ) -> None:
        self.heard = heard or {}
        self.refused = refused or {}
        self.calls = calls or {}
        self.later = later
        self.over = over or {}
        self.seen = seen or {}

    def saw(self, kind: str, wall: float) -> "Sitting":
        """A hook of that kind was seen now; unchanged where that is known well enough."""
        if 0 <= wall - self.seen.get(kind, -SEEN_AGAIN) < SEEN_AGAIN:
            return self
        return self.replace(seen=_with(self.seen, kind, wall))

    def said(self, key: str, wall: float) -> "Sitting":
        """Something was said now."""
        return self.replace(heard=_with(self.heard, key, wall))

    def was_refused(self, key: str, wall: float) -> "Sitting":
        """A call was refused now, or an edit of a path."""
        return self.replace(refused=_with(self.refused, key, wall))

    def began(self, call: str, wall: float) -> "Sitting":
        """A tool call is under way."""
        return self.replace(calls=_with(self.calls, call, wall))

    def ended(self, call: str) -> "Sitting":
        """It has ended; so have all, where it has no name."""
        rest = {name: wall for name, wall in self.calls.items() if call and name != call}
        return self if rest == self.calls else self.replace(calls=rest)

    def with_later(self, text: str) -> "Sitting":
        """Something is to be said as soon as it can be."""
        return self.replace(later=tuple(dict.fromkeys((*self.later, text)))[-5:])

    def due(self, key: str, wall: float) -> bool:
        """Whether it was not said yet, or long ago."""
        last = self.heard.get(key)
        return last is None or not 0 <= wall - last < AGAIN


def sitting_of(session: Session | None) -> Sitting:
    """What a session's record remembers."""
    found = session.extra.get(FIELD) if session is not None else None
    if type(found) is not dict:
        return Sitting()
    later = found.get("later")
    texts = later if isinstance(later, (list, tuple)) else ()
    return Sitting(
        _times(found.get("heard")),
        _times(found.get("refused")),
        _times(found.get("calls")),
        tuple(one for one in texts if type(one) is str),
        _times(found.get("over")),
        _times(found.get("seen")),
    )


def remember(session: Session, sitting: Sitting) -> Session:
    """The session's record with what is to be remembered."""
    kept = {name: getattr(sitting, name) for name in Sitting.__slots__ if getattr(sitting, name)}
    rest = {name: value for name, value in session.extra.items() if name != FIELD}
    return session.replace(extra={**rest, FIELD: kept} if kept else rest)


def is_under_way(session: Session, wall: float) -> bool:
    """Whether a tool call of the session has not ended, and began not too long ago."""
    return any(0 <= wall - began < UNDER_WAY for began in sitting_of(session).calls.values())


def _with(times: "Times", key: str, wall: float) -> "Times":
    rest = {name: at for name, at in times.items() if name != key}
    return dict([*rest.items(), (key, wall)][-LIMIT:])


def _times(found: object) -> "Times":
    if type(found) is not dict:
        return {}
    return {name: float(at) for name, at in found.items() if type(at) in (int, float)}
