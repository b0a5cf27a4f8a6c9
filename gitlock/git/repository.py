"""Where we are: the worktree, its git folder, and the common git folder that all worktrees share.

Asked of git once, first thing and before any change of folder: later the answers would be wrong (a linked
worktree's hook has ``GIT_DIR`` set, and then the current folder counts as the top).
"""

import os

from gitlock.domain.value import Value
from gitlock.errors import RepositoryError
from gitlock.git.process import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.git.process import Child, Git

_QUESTIONS = ("--git-dir", "--git-common-dir", "--is-bare-repository", "--show-prefix", "--show-toplevel")


class Repository(Value):
    """One worktree of one repository. All paths are absolute.

    ``top`` is None in a bare repository and inside a git folder. ``prefix`` is the current folder below ``top``,
    with a final ``/``, or empty.
    """

    __slots__ = ("bare", "common_dir", "git", "git_dir", "prefix", "top")

    def __init__(self, git: "Git", git_dir: str, common_dir: str, top: str | None, prefix: str, bare: bool) -> None:
        self.git = git
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.top = top
        self.prefix = prefix
        self.bare = bare

    @property
    def linked(self) -> bool:
        """Whether this is a linked worktree (``git worktree add``)."""
        return self.git_dir != self.common_dir

    def require_top(self) -> str:
        """The top of the worktree; an error where there is none."""
        if self.top is None:
            raise RepositoryError(
                "this needs a worktree, and there is none here (a bare repository, or inside a git folder)",
                hint="cd into a worktree: git worktree list",
                id="bare-repository",
            )
        return self.top


def start_discovery(git: "Git") -> "Child":
    """Asks git where we are; ``finish_discovery`` reads the answer."""
    return git.start("rev-parse", "--path-format=absolute", *_QUESTIONS)


def finish_discovery(git: "Git", child: "Child") -> Repository:
    """Where we are, or ``RepositoryError``: no repository here, or one that git refuses."""
    status, out, err = child.finish()
    lines = os.fsdecode(out).split("\n")[:-1]
    if status == 0:
        return _repository(git, lines if len(lines) == 5 else _one_by_one(git))
    if "must be run in a work tree" in err and len(lines) == 4:
        # Everything but the top is answered in a bare repository and inside a git folder.
        if (
            lines[2] == "true"
            and os.path.isfile(os.path.join(lines[0], "index"))
            and os.path.basename(lines[0]) == ".git"
        ):
            raise RepositoryError(
                f"'{lines[1]}' has a worktree, but its core.bare is set to true, so that git finds none",
                hint="git config core.bare false",
                id="core-bare",
            )
        return _repository(git, [*lines, ""])
    raise failure(("rev-parse",), status, err)


def _repository(git: "Git", answers: list[str]) -> Repository:
    git_dir, common_dir, bare, prefix, top = answers
    return Repository(git, git_dir, common_dir, top or None, prefix, bare == "true")


def _one_by_one(git: "Git") -> list[str]:
    """For paths that hold a newline: one question a call, since answers are separated by newlines."""
    answers = []
    for question in _QUESTIONS:
        out = git.run("rev-parse", "--path-format=absolute", question)
        answers.append(os.fsdecode(out[:-1] if out.endswith(b"\n") else out))
    return answers


def repository_in_hook(git: "Git", environ: "Mapping[str, str]", folder: str) -> Repository:
    """Where a hook runs, without asking git: it started us at the top, and set ``GIT_DIR`` where that is not ``.git``.

    Source: githooks(5), and the table of what git really sets in docs/hooks.md.
    """
    git_dir = os.path.join(folder, environ.get("GIT_DIR", ".git"))
    if not os.path.isdir(git_dir):
        git_dir = _follow_file(git_dir)
    common_dir = git_dir
    pointer = read_small(os.path.join(git_dir, "commondir"))
    if pointer:
        common_dir = os.path.normpath(os.path.join(git_dir, pointer.rstrip("\n")))
    work_tree = environ.get("GIT_WORK_TREE")
    top = os.path.join(folder, work_tree) if work_tree else folder
    return Repository(git, os.path.normpath(git_dir), common_dir, os.path.normpath(top), "", False)


def _follow_file(path: str) -> str:
    text = read_small(path)
    if text is None or not text.startswith("gitdir: "):
        raise RepositoryError(f"no git folder at '{path}'")
    return os.path.normpath(os.path.join(os.path.dirname(path), text[8:].rstrip("\n")))


def current_branch(git_dir: str) -> str | None:
    """The branch that is checked out, read from ``HEAD``; None when detached (or where refs are not files)."""
    text = read_small(os.path.join(git_dir, "HEAD"))
    if text is not None and text.startswith("ref: refs/heads/"):
        name = text[16:].strip()
        return name if name != ".invalid" else None
    return None


def read_small(path: str) -> str | None:
    """The text of one of git's small files, or None where there is none."""
    try:
        # A third of what open() takes; and a pipe that lies in a file's place would wait for its other end.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        return os.fsdecode(os.read(fd, 1 << 16))
    except OSError:
        return None
    finally:
        try:
            os.close(fd)
        except OSError:  # nothing was written, so nothing is lost
            pass
