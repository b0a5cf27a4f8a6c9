"""Whether a base is fresh: what our branch will be merged into has not changed the claimed paths since we left it."""

import os

from gitlock.domain.overlap import covers
from gitlock.domain.value import Value
from gitlock.errors import RemoteUnreachable
from gitlock.git import ledgers as wire
from gitlock.git.baseline import remote_default
from gitlock.git.changes import changed_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.footprint import Footprint
    from gitlock.domain.pattern import Fold
    from gitlock.git.process import Git

TIMEOUT = 5.0  # seconds that a remote may take to say where its branch is
SHOWN = 5  # commits that are named
_PATHS_LIMIT = 200  # paths of which it is asked who changed them


class Stale(Value):
    """``upstream`` (as people call it) has changed ``paths`` since our base, in ``commits`` (a line each)."""

    __slots__ = ("commits", "paths", "upstream")

    def __init__(self, upstream: str, paths: tuple[str, ...], commits: tuple[str, ...]) -> None:
        self.upstream = upstream
        self.paths = paths
        self.commits = commits


def find_stale(
    git: "Git", branch: str | None, footprint: "Footprint", fold: "Fold", *, no_hooks: str, timeout: float = TIMEOUT
) -> Stale | None:
    """What upstream has changed of these paths; None where the base is fresh.

    The upstreams are the branch's own and the default branch of its remote. Their remotes are asked;
    ``RemoteUnreachable`` where one gives no answer in time, or there is no upstream: then it is not known.
    """
    upstreams = _upstreams(git, branch)
    if not upstreams:
        raise RemoteUnreachable(
            "it can't be told whether the base is fresh: there is no upstream", hint="git branch --set-upstream-to=..."
        )
    for ref, remote, there in upstreams:
        if remote is not None:
            wire.fetch_branch(git, remote, there, ref, no_hooks=no_hooks, timeout=timeout)
        found = _changed(git, ref, footprint, fold)
        if found is not None:
            return found
    return None


def _upstreams(git: "Git", branch: str | None) -> list[tuple[str, str | None, str]]:
    """Each as its ref here, its remote (None: a branch of this repository), and its ref there."""
    found: dict[str, tuple[str | None, str]] = {}
    if branch is not None:
        own = git.line("rev-parse", "-q", "--symbolic-full-name", "--verify", f"refs/heads/{branch}@{{upstream}}")
        remote = git.line("config", "--get", f"branch.{branch}.remote")
        there = git.line("config", "--get", f"branch.{branch}.merge")
        if own and there:
            found[own] = (None if remote in (None, ".") else remote, there)
    remote = wire.usual_remote(git, branch, push=False)
    if remote is not None:
        prefix = f"refs/remotes/{remote}/"
        default = remote_default(git, remote)
        if default is not None and default.startswith(prefix):
            found.setdefault(default, (remote, "refs/heads/" + default[len(prefix) :]))
    return [(ref, remote, there) for ref, (remote, there) in found.items()]


def _changed(git: "Git", ref: str, footprint: "Footprint", fold: "Fold") -> Stale | None:
    base, tip = git.line("merge-base", "HEAD", ref), git.line("rev-parse", "-q", "--verify", ref + "^{commit}")
    if base is None or tip is None:
        raise RemoteUnreachable(
            f"it can't be told whether the base is fresh: no common ancestor with '{_called(ref)}' is known here",
            hint="git fetch --unshallow",
        )
    paths = [change.path for change in changed_between(git, base, tip) if covers(footprint, change.path, fold)]
    if not paths:
        return None
    there = git.elsewhere(git.line("rev-parse", "--show-toplevel") or git.folder or ".")
    there.environ["GIT_LITERAL_PATHSPECS"] = "1"
    words = ("--format=%h %an: %s", f"--max-count={SHOWN}", f"{base}..{tip}", "--", *paths[:_PATHS_LIMIT])
    rows = there.run("log", *words)
    return Stale(_called(ref), tuple(paths), tuple(os.fsdecode(rows).splitlines()))


def _called(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
