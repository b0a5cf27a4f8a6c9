"""What the MCP server costs: its start, once a session, and its calls, beside a bare Python and the command line.

The start is everything until the server has answered its first message, and its end. The calls go through one server
that runs already, over the pipe, as a program makes them.

    python benchmarks/server.py [--rounds N] [--json]

Needs the extra: pip install 'git-lock[mcp]'.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ground import ground, in_turn
from measure import BARE, ROUNDS, Table, bare_python, beside, compare

START, STATUS, CLAIM = "start of the server, to its first answer", "status", "claim, then release"
COMMANDS = "the same two as `git lock` commands"


class Server:
    """One server, asked line by line."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            (beside("git-lock"), "mcp"), cwd=folder, env={**os.environ, "GITLOCK_AGENT": "alice"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.number = 0

    def __enter__(self) -> Self:
        who = {"name": "benchmark", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def call(self, tool: str, **arguments: object) -> None:
        """A tool call that must succeed."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert answer["result"]["structuredContent"]["ok"], answer

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """A request and its answer."""
        self.number += 1
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def _send(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def measured(folder: Path, server: Server, commands: Any, bare: Any, rounds: int) -> Table:
    """Every row, in the same rounds."""

    def start() -> None:
        with Server(folder):
            pass

    def claim() -> None:
        server.call("claim", claims=["free.py"])
        server.call("release", claims=["free.py"])

    works = {START: start, STATUS: lambda: server.call("status"), CLAIM: claim, COMMANDS: commands}
    return compare(works, baseline={BARE: bare}, rounds=rounds)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    with ground() as place:
        repo = place.repository("server")
        lock = beside("git-lock")
        commands = in_turn(repo.process((lock, "claim", "free.py")), repo.process((lock, "release", "free.py")))
        with Server(repo.path) as server:
            table = measured(repo.path, server, commands, repo.process(bare_python()), given.rounds)
    print(table.as_json() if given.json else table.text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
