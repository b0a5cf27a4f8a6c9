"""Where ``git lock setup`` works: in a repository with its worktrees, or for a person alone."""

import os

from gitlock.entrypoints.cli.asking import site_of
from gitlock.errors import RepositoryError, UnsafeError
from gitlock.stores.files.setups import SetupBook
from gitlock.usecases.settings.looking import registrations
from gitlock.usecases.settings.places import PRIVATE, SHARED, USER, in_worktree, of_person, state_folder
from gitlock.usecases.settings.setting import Ground
from gitlock.wiring.person import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlock.domain.programs import Program
    from gitlock.entrypoints.cli.options import Given
    from gitlock.usecases.settings.places import Spot
    from gitlock.usecases.settings.reading import Registration
    from gitlock.wiring.site import Site


class Scene:
    """Where it is done: in a repository (``site``), or for the person alone; ``tops`` are its worktrees, the one that
    we stand in first."""

    def __init__(self, given: "Given", *, needs_site: bool) -> None:
        self.scope = USER if given.flag("user") else SHARED if given.flag("shared") else PRIVATE
        self.site: Site | None = None
        self.tops: list[str] = []
        try:
            self.site = site_of(given)
        except RepositoryError as error:
            if needs_site:
                raise RepositoryError(error.message, hint=_for_oneself(given), id=error.id) from None
        self.environ = self.site.environ if self.site is not None else environment()
        if self.site is not None:
            self.tops = _worktrees(self.site)
            if needs_site and not self.tops:
                self.site.repository.require_top()

    @property
    def top(self) -> str | None:
        """The worktree that we stand in, or the first one."""
        return self.tops[0] if self.tops else None

    def ground(self) -> Ground:
        """What is written to, and where that is remembered."""
        if self.scope == USER:
            folder = state_folder(self.environ)
            if folder is None:
                raise _homeless()
            return Ground(SetupBook(folder))
        assert self.site is not None
        layout = self.site.own_layout
        return Ground(SetupBook(layout.folder, layout), self.site.repository.git, self.site.repository.common_dir)

    def spot(self, program: "Program") -> "Spot":
        """The file that is meant, of the person or of this worktree."""
        if self.scope == USER:
            own = of_person(program, self.environ)
            if own is None:
                raise _misled(program, self.environ) or _homeless()
            return own
        assert self.top is not None
        return in_worktree(program, self.top, self.scope)

    def registrations(self, names: "tuple[str, ...] | None" = None) -> "list[Registration]":
        """What is there, in every worktree and for the person."""
        if self.site is None:
            from gitlock.git.process import Git

            return registrations(Git(None, self.environ), (), self.environ, names)
        return registrations(self.site.repository.git, self.tops, self.environ, names)


def _for_oneself(given: "Given") -> str:
    """The same, where it needs no repository."""
    names = " ".join(given.arguments)
    if given.flag("remove"):
        return f"git lock setup {names} --user --remove (out of your own settings)"
    return f"git lock setup {names} --user (for you, in every repository)"


def _misled(program: "Program", environ: "Mapping[str, str]") -> UnsafeError | None:
    """What the program's own variable does with the place, if that is why there is none."""
    name = program.user.variable
    if not name or not environ.get(name):
        return None
    return UnsafeError(
        f"{name} is '{environ[name]}', a relative path, which is another place in every folder", hint=f"unset {name}",
        id="no-home",
    )  # fmt: skip


def _homeless() -> UnsafeError:
    return UnsafeError("there is no home folder to write to (HOME is not set)", hint="export HOME=~", id="no-home")


def _worktrees(site: "Site") -> list[str]:
    from gitlock.git.checkouts import list_checkouts

    here = site.repository.top
    listed = [one.path for one in list_checkouts(site.repository.git) if not one.bare and not one.gone]
    there = [path for path in listed if os.path.isdir(path)]  # a locked one may be on a disk that is away
    others = [path for path in there if here is None or os.path.realpath(path) != os.path.realpath(here)]
    return [*([here] if here is not None else []), *others]
