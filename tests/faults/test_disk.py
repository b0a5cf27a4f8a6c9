"""Disks that are full, without inodes, or read-only: what needs no writing is answered, and nothing is half done."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.places import LAUNCH, can_loop, can_mount, filled, make_image, mounted, run, small_disk, works
from tests.kit.repo import Repo
from tests.kit.result import Result

UNCHECKED, REFUSED, VIOLATION = 20, 10, 22

needs_mount = pytest.mark.skipif(not can_mount(), reason="may not mount here")
needs_loop = pytest.mark.skipif(not can_loop("ext4"), reason="can't mount an ext4 image here")


def guarded(place: Path) -> Repo:
    """Alice holds ``src/*``, bob ``docs/*``, and a file of alice's is staged."""
    repo = Repo.new(place, {"src/a": "1\n", "docs/b": "1\n"}, options=("--template=",))
    repo.install()
    repo.lock("claim", "src/*", agent="alice").ok()
    repo.lock("claim", "docs/*", agent="bob").ok()
    repo.write("src/a", "2\n")
    repo.git("add", "src/a")
    return repo


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Repo]:
    with small_disk(tmp_path / "disk") as place:
        repo = guarded(place)
        with filled(place):
            yield repo


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Repo]:
    """A disk with room, but for no file more."""
    with small_disk(tmp_path / "disk", size="8m", inodes=400) as place:
        repo = guarded(place)
        number = 0
        try:
            while True:
                (place / f"file-{number}").touch()
                number += 1
        except OSError:
            pass
        yield repo


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Repo]:
    image = tmp_path / "image"
    make_image(image, "ext4")
    with mounted(tmp_path / "disk", "-o", "loop", str(image)) as place:
        repo = guarded(place)
        run("mount", "-o", "remount,ro", str(place))
        yield repo


@pytest.fixture(params=["full", "crowded", pytest.param("read_only", marks=needs_loop)])
def stuck(request: pytest.FixtureRequest) -> Repo:
    """A repository that nothing can be written to, in three ways."""
    repo = request.getfixturevalue(request.param)
    assert isinstance(repo, Repo)
    return repo


@needs_mount
@pytest.mark.parametrize("words", [("claim", "new"), ("release", "src/*"), ("renew",)], ids=lambda words: words[0])
def test_what_can_t_be_written_down_is_not_done_and_says_so(stuck: Repo, words: tuple[str, ...]) -> None:
    before = (stuck.store / "state.json").read_bytes()
    answer = stuck.lock(*words)
    assert (stuck.store / "state.json").read_bytes() == before
    assert "nothing was changed" in answer.ended(UNCHECKED).err or "Read-only" in answer.err


@needs_mount
def test_a_disk_that_can_t_be_written_answers_who_holds_what(stuck: Repo) -> None:
    held = stuck.json("list")["data"]["leases"]
    assert [lease["agent"] for lease in held] == ["alice", "bob"]
    assert stuck.json("who", "docs/b")["code"] == 0
    assert stuck.json("status", "src/*", "--exit-code")["code"] == 0
    assert stuck.json("history", "--all")["code"] == 0


@needs_mount
@pytest.mark.parametrize(("path", "code"), [("src/a", 0), ("docs/b", VIOLATION)])
def test_a_check_answers_on_a_disk_that_can_t_be_written(stuck: Repo, path: str, code: int) -> None:
    assert stuck.lock("check", path).code == code


@needs_mount
@pytest.mark.parametrize(("agent", "code"), [("alice", 0), ("bob", VIOLATION)])
def test_the_commit_hook_answers_on_a_disk_that_can_t_be_written(stuck: Repo, agent: str, code: int) -> None:
    assert stuck.lock("hook", "pre-commit", agent=agent).code == code


@needs_mount
def test_room_that_comes_back_is_all_that_it_takes(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as place:
        repo = guarded(place)
        with filled(place):
            repo.lock("release", "src/*").ended(UNCHECKED)
        repo.lock("release", "src/*").ok()
        repo.lock("claim", "src/*", agent="bob").ok()


@needs_mount
def test_a_commit_with_hooks_on_a_full_disk_fails_in_git_alone(full: Repo) -> None:
    answer = full.commit("no room", agent="alice", check=False)
    assert "Traceback" not in answer.err
    assert "git-lock: could not check" not in answer.err


@needs_mount
def test_install_on_a_full_disk_loses_no_hook(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as place:
        repo = Repo.new(place, options=("--template=",))
        hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
        hook.chmod(0o755)
        with filled(place):
            answer = repo.lock("install")
        assert answer.code != 0
        assert answer.err.startswith("git-lock: ")
        assert hook.read_text() == "#!/bin/sh\nexit 0\n"


def link(path: Path) -> None:
    path.symlink_to(path.parents[2] / "nowhere")


@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, link], ids=["folder", "pipe", "link"])
@pytest.mark.parametrize("name", ["history.spool", "history.db"])
def test_history_that_can_t_be_written_costs_no_lease(repo: Repo, name: str, put: Callable[[Path], object]) -> None:
    repo.lock("claim", "a").ok()
    (repo.store / name).unlink(missing_ok=True)
    put(repo.store / name)
    repo.lock("claim", "b").ok()
    repo.lock("release", "a").ok()
    assert repo.json("history")["data"]["complete"] is False
    assert not (repo.path / "nowhere").exists()


def with_files_of_at_most(repo: Repo, size: int, *words: str) -> Result:
    """A command for which no file may grow beyond so many bytes: what does not fit is cut off, as a full disk does."""
    return repo.run("prlimit", f"--fsize={size}", sys.executable, "-I", "-S", "-c", LAUNCH, *words, agent="alice")


@pytest.mark.skipif(not works("prlimit", "--version"), reason="prlimit is not here")
def test_an_event_that_a_full_disk_cut_short_costs_no_other_event(repo: Repo) -> None:
    repo.lock("claim", "a").ok()
    repo.lock("release", "a").ok()
    spool = repo.store / "history.spool"
    row = spool.read_text()
    with spool.open("a") as file:
        while file.tell() < 8000:
            file.write(row)
    # Room for the new state, and for the first forty bytes of the event.
    with_files_of_at_most(repo, spool.stat().st_size + 40, "claim", "cut-short").ok()
    repo.lock("claim", "the-next").ok()
    assert not spool.read_text().endswith("}\n{")
    claims = [event["claim"] for event in repo.json("history", "--all")["data"]["events"]]
    assert claims[-1] == "the-next"
    assert "cut-short" not in claims
