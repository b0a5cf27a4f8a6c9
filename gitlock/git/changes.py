"""Which paths are changed: staged, in another worktree, between two commits.

Renames are never detected here, but in ``rename_sources``: with ``--no-renames`` both sides of one are changes, and
both have to be somebody's to change. ``--ignore-submodules=none`` undoes what ``.gitmodules`` and the configuration
hide. All names come with ``-z``: unquoted, whatever they hold. A git that fails is an error, never an empty list.
"""

import os

from gitlock.domain.change import Change
from gitlock.errors import RepositoryError, UsageError
from gitlock.git.process import Git, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.git.process import Child

_STAGED = (
    "diff-index", "--cached", "--no-renames", "--ita-invisible-in-index", "--ignore-submodules=none",
    "--name-status", "-z",
)  # fmt: skip
_BETWEEN = ("diff-tree", "-r", "--no-renames", "--ignore-submodules=none", "--name-status", "-z")
_STATUS = (
    "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none",
)  # fmt: skip

_PATHSPECS = ("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")
_AT_ONCE = 50  # paths that one git is asked about through a pipe
_PIPE = 4096  # bytes that every pipe takes before anybody reads
_ARGUMENTS = 64_000  # bytes of paths on one command line; every system takes twice as many


# -- what is about to be committed


def start_staged(git: "Git", base: str = "HEAD") -> "Child":
    """Asks for the staged changes; ``finish_staged`` reads the answer, so that others can run in between."""
    return git.start(*_STAGED, base, "--")


def finish_staged(git: "Git", child: "Child", base: str = "HEAD") -> list[Change]:
    """What the index (``GIT_INDEX_FILE`` as inherited) holds that ``base`` does not; ``base`` as it was started with.

    Before the first commit everything in the index is new. A file that was only announced (``git add -N``) is not
    part of a commit, and not listed.
    """
    status, out, err = child.finish()
    if status == 0:
        return parse_name_status(out)
    if base == "HEAD" and _is_unborn(git):
        return staged_against(git, empty_tree(git))
    raise failure(_STAGED[:1], status, err)


def staged(git: "Git", base: str = "HEAD") -> list[Change]:
    """What the index holds that ``base`` does not."""
    return finish_staged(git, start_staged(git, base), base)


def staged_against(git: "Git", tree: str) -> list[Change]:
    """What the index holds that this tree does not."""
    return parse_name_status(git.run(*_STAGED, tree, "--"))


def rename_sources(git: "Git", base: str = "HEAD") -> dict[str, str]:
    """New name → old name of what git takes for renames among the staged changes.

    Only for wording: it is a guess of git's, and empty where git can't make one.
    """
    status, out, _ = git.try_run(
        "diff-index", "--cached", "--find-renames", "--diff-filter=R", "--name-status", "-z", base, "--"
    )
    fields = os.fsdecode(out).split("\0") if status == 0 else []
    return {fields[at + 2]: fields[at + 1] for at in range(0, len(fields) - 2, 3)}


def empty_tree(git: "Git") -> str:
    """The name of the tree without entries: another one in a SHA-256 repository."""
    return git.run("hash-object", "-t", "tree", os.devnull).decode().rstrip("\n")


def _is_unborn(git: "Git") -> bool:
    """Whether HEAD names a branch without commits. False for a git that refuses, and for a commit that is missing."""
    status, _, _ = git.try_run("rev-parse", "-q", "--verify", "HEAD^{commit}")
    if status != 1:
        return False
    status, branch, _ = git.try_run("symbolic-ref", "-q", "HEAD")
    return status == 0 and git.try_run("rev-parse", "-q", "--verify", os.fsdecode(branch[:-1]))[0] == 1


# -- what is changed in a worktree


def worktree_changes(git: "Git", top: str) -> list[Change]:
    """Everything that is changed in the worktree at ``top``: staged, unstaged, untracked and not ignored, announced.

    One change a path. Where index and worktree both differ, the letter is the index's. A submodule counts when its
    commit differs, and also when something inside it is changed. A repository that is not a submodule yet is one path.
    """
    return parse_status(git.elsewhere(top).run(*_STATUS))


def still_changed(git: "Git", top: str, paths: "Iterable[str]") -> list[Change]:
    """Those of ``worktree_changes`` that are one of these paths, or lie below one."""
    wanted = [path.rstrip("/") for path in paths if path.rstrip("/")]
    if not wanted:
        return []
    return _still_changed(git.elsewhere(top), wanted)


def still_changed_here(git: "Git", paths: "Iterable[str]") -> list[Change]:
    """As ``still_changed``, in a hook: in the worktree that git has started us in."""
    wanted = [path.rstrip("/") for path in paths if path.rstrip("/")]
    return _still_changed(Git(git.folder, git.environ), wanted) if wanted else []


def _still_changed(there: "Git", wanted: list[str]) -> list[Change]:
    for name in _PATHSPECS:
        there.environ.pop(name, None)
    there.environ["GIT_LITERAL_PATHSPECS"] = "1"
    few = sum(len(os.fsencode(path)) + 1 for path in wanted) < _ARGUMENTS
    changes = parse_status(there.run(*_STATUS, "--", *(wanted if few else ())))
    exact = set(wanted)
    return [change for change in changes if _is_at_or_below(change.path, exact)]


def ignored(git: "Git", top: str, paths: "Iterable[str]") -> set[str]:
    """Those of the paths that git ignores: untracked, and named in an ignore file. None where git does not say."""
    asked = list(paths)
    found: set[str] = set()
    for at in range(0, len(asked), _AT_ONCE):
        part = "\0".join(asked[at : at + _AT_ONCE]).encode("utf-8", "surrogateescape")
        if len(part) > _PIPE:
            continue  # names as long as that are nobody's build output
        child = git.elsewhere(top).start("check-ignore", "-z", "--stdin", stdin=part)
        status, out, _ = child.finish()
        if status == 0:
            found.update(os.fsdecode(out).split("\0")[:-1])
    return found


def _is_at_or_below(path: str, folders: set[str]) -> bool:
    at = len(path)
    while at > 0:
        if path[:at] in folders:
            return True
        at = path.rfind("/", 0, at)
    return False


# -- what is changed between commits


def changed_between(git: "Git", a: str, b: str) -> list[Change]:
    """What differs between two commits or trees, as names of objects: see ``resolve_commit``."""
    _refuse_option(a)
    _refuse_option(b)
    return parse_name_status(git.run(*between(a, b)))


def between(a: str, b: str) -> tuple[str, ...]:
    """How git is asked that."""
    return *_BETWEEN, a, b, "--"


def changed_in_range(git: "Git", text: str) -> list[Change]:
    """What differs in ``A..B``; in ``A...B``, between B and where it left A."""
    a, b, three_dot = parse_range(text)
    old, new = resolve_commit(git, a), resolve_commit(git, b)
    return changed_between(git, merge_base(git, old, new) if three_dot else old, new)


def parse_range(text: str) -> tuple[str, str, bool]:
    """``A..B`` or ``A...B`` as both ends, and whether there are three dots. An end left out is HEAD."""
    a, dots, b = text.partition("..")
    three_dot = b.startswith(".")
    if three_dot:
        b = b[1:]
    if not dots or not (a or b):
        raise UsageError(f"'{text}' is not a range of commits", hint="write A..B or A...B")
    _refuse_option(a)
    _refuse_option(b)
    return a or "HEAD", b or "HEAD", three_dot


def resolve_commit(git: "Git", text: str) -> str:
    """The full name of the commit that ``text`` names; ``UsageError`` if it names none."""
    _refuse_option(text)
    status, out, err = git.try_run(*naming(text))
    if status == 0:
        return out.decode().rstrip("\n")
    if status == 1:
        raise UsageError(f"'{text}' is not a commit of this repository", hint="git branch --all")
    raise failure(("rev-parse",), status, err)


def naming(text: str) -> tuple[str, ...]:
    """How git is asked what a text names."""
    return "rev-parse", "-q", "--verify", "--end-of-options", text + "^{commit}"


def merge_base(git: "Git", a: str, b: str) -> str:
    """The best common ancestor of two commits, the first where there are several; an error where there is none."""
    status, out, err = git.try_run("merge-base", a, b)
    if status == 0:
        return out.decode().rstrip("\n")
    if status == 1:
        raise RepositoryError(
            f"'{a}' and '{b}' have no common ancestor here", hint="git fetch --unshallow", id="no-merge-base"
        )
    raise failure(("merge-base",), status, err)


def _refuse_option(text: str) -> None:
    if text.startswith("-"):
        raise UsageError(f"'{text}' looks like an option, not like a commit")
    if "\0" in text:
        raise UsageError("a commit's name cannot hold a NUL")


# -- git's answers


def parse_name_status(out: bytes) -> list[Change]:
    """The answer of ``--name-status -z`` without renames: status, name, status, name…"""
    fields = os.fsdecode(out).split("\0")
    if len(fields) % 2 == 0 or fields[-1]:
        raise RepositoryError("git's list of changed paths is cut short", id="git-failed")
    changes = []
    before = None
    for at in range(0, len(fields) - 1, 2):
        path = fields[at + 1]
        if path != before:  # an unmerged path comes twice from some gits
            changes.append(Change(path, fields[at][:1]))
        before = path
    return changes


_ENTRY_FIELDS = {"1": 8, "u": 10}  # fields before the name; git-status(1), "Porcelain Format Version 2"


def parse_status(out: bytes) -> list[Change]:
    """The answer of ``status --porcelain=v2 -z --no-renames``."""
    entries = os.fsdecode(out).split("\0")
    if entries.pop():
        raise RepositoryError("git's status is cut short", id="git-failed")
    changes: dict[str, Change] = {}
    for entry in entries:
        kind = entry[:1]
        if kind in _ENTRY_FIELDS:
            fields = entry.split(" ", _ENTRY_FIELDS[kind])
            path, letters = fields[-1], fields[1]
            status = "U" if kind == "u" else letters[0] if letters[0] != "." else letters[1]
        elif kind == "?":
            path, status = entry[2:].rstrip("/"), "?"
        else:
            raise RepositoryError(f"git's status has an entry of an unknown kind: {kind!r}", id="git-failed")
        changes.setdefault(path, Change(path, status))  # removed from the index, still there: D comes first
    return list(changes.values())
