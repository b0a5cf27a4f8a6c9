"""Where we are, read from the disk: what git says, or nothing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.errors import GitlockError
from gitlock.git.config import PLACING, finish_config, start_config
from gitlock.git.ordinary import is_ordinary, look_around
from gitlock.git.process import Git
from gitlock.git.repository import Repository, finish_discovery, start_discovery
from tests.kit.repo import Repo


def read(git: Git) -> Repository | None:
    """What a quick command goes by without having asked git where it is."""
    found = look_around(git)
    if found is None:
        return None
    try:
        return found if is_ordinary(finish_config(start_config(git, PLACING))) else None
    except GitlockError:
        return None


def asked(git: Git) -> Repository | None:
    """What git says."""
    try:
        return finish_discovery(git, start_discovery(git))
    except GitlockError:
        return None


def below(repo: Repo) -> Path:
    (repo.path / "a/b c").mkdir(parents=True)
    return repo.path / "a/b c"


def linked(repo: Repo) -> Path:
    repo.git("worktree", "add", "-q", "--detach", "../linked worktree")
    (repo.path.parent / "linked worktree/sub").mkdir()
    return repo.path.parent / "linked worktree/sub"


def through_a_link(repo: Repo) -> Path:
    (repo.path.parent / "link").symlink_to(below(repo))
    return repo.path.parent / "link"


def detached(repo: Repo) -> Path:
    repo.git("checkout", "-q", "--detach")
    return repo.path


ORDINARY = [below, linked, through_a_link, detached]


@pytest.mark.parametrize("place", ORDINARY)
def test_an_ordinary_place_is_told_without_git_and_as_git_tells_it(
    repo: Repo, place: Callable[[Repo], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place(repo))
    git = Git(None, os.environ)
    found = read(git)
    assert found is not None and found == asked(git)


def no_repository(repo: Repo) -> Path:
    return repo.path.parent


def in_the_git_folder(repo: Repo) -> Path:
    return repo.path / ".git/refs"


def bare(repo: Repo) -> Path:
    repo.git("clone", "-q", "--bare", ".", "../bare.git")
    return repo.path.parent / "bare.git"


def linked_to_bare(repo: Repo) -> Path:
    repo.git("-C", str(bare(repo)), "worktree", "add", "-q", "../beside")
    return repo.path.parent / "beside"


def with_a_worktree_elsewhere(repo: Repo) -> Path:
    (repo.path.parent / "elsewhere").mkdir()
    repo.git("config", "core.worktree", str(repo.path.parent / "elsewhere"))
    return repo.path


def declared_bare(repo: Repo) -> Path:
    repo.git("config", "core.bare", "true")
    return repo.path


def with_its_git_folder_elsewhere(repo: Repo) -> Path:
    repo.git("init", "-q", "--separate-git-dir", str(repo.path.parent / "apart"))
    return repo.path


def with_a_link_to_its_git_folder(repo: Repo) -> Path:
    (repo.path / ".git").rename(repo.path.parent / "apart")
    (repo.path / ".git").symlink_to(repo.path.parent / "apart")
    return repo.path


def with_an_unknown_extension(repo: Repo) -> Path:
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.fromTheFuture", "true")
    return repo.path


def of_a_later_format(repo: Repo) -> Path:
    repo.git("config", "core.repositoryFormatVersion", "7")
    return repo.path


def with_broken_settings(repo: Repo) -> Path:
    (repo.path / ".git/config").write_text("[core\n")
    return repo.path


def with_a_broken_head(repo: Repo) -> Path:
    (repo.path / ".git/HEAD").write_text("")
    return repo.path


def with_an_empty_git_folder_below(repo: Repo) -> Path:
    (repo.path / "sub/.git").mkdir(parents=True)
    return repo.path / "sub"


OTHERS = [
    no_repository, in_the_git_folder, bare, linked_to_bare, with_a_worktree_elsewhere, declared_bare,
    with_its_git_folder_elsewhere, with_a_link_to_its_git_folder, with_an_unknown_extension, of_a_later_format,
    with_broken_settings, with_a_broken_head, with_an_empty_git_folder_below,
]  # fmt: skip


@pytest.mark.parametrize("place", OTHERS)
def test_of_any_other_place_git_is_asked(
    repo: Repo, place: Callable[[Repo], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place(repo))
    assert read(Git(None, os.environ)) is None


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES", "GIT_TEST_ASSUME_DIFFERENT_OWNER"]
)
def test_an_environment_that_leads_elsewhere_is_gits_to_read(
    repo: Repo, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    assert read(Git(None, {**os.environ, name: str(repo.path)})) is None


def test_a_submodule_is_gits_to_tell(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")
    monkeypatch.chdir(repo.path / "sub")
    assert read(Git(None, os.environ)) is None
