"""Every agent's private folder: ``agents/<agent>/scratch``, 0700, also where the repository is shared by a group."""

import os
import stat

from gitlock.domain.filename import file_name
from gitlock.errors import StoreForeign, StoreUnavailable
from gitlock.stores.files.layout import Layout, give_to_owner, look_at, remedy

PRIVATE = 0o700


def scratch_folder(layout: Layout, agent: str) -> str:
    """The agent's private folder, made if it is not there.

    ``StoreForeign`` where a link or a file is in its place, or it is another user's; ``StoreUnavailable`` where it
    can't be made. Its name is the agent's by ``file_name``: agents whose names differ in case alone don't share one.
    """
    layout.make()
    _make(layout.agents, layout.folder_mode)
    own = os.path.join(layout.agents, file_name(agent))
    _make(own, PRIVATE)
    folder = os.path.join(own, "scratch")
    _make(folder, PRIVATE)
    return folder


def _make(folder: str, mode: int) -> None:
    try:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            _judge(folder, mode)
            return
        os.chmod(folder, mode)  # mkdir's went through the umask
        give_to_owner(folder, os.path.dirname(folder))
    except OSError as error:
        raise StoreUnavailable(f"can't make '{folder}': {error.strerror}", hint=remedy(error, folder)) from None


def _judge(folder: str, mode: int) -> None:
    """Refuses what is no folder of ours; takes away what others may do in a private one."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise StoreForeign(f"'{folder}' is not a folder", hint=look_at(folder))
    if mode != PRIVATE:
        return
    if hasattr(os, "geteuid") and os.geteuid() not in (0, found.st_uid):
        raise StoreForeign(f"'{folder}' belongs to another user (uid {found.st_uid})", hint=look_at(folder))
    if stat.S_IMODE(found.st_mode) != PRIVATE:
        os.chmod(folder, PRIVATE)
