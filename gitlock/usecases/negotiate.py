"""Asking holders to let go, answering, asking a person; and ending a lease against its holder's will."""

import os

from gitlock.domain.breaking import Broken, plan_break
from gitlock.domain.claim import Granted, LookFirst
from gitlock.domain.conflict import touching
from gitlock.domain.request import (
    BREAKING,
    DECLINED,
    FREED,
    GRANTED,
    HANDLED,
    OPEN,
    RELEASE,
    NotHeld,
    Request,
    cut,
    plan_grant,
)
from gitlock.domain.snapshot import Edits, Event, Snapshot
from gitlock.domain.standing import EXPIRED, Facts, nothing_known, standing
from gitlock.errors import NoSuchLease, StoreError, UnsafeError
from gitlock.usecases.claim import Wish
from gitlock.usecases.looking import look_at
from gitlock.usecases.wait import hand_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.agent import Agent
    from gitlock.domain.breaking import NothingThere, StillThere
    from gitlock.domain.claim import Clash, Refused
    from gitlock.domain.holding import Wanted
    from gitlock.domain.lease import Lease
    from gitlock.domain.pattern import Fold
    from gitlock.domain.policy import Policy
    from gitlock.stores.files.store import FileStore

    Forced = Broken | StillThere | NothingThere | Refused | Clash
    Handed = Granted | Refused | Clash | NotHeld


def ask_holders(store: "FileStore", wish: Wish, title: str, text: str, *, kind: str = RELEASE) -> Request:
    """Writes down the request. One that the same agent has open for the same claim is renewed, not doubled; without a
    new ``text`` it keeps its words.

    ``NoSuchLease`` where nobody else holds any of it: there is nothing to ask for.
    """
    claim = wish.claim
    snapshot = store.read()
    holders = tuple(dict.fromkeys(lease.agent for lease in _in_the_way(snapshot, wish)))
    if not holders and kind == RELEASE:
        raise NoSuchLease(f"nobody else holds '{title}': claim it")
    same = next(
        (
            one
            for one in store.requests.all()
            if one.state == OPEN and one.kind == kind and one.asker == claim.agent and one.keys == claim.keys
        ),
        None,
    )
    request = Request(
        id=same.id if same is not None else os.urandom(4).hex(),
        kind=kind,
        asker=claim.agent,
        asker_kind=claim.kind,
        to=holders,
        claim=title,
        keys=claim.keys,
        include=claim.include,
        exclude=claim.exclude,
        mode=claim.mode,
        ttl=claim.ttl,
        text=cut(text) or (same.text if same is not None else ""),
        at=same.at if same is not None else snapshot.now.wall,
        holder=claim.holder,
    )
    store.requests.add(request)
    verb = {RELEASE: "request", BREAKING: "request"}.get(kind, "escalate")
    store.note((Event(verb, claim.agent, title, request.id, note=request.text, victim=" ".join(holders)),))
    return request


def inbox(store: "FileStore", agent: "Agent", *, everything: bool = False) -> list[Request]:
    """What is asked of this agent, oldest first; with ``everything``, everybody's, and what was answered."""
    if everything:
        return store.requests.all(heard=True)
    return [one for one in store.requests.all() if one.state == OPEN and one.is_for(agent.id, agent.kind)]


def awaited(store: "FileStore", agent: "Agent", fold: "Fold", facts: Facts) -> list[Request]:
    """What this agent has asked for, and nobody has answered yet, oldest first; not what is free by now."""
    mine = [one for one in store.requests.all() if one.state == OPEN and one.asker == agent.id]
    try:
        return [one for one in close_freed(store, mine, fold, facts) if one.state == OPEN]
    except StoreError:
        return mine  # as they were, where nothing can be written


def require_request(store: "FileStore", name: str) -> Request:
    """The open request of that id; ``NoSuchLease`` where there is none."""
    request = store.requests.find(name)
    if request is None:
        raise NoSuchLease(f"there is no request '{name}'", hint="git lock inbox --all")
    if request.state != OPEN:
        raise NoSuchLease(f"the request '{name}' was answered already: {request.state}", hint="git lock inbox --all")
    return request


def grant(
    store: "FileStore", agent: "Agent", request: Request, wish: Wish, *, holder: str | None = None
) -> "tuple[Request, Handed | None]":
    """Hands the asked part over to the asker. An escalation or a break is only acknowledged (None). ``holder`` is
    whose it is where nobody answers for it."""
    if holder is None and not request.is_for(agent.id, agent.kind):
        raise UnsafeError(f"the request '{request.id}' is not for you", hint="git lock inbox")
    if request.kind != RELEASE:
        return _answer(store, request, GRANTED if request.kind == BREAKING else HANDLED, agent.id, ""), None
    facts = wish.facts
    places = [one.id for one in store.read().waiters.of((request.asker,)) if not one.is_ticket]

    def plan(now: Snapshot) -> "tuple[Edits, Handed | LookFirst]":
        return plan_grant(now, holder or agent.id, wish.claim, fold=wish.fold, facts=facts)

    answer = store.update(plan)
    if isinstance(answer, LookFirst):
        facts = facts.with_dirty(look_at(answer.leases, wish.git, wish.fold))
        answer = store.update(plan)
    assert not isinstance(answer, LookFirst)
    if isinstance(answer, Granted):
        text = "automatically, since nobody answered" if holder is not None else ""
        request = _answer(store, request, GRANTED, holder or agent.id, text)
        store.ring(places)  # the asker may be waiting for it
        hand_on(store, wish.fold, wish.facts)
    return request, answer


def decline(store: "FileStore", agent: "Agent", request: Request, text: str) -> Request:
    """Answers no, with a reason; a person who handles an escalation may use it as well."""
    if not request.is_for(agent.id, agent.kind):
        raise UnsafeError(f"the request '{request.id}' is not for you", hint="git lock inbox")
    answered = _answer(store, request, DECLINED, agent.id, cut(text))
    store.note((Event("decline", agent.id, request.claim, request.id, note=answered.answer, victim=request.asker),))
    return answered


def _answer(store: "FileStore", request: Request, state: str, by: str, text: str) -> Request:
    """Writes the answer down, unless somebody else was quicker."""
    at = store.read().now.wall
    answered = store.requests.change(
        request.id, lambda now: now.answered(state, by, text, at) if now.state == OPEN else None
    )
    if answered is None and state not in (GRANTED, FREED):
        raise NoSuchLease(f"the request '{request.id}' was answered already", hint="git lock inbox --all")
    return answered or request.answered(state, by, text, at)


def close_freed(
    store: "FileStore", found: "Iterable[Request]", fold: "Fold", facts: Facts | None = None
) -> list[Request]:
    """These requests, those of which nobody who was asked holds anything any more closed."""
    snapshot = store.read()
    facts = Facts(nothing_known) if facts is None else facts
    closed = []
    for request in found:
        if request.kind == RELEASE and request.state == OPEN:
            of_them = snapshot.leases.of(request.to)
            theirs = [one for one in of_them if standing(one, snapshot.now, facts) != EXPIRED]
            if not any(request.touches(lease, fold) for lease in theirs):
                by = request.to[0] if request.to else request.asker
                closed.append(_answer(store, request, FREED, by, ""))
                continue
        closed.append(request)
    return closed


def _in_the_way(snapshot: Snapshot, wish: Wish) -> "list[Lease]":
    wanted = wish.claim
    return [
        lease for lease in snapshot.leases.all()
        if not lease.belongs_to(wanted.agent) and standing(lease, snapshot.now, wish.facts) != EXPIRED
        and touching(lease, wanted.names, wanted.footprint, wish.fold) is not None
    ]  # fmt: skip


def idle_holder(request: Request, store: "FileStore", wish: Wish, grace: float) -> str | None:
    """Whose lease may be granted automatically: the request is open for its grace, the one holder was asked, has been
    silent since then, and changed none of the asked paths in its worktree.

    A holder that is at work renews its leases every tenth of their TTL, a command under ``run`` every third of it: so
    much longer than the grace it must have been silent.
    """
    snapshot = store.read()
    if request.kind != RELEASE or request.state != OPEN or snapshot.now.wall - request.at < grace:
        return None
    theirs = _in_the_way(snapshot, wish)
    holders = {lease.agent for lease in theirs}
    if len(holders) != 1 or not holders <= set(request.to):
        return None
    if any(snapshot.now.since(lease.renewed) < grace + lease.ttl / 3 for lease in theirs):
        return None
    return None if any(look_at(theirs, wish.git, wish.fold).values()) else holders.pop()


def grant_if_idle(store: "FileStore", agent: "Agent", wish: Wish, grace: float) -> bool:
    """Grants this agent's own open request for the same claim, where the policy lets that happen by itself."""
    for request in store.requests.all():
        if request.asker == agent.id and request.keys == wish.claim.keys:
            holder = idle_holder(request, store, wish, grace)
            if holder is not None:
                return isinstance(grant(store, agent, request, wish, holder=holder)[1], Granted)
    return False


def force(
    store: "FileStore",
    agent: "Agent",
    wanted: "tuple[Wanted, ...]",
    wish: Wish,
    *,
    take: bool,
    reason: str,
    forced: bool,
    dry_run: bool,
    policy: "Policy",
    title: str,
) -> "Forced":
    """Breaks (or, with ``take``, steals) what is named. Where the policy asks for it, only with a second person's
    word: without one, the wish for it is written down, and ``UnsafeError`` says how it is given."""
    facts = wish.facts

    def plan(snapshot: Snapshot) -> "tuple[Edits, Forced | LookFirst]":
        return plan_break(
            snapshot, agent.id, wanted, reason=reason, force=forced, fold=wish.fold, facts=facts,
            claim=wish.claim if take else None,
        )  # fmt: skip

    answer = plan(store.read())[1]
    if isinstance(answer, LookFirst):
        facts = facts.with_dirty(look_at(answer.leases, wish.git, wish.fold))
        answer = plan(store.read())[1]
    assert not isinstance(answer, LookFirst)
    if dry_run or not isinstance(answer, Broken):
        return answer
    approval = None
    if policy.breaking == "approval":
        approval = _require_approval(store, agent, wish, title, reason, answer.leases)
    done = store.update(plan)
    assert not isinstance(done, LookFirst)
    if isinstance(done, Broken):
        if approval is not None:
            store.requests.change(approval.id, lambda now: now.replace(state=HANDLED))
        store.ring([lease.id for lease in done.leases])  # a command that runs under it is told to end
        hand_on(store, wish.fold, wish.facts, done.leases)
    return done


def _require_approval(
    store: "FileStore", agent: "Agent", wish: Wish, title: str, reason: str, leases: "tuple[Lease, ...]"
) -> Request:
    """The second person's word for just this, of these holders; else it is asked for, and ``UnsafeError``."""
    rule = "a second person must approve this (policy breaking = \"approval\")"
    victims = {lease.agent for lease in leases}
    for one in store.requests.all(heard=True):
        if one.kind == BREAKING and one.asker == agent.id and one.keys == wish.claim.keys and victims <= set(one.to):
            if one.state == GRANTED and one.answered_by != agent.id:
                return one
            if one.state == OPEN:
                raise UnsafeError(
                    f"{rule}: request {one.id} is open", hint=f"another person: git lock grant {one.id}", id="approval"
                )
    request = ask_holders(store, wish, title, reason, kind=BREAKING)
    raise UnsafeError(
        f"{rule}: asked as request {request.id}",
        hint=f"another person: git lock grant {request.id}; then repeat this", id="approval",
    )  # fmt: skip
