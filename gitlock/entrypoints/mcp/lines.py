"""Answering lines that are no messages: without an answer whoever sent one waits for ever.

The SDK skips them. That is half of a pair of UTF-16, which a program writes that cuts a text in the middle of an emoji;
several messages in one array, which went out of use with protocol 2025-06-18; and whatever nests too deep to be read.
"""

import json
from typing import Self

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextvars import Context
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream

Id = int | str | None


async def serve_lines(server: MCPServer) -> None:
    """Serves standard input and output until the input ends, as ``run_stdio_async`` does."""
    inner = getattr(server, "_lowlevel_server", None)
    if inner is None:  # another SDK, which keeps it elsewhere
        await server.run_stdio_async()
        return
    async with stdio_server() as (lines, answers):
        await inner.run(Messages(lines, answers), answers, inner.create_initialization_options())


class Messages:
    """The messages among the lines. Any other is answered here, as JSON-RPC wants it."""

    def __init__(self, lines: "ReadStream[SessionMessage | Exception]", answers: "WriteStream[SessionMessage]") -> None:
        self._lines = lines
        self._answers = answers

    @property
    def last_context(self) -> "Context | None":
        """The context of whoever sent the last message, where the stream knows it."""
        found: Context | None = getattr(self._lines, "last_context", None)
        return found

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        while True:
            item = await self._lines.receive()
            if not isinstance(item, ValidationError):
                return item
            answer = refusal(item)
            if answer is not None:
                await self._say(answer)

    async def _say(self, answer: JSONRPCError) -> None:
        try:
            await self._answers.send(SessionMessage(message=answer))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody reads any more

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._lines.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._lines.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> bool | None:
        return await self._lines.__aexit__(kind, error, trace)


def refusal(fault: ValidationError) -> JSONRPCError | None:
    """What is answered to a line with this fault; None where it is empty, or an answer itself."""
    faults = fault.errors(include_url=False, include_context=False)
    first = faults[0]
    if first["type"] == "json_invalid":
        line = first["input"]
        if not str(line).strip():
            return None
        return _error(_id(_read(line)), PARSE_ERROR, f"this line can't be read: {first['msg']}")
    whole = next((one["input"] for one in faults if one["type"] in ("missing", "model_type")), None)
    if isinstance(whole, dict) and "method" not in whole and ("result" in whole or "error" in whole):
        return None
    many = ": one message a line, no arrays" if isinstance(whole, list) else ""
    return _error(_id(whole), INVALID_REQUEST, f"this line is no message of JSON-RPC 2.0{many}")


def _read(line: object) -> object:
    """The same, read by somebody who is less strict; only for its id."""
    try:
        return json.loads(str(line))
    except (ValueError, RecursionError):
        return None


def _id(message: object) -> Id:
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if found.isprintable() else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _error(id: Id, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))
