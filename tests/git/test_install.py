"""Installing beside whatever is there, killed at any step, and giving it back."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitlock.errors import RepositoryError, UsageError
from gitlock.git.hooks import GATES, HOOKS, inspect
from gitlock.templates import read_template
from tests.git.standin import StandIn, at, give_back, hooks_folder, snapshot, write_hook
from tests.kit.newer import path_without_configured_hooks
from tests.kit.program import ROOT
from tests.kit.repo import Repo

IN_ORDER = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]


@pytest.fixture(autouse=True)
def _without_configured_hooks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """These are about the hooks folder; git's other way has tests of its own."""
    monkeypatch.setenv("PATH", path_without_configured_hooks(tmp_path_factory.getbasetemp() / "older-git"))


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


def _commit(repo: Repo, text: str = "more\n") -> None:
    repo.commit("more", {"more.txt": text}).ok()


# Those that the tests below put something in the place of; the others are treated alike.
FOUR = ("pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit")


def _states(repo: Repo) -> list[str]:
    return [hook.state for hook in inspect(at(repo)).hooks if hook.name in FOUR]


# What may be in a hook's place.


def _file(hook: Path) -> None:
    write_hook(hook, "exit 0")


def _private(hook: Path) -> None:
    write_hook(hook, "exit 0", mode=0o700)


def _not_executable(hook: Path) -> None:
    write_hook(hook, "exit 1", mode=0o640)


def _link(hook: Path) -> None:
    write_hook(hook.parent.parent / "scripts" / "check", "exit 0")
    hook.symlink_to("../scripts/check")
    os.utime(hook, (1_500_000_000, 1_500_000_000.5), follow_symlinks=False)


def _dangling(hook: Path) -> None:
    hook.symlink_to("../scripts/gone")


def _binary(hook: Path) -> None:
    shutil.copy(shutil.which("true") or "/bin/true", hook)


def _empty(hook: Path) -> None:
    hook.touch(0o644)


def _without_a_newline(hook: Path) -> None:
    hook.write_bytes(b"#!/bin/sh\r\nexit 0")


KINDS = [_file, _private, _not_executable, _link, _dangling, _binary, _empty, _without_a_newline]


def _kind_name(kind: Callable[[Path], None]) -> str:
    return kind.__name__.strip("_")


# -- there and back


@pytest.mark.parametrize("kind", KINDS, ids=_kind_name)
def test_uninstall_gives_back_the_exact_bytes_mode_and_time(
    kind: Callable[[Path], None], repo: Repo, stand_in: StandIn
) -> None:
    folder = hooks_folder(repo)
    for name in HOOKS[::2]:
        kind(folder / name)
    before = snapshot(repo.common_dir)
    outcome = stand_in.install(repo)
    assert (outcome.written, outcome.unchanged, outcome.skipped) == (HOOKS, (), ())
    assert snapshot(folder) != before
    back = give_back(repo)
    assert [Path(path).name for path in back.restored] == list(HOOKS[::2])
    assert [Path(path).name for path in back.removed] == list(HOOKS[1::2])
    assert back.left == ()
    repo.store.rmdir()
    assert snapshot(repo.common_dir) == before


@pytest.mark.parametrize("kind", KINDS, ids=_kind_name)
def test_installing_twice_changes_nothing(kind: Callable[[Path], None], repo: Repo, stand_in: StandIn) -> None:
    kind(hooks_folder(repo) / "pre-commit")
    stand_in.install(repo)
    before = snapshot(repo.common_dir)
    outcome = stand_in.install(repo)
    assert (outcome.written, outcome.unchanged, outcome.skipped) == ((), HOOKS, ())
    assert snapshot(repo.common_dir) == before
    give_back(repo)
    between = snapshot(hooks_folder(repo))
    assert give_back(repo).restored == ()
    assert snapshot(hooks_folder(repo)) == between


def test_git_finds_the_stubs_whatever_the_umask(repo: Repo, stand_in: StandIn) -> None:
    old = os.umask(0o077)
    try:
        stand_in.install(repo)
    finally:
        os.umask(old)
    assert {(hooks_folder(repo) / name).stat().st_mode & 0o777 for name in HOOKS} == {0o755}
    assert repo.store.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("shared", "folder", "file"), [
    ("group", 0o2770, 0o660), ("true", 0o2770, 0o660), ("all", 0o2775, 0o664), ("0640", 0o2750, 0o640),
    ("umask", 0o700, 0o600),
])  # fmt: skip
def test_the_record_is_shared_as_the_repository_is(
    shared: str, folder: int, file: int, repo: Repo, stand_in: StandIn
) -> None:
    repo.git("config", "core.sharedRepository", shared)
    stand_in.install(repo)
    assert repo.store.stat().st_mode & 0o7777 == folder
    assert (repo.store / "hooks.json").stat().st_mode & 0o777 == file


def test_a_repository_without_a_hooks_folder_gets_one_and_loses_it_again(repo: Repo, stand_in: StandIn) -> None:
    shutil.rmtree(hooks_folder(repo))
    stand_in.install(repo)
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    give_back(repo)
    assert not hooks_folder(repo).exists()


def test_a_later_version_or_another_interpreter_replaces_the_stub_and_keeps_the_hook_from_before(
    repo: Repo, stand_in: StandIn
) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    before = snapshot(hooks_folder(repo))
    other = StandIn(stand_in.folder.parent / "other")
    other.install(repo, template=read_template("hook.sh").replace("# The answers", "# All answers"))
    assert stand_in.install(repo).written == HOOKS
    _commit(repo)
    assert (other.hooks, stand_in.hooks) == ([], IN_ORDER)
    hook.chmod(0o644)  # somebody took git's leave to run it
    assert _states(repo)[0] == "not-executable"
    assert stand_in.install(repo).written == ("pre-commit",)
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


def test_an_installation_of_four_hooks_gets_the_others_with_the_next(repo: Repo, stand_in: StandIn) -> None:
    before = snapshot(hooks_folder(repo))
    stand_in.install(repo, hooks=FOUR)
    half = inspect(at(repo))
    assert (half.because, half.advice) == ("pre-push is missing", "git lock install")
    assert half.silent == ("commit-msg", "post-checkout", "post-merge", "post-rewrite")
    outcome = stand_in.install(repo)
    assert (outcome.unchanged, outcome.written) == (FOUR, tuple(name for name in HOOKS if name not in FOUR))
    assert (inspect(at(repo)).enforced, inspect(at(repo)).silent) == (GATES, ())
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


def test_a_hook_that_refuses_nothing_is_missed_by_nobody(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    (hooks_folder(repo) / "post-rewrite").unlink()
    found = inspect(at(repo))
    assert (found.because, found.silent, found.advice) == (None, ("post-rewrite",), "git lock install")


def test_only_the_hooks_that_were_asked_for(repo: Repo, stand_in: StandIn) -> None:
    assert stand_in.install(repo, hooks=("post-commit",)).written == ("post-commit",)
    assert _states(repo) == ["absent", "absent", "absent", "ours"]
    with pytest.raises(UsageError):
        stand_in.install(repo, hooks=("pre-push-oops",))


# -- what can't be chained


def test_a_folder_in_the_hook_s_place_is_left_alone_and_named(repo: Repo, stand_in: StandIn) -> None:
    (hooks_folder(repo) / "pre-commit").mkdir()
    outcome = stand_in.install(repo)
    assert [(name, "is no file" in reason) for name, reason in outcome.skipped] == [("pre-commit", True)]
    assert outcome.written == HOOKS[1:]
    assert inspect(at(repo)).because == "pre-commit can't be run"


def test_an_edited_stub_is_left_alone_by_both(repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    stand_in.install(repo)
    hook.write_bytes(hook.read_bytes() + b"# mine\n")
    before = snapshot(hooks_folder(repo))["pre-commit"]
    assert "edited" in dict(stand_in.install(repo).skipped)["pre-commit"]
    back = give_back(repo)
    assert [(Path(path).name, "edited" in reason) for path, reason in back.left] == [("pre-commit", True)]
    after = snapshot(hooks_folder(repo))
    assert after["pre-commit"] == before
    assert "pre-commit.before-git-lock" in after  # it may still call it
    assert len(back.removed) == len(HOOKS) - 1


def test_another_hook_over_our_stub_loses_neither(repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    stand_in.install(repo)
    hook.unlink()
    write_hook(hook, "exit 0 # another")
    before = snapshot(hooks_folder(repo))
    assert "another program" in dict(stand_in.install(repo).skipped)["pre-commit"]
    assert snapshot(hooks_folder(repo)) == before
    back = give_back(repo)
    assert [(Path(path).name, "kept" in reason) for path, reason in back.left] == [("pre-commit.before-git-lock", True)]
    assert {name: value for name, value in before.items() if name not in HOOKS[1:]} == snapshot(hooks_folder(repo))


def test_the_same_hook_written_again_over_our_stub_is_chained_again(repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    stand_in.install(repo)
    hook.unlink()
    write_hook(hook, "exit 0", time=1_700_000_000)
    before = snapshot(hooks_folder(repo))["pre-commit"]
    assert stand_in.install(repo).written == ("pre-commit",)
    assert _states(repo)[0] == "ours-chained"
    give_back(repo)
    assert snapshot(hooks_folder(repo))["pre-commit"] == before


def test_a_deleted_stub_gives_its_place_back(repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    before = snapshot(hooks_folder(repo))
    stand_in.install(repo)
    hook.unlink()
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


def test_a_hook_that_calls_us_by_itself_is_not_doubled(repo: Repo, stand_in: StandIn) -> None:
    write_hook(hooks_folder(repo) / "pre-commit", 'make lint\ngit-lock hook pre-commit "$@" || exit')
    write_hook(hooks_folder(repo) / "post-commit", "# git-lock hook post-commit")
    outcome = stand_in.install(repo)
    assert outcome.unchanged == ("pre-commit",)
    assert "post-commit" in outcome.written
    assert _states(repo) == ["ours", "ours", "ours", "ours-chained"]


# -- killed, and stopped by the disk

# Counts what changes the disk, and at the given number ends as SIGKILL would, or fails as a full or read-only disk.
_DRIVER = """\
import errno, os, sys
sys.path.insert(0, sys.argv[1])
limit, way, what, folder, *rest = sys.argv[2:]
from pathlib import Path
from tests.git.standin import StandIn, at, give_back
from tests.kit.repo import Repo
import json, tempfile, hashlib
repo, stand_in, number = Repo(Path(folder)), StandIn(Path(rest[0])), 0
CHANGES = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.utime", "os.truncate"}
def count(event, args):
    global number
    if event in CHANGES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        if not active: return
        number += 1
        if number == int(limit) or (way == "readonly" and event == "open" and str(args[0]).endswith(".git-lock-new")):
            if way == "kill": os._exit(99)
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), args[0])
active = False
sys.addaudithook(count)
active = True
try:
    stand_in.install(repo) if what == "install" else give_back(repo)
except Exception as fault:
    active = False
    print(type(fault).__name__, getattr(fault, "id", ""), fault, fault.hint)
    sys.exit(3)
"""


def _interrupted(repo: Repo, stand_in: StandIn, number: int, way: str, what: str) -> subprocess.CompletedProcess[str]:
    driver = stand_in.folder / "driver.py"
    driver.write_text(_DRIVER)
    words = [sys.executable, str(driver), str(ROOT), str(number), way, what, str(repo.path), str(stand_in.folder)]
    return subprocess.run(words, capture_output=True, text=True, cwd=repo.path)


def _prepare(repo: Repo, stand_in: StandIn) -> tuple[Path, dict[str, tuple[object, ...]]]:
    folder = hooks_folder(repo)
    log = stand_in.folder / "log"
    write_hook(folder / "pre-commit", f"echo before >>'{log}'")
    _link(folder / "prepare-commit-msg")
    return log, snapshot(folder)


def _assert_hooks_work(repo: Repo, log: Path) -> None:
    log.unlink(missing_ok=True)
    repo.git("commit", "--quiet", "--allow-empty", "-mx").ok()
    assert log.read_text() == "before\n", "the hook from before ran once"


@pytest.mark.parametrize("way", ["kill", "fail"])
def test_an_install_interrupted_at_any_step_loses_no_hook_and_is_completed_by_the_next(
    way: str, repo: Repo, stand_in: StandIn
) -> None:
    log, before = _prepare(repo, stand_in)
    number = 0
    while True:
        number += 1
        done = _interrupted(repo, stand_in, number, way, "install")
        if done.returncode == 0:
            break
        assert done.returncode == (99 if way == "kill" else 3), done.stderr
        _assert_hooks_work(repo, log)
        if number % 2:  # either the next install completes it, or the next uninstall takes it back
            stand_in.install(repo)
            assert _states(repo) == ["ours-chained", "ours", "ours-chained", "ours"]
            _assert_hooks_work(repo, log)
        give_back(repo)
        assert snapshot(hooks_folder(repo)) == before
        shutil.rmtree(repo.store)
    assert number > 12


@pytest.mark.parametrize("way", ["kill", "fail"])
def test_an_uninstall_interrupted_at_any_step_loses_no_hook_and_is_completed_by_the_next(
    way: str, repo: Repo, stand_in: StandIn
) -> None:
    log, before = _prepare(repo, stand_in)
    number = 0
    while True:
        number += 1
        stand_in.install(repo)
        done = _interrupted(repo, stand_in, number, way, "uninstall")
        if done.returncode == 0:
            break
        assert done.returncode == (99 if way == "kill" else 3), done.stderr
        _assert_hooks_work(repo, log)
        give_back(repo)
        assert snapshot(hooks_folder(repo)) == before
    assert number > 4


def test_a_hooks_folder_that_can_t_be_written_is_an_error_and_nothing_is_lost(repo: Repo, stand_in: StandIn) -> None:
    _, before = _prepare(repo, stand_in)
    done = _interrupted(repo, stand_in, 0, "readonly", "install")
    assert done.returncode == 3
    assert done.stdout.startswith("RepositoryError hooks-folder can't read or write")
    assert snapshot(hooks_folder(repo)) == before


def test_a_file_system_without_second_names_still_gets_its_hooks(repo: Repo, stand_in: StandIn) -> None:
    _, before = _prepare(repo, stand_in)
    driver = stand_in.folder / "driver.py"
    driver.write_text(
        _DRIVER.replace("raise OSError(errno.EROFS", "raise OSError(errno.EPERM").replace(
            "number == int(limit)", 'event == "os.link"'
        )
    )
    words = [sys.executable, str(driver), str(ROOT), "0", "fail", "install", str(repo.path), str(stand_in.folder)]
    subprocess.run(words, check=True)
    assert _states(repo) == ["ours-chained", "ours", "ours-chained", "ours"]
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


def test_many_installs_at_once_are_as_one(repo: Repo, stand_in: StandIn) -> None:
    log, before = _prepare(repo, stand_in)
    driver = stand_in.folder / "driver.py"
    driver.write_text(_DRIVER)
    words = [sys.executable, str(driver), str(ROOT), "0", "kill", "install", str(repo.path), str(stand_in.folder)]
    running = [subprocess.Popen(words) for _ in range(6)]
    assert [process.wait() for process in running] == [0] * 6
    assert _states(repo) == ["ours-chained", "ours", "ours-chained", "ours"]
    _assert_hooks_work(repo, log)
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


# -- every shape of repository


def test_one_install_guards_all_worktrees(repo: Repo, stand_in: StandIn) -> None:
    linked = repo.worktree("linked")
    stand_in.install(linked)
    for place in (repo, linked):
        assert inspect(at(place)).enforced == GATES
        assert inspect(at(place)).because is None
        _commit(place, place.path.name)
    assert stand_in.hooks == IN_ORDER * 2


def test_a_subfolder_sees_what_the_top_sees(repo: Repo, stand_in: StandIn) -> None:
    repo.write(".githooks/pre-commit", "")
    repo.git("config", "core.hooksPath", ".githooks")
    repo.write("sub/file", "")
    assert inspect(at(Repo(repo.path / "sub"))).folder.path == str(repo.path / ".githooks")


def test_a_submodule_has_hooks_of_its_own(repo: Repo, stand_in: StandIn) -> None:
    outer = Repo.new(repo.path.parent, name="outer")
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    inner = Repo(outer.path / "inner")
    stand_in.install(inner)
    assert inspect(at(inner)).enforced == GATES
    assert inspect(at(outer)).because == "git lock install has not been run in this repository"
    assert (outer.path / ".git/modules/inner/hooks/pre-commit").exists()


def test_a_worktree_of_a_bare_repository_is_guarded(tmp_path: Path, stand_in: StandIn) -> None:
    bare = Repo.new(tmp_path, bare=True, name="bare")
    stand_in.install(bare)
    linked = bare.worktree("linked")
    assert inspect(at(linked)).enforced == GATES


def test_another_folder_within_the_git_folder_is_the_repository_s_own(repo: Repo, stand_in: StandIn) -> None:
    repo.git("config", "core.hooksPath", str(repo.path / ".git/my hooks"))
    stand_in.install(repo)
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    repo.git("config", "--unset", "core.hooksPath")
    give_back(repo)
    assert not (repo.path / ".git/my hooks").exists()


def test_a_copied_repository_does_not_undo_its_original(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.install(repo)
    shutil.copytree(repo.path, tmp_path / "copy", symlinks=True)
    copy = Repo(tmp_path / "copy")
    assert len(give_back(copy).removed) == len(HOOKS)
    assert inspect(at(repo)).enforced == GATES


# -- other managers


def _assert_nothing_is_written(repo: Repo, stand_in: StandIn, kind: str, *said: str) -> None:
    before = snapshot(repo.path)
    seen = inspect(at(repo))
    outcome = stand_in.install(repo)
    assert snapshot(repo.path) == before
    assert (outcome.folder.kind, outcome.written, [name for name, _ in outcome.skipped]) == (kind, (), list(HOOKS))
    assert (seen.enforced, seen.because) == ((), outcome.skipped[0][1])
    told = " ".join((seen.because or "", *outcome.advice))
    for words in said:
        assert words in told
    assert outcome.advice and "{" not in told.replace("{0}", "")


def test_husky_keeps_its_hooks(repo: Repo, stand_in: StandIn) -> None:
    write_hook(repo.path / ".husky/_/pre-commit", '. "${0%/*}/h"')
    repo.git("config", "core.hooksPath", ".husky/_")
    _assert_nothing_is_written(repo, stand_in, "husky", "husky runs the hooks", 'git-lock hook pre-commit "$@"')
    repo.write(".husky/pre-commit", 'npm test\ngit-lock hook pre-commit "$@"\n')
    assert inspect(at(repo)).enforced == ("pre-commit",)
    assert stand_in.install(repo).unchanged == ("pre-commit",)


def test_a_linked_worktree_without_husky_s_folder_is_not_enforced(repo: Repo, stand_in: StandIn) -> None:
    write_hook(repo.path / ".husky/_/pre-commit", "exit 0")
    repo.git("config", "core.hooksPath", ".husky/_")
    linked = repo.worktree("linked")
    _assert_nothing_is_written(
        linked, stand_in, "missing", "'.husky/_', which does not exist in this worktree", "npx husky"
    )


def test_a_relative_path_into_the_git_folder_is_missing_in_a_linked_worktree(repo: Repo, stand_in: StandIn) -> None:
    repo.git("config", "core.hooksPath", ".git/hooks")
    linked = repo.worktree("linked")
    stand_in.install(repo)
    assert inspect(at(repo)).enforced == GATES
    assert inspect(at(linked)).enforced == ()
    assert "does not exist in this worktree" in str(inspect(at(linked)).because)
    _commit(linked)
    assert stand_in.hooks == []


def test_lefthook_would_put_ours_out_of_the_way(repo: Repo, stand_in: StandIn) -> None:
    write_hook(hooks_folder(repo) / "pre-commit", 'call_lefthook()\n{\n  :\n}\ncall_lefthook run "pre-commit" "$@"')
    _assert_nothing_is_written(repo, stand_in, "lefthook", "lefthook writes the hooks", "lefthook-local.yml", "{0}")


def test_our_stub_under_lefthook_s_other_name_is_known(repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "exit 0")
    before = snapshot(hooks_folder(repo))
    stand_in.install(repo)
    hook.rename(f"{hook}.old")  # lefthook install
    write_hook(hook, "call_lefthook run pre-commit", time=1_650_000_000)
    assert "pre-commit" not in inspect(at(repo)).enforced
    give_back(repo)
    Path(f"{hook}.old").replace(hook)  # lefthook uninstall
    assert snapshot(hooks_folder(repo)) == before


def test_overcommit_keeps_its_hooks(repo: Repo, stand_in: StandIn) -> None:
    write_hook(hooks_folder(repo) / "overcommit-hook", "exit 0")
    (hooks_folder(repo) / "pre-commit").symlink_to("overcommit-hook")
    _assert_nothing_is_written(repo, stand_in, "overcommit", ".overcommit.yml")


def test_a_folder_of_the_project_is_the_project_s(repo: Repo, stand_in: StandIn) -> None:
    write_hook(repo.path / ".githooks/pre-commit", "exit 0")
    repo.git("config", "core.hooksPath", ".githooks")
    _assert_nothing_is_written(
        repo, stand_in, "tracked", "core.hooksPath (this repository's) is '.githooks'", "own branch"
    )


def test_a_global_folder_is_everybody_s(repo: Repo, stand_in: StandIn, home: Path) -> None:
    (home / "hooks").mkdir()
    repo.git("config", "--global", "core.hooksPath", "~/hooks")
    _assert_nothing_is_written(repo, stand_in, "foreign", "(global)", str(home / "hooks"), "git config core.hooksPath")
    advice = stand_in.install(repo).advice[0]
    repo.run("sh", "-c", advice).ok()
    assert stand_in.install(repo).written == HOOKS


def test_the_hooks_of_another_clone_are_foreign(repo: Repo, stand_in: StandIn) -> None:
    clone = repo.clone()
    clone.git("config", "core.hooksPath", str(hooks_folder(repo)))
    _assert_nothing_is_written(clone, stand_in, "foreign", str(hooks_folder(repo)), "--unset")


def test_a_worktree_with_a_path_of_its_own_is_not_enforced(repo: Repo, stand_in: StandIn) -> None:
    linked = repo.worktree("linked")
    repo.git("config", "extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.hooksPath", "/nowhere")
    stand_in.install(repo)
    assert inspect(at(repo)).enforced == GATES
    _assert_nothing_is_written(
        linked, stand_in, "missing", "(this worktree's) is '/nowhere'", "git config --worktree --unset"
    )


def test_hooks_turned_off_by_an_empty_path_are_reported(repo: Repo, stand_in: StandIn) -> None:
    repo.git("config", "core.hooksPath", "")
    _assert_nothing_is_written(repo, stand_in, "missing", "is ''")


@pytest.mark.parametrize("name", ["husky", "overcommit", ".husky", "LEFTHOOK"])
def test_a_repository_called_as_a_manager_is_none(name: str, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path / name / "stand-in")
    repo = Repo.new(tmp_path / name)
    stand_in.install(repo)
    assert stand_in.install(repo).unchanged == HOOKS
    assert inspect(at(repo)).folder.kind == "own"


# -- the pre-commit framework


@pytest.fixture
def framework(repo: Repo) -> Callable[[], None]:
    """Its installation, and a configuration that logs each run."""
    program = Path(sys.executable).parent / "pre-commit"
    if not program.exists():
        pytest.skip("the pre-commit framework is not here")
    hook = "{id: log, name: log, language: system, entry: sh -c 'echo framework >>../log', always_run: true}"
    repo.commit("configuration", {".pre-commit-config.yaml": f"repos:\n- repo: local\n  hooks: [{hook}]\n"})

    def install() -> None:
        repo.run(str(program), "install").ok()

    return install


def test_the_framework_s_hook_is_chained_as_any_other(
    repo: Repo, stand_in: StandIn, framework: Callable[[], None], tmp_path: Path
) -> None:
    framework()
    before = snapshot(hooks_folder(repo))
    stand_in.install(repo)
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    assert (tmp_path / "log").read_text() == "framework\n"
    give_back(repo)
    assert snapshot(hooks_folder(repo)) == before


def test_git_lock_runs_once_when_pre_commit_keeps_our_stub_as_legacy(
    repo: Repo, stand_in: StandIn, framework: Callable[[], None], tmp_path: Path
) -> None:
    framework()
    before = snapshot(hooks_folder(repo))
    stand_in.install(repo)
    framework()
    assert (hooks_folder(repo) / "pre-commit.legacy").exists()
    assert _states(repo)[0] == "ours-chained"
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    assert (tmp_path / "log").read_text() == "framework\n"
    assert stand_in.install(repo).unchanged == HOOKS
    stand_in.forget()
    _commit(repo, "again\n")
    assert stand_in.hooks == IN_ORDER
    back = give_back(repo)
    assert back.left == ()
    now = snapshot(hooks_folder(repo))
    assert {name: value[:2] for name, value in now.items()} == {name: value[:2] for name, value in before.items()}


def test_the_framework_installed_after_us_runs_us_and_the_hook_from_before(
    repo: Repo, stand_in: StandIn, framework: Callable[[], None], tmp_path: Path
) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", "echo before >>../log")
    before = snapshot(hooks_folder(repo))["pre-commit"]
    stand_in.install(repo)
    framework()
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    assert (tmp_path / "log").read_text() == "before\nframework\n"
    other = StandIn(tmp_path / "other")
    assert other.install(repo).written == HOOKS  # where the framework keeps it
    _commit(repo, "again\n")
    assert other.hooks == IN_ORDER
    assert b"hook-impl" in hook.read_bytes()
    give_back(repo)
    assert snapshot(hooks_folder(repo))["pre-commit.legacy"] == before
    other.forget()
    _commit(repo, "at last\n")
    assert other.hooks == []
    assert (tmp_path / "log").read_text() == "before\nframework\n" * 3


def test_git_lock_runs_once_when_prek_keeps_our_stub_as_legacy(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    prek = """\
# File generated by prek: what it does, in short
[ -z "$PREK_RUNNING_LEGACY" ] || exit 9
if [ -x "${0%/*}/pre-commit.legacy" ]; then
    PREK_RUNNING_LEGACY=1 "${0%/*}/pre-commit.legacy" || exit
fi
echo framework >>../log"""
    hook = write_hook(hooks_folder(repo) / "pre-commit", prek)
    stand_in.install(repo)
    hook.rename(f"{hook}.legacy")
    write_hook(hook, prek)
    assert _states(repo)[0] == "ours-chained"
    _commit(repo)
    assert stand_in.hooks == IN_ORDER
    assert (tmp_path / "log").read_text() == "framework\n"


# -- looking


def test_what_git_would_run_is_told_apart(repo: Repo, stand_in: StandIn) -> None:
    folder = hooks_folder(repo)
    assert _states(repo) == ["absent"] * 4
    assert inspect(at(repo)).because == "git lock install has not been run in this repository"
    write_hook(folder / "pre-commit", "exit 0")
    write_hook(folder / "pre-merge-commit", "exit 0", mode=0o644)
    _dangling(folder / "prepare-commit-msg")
    (folder / "post-commit").write_bytes(b"#!/bin/sh\r\n")
    (folder / "post-commit").chmod(0o755)
    assert _states(repo) == ["other", "not-executable", "broken", "broken"]
    assert inspect(at(repo)).because == (
        "pre-commit is another program's, pre-merge-commit is not executable, "
        "prepare-commit-msg can't be run, pre-push is missing"
    )


def test_looking_changes_nothing(repo: Repo, stand_in: StandIn) -> None:
    before = snapshot(repo.path)
    inspect(at(repo))
    give_back(repo)
    assert snapshot(repo.path) == before


def test_an_unreadable_setting_is_git_s_error(repo: Repo, stand_in: StandIn) -> None:
    config = repo.path / ".git/config"
    config.write_text(config.read_text() + "[core]\n\thooksPath\n")
    with pytest.raises(RepositoryError):
        stand_in.install(repo)
