"""Work that goes on after a command or a hook has answered: in a child of its own, which holds nothing of ours open.

Whoever waits for our output to end is not kept waiting, a terminal that closes does not end it, and nobody has to reap
it (the child that does the work is a grandchild, and belongs to init).
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DESCRIPTORS = 4096  # more are not looked for: ours close themselves when another program is started


def detach(work: "Callable[[], object]") -> bool:
    """Starts ``work`` and returns; whether that could be done. What it raises is lost: there is nobody to tell."""
    if not hasattr(os, "fork"):
        return False
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid:
        os.waitpid(pid, 0)
        return True
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        os.closerange(0, _DESCRIPTORS)
        os.open(os.devnull, os.O_RDWR)
        os.dup2(0, 1)
        os.dup2(0, 2)
        work()
    finally:
        os._exit(0)  # also where it failed: our parent's handlers and buffers are not ours to run


def ended(pid: int, patience: float, look: float = 0.02) -> bool:
    """Waits until a process has ended; False where it has not within ``patience`` seconds."""
    from time import sleep

    for _ in range(int(patience / look)):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        sleep(look)
    return False
