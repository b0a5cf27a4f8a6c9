"""Every exit code of the table is what some command really ends with, and each test here is named by its code."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.entrypoints.exitcodes import MEANINGS
from tests.kit.repo import Repo

Story = Callable[[Repo], int]


@pytest.fixture
def world(tmp_path: Path) -> Repo:
    """bob holds src/b.py."""
    repo = Repo.new(tmp_path, files={"src/a.py": "a\n", "src/b.py": "b\n"})
    repo.lock("claim", "src/b.py", agent="bob").ok()
    return repo


def done(repo: Repo) -> int:
    return repo.lock("claim", "src/a.py").code


def any_other_error(repo: Repo) -> int:
    return repo.lock("list", cwd=repo.path.parent).code


def usage(repo: Repo) -> int:
    return repo.lock("claim", "src/a.py", "--ttl", "never").code


def free(repo: Repo) -> int:
    return repo.lock("status", "src/a.py", "--exit-code").code


def expired(repo: Repo) -> int:
    repo.lock("claim", "src/a.py", "--ttl", "0.001s", agent="carol").ok()
    return repo.lock("status", "src/a.py", "--exit-code").code


def corrupt(repo: Repo) -> int:
    (repo.store / "state.json").write_text("{}")
    return repo.lock("status", "src/a.py", "--exit-code").code


def held(repo: Repo) -> int:
    return repo.lock("claim", "src/*").code


def timed_out(repo: Repo) -> int:
    return repo.lock("claim", "src/b.py", "--wait", "--timeout", "0.1s").code


def not_yours(repo: Repo) -> int:
    return repo.lock("release", "src/b.py").code


def no_such_lease(repo: Repo) -> int:
    return repo.lock("release", "src/a.py").code


def lost(repo: Repo) -> int:
    return repo.lock("run", "src/a.py", "--max-hold", "0.2s", "--", "sleep", "60").code


def deadlock(repo: Repo) -> int:
    repo.lock("claim", "src/a.py", "--ttl", "1h").ok()
    with repo.start("claim", "src/a.py", "--wait", agent="bob") as waiting:
        waiting.says("wait")
        return repo.lock("claim", "src/b.py", "--wait").code


def refused(repo: Repo) -> int:
    repo.git("config", "core.hooksPath", "/nowhere/hooks")
    return repo.lock("install").code


def stale_base(repo: Repo) -> int:
    ahead = repo.clone("ahead")
    ahead.commit("theirs", {"src/a.py": "theirs\n"})
    repo.git("remote", "add", "origin", str(ahead.path))
    repo.git("fetch", "-q", "origin")
    return repo.lock("claim", "--fresh", "src/a.py").code


def overtaken(repo: Repo) -> int:
    repo.lock("claim", "src/a.py", "--ttl", "0.001s").ok()
    repo.lock("claim", "src/a.py", agent="carol").ok()
    return repo.lock("renew", "src/a.py").code


def unchecked(repo: Repo) -> int:
    (repo.store / "state.json").write_text("{}")
    return repo.lock("check", "src/a.py").code


def queued(repo: Repo) -> int:
    return repo.lock("claim", "src/b.py", "--ticket").code


def violation(repo: Repo) -> int:
    return repo.lock("check", "src/b.py").code


def not_started(repo: Repo) -> int:
    return repo.lock("run", "src/a.py", "--", "/no/such/program").code


def signalled(repo: Repo) -> int:
    with repo.start("claim", "src/b.py", "--wait") as waiting:
        waiting.says("wait")
        return waiting.signal(signal.SIGTERM).wait().code - signal.SIGTERM


STORIES: dict[int, Story] = {
    0: done, 1: any_other_error, 2: usage, 3: free, 4: expired, 5: corrupt, 10: held, 11: timed_out, 12: not_yours,
    13: no_such_lease, 14: lost, 15: deadlock, 17: refused, 18: stale_base, 19: overtaken, 20: unchecked, 21: queued,
    22: violation, 127: not_started, 128: signalled,
}  # fmt: skip


@pytest.mark.parametrize("code", STORIES, ids=lambda code: f"{code}-{STORIES[code].__name__}")
def test_a_command_ends_with(world: Repo, code: int) -> None:
    assert STORIES[code](world) == code


def test_every_code_of_the_table_has_its_story() -> None:
    assert set(STORIES) == set(MEANINGS)


def test_a_command_s_own_code_is_passed_on(world: Repo) -> None:
    assert world.lock("run", "src/a.py", "--", sys.executable, "-c", "raise SystemExit(77)").code == 77


def test_a_held_claim_has_the_code_of_success_only_when_it_is_asked_for(world: Repo) -> None:
    assert world.lock("status", "src/b.py", "--exit-code").code == 0
    assert world.lock("status", "src/a.py").code == 0
