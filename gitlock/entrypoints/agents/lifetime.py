"""A session from its first event to its last: begun, prompted, waiting for a person, idle, over; and sub-agents."""

from gitlock.domain.lease import INTENT
from gitlock.domain.session import DONE, IDLE, WORKING, Session
from gitlock.domain.session import WAITING as WAITS
from gitlock.entrypoints.agents.neutral import CONTEXT, GO_ON, Say
from gitlock.entrypoints.agents.news import gather, pending
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError
from gitlock.usecases.leave import hand_over, leave, pass_on, turn_over
from gitlock.wiring.travelling import journey, travels_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.wiring.site import Site

FOLLOWS = ("clear", "resume")  # a session that ends so goes on as another one of the same process
SOON = 60.0  # seconds within which the other one begins
SHOWN = 5  # leases, or sessions, that are named


def begun(desk: "Desk") -> Say:
    """Who it is, what it holds, what others hold, what they ask."""
    _take_over(desk)
    desk.attend(state=IDLE)
    site = desk.site(desk.first)
    _look(desk, site)
    desk.tell(_introduced(desk, site))
    gather(desk, everything=True)
    return Say(CONTEXT, "\n".join(desk.texts), name=desk.asking.session)


def prompted(desk: "Desk") -> Say:
    """A new turn: nothing is under way, and every open request is told, unless that is what the turn is about."""
    _calm(desk)
    desk.attend(state=WORKING)
    desk.sitting = desk.sitting.ended("")
    gather(desk, everything=not desk.event.again)
    return Say(CONTEXT, "\n".join(desk.texts))


def waiting(desk: "Desk") -> Say:
    """A person is asked. What is asked is said best by the event that names the tool: a notification that follows
    says no more than that somebody waits."""
    if not desk.event.tool:
        desk.attend(state=None)
        if desk.session is not None and desk.session.state == WAITS:
            return Say()
    desk.attend(state=WAITS, message=desk.event.question or "a question")
    return Say()


def stopped(desk: "Desk") -> Say:
    """The turn is over. Who was asked for something gets one chance to answer before it sleeps."""
    _calm(desk)
    desk.attend(state=IDLE)
    desk.sitting = desk.sitting.ended("")
    if "/" in desk.site(desk.first).agent.id and not desk.event.child:
        return child_stopped(desk)  # of a program whose sub-agents are sessions
    if desk.event.again:
        return Say()
    return Say(GO_ON, "\n".join(pending(desk)))


def ended(desk: "Desk") -> Say:
    """It is over: its leases go back, but for what is still changed; or they wait for the one that goes on."""
    follows = desk.event.reason in FOLLOWS
    if not follows:
        for tree in desk.places:
            site = desk.site(tree)
            leave(site, None if site.agent.source == "session" else site.environ["GITLOCK_SESSION"])
    desk.attend(state=DONE)
    desk.sitting = desk.sitting.ended("")
    if follows:
        desk.sitting = desk.sitting.replace(over={desk.event.reason: desk.now})
    else:
        travels = travels_of(desk.asking.environ)
        if travels is not None:
            travels.forget(journey(desk.asking.session))
    return Say()


def child_begun(desk: "Desk") -> Say:
    """A sub-agent begins. Where its events will name it alone, it is written down whose it is."""
    if desk.program in ("opencode", "copilot") and desk.event.child:
        from gitlock.stores.files.sessions import SessionBook
        from gitlock.wiring.identity import session_name

        site = desk.site(desk.first)
        own = session_name(desk.program, desk.event.child)
        if own is not None:
            SessionBook(site.store.layout).follow(own, site.agent.id, desk.asking.session)
            return Say()  # its record is that of its own name, made at its first event by it
    desk.attend()
    return Say()


def child_stopped(desk: "Desk") -> Say:
    """A sub-agent has ended: its leases are its parent's."""
    for tree in desk.places:
        site = desk.site(tree)
        if "/" in site.agent.id:
            turn_over(site)
            pass_on(site)
    if "/" in desk.site(desk.first).agent.id:
        desk.attend(state=DONE)
    return Say()


def _calm(desk: "Desk") -> None:
    """Nothing is being edited at this moment."""
    for tree in desk.places:
        turn_over(desk.site(tree))


def _look(desk: "Desk", site: "Site") -> None:
    """What is changed already is not what the next command changes."""
    from gitlock.usecases.observe import observe

    try:
        found = observe(site, None, (), True, act=False)
    except GitlockError:
        return
    sitting = desk.sitting
    desk.attend(state=IDLE, touched=found.touched)
    desk.sitting = sitting


def _introduced(desk: "Desk", site: "Site") -> str:
    """The first words to a session."""
    from gitlock.entrypoints.agents.words import lease_row
    from gitlock.usecases.observe import others_here

    snapshot = site.store.read()
    now, agent = snapshot.now, site.agent.id
    live = [lease for lease in snapshot.leases.all() if lease.left(now) > 0 and lease.mode != INTENT]
    mine = [lease for lease in live if lease.belongs_to(agent)]
    theirs = [lease for lease in live if not lease.belongs_to(agent)]
    first = f"git-lock: in this repository you are {visible(agent)}. Files that you edit are claimed for you; an edit "
    lines = [first + "of a file that another agent holds in this worktree is refused."]
    if mine:
        held = ", ".join(f"'{visible(lease.title, 120)}'" for lease in mine[:SHOWN])
        lines.append(f"You hold: {held}{' and more' if len(mine) > SHOWN else ''}.")
    if theirs:
        lines.append(f"Held by others ({len(theirs)}; all of them: git lock list):")
        lines += [lease_row(lease, now) for lease in theirs[:SHOWN]]
    own = desk.session
    others = others_here(site, own.id if own is not None else "", site.here.holder_liveness, now.wall)
    if others:
        names = ", ".join(visible(one.agent) for one in others[:SHOWN])
        lines.append(f"Also at work in this very worktree: {names}.")
    return "\n".join(lines)


def _take_over(desk: "Desk") -> None:
    """A program that clears or resumes begins another session in the same process: that one goes on with the agent, or
    at least with the leases, of the one before."""
    if desk.event.reason not in FOLLOWS:
        return
    from gitlock.stores.files.sessions import SessionBook

    site = desk.site(desk.first)
    before = _predecessor(desk, site, SessionBook(site.store.layout).all())
    if before is None or before.agent == site.agent.id or site.agent.source != "session":
        return
    desk.follow(before)
    for tree in desk.places:
        site = desk.site(tree)
        book = SessionBook(site.store.layout)
        known = book.find(_own_id(site))
        if known is None and not any(True for _ in site.store.read().leases.of((site.agent.id,))):
            book.follow(desk.asking.session, before.agent)
        else:
            hand_over(site, before.agent)
    desk.reopen()


def _own_id(site: "Site") -> str:
    from gitlock.domain.session import session_id

    return session_id(site.agent.id, site.environ.get("GITLOCK_SESSION"), site.repository.top)


def _predecessor(desk: "Desk", site: "Site", sessions: list[Session]) -> Session | None:
    """The session of the same program that this process was in until now; where processes can't be told, the only one
    that ended so, in this worktree, a moment ago."""
    from gitlock.domain.sitting import sitting_of

    own, holder, wall = _own_id(site), site.holder(), desk.now
    others = [one for one in sessions if one.id != own and one.program == desk.program and "/" not in one.agent]

    def is_over(one: Session) -> bool:
        return any(0 <= wall - at < SOON for at in sitting_of(one).over.values())

    if holder.pid is not None:
        process = (holder.host, holder.boot, holder.pid_space, holder.pid, holder.started)
        same = [
            one for one in others
            if (one.holder.host, one.holder.boot, one.holder.pid_space, one.holder.pid, one.holder.started) == process
            and (is_over(one) or one.state != DONE)
        ]  # fmt: skip
        return max(same, key=lambda one: one.active, default=None)
    ended_here = [one for one in others if is_over(one) and one.holder.worktree == site.repository.top]
    return ended_here[0] if len(ended_here) == 1 else None
