"""What a branch has to be compared with: the branch that its work is for."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gitlock.git.process import Git

_DEFAULT = "refs/remotes/origin/HEAD"
_USUAL = ("refs/heads/main", "refs/heads/master")
_PLACES = ("refs/heads/", "refs/remotes/")


def baseline(git: "Git", branch: str) -> str | None:
    """The full name of the ref that this branch's work is for, or None where nothing says so.

    In this order: the remote's default branch; an upstream that is not just this branch's copy on the remote; a local
    ``main`` or ``master``; that copy. One call of git, which never talks to a remote.
    """
    return baselines(git, (branch,))[branch]


def remote_default(git: "Git", remote: str) -> str | None:
    """The full name, as it is known here, of the branch that a remote's work goes to: what the remote said, else its
    ``main`` or ``master``; None where there is none of these."""
    prefix = f"refs/remotes/{remote}/"
    named = git.line("symbolic-ref", "-q", prefix + "HEAD")
    wanted = (named,) if named else (prefix + "main", prefix + "master")
    there = os.fsdecode(git.run("for-each-ref", "--format=%(refname)", *wanted)).splitlines()
    return next((name for name in wanted if name in there), None)


def baselines(
    git: "Git", branches: "Collection[str]", asked: "Mapping[str, str] | None" = None
) -> dict[str, str | None]:
    """The same for each of these branches. ``asked`` names for some of them what they were made from: where there is a
    branch of that name, it counts before all else."""
    asked = asked or {}
    named = [prefix + name for name in set(asked.values()) for prefix in _PLACES]
    own = [f"refs/heads/{branch}" for branch in branches]
    out = git.run("for-each-ref", "--format=%(refname)%00%(upstream)", _DEFAULT, *_USUAL, *own, *named)
    refs = {}
    for row in os.fsdecode(out).split("\n")[:-1]:
        name, _, upstream = row.partition("\0")
        refs[name] = upstream
    return {branch: _chosen(refs, branch, asked.get(branch)) for branch in branches}


def _chosen(refs: dict[str, str], branch: str, asked: str | None) -> str | None:
    own = f"refs/heads/{branch}"
    upstream = refs.get(own, "")
    is_copy = upstream.startswith("refs/remotes/") and upstream.split("/", 3)[3:] == [branch]
    candidates = [
        *(prefix + asked for prefix in _PLACES if asked and prefix + asked in refs),
        _DEFAULT if _DEFAULT in refs else "",
        "" if is_copy else upstream,
        *(name for name in _USUAL if name in refs and name != own),
        upstream,
    ]
    return next((name for name in candidates if name and name != own), None)
