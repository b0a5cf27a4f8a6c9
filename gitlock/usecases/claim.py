"""Asking for a lease."""

import os

from gitlock.digest import sha256_hex
from gitlock.domain.beat import Beat, plan_beat
from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused, plan_claim
from gitlock.domain.conflict import Conflict
from gitlock.domain.lease import Holder
from gitlock.domain.policy import SEVERITY, Policy
from gitlock.domain.seat import seats_beside
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.errors import UsageError
from gitlock.usecases.reading import Reading, whole_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.agent import Agent
    from gitlock.domain.instant import Instant
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import KeyRule
    from gitlock.domain.queue import Waiter
    from gitlock.domain.standing import Facts
    from gitlock.domain.taint import Taint
    from gitlock.domain.turn import Deadlock, Queued
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore

    Answered = Granted | Refused | Clash | Queued | Deadlock
    Join = Callable[[Snapshot, Refused, Waiter | None], tuple[Edits, Refused | Queued | Deadlock]]

TOKEN_BYTES = 16  # 128 random bits
REASON_LIMIT = 10_000  # characters of a reason: whoever looks at what is held reads all of it
LOOKS = 3  # times that holders who turned out to be gone are looked at before we give up and call them in the way


class Wish(Value):
    """A claim that is ready to be put to a store, as often as it takes. ``token`` is the secret that it would get."""

    __slots__ = ("claim", "facts", "fold", "git", "mode_of", "same_agent", "token", "touched")

    def __init__(
        self,
        claim: Claim,
        token: str,
        touched: "tuple[KeyRule, ...]",
        mode_of: "Callable[[Conflict], str]",
        fold: "Fold",
        facts: "Facts",
        git: "Git",
        same_agent: bool,
    ) -> None:
        self.claim = claim
        self.token = token
        self.touched = touched
        self.mode_of = mode_of
        self.fold = fold
        self.facts = facts
        self.git = git
        self.same_agent = same_agent


class ClaimOutcome(Value):
    """``answer`` says what became of it at ``now``; ``token`` is set where a new lease was made; ``touched`` are the
    declared keys that the claim meets; ``beat`` is what became of the agent's other leases; ``marks`` are those of
    failed commands on what was granted."""

    __slots__ = ("answer", "beat", "marks", "notice", "now", "token", "touched")

    def __init__(
        self,
        answer: "Answered",
        beat: Beat,
        token: str | None,
        touched: "tuple[KeyRule, ...]",
        notice: str,
        now: "Instant",
        marks: "tuple[Taint, ...]",
    ) -> None:
        self.now = now
        self.marks = marks
        self.answer = answer
        self.beat = beat
        self.token = token
        self.touched = touched
        self.notice = notice


def prepare(
    reading: Reading,
    *,
    agent: "Agent",
    mode: str,
    ttl: float | None,
    reason: str,
    holder: Holder,
    policy: Policy,
    fold: "Fold",
    facts: "Facts",
    git: "Git",
    same_agent: bool = False,
    auto: bool = False,
    nested: bool = False,
    chain: frozenset[str] = frozenset(),
    call: str | None = None,
) -> Wish:
    """The wish for what was read. ``auto`` is a claim that nobody typed: it gets the shorter TTL. ``nested`` is one
    whose process ends with a command: a lease that is ours already stays with the process that it has. ``chain`` are
    the leases of the commands that we run under; ``call`` is the tool call that it is made for, before that happens.
    """
    if len(reason) > REASON_LIMIT:
        raise UsageError(f"a reason of {len(reason)} characters is too long: {REASON_LIMIT} at most")
    touched, whole = whole_keys(reading, policy, fold)
    token = os.urandom(TOKEN_BYTES).hex()
    claim = Claim(
        id=os.urandom(6).hex(),
        agent=agent.id,
        kind=agent.kind,
        mode=mode,
        keys=(*reading.names, *whole, *reading.keys[len(reading.names) :]),
        include=reading.include,
        exclude=reading.exclude,
        reason=reason,
        ttl=ttl if ttl is not None else _ttl(reading, touched, policy, auto=auto),
        token_hash=sha256_hex(token.encode()),
        holder=holder,
        nested=nested,
        chain=chain,
        call=call,
    )

    def mode_of(conflict: Conflict) -> str:
        witness = conflict.witness
        if witness is None:
            return max((policy.mode_for(agent.kind, None, fold), *(rule.mode for rule in touched if rule.mode)),
                       key=SEVERITY.__getitem__)  # fmt: skip
        rule = policy.key_named(witness, fold)
        if rule is not None and rule.mode and policy.override is None:
            return rule.mode
        return policy.mode_for(agent.kind, witness, fold)

    return Wish(claim, token, touched, mode_of, fold, facts, git, same_agent)


def ask(
    store: "LeaseStore",
    wish: Wish,
    *,
    dry_run: bool = False,
    place: "Waiter | None" = None,
    join: "Join | None" = None,
    peek: bool = False,
) -> ClaimOutcome:
    """Puts the wish to the store: granted whole, or refused. ``join`` makes a refusal into a place in the queue, in
    the same write; ``place`` is the place that the wish has already (if nobody took it away since). With ``peek`` only
    a reading is looked at, unless that says that something is to be done. The agent's other leases are renewed with it.
    """
    facts = wish.facts

    def plan(snapshot: Snapshot) -> "tuple[Edits, tuple[Answered | LookFirst, Beat, Snapshot]]":
        answer: Answered | LookFirst
        mine, lost = _place(snapshot, place)
        edits, answer = plan_claim(
            snapshot, wish.claim, fold=wish.fold, facts=facts, mode_of=wish.mode_of, same_agent=wish.same_agent,
            place=mine,
        )  # fmt: skip
        if isinstance(answer, Refused):
            if join is not None:
                joined, answer = join(snapshot, answer, mine)
                edits = joined.replace(
                    put=edits.put, queue=edits.queue + joined.queue, leave=edits.leave + joined.leave
                )
            if mine is not None and mine.is_ticket and isinstance(answer, Refused):
                # Its agent's word that it is still wanted; and where it was offered, its turn has passed again.
                edits = edits.replace(queue=(*edits.queue, mine.replace(seen=snapshot.now, offered=None)))
        edits = edits.replace(leave=edits.leave + lost) if lost else edits
        rest, beat = plan_beat(snapshot, wish.claim.agent, seats_beside(wish.claim.holder))
        if beat.offers:
            used = {*edits.leave, *(waiter.id for waiter in edits.queue)}
            beat = beat.replace(offers=tuple(one for one in beat.offers if one.id not in used))
        own = {lease.id for lease in edits.put}
        renewed = tuple(lease for lease in rest.put if lease.id not in own)
        return edits.replace(put=edits.put + renewed), (answer, beat, snapshot)

    for attempt in range(LOOKS + 1):
        edits, (answer, beat, seen) = plan(store.read()) if dry_run or peek else (None, store.update(plan))
        if edits is not None and not dry_run and not (isinstance(answer, Refused) and edits.is_empty):
            answer, beat, seen = store.update(plan)
        if not isinstance(answer, LookFirst):
            break
        from gitlock.usecases.looking import look_at

        found = dict.fromkeys((lease.id for lease in answer.leases), True)
        facts = facts.with_dirty(found if attempt == LOOKS - 1 else look_at(answer.leases, wish.git, wish.fold))
    assert not isinstance(answer, LookFirst)
    made = isinstance(answer, Granted) and not answer.already and not dry_run
    marks: tuple[Taint, ...] = ()
    if seen.taints and isinstance(answer, Granted):
        marks = tuple(one for one in seen.taints if one.touches(answer.lease, wish.fold, seen.now.wall))
    return ClaimOutcome(answer, beat, wish.token if made else None, wish.touched, seen.notice, seen.now, marks)


def _place(snapshot: Snapshot, place: "Waiter | None") -> "tuple[Waiter | None, tuple[str, ...]]":
    """The place as it is now, if it is kept; else its id, to be removed if it is still there."""
    found = None if place is None else snapshot.waiters.find(place.id)
    if found is None:
        return None, ()
    from gitlock.domain.queue import has_place

    return (found, ()) if has_place(found, snapshot.now) else (None, (found.id,))


def _ttl(reading: Reading, touched: "tuple[KeyRule, ...]", policy: Policy, *, auto: bool) -> float:
    """The longest that a declared key of the claim asks for, else the default."""
    own = [
        rule.ttl for rule in touched if rule.ttl is not None and (rule.name in reading.names or rule.takes == "whole")
    ]
    return max(own) if own else policy.auto_ttl if auto else policy.ttl
