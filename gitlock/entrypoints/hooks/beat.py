"""post-commit: the commit is made. Renews, gives back what is done with, notes what no hook judged; never fails."""

import os

from gitlock.domain.holding import Wanted
from gitlock.domain.lease import EXCLUSIVE, Lease
from gitlock.domain.overlap import covers
from gitlock.domain.snapshot import Event
from gitlock.entrypoints.hooks.marker import git_pid, judged_by_this_git, note_passed
from gitlock.entrypoints.hooks.voice import say
from gitlock.entrypoints.wording import title, visible
from gitlock.errors import GitlockError
from gitlock.git.changes import worktree_changes
from gitlock.git.operation import operation
from gitlock.usecases.release import release
from gitlock.usecases.renew import pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting


def after_commit(setting: "Setting") -> int:
    """The beat after a commit."""
    if not setting.managed:
        return 0
    try:
        site = setting.site
        if setting.policy.general_mode(site.agent.kind) == "off":
            return 0
        beat = pulse(site.store, site.agent.id, site.seat_of)
        doing = operation(setting.repository.git_dir)
        git_dir, environ = setting.repository.git_dir, setting.environ
        if git_pid(environ) and not judged_by_this_git(git_dir, environ):
            site.store.note((Event("unjudged", site.agent.id, _head(setting), note="no hook judged this commit"),))
            note_passed(git_dir, f"{site.agent.id} made a commit that no hook judged: {_head(setting)}")
        if setting.policy.release_on == "commit" and doing.kind == "none":
            _give_back(setting, beat.beat.held)
        if site.follows_branches:
            from gitlock.usecases.following import follow

            follow(site.store, setting.repository.git, site.publications, thorough=False)
    except GitlockError as error:
        say(f"git-lock: the commit is made; afterwards: {visible(error.message)}")
    return 0


def _give_back(setting: "Setting", held: tuple[Lease, ...]) -> None:
    """Releases the leases that covered a path of this commit and have no other changed path."""
    site = setting.site
    git = setting.repository.git
    # -c: of a merge, what differs from all its parents.
    out = git.run(
        "diff-tree", "-c", "-r", "--root", "--no-commit-id", "--no-renames", "--ignore-submodules=none", "--name-only",
        "-z", "HEAD", "--",
    )  # fmt: skip
    done = os.fsdecode(out).split("\0")[:-1]
    changed = [change.path for change in worktree_changes(git, setting.repository.require_top())]
    for lease in held:
        if lease.agent != site.agent.id or lease.mode != EXCLUSIVE or not lease.include:
            continue
        footprint = lease.footprint
        if any(covers(footprint, path, site.fold) for path in done) and not any(
            covers(footprint, path, site.fold) for path in changed
        ):
            release(site.store, site.agent.id, (Wanted(lease.id, frozenset((lease.id,))),), site.fold, site.facts)
            say(f"git-lock: released '{title(lease)}', all committed (policy release_on = \"commit\")")


def _head(setting: "Setting") -> str:
    return (setting.repository.git.line("rev-parse", "--short", "HEAD") or "")[:40]
