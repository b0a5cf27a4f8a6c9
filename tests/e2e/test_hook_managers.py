"""Beside real hook managers, installed before us or after us: no hook is lost, none runs twice, and what the overview
says about enforcement is what a commit then meets."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.managers import Managers, fetched
from tests.kit.newer import REASON, newer_git, path_without_configured_hooks
from tests.kit.repo import Repo

HELD = "held.txt"
GITS = ("a git without configured hooks", "a git with them")


@pytest.fixture(scope="session")
def managers(tmp_path_factory: pytest.TempPathFactory) -> Managers:
    base = tmp_path_factory.getbasetemp()
    return fetched(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(params=GITS)
def which_git(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> str:
    if request.param == GITS[0]:
        older = tmp_path_factory.getbasetemp() / "older-git"
        monkeypatch.setenv("PATH", path_without_configured_hooks(older))
        return GITS[0]
    folder = newer_git()
    if folder is None:
        pytest.skip(REASON)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return GITS[1]


class Manager:
    """One of them: how it is set up in a repository, and which of its own hooks writes a line to ``ran``."""

    def __init__(self, repo: Repo, managers: Managers, home: Path) -> None:
        self.repo = repo
        self.managers = managers
        self.home = home

    @property
    def ran(self) -> int:
        """How often its pre-commit hook has run."""
        file = self.repo.path / ".git/ran"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def _log(self) -> str:
        return f"echo ran >>'{self.repo.path}/.git/ran'"

    def husky(self) -> None:
        program = self.managers.program("husky")
        self.repo.write(".husky/pre-commit", self._log() + "\n")
        self.repo.run(str(program)).ok()

    def lefthook(self) -> None:
        program = self.managers.program("lefthook")
        self.repo.write("lefthook.yml", f"pre-commit:\n  commands:\n    log:\n      run: {self._log()}\n")
        self.repo.run(str(program), "install").ok()

    def framework(self) -> None:
        self._framework(Path(sys.executable).parent / "pre-commit")

    def prek(self) -> None:
        self._framework(self.managers.program("prek"))

    def _framework(self, program: Path) -> None:
        hook = f'{{id: log, name: log, language: system, entry: sh -c "{self._log()}", always_run: true}}'
        self.repo.write(".pre-commit-config.yaml", f"repos:\n- repo: local\n  hooks:\n  - {hook}\n")
        self.repo.git("add", ".pre-commit-config.yaml")
        self.repo.run(str(program), "install").ok()

    def overcommit(self) -> None:
        """By the files that it leaves: its program is not to be had here."""
        self.repo.write(".overcommit.yml", "PreCommit:\n  ALL:\n    enabled: false\n")
        folder = self.repo.common_dir / "hooks"
        mark = "# Entrypoint for Overcommit hook integration.\n"
        for name in ("overcommit-hook", "pre-commit", "post-commit"):
            file = folder / name
            if file.exists():
                (folder / "old-hooks").mkdir(exist_ok=True)
                file.rename(folder / "old-hooks" / name)
            file.write_text(f"#!/bin/sh\n{mark}[ -n \"$OVERCOMMIT_DISABLE\" ] && exit 0\n"
                            f"case $0 in *pre-commit) {self._log()} ;; esac\n")  # fmt: skip
            file.chmod(0o755)

    def tracked(self) -> None:
        self.repo.write(".githooks/pre-commit", f"#!/bin/sh\n{self._log()}\n").chmod(0o755)
        self.repo.git("config", "core.hooksPath", ".githooks")

    def everywhere(self) -> None:
        folder = self.home / "hooks"
        folder.mkdir(exist_ok=True)
        (folder / "pre-commit").write_text(f"#!/bin/sh\n{self._log()}\n")
        (folder / "pre-commit").chmod(0o755)
        self.repo.git("config", "--global", "core.hooksPath", str(folder))

    def lfs(self) -> None:
        if shutil.which("git-lfs") is None:
            pytest.fail("git-lfs is not here: bash .ci/packages")
        self.repo.git("lfs", "install", "--local", check=False)

    def nobody(self) -> None:
        """Hooks somebody wrote by hand."""
        file = self.repo.common_dir / "hooks/pre-commit"
        if not file.exists():
            file.write_text(f"#!/bin/sh\n{self._log()}\n")
            file.chmod(0o755)


ALL = ("husky", "lefthook", "framework", "prek", "overcommit", "tracked", "everywhere", "lfs", "nobody")


@pytest.fixture
def there(repo: Repo, managers: Managers, home: Path, which_git: str) -> Manager:
    repo.lock("claim", HELD, agent="alice").ok()
    repo.lock("claim", "mine.txt", agent="bob").ok()
    return Manager(repo, managers, home)


def _install(repo: Repo, *words: str) -> dict[str, Any]:
    """Whether or not it could be enforced: that is what the overview is asked for."""
    return repo.json("install", *words, agent=None)


def _gates(repo: Repo) -> list[str]:
    enforced: list[str] = repo.json(agent=None)["data"]["enforced"]
    return [name for name in enforced if name in ("pre-commit", "prepare-commit-msg")]


def _assert_the_overview_is_true(repo: Repo) -> bool:
    """A commit of what another holds is refused exactly where the overview says so, and said once."""
    gates = _gates(repo)
    repo.write(HELD, os.urandom(8).hex())
    repo.git("add", HELD)
    tried = repo.git("commit", "--quiet", "-mx", check=False, agent="bob")
    assert (tried.code != 0) == bool(gates), f"{gates}\n{tried!r}"
    assert tried.err.count("commit refused") == (1 if gates else 0), f"{tried!r}"
    if gates:
        repo.git("reset", "--quiet")
    return bool(gates)


def _allowed(repo: Repo) -> None:
    repo.write("mine.txt", os.urandom(8).hex())
    repo.git("add", "mine.txt")
    repo.git("commit", "--quiet", "-mx", agent="bob")


def _bytes(repo: Repo) -> dict[str, tuple[bytes, int]]:
    """Configuration, hooks and everything that a manager may have in the worktree."""
    places = [repo.path / ".git/config", *(repo.path / ".git/hooks").rglob("*")]
    places += [path for path in repo.path.rglob("*") if ".git" not in path.relative_to(repo.path).parts]
    files = [path for path in places if path.is_file() and not path.is_symlink() and path.name != "ran"]
    return {
        str(path.relative_to(repo.path)): (path.read_bytes(), path.stat().st_mode)
        for path in files
        if path.name not in (HELD, "mine.txt")
    }


@pytest.mark.parametrize("name", ALL)
def test_a_manager_that_was_there_before_us(name: str, there: Manager) -> None:
    repo = there.repo
    getattr(there, name)()
    before = _bytes(repo)
    _install(repo)
    once = _bytes(repo)
    _install(repo)
    assert _bytes(repo) == once, "installed twice is installed once"
    _assert_the_overview_is_true(repo)
    ran = there.ran
    _allowed(repo)
    assert there.ran == ran + (0 if name == "lfs" else 1), "its own hook runs, and once"
    repo.lock("uninstall", agent=None).ok()
    assert _bytes(repo) == before


@pytest.mark.parametrize("name", ALL)
def test_a_manager_that_comes_after_us(name: str, there: Manager, which_git: str) -> None:
    repo = there.repo
    if name == "nobody":
        there.nobody()
    _install(repo)
    getattr(there, name)()
    enforced = _assert_the_overview_is_true(repo)
    assert enforced or which_git == GITS[0], "configured hooks can't be put out of the way"
    ran = there.ran
    _allowed(repo)
    assert there.ran == ran + (0 if name == "lfs" else 1)
    _install(repo)
    _assert_the_overview_is_true(repo)
    repo.lock("uninstall", agent=None).ok()
    alone = _bytes(repo)
    assert not [path for path, (data, _) in alone.items() if b"git-lock stub" in data]
    assert b"agentlocks" not in alone[".git/config"][0]


@pytest.mark.parametrize(("name", "native"), [
    ("husky", "husky"), ("lefthook", "lefthook"), ("framework", "pre-commit"), ("prek", "prek"),
    ("tracked", "hooks-path"), ("everywhere", "global"),
])  # fmt: skip
def test_the_native_lines_are_asked_once_and_taken_out_again(name: str, native: str, there: Manager) -> None:
    repo = there.repo
    getattr(there, name)()
    before = _bytes(repo)
    _install(repo, "--print", native, "--write")
    repo.git("add", "--all", "--", ".", f":!{HELD}", ":!mine.txt")
    if name in ("lefthook", "framework", "prek"):
        program = "pre-commit" if name == "framework" else str(there.managers.program(name))
        repo.run(program, "install").ok()
    assert _assert_the_overview_is_true(repo)
    ran = there.ran
    _allowed(repo)
    assert there.ran == ran + 1
    repo.lock("uninstall", agent=None).ok()
    after = _bytes(repo)
    assert {path: after[path] for path in before if ".git/" not in path} == {
        path: value for path, value in before.items() if ".git/" not in path
    }


def test_a_linked_worktree_without_husky_s_files_is_said_to_be_open(there: Manager, which_git: str) -> None:
    there.husky()
    _install(there.repo, "--write")
    linked = there.repo.worktree("linked")
    assert _assert_the_overview_is_true(linked) == (which_git == GITS[1])


@pytest.mark.parametrize("name", ["husky", "lefthook", "overcommit", "tracked"])
def test_refused_without_configured_hooks_it_names_the_command_that_helps(
    name: str, there: Manager, which_git: str
) -> None:
    getattr(there, name)()
    answer = _install(there.repo)
    if which_git == GITS[1]:
        assert answer["code"] == 0
        return
    assert answer["code"] == 17
    said = there.repo.lock("install", agent=None).ended(17).err
    hint = next(line for line in said.splitlines() if line.startswith("hint: ")).removeprefix("hint: ")
    there.repo.run("sh", "-c", hint).ok()
    if name == "lefthook":
        there.repo.run(str(there.managers.program("lefthook")), "install").ok()
    if name != "overcommit":  # whose own program would have to run
        assert _assert_the_overview_is_true(there.repo)


def test_lfs_still_gets_its_pushes(repo: Repo, managers: Managers, tmp_path: Path) -> None:
    assert shutil.which("git-lfs"), "git-lfs is not here: bash .ci/packages"
    repo.git("lfs", "install", "--local")
    _install(repo)
    repo.git("lfs", "track", "*.bin")
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.lock("claim", "**", agent="bob").ok()
    repo.commit("large", {".gitattributes": repo.read(".gitattributes"), "a.bin": b"x" * 2048}, agent="bob").ok()
    repo.git("push", "--quiet", "origin", "main", "HEAD:refs/heads/other", agent="bob")
    stored = [path for path in (tmp_path / "remote.git/lfs/objects").rglob("*") if path.is_file()]
    assert [path.stat().st_size for path in stored] == [2048]


# -- what --print says


@pytest.mark.parametrize("name", ["husky", "lefthook", "overcommit", "pre-commit", "prek"])
def test_print_shows_the_lines_that_write_would_add(name: str, repo: Repo) -> None:
    before = _bytes(repo)
    shown = repo.json("install", "--print", name, agent=None)["data"]["native"]
    assert _bytes(repo) == before
    repo.json("install", "--print", name, "--write", agent=None)
    for file in shown["files"]:
        assert file["text"] in repo.read(file["path"])
    assert "git-lock hook pre-commit" in repo.lock("install", "--print", name, agent=None).out


def test_print_of_a_path_that_is_not_in_force_is_a_mistake(repo: Repo) -> None:
    repo.lock("install", "--print", "hooks-path", agent=None).ended(2)
    repo.lock("install", "--print", "global", agent=None).ended(2)
    repo.lock("install", "--print", "nobody", agent=None).ended(2)


def test_a_clone_that_opted_out_is_only_told(repo: Repo, which_git: str) -> None:
    repo.git("config", "gitlock.installHooks", "false")
    before = _bytes(repo)
    told = repo.lock("install", agent=None).ok()
    assert "would install in" in told.out and "pre-push" in told.out and "nothing was written" in told.err
    assert _bytes(repo) == before
    assert not repo.store.exists()
