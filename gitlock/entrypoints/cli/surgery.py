"""What ``git lock doctor`` finds out about agent programs, out of all that a site knows."""

import os
from shutil import which

from gitlock.errors import GitlockError
from gitlock.git.checkouts import list_checkouts
from gitlock.git.process import LOCAL_VARIABLES
from gitlock.stores.files.hooklog import last_lines
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.examining.finding import Finding
from gitlock.usecases.examining.inuse import could_not_answer, heard_of, missing, not_set_up
from gitlock.usecases.examining.programs import examine_programs
from gitlock.usecases.guarded import guarded
from gitlock.usecases.settings.looking import seen_from
from gitlock.wiring.identity import MARKERS, PID_VARIABLES, SESSIONS, program_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.lease import Lease
    from gitlock.domain.session import Session
    from gitlock.wiring.site import Site

ROWS = 200  # lines of the hooks' log that are looked at

_OURS = frozenset((*LOCAL_VARIABLES, *PID_VARIABLES, *(name for name, _ in (*SESSIONS, *MARKERS))))


def look_at_programs(site: "Site", own: str | None, *, here: bool) -> list[Finding]:
    """The findings; with ``here`` no other worktree is looked at. ``own`` is the program of this installation."""
    top = site.repository.require_top()
    environ = plain_environment(site.environ)
    setup = seen_from(top, environ)
    wall = site.now().wall
    sessions, leases = _known(site)
    guards = guarded(sessions, leases, site.liveness_of, wall)
    findings = examine_programs(setup, top, environ, site.repository.git, site.clock.now, _trusted(own, environ))
    findings += heard_of(setup, sessions, guards, wall)
    findings += not_set_up(setup, guards, top, program_around(site.environ))
    checkouts = [one.path for one in list_checkouts(site.repository.git) if not (one.bare or one.gone)]
    setups = {top: setup, **{path: seen_from(path, environ) for path in checkouts if not _same(path, top)}}
    findings += missing(setups, [top] if here else list(setups))
    order = list(dict.fromkeys(one.about for one in findings))
    findings.sort(key=lambda one: order.index(one.about))
    return findings + could_not_answer(last_lines(site.folder, ROWS), wall)


def _trusted(own: str | None, environ: "dict[str, str]") -> frozenset[str]:
    """The git-lock programs that the person runs anyway: this one, and what is found on the PATH."""
    found = (own, which("git-lock", path=environ.get("PATH", os.defpath)))
    return frozenset(os.path.realpath(path) for path in found if path is not None)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def plain_environment(environ: "dict[str, str]") -> dict[str, str]:
    """The person's, without what names a session, a repository, or settings of ours or git's for this one run."""
    return {
        name: text for name, text in environ.items()
        if name not in _OURS and not name.startswith(("GITLOCK_", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"))
    }  # fmt: skip


def _known(site: "Site") -> "tuple[list[Session], list[Lease]]":
    """Sessions and leases, as far as they can be read: what is wrong with the store is said elsewhere."""
    try:
        return SessionBook(site.store.layout).all(), list(site.store.read().leases.all())
    except (GitlockError, OSError):
        return [], []
