"""Looks at the first word and imports one entry point: what a command does not need is never loaded."""

import gc
import os
import sys

from gitlock.bundle import use_bundle

QUICK = (["check"], ["claim"], ["mine"], ["release"], ["renew"])  # what agents repeat


def main() -> None:
    """The program ``git-lock``."""
    if sys.getfilesystemencoding() != "utf-8":
        # Under an old locale the same file would have another name, and two agents would not exclude each other.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    gc.set_threshold(100_000)  # start-up makes ten thousand objects and no garbage
    _open_what_is_closed()
    bundle = use_bundle()
    words = sys.argv[1:]
    try:
        if words[:1] == ["hook"]:
            from gitlock.entrypoints.hooks.main import main as run_hook

            run_hook(words[1:])
        if words[:1] == ["agent-hook"]:
            bundle.load("event")
            from gitlock.entrypoints.agents.main import main as answer_event
            from gitlock.entrypoints.agents.main import wants_help

            if not wants_help(words[1:]):
                answer_event(words[1:], bundle)
        if words[:1] in QUICK or words[:1] == ["ci"]:
            bundle.load("git")
            from gitlock.wiring.begun import begin

            begin()
            bundle.load("verb")
            bundle.load(words[0])
        from gitlock.entrypoints.cli.main import main as run_command

        code = run_command(words)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if not bundle.fresh:
            from gitlock.bundling import make_bundle

            make_bundle()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = 141
    os._exit(code)  # nothing is left to tidy up, and tearing the interpreter down takes time


def _open_what_is_closed() -> None:
    """As git does: a file of ours must not become standard output, where our answers would go."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
