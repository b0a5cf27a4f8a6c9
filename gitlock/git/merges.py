"""What somebody did in a merge, apart from what git did.

A merge brings everything of the other side into the index. None of that is the merger's work: it is inherited, or
merged by git itself. What counts is where the index holds neither a parent's entry nor what git's own merge gives.
"""

import os

from gitlock.domain.value import Value
from gitlock.git.changes import finish_staged, staged, staged_against, start_staged
from gitlock.git.process import failure
from gitlock.git.repository import read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.change import Change
    from gitlock.git.process import Git


class HumanPart(Value):
    """What a merge holds that git did not make, as changes against HEAD.

    ``exact`` is False where git's own merge isn't known (several other parents, or a git older than 2.38). Then the
    list may also hold files that git merged by itself, and is good for a warning only; it never misses one.
    """

    __slots__ = ("changes", "exact")

    def __init__(self, changes: "list[Change]", exact: bool) -> None:
        self.changes = changes
        self.exact = exact


def other_parents_in_pre_merge(environ: "Mapping[str, str]", git_dir: str) -> list[str]:
    """The commits that are being merged into HEAD; empty if none are.

    ``MERGE_HEAD`` says it, and in pre-merge-commit, where it is not written yet, the variables ``GITHEAD_<oid>``.
    ``AUTO_MERGE`` is not looked at: it outlives the merge that it belongs to.
    """
    text = read_small(os.path.join(git_dir, "MERGE_HEAD"))
    if text is not None:
        names = text.split("\n")
    else:
        names = [name[8:] for name in environ if name[:8] == "GITHEAD_"]
    return [name for name in names if _is_oid(name)]


def human_part(git: "Git", others: list[str]) -> HumanPart:
    """What the index (as inherited) of a merge of HEAD with ``others`` holds that git did not put there.

    A path whose entry is that of one parent is inherited, and so not listed: also where the merger chose one side's
    (``-s ours``, ``checkout --theirs``), or left out a file of the other's. A conflict that was settled otherwise is
    listed whoever settled it (``-X theirs``, rerere), and so is one whose markers were committed. ``-X subtree`` and
    other options that lead to another merge than the plain one are unknown here: what differs through them is listed.
    """
    if not others:
        return HumanPart(staged(git), True)
    parents = ("HEAD", *others)
    children = [start_staged(git, parent) for parent in parents]
    ours, *theirs = [finish_staged(git, child, parent) for child, parent in zip(children, parents, strict=True)]
    for changes in theirs:
        paths = {change.path for change in changes}
        ours = [change for change in ours if change.path in paths]
    if len(others) > 1:
        return HumanPart(ours, False)
    if not ours:
        return HumanPart([], True)
    mechanical = mechanical_merge(git, "HEAD", others[0])
    if mechanical is None:
        return HumanPart(ours, False)
    tree, conflicts = mechanical
    made = {change.path for change in staged_against(git, tree)}
    made.update(conflicts)
    return HumanPart([change for change in ours if change.path in made], True)


def mechanical_merge(git: "Git", ours: str, other: str) -> tuple[str, list[str]] | None:
    """The tree that git makes of two commits, and the paths it could not merge; None from an older git."""
    status, out, err = git.try_run(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories", ours, other
    )
    if status == 129:  # git before 2.38 does not know these options and shows its usage
        return None
    tree, *rest = os.fsdecode(out).split("\0")
    if status not in (0, 1) or not _is_oid(tree):
        raise failure(("merge-tree",), status, err)
    conflicts = []
    for path in rest:
        if not path:
            break
        conflicts.append(path)
    prefix = git.line("rev-parse", "--show-prefix") if conflicts else ""
    if prefix:  # in a folder below the top, git names them as they are seen from there
        conflicts = [os.path.normpath(prefix + path).replace(os.sep, "/") for path in conflicts]
    return tree, conflicts


def _is_oid(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")
