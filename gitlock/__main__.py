"""Looks at the first word and imports one entry point: what a command does not need is never loaded."""

import sys


def main() -> None:
    """The program ``git-lock``."""
    words = sys.argv[1:]
    if words[:1] == ["hook"]:
        from gitlock.entrypoints.hooks.main import main as run_hook

        run_hook(words[1:])
    import os

    from gitlock.entrypoints.cli.main import main as run_command

    code = run_command(words)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 141
    os._exit(code)  # nothing is left to tidy up, and tearing the interpreter down takes time


if __name__ == "__main__":
    main()
