"""The lock server that git-lfs wants to talk to: the least that answers lock and unlock, in this process, on loopback.

What git-lfs takes is then its own: two starts, its questions to git, and one request that costs nothing.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


def _lock(path: str) -> dict[str, object]:
    return {"id": "1", "path": path, "locked_at": "2000-01-01T00:00:00Z", "owner": {"name": "alice"}}


class _Locks(BaseHTTPRequestHandler):
    """One owner, and every lock is granted."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        self._answer(200 if self.path.endswith("/unlock") else 201, {"lock": _lock(asked.get("path", ""))})

    def do_GET(self) -> None:
        path = parse_qs(urlsplit(self.path).query).get("path", [""])[0]
        self._answer(200, {"locks": [_lock(path)] if path else []})

    def _answer(self, code: int, answer: object) -> None:
        body = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/vnd.git-lfs+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def lock_server() -> Iterator[str]:
    """Its address, as ``lfs.url`` wants it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Locks)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/lfs"
    finally:
        server.shutdown()
        server.server_close()
