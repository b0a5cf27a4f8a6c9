"""`git lock install-man`: the manual page where man looks, and nobody else's page touched."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.program import ROOT, program
from tests.kit.repo import Repo
from tests.kit.result import Result

PAGE = (ROOT / "docs/man/git-lock.1").read_bytes()
Lock = Callable[..., Result]


def test_the_page_goes_into_the_folder_that_is_named(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path / "man")).ok()
    assert (tmp_path / "man/man1/git-lock.1").read_bytes() == PAGE


def test_a_section_folder_may_be_named_as_well(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path / "man1")).ok()
    assert (tmp_path / "man1/git-lock.1").read_bytes() == PAGE


def test_it_says_where_the_page_is(run_lock: Lock, tmp_path: Path) -> None:
    assert str(tmp_path / "man1/git-lock.1") in run_lock("install-man", str(tmp_path)).ok().out


def test_everybody_may_read_the_page(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path)).ok()
    assert (tmp_path / "man1/git-lock.1").stat().st_mode & 0o777 == 0o644


def test_a_second_time_it_changes_nothing(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path)).ok()
    before = (tmp_path / "man1/git-lock.1").stat()
    assert run_lock("install-man", str(tmp_path)).ok().out.startswith("already there")
    after = (tmp_path / "man1/git-lock.1").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_older_page_of_ours_is_replaced(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path)).ok()
    place = tmp_path / "man1/git-lock.1"
    place.write_bytes(PAGE[:400])
    run_lock("install-man", str(tmp_path)).ok()
    assert place.read_bytes() == PAGE


@pytest.mark.parametrize("options", [(), ("--remove",)])
def test_a_page_that_is_not_ours_is_left_alone(run_lock: Lock, tmp_path: Path, options: tuple[str, ...]) -> None:
    place = tmp_path / "man1/git-lock.1"
    place.parent.mkdir()
    place.write_text(".TH OTHER 1\n")
    run_lock("install-man", str(tmp_path), *options).ended(17)
    assert place.read_text() == ".TH OTHER 1\n"


def test_it_takes_the_page_away_again(run_lock: Lock, tmp_path: Path) -> None:
    run_lock("install-man", str(tmp_path)).ok()
    run_lock("install-man", "--remove", str(tmp_path)).ok()
    assert list((tmp_path / "man1").iterdir()) == []


def test_what_is_not_there_can_not_be_taken_away(run_lock: Lock, tmp_path: Path) -> None:
    assert str(tmp_path / "man1/git-lock.1") in run_lock("install-man", "--remove", str(tmp_path)).ended(1).err


def test_a_folder_that_can_not_be_made_is_said_in_a_line(run_lock: Lock, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run_lock("install-man", str(tmp_path / "file")).ended(1)
    assert len(result.err.splitlines()) == 1 and "Not a directory" in result.err


def test_the_default_place_is_beside_the_program(sealed: Path, tmp_path: Path) -> None:
    link = _linked_program(tmp_path)
    Repo(Path.cwd()).run(str(link), "install-man").ok()
    assert (tmp_path / "share/man/man1/git-lock.1").read_bytes() == PAGE


@pytest.mark.parametrize("man_path", [None, "", ":", "/nowhere", "/nowhere:", ":/nowhere", "{here}", "/nowhere:{here}"])
def test_it_warns_exactly_where_man_does_not_look(sealed: Path, tmp_path: Path, man_path: str | None) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    link = _linked_program(tmp_path)
    env: dict[str, str | None] = {"PATH": f"{link.parent}:/usr/bin:/bin", "MANPATH": None}
    if man_path is not None:
        env["MANPATH"] = man_path.format(here=tmp_path / "share/man")
    here = Repo(Path.cwd())
    warned = "man does not look" in here.run(str(link), "install-man", env=env).ok().err
    found = here.run("man", "-w", "git-lock", env=env)
    assert warned == (found.code != 0)


def _linked_program(folder: Path) -> Path:
    """The tested program under another folder of programs."""
    link = folder / "bin" / "git-lock"
    link.parent.mkdir()
    link.symlink_to(program())
    return link
