"""Sets agent programs up, and takes that back: in one file, or in every worktree of a clone.

What is about to be done is written down first, then done: whatever dies in between, the next run goes on from there.
All of it under one lock; other programs that write the same file are noticed, and what they wrote is read again.
"""

import os

from gitlock.domain.programs import PLUGIN, PROGRAMS
from gitlock.domain.registering import ABSENT, SET_UP, Marks
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, UnsafeError
from gitlock.stores.files.setups import SetupBook, Setups, Written
from gitlock.usecases.settings import hiding
from gitlock.usecases.settings.disk import Changed, Content, Refused, read_settings, remove_settings, write_settings
from gitlock.usecases.settings.documents import look, with_us, without_us
from gitlock.usecases.settings.places import PRIVATE, Spot, in_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.programs import Program
    from gitlock.git.process import Git

CREATED, CHANGED, UNCHANGED, REMOVED, CLEARED, NOTHING = (
    "created", "changed", "unchanged", "removed", "cleared", "nothing",
)  # fmt: skip
TRIES = 8  # times that a file is read again, where others write it meanwhile


class Done(Value):
    """What became of one file: ``created``, ``changed``, ``unchanged``; ``removed`` (the file, which we had made),
    ``cleared`` (it has nothing of ours any more), ``nothing`` (it had nothing). ``why`` says more, or, where
    ``failed``, why nothing was done."""

    __slots__ = ("became", "failed", "spot", "why")

    def __init__(self, spot: Spot, became: str, *, why: str = "", failed: "GitlockError | None" = None) -> None:
        self.spot = spot
        self.became = became
        self.why = why
        self.failed = failed


class Ground(Value):
    """Where it is done. ``git`` stands in the repository whose common folder is ``common_dir``; both are None for what
    is a person's own."""

    __slots__ = ("book", "common_dir", "git")

    def __init__(self, book: SetupBook, git: "Git | None" = None, common_dir: str | None = None) -> None:
        self.book = book
        self.git = git
        self.common_dir = common_dir


def set_up(ground: Ground, program: "Program", spot: Spot, others: "Iterable[str]" = ()) -> list[Done]:
    """Sets the program up in ``spot``; the first answer is about that file, and what stops it is raised. ``others`` are
    further worktrees of the clone that get the same; what stops one of those is in its answer. For a private file it is
    remembered that worktrees to come are to have one."""
    with ground.book.lock():
        done = [_put(ground, spot)]
        for top in others:
            there = in_worktree(program, top, spot.scope)
            try:
                done.append(_put(ground, there))
            except GitlockError as error:
                done.append(Done(there, UNCHANGED, failed=error))
        if not spot.is_shared:
            _remember(ground, program, True)
        elif program.private is None:  # the file travels with the project now
            _remember(ground, program, False)
    return done


def take_away(ground: Ground, program: "Program", spots: "Iterable[Spot]", *, everywhere: bool) -> list[Done]:
    """Takes the program's entries out of these files; what stops one is in its answer. ``everywhere`` says that no
    worktree to come is to have them either."""
    done = []
    with ground.book.lock():
        if everywhere:
            _remember(ground, program, False)
        for spot in spots:
            try:
                done.append(_take(ground, spot))
            except GitlockError as error:
                done.append(Done(spot, UNCHANGED, failed=error))
        is_left = any(one.failed is not None for one in done)  # then it is as little anybody's work as before
        if everywhere and not is_left and not _used_by_others(ground, program):
            _show(ground, in_worktree(program, os.sep, PRIVATE))
    return done


def put_here(ground: Ground, spot: Spot) -> Done:
    """The same as ``set_up`` in one file, for a worktree that was just made. Nothing more is remembered than the
    file."""
    with ground.book.lock():
        return _put(ground, spot)


def _remember(ground: Ground, program: "Program", is_set_up: bool) -> None:
    """Whether worktrees to come are to have it."""
    setups = ground.book.read()
    programs = tuple(one for one in setups.programs if one != program.name)
    if (program.name in setups.programs) != is_set_up:
        ground.book.write(setups.replace(programs=(*programs, program.name) if is_set_up else programs))


def _used_by_others(ground: Ground, program: "Program") -> str:
    """The title of another program that is set up and reads the same file of ours; empty where none does."""
    for name in ground.book.read().programs:
        other = PROGRAMS.get(name)
        if other is not None and other.name != program.name and other.project.path == program.project.path:
            return other.title
    return ""


def _put(ground: Ground, spot: Spot) -> Done:
    program, place, shared = spot.program, spot.place, spot.is_shared
    is_part = _is_part(ground, spot)
    has_hidden = False
    for _ in range(TRIES):
        before = read_settings(spot.path, spot.root)
        if is_part and not shared:
            if before.data is None or look(program, place, before.data).state != SET_UP:
                raise _is_shared(spot)
            return Done(spot, UNCHANGED, why="it is part of the project")
        known = _still_known(ground, spot, before)
        marks = known.marks if known is not None else Marks()
        data, marks = with_us(program, place, before.data, marks, spot.path)
        if not is_part and not shared:
            has_hidden = _hide(ground, spot) or has_hidden
        elif shared:
            _show(ground, spot)
        if data == before.data:
            why = look(program, place, data).why
            return Done(spot, UNCHANGED, why=why)
        written = known or Written(made=before.data is None)
        setups = ground.book.read()
        ground.book.write(_with(setups, spot, written.replace(marks=marks)), coming=spot.path)
        try:
            folders = write_settings(spot.path, before, data, spot.root)
        except Changed:
            continue
        except Refused:
            if has_hidden:
                _show(ground, spot)
            raise
        if folders:
            made = written.replace(marks=marks, folders=(*written.folders, *folders))
            ground.book.write(_with(ground.book.read(), spot, made))
        return Done(spot, CREATED if before.data is None else CHANGED)
    if has_hidden:
        _show(ground, spot)
    raise Refused(spot.path, "is being written by others all the time", hint="run this again")


def _still_known(ground: Ground, spot: Spot, before: Content) -> Written | None:
    """What is remembered of a file, as long as something of ours is in it. Else it was written anew by somebody, or we
    never came to write it: what it was before us is what it is now, but for folders that we have made."""
    known = ground.book.read().files.get(spot.path)
    if known is None or before.data is None:
        return known and Written(made=True, folders=known.folders)
    if look(spot.program, spot.place, before.data).state == ABSENT:
        return Written(made=False, folders=known.folders)
    return known


def _take(ground: Ground, spot: Spot) -> Done:
    for _ in range(TRIES):
        before = read_settings(spot.path, spot.root)
        known = ground.book.read().files.get(spot.path)
        if before.data is None:
            _forget(ground, spot)
            return Done(spot, NOTHING)
        marks = known.marks if known is not None else None
        made, folders = (known.made, known.folders) if known is not None else _as_if_made(spot)
        if spot.program.shape != PLUGIN and look(spot.program, spot.place, before.data).state == ABSENT:
            _forget(ground, spot)
            return Done(spot, NOTHING)
        if not spot.is_shared and _is_part(ground, spot):
            return Done(spot, UNCHANGED, failed=_is_shared_still(spot))
        if not spot.is_shared and (other := _used_by_others(ground, spot.program)):
            return Done(spot, UNCHANGED, why=f"{other} reads the same file, and is set up")
        data = without_us(spot.program, spot.place, before.data, marks, spot.path, made=made)
        if data == before.data:
            _forget(ground, spot)
            return Done(spot, NOTHING)
        try:
            if data is None:
                remove_settings(spot.path, before, spot.root, folders)
            else:
                write_settings(spot.path, before, data, spot.root)
        except Changed:
            continue
        _forget(ground, spot)
        return Done(spot, REMOVED if data is None else CLEARED)
    raise Refused(spot.path, "is being written by others all the time", hint="run this again")


def _is_part(ground: Ground, spot: Spot) -> bool:
    """Whether git tracks the file."""
    if ground.git is None or spot.top is None:
        return False
    return bool(hiding.tracked(ground.git.elsewhere(spot.top), [spot.place.path]))


def _is_shared(spot: Spot) -> UnsafeError:
    name = spot.program.name
    return UnsafeError(
        f"'{spot.path}' is part of the project (git tracks it): a change of it is everybody's",
        hint=f"git lock setup {name} --user (for you alone), or git lock setup {name} --shared (for all, to be "
        "committed)",
        id="settings-tracked",
    )


def _is_shared_still(spot: Spot) -> UnsafeError:
    return UnsafeError(
        f"'{spot.path}' is part of the project (git tracks it), and left alone",
        hint=f"git lock setup {spot.program.name} --shared --remove", id="settings-tracked",
    )  # fmt: skip


def _hide(ground: Ground, spot: Spot) -> bool:
    """Keeps the file from git, and whether that was to be done."""
    if ground.git is None or ground.common_dir is None or spot.top is None:
        return False
    if hiding.is_ignored(ground.git.elsewhere(spot.top), spot.place.path):
        return False
    hidden = hiding.hide(ground.common_dir, spot.place.path, spot.program.name)
    if hidden is None:
        return False
    setups = ground.book.read()
    ground.book.write(setups.replace(hidden={**setups.hidden, spot.place.path: hidden}))
    return True


def _show(ground: Ground, spot: Spot) -> None:
    if ground.common_dir is None:
        return
    setups = ground.book.read()
    hidden = setups.hidden.get(spot.place.path)
    hiding.show(ground.common_dir, spot.place.path, hidden, spot.program.name)
    if hidden is not None:
        rest = {path: one for path, one in setups.hidden.items() if path != spot.place.path}
        if rest:  # whoever is the last to go leaves it as it was before the first
            first = next(iter(rest))
            rest[first] = hiding.left_to(hidden, rest[first])
        ground.book.write(setups.replace(hidden=rest))


def _as_if_made(spot: Spot) -> tuple[bool, tuple[str, ...]]:
    """What is not remembered, as after the repository was moved: in a worktree, a file of this clone's own in which
    nothing is left goes, and so does its folder."""
    if spot.top is None or spot.is_shared:
        return False, ()
    folders: list[str] = []
    folder = os.path.dirname(spot.path)
    while folder != spot.root:
        folders.insert(0, folder)
        folder = os.path.dirname(folder)
    return True, tuple(folders)


def _forget(ground: Ground, spot: Spot) -> None:
    setups = ground.book.read()
    if spot.path in setups.files:
        rest = {path: one for path, one in setups.files.items() if path != spot.path}
        ground.book.write(setups.replace(files=rest))


def _with(setups: Setups, spot: Spot, written: Written) -> Setups:
    return setups.replace(files={**setups.files, spot.path: written})
