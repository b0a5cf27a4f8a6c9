"""What agents are told is in the wheel, and an installed git-lock writes it."""

from pathlib import Path

import pytest

from gitlock.entrypoints.cli.guidance import paragraph, skills
from tests.kit.repo import Repo
from tests.kit.wheel import Machine, new_environment, once, wheel


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """`pip install` of the wheel into a virtual environment."""

    def install(folder: Path) -> None:
        new_environment(folder / "venv", str(wheel(tmp_path_factory)), env=Machine(folder, folder / "venv/bin").env)

    folder = once(tmp_path_factory, "by-pip", install)
    return Machine(folder, folder / "venv/bin")


def test_an_installed_git_lock_tells_agents_what_this_one_does(installed: Machine, tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    where = ("-C", str(repo.path), "lock", "guide", "--write")
    installed.run("git", *where).ok()
    installed.run("git", *where, "--skills").ok()
    assert paragraph() in repo.read("AGENTS.md")
    assert [repo.read(f".claude/skills/{skill.name}/SKILL.md") for skill in skills()] == [one.text for one in skills()]
