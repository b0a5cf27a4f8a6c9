"""Which agent programs are set up: in which file, for which worktree, and whether it is all there."""

from gitlock.domain.programs import PLUGIN, PROGRAMS
from gitlock.domain.registering import ABSENT, INCOMPLETE, OFF, SET_UP
from gitlock.domain.value import Value
from gitlock.errors import GitlockError
from gitlock.usecases.settings import hiding
from gitlock.usecases.settings.disk import read_settings
from gitlock.usecases.settings.documents import BROKEN, switches
from gitlock.usecases.settings.places import PRIVATE, SHARED, in_worktree, of_person
from gitlock.usecases.settings.setting import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitlock.domain.programs import Program
    from gitlock.git.process import Git
    from gitlock.usecases.settings.places import Spot

STATES = (ABSENT, SET_UP, INCOMPLETE, OFF, BROKEN)


class Registration(Value):
    """What one settings file says of us. ``scope`` is ``private`` (this clone's own), ``shared`` (git tracks it, or it
    is the one that teams commit) or ``user``; ``worktree`` is None for the last. ``state`` is ``absent``, ``set-up``,
    ``incomplete`` (something of ours is missing or old), ``off`` (hooks are switched off) or ``broken``, and ``why``
    says what is the matter."""

    __slots__ = ("file", "program", "scope", "state", "why", "worktree")

    def __init__(self, program: str, scope: str, file: str, worktree: str | None, state: str, why: str = "") -> None:
        self.program = program
        self.scope = scope
        self.file = file
        self.worktree = worktree
        self.state = state
        self.why = why


def registrations(
    git: "Git", tops: "Iterable[str]", environ: "Mapping[str, str]", names: "Iterable[str] | None" = None
) -> list[Registration]:
    """One for each program and settings file: of every worktree in ``tops``, then a person's own."""
    programs = [program for name, program in PROGRAMS.items() if names is None or name in names]
    found = []
    for top in tops:
        spots = [spot for program in programs for spot in _spots(program, top)]
        parts = _tracked(git, top, spots)
        for spot in spots:
            shared = spot.is_shared or spot.place.path in parts
            found.append(_looked(spot, SHARED if shared else PRIVATE))
    for program in programs:
        own = of_person(program, environ)
        if own is not None:
            found.append(_looked(own, own.scope))
    return _switched_off(found)


def is_effective(found: "Iterable[Registration]", program: str, worktree: str | None) -> bool:
    """Whether the program runs us in this worktree (None: anywhere, by a person's own settings): one of the files that
    it reads there is complete, and none switches hooks off."""
    here = [one for one in found if one.program == program and one.worktree in (worktree, None)]
    return any(one.state == SET_UP for one in here) and not any(one.state == OFF for one in here)


def _spots(program: "Program", top: str) -> "list[Spot]":
    if program.private is None:
        return [in_worktree(program, top, PRIVATE)]
    return [in_worktree(program, top, PRIVATE), in_worktree(program, top, SHARED)]


def _tracked(git: "Git", top: str, spots: "list[Spot]") -> set[str]:
    try:
        return hiding.tracked(git.elsewhere(top), [spot.place.path for spot in spots])
    except GitlockError:
        return set()


def _looked(spot: "Spot", scope: str) -> Registration:
    looked = state_of(spot, shared=spot.is_shared)
    return Registration(spot.program.name, scope, spot.path, spot.top, looked.state, looked.why)


def _switched_off(found: list[Registration]) -> list[Registration]:
    """A switch in any file that a program reads holds for all of them."""
    off: dict[tuple[str, str | None], tuple[str, str]] = {}
    for one in found:
        if PROGRAMS[one.program].shape != PLUGIN and one.state != BROKEN:
            why = _switch_in(one)
            if why:
                off[one.program, one.worktree] = (one.file, why)
    result = []
    for one in found:
        switch = off.get((one.program, one.worktree)) or off.get((one.program, None))
        if one.state == SET_UP and switch is not None:
            one = one.replace(state=OFF, why=f"{switch[1]} in '{switch[0]}'")
        result.append(one)
    return result


def _switch_in(one: Registration) -> str:
    import os

    try:
        data = read_settings(one.file, os.path.dirname(one.file)).data
    except GitlockError:
        return ""
    return switches(data) if data else ""
