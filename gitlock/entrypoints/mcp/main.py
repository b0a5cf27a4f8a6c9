"""Starting the server, and ending it: when the program that started it closes the pipe, and at a signal.

Standard output belongs to the protocol. What there is to say besides goes to standard error, which programs keep in a
log.
"""

import logging
import os
import pkgutil
import signal
from importlib import import_module
from typing import NoReturn

import anyio

import gitlock
from gitlock.entrypoints.exitcodes import SIGNALLED
from gitlock.entrypoints.mcp.calls import Calls
from gitlock.entrypoints.mcp.lines import serve_lines
from gitlock.entrypoints.mcp.server import build
from gitlock.wiring.serving import Serving

PATIENCE = 5.0  # seconds that calls which are under way get to end, at a signal
LOOK = 0.02  # seconds between two looks whether they have
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
RESUMED = (signal.SIGCONT,)
CALLED = tuple(f"gitlock.{name}." for name in ("domain", "git", "stores", "usecases", "wiring"))  # what calls may load


def run(serving: Serving, *, quiet: bool = False) -> NoReturn:
    """Serves until the pipe is closed (0) or a signal comes (128 + n). It ends the process: a thread may be reading
    standard input until then, and nothing can wake it."""
    logging.basicConfig(level=logging.ERROR if quiet else logging.WARNING, format="git-lock mcp: %(message)s")
    if os.isatty(0):
        logging.warning("this is for programs, which speak MCP on standard input; Ctrl-D ends it (docs/mcp.md)")
    _load_all()
    os._exit(anyio.run(_serve, serving))


def _load_all() -> None:
    """Commands import what they need when they need it. A server that did would run one version's code with another's
    after an upgrade, or find none where ours was taken away. It costs a thirtieth of the start."""
    for module in pkgutil.walk_packages(gitlock.__path__, "gitlock.", onerror=lambda _: None):
        if module.name.startswith(CALLED):
            try:
                import_module(module.name)
            except ImportError:  # it is for another system
                continue


async def _serve(serving: Serving) -> int:
    calls = Calls(serving)
    server = build(calls)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_at_signal, calls)
        await serve_lines(server)
        tasks.cancel_scope.cancel()
    return 0


async def _end_at_signal(calls: Calls) -> None:
    """Waits are given up, so that no place in the queue is left behind; what writes is not cut off."""
    with anyio.open_signal_receiver(*ENDING, *RESUMED) as signals:
        async for number in signals:
            if number in RESUMED:
                calls.look_anew()
                continue
            calls.give_up(number)
            with anyio.move_on_after(PATIENCE):
                while calls.under_way:
                    await anyio.sleep(LOOK)
                await anyio.sleep(LOOK)  # what was answered just now is written
            os._exit(SIGNALLED + number)
