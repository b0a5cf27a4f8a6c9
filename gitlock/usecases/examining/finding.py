"""One thing that was looked at, and what was found."""

from gitlock.domain.value import Value

OK, NOTE, BAD, FIXED = "ok", "note", "bad", "fixed"


class Finding(Value):
    """``about`` is the subject, ``what`` a sentence, ``next`` one command that helps, ``worktree`` the one that it is
    about (None: the repository, or the machine). ``note`` is worth knowing, ``bad`` keeps a promise from being kept."""

    __slots__ = ("about", "next", "state", "what", "worktree")

    def __init__(
        self, about: str, state: str, what: str, next: str | None = None, worktree: str | None = None
    ) -> None:
        self.about = about
        self.state = state
        self.what = what
        self.next = next
        self.worktree = worktree
