"""What crashes left behind, and caches of map files that nobody has any more. Never in the way: removed by ``gc``."""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.stores.files.layout import Layout

HALF_WRITTEN = 3600.0  # seconds after which a temporary file belongs to nobody: writing one takes milliseconds
UNUSED = 30 * 86400.0  # seconds that a cache is kept; one that is missed is made again


def sweep_debris(layout: "Layout", wall: float) -> int:
    """Removes what is old enough; answers how many."""
    count = 0
    try:
        with os.scandir(layout.folder) as entries:
            found = list(entries)
    except OSError:
        return 0
    for entry in found:
        patience = _patience(entry.name)
        try:
            looked = entry.stat(follow_symlinks=False)
            if patience is None or wall - looked.st_mtime <= patience:
                continue
            if stat.S_ISDIR(looked.st_mode):
                _remove_folder(entry.path)
            else:
                os.unlink(entry.path)
            count += 1
        except OSError:
            continue
    return count


def _patience(name: str) -> float | None:
    """None for whatever is not ours to remove. Temporary files with a fixed name are written over, not removed."""
    head, _, ending = name.rpartition(".")
    if (ending == "tmp" and head.rpartition(".")[2].isdigit()) or name.startswith(".times-"):
        return HALF_WRITTEN
    return UNUSED if name.startswith("map-") and ending == "json" else None


def _remove_folder(path: str) -> None:
    for name in os.listdir(path):
        os.rmdir(os.path.join(path, name))
    os.rmdir(path)
