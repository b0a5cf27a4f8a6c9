"""After a checkout, a merge, a rewrite: who is told what, what is recorded, and that nothing is ever stopped by it."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.git.standin import write_hook
from tests.kit.gate import FREE, HELD, OWN, guarded
from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES

WARNING = "git-lock: warning:"
ALLOW = '[policy]\nunclaimed = "allow"'


def _topic(repo: Repo, files: dict[str, str | bytes], name: str = "topic") -> None:
    """A branch with a commit of alice's, made beside; HEAD stays where it is."""
    here = repo.git("symbolic-ref", "--short", "HEAD").out.strip()
    repo.git("checkout", "--quiet", "-b", name, agent="alice")
    repo.commit(f"on {name}", files, agent="alice")
    repo.git("checkout", "--quiet", here, agent="alice")


def _switch(repo: Repo, *words: str, agent: str | None = "bob") -> Result:
    return repo.git("checkout", "--quiet", *words, agent=agent)


def _sessions(repo: Repo) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted((repo.store / "sessions").glob("*.json"))]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """alice holds src/auth/*, and has changed two of its files on a branch."""
    repo = guarded(tmp_path, policy=ALLOW).here
    _topic(repo, {HELD: "ONE\ntwo\nthree\n", "src/auth/token.py": "new\n", FREE: "new\n"})
    return repo


# -- a switch


@pytest.mark.parametrize("shape", ["the main worktree", "a linked worktree", "a submodule", "--git-dir --work-tree"])
def test_a_switch_to_a_branch_that_has_changed_what_another_holds_says_whose_it_is(shape: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path, SHAPES[shape], policy=ALLOW).here
    _topic(repo, {HELD: "ONE\ntwo\nthree\n", "src/auth/token.py": "new\n", FREE: "new\n"})
    said = _switch(repo, "topic").err
    assert f"{WARNING} 'topic' has changed 2 paths that another holds (you are bob)" in said or (
        f"{WARNING} this switch brought in 2 paths that another holds (you are bob)" in said
    )
    assert f"'{HELD}' is held by alice through 'src/auth/*'" in said
    assert '"new login"' in said and "until" in said
    assert f"hint: to see whether it is free again: git lock who {HELD}" in said
    assert FREE not in said


def test_what_this_branch_has_changed_is_told_apart_from_what_the_switch_brought_in(repo: Repo) -> None:
    there = _switch(repo, "topic").err
    assert "'topic' has changed 2 paths" in there and "brought in" not in there
    back = _switch(repo, "main").err
    assert "this switch brought in 2 paths" in back and "has changed" not in back


def test_who_is_elsewhere_on_the_branch_is_told_as_well_when_nothing_was_brought_in(repo: Repo) -> None:
    _switch(repo, "topic")
    assert "'more' has changed 2 paths" in _switch(repo, "-b", "more").err


def test_a_switch_that_touches_nothing_of_anybody_s_is_silent(repo: Repo) -> None:
    _topic(repo, {FREE: "other\n", "new.txt": "other\n"}, "free")
    assert _switch(repo, "free").err == "" and _switch(repo, "-b", "new").err == ""


def test_one_s_own_paths_are_no_news(repo: Repo) -> None:
    assert _switch(repo, "topic", agent="alice").err == ""
    assert _switch(repo, "main", agent="alice/helper").err == ""


def test_what_is_only_shared_or_announced_is_no_news(repo: Repo) -> None:
    repo.lock("release", "--all").ok()
    repo.lock("claim", HELD, "--shared").ok()
    repo.lock("claim", FREE, "--intent").ok()
    assert _switch(repo, "topic").err == ""


def test_many_paths_are_counted_and_a_few_are_named(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy=ALLOW).here
    _topic(repo, {f"src/auth/{number}.py": "x" for number in range(12)})
    said = _switch(repo, "topic").err
    assert "has changed 12 paths" in said and said.count("is held by") == 5 and "... and 7 more" in said


def test_the_remote_s_default_branch_is_what_a_branch_is_compared_with(repo: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "--quiet", "topic", agent="alice")
    clone = repo.clone()  # topic is the default branch of the remote
    clone.install()
    clone.lock("claim", "src/auth/*").ok()
    clone.git("checkout", "--quiet", "--detach", agent="bob")
    assert clone.git("checkout", "--quiet", "topic", agent="bob").err == ""
    clone.git("remote", "set-head", "origin", "main")
    assert "'topic' has changed 2 paths" in _switch(clone, "-B", "topic").err


@pytest.mark.parametrize("words", [("checkout", "--", FREE), ("restore", FREE), ("checkout", "HEAD", "--", HELD)])
def test_a_checkout_of_files_does_nothing(words: tuple[str, ...], repo: Repo) -> None:
    repo.write(HELD, "mine\n")
    assert repo.git(*words, agent="carol").err in ("", "Updated 1 path from the index\n")
    assert "carol" not in {one["agent"] for one in _sessions(repo)}


def test_a_worktree_that_was_just_added_is_not_told_what_is_in_it(repo: Repo, tmp_path: Path) -> None:
    before = len(_sessions(repo))
    done = repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "topic", agent="bob")
    assert done.err == "" and len(_sessions(repo)) == before
    assert "'more' has changed 2 paths" in _switch(Repo(tmp_path / "linked"), "-b", "more").err


def test_a_clone_whose_template_has_our_hook_is_silent(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "template/hooks").mkdir(parents=True)
    shutil.copy(repo.common_dir / "hooks/post-checkout", tmp_path / "template/hooks/post-checkout")
    done = repo.git("clone", "--quiet", f"--template={tmp_path}/template", str(repo.path), str(tmp_path / "clone"))
    assert done.err == "" and (tmp_path / "clone/.git/hooks/post-checkout").exists()


def test_a_switch_to_a_commit_on_no_branch_says_what_it_brought_in(repo: Repo) -> None:
    result = _switch(repo, "--detach", "topic")
    assert f"{WARNING} this switch brought in" in result.err and f"'{HELD}' is held by alice" in result.err


# -- while git goes from commit to commit


@pytest.mark.parametrize("how", [(), ("--apply",)])
def test_a_rebase_speaks_of_its_own_commits_only(how: tuple[str, ...], repo: Repo) -> None:
    _switch(repo, "-b", "mine")
    repo.commit("mine", {OWN: "mine\n"}, agent="bob")
    done = repo.git("rebase", "--quiet", *how, "topic", agent="bob")
    assert WARNING not in done.err and done.code == 0


def test_after_a_rebase_the_session_is_on_its_branch_again(repo: Repo) -> None:
    _switch(repo, "-b", "mine")
    repo.commit("mine", {OWN: "mine\n"}, agent="bob")
    repo.git("rebase", "--quiet", "topic", agent="bob")
    assert [one["holder"]["branch"] for one in _sessions(repo) if one["agent"] == "bob"] == ["mine"]


def test_a_bisection_is_silent(repo: Repo) -> None:
    _switch(repo, "topic")
    for number in range(3):
        repo.commit("x", {OWN: f"{number}\n"}, agent="bob")
    repo.git("bisect", "start", "HEAD", "main", agent="bob")
    found = repo.git("bisect", "run", "true", agent="bob")
    reset = repo.git("bisect", "reset", agent="bob")
    assert "git-lock" not in found.err + reset.err


def test_a_cherry_pick_of_several_is_silent_but_for_the_gate(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "topic", agent="alice")
    for number in range(2):
        repo.commit("x", {FREE: f"{number}\n"}, agent="alice")
    repo.git("checkout", "--quiet", "main", agent="alice")
    assert repo.git("cherry-pick", "--strategy-option=theirs", "topic~1", "topic", agent="bob").err == ""


# -- a merge


def test_a_merge_that_brings_in_what_others_hold_is_silent(repo: Repo) -> None:
    repo.commit("mine", {OWN: "mine\n"}, agent="bob")
    assert repo.git("merge", "--quiet", "--no-edit", "topic", agent="bob").err == ""


def _upstream(repo: Repo) -> Repo:
    """bob's clone of it, in which dave holds what alice will land."""
    clone = repo.clone()
    clone.install()
    clone.lock("claim", FREE, "-m", "the start page", agent="dave").ok()
    clone.lock("claim", OWN, agent="bob").ok()
    return clone


@pytest.mark.parametrize("how", [(), ("--rebase",)])
def test_a_pull_is_silent_about_what_nobody_has_changed_here(how: tuple[str, ...], repo: Repo) -> None:
    clone = _upstream(repo)
    repo.git("merge", "--quiet", "topic", agent="alice")
    clone.commit("mine", {OWN: "mine\n"}, agent="bob")
    assert "git-lock" not in clone.git("pull", "--quiet", "--no-edit", *(how or ("--no-rebase",)), agent="bob").err


def test_a_merge_warns_of_what_this_branch_has_changed_as_well(repo: Repo) -> None:
    repo.lock("claim", "a", agent="bob").ok()
    repo.commit("a", {"a": "1\n2\n3\n4\n5\n6\n7\n"}, agent="bob")
    _switch(repo, "-b", "mine")
    repo.commit("mine", {"a": "1\n2\n3\n4\n5\n6\n7\nmine\n"}, agent="bob")
    repo.lock("release", "a", agent="bob").ok()
    repo.lock("claim", "a", "-m", "mine now").ok()
    _switch(repo, "main", agent="alice")
    repo.commit("hers", {"a": "hers\n1\n2\n3\n4\n5\n6\n7\n"}, agent="alice")
    _switch(repo, "mine", agent="bob")
    said = repo.git("merge", "--quiet", "--no-edit", "main", agent="bob").err
    assert "this merge brought in a path that another holds and that is changed here as well (you are bob)" in said
    assert "'a' is held by alice" in said and '"mine now"' in said


def test_a_squash_merge_is_left_to_the_gate_of_its_commit(repo: Repo) -> None:
    assert WARNING not in repo.git("merge", "--quiet", "--squash", "topic", agent="bob").err


# -- presence, and the beat


def test_a_switch_is_recorded_as_the_branch_of_the_session(repo: Repo) -> None:
    _switch(repo, "-b", "new")
    (mine,) = [one for one in _sessions(repo) if one["agent"] == "bob"]
    assert (mine["holder"]["branch"], mine["holder"]["worktree"]) == ("new", str(repo.path))


def test_a_person_gets_no_session(repo: Repo) -> None:
    before = _sessions(repo)
    _switch(repo, "-b", "new", agent=None)
    assert _sessions(repo) == before


@pytest.mark.parametrize("hook", ["post-checkout", "post-merge", "post-rewrite"])
def test_each_of_them_renews(hook: str, repo: Repo) -> None:
    repo.lock("claim", "x", "--ttl", "1s", agent="bob").ok()
    words = {"post-checkout": (repo.head, repo.head, "1"), "post-merge": ("0",), "post-rewrite": ("rebase",)}[hook]

    def renewed() -> object:
        return next(one["renewed"] for one in repo.state()["leases"] if one["include"] == ["x"])

    first = renewed()

    def beats() -> bool:
        repo.run(str(repo.common_dir / "hooks" / hook), *words, agent="bob").ok()
        return renewed() != first

    until(beats, f"{hook} renews what is due")


# -- nothing is ever stopped


def _spoilt(repo: Repo, how: str) -> None:
    if how == "a store that is no store":
        (repo.store / "state.json").write_text("nonsense\n")
    elif how == "a pipe for a store":
        (repo.store / "state.json").unlink()
        os.mkfifo(repo.store / "state.json")
    elif how == "a bad setting":
        repo.git("config", "gitlock.mode", "sometimes")


@pytest.mark.parametrize("how", ["a store that is no store", "a pipe for a store", "a bad setting"])
def test_what_can_t_be_read_costs_one_line_and_no_checkout(how: str, repo: Repo) -> None:
    _topic(repo, {FREE: "x\n"}, "side")
    _spoilt(repo, how)
    (said,) = _switch(repo, "topic").err.splitlines()
    assert said.startswith("git-lock: the checkout is done; afterwards: ")
    assert repo.git("checkout", "--quiet", "--", FREE, agent="bob").err == ""


def test_a_branch_with_a_broken_map_file_can_be_switched_to(repo: Repo) -> None:
    repo.git("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "-b", "broken")
    repo.write(".gitlock.toml", "nonsense = \n")
    repo.git("add", ".gitlock.toml")
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-mx")
    repo.git("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "main")
    (said,) = _switch(repo, "broken").err.splitlines()
    assert said.startswith("git-lock: the checkout is done; afterwards: .gitlock.toml:1")
    assert _switch(repo, "-", agent="alice").err == ""


def test_a_policy_that_is_off_is_silent(repo: Repo) -> None:
    repo.git("config", "gitlock.mode", "off")
    assert _switch(repo, "topic").err == ""


@pytest.mark.parametrize("hook", ["post-checkout", "post-merge", "post-rewrite", "commit-msg"])
def test_whatever_it_is_called_with_it_ends_well(hook: str, repo: Repo) -> None:
    odd: list[tuple[str, ...]] = [(), ("nonsense",), ("x", "y", "1"), ("--help", "-x", "1"), ("", "", "")]
    for words in odd:
        done = repo.run(str(repo.common_dir / "hooks" / hook), *words, agent="bob").ok()
        assert "Traceback" not in done.err and done.err.count("\n") <= 1


HOSTILE = ["-x", "it's", 'a"b', "$(id)`id`", "a\N{RIGHT-TO-LEFT OVERRIDE}b", "ä", "@-", "a;b", "HEAD"]


def test_a_branch_may_be_called_anything(repo: Repo) -> None:
    old, new = (repo.git("rev-parse", name).out.strip() for name in ("main", "topic"))
    for name in HOSTILE:
        repo.git("update-ref", f"refs/heads/{name}", "topic")
        repo.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
        done = repo.run(str(repo.common_dir / "hooks/post-checkout"), old, new, "1", agent="bob").ok()
        assert "has changed 2 paths" in done.err and "\N{RIGHT-TO-LEFT OVERRIDE}" not in done.err, name


def test_hostile_names_of_paths_are_shown_escaped(repo: Repo) -> None:
    names = ("src/auth/new\nline", "src/auth/\x1b[31mred", os.fsdecode(b"src/auth/\xff"), "src/auth/-x")
    _topic(repo, dict.fromkeys(names, "x"), "odd")
    said = _switch(repo, "odd").err
    assert "has changed 4 paths" in said and "\x1b" not in said
    assert "new\\nline" in said and "\\xff" in said


def test_objects_that_are_not_here_are_not_fetched(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    part = Repo(tmp_path / "part")
    repo.git("clone", "--quiet", "--filter=tree:0", repo.path.as_uri(), str(part.path))
    part.install()
    part.lock("claim", "src/auth/*").ok()
    repo.git("checkout", "--quiet", "--detach")
    shutil.move(repo.path, tmp_path / "gone")  # the trees of topic can't be had any more
    head = part.head
    other = part.git("rev-parse", "origin/topic").out.strip()
    done = part.run(str(part.common_dir / "hooks/post-checkout"), other, head, "1", agent="bob").ok()
    assert done.err == ""


def test_without_a_program_a_checkout_says_one_line(repo: Repo, tmp_path: Path) -> None:
    for hook in (file for name in ("post-checkout", "post-merge") for file in repo.common_dir.glob(f"*hooks/{name}")):
        hook.write_text(re.sub(r"(?m)^(gl_(?:python|program))='", r"\1='/nowhere", hook.read_text()))
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh"):
        (folder / name).symlink_to(shutil.which(name) or name)
    (said,) = repo.git("checkout", "--quiet", "topic", agent="bob", env={"PATH": str(folder)}).err.splitlines()
    assert said.startswith("git-lock: could not be started for post-checkout") and "git has done what it was" in said


# -- whoever was there before


def test_the_hook_that_was_there_runs_after_a_checkout_of_files_too(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.lock("uninstall").ok()
    write_hook(repo.common_dir / "hooks/post-checkout", f'echo "$3" >>"{tmp_path}/ran"; exit 3')
    repo.install()
    repo.git("checkout", "--quiet", "--", FREE, check=False, agent="bob").ended(3)
    repo.git("checkout", "--quiet", "-b", "new", check=False, agent="bob").ended(1)
    assert (tmp_path / "ran").read_text() == "0\n1\n"
