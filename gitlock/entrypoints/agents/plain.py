"""Before an edit, and after one, the plain case: every path is the agent's already, its leases are fresh, and there is
no news for it. Then nothing is to be said or done, and most of us need not be loaded to see it. At most, the session's
record is to say that it is at work.

It only ever says that all is well, and only where the whole way round would find the same: an exclusive lease that
names just this path is nobody else's path, is claimed for good, was renewed a moment ago, and is held from this very
branch. Whatever is not plain goes the whole way.
"""

import os

from gitlock import jsontext
from gitlock.domain.agent import lineage
from gitlock.domain.session import WORKING, session_id
from gitlock.entrypoints.agents.neutral import AFTER
from gitlock.errors import GitlockError
from gitlock.git.config import finish_config
from gitlock.git.locate import current_folder, locate_folder
from gitlock.git.process import Git, Known
from gitlock.git.repository import Repository, current_branch, read_small
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.glimpse import hook_at, is_quiet, own_records
from gitlock.stores.files.layout import Layout, shared_bits
from gitlock.wiring.asking import Asking, asked_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.agents.neutral import Event
    from gitlock.git.locate import Spot
    from gitlock.git.process import Child
    from gitlock.stores.files.glimpse import Record

FRESH = 30.0  # seconds that a session's record is good enough as it is
PAUSE = 600.0  # seconds after which a session may well go on in another process, and is looked at anew
PATHS = 8  # of one edit; of more it is not looked at one by one

_SPECIAL = frozenset("\\*?[]!")  # what a pattern that names a path has to escape
_AT_WORK = f'"state":"{WORKING}"'
_SAW_EDIT = '"edit":'  # as the record's field "hooks" has it; a quotation mark in a text would be escaped


def is_settled(
    event: "Event", program: str, environ: dict[str, str], spots: "tuple[Spot, ...]", early: "dict[str, Child]"
) -> bool:
    """Whether nothing has to be said or done at this event before or after an edit of the ``spots``; then the session's
    record is fresh. ``early`` has git's settings of their worktree, and still has them afterwards."""
    first = spots[0]
    if len(spots) > PATHS or "GITLOCK_STORE" in environ or any(spot.top != first.top for spot in spots):
        return False
    settings = _settings(early, first.top)
    branch = current_branch(first.git_dir)
    if settings is None or "gitlock.store" in settings or branch is None:
        return False
    folder = os.path.join(first.common_dir, "agentlocks")
    repository = Repository(Git(None, {}), first.git_dir, first.common_dir, first.top, "", False)
    asking = Asking(program, event.session, event.child, None, locate_folder(event.cwd or current_folder()), environ)
    agent, seen = asked_as(asking, first, repository, settings.get("user.email"), "files")
    now = SystemClock().now()
    name = session_id(agent.id, seen.get("GITLOCK_SESSION"), first.top)
    age, text = _record(folder, name, now.wall)
    if not 0 <= age < PAUSE or not _says_enough(text):
        return False
    layout = Layout(folder, shared_bits(settings.get("core.sharedrepository")))
    found = own_records(layout, lineage(agent.id))
    if found is None or not all(is_quiet(record, now, first.top, branch) for record in found[0]):
        return False
    mine = {path for record in found[0] if record["agent"] == agent.id for path in _surely_held(record)}
    paths = {spot.path for spot in spots}
    if not paths <= mine or not all(map(_SPECIAL.isdisjoint, paths)):
        return False
    if event.kind == AFTER and (
        found[1] or any("tentative" in one for one in found[0]) or not _is_no_news(layout, text, event, paths)
    ):
        return False
    return age < FRESH or _renewed(layout, name, text, now.wall, (agent.id, first.top, branch))


def _is_no_news(layout: Layout, text: str, event: "Event", paths: set[str]) -> bool:
    """Whether a session that has edited these paths before need not be told anything, by its own record; and whether
    nobody has asked for anything."""
    try:
        record = jsontext.loads(text)
        assert type(record) is dict
        hooks = record["hooks"]
        keys = {*paths, f"call {event.call}"}
        if "calls" in hooks or "later" in hooks or not keys.isdisjoint(hooks.get("refused", ())):
            return False
        if not paths <= set(record["touched"]):
            return False
        return not any(name.endswith(".json") for name in os.listdir(layout.requests))
    except FileNotFoundError:
        return True  # nobody has ever asked for anything
    except (OSError, ValueError, KeyError, TypeError, AttributeError, AssertionError):
        return False


def is_fresh(folder: str, agent: str, session: str | None, top: str | None, wall: float) -> bool:
    """Whether the session's record, in the store's ``folder``, says already that it is at work and that a hook before
    an edit was seen, and was written lately: two looks at it."""
    age, text = _record(folder, session_id(agent, session, top), wall)
    return 0 <= age < FRESH and _says_enough(text)


def _record(folder: str, name: str, wall: float) -> tuple[float, str]:
    """How long ago a hook of the session was last written down, in seconds, and its record's text; negative where
    none was. (The file's own time won't do: commands write it as well.)"""
    text = read_small(os.path.join(folder, "sessions", name + ".json")) or ""
    seen = hook_at(text)
    return (wall - seen, text) if seen is not None else (-1.0, "")


def _says_enough(text: str) -> bool:
    return _AT_WORK in text and _SAW_EDIT in text


def _renewed(layout: Layout, name: str, text: str, wall: float, known: tuple[str, str, str]) -> bool:
    """Writes into a session's record that it was heard of now, if that is all that is news: it is the ``known`` agent,
    in that worktree, on that branch."""
    from gitlock.domain.sitting import SEEN_AGAIN
    from gitlock.stores.files.records import write

    try:
        record = jsontext.loads(text)
        assert type(record) is dict
        holder, seen = record["holder"], record["hooks"]["seen"]
        if (record["agent"], holder["worktree"], holder["branch"]) != known or wall - seen["edit"] >= SEEN_AGAIN:
            return False
        write(layout, layout.sessions, name, {**record, "active": wall, "hook_at": wall}, lasting=False)
    except (GitlockError, ValueError, KeyError, TypeError, AssertionError):
        return False
    return True


def _settings(early: "dict[str, Child]", top: str) -> dict[str, str] | None:
    child = early.pop(top, None)
    if child is None:
        return None
    status, out, _ = child.finish()
    if status not in (0, 1):
        return None  # it is asked again, and then says why not
    early[top] = Known(status, out)
    try:
        return finish_config(early[top])
    except GitlockError:
        return None


def _surely_held(record: "Record") -> list[str]:
    """What a lease names, where it excludes everybody else from that, for good, and is no command's by itself. A path
    without special characters is named by its own text."""
    holder, include = record["holder"], record["include"]
    if type(holder) is not dict or "apart" in holder or type(include) is not list:
        return []
    is_firm = record["mode"] == "exclusive" and record["exclude"] == [] and "tentative" not in record
    return [one for one in include if type(one) is str] if is_firm else []
