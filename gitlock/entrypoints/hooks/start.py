"""Where a hook's stub starts us: ``python -I -S start.py HOOK ARGS…``.

Isolated and without ``site``: no start-up files of other packages, nothing of the repository on the path, and a
quarter less to wait for. The package is found beside this file, after the standard library.
"""

import sys


def _start() -> None:
    here = __file__
    for _ in range(3):  # start.py, hooks, entrypoints, gitlock
        here = here[: here.rindex("/" if "/" in here else "\\")]
    sys.path.append(here[: here.rindex("/" if "/" in here else "\\")])
    from gitlock.entrypoints.hooks.main import main

    main(sys.argv[1:])


if __name__ == "__main__":
    _start()
