"""What somebody meets who uses git-lock for the first time."""

from pathlib import Path

import pytest

from gitlock.entrypoints.cli.table import COMMANDS
from tests.kit.repo import Repo


def test_who_of_a_folder_names_whoever_holds_something_in_it(repo: Repo) -> None:
    repo.commit("more", {"src/auth/login.py": "1\n", "src/api.py": "1\n"})
    repo.lock("claim", "src/auth/login.py").ok()
    assert "alice" in repo.lock("who", "src", agent="bob").ok().out
    assert "alice" in repo.lock("who", ".", agent="bob").ok().out
    assert repo.lock("who", "src/api.py", agent="bob").ok().out == "src/api.py: nobody\n"


def test_a_folder_that_is_kept_out_on_purpose_was_not_forgotten(repo: Repo) -> None:
    repo.commit("more", {"src/auth/login.py": "1\n", "src/api.py": "1\n"})
    assert repo.lock("claim", "src/*", "!src/auth/**").ok().err == ""


def test_a_folder_that_a_wildcard_names_without_its_files_is_pointed_out(repo: Repo) -> None:
    repo.commit("more", {"src/auth.d/login.py": "1\n", "src/api.d": "1\n"})
    assert "'src/auth.d' is a folder" in repo.lock("claim", "src/*.d").ok().err


def test_an_agent_goes_on_in_a_repository_that_was_moved(repo: Repo, tmp_path: Path) -> None:
    repo.lock("claim", "README.md").ok()
    moved = Repo(repo.path.rename(tmp_path / "moved"))
    assert "already yours" in moved.lock("claim", "README.md").ok().out


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "overview"])
def test_help_fits_80_columns(command: str, repo: Repo) -> None:
    wide = [line for line in repo.lock(command, "-h").ok().lines if len(line) > 80]
    assert not wide


def test_the_mode_of_a_lease_is_shown_where_not_all_are_exclusive(repo: Repo) -> None:
    repo.lock("claim", "README.md").ok()
    assert "MODE" not in repo.lock("list").ok().out
    repo.lock("claim", "docs", "--shared").ok()
    assert "shared" in repo.lock("list").ok().out
