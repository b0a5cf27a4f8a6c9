"""``git lock state``: what a session says of itself."""

from gitlock.domain.duration import show_duration
from gitlock.domain.session import DONE, IDLE, MESSAGE_LIMIT, WAITING, WORKING, Session, session_id
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of, told
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer
from gitlock.entrypoints.wording import quoted_reason, stamp, visible
from gitlock.errors import StoreUnavailable, UsageError
from gitlock.usecases.renew import pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site

SETTABLE = (WORKING, WAITING, IDLE, DONE)  # `queued` is set by whoever waits for a lease, and taken back


def answer(given: Given) -> Answer:
    """Sets the state, or prints it."""
    message = given.text("message") or ""
    if len(message) > MESSAGE_LIMIT:
        raise UsageError(
            f"the text is longer than {MESSAGE_LIMIT} characters", hint="git lock note --set TEXT (for longer ones)"
        )
    wanted = given.arguments[0] if given.arguments else None
    if wanted is not None and wanted not in SETTABLE:
        raise UsageError(
            f"'{visible(wanted)}' is no state: it is one of {', '.join(SETTABLE)}", hint="git lock state working"
        )
    if wanted is None and message:
        raise UsageError("say which state the text is for", hint="git lock state waiting -m 'which database?'")
    site = site_of(given)
    found = _find(site) if wanted is None else _set(site, wanted, message)
    notes = []
    if wanted is not None:
        beat = pulse(site.store, site.agent.id, site.seat_of)
        notes = told(site, beat.beat, site.now(), beat.snapshot.notice)
    name = visible(site.agent.id)
    if found is None:
        return Answer(lines=[f"{name} has no session here"], notes=notes, data={"session": None})
    now = site.now().wall
    since = show_duration(max(0.0, now - found.since))
    verb = "is now" if wanted is not None else "is"
    text = f"{name} {verb} {found.state}{quoted_reason(found.message)}"
    if wanted is None:
        text += f" (for {since})"
    return Answer(lines=[text], notes=notes, data={"session": session_json(found, now)})


def _find(site: "Site") -> Session | None:
    from gitlock.stores.files.sessions import SessionBook

    return SessionBook(site.store.layout).find(session_id(site.agent.id, site.session, site.repository.top))


def _set(site: "Site", state: str, message: str) -> Session:
    from gitlock.usecases.presence import touch_session

    site.store.layout.make()
    found = touch_session(site, state=state, message=message)
    if found is None:
        raise StoreUnavailable(
            f"'{site.store.layout.sessions}' can't be written", hint="git lock doctor", id="store-unavailable"
        )
    return found


def session_json(one: Session, now: float) -> dict[str, object]:
    """What a session says of itself."""
    waited = one.waited + (max(0.0, now - one.since) if one.state == WAITING else 0.0)
    return {
        "id": one.id,
        "agent": one.agent,
        "kind": one.kind,
        "program": one.program,
        "state": one.state,
        "since": stamp(one.since),
        "message": envelope.name(one.message),
        "waited_s": round(waited, 1),
        "started_at": stamp(one.started),
        "active_at": stamp(one.active),
        "hook_at": stamp(one.hook_at),
    }


COMMAND = Command(
    "state",
    "say that you work, wait for a person, are idle or done",
    answer,
    text=(
        "Sets the state of your session here; without one, prints it. While you wait for a person your leases outlive "
        "their TTL, by at most 4 hours; what you claim or release next says that you are at work again. "
        "`queued`, for a lease, is set by those who wait for one. Hooks of agent programs set all this by themselves."
    ),
    arguments="[STATE]",
    most=1,
    options=(
        Option("-m", "--message", kind=VALUE, metavar="TEXT", help="What for: with waiting, the question."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=("git lock state waiting -m 'which database?'", "git lock state working", "git lock state"),
)
