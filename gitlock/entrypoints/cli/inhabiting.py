"""``git lock spawn … -- CMD``: the command runs in the worktree as its agent, and presence ends with it."""

from gitlock.domain.session import DONE, WORKING, Session, session_id
from gitlock.domain.worktree import PORTS_EACH
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.output import Answer, write
from gitlock.entrypoints.cli.spawned import Made, Told, say_summary, shape
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError
from gitlock.git.process import LOCAL_VARIABLES
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.run import NOT_STARTED, NoHold, Ran, run
from gitlock.usecases.wait import Stop, new_waiter_id
from gitlock.wiring.identity import PID_VARIABLES, RUNNER, SESSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.worktree import Worktree
    from gitlock.entrypoints.cli.options import Given
    from gitlock.wiring.site import Site

# What says who the caller is, or where: the command is somebody else, elsewhere.
_CALLERS = frozenset((
    *LOCAL_VARIABLES, *(name for name, _ in SESSIONS), *PID_VARIABLES, "GITLOCK_TOKEN", "GITLOCK_KIND",
    "GITLOCK_SESSION", RUNNER, "GITLOCK_FENCE", "OLDPWD",
))  # fmt: skip


def environ_of(environ: "Mapping[str, str]", record: "Worktree", scratch: str) -> dict[str, str]:
    """What a command in an agent's worktree sees: nothing of the caller's place or identity, and its own."""
    seen = {name: text for name, text in environ.items() if name not in _CALLERS and name[:8] != "GITHEAD_"}
    seen["PWD"] = record.path
    seen["GITLOCK_AGENT"] = record.agent
    seen["GITLOCK_SCRATCH"] = scratch
    seen["GITLOCK_SLOT"] = str(record.slot)
    seen["GITLOCK_PORT_BASE"] = str(record.port)
    seen["GITLOCK_PORTS"] = str(PORTS_EACH)
    return seen


def inhabit(given: "Given", site: "Site", made: Made, stop: Stop, told: Told) -> Answer:
    """Runs the command to its end, and answers with its code."""
    told.say_now()
    say_summary(given, made, site.now())
    record = made.record
    sessions = SessionBook(site.store.layout)
    name = session_id(record.agent, None, record.path)
    bell = site.store.bell(new_waiter_id())
    try:
        ran = run(
            NoHold(),
            given.rest,
            environ_of(site.environ, record, made.scratch),
            bell,
            stop_on_loss=False,
            max_hold=None,
            stdout=2 if given.flag("json") else None,
            lost=lambda _: None,
            pending=stop,
            folder=record.path,
            started=lambda pid: _register(site, sessions, name, record, pid),
        )
    finally:
        bell.close()
        _leave(sessions, name, site.now().wall)
    return _ended(given, site, made, told, ran)


def _register(site: "Site", sessions: SessionBook, name: str, record: "Worktree", pid: int) -> None:
    """The command is the agent's own process: while it lives, the agent does."""
    holder = site.here.holder(pid=pid, worktree=record.path, branch=record.branch, session=None, clone=site.clone)
    wall = site.now().wall
    session = Session(
        id=name, agent=record.agent, kind="agent", program=None, holder=holder, worktree_id=record.id, state=WORKING,
        since=wall, message="", waited=0.0, started=wall, active=wall,
    )  # fmt: skip
    try:
        sessions.write(session)
    except GitlockError as error:
        write(2, f"git-lock: {record.agent} can't be shown as present: {visible(error.message)}")


def _leave(sessions: SessionBook, name: str, wall: float) -> None:
    session = sessions.find(name)
    if session is None:
        return
    try:
        sessions.write(session.now_in(DONE, wall))
    except GitlockError:
        return  # its process is gone, which says the same


def _ended(given: "Given", site: "Site", made: Made, told: Told, ran: Ran) -> Answer:
    if ran.why == NOT_STARTED or ran.code is None:
        message = f"the worktree is there, but the command could not be started: {visible(ran.fault)}"
        fault = envelope.error("not-started", message, f"cd '{visible(made.record.path)}'")
        return Answer(exitcodes.NOT_STARTED, fault=fault, data=shape(site, made, told))
    if not given.flag("json"):
        return Answer(ran.code)
    failed = envelope.error("child-failed", f"the command ended with {ran.code}") if ran.code else None
    return Answer(ran.code, data=shape(site, made, told, ran.code), fault=failed)
