"""One door for each outside thing: printing, processes, the environment, the clock, writing files."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.architecture.source import dotted, modules, names_used, tree


class Door(NamedTuple):
    """What may be named only in some places. A place that ends in / is a folder."""

    what: str
    names: str  # a regular expression over the full dotted name
    places: dict[str, str]  # place → why there


DOORS = [
    Door(
        "printing",
        r"print|sys\.(stdout|stderr|__stdout__|__stderr__)(\..*)?",
        {
            "gitlock/entrypoints/cli/output.py": "answers and narration of the commands",
            "gitlock/entrypoints/hooks/": "a hook answers without the command line's machinery",
            "gitlock/__main__.py": "the last word when nothing else could be loaded",
        },
    ),
    Door(
        "starting processes",
        r"subprocess(\..*)?|os\.(posix_spawnp?|fork|forkpty|system|popen|exec[lv]\w*|spawn[lv]\w*)"
        r"|_posixsubprocess(\..*)?|pty\.\w+|multiprocessing(\..*)?",
        {
            "gitlock/git/process.py": "the only door to the git program",
            "gitlock/git/together.py": "gits in many worktrees at once, each with a deadline",
            "gitlock/git/patient.py": "the same, for what may take long or hang: with its own group and deadline",
            "gitlock/usecases/command.py": "the command that `run` holds a lease for",
            "gitlock/usecases/examining/feeding.py": "what an agent program would run, for doctor: with an end to each",
            "gitlock/usecases/detached.py": "a child of our own for what is done after the answer",
            "gitlock/usecases/spawning/setting_up.py": "set-up commands that a person has approved",
            "gitlock/__main__.py": "starts over under UTF-8 names, before anything else is loaded",
        },
    ),
    Door(
        "reading the environment",
        r"os\.(environb?|getenvb?|putenv|unsetenv)(\..*)?",
        {
            "gitlock/wiring/": "settings and identity are made here once",
            "gitlock/__main__.py": "what must be known before anything is imported",
            "gitlock/entrypoints/hooks/start.py": "git speaks to a hook through it",
            "gitlock/entrypoints/hooks/main.py": "the same, for a hook that a framework starts",
            "gitlock/entrypoints/agents/main.py": "agent programs say who they are in it, too",
        },
    ),
    Door(
        "reading the clock",
        r"time\.(time|time_ns|monotonic|monotonic_ns|clock_gettime|clock_gettime_ns|perf_counter)"
        r"|datetime\.datetime\.(now|utcnow|today)|datetime\.date\.today",
        {
            "gitlock/stores/": "now is the store's",
            "gitlock/wiring/": "deadlines of what is opened",
            "gitlock/git/together.py": "when a git has taken too long",
            "gitlock/usecases/wait.py": "how long we have waited: our own patience, not a lease's time",
            "gitlock/git/patient.py": "how long a git has taken: our own patience",
            "gitlock/usecases/spawning/setting_up.py": "how long a set-up command has taken: the same",
            "gitlock/usecases/watching.py": "when the next look is due, and how long one has taken",
            "gitlock/usecases/examining/feeding.py": "how long an agent program would wait for its hook",
            "gitlock/usecases/run.py": "when the next renewal is due, and our own idea of the lease's end",
            "gitlock/entrypoints/cli/commands/wait.py": "how long we have waited",
        },
    ),
    Door(
        "writing files",
        r"WRITES",  # found by `_writes`, not by name
        {
            "gitlock/stores/": "leases, presence, history",
            "gitlock/git/worktrees.py": "locks an adopted worktree, as git does: in git's own folder for it",
            "gitlock/git/badge.py": "names the agent of a worktree, where git keeps the worktree's own things",
            "gitlock/git/resuming.py": "git's notes of an operation, in a worktree that goes on with it",
            "gitlock/git/removing.py": "a worktree's link, for the moment in which what is left of it is saved",
            "gitlock/git/snapshots/": "what a snapshot holds, into a fresh worktree",
            "gitlock/git/hooks/": "puts our stub into a hooks folder",
            "gitlock/usecases/examining/feeding.py": "made-up files in a made-up repository",
            "gitlock/usecases/spawning/seeding.py": "ignored files, into a new worktree",
            "gitlock/usecases/settings/disk.py": "settings files of agent programs, with our entries or without",
            "gitlock/wiring/policies.py": "caches of what a map file said, and the mode last known",
            "gitlock/entrypoints/hooks/marker.py": "a note from one hook to the next, in the worktree's own git folder",
            "gitlock/entrypoints/hooks/message.py": "the commit message that git hands to a hook",
            "gitlock/entrypoints/cli/granting.py": "--token-file",
            "gitlock/usecases/detached.py": "the null device, in place of what our parent had open",
            "gitlock/entrypoints/cli/commands/run.py": "--result",
            "gitlock/entrypoints/cli/commands/ci.py": "a job's summary, in the file that the platform names",
            "gitlock/entrypoints/cli/running.py": "the null device, where nobody reads our answer any more",
            "gitlock/bundling.py": "byte code beside Python's own",
            "gitlock/__main__.py": "the null device, in place of a closed stream",
        },
    ),
]

WRITE_FLAGS = {"os.O_WRONLY", "os.O_RDWR", "os.O_CREAT", "os.O_APPEND", "os.O_TRUNC"}


def _writes(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Where a file is opened for writing: open("w"), os.open(O_CREAT), Path.write_text and the like."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and dotted(node) in WRITE_FLAGS:
            yield dotted(node), node.lineno
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("write_text", "write_bytes"):
            yield f".{node.func.attr}()", node.lineno
        is_function = name in ("open", "io.open", "os.fdopen")
        is_method = not is_function and isinstance(node.func, ast.Attribute) and node.func.attr == "open"
        if is_function or is_method:
            modes = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
            if is_method:
                modes += node.args[:1]  # Path.open(mode)
            for mode in modes:
                if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and _is_write_mode(mode.value):
                    yield f"{name or '.open'}({mode.value!r})", node.lineno


def _is_write_mode(mode: str) -> bool:
    return bool(re.fullmatch(r"[rwaxbt+]{1,4}", mode)) and any(letter in mode for letter in "wax+")


def _is_allowed(file: str, places: dict[str, str]) -> bool:
    return any(file == place or (place.endswith("/") and file.startswith(place)) for place in places)


def _found(door: Door, module: ast.Module) -> list[tuple[str, int]]:
    if door.names == "WRITES":
        return list(_writes(module))
    return [(name, line) for name, line in names_used(module) if re.fullmatch(door.names, name)]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.what)
def test_each_outside_thing_has_one_door(door: Door) -> None:
    breaches = [
        f"{file}:{line}: {name}"
        for file in modules("gitlock")
        if not _is_allowed(file, door.places)
        for name, line in _found(door, tree(file))
    ]
    assert not breaches, f"{door.what} is only for {', '.join(door.places)}:\n" + "\n".join(sorted(set(breaches)))


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("printing", "print('x')"),
        ("printing", "from sys import stdout as s\ns.write('x')"),
        ("starting processes", "import subprocess"),
        ("starting processes", "from os import posix_spawn"),
        ("reading the environment", "import os as o\no.environ.get('A')"),
        ("reading the clock", "import time\ntime.monotonic()"),
        ("reading the clock", "from datetime import datetime\ndatetime.now()"),
        ("writing files", "open(p, 'wb')"),
        ("writing files", "path.open('a')"),
        ("writing files", "import os\nos.open(p, os.O_CREAT)"),
        ("writing files", "path.write_text('x')"),
    ],
)
def test_a_planted_breach_is_seen(what: str, code: str) -> None:
    door = next(door for door in DOORS if door.what == what)
    assert _found(door, ast.parse(code))


def test_reading_is_no_writing() -> None:
    assert not list(_writes(ast.parse("open(p); open(p, 'rb'); path.open(); zip.open('name')")))


# Patched insides pin how a thing is done; fakes with behaviour and real processes show that it is done.
MOCKS = (
    r"unittest\.mock(\..*)?|mock(\..*)?|pytest_mock(\..*)?|mocker(\..*)?"
    r"|monkeypatch\.(setattr|delattr|setitem|delitem)"
)


def test_tests_patch_no_insides() -> None:
    breaches = [
        f"{file}:{line}: {name}"
        for file in modules("tests")
        for name, line in names_used(tree(file))
        if re.fullmatch(MOCKS, name)
    ]
    assert not breaches, "a fake or a real process instead of:\n" + "\n".join(sorted(set(breaches)))
