"""Every command's --json answer is as its schema says: where it did what was asked, where it refused, where it failed.

The schemas are strict, so that a field too many, too few or of another kind is a fault; the planted ones prove it.
"""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import COMMANDS
from tests.kit.repo import Repo
from tests.kit.schemas import FOLDER, assert_fits, faults, names, schema

Json = dict[str, Any]


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """alice holds two files and a key, bob one file; what alice changed is staged."""
    repo = Repo.new(tmp_path, files={"src/a.py": "a\n", "src/b.py": "b\n", "src/c.py": "c\n", "docs/x.md": "x\n"})
    repo.lock("claim", "src/a.py", "docs/*", "!docs/gen", "-m", "why not").ok()
    repo.lock("claim", "src/b.py", "--shared", agent="bob").ok()
    return repo


def answered(repo: Repo, *words: str, code: int = 0, agent: str | None = "alice", name: str = "", **more: Any) -> Json:
    """The answer of a command, which must fit its schema and end with a code that the command declares."""
    answer = repo.json(*words, agent=agent, **more)
    command = name or words[0]
    assert_fits(command, answer)
    assert answer["code"] == code, answer
    assert code in load(command).codes, f"{command} does not declare {code}"
    return answer


# -- what was asked for


def test_claim(world: Repo) -> None:
    answer = answered(world, "claim", "src/c.py", "deploy:staging", "--ttl", "90s")
    assert answer["data"]["lease"]["keys"] == ["deploy:staging", "file:src/c.py"]


def test_a_claim_that_is_ours_already(world: Repo) -> None:
    answer = answered(world, "claim", "src/a.py")
    assert (answer["data"]["already"], answer["data"]["token"]) == (True, None)


def test_a_token_is_in_the_answer_of_its_claim_alone(world: Repo) -> None:
    token = answered(world, "claim", "src/c.py")["data"]["token"]
    others = [
        answered(world, *words)
        for words in (["list"], ["mine"], ["status", "src/c.py"], ["renew"], ["release", "src/c.py"])
    ]
    assert token and token not in json.dumps(others)


def test_a_dry_run_says_that_it_was_one(world: Repo) -> None:
    assert answered(world, "claim", "free/x", "--dry-run")["data"]["dry_run"] is True
    assert answered(world, "claim", "free/x")["data"]["dry_run"] is False
    assert answered(world, "break", "free/x", agent="carol", code=17)["ok"] is False
    dropped = answered(world, "break", "free/x", "--force", agent="carol")["data"]
    assert dropped["dry_run"] is True and len(dropped["leases"]) == 1


def test_a_dry_run_is_answered_as_the_claim_is(world: Repo) -> None:
    real = answered(world, "claim", "src/b.py", "--dry-run", code=10)
    assert answered(world, "claim", "src/b.py", code=10)["error"]["id"] == real["error"]["id"]


@pytest.mark.parametrize(
    "words",
    [
        ["release", "src/a.py"],
        ["release", "--all"],
        ["renew", "--ttl", "2h"],
        ["mine"],
        ["check", "src/a.py"],
        ["list"],
        ["list", "--all", "--under", "src"],
        ["status", "src/b.py", "free.py"],
        ["status", "src/b.py", "--exit-code"],
        ["who", "src/b.py", "free.py", "."],
        ["which", "src/b.py"],
        ["history"],
        ["whoami"],
        ["uninstall"],
    ],
    ids=" ".join,
)
def test_what_was_asked_for(world: Repo, words: list[str]) -> None:
    assert answered(world, *words)["ok"]


def test_the_overview(world: Repo) -> None:
    world.install()
    answer = world.json()
    assert_fits("overview", answer)
    assert answer["data"]["enforced"][0] == "pre-commit"


def test_installing_and_what_the_doctor_finds_then(world: Repo) -> None:
    installed = answered(world, "install")
    assert answered(world, "doctor")["data"]["findings"][-1]["state"] == "ok"
    assert installed["data"]["written"]
    assert answered(world, "uninstall")["data"]["removed"]


def test_the_lines_for_a_hook_manager(world: Repo) -> None:
    assert answered(world, "install", "--print", "husky")["data"]["native"]["files"]


def test_which_names_the_line_of_the_map_file(world: Repo) -> None:
    world.write(
        ".gitlock.toml", 'version = 1\n\n[[key]]\nname = "schema:main"\npaths = ["db/**", "!db/x"]\nmode = "warn"\n'
    )
    (result,) = answered(world, "which", "db/y.sql")["data"]["results"]
    assert result["map_line"] == ".gitlock.toml:3"
    assert result["keys"] == [
        {"name": "schema:main", "paths": ["db/**", "!db/x"], "takes": "parts", "mode": "warn", "line": 3}
    ]


def test_a_lease_that_ended_says_why(world: Repo) -> None:
    world.lock("claim", "lapsing.py", "--ttl", "0.001s").ok()
    world.lock("claim", "lapsing.py", agent="bob").ok()
    answer = answered(world, "mine", code=13)
    assert [one["ended"]["why"] for one in answer["data"]["ended"]] == ["taken"]
    assert answered(world, "list", "--all")["ok"]


# -- refused


@pytest.mark.parametrize(
    ("words", "code", "id"),
    [
        (["claim", "src/b.py"], 10, "held"),
        (["claim", "src/*", "docs/x.md"], 10, "held"),
        (["release", "src/b.py"], 12, "not-yours"),
        (["release", "nothing.py"], 13, "no-such-lease"),
        (["renew", "nothing.py"], 13, "no-such-lease"),
        (["renew", "src/b.py"], 12, "not-yours"),
        (["check", "src/b.py", "free.py"], 22, "violation"),
        (["status", "free.py", "--exit-code"], 3, "free"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_refusal(world: Repo, words: list[str], code: int, id: str) -> None:
    answer = answered(world, *words, code=code)
    assert (answer["ok"], answer["error"]["id"]) == (False, id)


def test_a_refused_claim_lists_every_conflict_with_its_witness(world: Repo) -> None:
    world.lock("claim", "src/c.py", agent="carol").ok()
    conflicts = answered(world, "claim", "src/*.py", code=10)["error"]["conflicts"]
    assert sorted((one["lease"]["agent"], one["witness"]) for one in conflicts) == [
        ("bob", "src/b.py"), ("carol", "src/c.py"),
    ]  # fmt: skip


def test_an_installation_that_enforces_nothing(world: Repo) -> None:
    world.git("config", "core.hooksPath", "/nowhere/hooks")
    assert answered(world, "install", code=17)["error"]["id"] == "not-enforced"


def test_a_lease_that_was_taken_over(world: Repo) -> None:
    world.lock("claim", "lapsing.py", "--ttl", "0.001s").ok()
    world.lock("claim", "lapsing.py", agent="bob").ok()
    assert answered(world, "renew", "lapsing.py", code=19)["error"]["id"] == "overtaken"


# -- failed

USAGE = [
    ["claim"],
    ["claim", "!x"],
    ["claim", "[z-a]"],
    ["claim", "src/c.py", "--ttl", "never"],
    ["claim", "--nonsense"],
    ["release"],
    ["release", "--all", "x"],
    ["renew", "--ttl", "8d"],
    ["mine", "x"],
    ["check", "--worktree", "--stdin"],
    ["list", "--under", "../.."],
    ["status"],
    ["who"],
    ["which", "/outside"],
    ["history", "--limit", "x"],
    ["whoami", "--agent", "a b"],
    ["install", "--mode", "gentle"],
    ["uninstall", "x"],
    ["doctor", "--color", "pink"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_words_that_make_no_sense(world: Repo, words: list[str]) -> None:
    answer = answered(world, *words, code=2)
    assert answer["error"]["next"] is None or answer["error"]["next"]


STORED = [
    "claim src/c.py",
    "release --all",
    "renew",
    "mine",
    "check src/a.py",
    "list",
    "status x",
    "who x",
    "which x",
    "doctor",
]


@pytest.mark.parametrize("line", STORED)
def test_a_store_that_cannot_be_read(world: Repo, line: str) -> None:
    (world.store / "state.json").write_text("broken")
    assert answered(world, *line.split(), code=20)["ok"] is False


def test_a_status_that_cannot_be_told_has_a_code_of_its_own(world: Repo) -> None:
    (world.store / "state.json").write_text("broken")
    assert answered(world, "status", "x", "--exit-code", code=5)["error"]["id"] == "store-corrupt"


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name in (*(line.split()[0] for line in STORED), "whoami")]
)
def test_outside_any_repository(run_lock: Callable[..., Any], name: str) -> None:
    words = [name, *(["x"] if load(name).arguments else [])]
    answer = run_lock(*words, "--json").ended(1).json()
    assert_fits(name, answer)
    assert answer["error"]["id"] == "not-a-repository"


# -- names that are no UTF-8


def test_names_that_are_no_utf8_come_with_their_bytes(world: Repo) -> None:
    lease = answered(world, "claim", "caf\udce9.txt", "-m", "f\udcfcr \u202e")["data"]["lease"]
    assert lease["include"] == ["caf\\xe9.txt"]
    assert lease["raw"]["caf\\xe9.txt"] == "Y2Fm6S50eHQ="
    assert "raw" not in answered(world, "claim", "café.txt")["data"]["lease"]


@pytest.mark.parametrize(
    "words", [["list"], ["who", "caf\udce9.txt"], ["history"], ["status", "caf\udce9.txt"]], ids=str
)
def test_no_answer_holds_half_a_character(world: Repo, words: list[str]) -> None:
    world.lock("claim", "caf\udce9.txt", "-m", "\udcff").ok()
    text = json.dumps(answered(world, *words), ensure_ascii=False)
    assert text.encode()  # which a lone surrogate would not survive


# -- the schemas themselves


def test_every_command_has_a_schema() -> None:
    answering = set(COMMANDS) - {"agent-hook", "mcp"}  # what they answer has the forms of the programs that ask
    assert sorted(answering) == [name for name in names() if name not in ("envelope", "lease", "ask")]


@pytest.mark.parametrize("name", names())
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"{name}.json"


def test_the_schemas_are_in_the_package() -> None:
    code = "import gitlock, os; print(os.path.dirname(gitlock.__file__))"
    where = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER.parents[1], check=True
    )
    assert Path(where.stdout.strip(), "schemas") == FOLDER


GOOD: Json = {
    "schema": "gitlock/1", "ok": True, "code": 0,
    "data": {
        "leases": [{
            "id": "0123456789ab", "agent": "alice", "kind": "agent", "mode": "exclusive", "keys": ["file:a"],
            "include": ["a"], "exclude": [], "reason": "", "fence": 1, "acquired_at": "2030-01-02T03:04:05Z",
            "renewed_at": "2030-01-02T03:04:05Z", "expires_at": "2030-01-02T04:04:05Z", "ttl_s": 3600.0,
            "state": "live", "liveness": "unknown", "waiting": 0,
            "holder": {"host": "h", "pid": None, "worktree": None, "branch": None, "session": None},
        }],
        "elsewhere": [],
    },
}  # fmt: skip


def _planted(change: Callable[[Json], object]) -> Json:
    answer = copy.deepcopy(GOOD)
    change(answer)
    return answer


def test_an_answer_without_fault_is_found_to_have_none() -> None:
    assert faults("list", GOOD) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer.update(schema="gitlock/2"),
        lambda answer: answer.update(code=10),
        lambda answer: answer.update(more=1),
        lambda answer: answer.pop("data"),
        lambda answer: answer.update(ok=False),
        lambda answer: answer.update(error=None),
        lambda answer: answer["data"].update(more=1),
        lambda answer: answer["data"]["leases"][0].pop("waiting"),
        lambda answer: answer["data"]["leases"][0].update(token="0" * 32),
        lambda answer: answer["data"]["leases"][0].update(ttl_s="1h"),
        lambda answer: answer["data"]["leases"][0].update(acquired_at="2030-01-02 03:04:05"),
        lambda answer: answer["data"]["leases"][0].update(state="gone"),
        lambda answer: answer["data"]["leases"][0]["holder"].pop("pid"),
        lambda answer: answer["data"]["leases"][0].update(raw={}),
        lambda answer: answer["data"].update(leases=None),
    ],
)
def test_a_planted_fault_is_seen(change: Callable[[Json], object]) -> None:
    assert faults("list", _planted(change))


@pytest.mark.parametrize(
    "error",
    [
        {"id": "held", "message": "m", "conflicts": []},
        {"id": "held", "message": "m", "conflicts": None, "next": None},
        {"id": "Not Kebab", "message": "m", "conflicts": [], "next": None},
        {"id": "held", "message": "", "conflicts": [], "next": None},
        {"id": "held", "message": "m", "conflicts": [{"witness": None}], "next": None},
        None,
    ],
)
def test_a_planted_error_is_seen(error: object) -> None:
    good: Json = {"id": "held", "message": "m", "conflicts": [], "next": None}
    assert faults("list", {"schema": "gitlock/1", "ok": False, "code": 10, "error": good}) == []
    assert faults("list", {"schema": "gitlock/1", "ok": False, "code": 10, "error": error})
