"""Where a hook's stub starts us: ``python -I -S -X utf8 start.py HOOK ARGS…``.

Isolated and without ``site``: no start-up files of other packages, nothing of the repository on the path, and a
quarter less to wait for. The package is found beside this file, after the standard library.
"""

import gc
import sys


def _start() -> None:
    gc.disable()  # a hook makes ten thousand objects and no garbage, and is gone after some milliseconds
    here = __file__
    for _ in range(3):  # start.py, hooks, entrypoints, gitlock
        here = here[: here.rindex("/" if "/" in here else "\\")]
    sys.path.append(here[: here.rindex("/" if "/" in here else "\\")])
    from gitlock.bundle import use_bundle

    use_bundle().load("hook")
    from gitlock.entrypoints.hooks.main import main

    main(sys.argv[1:])


if __name__ == "__main__":
    _start()
