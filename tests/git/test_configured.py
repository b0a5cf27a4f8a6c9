"""Git's own configured hooks: they ask whatever core.hooksPath says, once, and half an installation stops nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitlock.errors import RepositoryError
from gitlock.git.hooks import GATES, HOOKS, inspect
from tests.git.standin import StandIn, at, give_back, hooks_folder, snapshot, write_hook
from tests.kit.newer import REASON, newer_git
from tests.kit.processes import start, until
from tests.kit.program import ROOT
from tests.kit.repo import Repo

COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]


@pytest.fixture(autouse=True)
def _new_git(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = newer_git()
    if folder is None:
        pytest.skip(REASON)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


@pytest.fixture
def managed(repo: Repo, stand_in: StandIn) -> Repo:
    stand_in.install(repo)
    return repo


def _commit(repo: Repo, text: str = "more\n") -> None:
    repo.commit("more", {"more.txt": text}).ok()


def _config(repo: Repo) -> Path:
    return repo.common_dir / "agentlocks-hooks/git.config"


def _old_git(repo: Repo, *words: str) -> None:
    """As a git without configured hooks would run it: the folder alone."""
    off = [word for hook in HOOKS for word in ("-c", f"hook.git-lock-{hook}.enabled=false")]
    repo.git(*off, *words).ok()


# -- asked, and asked once


def test_a_commit_asks_once_in_each_hook(managed: Repo, stand_in: StandIn) -> None:
    _commit(managed)
    assert stand_in.hooks == COMMIT


def test_the_hook_from_before_runs_once(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    write_hook(hooks_folder(repo) / "pre-commit", "echo before >>../log")
    stand_in.install(repo)
    _commit(repo)
    assert (tmp_path / "log").read_text() == "before\n"
    assert stand_in.hooks == COMMIT


def test_a_refusal_is_said_once(managed: Repo, stand_in: StandIn) -> None:
    stand_in.does("echo no >&2; exit 22", "pre-commit")
    assert managed.commit("more", {"more.txt": ""}, check=False).ended(1).err == "no\n"
    assert stand_in.hooks == ["pre-commit"]


@pytest.mark.parametrize("path", [os.devnull, "/nowhere", ".husky/_", ""])
def test_no_core_hookspath_keeps_git_from_asking(path: str, managed: Repo, stand_in: StandIn) -> None:
    managed.git("config", "core.hooksPath", path)
    _commit(managed)
    assert stand_in.hooks == COMMIT
    assert inspect(at(managed)).because is None


def test_every_worktree_asks_also_one_with_a_broken_path_of_its_own(managed: Repo, stand_in: StandIn) -> None:
    linked = managed.worktree("linked")
    managed.git("config", "extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.hooksPath", "/nowhere")
    _commit(linked)
    assert stand_in.hooks == COMMIT


def test_a_worktree_that_is_just_added_finds_its_stub(managed: Repo, tmp_path: Path) -> None:
    assert managed.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked").err == ""


def test_a_submodule_and_a_worktree_of_a_bare_repository_ask(tmp_path: Path, stand_in: StandIn) -> None:
    bare = Repo.new(tmp_path, bare=True, name="bare")
    stand_in.install(bare)
    linked = bare.worktree("linked")
    stand_in.forget()
    _commit(linked)
    outer = Repo.new(tmp_path, name="outer")
    outer.git("submodule", "--quiet", "add", str(bare.path), "inner")
    inner = Repo(outer.path / "inner")
    stand_in.install(inner)
    inner.git("config", "core.hooksPath", os.devnull)
    _commit(inner)
    assert stand_in.hooks == COMMIT * 2


def test_each_pick_of_one_rebase_is_asked_about(managed: Repo, stand_in: StandIn) -> None:
    for number in range(3):
        managed.commit("more", {f"{number}.txt": ""}).ok()
    managed.git("checkout", "--quiet", "-b", "side", "HEAD~3")
    managed.commit("side", {"side.txt": ""}).ok()
    stand_in.forget()
    managed.git("rebase", "--quiet", "side", "main")
    assert stand_in.hooks.count("prepare-commit-msg") == 3


def test_a_git_without_configured_hooks_asks_through_the_folder(managed: Repo, stand_in: StandIn) -> None:
    for number in range(3):  # a note that the configured hook has left says nothing to this git
        managed.commit("by the one", {"more.txt": f"{number}\n"}).ok()
        stand_in.forget()
        _old_git(managed, "commit", "--quiet", "--allow-empty", "-mx")
        assert stand_in.hooks == COMMIT


def test_a_subfolder_and_an_explicit_git_folder_ask(managed: Repo, stand_in: StandIn) -> None:
    managed.write("sub/file", "")
    managed.git("add", ".")
    managed.git("commit", "--quiet", "-mx", cwd="sub")
    managed.git("--git-dir=.git", "--work-tree=.", "commit", "--quiet", "--allow-empty", "-mx")
    assert stand_in.hooks == COMMIT * 2


def test_a_moved_repository_goes_on_asking_and_a_copy_asks_for_itself(
    managed: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    shutil.copytree(managed.path, tmp_path / "copy", symlinks=True)
    managed.path.rename(tmp_path / "moved")
    for name in ("copy", "moved"):
        repo = Repo(tmp_path / name)
        repo.git("config", "core.hooksPath", os.devnull)
        _commit(repo)
    assert stand_in.hooks == COMMIT * 2


def test_hooks_of_others_are_neither_touched_nor_doubled(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    repo.git("config", "hook.other.command", "echo other >>../log")
    repo.git("config", "hook.other.event", "pre-commit")
    stand_in.install(repo)
    _commit(repo)
    assert (tmp_path / "log").read_text() == "other\n"
    give_back(repo)
    _commit(repo, "again\n")
    assert (tmp_path / "log").read_text() == "other\n" * 2


# -- what is said


@pytest.mark.parametrize("setting", ["hook.git-lock-pre-commit.enabled", "hook.pre-commit.enabled"])
def test_a_hook_that_is_turned_off_is_not_said_to_be_enforced(setting: str, managed: Repo) -> None:
    managed.git("config", "core.hooksPath", os.devnull)
    managed.git("config", setting, "false")
    assert inspect(at(managed)).enforced == GATES[1:]


def test_somebody_s_own_configured_hook_that_calls_us_counts(repo: Repo, stand_in: StandIn) -> None:
    repo.git("config", "hook.mine.command", 'git-lock hook pre-commit "$@"')
    repo.git("config", "hook.mine.event", "pre-commit")
    assert inspect(at(repo)).enforced == ("pre-commit",)


# -- there and back


_CONFIGS = {
    "plain": "",
    "without a newline at its end": '[alias]\n\tx = "y"',
    "with an include": "[include]\n\tpath = other\n[alias]\n\tx = y\n",
    "with an include last": "[alias]\n\tx = y\n[include]\n\tpath = other\n",
    "with a comment last": "[alias]\n\tx = y\n# the end\n",
    "with a conditional include": '[includeIf "gitdir:/nowhere/"]\n\tpath = other\n',
}


@pytest.mark.parametrize("more", _CONFIGS.values(), ids=list(_CONFIGS))
def test_uninstall_gives_back_the_exact_bytes(more: str, repo: Repo, stand_in: StandIn) -> None:
    config = repo.path / ".git/config"
    config.write_text(config.read_text() + more)
    before = {name: value[:2] for name, value in snapshot(repo.common_dir).items()}
    stand_in.install(repo)
    repo.commit("first", check=False)  # asks, and leaves a note
    assert give_back(repo).left == ()
    repo.store.rmdir()
    assert {name: value[:2] for name, value in snapshot(repo.common_dir).items()} == before


def test_uninstall_leaves_what_somebody_has_added_to_our_section(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    repo.git("config", "--add", "include.path", "other")
    give_back(repo)
    assert repo.git("config", "--get-all", "include.path").lines == ["other"]


def test_a_lock_that_a_killed_install_has_left_is_taken_over(repo: Repo, stand_in: StandIn) -> None:
    fresh, lock = repo.path / ".git/config.git-lock-new", repo.path / ".git/config.lock"
    fresh.touch()
    os.link(fresh, lock)
    stand_in.install(repo)
    assert (fresh.exists(), lock.exists()) == (False, False)
    assert inspect(at(repo)).because is None


def test_installing_twice_changes_nothing(managed: Repo, stand_in: StandIn) -> None:
    before = snapshot(managed.common_dir)
    outcome = stand_in.install(managed)
    assert (outcome.configured, outcome.written, outcome.unchanged) == ((), (), HOOKS)
    assert snapshot(managed.common_dir) == before


def test_some_hooks_first_and_others_later_are_all_asked(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo, hooks=("pre-commit",))
    stand_in.install(repo, hooks=("post-commit",))
    repo.git("config", "core.hooksPath", os.devnull)
    _commit(repo)
    assert stand_in.hooks == ["pre-commit", "post-commit"]


def test_a_rehearsed_install_writes_nothing_and_says_what_it_would(repo: Repo, stand_in: StandIn) -> None:
    before = snapshot(repo.common_dir)
    outcome = stand_in.install(repo, rehearse=True)
    assert (outcome.configured, outcome.written) == (HOOKS, HOOKS)
    assert snapshot(repo.common_dir) == before


# -- half of it


def test_the_file_alone_turns_everything_off_when_it_is_taken_away(managed: Repo, stand_in: StandIn) -> None:
    managed.git("config", "core.hooksPath", os.devnull)
    _config(managed).unlink()
    _commit(managed)
    assert managed.git("status", "--short").ok().err == ""
    assert stand_in.hooks == []


def test_a_stub_that_is_gone_is_said_and_stops_nothing_unless_the_policy_says_so(
    managed: Repo, stand_in: StandIn
) -> None:
    managed.git("config", "core.hooksPath", os.devnull)
    (_config(managed).parent / "pre-commit").unlink()
    passed = managed.commit("more", {"more.txt": "1\n"}).ok()
    assert passed.err.count("git-lock: its file for pre-commit is gone") == 1
    (managed.store / "mode").write_text("enforce closed\n")
    managed.commit("more", {"more.txt": "2\n"}, check=False).ended(1)
    (managed.store / "mode").write_text("warn closed\n")
    managed.commit("more", {"more.txt": "3\n"}).ok()


def test_a_user_who_may_not_open_the_store_can_still_use_git(stand_in: StandIn, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as somebody else")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    repo = Repo.new(tmp_path)
    stand_in.install(repo)
    assert repo.store.stat().st_mode & 0o077 == 0
    words = ["git", "-c", f"safe.directory={repo.path}", "-C", str(repo.path), "log", "--oneline"]
    done = subprocess.run(words, user=65534, capture_output=True, env={**os.environ, "HOME": "/"})
    assert (done.returncode, done.stderr) == (0, b"")


# Counts what changes the disk and each git that writes the configuration, and at the given number ends as SIGKILL
# would: before that step, or after it.
_DRIVER = """\
import os, sys
sys.path.insert(0, sys.argv[1])
limit, what, folder, place = sys.argv[2:]
from pathlib import Path
from tests.git.standin import StandIn, at, give_back
from tests.kit.repo import Repo
import json, tempfile, hashlib
repo, stand_in, number, active = Repo(Path(folder)), StandIn(Path(place)), 0, False
CHANGES = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.utime", "os.posix_spawn"}
def count(event, args):
    global number
    if active and (event in CHANGES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))):
        number += 1
        if number == int(limit):
            os._exit(99)
sys.addaudithook(count)
active = True
stand_in.install(repo) if what == "install" else give_back(repo)
"""


def _killed(repo: Repo, stand_in: StandIn, number: int, what: str) -> int:
    driver = stand_in.folder / "driver.py"
    driver.write_text(_DRIVER)
    words = [sys.executable, str(driver), str(ROOT), str(number), what, str(repo.path), str(stand_in.folder)]
    return subprocess.run(words, cwd=repo.path).returncode


def _assert_git_works(repo: Repo, log: Path) -> None:
    log.unlink(missing_ok=True)
    assert repo.git("status", "--short").ok().err == ""
    repo.git("commit", "--quiet", "--allow-empty", "-mx").ok()
    assert log.read_text() == "before\n", "the hook from before ran once"


@pytest.mark.parametrize("what", ["install", "uninstall"])
def test_killed_at_any_step_git_goes_on_and_the_next_one_completes_it(
    what: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    write_hook(hooks_folder(repo) / "pre-commit", "echo before >>../log")
    before = (snapshot(hooks_folder(repo)), (repo.path / ".git/config").read_bytes())
    number = 0
    while True:
        number += 1
        if what == "uninstall":
            stand_in.install(repo)
        code = _killed(repo, stand_in, number, what)
        _assert_git_works(repo, log)
        if code == 0:
            break
        assert code == 99
        if what == "install" and number % 2:
            stand_in.install(repo)
            assert inspect(at(repo)).enforced == GATES
        give_back(repo)
        assert (snapshot(hooks_folder(repo)), (repo.path / ".git/config").read_bytes()) == before
        assert not _config(repo).parent.exists()
    assert number > 20


def test_an_install_waits_for_another_git_that_writes_the_configuration(repo: Repo, stand_in: StandIn) -> None:
    lock = repo.path / ".git/config.lock"
    lock.touch()
    driver = stand_in.folder / "driver.py"
    driver.write_text(_DRIVER)
    words = [sys.executable, str(driver), str(ROOT), "0", "install", str(repo.path), str(stand_in.folder)]
    with start(words, cwd=repo.path) as installing:
        until(_config(repo).exists, "our file of configuration")
        assert installing.is_alive
        lock.unlink()
        installing.wait().ok()
    assert inspect(at(repo)).because is None
    assert {hook.state for hook in inspect(at(repo)).hooks} == {"configured"}


def test_a_lock_on_the_configuration_that_stays_is_named(repo: Repo, stand_in: StandIn) -> None:
    (repo.path / ".git/config.lock").touch()
    with pytest.raises(RepositoryError) as caught:
        stand_in.install(repo)
    assert caught.value.id == "config-locked"
    _commit(repo)


def test_many_installs_at_once_are_as_one(repo: Repo, stand_in: StandIn) -> None:
    driver = stand_in.folder / "driver.py"
    driver.write_text(_DRIVER)
    words = [sys.executable, str(driver), str(ROOT), "0", "install", str(repo.path), str(stand_in.folder)]
    running = [subprocess.Popen(words) for _ in range(6)]
    assert [process.wait() for process in running] == [0] * 6
    assert repo.git("config", "--get-all", "include.path").lines == ["agentlocks-hooks/git.config"]
    _commit(repo)
    assert stand_in.hooks == COMMIT
