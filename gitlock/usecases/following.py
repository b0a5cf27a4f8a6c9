"""Going on with leases that follow a branch, and ending those whose branch is merged or gone. Any command may do it."""

import os

from gitlock.domain.following import (
    ABANDONED,
    MERGED,
    Follow,
    Followed,
    Seen,
    followed,
    following,
    plan_following,
)
from gitlock.domain.lease import Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.errors import UsageError
from gitlock.git import ledgers as wire
from gitlock.git.baseline import remote_default
from gitlock.git.integration import UNKNOWN, is_integrated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git
    from gitlock.stores.files.publications import Publications
    from gitlock.stores.protocol import LeaseStore


_WORK = ("commit", "cherry-pick", "revert", "am", "rebase")  # how git's log of a branch begins where work was done


def what_to_follow(git: "Git", branch: str | None) -> Follow:
    """The branch that is checked out, and what it will be merged into: the remote's default branch, else main or
    master; ``UsageError`` where that can't be told."""
    if branch is None:
        raise UsageError("--until-merged follows a branch, and none is checked out here", hint="git switch -c NAME")
    base = base_of(git, branch)
    if base is None:
        raise UsageError(
            f"it can't be told what '{branch}' will be merged into", hint="git remote set-head origin --auto"
        )
    tip = _tips(git, [f"refs/heads/{branch}", base])
    if f"refs/heads/{branch}" not in tip:
        raise UsageError(f"'{branch}' has no commit yet: there is nothing to follow", hint="git commit")
    if base.rpartition("/")[2] == branch and base.startswith("refs/heads/"):
        raise UsageError(f"'{branch}' is what others are merged into: it is never merged itself")
    contained = git.try_run("merge-base", "--is-ancestor", tip[f"refs/heads/{branch}"], tip[base])[0] == 0
    return Follow(branch, base, tip[f"refs/heads/{branch}"], ahead=not contained)


def base_of(git: "Git", branch: str) -> str | None:
    """The full ref that a branch will be merged into, as far as can be told; ``UsageError`` for that one itself."""
    remote = wire.usual_remote(git, branch, push=False)
    found = remote_default(git, remote) if remote is not None else None
    if found == f"refs/remotes/{remote}/{branch}":
        raise UsageError(f"'{branch}' is what others are merged into: it is never merged itself")
    if found is not None:
        return found
    own = [git.line("config", "--get", "init.defaultBranch") or "main", "main", "master"]
    return next((f"refs/heads/{name}" for name in own if _tips(git, [f"refs/heads/{name}"])), None)


def begin_following(store: "LeaseStore", kept: "Publications", lease: Lease, follow: Follow) -> Lease:
    """The lease, following from now on; as it was where it is not there any more."""

    def plan(snapshot: Snapshot) -> tuple[Edits, Lease]:
        found = next((one for one in snapshot.leases.of((lease.agent,)) if one.id == lease.id), None)
        if found is None:
            return Edits(), lease
        after = following(found, follow).renewed_at(snapshot.now)
        return Edits(put=(after,)), after

    kept.set_following(True)
    after = store.update(plan)
    kept.set_following(True)  # once more: whoever saw no such lease yet may have taken the sign away meanwhile
    return after


def follow(store: "LeaseStore", git: "Git", kept: "Publications", *, thorough: bool = True) -> Followed:
    """Renews the leases whose branches are on their way, ends those whose branches are merged or gone.

    Costs one look at the disk where nothing follows anything. Not ``thorough``, a squash or a rebase is not looked for,
    which takes git some time; an ordinary merge is.
    """
    if not kept.is_following():
        return Followed()
    snapshot = store.read()
    leases = [lease for lease in snapshot.leases.all() if followed(lease) is not None]
    if not leases:
        kept.set_following(False)
        if any(followed(lease) is not None for lease in store.read().leases.all()):
            kept.set_following(True)
        return Followed()
    refs = set()
    for lease in leases:
        one = followed(lease)
        assert one is not None
        refs |= {f"refs/heads/{one.branch}", one.base}
    tips = _tips(git, sorted(refs))
    seen = {lease.id: _seen(git, lease, tips, thorough=thorough) for lease in leases}

    def plan(now: Snapshot) -> tuple[Edits, Followed]:
        return plan_following(now, seen)

    edits, outcome = plan(snapshot)
    return outcome if edits.is_empty else store.update(plan)


def _seen(git: "Git", lease: Lease, tips: dict[str, str], *, thorough: bool) -> Seen:
    one = followed(lease)
    assert one is not None
    tip, base = tips.get(f"refs/heads/{one.branch}"), tips.get(one.base)
    shown = one.base.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    if tip is None:
        return Seen(ABANDONED, f"the branch '{one.branch}' is gone")
    if base is None:
        return Seen("unknown", f"'{shown}', which '{one.branch}' was to be merged into, is gone")
    contained = git.try_run("merge-base", "--is-ancestor", tip, base)[0] == 0
    if contained:
        worked = one.ahead or (tip != one.start and _has_worked(git, one))
        return Seen(MERGED, f"'{shown}' contains '{one.branch}'") if worked else Seen("begun")
    if thorough and one.ahead:
        found = is_integrated(git, tip, base)
        if found.is_proved:
            return Seen(MERGED, f"'{shown}' contains '{one.branch}' ({found.proof})")
        if found.answer == UNKNOWN:
            return Seen("unknown", found.proof)
    return Seen("ahead")


def _has_worked(git: "Git", one: Follow) -> bool:
    """Whether the branch's log shows commits made on it since it was claimed for: nobody may have looked while it was
    ahead. One that only followed its base has none."""
    out = git.run("log", "-g", "--format=%H %gs", "--max-count=1000", f"refs/heads/{one.branch}", "--", ok=(0, 128))
    for row in os.fsdecode(out).splitlines():
        oid, _, what = row.partition(" ")
        if oid == one.start:
            return False
        if what.startswith(_WORK):
            return True
    return False


def _tips(git: "Git", refs: list[str]) -> dict[str, str]:
    """The commits of those of these refs that are there."""
    out = git.run("for-each-ref", "--format=%(objectname) %(refname)", *refs)
    rows = [row.split(" ", 1) for row in os.fsdecode(out).splitlines()]
    return {ref: oid for oid, ref in rows if ref in refs}
