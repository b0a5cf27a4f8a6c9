"""An MCP client beside the test: the SDK's own, over a real pipe to a real server.

    with Client.of(repo, agent="alice") as alice:
        assert alice.claims("src/a.py")["lease"]["agent"] == "alice"

Every answer is held against the output schema that the tool has announced.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client as SdkClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from tests.kit.processes import is_gone, until
from tests.kit.program import child_environment, program
from tests.kit.repo import Environment, Repo

Json = dict[str, Any]

# A program's process with a name of its own, which starts the server with its own standard streams, and runs its hooks
# when told to through a pipe. Its children are its hooks and its server, as a real one's are.
_HOST = """
import os, subprocess, sys
name, program, events, *words = sys.argv[1:]
open("/proc/self/comm", "w").write(name)
server = subprocess.Popen([program, *words])
while True:
    with open(events) as file:
        for line in file:
            if line == "end\\n":
                server.wait()
                sys.exit(server.returncode)
            done = subprocess.run([program, "agent-hook", "--harness", name], input=line.encode(), capture_output=True)
            with open(events + ".said", "ab") as said:
                said.write((done.stdout or b"-") + b"\\n")
"""


class Client:
    """One connection to one server of its own."""

    def __init__(
        self, command: str, arguments: list[str], cwd: Path, env: dict[str, str], *, mode: str = "legacy"
    ) -> None:
        self._parameters = StdioServerParameters(command=command, args=arguments, cwd=cwd, env=env)
        self._mode = mode
        self._schemas: dict[str, Draft202012Validator] = {}
        self._stack = ExitStack()
        self.progress: list[str] = []

    @classmethod
    def of(
        cls,
        repo: Repo,
        *words: str,
        agent: str | None = None,
        env: Environment | None = None,
        cwd: str | Path = "",
        mode: str = "legacy",
    ) -> "Client":
        """A client of a server that is started there, as agent programs start it: with a small environment."""
        more = {"HOME": os.environ["HOME"], **dict(env or {})}
        full = {name: value for name, value in child_environment(more, agent=agent).items() if value is not None}
        return cls(str(program()), ["mcp", *words], repo.path / cwd, full, mode=mode)

    def __enter__(self) -> Self:
        self.errors = self._stack.enter_context(tempfile.TemporaryFile("w+"))
        self._portal: BlockingPortal = self._stack.enter_context(start_blocking_portal())
        # The mode is one of those that the SDK names.
        client = SdkClient(stdio_client(self._parameters, errlog=self.errors), mode=self._mode, cache=None)
        within: AbstractContextManager[SdkClient] = self._portal.wrap_async_context_manager(client)
        self.sdk = self._stack.enter_context(within)
        self.tools = {tool.name: tool for tool in self._portal.call(self.sdk.list_tools).tools}
        for name, tool in self.tools.items():
            assert tool.output_schema is not None, f"{name} has no schema of what it answers"
            self._schemas[name] = Draft202012Validator(tool.output_schema)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # -- what one does with it

    def call(self, tool: str, **arguments: Any) -> Json:
        """A tool's answer."""
        return self.start(tool, **arguments).result()

    def start(self, tool: str, **arguments: Any) -> "Calling":
        """A call that goes on beside the test."""
        return Calling(self._portal.start_task_soon(self._call, tool, arguments), self._schemas[tool])

    async def _call(self, tool: str, arguments: Json) -> CallToolResult:
        return await self.sdk.call_tool(tool, arguments, progress_callback=self._heard)

    def error(self, tool: str, **arguments: Any) -> str:
        """What is said of a call that is none: arguments of the wrong type."""
        result = self._portal.call(partial(self.sdk.call_tool, tool, arguments))
        assert result.is_error, result
        return str(getattr(result.content[0], "text", ""))

    def read(self, uri: str) -> Any:
        """A resource."""
        found = self._portal.call(self.sdk.read_resource, uri).contents[0]
        return json.loads(str(getattr(found, "text", "")))

    def hears(self, uri: str, act: Callable[[], object]) -> str:
        """Subscribes to a resource, acts, and gives the address that the server then says has changed."""
        return self._portal.call(self._listen, uri, act)

    async def _listen(self, uri: str, act: Callable[[], object]) -> str:
        async with self.sdk.listen(resource_subscriptions=[uri]) as heard:
            await asyncio.to_thread(act)
            async for event in heard:
                return str(getattr(event, "uri", event))
        raise AssertionError("the stream ended without news")

    async def _heard(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(message or "")

    # -- the tools, by what they are for

    def claims(self, *claims: str, **more: Any) -> Json:
        """A claim that must be granted."""
        answer = self.call("claim", claims=list(claims), **more)
        assert answer["ok"], answer
        return answer

    def refused(self, tool: str, code: int, **arguments: Any) -> Json:
        """The error of a call that must be refused with this code."""
        answer = self.call(tool, **arguments)
        assert not answer["ok"] and answer["code"] == code, answer
        error = answer["error"]
        assert isinstance(error, dict)
        return error


class Calling:
    """A call under way."""

    def __init__(self, asked: "Future[CallToolResult]", schema: Draft202012Validator) -> None:
        self._asked = asked
        self._schema = schema

    def result(self) -> Json:
        """Its answer, which must be as the tool has announced."""
        result = self._asked.result(60)
        assert not result.is_error, result.content
        answer = result.structured_content
        assert isinstance(answer, dict)
        faults = [f"{fault.json_path}: {fault.message}" for fault in self._schema.iter_errors(answer)]
        assert not faults, "\n".join(faults)
        assert json.loads(str(getattr(result.content[0], "text", ""))) == answer
        return answer

    def cancel(self) -> None:
        """The client gives it up, and says so to the server."""
        self._asked.cancel()


class Host:
    """A client whose server was started by a program's process, which has sessions: what Codex and its like are."""

    def __init__(self, name: str, repo: Repo, folder: Path, *words: str, env: Environment | None = None) -> None:
        self.name = name
        self.repo = repo
        self._events = folder / "events"
        os.mkfifo(self._events)
        self._said = Path(f"{self._events}.said")
        script = folder / "host.py"
        script.write_text(_HOST)
        full = child_environment(dict(env or {}))
        arguments = [str(script), name, str(program()), str(self._events), "mcp", *words]
        self.client = Client(sys.executable, arguments, repo.path, full)

    def __enter__(self) -> Self:
        self.client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write("end\n")
        self.client.__exit__(kind, error, trace)

    def begins(self, session: str, event: str = "SessionStart", **more: Any) -> None:
        """An event of a session, told to its hook by the program's process."""
        before = self._count()
        payload = {"session_id": session, "cwd": str(self.repo.path), "hook_event_name": event, **more}
        self._write(json.dumps(payload) + "\n")
        until(lambda: self._count() > before, "an answer of the hook")

    def _write(self, text: str) -> None:
        with self._events.open("w") as file:
            file.write(text)

    def _count(self) -> int:
        return self._said.read_bytes().count(b"\n") if self._said.exists() else 0


def waits(repo: Repo, agent: str) -> list[int]:
    """The processes that stand in the queue for this agent (also those that are gone, until somebody looks)."""
    found = repo.state()["waiters"] if (repo.store / "state.json").exists() else []
    return [one["process"]["pid"] for one in found if one["agent"] == agent and one["process"] is not None]


def end(pid: int, number: int = signal.SIGKILL) -> None:
    """Sends a signal to a process, and waits until it is gone."""
    os.kill(pid, number)
    until(lambda: is_gone(pid), f"the end of {pid}")
