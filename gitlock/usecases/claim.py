"""Asking for a lease."""

import os

from gitlock.digest import sha256_hex
from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused, plan_claim
from gitlock.domain.conflict import Conflict
from gitlock.domain.holding import Beat, plan_beat
from gitlock.domain.lease import Holder
from gitlock.domain.policy import SEVERITY, Policy
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.usecases.looking import look_at
from gitlock.usecases.reading import Reading, whole_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import KeyRule
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore

TOKEN_BYTES = 16  # 128 random bits
LOOKS = 3  # times that holders who turned out to be gone are looked at before we give up and call them in the way


class ClaimOutcome(Value):
    """``answer`` is ``Granted``, ``Refused`` or ``Clash``; ``token`` is set where a new lease was made; ``touched`` are
    the declared keys that the claim meets; ``beat`` is what became of the agent's other leases."""

    __slots__ = ("answer", "beat", "notice", "token", "touched")

    def __init__(
        self,
        answer: "Granted | Refused | Clash",
        beat: Beat,
        token: str | None,
        touched: "tuple[KeyRule, ...]",
        notice: str,
    ) -> None:
        self.answer = answer
        self.beat = beat
        self.token = token
        self.touched = touched
        self.notice = notice


def claim(
    store: "LeaseStore",
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
    dry_run: bool = False,
    auto: bool = False,
) -> ClaimOutcome:
    """Takes the lease whole, or says why not. ``auto`` is a claim that nobody typed: it gets the shorter TTL."""
    touched, whole = whole_keys(reading, policy, fold)
    token = os.urandom(TOKEN_BYTES).hex()
    wish = Claim(
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

    def plan(snapshot: Snapshot) -> "tuple[Edits, tuple[Granted | Refused | LookFirst | Clash, Beat, str]]":
        edits, answer = plan_claim(snapshot, wish, fold=fold, facts=facts, mode_of=mode_of, same_agent=same_agent)
        rest, beat = plan_beat(snapshot, agent.id)
        own = {lease.id for lease in edits.put}
        return (
            edits.replace(put=edits.put + tuple(lease for lease in rest.put if lease.id not in own)),
            (answer, beat, snapshot.notice),
        )

    for attempt in range(LOOKS + 1):
        answer, beat, notice = plan(store.read())[1] if dry_run else store.update(plan)
        if not isinstance(answer, LookFirst):
            break
        found = dict.fromkeys((lease.id for lease in answer.leases), True)
        facts = facts.with_dirty(found if attempt == LOOKS - 1 else look_at(answer.leases, git, fold))
    assert not isinstance(answer, LookFirst)
    made = isinstance(answer, Granted) and not answer.already and not dry_run
    return ClaimOutcome(answer, beat, token if made else None, touched, notice)


def _ttl(reading: Reading, touched: "tuple[KeyRule, ...]", policy: Policy, *, auto: bool) -> float:
    """The longest that a declared key of the claim asks for, else the default."""
    own = [
        rule.ttl for rule in touched if rule.ttl is not None and (rule.name in reading.names or rule.takes == "whole")
    ]
    return max(own) if own else policy.auto_ttl if auto else policy.ttl
