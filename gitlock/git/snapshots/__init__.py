"""The exact state of a worktree, kept as a commit on no branch: its index, its files, and what was never added.

``take`` reads a worktree and changes nothing in it; ``put_back`` makes a fresh worktree look the same; ``carry`` lays
the same changes over another commit. Who calls writes the ref that keeps the commit (``refs/gitlock/snapshots/…``).

The commit's first parent is what HEAD was, so that detached commits live as long as the snapshot. Its tree:

    manifest    what a tree can't say: flags, modes, conflict stages, what is gone (see ``manifest``)
    staged/     the index, without conflicts: ``git diff SNAPSHOT^ SNAPSHOT:staged`` shows what was staged
    files/      the files that differ from the index, byte for byte: ``git show SNAPSHOT:files/PATH``
    stages/     both sides and the base of every conflict, by number

Not part of it: ignored files, empty folders, what is inside submodules and nested repositories (``left_out`` names
them), and an operation in progress (a merge's or rebase's own notes).
"""

from gitlock.git.snapshots.manifest import Snapshot
from gitlock.git.snapshots.putting import carry, put_back
from gitlock.git.snapshots.taking import read, take

__all__ = ["Snapshot", "carry", "put_back", "read", "take"]
