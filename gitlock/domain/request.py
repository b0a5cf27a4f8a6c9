"""Asking a holder to let go, and the answers; asking a person; and word for a holder whose paths were changed.

A request is a record of its own, outside the state document: losing one costs a question, never a lease. The grant
is part of the state: the holder's lease is narrowed and the asker's made in one step.
"""

from gitlock.domain.agent import related
from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused, plan_claim
from gitlock.domain.conflict import touching
from gitlock.domain.footprint import Footprint
from gitlock.domain.holding import Wanted, narrowed
from gitlock.domain.lease import Holder, Lease
from gitlock.domain.pattern import Fold
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.domain.standing import EXPIRED, Facts, standing
from gitlock.domain.value import Value

TEXT_LIMIT = 500  # characters of a request's text; what is longer is cut, and marked

# ``freed``: nobody who was asked holds any of it any more, so that there is nothing left to be answered
OPEN, GRANTED, DECLINED, HANDLED, FREED = "open", "granted", "declined", "handled", "freed"
NOTED = "noted"  # there is nothing to be answered
RELEASE, ESCALATION, BREAKING = "release", "escalation", "breaking"
TRESPASS = "trespass"


class Request(Value):
    """``kind`` is a wish for a release, an escalation to a person, or a break that needs a second person's word; or it
    asks for nothing, and says that ``asker`` has changed what ``to`` holds (``trespass``).

    ``to`` are the agents whose leases it is about; a wish other than a release is for any person to answer.
    ``claim`` is what was asked for, as text; ``include``, ``exclude`` and ``keys`` what that meant then; ``holder`` is
    where the asker works. ``told`` lists the agents that have heard the answer.
    """

    __slots__ = (
        "answer", "answered_at", "answered_by", "asker", "asker_kind", "at", "claim", "exclude", "holder", "id",
        "include", "keys", "kind", "mode", "state", "text", "to", "told", "ttl",
    )  # fmt: skip

    def __init__(
        self,
        *,
        id: str,
        kind: str,
        asker: str,
        asker_kind: str,
        to: tuple[str, ...],
        claim: str,
        keys: tuple[str, ...],
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        mode: str,
        ttl: float,
        text: str,
        at: float,
        holder: Holder,
        state: str = OPEN,
        answer: str = "",
        answered_by: str | None = None,
        answered_at: float | None = None,
        told: tuple[str, ...] = (),
    ) -> None:
        self.id = id
        self.kind = kind
        self.asker = asker
        self.asker_kind = asker_kind
        self.to = to
        self.claim = claim
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.mode = mode
        self.ttl = ttl
        self.text = text
        self.at = at
        self.holder = holder
        self.state = state
        self.answer = answer
        self.answered_by = answered_by
        self.answered_at = answered_at
        self.told = told

    def is_for(self, agent: str, kind: str) -> bool:
        """Whether this agent is asked: by name, or as a person where a person is asked."""
        if self.kind in (RELEASE, TRESPASS):
            return any(related(name, agent) for name in self.to)
        return kind == "human" and agent != self.asker

    def is_unheard_by(self, agent: str, kind: str) -> bool:
        """Whether it has something for this agent that it has not heard: an answer to it, or word of a trespass."""
        if self.state == OPEN or agent in self.told:
            return False
        return self.is_for(agent, kind) if self.kind == TRESPASS else self.asker == agent

    def touches(self, lease: Lease, fold: Fold) -> bool:
        """Whether a lease holds something of what is asked for."""
        names = tuple(key for key in self.keys if key[:5] not in ("file:", "glob:"))
        return touching(lease, names, Footprint.of(self.include, self.exclude), fold) is not None

    def answered(self, state: str, by: str, text: str, at: float) -> "Request":
        """The request with its answer."""
        return self.replace(state=state, answered_by=by, answer=text, answered_at=at)


def cut(text: str) -> str:
    """A text within its limit."""
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"


class NotHeld(Value):
    """There is nothing of the holder's to hand over: it was given back, or has ended."""

    __slots__ = ()


def plan_grant(
    snapshot: Snapshot, holder: str, claim: Claim, *, fold: Fold, facts: Facts
) -> "tuple[Edits, Granted | Refused | LookFirst | Clash | NotHeld]":
    """Hands the asked part of the holder's leases to the asker, in one step: the holder's leases are narrowed, the
    asker's is made with a new fence. Refused where somebody else holds a part of it, or waits for it since before."""
    want = Wanted(claim.id, frozenset((*claim.keys, *claim.include)), include=claim.include, exclude=claim.exclude)
    put: list[Lease] = []
    drop: list[str] = []
    events: list[Event] = []
    after: list[Lease] = []
    for lease in snapshot.leases.all():
        stands = related(lease.agent, holder) and standing(lease, snapshot.now, facts) != EXPIRED
        reached = stands and _reaches(want, claim, lease, fold)
        if not reached:
            after.append(lease)
            continue
        left = narrowed(lease, want, fold) if claim.include else _without(lease, claim.names)
        events.append(Event("grant", lease.agent, lease.title, lease.id, lease.fence, f"to {claim.agent}"))
        if left is None:
            drop.append(lease.id)
        else:
            put.append(left)
            after.append(left)
    if not put and not drop:
        return NOTHING, NotHeld()
    own = next((one for one in snapshot.waiters.of((claim.agent,)) if one.keys == claim.keys), None)
    edits, answer = plan_claim(
        snapshot.with_leases(after), claim, fold=fold, facts=facts, mode_of=lambda _: "enforce", same_agent=True,
        place=own,
    )  # fmt: skip
    if not isinstance(answer, Granted):
        return NOTHING, answer
    made = {lease.id for lease in edits.put}
    return edits.replace(
        put=tuple(lease for lease in put if lease.id not in made) + edits.put,
        drop=tuple(drop) + edits.drop,
        events=tuple(events) + edits.events,
    ), answer


def _without(lease: Lease, given: tuple[str, ...]) -> Lease | None:
    """What is left of a lease without these keys."""
    keys = tuple(key for key in lease.keys if key not in given)
    return lease.replace(keys=keys) if keys else None


def _reaches(want: Wanted, claim: Claim, lease: Lease, fold: Fold) -> bool:
    if set(claim.names) & set(lease.names):
        return True
    return bool(claim.include) and want.reaches(lease, fold)
