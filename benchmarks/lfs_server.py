"""The lock server that git-lfs wants to talk to: the least that answers lock and unlock, in this process, on loopback.

What git-lfs takes is then its own: two starts, its questions to git, and one request over a connection that costs nothing.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Locks(BaseHTTPRequestHandler):
    """One owner, and every lock is granted."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = asked.get("path", "")
        answer = {"lock": {"id": "1", "path": path, "locked_at": "2000-01-01T00:00:00Z", "owner": {"name": "alice"}}}
        self._answer(200 if self.path.endswith("/unlock") else 201, answer)

    def do_GET(self) -> None:
        self._answer(200, {"locks": []})

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
