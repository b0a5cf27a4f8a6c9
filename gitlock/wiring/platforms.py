"""Where a merge check runs, and what it is asked to compare: GitHub Actions, GitLab CI, or somebody's own clone.

What the platforms say can be stale (the event's ``base.sha`` is that of the last push to the branch), or missing, so
the commits themselves are asked first: the parents of the merge that a platform has made, and the target's tip of now.
docs/merge-check.md lists what is taken from where.
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError, UsageError
from gitlock.git.baseline import baseline
from gitlock.git.branching import Ends, parents_of
from gitlock.git.ledgers import default_branch
from gitlock.git.repository import current_branch
from gitlock.usecases.publishing import TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.git.repository import Repository

GITHUB, GITLAB, NONE = "github", "gitlab", ""
EVENT_LIMIT = 8 << 20  # bytes of an event's description


class Platform(Value):
    """``name`` is github, gitlab or empty; ``summary`` the file that a job's summary is written to, where there is
    one."""

    __slots__ = ("name", "summary")

    def __init__(self, name: str, summary: str | None = None) -> None:
        self.name = name
        self.summary = summary


def platform_of(environ: "Mapping[str, str]") -> Platform:
    """Which platform's job this is."""
    if environ.get("GITHUB_ACTIONS") == "true":
        return Platform(GITHUB, environ.get("GITHUB_STEP_SUMMARY") or None)
    return Platform(GITLAB if environ.get("GITLAB_CI") == "true" else NONE)


def platform_here() -> Platform:
    """The same of this process, before it is known whether there is a repository."""
    return platform_of(os.environ)


def find_ends(
    base: str | None, head: str | None, environ: "Mapping[str, str]", repository: "Repository", remote: str | None
) -> Ends:
    """What to compare: what was named, else what the platform says, else this branch and what its work is for.
    ``UsageError`` where nothing says so."""
    for option, text in (("--base", base), ("--head", head)):
        if text is not None and not text.strip():
            # Mostly a variable of the job that is not set; taken for HEAD, everything would be clear.
            raise UsageError(f"{option} is empty", hint="git lock ci --base origin/main --head HEAD")
    platform = platform_of(environ).name
    if base is not None and head is not None:
        return Ends(base, head, branch=_branch(environ, platform, repository, head), how="as named")
    if platform == GITHUB:
        found = _github(environ, repository)
    elif platform == GITLAB:
        found = _gitlab(environ, repository)
    else:
        found = _here(repository, remote)
    if base is not None:
        found = found.replace(base=base, target=None, how=f"base as named, head from {found.how}")
    if head is not None:
        branch = _branch(environ, platform, repository, head)
        found = found.replace(head=head, branch=branch, how=f"head as named, base from {found.how}")
    if found.base is None and found.target is None:
        raise UsageError(f"nothing says what to compare with ({found.how})", hint="git lock ci --base origin/main")
    return found


# -- GitHub Actions


def _github(environ: "Mapping[str, str]", repository: "Repository") -> Ends:
    event, name = _event(environ), environ.get("GITHUB_EVENT_NAME", "")
    how = f"GitHub's {name}"
    branch = _github_branch(environ, event)
    if name in ("pull_request", "pull_request_target", "pull_request_review"):
        request = _part(event, "pull_request")
        head = _text(_part(request, "head"), "sha")
        target = _text(_part(request, "base"), "ref") or environ.get("GITHUB_BASE_REF")
        parents = parents_of(repository.git, "HEAD")
        if len(parents) == 2 and name != "pull_request_target" and (head is None or parents[1] == head):
            return Ends(parents[0], parents[1], branch=branch, how=f"{how}: the parents of the merge that it made")
        return Ends(_text(_part(request, "base"), "sha"), head or "HEAD", target=target, branch=branch, how=how)
    if name == "merge_group":
        group = _part(event, "merge_group")
        # base_sha may be the entry before in the queue, which has not landed: the target's tip is what counts.
        target = (_text(group, "base_ref") or "").removeprefix("refs/heads/") or None
        head = _text(group, "head_sha") or environ.get("GITHUB_SHA") or "HEAD"
        return Ends(_text(group, "base_sha"), head, target=target, branch=None, how=how)
    default = _text(_part(event, "repository"), "default_branch")
    return _pushed(
        environ.get("GITHUB_REF_NAME"), _text(event, "before"), environ.get("GITHUB_SHA"), default, branch, how
    )


def _github_branch(environ: "Mapping[str, str]", event: dict[str, object]) -> str | None:
    request = _part(event, "pull_request")
    theirs, ours = (_text(_part(_part(request, side), "repo"), "full_name") for side in ("head", "base"))
    branch = environ.get("GITHUB_HEAD_REF") or environ.get("GITHUB_REF_NAME") or None
    return _in_fork(branch, theirs) if ours is not None and theirs != ours else branch


def _in_fork(branch: str | None, project: str | None) -> str | None:
    """A fork's branch, written as no branch here can be called: whoever works on one of the same name is another."""
    return f"{project or 'fork'}:{branch}" if branch is not None else None


def _event(environ: "Mapping[str, str]") -> dict[str, object]:
    import json

    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(EVENT_LIMIT))
    except (OSError, ValueError):
        raise RepositoryError(
            f"can't read the event's description '{path}' (GITHUB_EVENT_PATH)",
            hint="git lock ci --base REF --head REF", id="bad-event",
        ) from None  # fmt: skip
    return found if isinstance(found, dict) else {}


def _part(of: dict[str, object], name: str) -> dict[str, object]:
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def _text(of: dict[str, object], name: str) -> str | None:
    found = of.get(name)
    return found if isinstance(found, str) and found else None


# -- GitLab CI


def _gitlab(environ: "Mapping[str, str]", repository: "Repository") -> Ends:
    if not environ.get("CI_MERGE_REQUEST_IID"):
        branch = environ.get("CI_COMMIT_BRANCH")
        return _pushed(
            branch, environ.get("CI_COMMIT_BEFORE_SHA"), environ.get("CI_COMMIT_SHA"),
            environ.get("CI_DEFAULT_BRANCH"), branch, "GitLab's branch pipeline",
        )  # fmt: skip
    kind = environ.get("CI_MERGE_REQUEST_EVENT_TYPE", "detached")
    how = f"GitLab's merge request pipeline ({kind})"
    branch = _gitlab_branch(environ)
    source, onto = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
    if source and onto:
        # Merged results and merge trains: the commit is a merge that GitLab made of these two.
        parents = parents_of(repository.git, environ.get("CI_COMMIT_SHA") or "HEAD")
        base = parents[0] if len(parents) == 2 and parents[1] == source else onto
        return Ends(base, source, branch=branch, how=how)
    return Ends(
        environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or None,
        source or environ.get("CI_COMMIT_SHA") or "HEAD",
        target=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or None,
        branch=branch,
        how=how,
    )


def _gitlab_branch(environ: "Mapping[str, str]") -> str | None:
    branch = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or environ.get("CI_COMMIT_BRANCH") or None
    theirs, ours = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"), environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    if theirs and ours and theirs != ours:
        return _in_fork(branch, environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"))
    return branch


# -- a push, and no platform at all


def _pushed(
    pushed: str | None, before: str | None, after: str | None, default: str | None, branch: str | None, how: str
) -> Ends:
    """A push to the default branch is judged by what was there before, one to another by the default branch."""
    if default is not None and pushed != default:
        return Ends(None, after or "HEAD", target=default, branch=branch, how=how)
    if before and before.strip("0"):
        return Ends(before, after or "HEAD", branch=branch, how=how)
    return Ends(None, after or "HEAD", branch=branch, how=f"{how}: the first push of this branch")


def _here(repository: "Repository", remote: str | None) -> Ends:
    branch = current_branch(repository.git_dir)
    base = baseline(repository.git, branch or "HEAD")
    if base is None:
        return Ends(None, "HEAD", branch=branch, how="no platform that is known, and no branch to compare with")
    short = base.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    copy = base
    if remote is not None and base.startswith("refs/heads/"):
        copy = f"refs/remotes/{remote}/{short}"  # what the remote has of it is newer than what lies here
    copy = repository.git.line("symbolic-ref", "-q", copy) or copy
    is_there = remote is not None and (
        base.startswith(f"refs/remotes/{remote}/")  # it is fetched where it has gone from here
        or repository.git.line("rev-parse", "-q", "--verify", copy) is not None
    )
    if is_there and copy.startswith(f"refs/remotes/{remote}/"):
        target = copy.removeprefix(f"refs/remotes/{remote}/")
        if target == branch and remote is not None:
            # A clone of one branch knows no other: compared with its own copy, any branch would be clear.
            named = default_branch(repository.git, remote, no_hooks=os.devnull, timeout=TIMEOUT)
            if named is None:
                return Ends(None, "HEAD", branch=branch, how=f"this clone knows no branch but '{branch}'")
            target, copy = named, f"refs/remotes/{remote}/{named}"
        return Ends(copy, "HEAD", target=target, branch=branch, how=f"this clone, whose work is for {target}")
    return Ends(base, "HEAD", branch=branch, how=f"this clone, whose work is for {short}")


def _branch(environ: "Mapping[str, str]", platform: str, repository: "Repository", head: str) -> str | None:
    if platform == GITHUB:
        try:
            return _github_branch(environ, _event(environ))
        except RepositoryError:  # both ends are named, and it is needed for neither
            return _github_branch(environ, {})
    if platform == GITLAB:
        return _gitlab_branch(environ)
    git = repository.git
    if head == "HEAD":
        return current_branch(repository.git_dir)
    full = git.line("rev-parse", "-q", "--verify", "--symbolic-full-name", "--end-of-options", head) or ""
    for lead in ("refs/heads/", "refs/remotes/"):
        if full.startswith(lead):
            return full.removeprefix(lead) if lead == "refs/heads/" else full.removeprefix(lead).partition("/")[2]
    return None
