"""What a branch would change in its base: where the two parted, what each has done since, and who said so.

A shallow clone knows a wrong merge base, or none, and says so with status 0. So where history is cut short it is
fetched, and where it stays cut between the merge base and either end, nothing is answered (``RepositoryError``,
``no-merge-base``).
"""

import os

from gitlock.domain.change import Change
from gitlock.domain.merging import Other
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, RemoteUnreachable, RepositoryError, UsageError
from gitlock.git.changes import changed_between, resolve_commit
from gitlock.git.foreseen import Foreseen
from gitlock.git.merges import mechanical_merge
from gitlock.git.process import Git, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FETCH_TIMEOUT = 120.0  # seconds for each fetch of history
SHALLOW = ("rev-parse", "--git-path", "shallow")
OTHERS_LIMIT = 50  # open branches that are compared, the latest first

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never"}


class Ends(Value):
    """What is to be compared, as texts that name commits. ``target`` is the branch whose tip the base is: it is
    fetched, so that it is the tip of now, and ``base`` is what counts where that is not needed. ``branch`` is the
    head's branch; ``how`` says where we know it from."""

    __slots__ = ("base", "branch", "head", "how", "target")

    def __init__(
        self, base: str | None, head: str, *, target: str | None = None, branch: str | None = None, how: str = ""
    ) -> None:
        self.base = base
        self.head = head
        self.target = target
        self.branch = branch
        self.how = how


class Parted(Value):
    """``base`` and ``head`` are commits, ``merge_bases`` where they parted (several after criss-cross merges)."""

    __slots__ = ("base", "head", "merge_bases")

    def __init__(self, base: str, head: str, merge_bases: tuple[str, ...]) -> None:
        self.base = base
        self.head = head
        self.merge_bases = merge_bases

    @property
    def merge_base(self) -> str:
        """The first of them."""
        return self.merge_bases[0]


# -- the ends


def find_ends(
    git: Git, ends: Ends, remote: str | None, meanwhile: "Callable[[str, str], None] | None" = None
) -> Parted:
    """The commits, fetched where they are missing, and where they parted; ``RepositoryError`` where that can't be
    known for sure, ``UsageError`` where a text names nothing. ``meanwhile`` is called as soon as both commits (base and
    head) are known, and again where history was fetched since."""
    head = _commit(git, ends.head, remote)
    base = _tip(git, ends.target, remote) if ends.target is not None else _commit(git, ends.base or "", remote)
    for last in (False, True):
        if meanwhile is not None:
            meanwhile(base, head)
        found = git.try_run("merge-base", "--all", base, head)
        bases = tuple(found[1].decode().split()) if found[0] == 0 else ()
        if found[0] not in (0, 1):
            raise failure(("merge-base",), found[0], found[2])
        if bases and not _is_cut(git, base, head, bases):
            return Parted(base, head, bases)
        if last or remote is None or not is_shallow(git):
            break
        _fetch(git, remote, "--unshallow", base, head)
    if not is_shallow(git):
        raise RepositoryError(
            f"'{_short(base)}' and '{_short(head)}' have no common ancestor: these are two histories",
            hint="git log --oneline --graph --all", id="no-merge-base",
        )  # fmt: skip
    raise RepositoryError(
        "this clone is shallow, and where the branch left its base is not in it",
        hint="git fetch --unshallow (GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: 0)", id="no-merge-base",
    )  # fmt: skip


def parents_of(git: Git, commit: str) -> tuple[str, ...]:
    """The parents that a commit itself names; a shallow clone hides them from everything else."""
    status, out, _ = git.unreplaced().try_run("cat-file", "commit", commit)
    found = []
    for row in out.split(b"\n") if status == 0 else []:
        if not row:
            break
        if row.startswith(b"parent "):
            found.append(row[7:].decode())
    return tuple(found)


def is_shallow(git: Git) -> bool:
    """Whether history is cut short somewhere."""
    return git.line("rev-parse", "--is-shallow-repository") == "true"


def _is_cut(git: Git, base: str, head: str, bases: tuple[str, ...]) -> bool:
    """Whether history is cut short between the merge base and either end, so that it may be a wrong one."""
    path = git.line(*SHALLOW)
    try:
        with open(os.path.join(git.folder or "", path or ""), "rb") as file:
            cuts = frozenset(file.read().split())
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if cuts and len(bases) > 1:
        return True  # what git makes of them depends on what lies below
    between = git.run("rev-list", base, head, "--not", *bases, "--")
    return not cuts.isdisjoint(between.split())


def _commit(git: Git, text: str, remote: str | None) -> str:
    """The commit that a text names; a name that only the remote's copy has, and one that is missing, are looked for."""
    try:
        return resolve_commit(git, text)
    except UsageError:
        if text.startswith("-"):
            raise
    except RepositoryError as error:
        if error.id == "git-refused":
            raise
    if remote is None:
        return resolve_commit(git, text)
    if _is_oid(text):
        _fetch(git, remote, text)
        return resolve_commit(git, text)
    copy = f"refs/remotes/{remote}/{text}"
    if git.line("rev-parse", "-q", "--verify", copy) is not None:
        return resolve_commit(git, copy)
    try:
        return _tip(git, text, remote)
    except RemoteUnreachable:
        return resolve_commit(git, text)  # says that it names nothing


def _tip(git: Git, branch: str, remote: str | None) -> str:
    """Where a branch is now: at the remote, if there is one."""
    branch = branch.removeprefix("refs/heads/")
    if git.try_run("check-ref-format", f"refs/heads/{branch}")[0]:
        raise UsageError(f"'{branch}' can't name a branch")
    if remote is None:
        return resolve_commit(git, f"refs/heads/{branch}")
    copy = f"refs/remotes/{remote}/{branch}"
    _fetch(git, remote, f"+refs/heads/{branch}:{copy}")
    return resolve_commit(git, copy)


def _fetch(git: Git, remote: str | None, *what: str) -> None:
    """Brings history; ``RemoteUnreachable`` where it does not come."""
    if remote is None:
        raise RepositoryError(
            "history is missing here, and there is no remote to fetch it from", hint="git remote -v", id="no-merge-base"
        )
    if isinstance(git, Foreseen):
        git.forget()
    quiet = Git(git.folder, {**git.environ, **_QUIET})
    options = [word for word in what if word.startswith("--")]
    wanted = [word for word in what if not word.startswith("--")]
    status, _, err = quiet.bounded(
        "-c", f"core.hooksPath={os.devnull}", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
        "--no-auto-gc", "--recurse-submodules=no", *options, "--", remote, *wanted, timeout=FETCH_TIMEOUT,
    )  # fmt: skip
    if status == 0:
        return
    said = [row for row in err.splitlines() if row.startswith(("fatal: ", "error: "))]
    why = said[0].partition(": ")[2] if said else "no answer in time" if status is None else f"git ended with {status}"
    raise RemoteUnreachable(f"history can't be fetched from '{remote}': {why}", hint=f"git fetch {remote}")


# -- what was done


def branch_changes(git: Git, parted: Parted) -> list[Change]:
    """What the branch changes: what it has done since the two parted, and would differ in the base. What it has merged
    in from its base, or has in common with it by now (picked, squashed), is no change of its."""
    changes = since_parting(git, parted, parted.head)
    if changes and parted.base not in parted.merge_bases:
        there = {change.path for change in changed_between(git, parted.base, parted.head)}
        changes = [change for change in changes if change.path in there]
    return changes


def since_parting(git: Git, parted: Parted, end: str) -> list[Change]:
    """What differs at ``end`` from where the two parted. Of two merge bases neither has it all: what counts is git's
    own merge of them, as where git merges the ends. Of more, and with a git before 2.38, it is what differs from any:
    rather a path too many than one that nobody judges."""
    changes = changed_between(git, parted.merge_base, end)
    if len(parted.merge_bases) == 1:
        return changes
    every = {change.path: change for base in parted.merge_bases[1:] for change in changed_between(git, base, end)}
    every.update((change.path, change) for change in changes)
    merged = mechanical_merge(git, *parted.merge_bases) if len(parted.merge_bases) == 2 else None
    if merged is None:
        return [every[path] for path in sorted(every)]
    tree, conflicts = merged
    found = {path: every[path] for path in conflicts if path in every}
    found.update((change.path, change) for change in changed_between(git, tree, end))
    return [found[path] for path in sorted(found)]


def other_branches(git: Git, parted: Parted, paths: "Iterable[str]", remote: str | None) -> tuple[Other, ...]:
    """Open branches that change some of these paths too, the latest first: those that this clone knows of."""
    wanted = set(paths)
    place = _branches(remote)
    out = git.run(*asking_others(parted.base, remote))
    found = []
    for row in os.fsdecode(out).splitlines():
        tip, _, ref = row.partition(" ")
        symref, _, ref = ref.partition(" ")
        if symref or tip == parted.head or _contains(git, tip, parted.head):
            continue
        try:
            base = git.line("merge-base", parted.base, tip)
            changed = {change.path for change in changed_between(git, base, tip)} & wanted if base else set()
            changed = changed and {change.path for change in changed_between(git, parted.base, tip)} & changed
        except GitlockError:
            continue  # only a warning is lost
        if changed:
            found.append(Other(ref.removeprefix(place), tuple(sorted(changed))))
    return tuple(found)


def _branches(remote: str | None) -> str:
    return f"refs/remotes/{remote}/" if remote is not None else "refs/heads/"


def asking_others(base: str, remote: str | None) -> tuple[str, ...]:
    """How git is asked for the open branches."""
    return (
        "for-each-ref", f"--count={OTHERS_LIMIT}", "--sort=-committerdate", f"--no-merged={base}",
        "--format=%(objectname) %(symref) %(refname)", _branches(remote),
    )  # fmt: skip


def first_changed_line(git: Git, parted: Parted, path: str) -> int | None:
    """The first line of a file that the branch changes; None where there is none to show (deleted, binary, a link)."""
    scoped = Git(git.folder, {**git.environ, "GIT_LITERAL_PATHSPECS": "1"})
    status, out, _ = scoped.try_run(
        "diff-tree", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", parted.merge_base,
        parted.head, "--", path,
    )  # fmt: skip
    for row in out.split(b"\n") if status == 0 else []:
        if row.startswith(b"@@ "):
            number = row.split(b"+", 1)[1].split(b" ", 1)[0].split(b",", 1)[0]
            return int(number) or None
    return None


def file_at(git: Git, commit: str, path: str) -> bytes | None:
    """A file as of a commit; None where it is not there, or no file. One that is there, and whose content is missing or
    damaged, is an error: git's ``cat-file --batch`` says the same of both."""
    row = git.run(*asking_place(commit, path))
    words = row.partition(b"\t")[0].split(b" ")
    return git.run("cat-file", "blob", words[2].decode()) if len(words) == 3 and words[1] == b"blob" else None


def asking_place(commit: str, path: str) -> tuple[str, ...]:
    """How git is asked what lies at a path."""
    return "ls-tree", "-z", "--full-tree", commit, "--", path


def _contains(git: Git, tip: str, other: str) -> bool:
    """Whether one branch is the other and more, or a part of it: then there is nothing to collide."""
    return git.try_run("merge-base", "--is-ancestor", other, tip)[0] == 0 or (
        git.try_run("merge-base", "--is-ancestor", tip, other)[0] == 0
    )


def _is_oid(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def _short(oid: str) -> str:
    return oid[:10]
