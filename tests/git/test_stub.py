"""The hook file itself, run by real git: whom it asks, what it makes of the answer, and what it leaves alone."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitlock.git.hooks import HOOKS
from gitlock.templates import read_template
from gitlock.wiring.policies import remember_mode
from tests.git.standin import StandIn, bare_path, hooks_folder, write_hook
from tests.kit.newer import path_without_configured_hooks
from tests.kit.repo import Repo
from tests.kit.result import Result

SHELLS = {"sh": "/bin/sh", "dash": "dash", "bash": "bash --posix", "busybox": "busybox sh", "mksh": "mksh"}

COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]

# What the check leaves behind: the git process that it answered, and the time of the index that it looked at.
JUDGE = """\
dir=${GIT_DIR:-.git}
echo "$GITLOCK_GIT_PID clear" >"$dir/gitlock-judged"
touch -r "${GIT_INDEX_FILE:-$dir/index}" "$dir/gitlock-judged"
"""


def _shebang(words: str) -> str | None:
    program, _, rest = words.partition(" ")
    found = shutil.which(program)
    return f"#!{found} {rest}".rstrip() if found else None


@pytest.fixture(params=SHELLS)
def template(request: pytest.FixtureRequest) -> str:
    """The stub for each shell that is here."""
    shebang = _shebang(SHELLS[request.param])
    if shebang is None:
        pytest.skip(f"{request.param} is not here")
    return read_template("hook.sh").replace("#!/bin/sh", shebang, 1)


@pytest.fixture(autouse=True)
def _without_configured_hooks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """These are about the hooks folder; git's other way has tests of its own."""
    monkeypatch.setenv("PATH", path_without_configured_hooks(tmp_path_factory.getbasetemp() / "older-git"))


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


@pytest.fixture
def managed(repo: Repo, stand_in: StandIn) -> Repo:
    stand_in.install(repo)
    return repo


def _mode(repo: Repo, mode: str) -> None:
    (repo.store / "mode").write_text(mode + "\n")


def _commit(repo: Repo, number: int = 1, **env: str | None) -> Result:
    return repo.commit("more", {"more.txt": f"{number}\n"}, check=False, env=env)


def _without_program(tmp_path: Path, *programs: str) -> str:
    return bare_path(tmp_path / "bare-path", *programs)


# -- whom it asks


def test_an_allowed_commit_asks_in_each_hook_in_git_s_order(template: str, repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo, template=template)
    _commit(repo).ok()
    assert stand_in.calls == [
        "pre-commit", "prepare-commit-msg .git/COMMIT_EDITMSG message", "commit-msg .git/COMMIT_EDITMSG", "post-commit"
    ]  # fmt: skip


def test_a_violation_stops_the_commit(template: str, repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo, template=template)
    stand_in.does("echo no >&2; exit 22", "pre-commit")
    assert _commit(repo).ended(1).err == "no\n"
    assert stand_in.hooks == ["pre-commit"]


@pytest.mark.parametrize("status", [20, 22])
def test_the_hook_ends_with_the_very_status_of_a_refusal(status: int, managed: Repo, stand_in: StandIn) -> None:
    stand_in.does(f"exit {status}")
    managed.run(str(hooks_folder(managed) / "pre-commit")).ended(status)


def test_the_check_learns_which_git_asks(managed: Repo, stand_in: StandIn) -> None:
    _commit(managed).ok()
    pids = {call.split(" pid=")[1] for call in stand_in.raw_calls}
    assert len(pids) == 1 and "none" not in pids


def test_a_linked_worktree_and_a_submodule_are_asked_about_as_well(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    linked = repo.worktree("linked")
    stand_in.forget()
    _commit(linked).ok()
    assert stand_in.hooks == COMMIT
    outer = Repo.new(repo.path.parent, name="outer")
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    inner = Repo(outer.path / "inner")
    stand_in.install(inner)
    stand_in.forget()
    _commit(inner).ok()
    assert stand_in.hooks == COMMIT


def test_a_worktree_of_a_bare_repository_is_asked_about(tmp_path: Path, stand_in: StandIn) -> None:
    bare = Repo.new(tmp_path, bare=True, name="bare")
    stand_in.install(bare)
    linked = bare.worktree("linked")
    stand_in.forget()
    _commit(linked).ok()
    assert stand_in.hooks == COMMIT


@pytest.mark.parametrize(
    "name", ["with space", "it's", 'a "quote"', "$(touch oops)`id`", "new\nline", "back\\slash", "*?"]
)
def test_any_path_is_a_path(name: str, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path / f"{name} stand-in")
    repo = Repo.new(tmp_path, name=name)
    write_hook(hooks_folder(repo) / "pre-commit", f"echo before >>'{tmp_path}/log'")
    stand_in.install(repo)
    _commit(repo).ok()
    linked = Repo(tmp_path / f"{name} linked")
    repo.git("worktree", "add", "--quiet", "-b", "linked", str(linked.path))
    _commit(linked, 2).ok()
    assert stand_in.hooks == COMMIT * 2
    assert (tmp_path / "log").read_text() == "before\n" * 2
    assert not list(tmp_path.rglob("oops"))


def test_a_git_folder_beside_the_worktree_is_found_without_git_s_help(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    _mode(repo, "warn")
    linked = repo.worktree("new\nline", branch="linked")
    stand_in.does("kill -9 $$")
    result = linked.run(str(hooks_folder(repo) / "pre-commit")).ok()
    assert "mode warn" in result.err


def test_an_unmanaged_repository_pays_one_small_question(managed: Repo, stand_in: StandIn) -> None:
    shutil.rmtree(managed.store)
    _commit(managed).ok()
    assert stand_in.calls == []
    _commit(managed, 2).ok()
    managed.commit("map", {".gitlock.toml": ""}).ok()
    stand_in.forget()
    _commit(managed, 3).ok()
    assert stand_in.hooks == COMMIT


# -- short cuts


@pytest.mark.parametrize("words", [("commit", "-mx"), ("commit", "-amx"), ("commit", "-mx", "README.md"),
                                   ("commit", "--amend", "-mx")], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("where", ["main", "linked"])
def test_what_pre_commit_has_cleared_is_not_asked_about_again(
    where: str, words: tuple[str, ...], managed: Repo, stand_in: StandIn
) -> None:
    repo = managed if where == "main" else managed.worktree("linked")
    stand_in.forget()
    stand_in.does(JUDGE, "pre-commit")
    repo.write("README.md", "other\n")
    if words == ("commit", "-mx"):
        repo.git("add", ".")
    repo.git(*words)
    assert stand_in.hooks == ["pre-commit"]


def test_what_pre_merge_commit_has_cleared_is_not_asked_about_again(managed: Repo, stand_in: StandIn) -> None:
    managed.git("branch", "side")
    _commit(managed).ok()
    managed.git("checkout", "--quiet", "side")
    managed.commit("side", {"side.txt": "1\n"}).ok()
    stand_in.forget()
    stand_in.does(JUDGE, "pre-merge-commit")
    managed.git("merge", "--quiet", "-mx", "main")
    assert stand_in.hooks == ["pre-merge-commit", "post-merge"]


def test_a_commit_without_verification_is_asked_about_in_the_second_net(managed: Repo, stand_in: StandIn) -> None:
    stand_in.does(JUDGE, "pre-commit")
    _commit(managed).ok()
    stand_in.forget()
    managed.write("README.md", "other\n")
    managed.git("commit", "--no-verify", "-amx")
    assert stand_in.hooks == ["prepare-commit-msg", "post-commit"]


def test_an_index_that_a_later_hook_changed_is_asked_about_again(template: str, repo: Repo, stand_in: StandIn) -> None:
    if "busybox" in template.splitlines()[0]:
        # As installing finds out where this is the sh of the machine: it compares whole seconds.
        template = template.replace("@FINE@", "no", 1)
    write_hook(hooks_folder(repo) / "pre-commit", "echo late >late.txt; git add late.txt")
    stand_in.install(repo, template=template)
    stand_in.does(JUDGE, "pre-commit")
    _commit(repo).ok()
    assert stand_in.hooks == ["pre-commit", "prepare-commit-msg"]


def test_a_shell_that_compares_whole_seconds_takes_no_short_cut_over_the_index(
    managed: Repo, stand_in: StandIn
) -> None:
    stub = hooks_folder(managed) / "prepare-commit-msg"
    text = stub.read_text()
    stub.write_text(re.sub(r"gl_fine='\w+'", "gl_fine='no'", text))
    stand_in.does(JUDGE, "pre-commit")
    _commit(managed).ok()
    assert stand_in.hooks == ["pre-commit", "prepare-commit-msg"]


@pytest.mark.parametrize("marker", ["", "\n", "1 clear\n", "clear\n", "$PPID clear\n"])
def test_a_marker_that_says_nothing_of_this_git_process_is_no_answer(
    marker: str, managed: Repo, stand_in: StandIn
) -> None:
    (managed.common_dir / "gitlock-judged").write_text(marker)
    _commit(managed).ok()
    assert stand_in.hooks == COMMIT


@pytest.mark.parametrize(
    "note", ["", "\n", "1 pre-commit configured\n", "configured\n", "$PPID pre-commit configured\n"]
)
def test_a_note_that_another_git_process_has_left_is_no_reason_to_go_on(
    note: str, managed: Repo, stand_in: StandIn
) -> None:
    (managed.common_dir / "gitlock-asked").write_text(note)
    _commit(managed).ok()
    assert stand_in.hooks == COMMIT


def test_each_pick_of_one_git_process_is_asked_about(managed: Repo, stand_in: StandIn) -> None:
    managed.git("branch", "side")
    for number in range(3):
        _commit(managed, number).ok()
    managed.git("checkout", "--quiet", "side")
    stand_in.forget()
    managed.git("cherry-pick", "main~2", "main~1", "main")
    assert stand_in.hooks == ["prepare-commit-msg", "post-commit"] * 3


def test_post_commit_beats_when_the_check_says_so(managed: Repo, stand_in: StandIn) -> None:
    stand_in.does(JUDGE.replace("clear", "beat"), "pre-commit")
    _commit(managed).ok()
    assert stand_in.hooks == ["pre-commit", "post-commit"]


# -- no answer


@pytest.mark.parametrize("fault", ["exit 1", "exit 2", "exit 99", "kill -9 $$", "kill -15 $$"])
def test_a_check_that_broke_off_blocks_under_enforce_and_passes_under_warn(
    template: str, fault: str, repo: Repo, stand_in: StandIn
) -> None:
    stand_in.install(repo, template=template)
    stand_in.does(fault)
    refused = _commit(repo).ended(1)
    assert "Try again" in refused.err and "GITLOCK_BYPASS=reason" in refused.err
    assert refused.err.count("git-lock:") == 1
    assert stand_in.hooks == ["pre-commit"]
    _mode(repo, "warn")
    passed = _commit(repo, 2).ok()
    assert passed.err.count("git-lock:") == 1  # what one hook said, the next need not repeat


@pytest.mark.parametrize("mode", ["warn", "off"])
def test_the_mode_that_was_last_known_counts_and_the_configuration_before_it(
    mode: str, managed: Repo, stand_in: StandIn
) -> None:
    stand_in.does("exit 1")
    _mode(managed, mode)
    assert f"mode {mode}" in _commit(managed).ok().err
    managed.git("config", "gitlock.mode", "enforce")
    _commit(managed, 2).ended(1)
    _mode(managed, "enforce")
    managed.git("config", "gitlock.mode", mode)
    _commit(managed, 3).ok()


@pytest.mark.parametrize("word", ["", "\n", "nonsense\n", "ENFORCE\n", "warning\n", "\0\0"])
def test_a_mode_that_says_nothing_is_enforce(word: str, managed: Repo, stand_in: StandIn) -> None:
    (managed.store / "mode").write_text(word)
    stand_in.does("exit 1")
    _commit(managed).ended(1)


def test_off_still_asks_since_the_policy_may_have_changed(managed: Repo, stand_in: StandIn) -> None:
    _mode(managed, "off")
    stand_in.does("exit 22", "pre-commit")
    _commit(managed).ended(1)
    assert stand_in.hooks == ["pre-commit"]


def test_a_bypass_passes_a_check_that_broke_off(managed: Repo, stand_in: StandIn) -> None:
    stand_in.does("exit 1")
    _commit(managed, GITLOCK_BYPASS="").ended(1)
    assert "GITLOCK_BYPASS is set" in _commit(managed, 2, GITLOCK_BYPASS="in a hurry").ok().err


@pytest.mark.parametrize("answer", ["exit 1", "exit 20", "exit 22", "kill -9 $$", "exit 127"])
def test_post_commit_never_blocks(answer: str, managed: Repo, stand_in: StandIn) -> None:
    stand_in.does(answer, "post-commit")
    managed.run(str(hooks_folder(managed) / "post-commit")).ok()


# -- nobody to ask


def test_an_uninstalled_git_lock_bricks_no_repository(
    template: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.install(repo, template=template)
    shutil.rmtree(stand_in.folder)
    path = _without_program(tmp_path)
    passed = _commit(repo, PATH=path).ok()
    assert passed.err.splitlines()[0].startswith("git-lock: could not be started for pre-commit")
    assert passed.err.count("\n") == 1
    repo.git("config", "gitlock.onMissing", "closed")
    assert "on_missing is closed" in _commit(repo, 2, PATH=path).ended(1).err
    _commit(repo, 2, PATH=path, GITLOCK_BYPASS="moving house").ok()
    _mode(repo, "warn")
    _commit(repo, 3, PATH=path).ok()


def test_what_the_map_file_says_about_a_missing_program_outlives_the_program(
    template: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.install(repo, template=template)
    repo.store.mkdir(exist_ok=True)
    remember_mode(str(repo.store), "enforce", "closed")
    shutil.rmtree(stand_in.folder)
    path = _without_program(tmp_path)
    assert "on_missing is closed" in _commit(repo, PATH=path).ended(1).err
    repo.git("config", "gitlock.onMissing", "open")
    _commit(repo, 2, PATH=path).ok()


@pytest.mark.parametrize("left", ["python gone", "python not executable", "python can't start", "start gone",
                                  "start empty"])  # fmt: skip
def test_a_half_uninstalled_one_is_as_none(left: str, managed: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    match left:
        case "python gone":
            stand_in.python.unlink()
        case "python not executable":
            stand_in.python.chmod(0o644)
        case "python can't start":
            stand_in.does("exit 127")
        case "start gone":
            stand_in.start.unlink()
        case _:
            stand_in.start.write_text("")
    stub = str(hooks_folder(managed) / "pre-commit")
    path = _without_program(tmp_path)
    assert "could not be started" in managed.run(stub, env={"PATH": path}).ok().err
    managed.git("config", "gitlock.onMissing", "closed")
    managed.run(stub, env={"PATH": path}).ended(20)


def test_the_program_is_the_second_choice_and_the_path_the_third(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    program = StandIn(tmp_path / "it's a program")
    on_path = StandIn(tmp_path / "on the path")
    (on_path.folder / "git-lock").symlink_to("python")
    path = f"{on_path.folder}{os.pathsep}{_without_program(tmp_path)}"
    stand_in.install(repo, program=str(program.python))
    stand_in.python.unlink()
    _commit(repo, PATH=path).ok()
    assert program.hooks == COMMIT
    assert not on_path.hooks
    program.python.unlink()
    on_path.does("exit 22")
    _commit(repo, 2, PATH=path).ended(1)
    assert on_path.calls == ["pre-commit"]


# -- the hook from before


def test_the_previous_hook_sees_the_same_arguments_input_and_environment(
    template: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    hook = hooks_folder(repo) / "prepare-commit-msg"
    log = tmp_path / "log"
    write_hook(hook, f'{{ printf "<%s>" "$@"; cat; env | sort | grep -v "^_="; echo "parent $PPID"; }} >"{log}"')
    odd = {"mode": "mine", "start": "mine", "hook": "mine", "gl_other": "mine", "GIT_DIR": ".git"}
    arguments = ("a b", "", "*", "$(id)", "new\nline")
    call = ["sh", "-c", '"$@"; exit $?', "sh", str(hook), *arguments]
    repo.run(*call, env=odd, input="one\ntwo\n").ok()
    before = log.read_text()
    stand_in.install(repo, template=template)
    repo.run(*call, env=odd, input="one\ntwo\n").ok()
    assert stand_in.calls == [f"prepare-commit-msg {' '.join(arguments)}"]
    after = log.read_text()
    # A shell sets PWD, OLDPWD and SHLVL in the environment of what it starts; git-lock adds nothing to that.
    unlike = {line.partition("=")[0] for line in set(before.splitlines()) ^ set(after.splitlines())}
    assert {name for name in unlike if not name.startswith("parent")} <= {"PWD", "OLDPWD", "SHLVL"}
    assert after.startswith("<a b><><*><$(id)><new\nline>one\ntwo\n")


@pytest.mark.parametrize("status", [0, 1, 7])
def test_the_previous_hook_s_status_counts(status: int, template: str, repo: Repo, stand_in: StandIn) -> None:
    hook = write_hook(hooks_folder(repo) / "pre-commit", f"exit {status}")
    stand_in.install(repo, template=template)
    repo.run(str(hook)).ended(status)
    _commit(repo).ended(1 if status else 0)


def test_a_refusal_does_not_run_the_previous_hook(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    write_hook(hooks_folder(repo) / "pre-commit", f"touch '{tmp_path}/ran'")
    stand_in.install(repo)
    stand_in.does("exit 22")
    _commit(repo).ended(1)
    assert not (tmp_path / "ran").exists()


def test_the_previous_hook_finds_its_neighbours(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    write_hook(hooks_folder(repo) / "neighbour", f"touch '{tmp_path}/ran'")
    write_hook(hooks_folder(repo) / "post-commit", '"${0%/*}/neighbour"')
    stand_in.install(repo)
    _commit(repo).ok()
    assert (tmp_path / "ran").exists()


def test_a_moved_and_a_copied_repository_chain_their_own_hook(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    write_hook(hooks_folder(repo) / "pre-commit", "pwd >>../log")
    stand_in.install(repo)
    shutil.copytree(repo.path, tmp_path / "copy", symlinks=True)
    repo.path.rename(tmp_path / "moved")
    write_hook(tmp_path / "copy/.git/hooks/pre-commit.before-git-lock", "echo the copy >>../log")
    for name in ("moved", "copy"):
        _commit(Repo(tmp_path / name)).ok()
    assert (tmp_path / "log").read_text() == f"{tmp_path}/moved\nthe copy\n"


def test_a_hook_without_a_first_line_runs_as_git_runs_it(repo: Repo, stand_in: StandIn, tmp_path: Path) -> None:
    hook = hooks_folder(repo) / "pre-commit"
    hook.write_text(f"touch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    stand_in.install(repo)
    _commit(repo).ok()
    assert (tmp_path / "ran").exists()


def test_a_stub_in_the_place_of_the_previous_hook_does_not_run_for_ever(repo: Repo, stand_in: StandIn) -> None:
    stand_in.install(repo)
    hook = hooks_folder(repo) / "pre-commit"
    shutil.copy2(hook, f"{hook}.before-git-lock")
    repo.run(str(hook)).ok()
    assert stand_in.hooks == ["pre-commit"]


# -- what it costs


def _children(repo: Repo, hook: Path, tmp_path: Path, *before: str) -> list[str]:
    """The programs that a run of this hook starts, itself not counted; one that is only forked has no name."""
    trace = tmp_path / f"trace of {hook.name}"
    shutil.rmtree(trace, ignore_errors=True)
    trace.mkdir()
    # One file for each process: in one file, their lines would be torn.
    repo.run(*before, "strace", "-ff", "-o", str(trace / "process"), "-e", "trace=execve", str(hook)).ok()
    programs = [re.findall(r'execve\("([^"]*)".* = 0', file.read_text()) for file in trace.iterdir()]
    assert [str(hook)] in programs
    return [Path(names[-1]).name if names else "" for names in programs if names != [str(hook)]]


@pytest.fixture
def traceable() -> None:
    """Where processes may be traced at all."""
    if shutil.which("strace") is None or subprocess.run(["strace", "true"], capture_output=True).returncode:
        pytest.skip("processes can't be traced here")


def test_an_allowed_commit_starts_one_interpreter_and_what_it_asks_of_git(
    traceable: None, template: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.install(repo, template=template)
    for hook in HOOKS:
        if hook == "post-checkout":
            continue  # without git's arguments, there is nothing to ask
        asked = ["git"] * (3 if hook == "pre-commit" else 2)
        # mksh has no printf of its own; busybox is its own cat.
        small = ("", "cat", "printf", "exe")
        started = [name for name in _children(repo, hooks_folder(repo) / hook, tmp_path) if name not in small]
        assert sorted(started) == [*asked, "python"]
    shutil.rmtree(repo.store)
    assert _children(repo, hooks_folder(repo) / "pre-commit", tmp_path) == ["git"]
    assert _children(repo, hooks_folder(repo) / "post-checkout", tmp_path) == []  # as for files: without a look


@pytest.mark.parametrize("hook", ["prepare-commit-msg", "commit-msg", "post-commit"])
def test_a_cleared_commit_starts_no_process(
    traceable: None, hook: str, template: str, repo: Repo, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.install(repo, template=template)
    # The parent of the hook is strace here, whose number nobody knows before: its parent passes it on to the marker.
    parent = write_hook(
        tmp_path / "parent",
        'echo "$$ clear" >.git/gitlock-judged; touch -r .git/index .git/gitlock-judged; exec "$@"',
    )
    assert _children(repo, hooks_folder(repo) / hook, tmp_path, str(parent)) == []
    assert stand_in.calls == []


def test_the_stub_has_unix_line_endings_and_reads_no_file_of_the_worktree() -> None:
    text = read_template("hook.sh")
    assert "\r" not in text
    assert not re.search(r"(?m)^\s*(\.|source|eval)\s", text)
