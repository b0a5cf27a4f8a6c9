"""Where a session's other repositories are remembered: in the user's own folder for state (XDG Base Directory)."""

import os

from gitlock.domain.session import session_id
from gitlock.stores.files.travels import Travels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.session import Session
    from gitlock.wiring.site import Site


def travels_of(environ: "Mapping[str, str]") -> Travels | None:
    """The user's; None where there is no place for it."""
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".local", "state")
    return Travels(os.path.join(base, "git-lock", "sessions"))


def journey(session: str) -> str:
    """What the travels of a session are kept under; a sub-agent's are its parent's."""
    return session_id("", session.partition("/")[0], None)


def remember_place(site: "Site", record: "Session | None") -> None:
    """A session that has just made its ``record`` here is remembered to be at work here."""
    if record is None or record.started != record.active or record.holder.session is None:
        return
    if site.repository.top is None:
        return
    travels = travels_of(site.environ)
    if travels is None:
        return
    names = [record.holder.session]
    if site.agent.source == "session" and "/" in site.agent.id:
        names.append(site.agent.id)  # its program calls a sub-agent a session: its parent is to know as well
    for key in dict.fromkeys(map(journey, names)):
        travels.add(key, site.repository.top, record.active)
