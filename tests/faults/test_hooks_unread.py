"""A hook that can't be read for a moment is not taken for none, nor for somebody else's: it is what install and
uninstall would overwrite."""

from pathlib import Path

import pytest

from gitlock.git.hooks.stub import render
from tests.faults.injecting import Fault, can_trace, injected, traced
from tests.faults.scenarios import OLD_HOOK, SCENARIOS, Scenario, with_old_hook
from tests.faults.seeing import nothing
from tests.kit.repo import Repo

HOOK = ".git/hooks/pre-commit"
KEPT = f"{HOOK}.before-git-lock"

pytestmark = pytest.mark.skipif(not can_trace(), reason="strace can't trace here")

REINSTALL = Scenario("reinstall", with_old_hook, ("install",), nothing)
UNINSTALL = next(one for one in SCENARIOS if one.name == "uninstall")


OLD_STUB = render("#!/bin/sh\n# git-lock stub v1 @DIGEST@\nexit 0\n", {})


def put_back(repo: Repo) -> None:
    """Our stub is in, as another version of git-lock wrote it, around somebody else's hook."""
    for path, text in ((HOOK, OLD_STUB), (KEPT, OLD_HOOK.encode())):
        repo.write(path, text).chmod(0o755)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, {"src/own.py": "1\n"}, options=("--template=",))
    with_old_hook(repo)
    put_back(repo)
    return repo


@pytest.mark.parametrize("scenario", [REINSTALL, UNINSTALL], ids=lambda one: one.name)
def test_a_hook_from_before_us_outlives_an_error_of_the_disk(repo: Repo, scenario: Scenario, tmp_path: Path) -> None:
    points = traced(scenario.argv, repo.path, scenario.env, tmp_path / "log")
    calls = ("openat", "read", "newfstatat")
    points = [point for point in points if point.path in (HOOK, KEPT) and point.name in calls]
    assert {point.path for point in points} == {HOOK, KEPT}
    for point in points:
        put_back(repo)
        injected(scenario.argv, repo.path, scenario.env, Fault(point, "error=EIO"))
        hooks = [repo.path / HOOK, repo.path / KEPT]
        assert OLD_HOOK in [hook.read_text() for hook in hooks if hook.exists()], point
