"""Settings of agent programs and worktrees: files that git does not know do not travel with a branch, so a new worktree
gets its own, and a worktree that goes away loses nothing but those."""

import os

from gitlock.domain.programs import PROGRAMS
from gitlock.errors import GitlockError
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.setups import SetupBook
from gitlock.usecases.settings.disk import read_settings
from gitlock.usecases.settings.documents import without_us
from gitlock.usecases.settings.places import PRIVATE, in_worktree
from gitlock.usecases.settings.setting import CHANGED, CREATED, Ground, put_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.git.process import Git
    from gitlock.usecases.settings.places import Spot


def equip(git: "Git", common_dir: str, layout: Layout, top: str) -> tuple[list[str], list[str]]:
    """Sets up in the worktree ``top`` what is set up for this clone: the names of the programs, and what did not work,
    as sentences."""
    book = SetupBook(layout.folder, layout)
    ground = Ground(book, git, common_dir)
    done: list[str] = []
    failed: list[str] = []
    for name in book.read().programs:
        program = PROGRAMS.get(name)
        if program is None:
            continue
        try:
            if put_here(ground, in_worktree(program, top, PRIVATE)).became in (CREATED, CHANGED):
                done.append(name)
        except GitlockError as error:
            failed.append(f"{program.title} is not set up there: {error.message}")
    return done, failed


def is_only_ours(layout: Layout, top: str, path: str, sources: "Iterable[str]") -> bool:
    """Whether a file of the worktree ``top`` holds nothing of anybody's but our entries, or besides them only what the
    same file in one of the worktrees ``sources`` holds as well."""
    program = next((one for one in PROGRAMS.values() if (one.private or one.project).path == path), None)
    if program is None:
        return False
    book = SetupBook(layout.folder, layout)
    try:
        rest = _rest(book, in_worktree(program, top, PRIVATE))
        if rest is None:
            return True
        return any(rest == _rest(book, in_worktree(program, source, PRIVATE)) for source in sources)
    except GitlockError:
        return False


def _rest(book: SetupBook, spot: "Spot") -> bytes | None:
    """What is in the file besides us; None where that is nothing at all."""
    data = read_settings(spot.path, spot.root).data
    if data is None:
        return None
    known = book.read().files.get(spot.path)
    return without_us(
        spot.program, spot.place, data, known.marks if known is not None else None, spot.path,
        made=known is None or known.made,
    )  # fmt: skip


def forget(layout: Layout, top: str) -> None:
    """The worktree is gone: nothing in it is to be put back. Never raises: the next setup forgets it as well."""
    book = SetupBook(layout.folder, layout)
    inside = os.path.realpath(top).rstrip(os.sep) + os.sep
    if not any(path.startswith(inside) for path in book.read().files):
        return
    try:
        with book.lock():
            setups = book.read()
            files = {path: one for path, one in setups.files.items() if not path.startswith(inside)}
            book.write(setups.replace(files=files))
    except GitlockError:
        return
