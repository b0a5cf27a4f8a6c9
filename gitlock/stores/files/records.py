"""Small files that one writer each replaces whole: ``<folder>/<id>.json``, read by anybody, trusted by nobody.

What can't be read is passed over, never "corrupt": nothing of it decides who holds what. Links, pipes and huge files
are passed over as well.
"""

import os
from _thread import get_native_id

from gitlock import jsontext
from gitlock.errors import StoreError, StoreUnavailable
from gitlock.stores.files.atomic import replace_file, sync_folder
from gitlock.stores.files.layout import CLOEXEC, NOFOLLOW, NONBLOCK, Layout, give_to_owner, read_whole, remedy

SIZE_LIMIT = 1 << 18  # bytes


def make_folder(layout: Layout, folder: str) -> None:
    """Makes a folder of the store, and the store's own if need be."""
    layout.make()
    if os.path.isdir(folder) and not os.path.islink(folder):
        return
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, layout.folder_mode)
        give_to_owner(folder, os.path.dirname(folder))
    except OSError as error:
        raise StoreUnavailable(f"can't make '{folder}': {error.strerror}", hint=remedy(error, folder)) from None


def names(folder: str) -> list[str]:
    """The ids of the records there."""
    try:
        return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []


def read(folder: str, name: str) -> object:
    """One record, or None where there is none that can be read."""
    if not _is_plain(name):
        return None
    try:
        data = read_whole(os.path.join(folder, name + ".json"), SIZE_LIMIT)
        return None if data is None else jsontext.loads(data.decode("utf-8"))
    except (StoreError, ValueError):
        return None


def write(
    layout: Layout, folder: str, name: str, record: dict[str, object], *, lasting: bool = True, synced: bool = False
) -> None:
    """Replaces one record; ``StoreUnavailable`` where that can't be done.

    ``lasting`` records outlive a power cut, and have one writer at a time (who holds a lock). The others are written
    at every beat, by any process of a session: whole as well, but not waited for, and the last writer wins. ``synced``
    are those which any number may write, and that last.
    """
    make_folder(layout, folder)
    path = os.path.join(folder, name + ".json")
    data = jsontext.dumps(record).encode() + b"\n"
    if lasting:
        replace_file(path, data, layout.file_mode)
        return
    temporary = os.path.join(folder, f".{name}.{get_native_id()}.tmp")  # threads of a server write as well
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW | NONBLOCK | CLOEXEC, 0o600)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, layout.file_mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if synced:
                os.fsync(fd)
        finally:
            os.close(fd)
        give_to_owner(temporary, folder)
        os.replace(temporary, path)
        if synced:
            sync_folder(folder)
    except OSError as error:
        raise StoreUnavailable(f"can't write '{path}': {error.strerror}", hint=remedy(error, path)) from None


def remove(folder: str, name: str) -> bool:
    """Removes one record; whether there was one."""
    if not _is_plain(name):
        return False
    try:
        os.unlink(os.path.join(folder, name + ".json"))
        return True
    except OSError:
        return False


def _is_plain(name: str) -> bool:
    return bool(name) and name.isascii() and name[0] != "." and all(c.isalnum() or c in "._-~" for c in name)
