"""Asking holders to let go, answering, asking a person; and ending a lease against its holder's will."""

import os

from gitlock.domain.breaking import Broken, plan_break
from gitlock.domain.claim import Granted, LookFirst
from gitlock.domain.conflict import touching
from gitlock.domain.request import (
    BREAKING,
    DECLINED,
    GRANTED,
    HANDLED,
    OPEN,
    RELEASE,
    NotHeld,
    Request,
    cut,
    plan_grant,
)
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.errors import NoSuchLease, UnsafeError
from gitlock.stores.files.requests import read_request, read_requests, write_request
from gitlock.usecases.claim import Wish
from gitlock.usecases.looking import look_at
from gitlock.usecases.wait import hand_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.agent import Agent
    from gitlock.domain.claim import Clash, Refused
    from gitlock.domain.holding import Wanted
    from gitlock.domain.breaking import NothingThere, StillThere
    from gitlock.domain.policy import Policy
    from gitlock.stores.files.store import FileStore

    Forced = Broken | StillThere | NothingThere | Refused | Clash


def ask_holders(store: "FileStore", wish: Wish, title: str, text: str, *, kind: str = RELEASE) -> Request:
    """Writes down the request. One that the same agent has open for the same claim is renewed, not doubled.

    ``NoSuchLease`` where nobody else holds any of it: there is nothing to ask for.
    """
    claim = wish.claim
    snapshot = store.read()
    holders = tuple(
        dict.fromkeys(
            lease.agent
            for lease in snapshot.leases.all()
            if not lease.belongs_to(claim.agent)
            and lease.left(snapshot.now) > 0
            and touching(lease, claim.names, claim.footprint, wish.fold) is not None
        )
    )
    if not holders and kind == RELEASE:
        raise NoSuchLease(f"nobody else holds '{title}': claim it", hint=f"git lock claim '{title}'")
    same = next(
        (
            one
            for one in read_requests(store.layout)
            if one.state == OPEN and one.kind == kind and one.asker == claim.agent and one.keys == claim.keys
        ),
        None,
    )
    request = Request(
        id=same.id if same is not None else os.urandom(4).hex(),
        kind=kind,
        asker=claim.agent,
        asker_kind=claim.kind,
        to=holders if kind == RELEASE else (),
        claim=title,
        keys=claim.keys,
        include=claim.include,
        exclude=claim.exclude,
        mode=claim.mode,
        ttl=claim.ttl,
        text=cut(text),
        at=same.at if same is not None else snapshot.now.wall,
    )
    write_request(store.layout, request)
    return request


def inbox(store: "FileStore", agent: "Agent", *, everything: bool = False) -> list[Request]:
    """What is asked of this agent, oldest first; with ``everything``, answered ones and its own as well."""
    found = read_requests(store.layout)
    if everything:
        return found
    return [one for one in found if one.state == OPEN and one.is_for(agent.id, agent.kind)]


def answers_for(store: "FileStore", agent: str) -> list[Request]:
    """Answers to this agent's own requests that it was not told yet."""
    return [
        one for one in read_requests(store.layout)
        if one.asker == agent and one.state != OPEN and agent not in one.told
    ]  # fmt: skip


def mark_told(store: "FileStore", request: Request, agent: str) -> None:
    """Remembers that an agent has seen a request or its answer."""
    if agent not in request.told:
        write_request(store.layout, request.replace(told=(*request.told, agent)))


def require_request(store: "FileStore", name: str) -> Request:
    """The open request of that id; ``NoSuchLease`` where there is none."""
    request = read_request(store.layout, name)
    if request is None:
        raise NoSuchLease(f"there is no request '{name}'", hint="git lock inbox --all")
    if request.state != OPEN:
        raise NoSuchLease(f"the request '{name}' was answered already: {request.state}", hint="git lock inbox --all")
    return request


def grant(
    store: "FileStore", agent: "Agent", request: Request, wish: Wish, *, automatic: bool = False
) -> "Granted | Refused | Clash | NotHeld | None":
    """Hands the asked part over to the asker. An escalation or a break is only acknowledged (None)."""
    if not automatic and not request.is_for(agent.id, agent.kind):
        raise UnsafeError(f"the request '{request.id}' is not for you", hint="git lock inbox")
    snapshot = store.read()
    if request.kind != RELEASE:
        state = GRANTED if request.kind == BREAKING else HANDLED
        write_request(store.layout, request.answered(state, agent.id, "", snapshot.now.wall))
        return None
    facts = wish.facts

    def plan(now: Snapshot) -> "tuple[Edits, Granted | Refused | LookFirst | Clash | NotHeld]":
        holder = request.to[0] if automatic else agent.id
        return plan_grant(now, holder, wish.claim, fold=wish.fold, facts=facts)

    answer = store.update(plan)
    if isinstance(answer, LookFirst):
        facts = facts.with_dirty(look_at(answer.leases, wish.git, wish.fold))
        answer = store.update(plan)
    assert not isinstance(answer, LookFirst)
    if isinstance(answer, Granted):
        text = "automatically, since nobody answered" if automatic else ""
        write_request(store.layout, request.answered(GRANTED, agent.id, text, snapshot.now.wall))
        hand_on(store, wish.fold, wish.facts)
    return answer


def decline(store: "FileStore", agent: "Agent", request: Request, text: str) -> Request:
    """Answers no, with a reason; a person who handles an escalation may use it as well."""
    if not request.is_for(agent.id, agent.kind):
        raise UnsafeError(f"the request '{request.id}' is not for you", hint="git lock inbox")
    answered = request.answered(DECLINED, agent.id, cut(text), store.read().now.wall)
    write_request(store.layout, answered)
    return answered


def ripe(request: Request, store: "FileStore", wish: Wish, grace: float) -> bool:
    """Whether a request may be granted automatically: open for its grace, its holder silent since then, and none of
    the asked paths changed in the holder's worktree."""
    snapshot = store.read()
    if request.kind != RELEASE or request.state != OPEN or snapshot.now.wall - request.at < grace:
        return False
    wanted = wish.claim
    theirs = [
        lease for lease in snapshot.leases.all()
        if not lease.belongs_to(wanted.agent) and lease.left(snapshot.now) > 0
        and touching(lease, wanted.names, wanted.footprint, wish.fold) is not None
    ]  # fmt: skip
    if len({lease.agent for lease in theirs}) != 1:
        return False
    if any(snapshot.now.since(lease.renewed) < grace for lease in theirs):
        return False
    return not any(look_at(theirs, wish.git, wish.fold).values())


def grant_if_ripe(store: "FileStore", agent: "Agent", wish: Wish, grace: float) -> bool:
    """Grants this agent's own open request for the same claim, where the policy lets that happen by itself."""
    for request in read_requests(store.layout):
        if request.asker == agent.id and request.keys == wish.claim.keys and ripe(request, store, wish, grace):
            return isinstance(grant(store, agent, request, wish, automatic=True), Granted)
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
    if policy.breaking == "approval":
        _require_approval(store, agent, wish, title, reason)
    done = store.update(plan)
    assert not isinstance(done, LookFirst)
    hand_on(store, wish.fold, wish.facts)
    return done


def _require_approval(store: "FileStore", agent: "Agent", wish: Wish, title: str, reason: str) -> None:
    for one in read_requests(store.layout):
        if one.kind == BREAKING and one.asker == agent.id and one.keys == wish.claim.keys:
            if one.state == GRANTED and one.answered_by != agent.id:
                write_request(store.layout, one.answered(HANDLED, one.answered_by or "", one.answer, one.at))
                return
            if one.state == OPEN:
                raise UnsafeError(
                    f"a second person must approve this (policy breaking = \"approval\"): request {one.id} is open",
                    hint=f"another person: git lock grant {one.id}",
                )
    request = ask_holders(store, wish, title, reason, kind=BREAKING)
    raise UnsafeError(
        f"a second person must approve this (policy breaking = \"approval\"): asked as request {request.id}",
        hint=f"another person: git lock grant {request.id}; then repeat this",
    )


