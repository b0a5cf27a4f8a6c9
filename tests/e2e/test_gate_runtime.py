"""Where the gates run: unmanaged and refused repositories, hostile files, a bare PATH, an uninstalled program."""

import os
import re
import shutil
from pathlib import Path

import pytest

from gitlock.git.hooks import HOOKS
from tests.kit.gate import HELD, OWN, guarded, next_command
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES, is_clean


def _commits(repo: Repo, path: str, *, code: int = 0, env: dict[str, str | None] | None = None) -> Result:
    return repo.commit("x", {path: "changed\n"}, agent="bob", check=False, env=env).ended(code)


def _forget(repo: Repo) -> None:
    """Takes away everything that git-lock has kept here, but for the hooks."""
    shutil.rmtree(repo.store)
    for path in repo.common_dir.glob("agentlocks*"):
        path.unlink()


def _bare_path(folder: Path) -> str:
    """A PATH with git and a shell, and no git-lock."""
    folder.mkdir()
    for name in ("git", "sh", "true"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


# -- repositories that git-lock has nothing to say about


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_in_an_unmanaged_repository_is_silent(hook: str, repo: Repo) -> None:
    done = repo.lock("hook", hook, ".git/COMMIT_EDITMSG", "message", agent="bob").ok()
    assert (done.out, done.err) == ("", "") and not repo.store.exists()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_repository_that_is_no_longer_managed_commits_in_silence(shape: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, SHAPES[shape]).here
    _forget(repo)
    assert _commits(repo, HELD).err == "" and not repo.store.exists()


def test_a_map_file_at_head_alone_makes_a_repository_managed(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy="").here
    _forget(repo)
    assert "'src/auth/login.py' is not claimed by you" in _commits(repo, HELD, code=1).err


# -- a repository that git refuses


def test_a_repository_that_git_refuses_is_could_not_check_with_git_s_remedy(tmp_path: Path, home: Path) -> None:
    repo = guarded(tmp_path).here
    env = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "GIT_INDEX_FILE": ".git/index"}
    refused = repo.run(".git/hooks/pre-commit", env=env, agent="bob").ended(20).err
    assert "could not check, so this is refused: git refuses this repository" in refused
    remedy = next_command(refused, "git config --global")
    assert "safe.directory" in remedy and str(repo.path) in remedy
    repo.run("sh", "-c", remedy)
    assert repo.run(".git/hooks/pre-commit", env=env, agent="bob").ok().err == ""


# -- files that want to be run

HOSTILE = ("json", "os", "re", "sitecustomize", "usercustomize", "gitlock", "encodings", "tomllib", "subprocess")


@pytest.mark.parametrize("shape", ["the main worktree", "a linked worktree"])
def test_no_file_of_the_repository_is_ever_imported(shape: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, SHAPES[shape], policy='[policy]\nunclaimed = "claim"').here
    witness = tmp_path / "was run"
    trap = f"open({str(witness)!r}, 'a').write(__name__)\n"
    for name in HOSTILE:
        repo.write(f"{name}.py", trap)
        repo.write(f"src/{name}/__init__.py", trap)
    repo.write("pyvenv.cfg", "home = .\n")
    env: dict[str, str | None] = {"PYTHONPATH": ".:src", "PYTHONSTARTUP": "json.py", "PYTHONHOME": None}
    repo.git("add", "--all")
    assert "claimed for bob" in repo.git("commit", "--quiet", "-m", "x", agent="bob", env=env).err
    assert "held by alice" in _commits(repo, HELD, code=1, env=env).err
    assert not witness.exists()


def test_no_program_of_the_repository_is_ever_run(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    witness = tmp_path / "was run"
    for name in ("git-lock", "python", "python3", "monitor"):
        file = repo.write(name, f"#!/bin/sh\necho {name} >>'{witness}'\n")
        file.chmod(0o755)
    repo.git("config", "core.fsmonitor", "./monitor")
    env: dict[str, str | None] = {"GIT_INDEX_FILE": ".git/index"}
    repo.write(OWN, "changed\n")
    repo.git("-c", "core.fsmonitor=false", "add", OWN)
    assert repo.run(".git/hooks/pre-commit", env=env, agent="bob").ok().err == ""
    assert not witness.exists()


# -- a bare environment, a program that is gone


def test_a_bare_path_is_enough(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    env: dict[str, str | None] = {"PATH": _bare_path(tmp_path / "bin"), "VIRTUAL_ENV": None}
    assert "held by alice" in _commits(repo, HELD, code=1, env=env).err
    repo.git("reset", "--quiet", "--hard")
    assert _commits(repo, OWN, env=env).err == "" and is_clean(repo)


def test_an_empty_environment_is_enough(tmp_path: Path, home: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, "changed\n")
    words = ["env", "-i", f"PATH={_bare_path(tmp_path / 'bin')}", f"HOME={home}", "GITLOCK_AGENT=bob"]
    refused = repo.run(*words, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "x").ended(1)
    assert "held by alice" in refused.err


def test_an_uninstalled_program_costs_one_line_and_stops_nobody(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    for name in HOOKS:
        hook = repo.common_dir / "hooks" / name
        hook.write_text(re.sub(r"(?m)^(gl_(?:python|start|program))=.*$", r"\1=/nowhere/at-all", hook.read_text()))
    env: dict[str, str | None] = {"PATH": _bare_path(tmp_path / "bin"), "VIRTUAL_ENV": None}
    (said,) = _commits(repo, HELD, env=env).err.splitlines()
    assert said.startswith("git-lock: could not be started for pre-commit") and "git lock install" in said
    assert is_clean(repo)


def test_a_program_that_came_back_between_two_hooks_judges_after_all(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    hook = repo.common_dir / "hooks/pre-commit"
    hook.write_text(re.sub(r"(?m)^(gl_(?:python|start|program))=.*$", r"\1=/nowhere/at-all", hook.read_text()))
    env: dict[str, str | None] = {"PATH": _bare_path(tmp_path / "bin"), "VIRTUAL_ENV": None}
    refused = _commits(repo, HELD, code=1, env=env).err
    assert "could not be started for pre-commit" in refused and "held by alice" in refused


def test_after_uninstall_nothing_is_asked_any_more(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.lock("uninstall", agent=None).ok()
    assert _commits(repo, HELD).err == "" and is_clean(repo)


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_names_and_reasons_come_out_in_any_locale(locale: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"src/auth/caf\xe9 \xc5\xa1.py")
    repo = guarded(tmp_path, reason="nov\u00fd login").here
    repo.write(name, "1\n")
    repo.git("add", "--all")
    done = repo.git("commit", "-m", "x", agent="bob", check=False, env={"LC_ALL": locale}).ended(1)
    assert b"src/auth/caf\\xe9 " in done.raw_err and b"is held by alice" in done.raw_err
    assert b"Traceback" not in done.raw_err
