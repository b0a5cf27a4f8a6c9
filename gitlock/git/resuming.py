"""Lays git's notes of an operation into the git folder of a worktree that is to go on with it."""

import os


def lay_notes(git_dir: str, notes: "dict[str, bytes]") -> None:
    """Writes each of them (by its path in the folder), never over one that is there; ``OSError`` where that fails, and
    then none of them is left."""
    written = []
    try:
        for path, data in notes.items():
            place = os.path.join(git_dir, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as file:
                file.write(data)
            written.append(place)
    except OSError:
        for place in written:
            os.unlink(place)
        raise
