"""Every hostile name of the corpus through every way out: what reaches a terminal is only what can be seen, JSON is
ASCII, and a name is nowhere run."""

import json
import re
from pathlib import Path

import pytest

from gitlock.domain.lease import Holder
from gitlock.domain.pattern import escape
from gitlock.domain.snapshot import Edits, Event, Snapshot
from gitlock.domain.taint import Taint
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore
from tests.fuzz.hostile import corpus, printable
from tests.kit.agents import Worker
from tests.kit.repo import Repo
from tests.kit.result import Result

TEXTS = corpus("names")
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
BRANCH = "feat/\u202e$(touch${IFS}canary)\u200b"


def file_names() -> list[str]:
    """Those that a file may have."""
    plain = (text.replace("/", "_").replace("\0", "_") for text in TEXTS)
    return [name for name in dict.fromkeys(plain) if name not in (".", "..", ".git") and len(name) < 200]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Bob holds every odd file for an odd reason; alice has changed them all, and asked for one oddly."""
    repo = Repo.new(tmp_path_factory.mktemp("surfaces"))
    for number, name in enumerate(file_names()):
        repo.write(f"odd/{name}", f"{number}\n")
    repo.git("add", "-A")
    repo.commit("odd").ok()
    repo.git("checkout", "--quiet", "-b", BRANCH)
    repo.install()
    store = FileStore(str(repo.store), SystemClock().now)
    bob = Worker(store, "bob", holder=Holder("host", worktree=f"/tmp/{TEXTS[0]}", branch=BRANCH, session=TEXTS[5]))
    for number, name in enumerate(file_names()):
        bob.takes(f"odd/{escape(name)}", ttl=6000.0 + number)

    def told(snapshot: Snapshot) -> tuple[Edits, None]:
        texts = TEXTS * 2
        put = tuple(lease.replace(reason=texts[number]) for number, lease in enumerate(snapshot.leases.all()))
        failed = Taint(
            id="", agent="bob", keys=(), include=("odd/",), exclude=(), command="", code=1, why="", at=snapshot.now.wall
        )
        taints = tuple(failed.replace(id=str(at), command=text, why=text) for at, text in enumerate(TEXTS))
        events = tuple(Event("claim", "bob", text, "id", 1, text, text) for text in TEXTS)
        return Edits(put=put, taint=taints, events=events), None

    store.update(told)
    for text in TEXTS[::12]:
        repo.lock("request", "odd/", "-m", text.replace("\0", ""), agent="alice")
    repo.write("odd/-rf", "changed\n")
    for name in file_names():
        repo.write(f"odd/{name}", "changed\n")
    repo.git("add", "-A")
    return repo


SURFACES = {
    "overview": [], "list": ["list"], "all": ["list", "--all"], "under": ["list", "--under", "odd"],
    "history": ["history", "--all"], "who": ["who", "odd/-rf"], "status": ["status", "odd/"],
    "which": ["which", "odd/-rf"], "mine": ["mine"], "inbox": ["inbox"], "check": ["check"],
    "worktree": ["check", "--worktree"], "refusal": ["claim", "odd/"], "taint": ["claim", "odd/", "--dry-run"],
    "release": ["release", "odd/nothing"], "renew": ["renew", "odd/"],
    "break": ["break", "odd/", "--reason", "\x1b[31m"], "pre-commit": ["hook", "pre-commit"],
    "prepare": ["hook", "prepare-commit-msg", "m"], "doctor": ["doctor"], "words": ["complete-words", "release", ""],
    "whoami": ["whoami"],
}  # fmt: skip


def assert_can_be_shown(result: Result) -> None:
    """Both streams, whatever was said."""
    assert printable(result.raw_out), ascii(result.out)
    assert printable(result.raw_err), ascii(result.err)
    assert "Traceback" not in result.err


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("agent", ["alice", "bob"])
def test_what_is_said_can_be_shown(odd: Repo, surface: str, agent: str) -> None:
    assert_can_be_shown(odd.lock(*SURFACES[surface], agent=agent))


@pytest.mark.parametrize("surface", ["overview", "all", "history", "check", "refusal"])
def test_what_is_coloured_holds_nothing_but_colours(odd: Repo, surface: str) -> None:
    result = odd.lock(*SURFACES[surface], "--color", "always", agent="alice")
    assert printable(COLOURS.sub(b"", result.raw_out)) and printable(COLOURS.sub(b"", result.raw_err))


@pytest.mark.parametrize("surface", [name for name in SURFACES if name not in ("pre-commit", "prepare", "words")])
def test_json_is_ascii_and_one_document(odd: Repo, surface: str) -> None:
    result = odd.lock(*SURFACES[surface], "--json", agent="alice")
    assert result.raw_out.isascii() and printable(result.raw_out)
    assert json.loads(result.raw_out)["schema"] == "gitlock/1"


def test_a_commit_that_is_refused_says_so_in_what_can_be_shown(odd: Repo) -> None:
    assert_can_be_shown(odd.commit("all of it", agent="alice", check=False).ended(1))


def test_nothing_that_a_name_says_is_run(odd: Repo) -> None:
    odd.lock("check", agent="alice")
    odd.commit("once more", agent="alice", check=False)
    assert [path for path in (odd.path, *odd.path.parents) if (path / "canary").exists()] == []


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_hostile_name_of_an_agent_is_refused_or_shown(odd: Repo, text: str) -> None:
    result = odd.lock("whoami", "--agent", text.replace("\0", "?"), agent=None)
    assert_can_be_shown(result)
    assert result.code in (0, 2)


def test_the_corpus_is_not_small() -> None:
    assert len(TEXTS) >= 120
    assert len(set(file_names())) >= 100
    assert Path(__file__).with_name("corpus").is_dir()
