"""A git that was asked ahead: questions that will come are put before, and answered while Python does something else.

Whoever asks does so as ever, with the same words; it gets the answer that is there already. What was put and is not
asked in the end costs nothing but git's own time.
"""

from gitlock.git.process import Child, Git


class Foreseen(Git):
    """As the git that it is made of. Not for questions whose answer changes on the way: see ``forget``."""

    __slots__ = ("_put",)

    def __init__(self, git: Git) -> None:
        super().__init__(git.folder, git.environ)
        self._put: dict[tuple[str, ...], Child] = {}

    def put(self, *args: str) -> None:
        """Puts a question that will be asked in these words."""
        if args not in self._put:
            self._put[args] = super().start(*args)

    def start(self, *args: str, stdin: bytes = b"") -> Child:
        """The answer that is on its way, if the question was put; else asks."""
        found = self._put.pop(args, None) if not stdin else None
        return found or super().start(*args, stdin=stdin)

    def forget(self) -> None:
        """What is on its way is not valid any more: history was fetched meanwhile."""
        for child in self._put.values():
            child.finish()
        self._put.clear()
