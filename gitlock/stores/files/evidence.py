"""What did not count is kept, never overwritten: under ``evidence/``, named by its content."""

import os
import stat
from binascii import crc32

from gitlock.errors import StoreError, StoreForeign, StoreUnavailable
from gitlock.stores.files.layout import Layout, give_to_owner, look_at, read_whole, remedy

SIZE_LIMIT = 1 << 30  # bytes of a file whose content names it; larger ones are named by their size


def keep(layout: Layout, path: str) -> str | None:
    """Keeps what lies at ``path`` as evidence as well, and leaves it there: it is to be replaced in one step. What
    can't have two names (a folder, or a file system that knows no links) is moved. None where nothing is."""
    return _kept(layout, path, stay=True)


def put_aside(layout: Layout, path: str) -> str | None:
    """Moves what lies at ``path`` away. None where nothing is."""
    return _kept(layout, path, stay=False)


def names_kept(layout: Layout, name: str) -> list[str]:
    """Which folders were put aside under this name, or this name with a number behind it, as it was called."""
    found = set()
    try:
        for one in os.listdir(layout.evidence):
            number, dash, _ = one.removeprefix(name).partition("-")
            if one.startswith(name) and dash and (not number or number.isdigit()):
                found.add(name + number)
    except OSError:
        return []
    return sorted(found)


def _kept(layout: Layout, path: str, *, stay: bool) -> str | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    folder = _folder(layout)
    base, ending = os.path.splitext(os.path.basename(path))
    if stat.S_ISDIR(found.st_mode):
        base, ending = base + ending, ""
    try:
        for number in range(1000):
            kept = os.path.join(folder, f"{base}-{_name(path, found)}{f'-{number}' if number else ''}{ending}")
            if not os.path.lexists(kept):
                if not (stay and _linked(path, kept)):
                    os.rename(path, kept)
                return kept
            if stay and os.path.samestat(os.lstat(kept), found):
                return kept
    except OSError as error:
        raise StoreUnavailable(f"can't keep '{path}' as evidence: {error.strerror}", hint=remedy(error, path)) from None
    raise StoreError(f"'{folder}' is full of evidence: move it away", hint=look_at(folder))


def _linked(path: str, kept: str) -> bool:
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:
        return False
    return True


def _name(path: str, found: os.stat_result) -> str:
    if stat.S_ISREG(found.st_mode) and found.st_size < SIZE_LIMIT:
        try:
            return f"{crc32(read_whole(path, SIZE_LIMIT) or b''):08x}"
        except StoreError:
            pass
    return f"{stat.S_IFMT(found.st_mode) >> 12:x}-{found.st_size}"


def _folder(layout: Layout) -> str:
    try:
        os.mkdir(layout.evidence)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(layout.evidence).st_mode):
            raise StoreForeign(f"'{layout.evidence}' is not a folder", hint=look_at(layout.evidence)) from None
    except OSError as error:
        raise StoreUnavailable(
            f"can't make '{layout.evidence}': {error.strerror}", hint=remedy(error, layout.evidence)
        ) from None
    else:
        os.chmod(layout.evidence, layout.folder_mode)
        give_to_owner(layout.evidence, layout.folder)
    return layout.evidence
