"""What crashes leave behind is bounded, in nobody's way, and goes in the end."""

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.kit.repo import Repo

LEFT = ("mode.4711.tmp", f"map-{'0' * 64}.json.4711.tmp", ".times-4711/", f"map-{'1' * 64}.json")


@pytest.fixture
def used(repo: Repo) -> Repo:
    """A store with everything in it that belongs there."""
    repo.commit("policy", {".gitlock.toml": 'version = 1\n[policy]\nunclaimed = "allow"\n'})
    repo.install()
    repo.lock("claim", "a").ok()
    repo.lock("request", "a", "-m", "please", agent="bob").ok()
    repo.commit("more", {"a": "2\n"}, agent="alice")
    repo.lock("history").ok()
    repo.lock("claim", "b").ok()
    return repo


def plant(repo: Repo, age: float) -> list[Path]:
    planted = [repo.store / name for name in LEFT]
    for name, path in zip(LEFT, planted, strict=True):
        if name.endswith("/"):
            (path / "older").mkdir(parents=True)
        else:
            path.write_text("half")
        os.utime(path, (time.time() - age,) * 2)
    return planted


def test_gc_takes_away_what_processes_left_that_died_long_ago(used: Repo) -> None:
    planted = plant(used, 40 * 86400.0)
    used.lock("gc").ok()
    assert [path for path in planted if path.exists()] == []


def test_gc_leaves_what_somebody_may_be_writing(used: Repo) -> None:
    planted = plant(used, 10.0)
    used.lock("gc").ok()
    assert all(path.exists() for path in planted)


def test_gc_touches_nothing_that_is_in_use(used: Repo) -> None:
    before = sorted(path.name for path in used.store.rglob("*") if path.name not in ("history.spool", "state.json"))
    used.lock("gc").ok()
    assert [name for name in before if not list(used.store.rglob(name))] == []


def test_everything_that_is_derived_may_be_deleted_at_any_time(used: Repo) -> None:
    for path in used.store.iterdir():
        if path.name.startswith(("map-", "mode", "history", "waiting")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    used.lock("claim", "c").ok()
    used.commit("goes on", {"a": "3\n"}, agent="alice").ok()
    assert [lease["agent"] for lease in used.json("list")["data"]["leases"]] == ["alice"] * 3
