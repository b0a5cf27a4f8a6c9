"""Agents at work on a store, without a command line between: what they do are the plans that the commands run.

    alice = Worker(store, "alice")
    assert alice.claim("src/*").lease.fence == 1
    assert isinstance(Worker(store, "bob").claim("src/a.py"), Refused)
"""

import hashlib
import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gitlock.domain.beat import Beat
from gitlock.domain.claim import Claim, Clash, Granted, LookFirst, Refused, plan_claim
from gitlock.domain.conflict import Conflict
from gitlock.domain.holding import Released, Renewed, Wanted, plan_release, plan_renew
from gitlock.domain.instant import Instant
from gitlock.domain.key import path_key
from gitlock.domain.lease import EXCLUSIVE, Ended, Holder, Lease
from gitlock.domain.pattern import PLAIN, Fold, parse_pattern
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import Facts, nothing_known
from gitlock.stores.memory import MemoryStore
from gitlock.usecases.renew import mine, pulse
from tests.kit.clock import ManualClock

if TYPE_CHECKING:
    from gitlock.stores.protocol import LeaseStore

Answer = Granted | Refused | LookFirst | Clash

HERE = Holder("host", worktree="/tree", branch="main", boot="boot", clone="/tree/.git")
NOTHING_KNOWN = Facts(nothing_known)

_numbers = itertools.count(1)


def enforced(_: Conflict) -> str:
    """The policy that stops every conflict."""
    return "enforce"


def warned(_: Conflict) -> str:
    """The policy that stops none."""
    return "warn"


def hashed(token: str) -> str:
    """What a lease keeps of its token."""
    return hashlib.sha256(token.encode()).hexdigest()


def a_claim(
    *include: str,
    agent: str = "alice",
    mode: str = EXCLUSIVE,
    names: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    ttl: float = 600.0,
    reason: str = "",
    kind: str = "agent",
    holder: Holder = HERE,
    token: str = "secret",
) -> Claim:
    """A wish; ``names`` are its semantic keys."""
    return Claim(
        id=f"{next(_numbers):012x}",
        agent=agent,
        kind=kind,
        mode=mode,
        keys=(*names, *(path_key(text, parse_pattern(text).literal) for text in include)),
        include=include,
        exclude=exclude,
        reason=reason,
        ttl=ttl,
        token_hash=hashed(token),
        holder=holder,
    )


def a_lease(
    *include: str,
    agent: str = "alice",
    mode: str = EXCLUSIVE,
    names: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    ttl: float = 600.0,
    reason: str = "",
    fence: int = 1,
    renewed: Instant | None = None,
    holder: Holder = HERE,
    kind: str = "agent",
    token: str = "secret",
) -> Lease:
    """A granted claim."""
    claim = a_claim(*include, agent=agent, mode=mode, names=names, exclude=exclude)
    since = ManualClock()() if renewed is None else renewed
    return Lease(
        id=claim.id, agent=agent, kind=kind, mode=mode, keys=claim.keys, include=include, exclude=exclude,
        reason=reason, fence=fence, acquired=since.wall, renewed=since, ttl=ttl, token_hash=hashed(token),
        holder=holder,
    )  # fmt: skip


def snapshot_of(*leases: Lease, now: Instant | None = None, ended: tuple[Ended, ...] = ()) -> Snapshot:
    """A reading of a store that holds these."""
    clock = ManualClock()
    store = MemoryStore(clock)
    fence = max((lease.fence for lease in leases), default=0)
    store.update(lambda _: (Edits(put=leases, ended=ended, counter=fence), None))
    found = store.read()
    return Snapshot(
        now=clock() if now is None else now, leases=found.leases, ended=found.ended, waiters=found.waiters,
        revision=found.revision, counter=found.counter,
    )  # fmt: skip


def named(text: str) -> Wanted:
    """What an argument of release and renew names: a key if it has a colon, else a pattern."""
    if ":" in text:
        return Wanted(text, frozenset((text,)), name=text)
    spellings = {text, path_key(text, parse_pattern(text).literal)}
    return Wanted(text, frozenset(spellings), include=(text,))


def by_id(lease: Lease) -> Wanted:
    """What names exactly this lease."""
    return Wanted(lease.id, frozenset((lease.id,)))


def processes(alive: Mapping[int, str]) -> Callable[[Lease], str]:
    """A process table made by hand: what can be proved about each process id."""
    return lambda lease: "unknown" if lease.holder.pid is None else alive[lease.holder.pid]


class Worker:
    """One agent on one store."""

    def __init__(self, store: "LeaseStore", agent: str, *, holder: Holder = HERE, fold: Fold = PLAIN) -> None:
        self.store = store
        self.agent = agent
        self.holder = holder
        self.fold = fold

    def claim(
        self,
        *include: str,
        names: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        mode: str = EXCLUSIVE,
        ttl: float = 600.0,
        facts: Facts = NOTHING_KNOWN,
        policy: Callable[[Conflict], str] = enforced,
        kind: str = "agent",
        holder: Holder | None = None,
        token: str = "secret",
        same_agent: bool = False,
    ) -> Answer:
        """Asks for a lease."""
        wish = a_claim(
            *include, agent=self.agent, names=names, exclude=exclude, mode=mode, ttl=ttl, kind=kind,
            holder=self.holder if holder is None else holder, token=token,
        )  # fmt: skip

        def plan(snapshot: Snapshot) -> tuple[Edits, Answer]:
            return plan_claim(
                snapshot, wish, fold=self.fold, facts=facts, mode_of=policy, same_agent=same_agent
            )

        return self.store.update(plan)

    def takes(self, *include: str, **more: object) -> Lease:
        """Asks for a lease that must be granted, and gives it."""
        answer = self.claim(*include, **more)  # type: ignore[arg-type]
        assert isinstance(answer, Granted), answer
        return answer.lease

    def refused(self, *include: str, **more: object) -> tuple[Conflict, ...]:
        """Asks for a lease that must be refused, and gives what stands in the way."""
        answer = self.claim(*include, **more)  # type: ignore[arg-type]
        assert isinstance(answer, Refused), answer
        return answer.conflicts

    def renew(self, *wanted: str | Lease, ttl: float | None = None) -> Renewed:
        """Renews what is named, or everything."""
        wishes = self._wishes(wanted)
        return self.store.update(lambda snapshot: plan_renew(snapshot, self.agent, wishes, ttl, self.fold))

    def release(self, *wanted: str | Lease, token: str | None = None) -> Released:
        """Gives back what is named, or everything."""
        wishes = self._wishes(wanted)
        proof = None if token is None else hashed(token)

        def plan(snapshot: Snapshot) -> tuple[Edits, Released]:
            proves = None if proof is None else (lambda lease: lease.token_hash == proof)
            return plan_release(snapshot, self.agent, wishes, self.fold, proves=proves)

        return self.store.update(plan)

    def beat(self) -> Beat:
        """What any command and hook does in passing."""
        return pulse(self.store, self.agent).beat

    def mine(self) -> Beat:
        """Asks whether everything is still held; hears once what is not."""
        return mine(self.store, self.agent).beat

    @property
    def leases(self) -> list[Lease]:
        """What the store has in this agent's name."""
        return list(self.store.read().leases.of((self.agent,)))

    def _wishes(self, wanted: tuple[str | Lease, ...]) -> tuple[Wanted, ...]:
        return tuple(by_id(one) if isinstance(one, Lease) else named(one) for one in wanted)
