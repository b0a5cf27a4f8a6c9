"""Leases that were taken for an edit before it happened, and what becomes of them.

A lease's ``extra`` then lists the tool calls that it was taken for, under ``tentative``. It excludes others as any
other does; it is firm once one of the edits happened, or once its agent claims it in so many words; and it is given
back when the last of the calls came to nothing.
"""

from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot

TENTATIVE = "tentative"
CALLS = 16  # of one agent on one lease at a time


def begun(call: str | None) -> dict[str, object]:
    """What a new lease says of itself."""
    return {} if call is None else {TENTATIVE: [call]}


def marked(extra: dict[str, object], call: str | None) -> dict[str, object]:
    """What a lease says of itself once its agent claims it again: with a call, one more that it is for; without, it
    is firm. A firm one stays firm."""
    if TENTATIVE not in extra:
        return extra
    rest = {name: value for name, value in extra.items() if name != TENTATIVE}
    if call is None:
        return rest
    return {**rest, TENTATIVE: list(dict.fromkeys((*_calls(extra), call)))[-CALLS:]}


def calls_of(lease: Lease) -> tuple[str, ...]:
    """The calls that a tentative lease was taken for; none for a firm one."""
    return tuple(_calls(lease.extra))


def plan_settle(snapshot: Snapshot, agent: str, call: str, *, happened: bool) -> tuple[Edits, tuple[Lease, ...]]:
    """A call has ended: what was taken for it is firm, or (unless another call needs it) given back. Answers the
    leases that were given back."""
    put: list[Lease] = []
    gone: list[Lease] = []
    for lease in snapshot.leases.of((agent,)):
        calls = calls_of(lease)
        if call not in calls:
            continue
        others = [one for one in calls if one != call]
        if happened:
            put.append(lease.replace(extra=marked(lease.extra, None)))
        elif others:
            put.append(lease.replace(extra={**lease.extra, TENTATIVE: others}))
        else:
            gone.append(lease)
    return _edits(agent, put, gone, "the edit did not happen"), tuple(gone)


def plan_turn_over(
    snapshot: Snapshot, agent: str, changed: "dict[str, bool]"
) -> tuple[Edits, tuple[Lease, ...]]:
    """No call of the agent's is under way any more (a program does not tell of every one that was cancelled): what is
    still tentative is firm where its paths are ``changed`` (by lease id), else given back."""
    put: list[Lease] = []
    gone: list[Lease] = []
    for lease in snapshot.leases.of((agent,)):
        if calls_of(lease) and lease.id in changed:
            if changed[lease.id]:
                put.append(lease.replace(extra=marked(lease.extra, None)))
            else:
                gone.append(lease)
    return _edits(agent, put, gone, "nothing was edited"), tuple(gone)


def _edits(agent: str, put: list[Lease], gone: list[Lease], why: str) -> Edits:
    if not put and not gone:
        return NOTHING
    events = tuple(Event("release", agent, lease.title, lease.id, lease.fence, why) for lease in gone)
    return Edits(put=tuple(put), drop=tuple(lease.id for lease in gone), events=events)


def _calls(extra: dict[str, object]) -> list[str]:
    found = extra.get(TENTATIVE)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
