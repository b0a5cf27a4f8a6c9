"""A glimpse shows an agent's own leases as the store itself does, or nothing at all."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.domain.lease import Ended
from gitlock.domain.snapshot import Edits
from gitlock.stores.clock import SystemClock
from gitlock.stores.codec import encode_lease
from gitlock.stores.files.glimpse import own_records
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.store import FileStore
from tests.kit.agents import a_lease

TRICK = '{"at":"x","agent":"alice","id":'


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    """Leases of several agents, one of which writes what looks like another's lease."""
    store = FileStore(str(tmp_path / "agentlocks"), SystemClock().now)
    now = SystemClock().now()
    leases = (
        a_lease("src/a.py", agent="alice", fence=1, renewed=now),
        a_lease("src/a", agent="alice/child", fence=2, renewed=now),
        a_lease("src/**", "docs/x.md", agent="alice", reason=TRICK, fence=3, renewed=now),
        a_lease("lib/b.py", agent="bob", reason=f"\n{TRICK}", fence=4, renewed=now),
        a_lease(names=("deploy:x",), agent="alicea", fence=5, renewed=now),
        a_lease("ünï/*.py", agent="alice", names=("deploy:y",), fence=6, renewed=now),
    )
    store.update(lambda _: (Edits(put=leases, counter=6), None))
    return store


@pytest.mark.parametrize("agents", [("alice",), ("bob",), ("alice/child", "alice"), ("nobody",)], ids=str)
def test_it_shows_what_the_store_has(store: FileStore, agents: tuple[str, ...]) -> None:
    answer = own_records(store.layout, agents)
    assert answer is not None
    seen, more = answer
    assert not more
    expected = [json.loads(json.dumps(encode_lease(lease))) for lease in store.read().leases.of(agents)]
    assert sorted(seen, key=str) == sorted(expected, key=str)


def test_it_says_that_there_is_more_where_a_lease_has_ended(store: FileStore) -> None:
    (lease,) = store.read().leases.of(("bob",))
    ended = Ended(lease, "stolen", store.read().now.wall, by="alice")
    store.update(lambda _: (Edits(drop=(lease.id,), ended=(ended,)), None))
    assert own_records(store.layout, ("bob",)) == ([], True)
    answer = own_records(store.layout, ("alice",))
    assert answer is not None and answer[1] is False


def _cut(layout: Layout) -> None:
    os.truncate(layout.state, os.path.getsize(layout.state) - 1)


def _flip(layout: Layout) -> None:
    data = Path(layout.state).read_bytes()
    Path(layout.state).write_bytes(data.replace(b"alice", b"alicf", 1))


def _older(layout: Layout) -> None:
    mark = json.loads(Path(layout.mark).read_text())
    Path(layout.mark).write_text(json.dumps({**mark, "revision": mark["revision"] + 1}))


def _another(layout: Layout) -> None:
    mark = json.loads(Path(layout.mark).read_text())
    Path(layout.mark).write_text(json.dumps({**mark, "store": "f" * 16}))


def _unmarked(layout: Layout) -> None:
    os.unlink(layout.mark)


def _bound(layout: Layout) -> None:
    Path(layout.bound).write_text("files:/elsewhere\n")


def _open_to_all(layout: Layout) -> None:
    os.chmod(layout.state, 0o666)


def _link(layout: Layout) -> None:
    os.rename(layout.state, layout.state + ".real")
    os.symlink(layout.state + ".real", layout.state)


def _gone(layout: Layout) -> None:
    os.unlink(layout.state)


SPOILT = (_cut, _flip, _older, _another, _unmarked, _bound, _open_to_all, _link, _gone)


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda one: one.__name__)
def test_where_anything_is_not_plain_it_shows_nothing(store: FileStore, spoil: Callable[[Layout], None]) -> None:
    spoil(store.layout)
    assert own_records(store.layout, ("alice",)) is None


def test_a_store_that_was_moved_shows_nothing(store: FileStore, tmp_path: Path) -> None:
    os.rename(store.layout.folder, tmp_path / "elsewhere")
    os.rename(store.layout.mark, tmp_path / "elsewhere.mark")
    assert own_records(Layout(str(tmp_path / "elsewhere")), ("alice",)) is None


def test_where_there_is_no_store_it_shows_nothing(tmp_path: Path) -> None:
    assert own_records(Layout(str(tmp_path / "none")), ("alice",)) is None
