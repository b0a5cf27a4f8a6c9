"""May these paths be changed? The decision, with what it needs brought to it."""

from gitlock.domain.change import Change
from gitlock.domain.decision import Decision, decide
from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.policy import Policy
from gitlock.domain.value import Value
from gitlock.usecases.renew import Pulse, pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.agent import Agent
    from gitlock.domain.beat import SeatOf
    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.git.process import Git
    from gitlock.stores.protocol import LeaseStore


class Checked(Value):
    """``decision`` is final; ``taken`` are leases that the gate took on the spot; ``pulse`` is the reading it is on."""

    __slots__ = ("decision", "pulse", "taken")

    def __init__(self, decision: Decision, pulse: Pulse, taken: tuple[Lease, ...]) -> None:
        self.decision = decision
        self.pulse = pulse
        self.taken = taken


def check(
    store: "LeaseStore",
    changes: list[Change],
    *,
    agent: "Agent",
    policy: Policy,
    fold: "Fold",
    facts: "Facts",
    git: "Git",
    holder: "Callable[[], Holder]",
    take: bool = True,
    seat_of: "SeatOf | None" = None,
) -> Checked:
    """Renews what the agent holds, then judges the changes.

    Where the policy says that unclaimed paths are claimed, and ``take`` allows it, they are claimed here, all or
    nothing; what somebody took in the same moment is found by judging once more.
    """
    beat = pulse(store, agent.id, seat_of)
    decision = decide(changes, beat.snapshot, agent.id, agent.kind, policy, fold, facts)
    if decision.doubtful:
        from gitlock.usecases.looking import look_at

        facts = facts.with_dirty(look_at(decision.doubtful, git, fold))
        decision = decide(changes, beat.snapshot, agent.id, agent.kind, policy, fold, facts)
    if not decision.takeable or decision.violations or not take:
        return Checked(decision, beat, ())
    from gitlock.domain.claim import Granted
    from gitlock.domain.pattern import escape
    from gitlock.usecases.claim import ask, prepare
    from gitlock.usecases.reading import LITERAL, Reading, Taken

    reading = Reading(tuple(Taken(path, LITERAL, (escape(path),)) for path in decision.takeable))
    wish = prepare(
        reading,
        agent=agent,
        mode=EXCLUSIVE,
        ttl=None,
        reason="changed without a claim",
        holder=holder(),
        policy=policy,
        fold=fold,
        facts=facts,
        git=git,
        auto=True,
    )
    outcome = ask(store, wish)
    answer = outcome.answer
    taken = (answer.lease,) if isinstance(answer, Granted) and answer.lease.mode == EXCLUSIVE else ()
    snapshot = store.read()
    # What could not be taken (a whole key is another's, this agent is at work on another host) stays unclaimed.
    rest = policy.replace(unclaimed="reject")
    decision = decide(changes, snapshot, agent.id, agent.kind, rest, fold, facts)
    return Checked(decision, Pulse(snapshot, beat.beat, beat.fault), taken)
