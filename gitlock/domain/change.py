"""One changed path."""

from gitlock.domain.value import Value


class Change(Value):
    """A path, and what has become of it.

    ``path`` is relative to the top of the worktree, with ``/``; bytes that are not UTF-8 are surrogates
    (``os.fsencode`` gives them back). ``status`` is git's letter: A added, D deleted, M modified, T another type
    (file, link, submodule), U unmerged, and ``?`` for a file that git does not know yet. A rename is two changes.
    """

    __slots__ = ("path", "status")

    def __init__(self, path: str, status: str) -> None:
        self.path = path
        self.status = status
