"""`git lock doctor`: proves that git asks us, finds what stands in the way, and mends only what is safe."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitlock.git.hooks import HOOKS
from tests.git.standin import bare_path, hooks_folder, snapshot, write_hook
from tests.kit.newer import REASON, newer_git, path_without_configured_hooks
from tests.kit.processes import start
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.schemas import assert_fits


@pytest.fixture(autouse=True)
def _without_configured_hooks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_without_configured_hooks(tmp_path_factory.getbasetemp() / "older-git"))


@pytest.fixture
def managed(repo: Repo) -> Repo:
    repo.install()
    return repo


@pytest.fixture
def new_git(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = newer_git()
    if folder is None:
        pytest.skip(REASON)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def _doctor(repo: Repo, *words: str, **more: Any) -> Result:
    return repo.lock("doctor", *words, agent=None, **more)


def _findings(repo: Repo, about: str | None = None, *words: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.json("doctor", *words, agent=None, **more)["data"]["findings"]
    return [one for one in found if about in (None, one["about"])]


def _one(repo: Repo, about: str, *words: str, **more: Any) -> dict[str, Any]:
    (found,) = _findings(repo, about, *words, **more)
    return found


# -- the rehearsal


def test_all_is_well_and_the_refusal_is_shown(managed: Repo) -> None:
    said = _doctor(managed).ok().out
    assert "pre-commit was rehearsed: it refuses what another holds" in said
    assert "| git-lock: commit refused: 1 path is held by another" in said
    assert {one["state"] for one in _findings(managed)} == {"ok"}


def test_a_rehearsal_leaves_no_trace(managed: Repo) -> None:
    managed.lock("claim", "src/", agent="alice").ok()
    managed.write("staged", "")
    managed.git("add", "staged")
    managed.commit("x", check=False)
    managed.lock("list").ok()
    before = snapshot(managed.path)
    _doctor(managed).ok()
    assert snapshot(managed.path) == before


@pytest.mark.parametrize("setting", ["core.splitIndex", "core.untrackedCache", "feature.manyFiles", "core.fsmonitor"])
def test_no_setting_of_the_index_lets_a_rehearsal_leave_a_trace(setting: str, managed: Repo) -> None:
    managed.git("config", setting, "true")
    managed.git("status")
    before = snapshot(managed.path)
    _doctor(managed)
    assert snapshot(managed.path) == before


def test_no_hook_but_ours_is_run(repo: Repo, tmp_path: Path) -> None:
    for name in ("pre-commit", "prepare-commit-msg", "post-commit", "post-index-change", "reference-transaction"):
        write_hook(hooks_folder(repo) / name, f"echo {name} >>'{tmp_path}/ran'")
    repo.install()
    (tmp_path / "ran").unlink(missing_ok=True)
    assert _one(repo, "rehearsal")["state"] == "ok"
    assert not (tmp_path / "ran").exists()


def test_no_configured_hook_but_ours_is_run(new_git: None, repo: Repo, tmp_path: Path) -> None:
    for name in ("pre-commit", "post-commit", "post-index-change"):
        repo.git("config", f"hook.a =b-{name}.command", f"echo {name} >>'{tmp_path}/ran'")
        repo.git("config", f"hook.a =b-{name}.event", name)
    write_hook(hooks_folder(repo) / "pre-commit", f"echo folder >>'{tmp_path}/ran'")
    repo.install()
    (tmp_path / "ran").unlink(missing_ok=True)
    found = _one(repo, "rehearsal")
    assert (found["state"], (tmp_path / "ran").exists()) == ("ok", False), found


def test_a_hook_manager_s_hook_is_not_run_and_our_part_of_it_is(repo: Repo, tmp_path: Path) -> None:
    line = 'git-lock hook {} "$@" || exit'
    for name in ("pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit"):
        write_hook(repo.path / ".githooks" / name, f"echo other >>'{tmp_path}/ran'\n{line.format(name)}")
    repo.git("config", "core.hooksPath", ".githooks")
    found = _one(repo, "rehearsal")
    assert (found["state"], "our part alone" in found["what"]) == ("ok", True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shape", ["unborn", "subfolder", "linked", "submodule", "sha256"])
def test_every_shape_of_repository_can_be_rehearsed(shape: str, tmp_path: Path, home: Path) -> None:
    if shape == "unborn":
        repo = Repo(tmp_path / "new")
        repo.path.mkdir()
        repo.git("init", "--quiet")
    else:
        repo = Repo.new(tmp_path, options=("--object-format=sha256",) if shape == "sha256" else ())
    if shape == "submodule":
        outer = Repo.new(tmp_path, name="outer")
        outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
        repo = Repo(outer.path / "inner")
    repo.install()
    if shape == "linked":
        repo = repo.worktree("linked")
    if shape == "subfolder":
        (repo.path / "sub").mkdir()
        repo = Repo(repo.path / "sub")
    assert _findings(repo, "rehearsal", "--here")[0]["state"] == "ok"


def test_a_stub_that_can_t_reach_us_is_found_out(managed: Repo, tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom tests.git.standin import at\nfrom tests.kit.repo import Repo\nfrom pathlib import Path\n"
        "from gitlock.git.hooks import install\nfrom gitlock.templates import read_template\n"
        "install(at(Repo(Path(sys.argv[1]))), template=read_template('hook.sh'), interpreter='/nowhere/python',"
        " start='/nowhere/start.py', program=None)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(managed.path)], cwd=root, check=True)
    path = bare_path(tmp_path / "bare-path")
    found = managed.run(sys.executable, "-P", "-m", "gitlock", "doctor", "--json", env={"PATH": path,
                        "PYTHONPATH": str(root)})  # fmt: skip
    rehearsed = [one for one in found.json()["data"]["findings"] if one["about"] == "rehearsal"]
    assert rehearsed[0]["state"] == "bad"
    assert "gave no answer" in rehearsed[0]["what"]


@pytest.mark.parametrize("words", [(), ("--no-verify",)])
@pytest.mark.parametrize("missing", [False, True], ids=["program", "no program"])
def test_nobody_gets_past_a_gate_by_calling_it_a_rehearsal(
    words: tuple[str, ...], missing: bool, managed: Repo, tmp_path: Path
) -> None:
    env: dict[str, str | None] = {"GITLOCK_PROBE": str(tmp_path)}
    if missing:
        shutil.rmtree(managed.store)
        env["PATH"] = bare_path(tmp_path / "bare-path")
    managed.write("a", "")
    managed.git("add", "a")
    head = managed.head
    managed.git("commit", *words, "-mx", env=env, check=False).ended(1)
    assert managed.head == head


@pytest.mark.parametrize("hook", HOOKS)
def test_a_rehearsed_hook_never_says_go_on(hook: str, managed: Repo, tmp_path: Path) -> None:
    managed.lock("hook", hook, env={"GITLOCK_PROBE": str(tmp_path)}).ended(23)
    managed.run(str(hooks_folder(managed) / hook), env={"GITLOCK_PROBE": str(tmp_path)}).ended(23)


def test_a_rehearsal_takes_no_notice_of_who_is_asking(managed: Repo) -> None:
    odd = {"GITLOCK_BYPASS": "why", "GITLOCK_AGENT": "another", "CI": "true", "GITLOCK_STORE": None}
    assert _one(managed, "rehearsal", env=odd)["state"] == "ok"


def test_the_answer_in_json_is_what_its_schema_says(managed: Repo) -> None:
    linked = managed.worktree("linked")
    (linked.path / ".git").write_text("nonsense\n")
    assert_fits("doctor", managed.json("doctor", agent=None))


# -- worktree by worktree


def test_the_worktree_that_is_not_guarded_is_named(managed: Repo) -> None:
    linked = managed.worktree("linked")
    managed.git("config", "extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.hooksPath", "/nowhere")
    found = {one["worktree"]: one for one in _findings(managed, "hooks")}
    assert (found[str(managed.path)]["state"], found[str(linked.path)]["state"]) == ("ok", "bad")
    assert found[str(linked.path)]["next"] == "git config --worktree --unset core.hooksPath"
    assert _one(managed, "hooks-path")["worktree"] == str(linked.path)
    assert [one["worktree"] for one in _findings(managed, "hooks", "--here")] == [str(managed.path)]


def test_lines_are_grouped_by_worktree_and_fit_a_terminal(managed: Repo) -> None:
    managed.worktree("linked")
    lines = _doctor(managed).ok().lines
    assert [line.split("/")[0] for line in lines if line.startswith("worktree ")] == ["worktree "] * 2
    paths = str(managed.path.parent)
    assert not [line for line in lines if len(line) > 80 and paths not in line and not line.startswith("    | ")]


def test_hooks_that_were_never_installed_are_not_installed_by_fix(repo: Repo) -> None:
    before = snapshot(hooks_folder(repo))
    found = _one(repo, "hooks", "--fix")
    assert (found["state"], found["next"]) == ("bad", "git lock install")
    assert snapshot(hooks_folder(repo)) == before


@pytest.mark.parametrize(("name", "states"), [("pre-commit", ["bad"]), ("post-commit", ["ok", "note"])])
def test_fix_puts_a_missing_stub_back(name: str, states: list[str], managed: Repo) -> None:
    (hooks_folder(managed) / name).unlink()
    assert [one["state"] for one in _findings(managed, "hooks")] == states
    assert {one["state"] for one in _findings(managed, "hooks", "--fix")} == {"fixed", "ok"}
    assert _one(managed, "hooks")["state"] == "ok"


def test_fix_completes_a_half_done_install(new_git: None, managed: Repo) -> None:
    managed.git("config", "--unset-all", "include.path")
    (hooks_folder(managed) / "pre-commit.git-lock-new").touch()
    fixed = [one for one in _findings(managed, "hooks", "--fix") if one["state"] == "fixed"]
    assert len(fixed) == 1
    assert managed.git("config", "--get-all", "include.path").lines == ["agentlocks-hooks/git.config"]


def test_a_stub_that_only_an_older_git_would_miss_is_a_note(new_git: None, managed: Repo) -> None:
    (hooks_folder(managed) / "pre-commit").unlink()
    assert [one["state"] for one in _findings(managed, "hooks")] == ["ok", "note"]
    assert [one["state"] for one in _findings(managed, "hooks", "--fix")] == ["fixed", "ok"]


def test_fix_respects_that_hooks_are_not_to_be_installed(managed: Repo) -> None:
    (hooks_folder(managed) / "pre-commit").unlink()
    managed.git("config", "gitlock.installHooks", "false")
    assert [one["state"] for one in _findings(managed, "hooks", "--fix")] == ["bad"]


def test_a_hooks_folder_that_nobody_may_enter_is_found(managed: Repo) -> None:
    hooks_folder(managed).chmod(0o600)
    try:
        assert "nobody may enter" in _one(managed, "hooks-path")["what"]
    finally:
        hooks_folder(managed).chmod(0o755)


def test_two_agents_in_one_worktree_beside_the_framework_are_warned(repo: Repo) -> None:
    script = "# File generated by pre-commit: https://pre-commit.com\nexit 0"
    write_hook(hooks_folder(repo) / "pre-commit", script)
    repo.install()
    repo.lock("claim", "a", agent="alice").ok()
    assert _findings(repo, "framework") == []
    repo.lock("claim", "b", agent="bob").ok()
    assert "alice and bob work in this worktree" in _one(repo, "framework")["what"]


# -- git's own state


def test_a_flipped_core_bare_is_found_from_everywhere_and_mended(managed: Repo) -> None:
    linked = managed.worktree("linked")
    managed.git("config", "core.bare", "true")
    for place in (managed, linked):
        found = _one(place, "core.bare")
        assert (found["state"], found["next"]) == ("bad", "git config core.bare false")
    assert _one(managed, "core.bare", "--fix")["state"] == "fixed"
    assert managed.git("config", "core.bare").out == "false\n"
    managed.git("config", "core.bare", "true")
    assert _one(linked, "core.bare", "--fix")["state"] == "fixed"
    assert managed.git("status", "--short").ok().err == ""


def test_a_bare_repository_is_no_flipped_one(tmp_path: Path) -> None:
    bare = Repo.new(tmp_path, bare=True, name="bare.git")
    assert _findings(bare, "core.bare") == []


@pytest.mark.parametrize("where", ["main", "linked"])
def test_a_left_index_lock_is_reported_with_its_age_and_never_taken_away(where: str, managed: Repo) -> None:
    linked = managed.worktree("linked")
    repo = managed if where == "main" else linked
    lock = Path(repo.git("rev-parse", "--path-format=absolute", "--git-path", "index.lock").out.strip())
    lock.touch()
    assert _findings(managed, "index.lock") == [], "git itself holds one for a moment"
    os.utime(lock, (lock.stat().st_mtime - 7200,) * 2)
    found = _one(managed, "index.lock", "--fix")
    assert (found["state"], found["worktree"], "2h" in found["what"]) == ("bad", str(repo.path), True)
    assert found["next"] == f"rm {lock}"
    with start(["git", "cat-file", "--batch"], cwd=repo.path, stdin=subprocess.PIPE):
        found = _one(managed, "index.lock", "--fix")
    assert (found["state"], "at work" in found["what"], lock.exists()) == ("note", True, True)


def test_a_left_lock_on_the_configuration_is_reported(managed: Repo) -> None:
    lock = managed.path / ".git/config.lock"
    lock.touch()
    os.utime(lock, (lock.stat().st_mtime - 60,) * 2)
    assert _one(managed, "config.lock")["state"] == "bad"


def test_a_worktree_that_is_gone_is_named_with_what_is_held_from_there(managed: Repo) -> None:
    linked = managed.worktree("linked")
    linked.lock("claim", "src/", agent="alice").ok()
    shutil.rmtree(linked.path)
    assert str(linked.path) in _one(managed, "worktree")["what"]
    found = _one(managed, "leases")
    assert "alice holds 'src/'" in found["what"] and str(linked.path) in found["what"]


# -- the store, the map, the machine


def test_a_store_that_can_t_be_read_is_20_and_is_mended_with_its_evidence_kept(managed: Repo) -> None:
    managed.lock("claim", "a", agent="alice").ok()
    (managed.store / "state.json").write_text("{")
    _doctor(managed).ended(20)
    assert _one(managed, "store", "--fix")["state"] == "fixed"
    _doctor(managed).ok()


def test_a_store_of_a_later_version_is_left_as_it_is(managed: Repo) -> None:
    managed.lock("claim", "a", agent="alice").ok()
    state = managed.store / "state.json"
    state.write_text(state.read_text().replace('"gitlock/1"', '"gitlock/999"', 1))
    before = state.read_bytes()
    _doctor(managed, "--fix").ended(20)
    assert state.read_bytes() == before


def test_patterns_that_match_nothing_are_named_with_their_line(managed: Repo) -> None:
    managed.write(".gitlock.toml", 'version = 1\n[policy]\nopen = ["*.log", "README.md"]\n[[key]]\n'
                  'name = "schema:main"\npaths = ["db/**", "README.md", "!db/x"]\n')  # fmt: skip
    found = [one["what"] for one in _findings(managed, "map")]
    assert found == [
        ".gitlock.toml:4: 'db/**' (key schema:main) matches no tracked file",
        ".gitlock.toml:3: '*.log' (open) matches no tracked file",
    ]


def test_a_broken_map_file_is_bad(managed: Repo) -> None:
    managed.write(".gitlock.toml", "version = 1\nnonsense = 2\n")
    found = _one(managed, "policy")
    assert (found["state"], ".gitlock.toml:2" in found["what"]) == ("bad", True)


def test_many_patterns_that_match_anywhere_are_said(managed: Repo) -> None:
    managed.lock("claim", *(f"**/x{number}.py" for number in range(100)), agent="alice").ok()
    assert _one(managed, "leases")["what"].startswith("100 held patterns may match in any folder")


def test_another_program_of_our_name_is_bad_and_an_alias_that_git_passes_over_is_a_note(
    managed: Repo, tmp_path: Path
) -> None:
    managed.git("config", "alias.lock", "!echo mine")
    assert "is never used" in _findings(managed, "program")[0]["what"]
    other = tmp_path / "other"
    other.mkdir()
    write_hook(other / "git-lock", "echo other")
    program = next(one for one in os.environ["PATH"].split(os.pathsep))
    found = _findings(managed, "program", env={"PATH": f"{other}{os.pathsep}{program}{os.pathsep}{os.environ['PATH']}"})
    assert found[0]["state"] == "bad" and "another program" in found[0]["what"]


def test_an_alias_in_place_of_the_program_is_bad(managed: Repo, tmp_path: Path) -> None:
    managed.git("config", "alias.lock", "!echo mine")
    found = _findings(managed, "program", env={"PATH": bare_path(tmp_path / "bare-path")})
    assert found[0]["state"] == "bad" and "your alias" in found[0]["what"]


@pytest.mark.parametrize("name", [".agentmutex", ".agent-mail", ".agent-locks", ".git/lfs/cache/locks"])
def test_stores_of_other_tools_are_reported_and_left_alone(name: str, managed: Repo) -> None:
    (managed.path / name).mkdir(parents=True)
    found = _one(managed, "siblings", "--fix")
    assert (found["state"], name in found["what"]) == ("note", True)
    assert (managed.path / name).is_dir()
