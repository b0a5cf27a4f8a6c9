"""What is done after the answer, in the background: publishing (``publish = "auto"``), and giving back what was pushed
(``release_on = "push"``).

Git has no hook that runs after a push. So pre-push leaves a child behind that waits until that git has ended, looks
whether the remote-tracking ref has moved to what was pushed (git moves it when the remote has said yes), and only then
gives anything back. A push to a URL, or of what the remote's refspec does not track, gives nothing back.
"""

from gitlock.errors import GitlockError, StoreBusy
from gitlock.git.repository import current_branch
from gitlock.usecases.detached import detach, ended
from gitlock.wiring.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.policy import Policy
    from gitlock.git.outgoing import Update
    from gitlock.git.process import Git

PUSH_LIMIT = 3600.0  # seconds that a push may take until nobody waits for its end any more


def publish_soon(site: Site) -> None:
    """Publishes what is held now, in the background, to the usual remote; says nothing of how that ends.

    One publication of a clone runs at a time, and one more waits for it: whoever comes third knows that the second has
    not looked yet at what is held.
    """
    git = _git_of_clone(site)
    branch = current_branch(site.repository.git_dir)
    detach(lambda: _publish(site, git, branch))


def publish_now(site: Site) -> None:
    """The same, by whoever goes on living: a server, whose threads can't be forked."""
    try:
        _publish(site, _git_of_clone(site), current_branch(site.repository.git_dir))
    except (GitlockError, OSError):
        return  # as above: nobody is told how it ends


def _publish(site: Site, git: "Git", branch: str | None, remote: str | None = None) -> None:
    from gitlock.usecases.publishing import publish, remote_for

    kept = site.publications
    place = remote if remote is not None else remote_for(git, None, branch, push=True)
    turn = kept.next_guard()
    try:
        turn.__enter__()
    except StoreBusy:
        return
    publish(
        site.store, git, kept, place, facts=site.facts, clone=site.clone, sure=False, begun=turn.__exit__,
        seat_of=site.seats(),
    )  # fmt: skip


def release_when_pushed(
    site: Site, policy: "Policy", remote: str, updates: "list[Update]", paths: frozenset[str]
) -> None:
    """Gives back the agent's leases whose paths are all pushed, once the push that is about to begin has arrived.
    ``paths`` are what its commits change."""
    pid = site.environ.get("GITLOCK_GIT_PID", "")
    heads = [
        (f"refs/remotes/{remote}/{one.ref[11:]}", one.new)
        for one in updates
        if one.new is not None and one.ref.startswith("refs/heads/")
    ]
    if not paths or not heads or not pid.isdigit() or site.repository.top is None:
        return
    git, top = _git_of_clone(site), site.repository.top

    def work() -> None:
        if not ended(int(pid), PUSH_LIMIT):
            return
        arrived = [new for ref, new in heads if git.line("rev-parse", "-q", "--verify", ref) == new]
        if arrived and _give_back(site, git, top, remote, paths) and policy.publish != "never":
            _publish(site, git, None, remote)

    detach(work)


def _give_back(site: Site, git: "Git", top: str, remote: str, paths: frozenset[str]) -> int:
    """Releases the exclusive leases that cover some of these paths, and of which no path is changed in the worktree or
    in a commit of its branch that was not pushed; answers how many."""
    from gitlock.domain.holding import Wanted
    from gitlock.domain.lease import EXCLUSIVE
    from gitlock.domain.overlap import covers
    from gitlock.git.changes import worktree_changes
    from gitlock.git.outgoing import commits_between, messages, tips_below, with_changes
    from gitlock.usecases.release import release

    tracked = tips_below(git, f"refs/remotes/{remote}/").values()
    head = git.elsewhere(top).line("rev-parse", "-q", "--verify", "HEAD^{commit}")
    pending, _ = commits_between(git, [head] if head else [], tracked)
    busy = {change.path for one in with_changes(git, messages(git, pending)) for change in one.changes}
    busy |= {change.path for change in worktree_changes(git, top)}
    given = 0
    for lease in list(site.store.read().leases.of((site.agent.id,))):
        footprint = lease.footprint
        if lease.mode != EXCLUSIVE or not any(covers(footprint, path, site.fold) for path in paths):
            continue
        if any(covers(footprint, path, site.fold) for path in busy):
            continue
        release(site.store, site.agent.id, (Wanted(lease.id, frozenset((lease.id,))),), site.fold, site.facts)
        given += 1
    return given


def _git_of_clone(site: Site) -> "Git":
    """A git that works from any folder, and outlives the hook's environment."""
    git = site.repository.git.elsewhere(site.repository.common_dir)
    git.environ["GIT_DIR"] = site.repository.common_dir
    return git
