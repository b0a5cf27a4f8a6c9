"""`git lock --help` opens the manual page, however the package was installed. Git itself answers it: it runs man."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.kit.program import ROOT
from tests.kit.wheel import Machine, fetch, new_environment, once, wheel

PAGE = (ROOT / "docs/man/git-lock.1").read_bytes()
NOT_FOUND = 16  # man's status for a page that is not there


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory)


@pytest.fixture
def man() -> None:
    """Skips where there is no man, or where pages are not shown."""
    if shutil.which("man") is None:
        pytest.skip("man is not installed")


@pytest.fixture
def by_pip(man: None, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """`pip install` into a virtual environment."""

    def install(folder: Path) -> None:
        new_environment(folder / "venv", str(built), env=Machine(folder, folder / "venv/bin").env)

    folder = once(tmp_path_factory, "by-pip", install)
    return Machine(folder, folder / "venv/bin")


@pytest.fixture
def by_pipx(man: None, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """`pipx install`."""

    def install(folder: Path) -> None:
        machine = Machine(folder, folder / ".local/bin")
        tools = new_environment(folder / "tools", "pipx", env=machine.env)
        fetch([str(tools / "pipx"), "install", "--python", sys.executable, str(built)], machine.env)

    folder = once(tmp_path_factory, "by-pipx", install)
    return Machine(folder, folder / ".local/bin")


@pytest.fixture
def by_uv(man: None, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """`uv tool install`."""

    def install(folder: Path) -> None:
        machine = Machine(folder, folder / ".local/bin")
        tools = new_environment(folder / "tools", "uv", env=machine.env)
        fetch([str(tools / "uv"), "tool", "install", "--python", sys.executable, str(built)], machine.env)

    folder = once(tmp_path_factory, "by-uv", install)
    return Machine(folder, folder / ".local/bin")


def assert_help_opens(machine: Machine) -> None:
    """Both spellings of git's show the page."""
    for words in (("lock", "--help"), ("help", "lock")):
        assert "git-lock - leases on paths" in machine.run("git", *words).ok().out


def test_the_wheel_puts_the_page_where_man_looks(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".data/data/share/man/man1/git-lock.1")]
        assert archive.read(name) == PAGE


def test_the_wheel_has_the_page_for_install_man_as_well(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        assert archive.read("gitlock/_templates/git-lock.1") == PAGE


@pytest.mark.parametrize("name", ["git-lock.bash", "_git-lock", "git-lock.fish"])
def test_the_wheel_has_what_the_completions_are_made_from(built: Path, name: str) -> None:
    with zipfile.ZipFile(built) as archive:
        assert f"gitlock/_templates/completion/{name}" in archive.namelist()


def test_the_wheel_puts_nothing_beside_the_package(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        tops = {name.partition("/")[0].partition("-")[0] for name in archive.namelist()}
    assert tops == {"gitlock", "git_lock"}


def test_help_opens_where_pip_installed_it(by_pip: Machine) -> None:
    assert_help_opens(by_pip)


def test_help_opens_where_pipx_installed_it(by_pipx: Machine) -> None:
    assert_help_opens(by_pipx)


def test_help_opens_where_uv_installed_it_once_the_page_is_put_in_place(by_uv: Machine) -> None:
    place = by_uv.home / ".local/share/man/man1/git-lock.1"
    said = by_uv.run("git", "lock", "install-man").ok().out
    assert str(place) in said and place.read_bytes() == PAGE
    assert_help_opens(by_uv)
    by_uv.run("git", "lock", "install-man", "--remove").ok()
    assert not place.exists()


def test_a_page_that_the_installer_put_in_place_is_left_to_it(by_pip: Machine) -> None:
    assert "already there" in by_pip.run("git", "lock", "install-man").ok().out
    by_pip.run("git", "lock", "install-man", "--remove").ended(17)
    assert_help_opens(by_pip)


def test_a_page_that_pipx_linked_is_left_to_it(by_pipx: Machine) -> None:
    assert "already there" in by_pipx.run("git", "lock", "install-man").ok().out
    by_pipx.run("git", "lock", "install-man", "--remove").ended(17)
    assert_help_opens(by_pipx)


def test_every_shell_gets_its_completion_from_the_wheel(by_pip: Machine) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "complete-words" in by_pip.run("git", "lock", "completion", shell).ok().out


def test_without_the_page_git_finds_no_help(by_uv: Machine) -> None:
    by_uv.run("git", "lock", "--help", env={"MANPATH": str(by_uv.home)}).ended(NOT_FOUND)
