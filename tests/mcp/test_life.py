"""The server's own life: how it starts and ends, what it leaves behind, and what it writes where."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gitlock
from tests.kit.mcp import Client, end, waits
from tests.kit.processes import until
from tests.kit.program import child_environment
from tests.kit.repo import Repo
from tests.kit.result import Result

LINES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize",
     "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}},
]  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """bob holds a file."""
    found = Repo.new(tmp_path, files={"src/a.py": "a\n"})
    found.lock("claim", "src/a.py", agent="bob").ok()
    return found


def waiting_server(client: Client, repo: Repo) -> int:
    """A server in which alice waits for that file; its process."""
    client.start("claim", claims=["src/a.py"], timeout="60s")
    until(lambda: waits(repo, "alice"), "alice in the queue")
    return waits(repo, "alice")[0]


def assert_nothing_is_left(repo: Repo) -> None:
    """The next claim is granted at once, so nobody waits before it; and alice holds nothing."""
    repo.lock("release", "--all", agent="bob").ok()
    repo.lock("claim", "src/a.py", agent="carol").ok()
    assert [one["agent"] for one in repo.json("list")["data"]["leases"]] == ["carol"]


def test_a_client_that_goes_away_leaves_no_waiter(repo: Repo) -> None:
    with Client.of(repo, agent="alice") as client:
        waiting_server(client, repo)
    assert waits(repo, "alice") == []
    assert_nothing_is_left(repo)


def test_a_server_that_is_killed_leaves_no_waiter_in_the_way(repo: Repo) -> None:
    with Client.of(repo, agent="alice") as client:
        end(waiting_server(client, repo), signal.SIGKILL)
    assert_nothing_is_left(repo)


def test_a_signal_ends_the_waits_first(repo: Repo) -> None:
    with Client.of(repo, agent="alice") as client:
        end(waiting_server(client, repo), signal.SIGTERM)
    assert waits(repo, "alice") == []
    assert_nothing_is_left(repo)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_its_number(repo: Repo, number: signal.Signals) -> None:
    with repo.start("mcp", stdin=subprocess.PIPE) as server:
        assert server.process.stdin is not None
        for line in LINES[:2]:
            server.process.stdin.write(json.dumps(line).encode() + b"\n")
        server.process.stdin.flush()
        server.says('"id":1')
        result = server.signal(number).wait()
    assert (result.code, result.err) == (128 + number, "")


def speaks(repo: Repo, *words: str, lines: bytes | None = None, env: dict[str, str | None] | None = None) -> Result:
    """What a server answers to these lines, until its input ends."""
    text = b"".join(json.dumps(line).encode() + b"\n" for line in LINES) if lines is None else lines
    with repo.start("mcp", *words, agent="alice", env=env, stdin=subprocess.PIPE) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(text)
        server.process.stdin.flush()
        server.says('"id":2')
        server.process.stdin.close()
        return server.wait()


def test_only_the_protocol_is_on_standard_output_and_the_end_of_the_input_ends_it(repo: Repo) -> None:
    result = speaks(repo).ok()
    first, second = (json.loads(line) for line in result.lines)
    assert first["result"]["serverInfo"]["name"] == "git-lock" and "request_release" in first["result"]["instructions"]
    assert second["result"]["structuredContent"]["agent"] == "alice"
    assert result.err == ""


def test_lines_that_are_no_messages_do_it_no_harm(repo: Repo) -> None:
    rubbish = b"\n".join([b"rubbish", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"1" * 70000, b""])
    good = b"".join(json.dumps(line).encode() + b"\n" for line in LINES)
    result = speaks(repo, lines=rubbish + good).ok()
    assert [json.loads(line)["id"] for line in result.lines if "result" in json.loads(line)] == [1, 2]


ODD = [  # lines that are no messages, and the id and the code of what is answered to them
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud83d"}}', 7, -32700),  # half an emoji
    (b'{"jsonrpc":"2.0","id":"eight","method":"ping","params":[]}', "eight", -32600),
    (b'{"id":9,"method":"ping"}', 9, -32600),
    (b'[{"jsonrpc":"2.0","id":10,"method":"ping"}]', None, -32600),
    (b"[" * 5000 + b"]" * 5000, None, -32700),
    (b"rubbish", None, -32700),
]
SILENT = [b"", b"   ", b'{"jsonrpc":"2.0","id":[],"result":3}']  # no line at all, and an answer


def test_a_line_that_is_no_message_is_answered(repo: Repo) -> None:
    first, ready, last = (json.dumps(one).encode() for one in LINES)
    lines = [first, ready, *SILENT, *(line for line, _, _ in ODD), last, b""]
    found = [json.loads(line) for line in speaks(repo, lines=b"\n".join(lines)).ok().lines]
    odd = [(one["id"], one["error"]["code"]) for one in found if "error" in one]
    assert odd == [(number, code) for _, number, code in ODD]


def test_a_client_that_is_gone_before_it_was_answered_holds_nothing(repo: Repo) -> None:
    claim = {"name": "claim", "arguments": {"claims": ["src/b.py"]}}
    lines = [*LINES[:2], {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": claim}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    result = repo.lock("mcp", agent="alice", input=text).ok()
    heard = any(json.loads(line)["id"] == 3 and "result" in json.loads(line) for line in result.lines)
    assert heard == any(one["agent"] == "alice" for one in repo.json("list")["data"]["leases"])


def test_a_server_that_was_stopped_for_a_while_takes_its_turn(repo: Repo) -> None:
    with Client.of(repo, agent="alice") as client:
        waiting = client.start("claim", claims=["src/a.py"], timeout="60s")
        until(lambda: waits(repo, "alice"), "alice in the queue")
        pid = waits(repo, "alice")[0]
        repo.lock("claim", "src/b.py", agent="carol").ok()  # the store's guard is not alice's any more
        os.kill(pid, signal.SIGSTOP)
        repo.lock("release", "--all", agent="bob").ok()
        repo.lock("claim", "src/a.py", agent="carol").ok()
        repo.lock("release", "--all", agent="carol").ok()
        os.kill(pid, signal.SIGCONT)
        assert waiting.result()["lease"]["agent"] == "alice"


def test_it_goes_on_as_it_was_started_while_the_package_is_upgraded(repo: Repo, tmp_path: Path) -> None:
    place = tmp_path / "old"
    shutil.copytree(Path(gitlock.__file__).parent, place / "gitlock", ignore=shutil.ignore_patterns("__pycache__"))
    env = child_environment({"PYTHONPATH": str(place)}, agent="alice")
    with Client(sys.executable, ["-P", "-m", "gitlock", "mcp"], repo.path, env) as client:
        shutil.rmtree(place)
        assert client.refused("claim", 11, claims=["src/a.py"], timeout="1s")["id"] == "timed-out"
        assert client.call("request_release", claims=["src/a.py"])["ok"]
        assert client.claims("src/b.py")["lease"]["agent"] == client.call("whoami")["agent"] == "alice"
        assert client.call("release", all=True)["ok"] and client.read("gitlock://agents")


def blocked(folder: Path, text: str) -> dict[str, str | None]:
    """An environment in which Python runs this before anything else."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def test_without_the_extra_it_says_what_to_install(repo: Repo, tmp_path: Path) -> None:
    env = blocked(tmp_path / "site", "import sys\nsys.modules['mcp'] = None\n")
    result = repo.lock("mcp", env=env).ended(1)
    assert result.out == ""
    assert result.err == (
        "git-lock: the MCP server needs the package 'mcp', which is not installed\n"
        "hint: pip install 'git-lock[mcp]'\n"
    )  # fmt: skip
    assert repo.json("mcp", env=env)["error"]["id"] == "no-mcp"


def test_an_sdk_that_is_too_old_is_said(repo: Repo, tmp_path: Path) -> None:
    old = tmp_path / "site/mcp/server"
    old.mkdir(parents=True)
    for folder in (old, old.parent):
        (folder / "__init__.py").touch()
    result = repo.lock("mcp", env={"PYTHONPATH": str(tmp_path / "site")}).ended(1)
    assert "older than 2.3" in result.err and "hint: pip install" in result.err


def test_wrong_words_are_said_before_it_starts(repo: Repo) -> None:
    assert "--nonsense" in repo.lock("mcp", "--nonsense").ended(2).err


def test_whoever_starts_it_by_hand_is_told_what_it_is_for(repo: Repo) -> None:
    from tests.kit.program import child_environment, program

    leader, follower = os.openpty()
    try:
        process = subprocess.Popen(
            [str(program()), "mcp"], cwd=repo.path, env=child_environment(), stdin=follower, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert process.stderr is not None
        with process, process.stderr as errors:
            said = errors.readline()
            os.write(leader, b"\x04")
            assert process.wait(60) == 0
    finally:
        os.close(leader)
        os.close(follower)
    assert b"Ctrl-D ends it" in said


def test_an_input_that_can_t_be_read_is_an_error_in_words(repo: Repo, tmp_path: Path) -> None:
    fd = os.open(tmp_path / "written", os.O_WRONLY | os.O_CREAT)
    try:
        with repo.start("mcp", stdin=fd) as server:
            done = server.wait()
    finally:
        os.close(fd)
    assert "standard input can't be read" in done.ended(2).err
