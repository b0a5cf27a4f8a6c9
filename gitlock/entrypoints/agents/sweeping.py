"""Before a command that changes whole folders, or all that git keeps in a worktree: who else is at work there?

A branch, an index and the files are one for everybody in a worktree. A switch takes the others along to another branch,
a reset or a stash takes what they have not committed. It is never refused: nobody may be locked in where he is.
"""

from gitlock.domain.conflict import touching
from gitlock.domain.duration import show_duration
from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import INTENT
from gitlock.domain.pattern import escape
from gitlock.domain.shellgit import WORKTREE
from gitlock.entrypoints.agents.words import SHOWN, lease_row
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError
from gitlock.usecases.edit import is_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.session import Session
    from gitlock.domain.shellwrites import Write
    from gitlock.entrypoints.agents.desk import Desk
    from gitlock.wiring.site import Site


def about_tree(desk: "Desk", site: "Site", folder: str, write: "Write") -> None:
    """Names the others who are at work below the ``folder`` that the command writes to, and what they hold there;
    says nothing where nobody is."""
    if write.sweeps == WORKTREE:
        folder = ""
    below = Footprint.of((escape(folder) + "/" if folder else "**",))
    snapshot = site.store.read()
    found = [
        lease for lease in snapshot.leases.all()
        if not lease.belongs_to(site.agent.id) and lease.mode != INTENT and lease.left(snapshot.now) > 0
        and not is_elsewhere(site, lease) and touching(lease, (), below, site.fold) is not None
    ]  # fmt: skip
    others = _others(desk, site) if write.sweeps else []
    if not (found or others) or (write.unless and _is_file(desk, site, write)):
        return
    where = f"'{visible(folder)}'" if folder else "this worktree"
    head = f"git-lock: this command may change {where}, where others are at work"
    names = ", ".join(_present(one, snapshot.now.wall) for one in others[:SHOWN])
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    lines = [f"{head}: {names}{more}" if others else f"{head}:"]
    lines += [lease_row(lease, snapshot.now) for lease in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"- and {len(found) - SHOWN} more")
    if others:
        lines.append(
            "Branch, index and files here are theirs as well, and what they have not committed may be lost or land on "
            "another branch. A worktree of one's own: git lock spawn NAME"
        )
    desk.tell("\n".join(lines))


def _others(desk: "Desk", site: "Site") -> "list[Session]":
    from gitlock.usecases.observe import others_here
    from gitlock.usecases.presence import own_id

    return others_here(site, own_id(site, site.holder()), site.here.holder_liveness, desk.now)


def _present(one: "Session", wall: float) -> str:
    ago = show_duration(max(0.0, wall - one.active))
    return f"{visible(one.agent)} ({visible(one.state)}, heard of {ago} ago)"


def _is_file(desk: "Desk", site: "Site", write: "Write") -> bool:
    """Whether the word is a file that git knows, though it is not there: it is brought back, and no branch changes."""
    try:
        git = site.repository.git.elsewhere(desk.absolute(write.path))
        return bool(git.run("ls-files", "-z", "--", f":(literal){write.unless}"))
    except GitlockError:
        return False
