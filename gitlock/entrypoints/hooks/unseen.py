"""A commit in an agent program's shell, and no hook of that program was ever seen: its edits are not stopped before
they happen, and nobody has noticed. One line, once a session; it never refuses anything.

Programs skip hooks in silence: untrusted, misspelt, not found. Whoever commits under leases is told here at the latest.
"""

from gitlock.domain.guarding import SAW_COMMIT, is_silent
from gitlock.domain.policy import OFF
from gitlock.entrypoints.hooks.heard import is_heard
from gitlock.entrypoints.hooks.marker import UNSEEN, said_lately
from gitlock.entrypoints.hooks.voice import say
from gitlock.errors import GitlockError
from gitlock.git.config import is_false
from gitlock.wiring.identity import program_around, session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.programs import Program
    from gitlock.domain.session import Session
    from gitlock.entrypoints.hooks.setting import Setting

SETTING = "gitlock.hooknotice"  # false: nothing is said
_SAID = "no hook"  # what the record remembers of having been told


def look_for_hooks(setting: "Setting") -> None:
    """Says so where no hook of the program around us was seen in this session. Never raises."""
    try:
        _look(setting)
    except (GitlockError, OSError):
        return


def _look(setting: "Setting") -> None:
    site = setting.site
    session, wall = session_of(setting.environ), site.now().wall
    if is_heard(setting.environ, site.agent.id, site.repository.top, site.store.layout.sessions, wall):
        return
    from gitlock.domain.programs import PROGRAMS

    program = PROGRAMS.get(program_around(setting.environ) or "")
    if program is None or setting.policy.general_mode(site.agent.kind) == OFF:
        return  # it has no hooks, or nothing that they could stop
    if session is not None:
        _of_session(setting, program, wall)
    elif not _is_heard_of(setting, program, wall) and not said_lately(setting.repository.git_dir, UNSEEN, wall):
        _say(setting, program, None, wall)


def _of_session(setting: "Setting", program: "Program", wall: float) -> None:
    """The record of the session remembers the commit, and that it was told."""
    from gitlock.domain.sitting import remember, sitting_of
    from gitlock.stores.files.sessions import SessionBook
    from gitlock.usecases.presence import touch_session

    site = setting.site
    found = touch_session(site)
    if found is None:
        return
    before = sitting_of(found)
    after = before.saw(SAW_COMMIT, wall)
    if _SAID not in before.heard:
        _say(setting, program, found, wall)
        after = after.said(_SAID, wall)
    if after != before:
        SessionBook(site.store.layout).write(remember(found, after))


def _is_heard_of(setting: "Setting", program: "Program", wall: float) -> bool:
    """Whether a hook of any session of the program was seen lately in this worktree: its shells don't name theirs."""
    from gitlock.stores.files.sessions import SessionBook

    top = setting.repository.top
    return any(
        one.program == program.name and one.holder.worktree == top and not is_silent(one.hook_at, wall)
        for one in SessionBook(setting.site.store.layout).all()
    )


def _say(setting: "Setting", program: "Program", session: "Session | None", wall: float) -> None:
    if is_false(setting.settings.get(SETTING)):
        return
    from gitlock.usecases.mentioned import is_mentioned

    stopped = "so edits are not stopped before they happen"
    if not is_mentioned(program, setting.repository.require_top(), setting.environ):
        say(f"git-lock: {program.title} is not set up here, {stopped}: git lock setup {program.name}")
        return
    if session is None or session.hook_at is None:
        seen = f"no hook of {program.title} was seen here in this session"
    else:
        from gitlock.domain.duration import show_duration

        ago = show_duration(wall - session.hook_at)
        seen = f"the last hook of {program.title} was seen {ago} ago in this session"
    say(f"git-lock: {seen}, {stopped}: git lock doctor")
