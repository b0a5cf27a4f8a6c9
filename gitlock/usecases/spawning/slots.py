"""Slots: a number for each worktree, and with it a block of ports that nobody else was given, and nobody listens on."""

import errno

from gitlock.domain.worktree import PORTS_EACH, free_slot, port_of
from gitlock.errors import UnsafeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.worktree import Worktree


def take_slot(records: "Iterable[Worktree]") -> int:
    """The lowest slot that is neither registered nor in use by a stranger. Only under the lock, and before it is
    dropped the slot must be registered."""
    taken = frozenset(one.slot for one in records)
    busy: set[int] = set()
    while (slot := free_slot(taken, frozenset(busy))) is not None:
        if not in_use(port_of(slot)):
            return slot
        busy.add(slot)
    raise UnsafeError(
        f"every slot is taken: {len(taken)} by worktrees, {len(busy)} have a port that somebody listens on",
        hint="git lock agents", id="no-slot",
    )  # fmt: skip


def in_use(first: int) -> bool:
    """Whether somebody listens on a port of the block, on whatever address, of either kind."""
    import _socket as socket  # the public module takes as long to load as a git takes to run

    families = [(socket.AF_INET, "0.0.0.0")]
    if socket.has_ipv6:
        families.append((socket.AF_INET6, "::"))
    for family, everywhere in families:
        for port in range(first, first + PORTS_EACH):
            try:
                probe = socket.socket(family, socket.SOCK_STREAM)
            except OSError:
                break  # a kernel without this kind of address
            try:
                # What only waits for its last packets is no listener, and must not keep a slot.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family != socket.AF_INET:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((everywhere, port))
            except OSError as error:
                if error.errno in (errno.EADDRINUSE, errno.EACCES):
                    return True
                break
            finally:
                probe.close()
    return False
