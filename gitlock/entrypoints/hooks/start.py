"""Where a hook's stub starts us: ``python -I -S -X utf8 start.py HOOK ARGS…``.

Isolated and without ``site``: no start-up files of other packages, nothing of the repository on the path, and a
quarter less to wait for. The package is found beside this file, after the standard library; its bundle is looked for
first, without searching any folder.
"""

import gc
import sys
from _frozen_importlib_external import SourceFileLoader


def _start() -> None:
    gc.disable()  # a hook makes ten thousand objects and no garbage, and is gone after some milliseconds
    separator = "/" if "/" in __file__ else "\\"
    folder, package, _, _, _ = __file__.rsplit(separator, 4)  # …/gitlock/entrypoints/hooks/start.py
    name = f"{package}.bundle"
    loader = SourceFileLoader(name, separator.join((folder, package, "bundle.py")))
    bundle = type(sys)(name)
    bundle.__file__ = loader.path
    bundle.__spec__ = type(sys.__spec__)(name, loader)
    exec(loader.get_code(name) or "", bundle.__dict__)  # noqa: S102 - what an import does
    found = bundle.use_bundle()
    found.load("hook")
    sys.path.append(folder)
    from gitlock.entrypoints.hooks.main import main

    main(sys.argv[1:], found)


if __name__ == "__main__":
    _start()
