"""Which commits were made in a worktree, by the log that git keeps of its HEAD; which of them nothing else reaches; and
what became of the branches that were worked on there.

The log goes with the worktree, and with it the last that names a commit made on a detached HEAD or reset away. What
was replaced on purpose is not lost work: the commit before an ``--amend``, what a rebase took apart. A commit whose
changes are in the branch or the target all the same (squashed by ``reset --soft``, picked elsewhere) is not either.
"""

import os

from gitlock.domain.value import Value
from gitlock.git.integration import YES, is_integrated
from gitlock.git.repository import read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

LOG_LIMIT = 8 << 20  # bytes of HEAD's log that are read, the latest
OWN_REFS = ("refs/worktree", "refs/bisect", "refs/rewritten")  # a worktree's own: gone with it (gitglossary(7))
AUTOSTASHES = ("rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH")  # git's rebase.c, sequencer.c


class HeadLog(Value):
    """What HEAD's log tells: ``made`` are the commits that it moved to by committing, ``seen`` all that it moved to,
    ``replaced`` those that were rewritten on purpose, ``branches`` the names that were switched from and to."""

    __slots__ = ("branches", "made", "replaced", "seen")

    def __init__(
        self, seen: tuple[str, ...], made: frozenset[str], replaced: tuple[str, ...], branches: tuple[str, ...]
    ) -> None:
        self.seen = seen
        self.made = made
        self.replaced = replaced
        self.branches = branches


_COMMITS = ("commit", "merge", "cherry-pick", "revert", "am", "pull", "rebase")


def head_log(admin: str) -> HeadLog:
    """The log of one worktree, by its git folder; empty where there is none. ``OSError`` where it can't be read."""
    rows = _rows(os.path.join(admin, "logs", "HEAD"))
    seen: dict[str, None] = {}
    made: set[str] = set()
    replaced: dict[str, None] = {}
    branches: dict[str, None] = {}
    at = begun = None  # where HEAD is, as far as the log tells, and where it was when a rebase began
    for row in rows:
        head, _, message = os.fsdecode(row).partition("\t")
        old, new, *_ = [*head.split(" ", 2), "", ""]
        if not (_is_oid(old) and _is_oid(new)):
            continue
        seen.update((oid, None) for oid in (old, new) if oid.strip("0"))
        verb = message.partition(":")[0]
        if verb.startswith(_COMMITS):
            made.add(new)
        if old != new and (verb == "commit (amend)" or verb.startswith("rebase")):
            replaced[old] = None
        if verb == "rebase (start)":
            begun = old
        elif verb.startswith("rebase") and "returning to refs/heads/" in message:
            # `git rebase UPSTREAM BRANCH` leaves what HEAD was on before, and rewrites the branch.
            after = message.partition("returning to refs/heads/")[2]
            if at is not None and at != after and begun is not None:
                replaced.pop(begun, None)
            at = after
        if message.startswith("checkout: moving from "):
            before, _, at = message[22:].rpartition(" to ")
            branches.update({before: None, at: None})
    return HeadLog(tuple(seen), frozenset(made), tuple(replaced), tuple(branches))


def _rows(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_LIMIT))
            return file.read().split(b"\n")
    except FileNotFoundError:
        return []


def has_worked(common_dir: str, branch: str, admin: str | None) -> bool:
    """Whether anybody has ever made a commit on a branch, or in the worktree of this git folder: so git's logs say. To
    be fast-forwarded, or rebased without anything to rebase, is not to work; and where there is no log, nobody can
    tell that somebody has."""
    places = [os.path.join(common_dir, "logs", "refs", "heads", *branch.split("/"))]
    if admin is not None:
        places.append(os.path.join(admin, "logs", "HEAD"))
    return any(_is_work(os.fsdecode(row)) for place in places for row in _rows(place))


def _is_work(row: str) -> bool:
    head, _, message = row.partition("\t")
    old, new, *_ = [*head.split(" ", 2), "", ""]
    verb, _, what = message.partition(":")
    if old == new or not verb.startswith(_COMMITS):
        return False
    if verb.startswith("commit"):
        return True
    return "ast-forward" not in what and not verb.endswith(("(start)", "(finish)", "(abort)"))


def shared(git: "Git", git_dir: str) -> "Git":
    """Git, asked about refs and commits by a git folder: the common one, whichever worktree is still there, or that of
    a worktree which may be gone."""
    there = git.elsewhere(git_dir)
    there.environ["GIT_DIR"] = git_dir
    return there


def own_ref_tips(git: "Git", admin: str) -> list[str]:
    """The commits that the worktree's own refs name (``refs/worktree/…``), and those that a rebase or a merge in
    progress has put uncommitted work away in (``--autostash``)."""
    there = shared(git, admin)
    rows = there.run("for-each-ref", "--format=%(objectname) %(objecttype)", *OWN_REFS)
    tips = [oid for oid, _, kind in (row.partition(" ") for row in os.fsdecode(rows).splitlines()) if kind == "commit"]
    put_away = [(read_small(os.path.join(admin, *place.split("/"))) or "").strip() for place in AUTOSTASHES]
    return tips + _existing(there, [oid for oid in put_away if _is_oid(oid)])


def only_here(git: "Git", common_dir: str, roots: "list[str]", replaced: "tuple[str, ...]") -> list[str]:
    """The commits behind ``roots`` that no branch, tag, remote or other shared ref reaches, the latest first, without
    what was ``replaced``. Snapshots of our own don't count: they are kept for a time only; and so don't the HEADs of
    worktrees, this one's above all. Roots that are not there any more are passed over."""
    there = shared(git, common_dir)
    if not roots:
        return []
    known = set(_existing(there, [*roots, *replaced]))
    asked = [oid for oid in dict.fromkeys(roots) if oid in known and oid not in replaced]
    if not asked:
        return []
    rows = [*asked, *(f"^{oid}" for oid in replaced if oid in known)]
    out = there.feed(
        "rev-list", "--topo-order", "--single-worktree", "--stdin", "--not", "--exclude=refs/gitlock/*", "--all",
        stdin="".join(f"{row}\n" for row in rows).encode(),
    )  # fmt: skip
    return os.fsdecode(out).split()


def only_in_log(git: "Git", log: HeadLog, others: "list[str]") -> list[str]:
    """The commits that a repository of its own was at and that neither these nor any remote or tag reach; for those
    that were made there, a tag does not count, since it is as likely one that no remote has."""
    found = _unreached(git, log, log.seen, others, "--tags")
    return found or _unreached(git, log, tuple(oid for oid in log.seen if oid in log.made), others)


def _unreached(
    git: "Git", log: HeadLog, roots: tuple[str, ...], others: "list[str]", *more: str
) -> list[str]:  # fmt: skip
    known = set(_existing(git, [*roots, *log.replaced]))
    seen = [oid for oid in roots if oid in known and oid not in log.replaced]
    if not seen:
        return []
    rows = [*seen, *(f"^{oid}" for oid in log.replaced if oid in known)]
    without = [word.removeprefix("^") for word in others]
    out = git.feed(
        "rev-list", "--topo-order", "--stdin", "--not", "--remotes", *more, *without,
        stdin="".join(f"{row}\n" for row in rows).encode(),
    )  # fmt: skip
    return os.fsdecode(out).split()


def tips_among(git: "Git", common_dir: str, commits: "list[str]") -> list[str]:
    """Those of the commits that no other of them is built on."""
    if len(commits) < 2:
        return commits
    there = shared(git, common_dir)
    out = there.feed("rev-list", "--no-walk", "--parents", "--stdin", stdin="\n".join(commits).encode() + b"\n")
    parents = {parent for row in os.fsdecode(out).splitlines() for parent in row.split()[1:]}
    return [oid for oid in commits if oid not in parents]


def described(git: "Git", common_dir: str, commits: "list[str]") -> list[str]:
    """``oid subject`` of each, the oid short."""
    if not commits:
        return []
    out = shared(git, common_dir).feed(
        "rev-list", "--no-walk=unsorted", "--format=%h %s", "--stdin", stdin="\n".join(commits).encode() + b"\n"
    )
    return os.fsdecode(out).splitlines()[1::2]  # each after its line `commit <oid>`


def is_elsewhere(git: "Git", common_dir: str, commit: str, places: "list[str]") -> bool:
    """Whether one of these commits contains the work up to ``commit``."""
    there = shared(git, common_dir)
    return any(is_integrated(there, commit, place).answer == YES for place in places)


def branch_tip(git: "Git", common_dir: str, branch: str) -> str | None:
    """Where a local branch points; None where there is none."""
    return shared(git, common_dir).line("rev-parse", "-q", "--verify", f"refs/heads/{branch}^{{commit}}")


def pushed_to(git: "Git", common_dir: str, tip: str) -> str | None:
    """A remote's branch that has this commit; None where none has."""
    out = shared(git, common_dir).run(
        "for-each-ref", "--count=1", "--format=%(refname:short)", f"--contains={tip}", "refs/remotes"
    )
    return os.fsdecode(out).strip() or None


def ahead_of(git: "Git", common_dir: str, tip: str, target: str | None) -> list[str]:
    """The commits up to ``tip`` that neither the target nor any remote has."""
    without = [target] if target is not None else []
    return os.fsdecode(shared(git, common_dir).run("rev-list", tip, "--not", "--remotes", *without)).split()


def targets_of(git: "Git", common_dir: str, base_name: str) -> list[str]:
    """Where work is to land, as full refs, the likeliest first: what a remote calls its default branch, the branch that
    it began from, the branch of the main worktree, ``main`` and ``master``."""
    there = shared(git, common_dir)
    found: dict[str, None] = {}
    rows = os.fsdecode(there.run("for-each-ref", "--format=%(refname) %(symref)", "refs/remotes")).splitlines()
    for ref, _, target in (row.partition(" ") for row in rows):
        if ref.endswith("/HEAD") and target:
            found[target] = None
            found["refs/heads/" + target.removeprefix(ref[: -len("HEAD")])] = None
    current = there.line("symbolic-ref", "-q", "HEAD") or ""
    names = (f"refs/heads/{base_name}", f"refs/remotes/{base_name}", current, "refs/heads/main", "refs/heads/master")
    found.update(dict.fromkeys(names))
    return [ref for ref in found if ref and there.line("rev-parse", "-q", "--verify", "--end-of-options", ref)]


def delete_branch(git: "Git", common_dir: str, branch: str, tip: str) -> bool:
    """Deletes a branch if it still points to ``tip``; whether it did. (`git branch -d` knows neither compare-and-swap
    nor squashed work.)"""
    there = shared(git, common_dir)
    status, _, _ = there.try_run("update-ref", "-d", "--no-deref", f"refs/heads/{branch}", tip)
    if status == 0:
        # As `git branch -d` does: the next branch of that name must not follow this one's upstream.
        there.try_run("config", "--local", "--remove-section", f"branch.{branch}")
    return status == 0


def _existing(git: "Git", oids: "list[str]") -> "list[str]":
    rows = "".join(f"{oid}\n" for oid in oids).encode()
    out = git.feed("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=rows)
    return [row.split()[0] for row in os.fsdecode(out).splitlines() if row.endswith(" commit")]


def _is_oid(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def head_of(git: "Git", admin: str) -> tuple[str | None, str | None]:
    """The commit that is checked out and its branch: (None, branch) before the first commit, (oid, None) detached."""
    there = shared(git, admin)
    text = read_small(os.path.join(admin, "HEAD")) or ""
    ref = text[5:].strip() if text.startswith("ref: ") else None
    if ref is not None and not ref.startswith("refs/heads/"):  # reftable writes a stub there
        ref = there.line("symbolic-ref", "-q", "HEAD")
    branch = ref.removeprefix("refs/heads/") if ref is not None else None
    return there.line("rev-parse", "-q", "--verify", "HEAD^{commit}"), branch


def staged_paths(git: "Git", admin: str) -> list[str]:
    """What is staged in a worktree whose folder is gone: its index is all that is left of it."""
    there = shared(git, admin)
    out = there.run("diff-index", "--cached", "--no-renames", "--name-only", "-z", "HEAD", "--")
    return os.fsdecode(out).split("\0")[:-1]
