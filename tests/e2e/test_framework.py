"""The pre-commit framework runs our hooks: installed from this checkout, in the main tree and in a linked one."""

from pathlib import Path

import pytest
import yaml

from tests.kit.framework import OTHERS, STAGES, Framework, built
from tests.kit.managers import fetched
from tests.kit.repo import Repo
from tests.kit.result import Result

FILES: dict[str, str | bytes] = {"held.py": "1\n2\n3\n", "gone.py": "x\n", "mine.py": "1\n2\n3\n", "free.py": "x\n"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the whole test run, of all its workers."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


@pytest.fixture(scope="module")
def framework(shared: Path) -> Framework:
    return built(shared)


def guarded(folder: Path, framework: Framework, place: str) -> Repo:
    """alice holds two files, bob one; the framework is in, with all three hooks."""
    repo = Repo.new(folder, files=FILES)
    there = repo if place == "the main tree" else repo.worktree("linked")
    framework.install(there, *STAGES)
    there.git("add", ".pre-commit-config.yaml")
    there.git("commit", "--quiet", "--no-verify", "-m", "framework")
    repo.lock("claim", "held.py", "gone.py", "-m", "mine for now").ok()
    repo.lock("claim", "mine.py", ".pre-commit-config.yaml", agent="bob").ok()
    return there


@pytest.fixture(params=["the main tree", "a linked worktree"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, framework: Framework) -> Repo:
    return guarded(tmp_path, framework, request.param)


@pytest.fixture
def main(tmp_path: Path, framework: Framework) -> Repo:
    return guarded(tmp_path, framework, "the main tree")


def commit(tree: Repo, framework: Framework, *words: str) -> Result:
    """bob commits."""
    return tree.git("commit", "-m", "x", *words, agent="bob", check=False, env=framework.env)


def test_a_commit_of_what_is_mine_passes(tree: Repo, framework: Framework) -> None:
    tree.write("mine.py", "other\n")
    commit(tree, framework, "-a").ok()


def test_a_held_path_is_refused(tree: Repo, framework: Framework) -> None:
    tree.write("held.py", "other\n")
    before = tree.head
    refused = commit(tree, framework, "-a").ended(1)
    assert "held.py" in refused.err + refused.out
    assert "alice" in refused.err + refused.out
    assert tree.head == before


def test_a_commit_that_only_deletes_is_refused(tree: Repo, framework: Framework) -> None:
    tree.git("rm", "--quiet", "gone.py")
    refused = commit(tree, framework).ended(1)
    assert "gone.py" in refused.err + refused.out


def test_only_what_is_committed_counts(main: Repo, framework: Framework) -> None:
    main.write("held.py", "other\n")
    main.write("mine.py", "other\n")
    main.git("add", "held.py")
    commit(main, framework, "mine.py").ok()


def test_no_verify_does_not_get_past_the_second_net(main: Repo, framework: Framework) -> None:
    main.write("held.py", "other\n")
    commit(main, framework, "-a", "--no-verify").ended(1)


def merge(tree: Repo, framework: Framework, theirs: str) -> Result:
    """A branch of alice's changes a file that she holds; bob merges it, settling a conflict so."""
    tree.git("checkout", "--quiet", "-b", "hers")
    tree.write("held.py", "1\n2\nhers\n")
    tree.git("commit", "--quiet", "-am", "hers", agent="alice", env=framework.env)
    tree.git("checkout", "--quiet", "-b", "his", "HEAD~1")
    tree.write("mine.py", "his\n")
    tree.git("commit", "--quiet", "-am", "his", agent="bob", env=framework.env)
    tree.git("merge", "--no-commit", "--quiet", "hers", agent="bob", env=framework.env)
    if theirs != "1\n2\nhers\n":
        tree.write("held.py", theirs)
        tree.git("add", "held.py")
    return commit(tree, framework)


def test_what_a_merge_brings_is_nobody_s_change(main: Repo, framework: Framework) -> None:
    merge(main, framework, "1\n2\nhers\n").ok()


def test_what_somebody_changes_in_a_merge_is(tree: Repo, framework: Framework) -> None:
    refused = merge(tree, framework, "1\n2\nhers and his\n").ended(1)
    assert "held.py" in refused.err + refused.out


def test_a_clean_merge_runs_the_merge_hook(main: Repo, framework: Framework) -> None:
    main.git("checkout", "--quiet", "-b", "hers")
    main.write("held.py", "1\n2\nhers\n")
    main.git("commit", "--quiet", "-am", "hers", agent="alice", env=framework.env)
    main.git("checkout", "--quiet", "-b", "his", "HEAD~1")
    main.write("mine.py", "his\n")
    main.git("commit", "--quiet", "-am", "his", agent="bob", env=framework.env)
    merged = main.git("merge", "--no-edit", "hers", agent="bob", env=framework.env)
    assert "git-lock (merge)" in merged.err + merged.out


def test_beside_our_own_hooks_it_is_asked_once(tmp_path: Path, framework: Framework) -> None:
    repo = Repo.new(tmp_path, files=FILES)
    framework.install(repo, "git-lock")
    repo.install()
    repo.lock("claim", "held.py").ok()
    repo.lock("claim", "mine.py", ".pre-commit-config.yaml", agent="bob").ok()
    repo.write("held.py", "other\n")
    repo.git("add", "held.py", ".pre-commit-config.yaml")
    home = {"PRE_COMMIT_HOME": str(framework.home)}
    refused = repo.git("commit", "-m", "x", agent="bob", check=False, env=home).ended(1)
    assert (refused.err + refused.out).count("refused") == 1
    refusals = [event for event in repo.json("history", "--all")["data"]["events"] if event["verb"] == "refuse"]
    assert len(refusals) == 1


def test_prek_runs_them_too(tmp_path: Path, framework: Framework, shared: Path) -> None:
    prek = fetched(shared).program("prek")
    repo = Repo.new(tmp_path, files=FILES)
    framework.install(repo, "git-lock", program=prek)
    repo.lock("claim", "held.py").ok()
    repo.lock("claim", "mine.py", ".pre-commit-config.yaml", agent="bob").ok()
    repo.git("add", ".pre-commit-config.yaml")
    commit(repo, framework).ok()
    repo.write("held.py", "other\n")
    refused = commit(repo, framework, "-a").ended(1)
    assert "held.py" in refused.err + refused.out


@pytest.mark.parametrize("native", [False, True], ids=["alone", "beside our own hooks"])
def test_a_switch_and_a_merge_are_told_of_once(native: bool, tmp_path: Path, framework: Framework) -> None:
    repo = Repo.new(tmp_path, files=FILES)
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("hers", {"held.py": "hers\n"})
    repo.git("checkout", "--quiet", "main")
    framework.install(repo, "git-lock-checkout", "git-lock-post-merge", "git-lock-post-rewrite")
    if native:
        repo.install()
    repo.lock("claim", "held.py").ok()
    env = {**framework.env, "PRE_COMMIT_ALLOW_NO_CONFIG": "1"}
    switched = repo.git("checkout", "topic", agent="bob", env=env)
    assert (switched.out + switched.err).count("'topic' has changed a path that another holds") == 1
    repo.git("checkout", "--quiet", "main", agent="alice", env=env)
    merged = repo.git("merge", "--quiet", "topic", agent="bob", env=env)
    assert "Traceback" not in merged.out + merged.err and repo.read("held.py") == "hers\n"


def test_the_framework_s_message_hook_adds_receipts(tmp_path: Path, framework: Framework) -> None:
    repo = Repo.new(tmp_path, files=FILES)
    framework.install(repo, "git-lock-msg")
    repo.lock("claim", "mine.py", ".pre-commit-config.yaml", agent="bob").ok()
    repo.write("mine.py", "other\n")
    repo.git("add", "mine.py", ".pre-commit-config.yaml")
    commit(repo, framework).ok()
    assert repo.git("log", "-1", "--format=%(trailers:key=Lock-Agent,valueonly)").out.strip() == "bob"


def test_every_hook_that_is_offered_names_a_hook_that_there_is(framework: Framework) -> None:
    offered = yaml.safe_load((framework.source / ".pre-commit-hooks.yaml").read_text())
    every = {**STAGES, **OTHERS}
    assert {hook["id"]: hook["stages"] for hook in offered} == {name: [stage] for name, stage in every.items()}
    assert [hook["entry"] for hook in offered] == [f"git-lock hook {stage} --framework" for stage in every.values()]
    assert all(hook["always_run"] and hook["require_serial"] for hook in offered)
    with_file = {hook["id"] for hook in offered if hook.get("pass_filenames", True)}
    assert with_file == {"git-lock-prepare-msg", "git-lock-msg"}
