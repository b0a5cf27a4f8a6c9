"""One agent at work on a store, which tells what it begins and what was acknowledged: ``power_writer.py FOLDER``.

``took NAME FENCE`` after a grant, ``gives NAME`` before a release and ``gave NAME`` after it; a line is told only once
the store has answered. It ends when nobody reads any more.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.kit.agents import Worker

HELD = 5  # leases at a time


def tell(*words: object) -> None:
    """One line, at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(folder: str, how: str = "") -> None:
    """Takes one name after the other, and gives back each after some more. ``unsynced`` is a planted bug."""
    if how == "unsynced":
        os.fsync = lambda fd: None
    worker = Worker(FileStore(folder, SystemClock().now), "writer")
    number = 0
    while True:
        number += 1
        lease = worker.takes(f"n{number}")
        tell("took", f"n{number}", lease.fence)
        if number > HELD:
            old = f"n{number - HELD}"
            tell("gives", old)
            worker.release(old)
            tell("gave", old)


if __name__ == "__main__":
    main(*sys.argv[1:])
