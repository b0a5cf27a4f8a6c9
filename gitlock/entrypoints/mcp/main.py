"""Starting the server, and ending it: when the program that started it closes the pipe, and at a signal.

Standard output belongs to the protocol. What there is to say besides goes to standard error, which programs keep in a
log.
"""

import logging
import os
import signal
from typing import NoReturn

import anyio

from gitlock.entrypoints.exitcodes import SIGNALLED
from gitlock.entrypoints.mcp.calls import Calls
from gitlock.entrypoints.mcp.server import build
from gitlock.wiring.serving import Serving

PATIENCE = 5.0  # seconds that calls which are under way get to end, at a signal
LOOK = 0.02  # seconds between two looks whether they have
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run(serving: Serving, *, quiet: bool = False) -> NoReturn:
    """Serves until the pipe is closed (0) or a signal comes (128 + n). It ends the process: a thread may be reading
    standard input until then, and nothing can wake it."""
    logging.basicConfig(level=logging.ERROR if quiet else logging.WARNING, format="git-lock mcp: %(message)s")
    if os.isatty(0):
        logging.warning("this is for programs, which speak MCP on standard input; Ctrl-D ends it (docs/mcp.md)")
    os._exit(anyio.run(_serve, serving))


async def _serve(serving: Serving) -> int:
    calls = Calls(serving)
    server = build(calls)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_at_signal, calls)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()
    return 0


async def _end_at_signal(calls: Calls) -> None:
    """Waits are given up, so that no place in the queue is left behind; what writes is not cut off."""
    with anyio.open_signal_receiver(*ENDING) as signals:
        async for number in signals:
            calls.give_up(number)
            with anyio.move_on_after(PATIENCE):
                while calls.under_way:
                    await anyio.sleep(LOOK)
            os._exit(SIGNALLED + number)
