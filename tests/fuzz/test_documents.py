"""Every file that git-lock reads, with anything in it: an answer, or an error of ours; never a traceback."""

import json
import os
from binascii import crc32
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitlock.domain.beat import plan_beat
from gitlock.domain.claim import plan_claim
from gitlock.domain.holding import Wanted, plan_release, plan_renew, plan_sweep
from gitlock.domain.pattern import PLAIN
from gitlock.domain.snapshot import Snapshot
from gitlock.domain.taint import Taint
from gitlock.domain.turn import plan_join, plan_offers
from gitlock.entrypoints.cli.main import main
from gitlock.entrypoints.envelope import lease_json
from gitlock.entrypoints.hooks.marker import judged_by_this_git, judged_this_index, passed
from gitlock.entrypoints.wording import ended_line, held_by, taint_line, visible
from gitlock.errors import GitlockError, StoreCorrupt, StoreTooNew
from gitlock.git.hooks.disk import Record
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.history import read_history
from gitlock.stores.files.mark import read_mark
from gitlock.stores.files.store import FileStore
from gitlock.wiring.mapfile import parse_map_file
from gitlock.wiring.policies import last_known_mode, policy_of_text
from tests.fuzz.hostile import any_text, assert_speakable, bounded, printable
from tests.kit.agents import NOTHING_KNOWN, Worker, a_claim, enforced
from tests.kit.clock import ManualClock
from tests.kit.repo import Repo

hostile = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(), any_text,
    st.lists(any_text, max_size=3),
    st.sampled_from([
        0, 1, -1, 2**53, 2**63, 1e15, 1e300, float("nan"), float("inf"), [], {}, [[]], [None], [1], {"a": 1},
        "9" * 400, "a" * 5000, {"host": "h"}, [[[[[[]]]]]],
    ]),
)  # fmt: skip


class Change(NamedTuple):
    """One field of one record becomes something else, is left out, or gets company."""

    row: int
    field: int
    value: Any
    how: str


WAYS = ("set", "drop", "add", "inside")
DAMAGES = ("flip", "cut", "double", "insert", "zero")
CHANGES = st.lists(
    st.builds(Change, st.integers(0, 30), st.integers(0, 30), VALUES, st.sampled_from(WAYS)), min_size=1, max_size=3
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository in whose store there is one of everything, made once."""
    repo = Repo.new(tmp_path_factory.mktemp("documents"), {"src/a": "1\n"})
    repo.install()
    repo.lock("claim", "src/*", "deploy:x", "!src/b", "-m", "why", agent="alice").ok()
    repo.lock("claim", "--shared", "lib/", agent="bob").ok()
    repo.lock("claim", "--intent", "docs/**", agent="carol").ok()
    repo.lock("claim", "gone", "--ttl", "1s", agent="dave").ok()
    repo.lock("claim", "src/a", "--ticket", agent="bob").ended(21)
    repo.lock("request", "src/a", "-m", "please", agent="carol").ok()
    repo.lock("break", "lib/", "--reason", "why", "--yes", "--force", agent="alice").ok()
    repo.lock("claim", "lib/", agent="bob").ok()
    store = store_in(repo)
    taint = Taint(
        id="t", agent="alice", keys=("deploy:x",), include=("src/*",), exclude=(), command="make", code=1, why="failed",
        at=1.0,
    )  # fmt: skip
    store.update(lambda snapshot: (plan_sweep(snapshot)[0].replace(taint=(taint,)), None))
    return repo


def store_in(repo: Repo) -> FileStore:
    return FileStore(str(repo.path / ".git/agentlocks"), SystemClock().now)


def changed(data: bytes, changes: list[Change]) -> bytes:
    """The state with other records, and the checksum of that: as somebody with an editor and a grudge would."""
    lines = data.split(b"\n")
    records = [number for number, line in enumerate(lines) if line[:1] == b"{" and number < len(lines) - 2]
    for change in changes:
        number = records[change.row % len(records)]
        head = number == 0
        line = lines[number].rstrip(b",")
        record = json.loads(line + b"}" if head else line)
        target = record
        if change.how == "inside":
            inner = [value for value in record.values() if isinstance(value, dict) and value]
            target = inner[0] if inner else record
        names = list(target)
        name = names[change.field % len(names)]
        if change.how == "drop":
            del target[name]
        elif change.how == "add":
            target[f"later-{change.field}"] = change.value
        else:
            target[name] = change.value
        text = json.dumps(record, separators=(",", ":")).encode()
        comma = b"," if lines[number].endswith(b",") else b""
        lines[number] = (text[:-1] if head else text) + comma
    return summed(b"\n".join(lines))


def summed(data: bytes) -> bytes:
    """With the checksum of what is there."""
    body = data[: data.rindex(b'"crc32":')]
    return body + b'"crc32":"%08x"}\n' % crc32(body)


def everything_is_asked(snapshot: Snapshot) -> None:
    """Whatever a command or a gate would want to know, and say."""
    now, leases = snapshot.now, snapshot.leases
    texts = [held_by(lease, now, through=True) for lease in leases.all()]
    json.dumps([lease_json(lease, now, "unknown", "live", 0) for lease in leases.all()], allow_nan=False)
    for lease in (*leases.of(("alice", "bob")), *leases.near(frozenset(["src/"]), frozenset())):
        texts.append(lease.title)
    list(leases.around(frozenset(["src/a"]), frozenset(["deploy:x"])))
    texts += [ended_line(ended, now) for ended in snapshot.ended.all()]
    texts += [waiter.title for waiter in snapshot.waiters.ordered()]
    texts += [taint_line(taint, 1.0) for taint in snapshot.taints]
    claim = a_claim("src/a", "lib/x", names=("deploy:x",), agent="zoe")
    _, answer = plan_claim(snapshot, claim, fold=PLAIN, facts=NOTHING_KNOWN, mode_of=enforced)
    conflicts = getattr(answer, "conflicts", ())
    plan_join(snapshot, claim, "t1", None, conflicts, (), PLAIN, NOTHING_KNOWN)
    plan_offers(snapshot, PLAIN, NOTHING_KNOWN)
    plan_beat(snapshot, "alice")
    plan_sweep(snapshot)
    plan_renew(snapshot, "bob", (), None, PLAIN)
    plan_release(snapshot, "alice", (Wanted("src/a", frozenset(["src/a"]), include=("src/a",)),), PLAIN)
    assert all(visible(text).isprintable() for text in texts)


@hostile
@given(changes=CHANGES)
def test_a_state_with_other_records_is_read_or_corrupt(whole: Repo, changes: list[Change], tmp_path: Path) -> None:
    store = another_store(tmp_path, changed(state_at(whole, tmp_path), changes))
    try:
        with bounded():
            everything_is_asked(store.read())
            store.check_all()
    except GitlockError as error:
        assert_speakable(error)


@hostile
@given(changes=CHANGES)
def test_a_state_with_other_records_is_written_on_or_left_alone(
    whole: Repo, changes: list[Change], tmp_path: Path
) -> None:
    data = changed(state_at(whole, tmp_path), changes)
    store = another_store(tmp_path, data)
    try:
        with bounded():
            Worker(store, "zoe").claim("zoe/*")
    except GitlockError:
        pass
    after = Path(store.layout.state).read_bytes()
    rows = [line.rstrip(b",") for line in data.split(b"\n")[1:-2]]
    kept = [line.rstrip(b",") for line in after.split(b"\n")]
    assert after == data or ([row for row in rows if row not in kept] == [] and b'"agent":"zoe"' in after)


@hostile
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255), how=st.sampled_from(DAMAGES))
def test_damage_is_never_read_as_anything(whole: Repo, at: int, byte: int, how: str, tmp_path: Path) -> None:
    data = state_at(whole, tmp_path)
    at %= len(data)
    other = {
        "flip": data[:at] + bytes([data[at] ^ (byte or 1)]) + data[at + 1 :],
        "cut": data[:at],
        "double": data + data[at:],
        "insert": data[:at] + bytes([byte]) + data[at:],
        "zero": data[:at] + b"\0" * (len(data) - at),
    }[how]
    with pytest.raises((StoreCorrupt, StoreTooNew)):
        another_store(tmp_path, other).read()


def state_at(repo: Repo, folder: Path) -> bytes:
    """The document of a repository as if it had always been in another place: elsewhere it would be a copy's."""
    data = (repo.path / ".git/agentlocks/state.json").read_bytes()
    home = json.dumps(str(repo.path / ".git/agentlocks")).encode()
    assert home in data
    return summed(data.replace(home, json.dumps(str(folder / "agentlocks")).encode()))


def another_store(folder: Path, data: bytes) -> FileStore:
    """A store with that document."""
    place = folder / "agentlocks"
    place.mkdir(exist_ok=True, mode=0o700)
    (folder / "agentlocks.mark").unlink(missing_ok=True)
    (place / "state.json").write_bytes(data)
    return FileStore(str(place), ManualClock())


# The commands, on the same documents.

COMMANDS = [
    ["list", "--all"], ["list", "--json", "--all"], [], ["status", "src/a"], ["who", "src/a", "--json"], ["mine"],
    ["check", "src/a"], ["claim", "lib/x", "--dry-run"], ["which", "src/a"], ["inbox"], ["history", "--all"],
    ["doctor"], ["release", "x"], ["gc"],
]  # fmt: skip


@hostile
@given(changes=CHANGES, command=st.sampled_from(COMMANDS))
def test_a_command_answers_on_any_state(
    whole: Repo,
    changes: list[Change],
    command: list[str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = whole.path / ".git/agentlocks/state.json"
    before = state.read_bytes()
    monkeypatch.chdir(whole.path)
    monkeypatch.setenv("GITLOCK_AGENT", "alice")
    state.write_bytes(changed(before, changes))
    try:
        with bounded():
            code = main(command)
    finally:
        state.write_bytes(before)
    out, err = capfd.readouterr()
    assert code in (0, 2, 10, 12, 13, 17, 20, 22), err
    assert printable(out.encode("utf-8", "surrogateescape")) and printable(err.encode("utf-8", "surrogateescape"))


# What lies beside the state.

GARBAGE = st.one_of(
    st.binary(max_size=300), any_text.map(lambda text: text.encode("utf-8", "surrogatepass")),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(any_text, VALUES, max_size=5).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([
        b"", b"{", b'{"', b"[" * 3000, b'"\\ud800"', b"9" * 5000, b"\0" * 160, b"1 2 3", b"{}" * 100, b"\xef\xbb\xbf{}",
    ]),
)  # fmt: skip


@hostile
@given(data=GARBAGE)
def test_a_mark_protects_or_is_passed_over(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mark"
    path.write_bytes(data)
    mark = read_mark(str(path))
    assert mark is None or mark.epoch >= 0


@hostile
@given(
    changes=st.lists(st.tuples(st.integers(0, 30), VALUES, st.booleans()), max_size=3),
    garbage=st.one_of(st.none(), GARBAGE),
)
def test_a_request_is_heard_or_passed_over(
    whole: Repo, changes: list[tuple[int, Any, bool]], garbage: bytes | None, tmp_path: Path
) -> None:
    (request,) = (whole.path / ".git/agentlocks/requests").glob("*.json")
    record = json.loads(request.read_bytes())
    for field, value, drops in changes:
        name = list(record)[field % len(record)]
        if drops:
            record.pop(name)
        else:
            record[name] = value
    store = another_store(tmp_path, state_at(whole, tmp_path))
    folder = Path(store.layout.requests)
    folder.mkdir(exist_ok=True)
    (folder / request.name).write_bytes(json.dumps(record).encode() if garbage is None else garbage)
    with bounded():
        for one in store.requests.all(heard=True):
            assert visible(one.text).isprintable() and visible(one.claim).isprintable()
            assert one.is_for("alice", "agent") in (True, False)


@hostile
@given(data=GARBAGE)
def test_what_was_installed_is_known_or_forgotten(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "hooks.json").write_bytes(data)
    record = Record(str(tmp_path))
    assert all(isinstance(folder, str) for folder in [*record.folders, *record.made])


@hostile
@given(spool=GARBAGE, database=GARBAGE)
def test_history_is_told_as_far_as_it_can_be_read(spool: bytes, database: bytes, tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "agentlocks"), ManualClock())
    Path(store.layout.folder).mkdir(exist_ok=True, mode=0o700)
    for name, data in (("history.spool", spool), ("history.db", database)):
        (tmp_path / "agentlocks" / name).write_bytes(data)
    with bounded():
        events, _ = read_history(store.layout)
    assert all(isinstance(event["verb"], str) for event in events)


MAP = b'version = 1\n[policy]\nmode = "warn"\nopen = ["docs/**"]\n'


@hostile
@given(data=GARBAGE)
def test_a_policy_is_what_the_map_file_says_whatever_was_kept_of_it(data: bytes, tmp_path: Path) -> None:
    said = parse_map_file(MAP)
    assert policy_of_text(MAP, {}, str(tmp_path)) == said
    (kept,) = tmp_path.glob("map-*.json")
    whole = kept.read_bytes()
    for other in (data, whole[: len(whole) // 2], whole.replace(b"warn", b"off")):
        kept.write_bytes(other)
        assert policy_of_text(MAP, {}, str(tmp_path)) == said
    assert kept.read_bytes() == whole


@hostile
@given(data=GARBAGE)
def test_the_mode_is_one_of_three_whatever_is_kept_of_it(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "mode").write_bytes(data)
    assert last_known_mode(str(tmp_path)) in ("enforce", "warn", "off")


@hostile
@given(data=GARBAGE)
def test_the_notes_of_one_hook_for_the_next_are_understood_or_passed_over(data: bytes, tmp_path: Path) -> None:
    for name in ("gitlock-judged", "gitlock-passed", "gitlock-asked", "index"):
        (tmp_path / name).write_bytes(data)
    environ = {"GITLOCK_GIT_PID": str(os.getpid())}
    assert judged_by_this_git(str(tmp_path), environ) in (True, False)
    assert not judged_this_index(str(tmp_path), environ) or data.split()[:1] == [str(os.getpid()).encode()]
    assert all(visible(row).isprintable() for row in passed(str(tmp_path)))


def foreign_things() -> list[tuple[str, Callable[[Path], object]]]:
    """What may lie where a file should."""
    return [("folder", Path.mkdir), ("pipe", os.mkfifo), ("link", lambda path: path.symlink_to("/dev/zero"))]


@pytest.mark.parametrize("name", ["mode", "map-cache", "hooks.json", "requests", "waiting", "bound", "README"])
@pytest.mark.parametrize(("kind", "put"), foreign_things(), ids=lambda one: one if isinstance(one, str) else "")
def test_something_foreign_beside_the_state_stops_nobody_for_ever(
    tmp_path: Path, name: str, kind: str, put: Callable[[Path], object]
) -> None:
    repo = Repo.new(tmp_path, {".gitlock.toml": MAP, "a": "1\n"})
    repo.install()
    repo.lock("claim", "a", agent="alice").ok()
    place = next(repo.store.glob("map-*.json")) if name == "map-cache" else repo.store / name
    if place.is_dir():
        place.rmdir()
    place.unlink(missing_ok=True)
    put(place)
    for words in (["claim", "b"], ["list"], ["check", "a"], ["hook", "pre-commit"], ["inbox"], ["uninstall"]):
        result = repo.lock(*words, agent="bob")
        assert result.code in (0, 10, 20, 22) or (result.code == 1 and result.err.startswith("git-lock: ")), result
        assert "Traceback" not in result.err, result
