"""A spawn makes everything or nothing, in whatever kind of repository it is asked for."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

FILES = {"src/a.py": "a\n", "src/deep/b.py": "b\n", "docs/x.md": "x\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, FILES)


def tree_of(repo: Repo, agent: str) -> Repo:
    return Repo(repo.path.parent / f"{repo.path.name}.agents" / agent)


def branches(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").lines


def records(repo: Repo) -> int:
    return len(list((repo.store / "worktrees").glob("*.json")))


def nothing_made(repo: Repo) -> bool:
    listed = repo.git("worktree", "list").lines
    return len(listed) == 1 and branches(repo) == ["main"] and not records(repo)


# -- what is made


def test_branch_worktree_identity_and_lease_appear_together(repo: Repo) -> None:
    answer = repo.json("spawn", "fix", "--claim", "src/**", "-m", "why not")
    assert_fits("spawn", answer)
    there, lease = answer["data"]["worktree"], answer["data"]["lease"]
    assert Repo(Path(there["path"])).git("status", "--porcelain=v1", "--branch").out == "## agent/fix\n"
    assert (lease["agent"], lease["holder"]["worktree"], lease["holder"]["branch"], lease["holder"]["pid"]) == (
        "fix", there["path"], "agent/fix", None,
    )  # fmt: skip


def test_the_shared_configuration_is_never_written(repo: Repo) -> None:
    for name, value in (("branch.autoSetupMerge", "always"), ("worktree.useRelativePaths", "true")):
        repo.git("config", name, value)
    digest = hashlib.sha256((repo.path / ".git/config").read_bytes()).hexdigest()
    repo.lock("spawn", "a", "--base", "main").ok()
    assert hashlib.sha256((repo.path / ".git/config").read_bytes()).hexdigest() == digest


def test_a_base_that_is_behind_is_said_to_be(repo: Repo) -> None:
    clone = repo.clone()
    repo.commit("one more", {"new": "1\n"})
    clone.git("fetch", "--quiet")
    there = clone.json("spawn", "a")["data"]["worktree"]
    assert (there["base_upstream"], there["base_behind"]) == ("origin/main", 1)


def test_a_new_branch_tracks_nothing(repo: Repo) -> None:
    clone = repo.clone()
    clone.lock("spawn", "a", "--base", "origin/main").ok()
    assert tree_of(clone, "a").git("rev-parse", "@{upstream}", check=False).code != 0


def test_a_worktree_stays_locked_against_removal(repo: Repo) -> None:
    repo.lock("spawn", "a").ok()
    there = str(tree_of(repo, "a").path)
    assert "git lock retire a" in repo.git("worktree", "remove", "--force", there, check=False).err


@pytest.mark.parametrize(
    "template", ['path = "../trees/{repo}-{agent}"\nbranch = "wip/{agent}"'], ids=["both"]
)
def test_the_map_file_says_where_and_how_it_is_called(repo: Repo, template: str) -> None:
    repo.commit("map", {".gitlock.toml": f"version = 1\n[spawn]\n{template}\n"})
    there = repo.json("spawn", "a")["data"]["worktree"]
    assert (Path(there["path"]), there["branch"]) == (repo.path.parent / "trees/repo-a", "wip/a")


def test_a_template_that_is_the_same_for_all_is_an_error_with_its_line(repo: Repo) -> None:
    repo.commit("map", {".gitlock.toml": 'version = 1\n[spawn]\npath = "../one"\n'})
    assert ".gitlock.toml:3:" in repo.lock("spawn", "a").ended(2).err


# -- where it is started from


@pytest.mark.parametrize("cwd", [".", "src/deep"])
def test_it_is_a_sibling_of_the_main_worktree_wherever_it_is_started(repo: Repo, cwd: str) -> None:
    linked = repo.worktree("linked")
    assert linked.json("spawn", "a", cwd=cwd)["data"]["worktree"]["path"] == str(tree_of(repo, "a").path)


def test_a_bare_repository_gets_worktrees_beside_it(tmp_path: Path) -> None:
    bare = Repo.new(tmp_path, FILES, bare=True, name="b.git")
    there = bare.json("spawn", "a", "--claim", "src/**")["data"]["worktree"]
    assert there["path"] == str(tmp_path / "b.agents/a") and (tmp_path / "b.agents/a/src/a.py").is_file()


@pytest.mark.parametrize("where", ["p", "p/main"])
def test_a_hidden_bare_repository_gets_them_beside_its_folder(repo: Repo, where: str) -> None:
    home = repo.path.parent
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(home / "p/.bare"))
    (home / "p/.git").write_text("gitdir: ./.bare\n")
    Repo(home / "p").git("worktree", "add", "--quiet", "main")
    assert Repo(home / where).json("spawn", "a")["data"]["worktree"]["path"] == str(home / "p.agents/a")


def test_submodules_are_said_to_be_empty(repo: Repo) -> None:
    outer = Repo.new(repo.path.parent, name="outer")
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    outer.commit("inner")
    assert "submodules are not checked out" in outer.lock("spawn", "a").ok().err


def test_hook_variables_of_another_worktree_do_not_leak_in(repo: Repo) -> None:
    linked = repo.worktree("linked")
    inherited = {"GIT_DIR": str(repo.path / ".git/worktrees/linked"), "GIT_INDEX_FILE": "/nowhere", "GIT_PREFIX": ""}
    linked.lock("spawn", "a", env=inherited).ok()
    assert not tree_of(repo, "a").git("status", "--porcelain").out


@pytest.mark.parametrize("name", ["with space", "ümläut", "quo'te"])
def test_odd_names_of_folders(tmp_path: Path, name: str) -> None:
    repo = Repo.new(tmp_path, FILES, name=name)
    repo.lock("spawn", "a").ok()
    assert not tree_of(repo, "a").git("status", "--porcelain").out


def test_an_agent_below_another_lies_beside_it(repo: Repo) -> None:
    repo.lock("spawn", "lead").ok()
    repo.lock("spawn", "lead/tests", "--branch", "lead-tests").ok()
    assert repo.json("whoami", cwd=tree_of(repo, "lead~tests").path, agent=None)["data"]["agent"]["id"] == "lead/tests"


# -- what is refused, and then nothing is made


@pytest.mark.parametrize("name", ["a b", "x.lock", "../up", "-x", "a//b"])
def test_a_name_that_no_agent_can_have_is_a_usage_error(repo: Repo, name: str) -> None:
    repo.lock("spawn", f"--path={repo.path.parent / 'p'}", "--", name).ended(2)
    assert nothing_made(repo)


@pytest.mark.parametrize(("there", "wanted"), [("agent", "x"), ("agent/x/y", "x")])
def test_a_branch_that_git_cannot_make_beside_another_names_that_one(repo: Repo, there: str, wanted: str) -> None:
    repo.git("branch", there)
    assert f"'{there}'" in repo.lock("spawn", wanted).ended(17).err
    assert branches(repo) == sorted(["main", there])


def test_names_that_differ_in_case_alone_clash_where_that_is_no_difference(repo: Repo) -> None:
    repo.git("config", "core.ignorecase", "true")
    repo.lock("spawn", "Foo").ok()
    assert "'Foo'" in repo.lock("spawn", "foo").ended(17).err


def test_a_branch_in_use_is_named_with_its_worktree(repo: Repo) -> None:
    assert f"'{repo.path}'" in repo.lock("spawn", "a", "--branch", "main").ended(17).err
    assert nothing_made(repo)


def test_an_agent_has_one_worktree(repo: Repo) -> None:
    repo.lock("spawn", "a").ok()
    assert str(tree_of(repo, "a").path) in repo.lock("spawn", "a").ended(17).err


def test_what_lies_at_the_place_is_never_touched(repo: Repo) -> None:
    taken = repo.path.parent / "taken"
    taken.mkdir()
    (taken / "file").write_text("mine")
    repo.lock("spawn", "a", "--path", str(taken)).ended(17)
    assert nothing_made(repo) and (taken / "file").read_text() == "mine"


def test_without_a_commit_there_is_nothing_to_begin_from(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "unborn")
    repo.path.mkdir()
    repo.git("init", "--quiet")
    assert "no commit yet" in repo.lock("spawn", "a").ended(17).err


def test_a_place_inside_needs_the_common_exclude(repo: Repo) -> None:
    refused = repo.lock("spawn", "a", "--path", ".agents/a").ended(17)
    (command,) = [line.removeprefix("hint: ") for line in refused.err.splitlines() if line.startswith("hint: ")]
    assert nothing_made(repo)
    repo.run("sh", "-c", command).ok()
    repo.lock("spawn", "a", "--path", ".agents/a").ok()
    repo.git("add", "--all")
    assert "160000" not in repo.git("ls-files", "--stage").out


def test_a_refused_claim_makes_nothing_and_lists_every_conflict(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    repo.lock("claim", "docs/**", agent="carol").ok()
    answer = repo.json("spawn", "a", "--claim", "src/**", "--claim", "docs/x.md")
    assert_fits("spawn", answer)
    assert (answer["code"], len(answer["error"]["conflicts"])) == (10, 2)
    assert nothing_made(repo)


def test_under_warn_the_overlap_is_told_and_the_claim_announced(repo: Repo) -> None:
    repo.git("config", "gitlock.mode", "warn")
    repo.lock("claim", "src/a.py", agent="bob").ok()
    answer = repo.json("spawn", "a", "--claim", "src/**")
    assert (answer["code"], answer["data"]["lease"]["mode"]) == (0, "intent")
    assert [one["lease"]["agent"] for one in answer["data"]["overlaps"]] == ["bob"]


def test_claimed_files_that_are_changed_elsewhere_are_named(repo: Repo) -> None:
    repo.write("src/a.py", "changed\n")
    assert "'src/a.py' has changes" in repo.lock("spawn", "a", "--claim", "src/**").ok().err


# -- what is somebody else's


def hook(repo: Repo, text: str) -> None:
    path = repo.write(".git/hooks/post-checkout", f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_failing_post_checkout_is_a_warning(repo: Repo) -> None:
    hook(repo, "echo oh no >&2; exit 3")
    assert "oh no" in repo.lock("spawn", "a").ok().err
    assert not tree_of(repo, "a").git("status", "--porcelain").out


def test_post_checkout_is_told_that_the_worktree_is_new(repo: Repo) -> None:
    hook(repo, 'echo "$@" >"$PWD/../told"')
    repo.lock("spawn", "a").ok()
    assert (tree_of(repo, "a").path.parent / "told").read_text() == f"{'0' * 40} {repo.head} 1\n"


def test_a_hanging_post_checkout_is_stopped_and_nobody_else_waits(repo: Repo) -> None:
    hook(repo, "exec sleep 60")
    with repo.start("spawn", "a", "--timeout", "55s"):
        until((tree_of(repo, "a").path / "docs/x.md").exists, "the first one is in its hook")
        assert "was stopped" in repo.lock("spawn", "b", "--timeout", "1s").ok().err


def test_a_failing_filter_leaves_the_files_as_they_are_stored(repo: Repo) -> None:
    repo.commit("attributes", {".gitattributes": "*.md filter=lfs\n"})
    repo.git("config", "filter.lfs.process", "no-such-program-of-anybody")
    repo.git("config", "filter.lfs.required", "true")
    assert "filter" in repo.lock("spawn", "a").ok().err
    assert tree_of(repo, "a").read("docs/x.md") == "x\n"


def test_a_checkout_that_takes_too_long_is_taken_back(repo: Repo) -> None:
    repo.commit("attributes", {".gitattributes": "*.md filter=slow\n"})
    repo.git("config", "filter.slow.smudge", "sleep 60")
    repo.lock("spawn", "a", "--claim", "src/**", "--timeout", "1s").ended(1)
    assert nothing_made(repo) and not repo.json("list")["data"]["leases"]
    assert not tree_of(repo, "a").path.parent.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_everything_back(repo: Repo, number: signal.Signals) -> None:
    hook(repo, "exec sleep 60")
    with repo.start("spawn", "a", "--claim", "src/**") as running:
        until((tree_of(repo, "a").path / "docs/x.md").exists, "it is in the hook")
        assert running.signal(number).wait().code == 128 + number
    assert nothing_made(repo) and not repo.json("list")["data"]["leases"]


def test_a_sparse_worktree_hands_its_patterns_on(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--cone", "docs")
    repo.lock("spawn", "a").ok()
    assert not (tree_of(repo, "a").path / "src/deep/b.py").exists()
    assert (tree_of(repo, "a").path / "docs/x.md").exists()


def test_a_partial_clone_fetches_what_it_checks_out(repo: Repo) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    there = Repo(repo.path.parent / "partial")
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", str(there.path))
    there.lock("spawn", "a").ok()
    assert tree_of(there, "a").read("src/a.py") == "a\n"


def test_a_place_that_cannot_be_made_leaves_nothing(repo: Repo) -> None:
    place = repo.path.parent / "closed"
    place.mkdir(mode=0o500)
    if os.geteuid() != 0:
        repo.lock("spawn", "a", "--path", str(place / "a")).ended(1)
        assert nothing_made(repo)
    else:
        (repo.path.parent / "file").write_text("")
        assert repo.lock("spawn", "a", "--path", str(repo.path.parent / "file/a")).code not in (0, 20)
        assert nothing_made(repo)


def test_who_is_refused_is_told_to_wait_and_not_to_claim_for_himself(repo: Repo) -> None:
    repo.lock("claim", "src/a.py", agent="bob").ok()
    refused = repo.lock("spawn", "alice", "--claim", "src/a.py").ended(10)
    assert "git lock wait src/a.py" in refused.err and "claim --wait" not in refused.err
