"""Whatever is held by whom, and however things stand: a commit that is let through at a glance is one that the whole
way round would have let through without a word, leaving the same behind. And a glance that is not enough changes
nothing."""

import contextlib
import io
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitlock import jsontext
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Holder, Lease
from gitlock.domain.policy import BUILT_IN, Policy
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.entrypoints.hooks import plain
from gitlock.entrypoints.hooks.answers import Answers
from gitlock.entrypoints.hooks.gate import judge
from gitlock.entrypoints.hooks.plain import is_clear
from gitlock.entrypoints.hooks.setting import Setting
from gitlock.errors import GitlockError
from gitlock.git.process import Git, Known
from gitlock.git.repository import Repository
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.kit.program import is_soak

AGENTS = ("alice", "alice/kid", "alicia", "bob")
PATTERNS = (
    "src", "src/", "src/*", "src/**", "src/a.py", "src/a", "SRC/a.py", "**", "*", "src/?.py", "**/a.py", "lib/x y:z",
    'lib/"q"', "docs/**", "src/[a]", "src/\\*", "lib/é", "!x", "src/a.py/", "s*",
)  # fmt: skip
PATHS = ("src/a.py", "src/a", "src/b/c.py", "lib/x y:z", 'lib/"q"', "docs/x", "src", "lib/é", "src/*", "!x", "SRC/a.py")
MAPS = ("", 'mode = "warn"', 'mode = "off"', 'humans = "off"', "receipts = false", 'release_on = "commit"',
        '[[key]]\nname = "k"\npaths = ["src/**"]\nmode = "off"', 'unclaimed = "claim"', "not toml")  # fmt: skip
NOTES = ("MERGE_MSG", "MERGE_HEAD", "SQUASH_MSG", "BISECT_LOG", "gitlock-passed")
MARKS = ("following", "requests/1.json", "bound", "sessions/x.json")
TTL = 3600.0
FAITHFUL = 15  # times as often as anything else together, the usual: so that half of all is plain


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """One of these, the first most of the time."""
    return st.sampled_from([usual] * (FAITHFUL * len(others)) + list(others))


LEASES = st.fixed_dictionaries({
    "agent": mostly("alice", *AGENTS), "include": st.lists(st.sampled_from(PATTERNS), min_size=0, max_size=2),
    "exclude": mostly([], ["src/a.py"], ["docs/**"]), "mode": mostly("exclusive", "shared", "intent"),
    "age": mostly(1.0, 0.0, 400.0, 4000.0, 99999.0, -9.0), "branch": mostly("main", "other", None),
    "worktree": mostly("here", "away"), "boot": mostly("this", "that"), "names": mostly([], ["deploy:x"]),
    "extra": mostly({}, {"left": True}, {"tentative": ["c"]}, {"until_merged": "main"}, {"later": 1}),
})  # fmt: skip
WORLDS = st.fixed_dictionaries({
    "leases": st.lists(LEASES, max_size=3), "ended": mostly(None, *AGENTS),
    "paths": st.lists(st.sampled_from(PATHS), min_size=1, max_size=3, unique=True),
    "map": st.sampled_from((None,) * 12 + MAPS),
    "covered": mostly(True, False),  # alice holds just the paths as well
    "mode": mostly(None, "enforce", "warn", "off", "wrong"), "missing": mostly(None, "closed", "wrong"),
    "fold": st.booleans(), "told": mostly(True, False), "note": mostly(None, *NOTES), "mark": mostly(None, *MARKS),
    "head": mostly("main", "other", None),
    "environ": mostly({}, {"GITLOCK_BYPASS": "why"}, {"CLAUDECODE": "1"}, {"GITLOCK_KIND": "human"},
                      {"GITLOCK_KIND": "odd"}, {"GITLOCK_AGENT": "bob"}, {"CLAUDE_CODE_SESSION_ID": "5b0cf1e2"}),
    "damage": mostly(None, "cut", "older", "no mark", "empty"),
})  # fmt: skip


class World:
    """A worktree with a store, as a hook finds it; no git is asked."""

    def __init__(self, folder: Path, world: dict[str, Any]) -> None:
        self.top, self.world = folder, world
        self.git_dir = folder / ".git"
        self.git_dir.mkdir()
        (self.git_dir / "HEAD").write_text(f"ref: refs/heads/{world['head']}\n" if world["head"] else "0" * 40 + "\n")
        (self.git_dir / "index").write_text("index")
        self.clock = SystemClock()
        self.store = FileStore(str(self.git_dir / "agentlocks"), self.clock.now)
        self.store.update(self.plan)
        self.environ = {"GITLOCK_AGENT": "alice", "GITLOCK_GIT_PID": "12345", "PATH": os.defpath, **world["environ"]}
        if world["note"]:
            (self.git_dir / world["note"]).write_text("x\n")
        with contextlib.suppress(GitlockError):  # an earlier commit has kept what the map file says, and the mode
            assert isinstance(self.setting.policy, Policy)
        if not world["told"]:
            (self.git_dir / "agentlocks/mode").unlink(missing_ok=True)
        if world["mark"]:
            path = self.git_dir / "agentlocks" / world["mark"]
            path.parent.mkdir(exist_ok=True)
            path.write_text("files\n" if world["mark"] == "bound" else "{}")
        self.damage(world["damage"])

    def plan(self, snapshot: Snapshot) -> tuple[Edits, None]:
        wanted = list(self.world["leases"])
        if self.world["covered"] and self.world["paths"]:
            wanted.append({**PLAIN, "include": [plain_text(path) for path in self.world["paths"]]})
        leases = tuple(self.lease(number, one, snapshot.now) for number, one in enumerate(wanted, 1))
        ended: tuple[Ended, ...] = ()
        if self.world["ended"]:
            gone = self.lease(99, {**PLAIN, "agent": self.world["ended"], "include": ["src"]}, snapshot.now)
            ended = (Ended(gone, "taken", snapshot.now.wall, by="bob", by_fence=50),)
        return Edits(put=leases, ended=ended, counter=200), None

    def lease(self, number: int, one: dict[str, Any], now: Instant) -> Lease:
        boot = now.boot if one["boot"] == "this" else "another"
        return Lease(
            id=f"id{number}", agent=one["agent"], kind="agent", mode=one["mode"],
            keys=(*(f"glob:{text}" for text in one["include"]), *one["names"]),
            include=tuple(one["include"]), exclude=tuple(one["exclude"]), reason="why", fence=number,
            acquired=now.wall, renewed=Instant(now.wall - one["age"], max(0.0, now.mono - one["age"]), boot), ttl=TTL,
            token_hash="", extra=one["extra"],
            holder=Holder("host", worktree=str(self.top if one["worktree"] == "here" else "/away"),
                          branch=one["branch"]),
        )  # fmt: skip

    def damage(self, how: str | None) -> None:
        state = self.git_dir / "agentlocks/state.json"
        mark = self.git_dir / "agentlocks.mark"
        if how == "cut" and state.exists():
            state.write_bytes(state.read_bytes()[:-40])
        elif how == "older" and mark.exists():
            known = jsontext.loads(mark.read_text())
            assert isinstance(known, dict)
            mark.write_text(jsontext.dumps({**known, "revision": 9}))
        elif how == "no mark":
            mark.unlink(missing_ok=True)
        elif how == "empty":
            state.unlink(missing_ok=True)

    @property
    def answers(self) -> Answers:
        world = self.world
        config = {
            "user.email": "alice@example.com", "gitlock.mode": world["mode"], "gitlock.onmissing": world["missing"],
            "core.ignorecase": "true" if world["fold"] else "false",
        }  # fmt: skip
        rows = "".join([f"{name}\n{value}\0" for name, value in config.items() if value is not None])
        text = None if world["map"] is None else world["map"].encode()
        entry = b"HEAD:.gitlock.toml missing\n" if text is None else b"%040d blob %d\n%s\n" % (1, len(text), text)
        staged = "".join([f"M\0{path}\0" for path in world["paths"]])
        missing = b":.gitlock.toml missing\n"
        return Answers(Known(0, rows.encode()), Known(0, entry + missing), Known(0, staged.encode()))

    @property
    def repository(self) -> Repository:
        git = Git(None, {"PATH": os.defpath})
        return Repository(git, str(self.git_dir), str(self.git_dir), str(self.top), "", False)

    @property
    def setting(self) -> Setting:
        answers = self.answers
        assert answers.config is not None
        assert answers.map_file is not None
        return Setting(self.repository, self.environ, answers.config, answers.map_file)

    def glance(self) -> bool:
        return is_clear(self.repository, self.environ, self.answers)

    def whole_way(self) -> int:
        return judge("pre-commit", self.setting, self.answers.staged)

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.top)): path.read_bytes() for path in self.top.rglob("*") if path.is_file()}


PLAIN: dict[str, Any] = {
    "agent": "alice", "include": [], "exclude": [], "mode": "exclusive", "age": 1.0, "branch": "main",
    "worktree": "here", "boot": "this", "names": [], "extra": {},
}  # fmt: skip


def plain_text(path: str) -> str:
    return path.replace("*", "\\*")


def heard(world: World) -> tuple[int, bytes]:
    """The gate's answer, and all that it has said."""
    with tempfile.TemporaryFile() as file, contextlib.redirect_stderr(io.StringIO()) as said:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            code = world.whole_way()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return code, file.read() + said.getvalue().encode()


def compared(world: dict[str, Any]) -> bool:
    """Whether a glance was enough; then the whole way round has found the same."""
    with tempfile.TemporaryDirectory() as folder:
        here = World(Path(folder).resolve(), world)
        before = here.files()
        clear = here.glance()
        after = here.files()
        if not clear:
            assert after == before
            return False
        for name in ("gitlock-judged", "gitlock-receipt"):
            (here.git_dir / name).unlink(missing_ok=True)
        assert here.files() == before
        assert heard(here) == (0, b"")
        assert here.files() == after
        return True


def test_a_glance_says_what_the_whole_way_round_would() -> None:
    seen: Counter[bool] = Counter()

    @given(WORLDS)
    @settings(max_examples=20_000 if is_soak() else 300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def compare(world: dict[str, Any]) -> None:
        seen[compared(world)] += 1

    compare()
    assert seen[True] > 20, "the comparison has compared nothing"
    assert seen[False] > 20


USUAL: dict[str, Any] = {
    "leases": [], "ended": None, "paths": ["src/b/c.py", "docs/x"], "map": None, "covered": True, "mode": None,
    "missing": None, "fold": False, "told": True, "note": None, "mark": None, "head": "main", "environ": {},
    "damage": None,
}  # fmt: skip


def test_what_is_plain_needs_no_more_than_a_glance() -> None:
    assert compared(USUAL)


def test_where_case_says_nothing_all_own_leases_that_cover_a_path_are_named() -> None:
    lease = {**PLAIN, "include": ["src"]}
    assert compared({**USUAL, "fold": True, "paths": ["SRC/a.py"], "leases": [lease]})


@pytest.mark.parametrize("change", [
    *({"environ": {name: "5b0cf1e2"}} for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "GITLOCK_KIND")),
    *({"note": name} for name in NOTES if name != "MERGE_MSG"),
    *({"mark": name} for name in ("following", "requests/1.json", "bound")),
    *({"map": text} for text in ('mode = "off"', 'humans = "off"', 'release_on = "commit"', "not toml")),
    *({"damage": how} for how in ("cut", "older", "no mark", "empty")),
    {"mode": "off"}, {"mode": "wrong"}, {"missing": "wrong"}, {"told": False}, {"ended": "alice"}, {"head": None},
    {"paths": ["src/a.py"], "leases": [{**PLAIN, "agent": "bob", "include": ["**"]}]},
    {"covered": False, "leases": [{**PLAIN, "include": ["src", "docs"], "mode": "shared"}]},
    {"covered": False, "leases": [{**PLAIN, "include": ["src", "docs"], "exclude": ["docs"]}]},
    {"leases": [{**PLAIN, "include": ["lib"], "age": 400.0}]},
    {"leases": [{**PLAIN, "include": ["lib"], "branch": "other"}]},
], ids=str)  # fmt: skip
def test_what_is_not_goes_the_whole_way(change: dict[str, Any]) -> None:
    assert not compared({**USUAL, **change})


def test_what_counts_without_a_map_file_is_what_is_built_in() -> None:
    assert {name: getattr(BUILT_IN, name) for name in plain._BUILT_IN} == plain._BUILT_IN
