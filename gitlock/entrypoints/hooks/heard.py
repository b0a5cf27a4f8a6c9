"""Whether the hooks of the agent program in whose shell somebody commits are at work, as far as one look tells: then
there is nothing to say of them.
"""

import os

from gitlock.domain.guarding import is_silent
from gitlock.domain.session import session_id
from gitlock.git.repository import read_small
from gitlock.stores.files.glimpse import hook_at
from gitlock.wiring.identity import session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def is_heard(environ: "Mapping[str, str]", agent: str, top: str | None, sessions: str, wall: float) -> bool:
    """Whether the environment names a session of the agent's at ``top``, and a hook of it was seen lately by its record
    in the folder of ``sessions``."""
    session = session_of(environ)
    if session is None:
        return False
    text = read_small(os.path.join(sessions, session_id(agent, session, top) + ".json")) or ""
    return not is_silent(hook_at(text), wall)

