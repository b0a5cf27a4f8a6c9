"""Whether a target contains what a branch has done: merged, rebased, squashed, or made again by somebody else.

Only ``yes`` is a proof, and it is named. From the cheapest to the dearest: the same commit; an ancestor; the same
tree; a merge that would add nothing (``merge-tree``, git 2.38 and later); every commit there by its patch-id (rebased,
cherry-picked); all of it there as one patch (squashed). Patch-ids are those of git-patch-id(1), compared by
git-cherry(1).
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import GitlockError
from gitlock.git.process import Git

YES, NO, UNKNOWN = "yes", "no", "unknown"
SAME, ANCESTOR, TREE, EMPTY_MERGE = "same commit", "ancestor", "same tree", "a merge adds nothing"
PATCHES, SQUASHED = "every patch is there", "squashed"

COMMITS_LIMIT = 5000  # commits of the target, since the two parted, whose patches are compared

_NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "git-lock"), ("EMAIL", "git-lock@localhost"), ("DATE", "@0 +0000"))
}


class Integration(Value):
    """``answer`` is yes, no or unknown; ``proof`` names what showed it (yes), or why it is not known (unknown)."""

    __slots__ = ("answer", "proof")

    def __init__(self, answer: str, proof: str = "") -> None:
        self.answer = answer
        self.proof = proof

    @property
    def is_proved(self) -> bool:
        """Whether the target surely contains it."""
        return self.answer == YES


def is_integrated(git: Git, tip: str, target: str) -> Integration:
    """Whether ``target`` contains the work up to ``tip`` (both commits, as names of objects or full refs).

    Never raises for what git can't tell (a commit that is missing, history that is cut off): that is ``unknown``.
    """
    try:
        return _integrated(git, tip, target)
    except GitlockError as error:
        return Integration(UNKNOWN, error.message)


def _integrated(git: Git, tip: str, target: str) -> Integration:
    one, other, tree, target_tree = [
        os.fsdecode(git.run("rev-parse", "-q", "--verify", "--end-of-options", text + kind)).rstrip("\n")
        for kind in ("^{commit}", "^{tree}")
        for text in (tip, target)
    ]
    if one == other:
        return Integration(YES, SAME)
    status, _, err = git.try_run("merge-base", "--is-ancestor", one, other)
    if status == 0:
        return Integration(YES, ANCESTOR)
    if status != 1:
        return Integration(UNKNOWN, err.strip().partition("\n")[0] or "git could not compare them")
    base = git.line("merge-base", one, other)
    is_undone = base is not None and _is_undone(git, base, one, other, tree)
    if tree == target_tree and not is_undone:
        return Integration(YES, TREE)
    shallow = git.line("rev-parse", "--is-shallow-repository") == "true"
    if base is None:
        return Integration(UNKNOWN, "history is cut off here: git fetch --unshallow") if shallow else Integration(NO)
    if is_undone:
        proof = Integration(YES, PATCHES) if _all_there(git, other, one) else None
    else:
        proof = _adds_nothing(git, one, other, target_tree) or _by_patches(git, one, other, base, tree)
    if proof is not None:
        return proof
    return Integration(UNKNOWN, "history is cut off here: git fetch --unshallow") if shallow else Integration(NO)


def _is_undone(git: Git, base: str, tip: str, target: str, tree: str) -> bool:
    """Whether work was done and taken back again, so that the trees say nothing of it: any target would contain it."""
    if git.line("rev-parse", f"{base}^{{tree}}") != tree:
        return False
    if git.run("rev-list", "--merges", "--max-count=1", f"{target}..{tip}").strip():
        return False  # it may have landed, and then been merged back: the base says nothing of where it began
    rows = os.fsdecode(git.run("rev-list", "--format=%T", f"{target}..{tip}")).splitlines()
    return any(row != tree for row in rows[1::2])  # each after its line `commit <oid>`


def _adds_nothing(git: Git, tip: str, target: str, target_tree: str) -> Integration | None:
    if git.try_run("config", "--get-regexp", r"^merge\..*\.driver$")[0] != 1:
        return None  # a driver may well leave the other side's work out (`merge=ours`)
    status, out, _ = git.try_run("merge-tree", "--write-tree", target, tip)
    merged = os.fsdecode(out).partition("\n")[0]
    return Integration(YES, EMPTY_MERGE) if status == 0 and merged == target_tree else None


def _by_patches(git: Git, tip: str, target: str, base: str, tree: str) -> Integration | None:
    """The proofs that compare patches; None where there is none."""
    count = int(git.run("rev-list", "--count", f"--max-count={COMMITS_LIMIT + 1}", f"{base}..{target}"))
    if count == 0:
        return None
    if count > COMMITS_LIMIT:
        return Integration(UNKNOWN, f"more than {COMMITS_LIMIT} commits came since: their patches were not compared")
    # What somebody did in a merge is in no patch.
    merges = git.run("rev-list", "--merges", "--max-count=1", f"{target}..{tip}").strip()
    if not merges and _all_there(git, target, tip):
        return Integration(YES, PATCHES)
    nobody = Git(git.folder, {**git.environ, **_NOBODY})
    one_patch = os.fsdecode(nobody.run("commit-tree", "--no-gpg-sign", "-p", base, "-m", "one patch", tree))
    if _all_there(git, target, one_patch.rstrip("\n")):
        return Integration(YES, SQUASHED)
    return None


def _all_there(git: Git, target: str, tip: str) -> bool:
    rows = git.run("cherry", target, tip).splitlines()
    return bool(rows) and all(row.startswith(b"-") for row in rows)
