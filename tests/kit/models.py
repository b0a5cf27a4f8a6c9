"""A model server that says what a test tells it to say, in the four languages that agent programs speak to models.

    with Models(Call("Write", {"file_path": "/r/a", "content": "x"}), "done") as models:
        ... a program, with models.url as its model's address ...
        assert "held by" in models.heard()

OpenAI's Responses and Chat Completions, Anthropic's Messages, Gemini's generateContent. What comes next is decided by
the request alone: as many turns as the model has had in it were said. So nothing beside the conversation (titles,
summaries, lists of models) disturbs it, and no turn is lost to a request that is sent again.
"""

import json
import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

Json = dict[str, Any]


class Call(NamedTuple):
    """The model calls a tool: with an object, or (Codex's apply_patch) with a text."""

    tool: str
    given: Json | str


Turn = Call | str


class Models:
    """The server. ``turns`` are said one after the other, the last one as often as it is asked for."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns
        self.requests: list[Json] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def answer(self, path: str, body: Json) -> tuple[str, bytes]:
        """The kind and the bytes of an answer to a request."""
        self.requests.append(body)
        dialect = next((one for end, one in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            return "application/json", b"{}"
        said = dialect.said(body)
        turn = self.turns[min(said, len(self.turns) - 1)]
        if isinstance(turn, Call) and turn.tool not in dialect.tools(body):
            turn = f"there is no {turn.tool} here"  # a title is asked for, or the program has no such tool
        streams = path.endswith(":streamGenerateContent") or body.get("stream") is True
        if not streams:
            return "application/json", json.dumps(dialect.whole(turn, said)).encode()
        return "text/event-stream", b"".join(dialect.stream(turn, said))

    def heard(self) -> str:
        """Every text that any request held, but for what the model itself had said and the tools that it is offered."""
        return "\n".join(text for body in self.requests for text in _texts(body))

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _handler(models: Models) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            self._send("application/json", b'{"object": "list", "data": [], "models": []}')

        def do_HEAD(self) -> None:
            self._send("text/plain", b"")

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(text)
            except ValueError:
                body = {}
            self._send(*models.answer(self.path.partition("?")[0], body if isinstance(body, dict) else {}))

        def _send(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing: what was asked stands in ``Models.requests``."""

    return Handler


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict) and value.get("role") not in ("assistant", "model"):
        for name, one in value.items():
            if name not in ("tools", "arguments", "input_schema"):
                yield from _texts(one)


def _event(record: Json, *, named: bool) -> bytes:
    head = f"event: {record['type']}\n" if named else ""
    return f"{head}data: {json.dumps(record)}\n\n".encode()


def _objects(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


class Responses:
    """OpenAI's Responses API. One turn of the model may be several items in a row."""

    @staticmethod
    def said(body: Json) -> int:
        """How many turns the model has had."""
        count, inside = 0, False
        for item in _objects(body.get("input")):
            own = item.get("role") == "assistant" or item.get("type") in ("function_call", "custom_tool_call")
            count += own and not inside
            inside = own
        return count

    @staticmethod
    def tools(body: Json) -> Iterable[str]:
        return {str(one.get("name")) for one in _objects(body.get("tools"))}

    @staticmethod
    def whole(turn: Turn, said: int) -> Json:
        if isinstance(turn, str):
            content = [{"type": "output_text", "text": turn}]
            item: Json = {"type": "message", "id": f"m{said}", "role": "assistant", "content": content}
        elif isinstance(turn.given, str):
            item = {"type": "custom_tool_call", "id": f"t{said}", "call_id": f"c{said}", "name": turn.tool,
                    "input": turn.given}  # fmt: skip
        else:
            item = {"type": "function_call", "id": f"f{said}", "call_id": f"c{said}", "name": turn.tool,
                    "arguments": json.dumps(turn.given)}  # fmt: skip
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}  # fmt: skip
        return {"id": f"r{said}", "object": "response", "status": "completed", "output": [item], "usage": usage}

    @classmethod
    def stream(cls, turn: Turn, said: int) -> Iterator[bytes]:
        whole = cls.whole(turn, said)
        yield _event({"type": "response.created", "response": {"id": whole["id"]}}, named=True)
        item = whole["output"][0]
        yield _event({"type": "response.output_item.done", "output_index": 0, "item": item}, named=True)
        yield _event({"type": "response.completed", "response": whole}, named=True)


class Chat:
    """OpenAI's Chat Completions API, which others speak as well."""

    @staticmethod
    def said(body: Json) -> int:
        return sum(one.get("role") == "assistant" for one in _objects(body.get("messages")))

    @staticmethod
    def tools(body: Json) -> Iterable[str]:
        return {str(one["function"].get("name")) for one in _objects(body.get("tools")) if "function" in one}

    @classmethod
    def whole(cls, turn: Turn, said: int) -> Json:
        return cls._frame("chat.completion", said, message=cls._message(turn, said), finish_reason=cls._end(turn))

    @classmethod
    def stream(cls, turn: Turn, said: int) -> Iterator[bytes]:
        kind = "chat.completion.chunk"
        yield _event(cls._frame(kind, said, delta=cls._message(turn, said), finish_reason=None), named=False)
        yield _event(cls._frame(kind, said, delta={}, finish_reason=cls._end(turn)), named=False)
        yield b"data: [DONE]\n\n"

    @staticmethod
    def _end(turn: Turn) -> str:
        return "stop" if isinstance(turn, str) else "tool_calls"

    @staticmethod
    def _message(turn: Turn, said: int) -> Json:
        if isinstance(turn, str):
            return {"role": "assistant", "content": turn}
        function = {"name": turn.tool, "arguments": json.dumps(turn.given)}
        call = {"index": 0, "id": f"c{said}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    @staticmethod
    def _frame(kind: str, said: int, **choice: object) -> Json:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": f"r{said}", "object": kind, "created": 1, "model": "made-up",
                "choices": [{"index": 0, **choice}], "usage": usage}  # fmt: skip


class Messages:
    """Anthropic's Messages API."""

    said = staticmethod(Chat.said)

    @staticmethod
    def tools(body: Json) -> Iterable[str]:
        return {str(one.get("name")) for one in _objects(body.get("tools"))}

    @staticmethod
    def whole(turn: Turn, said: int) -> Json:
        if isinstance(turn, str):
            block: Json = {"type": "text", "text": turn}
        else:
            block = {"type": "tool_use", "id": f"toolu_{said:02}", "name": turn.tool, "input": turn.given}
        usage = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return {"id": f"m{said}", "type": "message", "role": "assistant", "model": "made-up", "content": [block],
                "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use", "stop_sequence": None,
                "usage": usage}  # fmt: skip

    @classmethod
    def stream(cls, turn: Turn, said: int) -> Iterator[bytes]:
        whole = cls.whole(turn, said)
        block = whole["content"][0]
        start = {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
        if isinstance(turn, str):
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": turn}
        else:
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(turn.given)}
        end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        for record in (
            start,
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ):
            yield _event(record, named=True)


class Gemini:
    """Gemini's generateContent."""

    @staticmethod
    def said(body: Json) -> int:
        return sum(one.get("role") == "model" for one in _objects(body.get("contents")))

    @staticmethod
    def tools(body: Json) -> Iterable[str]:
        groups = _objects(body.get("tools"))
        return {str(one.get("name")) for group in groups for one in _objects(group.get("functionDeclarations"))}

    @staticmethod
    def whole(turn: Turn, said: int) -> Json:
        part: Json = {"text": turn}
        if not isinstance(turn, str):
            part = {"functionCall": {"id": f"c{said}", "name": turn.tool, "args": turn.given}}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        return {"candidates": [candidate], "usageMetadata": usage}

    @classmethod
    def stream(cls, turn: Turn, said: int) -> Iterator[bytes]:
        yield _event(cls.whole(turn, said), named=False)


DIALECTS: dict[str, type[Responses | Chat | Messages | Gemini]] = {
    "/responses": Responses,
    "/chat/completions": Chat,
    "/messages": Messages,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}
