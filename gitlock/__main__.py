"""Looks at the first word and imports one entry point: what a command does not need is never loaded."""

import gc
import os
import sys

from gitlock.bundle import use_bundle


def main() -> None:
    """The program ``git-lock``."""
    gc.set_threshold(100_000)  # start-up makes ten thousand objects and no garbage
    bundle = use_bundle()
    words = sys.argv[1:]
    if words[:1] == ["hook"]:
        from gitlock.entrypoints.hooks.main import main as run_hook

        run_hook(words[1:])
    from gitlock.entrypoints.cli.main import main as run_command

    code = run_command(words)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 141
    if not bundle.fresh:
        from gitlock.bundling import make_bundle

        make_bundle()
    os._exit(code)  # nothing is left to tidy up, and tearing the interpreter down takes time


if __name__ == "__main__":
    main()
