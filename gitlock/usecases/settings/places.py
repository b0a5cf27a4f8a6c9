"""Where an agent program's settings are: in each worktree, shared or private, and a person's own."""

import os

from gitlock.domain.programs import PROGRAMS
from gitlock.domain.value import Value
from gitlock.usecases.mentioned import user_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitlock.domain.programs import Place, Program

PRIVATE, SHARED, USER = "private", "shared", "user"


class Spot(Value):
    """One settings file of one program: ``path`` is absolute, ``root`` the folder that it belongs to, below which no
    link is followed; ``top`` is its worktree, None for a person's own."""

    __slots__ = ("path", "place", "program", "root", "scope", "top")

    def __init__(self, program: "Program", place: "Place", scope: str, path: str, root: str, top: str | None) -> None:
        self.program = program
        self.place = place
        self.scope = scope
        self.path = path
        self.root = root
        self.top = top

    @property
    def is_shared(self) -> bool:
        """Whether others get it with the project."""
        return self.scope == SHARED


def in_worktree(program: "Program", top: str, scope: str) -> Spot:
    """The program's private or shared file in a worktree; where it knows only one, that is both."""
    place = program.private if scope == PRIVATE and program.private is not None else program.project
    real = os.path.realpath(top)  # one name for each file, whichever way the worktree was come to
    return Spot(program, place, scope, os.path.join(real, *place.path.split("/")), real, top)


def of_person(program: "Program", environ: "Mapping[str, str]") -> Spot | None:
    """The person's own file; None where there is no home."""
    path = user_file(program.user, environ)
    if path is None or not os.path.isabs(path):
        return None
    root = path
    moved = bool(program.user.variable and environ.get(program.user.variable))
    below = program.user.path.removeprefix(program.user.moves).lstrip("/") if moved else program.user.path
    for _ in below.split("/"):
        root = os.path.dirname(root)
    return Spot(program, program.user, USER, path, root, None)


def state_folder(environ: "Mapping[str, str]") -> str | None:
    """A person's folder for what git-lock remembers about them (XDG Base Directory); None where there is no home."""
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, "git-lock")


def traces(program: "Program", environ: "Mapping[str, str]") -> tuple[str, ...]:
    """What on this machine shows that the program is here: where its command is, and its folder in the home."""
    import shutil

    found = [path for name in program.commands if (path := shutil.which(name, path=environ.get("PATH", os.defpath)))]
    home = environ.get("HOME", "")
    folders = [os.path.join(home, *folder.split("/")) for folder in program.folders] if os.path.isabs(home) else []
    return (*found[:1], *(folder for folder in folders if os.path.isdir(folder)))


def programs(names: "Iterator[str] | tuple[str, ...] | list[str]") -> "list[Program]":
    """The programs of these names, in the order of the list; names must be known."""
    wanted = set(names)
    return [program for name, program in PROGRAMS.items() if name in wanted]
