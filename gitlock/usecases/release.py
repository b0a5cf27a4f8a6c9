"""Giving leases back, whole or in part."""

from gitlock.domain.beat import with_beat
from gitlock.domain.holding import Released, Wanted, plan_release
from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.usecases.renew import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.beat import SeatOf
    from gitlock.domain.pattern import Fold
    from gitlock.domain.standing import Facts
    from gitlock.stores.protocol import LeaseStore


def release(
    store: "LeaseStore",
    agent: str,
    wanted: tuple[Wanted, ...],
    fold: "Fold",
    facts: "Facts",
    *,
    token: str | None = None,
    seat_of: "SeatOf | None" = None,
) -> Released:
    """Gives back what is named; everything of the agent's when nothing is named.

    A ``token`` also opens the lease that it was granted with, whoever holds it. Whoever waits for it is woken. The
    agent's other leases are renewed with it. ``UsageError`` for an argument that names no lease and can't be read as a
    claim either.
    """
    proof = None
    if token is not None:
        from gitlock.digest import sha256_hex

        proof = sha256_hex(token.encode("utf-8", "surrogateescape"))

    def proves(lease: Lease) -> bool:
        return lease.token_hash == proof

    def plan(snapshot: Snapshot) -> tuple[Edits, tuple[Released, int]]:
        edits, answer = plan_release(snapshot, agent, wanted, fold, proves=proves if proof is not None else None)
        edits, beat = with_beat(edits, snapshot, agent, seat_of)
        return edits, (answer.replace(beat=beat), snapshot.waiters.count())

    outcome, waiting = store.update(plan)
    if waiting and (outcome.released or outcome.narrowed):
        from gitlock.usecases.wait import hand_on

        hand_on(store, fold, facts, None if outcome.narrowed else outcome.released)
    complain(outcome.missing)
    return outcome
