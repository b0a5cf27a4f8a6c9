"""The seal: no test sees the developer's home, settings, agent sessions or repository, nor leaves a trace there."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.kit")

from tests.kit.program import SOAK_VARIABLE, is_soak  # noqa: E402
from tests.kit.repo import Repo  # noqa: E402
from tests.kit.result import Result  # noqa: E402

# What may come in from outside. Everything else is dropped: a list of the variables that agent programs set could
# never be complete.
PASSED = {
    "PATH", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "TEST_GIT",  # the folder of another git to test with
    "TEST_GIT_NEW",  # the folder of a git with configured hooks, for the tests that need one
    "GITLOCK_CLIENTS",  # the folder that npm has put agent programs into; see tests/kit/clients.py
}
PASSED_PREFIXES = (
    "PYTEST_", "HYPOTHESIS_", "COVERAGE_",
    # to install packages from where this machine may
    "PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)

GIT_CONFIG = """\
[user]
\tname = Dana Dev
\temail = dana@example.com
[init]
\tdefaultBranch = main
[commit]
\tgpgSign = false
[core]
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol "file"]
\tallow = always
"""


def _sealed_environment(home: Path) -> dict[str, str]:
    """What is set for every test and every process that it starts."""
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(home / ".run"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TERMINAL_PROMPT": "0",
        "EDITOR": "true",
        "PAGER": "cat",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def _make_home(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / ".run").mkdir(mode=0o700, exist_ok=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)


def _seal_process() -> Path:
    """Seals this process before anything is collected, so that fixtures of any scope are sealed as well."""
    soak = os.environ.get("GITLOCK_SOAK") == "1" or is_soak()
    is_ci = os.environ.get("CI", "").lower() in ("1", "true") or os.environ.get("PYTEST_GITLOCK_CI") == "1"
    for name in list(os.environ):
        if name not in PASSED and not name.startswith(PASSED_PREFIXES):
            del os.environ[name]
    if os.environ.get("TEST_GIT"):
        os.environ["PATH"] = os.environ["TEST_GIT"] + os.pathsep + os.environ.get("PATH", os.defpath)
    if soak:
        os.environ[SOAK_VARIABLE] = "1"
    if is_ci:
        os.environ["PYTEST_GITLOCK_CI"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="git-lock-tests-"))
    _make_home(folder / "home")
    os.environ.update(_sealed_environment(folder / "home"))
    return folder


_PROCESS_FOLDER = _seal_process()

settings.register_profile("dev", deadline=None, max_examples=100, print_blob=True)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,  # a red run can be repeated, and a green one stays green
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak", deadline=None, max_examples=5_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("soak" if is_soak() else "ci" if os.environ.get("PYTEST_GITLOCK_CI") else "dev")


def pytest_unconfigure() -> None:
    """Takes the process's own folder away again."""
    shutil.rmtree(_PROCESS_FOLDER, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long runs only where they are asked for."""
    if is_soak():
        return
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="soak: runs under `make soak`"))


@pytest.fixture(autouse=True)
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home and a current folder of its own for each test; yields the home."""
    folder = Path(tempfile.mkdtemp(prefix="git-lock-test-"))
    home, here = folder / "home", folder / "here"
    _make_home(home)
    here.mkdir()
    for name in list(os.environ):
        if name.startswith(("GITLOCK_", "GIT_")):
            monkeypatch.delenv(name)
    for name, value in _sealed_environment(home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here)
    yield home
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(sealed: Path) -> Path:
    """The test's own home folder."""
    return sealed


@pytest.fixture
def fixed_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits get one known date, and so one known name."""
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2030-01-02T03:04:05Z")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2030-01-02T03:04:05Z")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A real repository with one commit on main."""
    return Repo.new(tmp_path)


@pytest.fixture
def run_lock(sealed: Path) -> Callable[..., Result]:
    """Runs git-lock in the test's own folder, which is in no repository (or in ``cwd=``); else as `Repo.lock`."""
    return Repo(Path.cwd()).lock


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that runs the tests."""
    return sys.executable
