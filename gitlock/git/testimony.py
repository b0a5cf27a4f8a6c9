"""What the commits of a branch and of its base say of themselves: whose they are, under which leases, and what each of
them changes."""

import os

from gitlock.domain.merging import Commit
from gitlock.domain.receipt import Declared, declared, parts
from gitlock.git import outgoing
from gitlock.git.branching import Parted, since_parting
from gitlock.git.process import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def own_commits(git: Git, parted: Parted) -> tuple[Commit, ...]:
    """The branch's commits, newest first; those that a merge has brought in have its number."""
    commits = _commits(git, parted.head, parted.base)
    by_id = {one.id: one for one in commits}
    line, at = [], parted.head
    while at in by_id:
        line.append(at)
        at = by_id[at].parents[0] if by_id[at].parents else ""
    part = dict.fromkeys(line, 0)
    for number, merge in enumerate(reversed(line), 1):
        todo = list(by_id[merge].parents[1:])
        while todo:
            name = todo.pop()
            if name in by_id and name not in part:
                part[name] = number
                todo += by_id[name].parents
    return tuple(one if not part.get(one.id) else one.replace(part=part[one.id]) for one in commits)


def work_of(git: Git, commits: "Iterable[Commit]") -> dict[str, tuple[str, ...]]:
    """What each of these commits changes, by its id; of a merge, what git's own would not have done, where that can be
    told (else nothing)."""
    asked = [outgoing.Commit(one.id, one.parents, one.time, b"") for one in commits]
    return {
        one.oid: tuple(change.path for change in one.changes) if one.exact else ()
        for one in outgoing.with_changes(git, asked)
    }


def landed_commits(git: Git, parted: Parted, paths: "Iterable[str]") -> tuple[Commit, ...]:
    """The base's commits since the merge base that declare something, with those of these paths that each changes and
    that have not come back to what they were; newest first."""
    wanted = set(paths)
    if not wanted or parted.base in parted.merge_bases:
        return ()
    moved = {change.path for change in since_parting(git, parted, parted.base)} & wanted
    commits = _commits(git, parted.base, parted.head, declaring=True) if moved else ()
    if not commits:
        return ()
    touched = _paths_of(git, [commit.id for commit in commits])
    found = []
    for commit in commits:
        own = tuple(path for path in touched.get(commit.id, ()) if path in moved)
        if own:
            found.append(commit.replace(paths=own))
    return tuple(found)


def _commits(git: Git, of: str, but_not: str, *, declaring: bool = False) -> tuple[Commit, ...]:
    """Commits, newest first; only those with one of our trailers somewhere in their messages, if ``declaring``."""
    words = ("--grep=lock-", "--fixed-strings", "--regexp-ignore-case") if declaring else ()
    out = git.run(*asking_log(of, but_not, *words))
    commits = []
    for row in out.split(b"\0"):
        if not row:
            continue
        head, author, committer, message = [*row.split(b"\n", 3), b"", b""][:4]
        name, time, *parents = head.decode().split(" ")
        said = declared(message) if b"ock-" in message else Declared()
        if declaring and not (said.agents or said.receipts or said.bypass):
            continue
        signed, squashed = parts(message) if said.agents or said.receipts else (said, Declared())
        commits.append(
            Commit(
                name, float(time or 0), said, (os.fsdecode(author), os.fsdecode(committer)), signed=signed,
                squashed=squashed, parents=tuple(one for one in parents if one),
            )
        )  # fmt: skip
    return tuple(commits)


def asking_log(of: str, but_not: str, *words: str) -> tuple[str, ...]:
    """How git is asked for commits."""
    return (
        "log", "-z", "--no-show-signature", "--no-notes", "--no-color", "--encoding=UTF-8", *words,
        "--format=%H %ct %P%n%ae%n%ce%n%B", of, "--not", but_not, "--",
    )  # fmt: skip


def _paths_of(git: Git, commits: list[str]) -> dict[str, list[str]]:
    """What each commit changes; of a merge, what differs from all its parents."""
    out = git.feed(
        "diff-tree", "--stdin", "-r", "-c", "--root", "--no-renames", "--ignore-submodules=none", "--name-status", "-z",
        stdin="".join([name + "\n" for name in commits]).encode(),
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    paths: list[str] = []
    fields = iter(os.fsdecode(out).split("\0"))
    for field in fields:
        if _is_oid(field):
            paths = found.setdefault(field, [])
        elif field:
            paths.append(next(fields, ""))
    return found


def _is_oid(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")
