"""Running what blocks (git, the store, a wait in the queue) beside the server's loop, each call in a thread of its own.

The use cases keep nothing between two calls, so they may run at once; the store's guard orders them, as it orders
processes. Threads are bounded: those who wait for a lease must not keep away those who would give it back.
"""

import json
import math
import signal
import threading
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread
from mcp_types import CallToolResult, TextContent

from gitlock.domain.value import Value as Slotted
from gitlock.entrypoints.exitcodes import SIGNALLED
from gitlock.entrypoints.mcp.shapes import Answer
from gitlock.entrypoints.mcp.telling import Kind, fault, stopped_by
from gitlock.errors import GitlockError, Interrupted, UsageError
from gitlock.usecases.wait import Stop
from gitlock.wiring.serving import Served, Serving, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gitlock.stores.protocol import Bell

Value = TypeVar("Value")

AT_ONCE = 8  # calls that work at the same time: more would only stand before the store's guard
WAITS = 64  # calls that wait for a lease at the same time; a thread that sleeps costs next to nothing
CLAIMS_LIMIT = 1000  # claims of one call: each of them is held against each that others hold, and named in answers
NEWS_EVERY = 5.0  # seconds between two words about a wait
CANCELLED = int(signal.SIGINT)


class Halt(Stop):
    """A wish to give up a wait, made by another thread. The lock keeps it from ringing a bell that was closed, whose
    descriptor may be another file's by then."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.taken_back: Callable[[], None] | None = None  # what undoes the grant that the call is about to tell of

    def ask(self, number: int) -> None:
        with self._lock:
            super().ask(number)

    def wake(self) -> None:
        """Whoever waits looks anew."""
        with self._lock:
            if self.bell is not None:
                self.bell.ring()

    def attach(self, bell: "Bell") -> "Callable[[], None]":
        with self._lock:
            self.bell = bell
        return self._detach

    def _detach(self) -> None:
        with self._lock:
            self.bell = None


class Where(Slotted):
    """What a call says about where it is made, and by whom."""

    __slots__ = ("agent", "claims", "folder")

    def __init__(
        self, folder: str | None = None, agent: str | None = None, claims: "tuple[str, ...] | list[str]" = ()
    ) -> None:
        self.folder = folder
        self.agent = agent
        self.claims = list(claims)


class Calls:
    """What the tools have in common: what the server was started with, and the calls that are under way."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._short = anyio.CapacityLimiter(AT_ONCE)
        self._long = anyio.CapacityLimiter(WAITS)
        self._last = anyio.CapacityLimiter(AT_ONCE)  # taking back never stands behind what takes
        self._halts: set[Halt] = set()
        self._ended_by = 0  # the signal that ends the server
        self.under_way = 0

    def open(self, where: "Where | None" = None) -> Served:
        """The site of one call."""
        asked = Where() if where is None else where
        if len(asked.claims) > CLAIMS_LIMIT:
            many = f"{len(asked.claims)} claims are too many for one call: {CLAIMS_LIMIT} at most"
            raise UsageError(many, hint="name folders or patterns, such as src/auth/*")
        return serve(self._serving, asked.folder, asked.claims, asked.agent)

    async def run(
        self, shape: type[Kind], where: Where, work: "Callable[[Served], Kind]", halt: Halt | None = None
    ) -> CallToolResult:
        """What ``work`` answers, or what stopped it, in the same shape."""
        working = self._in_thread(partial(self._answered, shape, where, work), self._short)
        return await self._told(shape, working, Halt() if halt is None else halt)

    async def read(self, work: "Callable[[], Value]") -> Value:
        """What ``work`` answers; what stops it is raised."""
        return await self._in_thread(work, self._short)

    async def wait(
        self,
        shape: type[Kind],
        where: Where,
        work: "Callable[[Served], Kind]",
        halt: Halt,
        news: "Callable[[float], Awaitable[None]]",
    ) -> CallToolResult:
        """The same for what may take long. It is given up, by ``halt``, when the call is cancelled and when the server
        ends; ``news`` is called with the seconds that have passed, from time to time."""
        working = self._attended(partial(self._answered, shape, where, work), halt, news)
        return await self._told(shape, working, halt)

    async def _attended(
        self, work: "Callable[[], Kind]", halt: Halt, news: "Callable[[float], Awaitable[None]]"
    ) -> Kind:
        self._halts.add(halt)

        async def attend() -> None:
            began = anyio.current_time()
            try:
                while True:
                    await anyio.sleep(NEWS_EVERY)
                    await news(anyio.current_time() - began)
            finally:
                halt.ask(CANCELLED)  # nobody waits for the answer any more; where it is there already, nobody hears

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(attend)
                answer = await self._in_thread(work, self._long)
                tasks.cancel_scope.cancel()
        finally:
            self._halts.discard(halt)
        return answer

    async def _told(self, shape: type[Kind], working: "Awaitable[Kind]", halt: Halt) -> CallToolResult:
        """The look whether anybody still waits for the answer is the last thing that happens to a call: the SDK sends
        it in the same step of the loop. So either the client hears of a grant, or it is taken back."""
        self.under_way += 1
        heard, stopped = False, 0
        try:
            answer = await working
            stopped = self._ended_by or (CANCELLED if anyio.current_effective_deadline() == -math.inf else 0)
            heard = answer.ok and not stopped
        finally:
            if not heard and halt.taken_back is not None:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(halt.taken_back, limiter=self._last)
            self.under_way -= 1
        return as_result(_interrupted(shape, stopped) if stopped and halt.taken_back is not None else answer)

    def give_up(self, number: int) -> None:
        """Ends every wait, as a signal does; what is granted from now on is given back."""
        self._ended_by = number
        for halt in tuple(self._halts):
            halt.ask(number)

    def look_anew(self) -> None:
        """After the server was stopped for a while: what was rung for then went to others."""
        for halt in tuple(self._halts):
            halt.wake()

    def _answered(self, shape: type[Kind], where: Where, work: "Callable[[Served], Kind]") -> Kind:
        """What stops us is an answer as well: a traceback is a bug."""
        agent = None
        try:
            served = self.open(where)
            agent = served.site.agent.id
            return work(served)
        except GitlockError as error:
            return stopped_by(shape, error, agent)
        except Interrupted as stopped:
            return _interrupted(shape, stopped.number)
        except OSError as error:
            place = f": '{error.filename}'" if isinstance(error.filename, str) else ""
            return stopped_by(shape, GitlockError(f"{error.strerror or error}{place}"), agent)

    async def _in_thread(self, work: "Callable[[], Value]", limit: anyio.CapacityLimiter) -> Value:
        self.under_way += 1
        try:
            return await anyio.to_thread.run_sync(work, limiter=limit)
        finally:
            self.under_way -= 1


def as_result(answer: Answer) -> CallToolResult:
    """The answer as its structure, and the same as one line of text for programs that show only that."""
    shown = answer.model_dump(mode="json", by_alias=True)
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=shown)


def _interrupted(shape: type[Kind], number: int) -> Kind:
    message = f"interrupted by {signal.Signals(number).name}: the wait was given up, and nothing is held"
    return shape.of(code=SIGNALLED + number, error=fault("interrupted", message))
