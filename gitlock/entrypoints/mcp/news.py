"""Telling subscribers that a resource has changed: the store is looked at once a second, while anybody listens."""

import os
from contextlib import asynccontextmanager

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent

from gitlock.entrypoints.mcp.calls import Calls
from gitlock.entrypoints.mcp.viewing import AGENTS, INBOX, LEASES
from gitlock.errors import GitlockError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from gitlock.wiring.site import Site

LOOK = 1.0  # seconds between two looks: three files' times, which costs microseconds


class NewsBus(InMemorySubscriptionBus):
    """A bus that looks whether there is news, for as long as somebody listens."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls
        self._listeners_there = 0
        self._wanted: anyio.Event | None = None
        self._site: Site | None = None

    def subscribe(self, listener: "Callable[[ServerEvent], None]") -> "Callable[[], None]":
        undo = super().subscribe(listener)
        self._listeners_there += 1
        if self._wanted is not None:
            self._wanted.set()
        there = [True]

        def unsubscribe() -> None:
            undo()
            if there:
                there.clear()
                self._listeners_there -= 1

        return unsubscribe

    @asynccontextmanager
    async def alive(self, _: object) -> "AsyncIterator[None]":
        """Looks for news as long as the server runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _watch(self) -> None:
        seen: dict[str, object] = {}
        while True:
            if not self._listeners_there:
                self._wanted = anyio.Event()
                await self._wanted.wait()
                seen = await self._calls.read(self._traces)
            await anyio.sleep(LOOK)
            found = await self._calls.read(self._traces)
            for uri, trace in found.items():
                if seen.get(uri) != trace:
                    await self.publish(ResourceUpdated(uri=uri))
            seen = found

    def _traces(self) -> dict[str, object]:
        """What tells one state of each resource from the next; nothing where there is no store to look at."""
        try:
            site = self._site if self._site is not None else self._calls.open().site
            layout = site.store.layout
        except (GitlockError, OSError):
            self._site = None
            return {}
        self._site = site
        leases = site.store.trace()
        return {LEASES: leases, AGENTS: (leases, _time(layout.sessions)), INBOX: _time(layout.requests)}


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
