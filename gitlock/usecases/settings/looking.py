"""Which agent programs are set up: in which file, for which worktree, and whether it is all there."""

from gitlock.domain.programs import PROGRAMS
from gitlock.domain.registering import OFF, SET_UP
from gitlock.errors import GitlockError
from gitlock.usecases.settings import hiding
from gitlock.usecases.settings.places import PRIVATE, SHARED, in_worktree, of_person
from gitlock.usecases.settings.reading import read_registration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitlock.domain.programs import Program
    from gitlock.git.process import Git
    from gitlock.usecases.settings.places import Spot
    from gitlock.usecases.settings.reading import Registration


def seen_from(top: str, environ: "Mapping[str, str]") -> "list[Registration]":
    """One for each settings file that a program reads in a worktree: its own there, then the person's."""
    spots = [spot for program in PROGRAMS.values() for spot in (*_spots(program, top), *_own(program, environ))]
    return [read_registration(spot) for spot in spots]


def registrations(
    git: "Git", tops: "Iterable[str]", environ: "Mapping[str, str]", names: "Iterable[str] | None" = None
) -> "list[Registration]":
    """One for each program and settings file: of every worktree in ``tops``, then a person's own."""
    programs = [program for name, program in PROGRAMS.items() if names is None or name in names]
    found = []
    for top in tops:
        spots = [spot for program in programs for spot in _spots(program, top)]
        parts = _tracked(git, top, spots)
        found += [
            one.replace(scope=SHARED) if one.spot.place.path in parts else one for one in map(read_registration, spots)
        ]
    found += [read_registration(spot) for program in programs for spot in _own(program, environ)]
    return _switched_off(found)


def is_effective(found: "Iterable[Registration]", program: str, worktree: str | None) -> bool:
    """Whether the program runs us in this worktree (None: anywhere, by a person's own settings): one of the files that
    it reads there is complete, and none switches hooks off."""
    here = [one for one in found if one.program.name == program and one.worktree in (worktree, None)]
    return any(one.state == SET_UP for one in here) and not any(one.state == OFF for one in here)


def _spots(program: "Program", top: str) -> "list[Spot]":
    if program.private is None:
        return [in_worktree(program, top, PRIVATE)]
    return [in_worktree(program, top, PRIVATE), in_worktree(program, top, SHARED)]


def _own(program: "Program", environ: "Mapping[str, str]") -> "list[Spot]":
    own = of_person(program, environ)
    return [own] if own is not None else []


def _tracked(git: "Git", top: str, spots: "list[Spot]") -> set[str]:
    try:
        return hiding.tracked(git.elsewhere(top), [spot.place.path for spot in spots])
    except GitlockError:
        return set()


def _switched_off(found: "list[Registration]") -> "list[Registration]":
    """A switch in any file that a program reads holds for all of them."""
    switches = {(one.program.name, one.worktree): one.switch for one in found if one.switch is not None}
    result = []
    for one in found:
        switch = switches.get((one.program.name, one.worktree)) or switches.get((one.program.name, None))
        if one.state == SET_UP and switch is not None:
            one = one.replace(state=OFF, why=f"{switch[1]} in '{switch[0]}'")
        result.append(one)
    return result
