"""A call that nobody waits for any more leaves nothing held, whenever that happens: also in the step in which its
answer is there already."""

import signal
from collections.abc import Callable
from typing import cast

import anyio
import anyio.from_thread
import pytest
from mcp_types import CallToolResult

from gitlock.entrypoints.mcp.calls import Calls, Halt, Where
from gitlock.entrypoints.mcp.shapes import ClaimAnswer
from gitlock.entrypoints.mcp.telling import fault
from gitlock.wiring.serving import Served, Serving
from tests.kit.repo import Repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.stores.protocol import Bell

WAYS = ["run", "wait"]


class Attempt:
    """One call that is granted. ``given_back`` says whether the grant was undone, ``answer`` what the client hears."""

    def __init__(self, repo: Repo, way: str) -> None:
        self.calls = Calls(Serving(str(repo.path), agent="alice"))
        self.given_back = False
        self.answer: CallToolResult | None = None
        self._way = way

    def made(self, meanwhile: "Callable[[anyio.CancelScope], None]", *, error: bool = False) -> "Attempt":
        """Makes it; ``meanwhile`` happens in the loop, after the grant and before the answer."""
        anyio.run(self._make, meanwhile, error)
        return self

    async def _make(self, meanwhile: "Callable[[anyio.CancelScope], None]", error: bool) -> None:
        halt = Halt()

        def undo() -> None:
            self.given_back = True

        with anyio.CancelScope() as scope:

            def work(served: Served) -> ClaimAnswer:
                halt.taken_back = undo
                anyio.from_thread.run_sync(meanwhile, scope)
                return ClaimAnswer.of(error=fault("x", "y")) if error else ClaimAnswer.of(agent=served.site.agent.id)

            async def news(seconds: float) -> None:
                raise AssertionError(f"it took {seconds} s")

            if self._way == "run":
                self.answer = await self.calls.run(ClaimAnswer, Where(), work, halt)
            else:
                self.answer = await self.calls.wait(ClaimAnswer, Where(), work, halt, news)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository; nothing is written."""
    return Repo.new(tmp_path_factory.mktemp("calls"))


@pytest.mark.parametrize("way", WAYS)
def test_what_was_granted_when_the_call_was_cancelled_is_given_back(repo: Repo, way: str) -> None:
    assert Attempt(repo, way).made(lambda scope: scope.cancel()).given_back


@pytest.mark.parametrize("way", WAYS)
def test_what_was_granted_when_the_server_ended_is_given_back_and_said(repo: Repo, way: str) -> None:
    attempt = Attempt(repo, way)
    attempt.made(lambda _: attempt.calls.give_up(signal.SIGTERM))
    assert attempt.given_back and attempt.answer is not None and attempt.answer.structured_content is not None
    assert attempt.answer.structured_content["code"] == 128 + signal.SIGTERM


@pytest.mark.parametrize("way", WAYS)
def test_what_was_granted_and_answered_is_kept(repo: Repo, way: str) -> None:
    attempt = Attempt(repo, way).made(lambda _: None)
    assert not attempt.given_back and attempt.answer is not None and attempt.answer.structured_content is not None
    assert attempt.answer.structured_content["agent"] == "alice"


@pytest.mark.parametrize("way", WAYS)
def test_who_is_told_of_an_error_holds_nothing_new(repo: Repo, way: str) -> None:
    assert Attempt(repo, way).made(lambda _: None, error=True).given_back


def test_a_wait_looks_anew_when_it_is_woken_and_not_after_its_end() -> None:
    class Heard:
        rings = 0

        def ring(self) -> None:
            self.rings += 1

    bell, halt = Heard(), Halt()
    detach = halt.attach(cast("Bell", bell))
    halt.wake()
    detach()
    halt.wake()
    assert bell.rings == 1
