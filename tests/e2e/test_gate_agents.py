"""Who commits: agents side by side, above and below one another, people, and holders whose leases have ended."""

import signal
from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, history, next_command, typed
from tests.kit.processes import Job, run_at_once, start, until
from tests.kit.program import child_environment, is_soak
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import is_clean


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return guarded(tmp_path).here


def _commits(repo: Repo, path: str, *, agent: str | None, code: int = 0, text: str = "") -> Result:
    return repo.commit("x", {path: f"by {agent} {text}\n"}, agent=agent, check=False).ended(code)


def _lapses(repo: Repo, path: str, agent: str) -> None:
    """The agent claims the path, and does nothing until that has run out."""
    repo.lock("claim", path, "--ttl", "1s", agent=agent).ok()
    until(lambda: repo.lock("status", path, "--exit-code", agent="onlooker").code == 4, f"{path} lapses")


# -- leases that have run out


def test_a_lapsed_lease_that_nobody_took_still_counts_and_it_is_said(repo: Repo) -> None:
    _lapses(repo, FREE, "bob")
    said = _commits(repo, FREE, agent="bob").err
    assert "your lease 'README.md' had lapsed; nobody took it, so it goes on" in said and "refused" not in said


def test_a_lapsed_lease_that_another_took_is_refused_naming_the_taker(repo: Repo) -> None:
    _lapses(repo, FREE, "bob")
    repo.lock("claim", "*.md", agent="carol").ok()
    held = _commits(repo, FREE, agent="bob", code=1).err
    assert "'README.md' is held by carol through '*.md'" in held
    repo.lock("release", "*.md", agent="carol").ok()
    refused = _commits(repo, FREE, agent="bob", code=1).err
    assert "1 path is overtaken by another (you are bob)" in refused and "carol took '*.md' at " in refused
    typed(repo, next_command(refused)).ok()
    repo.lock("mine", agent="bob")
    assert _commits(repo, FREE, agent="bob").err == ""


def test_no_openness_opens_what_was_taken_over(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy='[policy]\nunclaimed = "allow"\nopen = ["**"]').here
    _lapses(repo, FREE, "bob")
    repo.lock("claim", FREE, agent="carol").ok()
    repo.lock("release", FREE, agent="carol").ok()
    assert "is overtaken" in _commits(repo, FREE, agent="bob", code=1).err


def test_a_foreign_lease_that_has_lapsed_stands_in_nobody_s_way(repo: Repo) -> None:
    _lapses(repo, FREE, "carol")
    refused = _commits(repo, FREE, agent="bob", code=1).err
    assert "'README.md' is not claimed by you" in refused
    typed(repo, next_command(refused)).ok()
    assert _commits(repo, FREE, agent="bob").err == ""


# -- holders that are gone


def test_a_dead_holder_whose_file_is_still_changed_stands_in_the_way(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    there = repo.worktree("there")
    _claims_and_dies(there, FREE, changed=True)
    said = _commits(repo, FREE, agent="bob", code=1).err
    assert "'README.md' is held by carol" in said and "its process is gone and its paths are still changed" in said


def test_a_dead_holder_who_left_nothing_behind_does_not(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    _claims_and_dies(repo.worktree("there"), FREE, changed=False)
    assert "'README.md' is not claimed by you" in _commits(repo, FREE, agent="bob", code=1).err
    repo.lock("claim", FREE, agent="bob").ok()
    assert "is held" not in _commits(repo, FREE, agent="bob").err


def _claims_and_dies(there: Repo, path: str, *, changed: bool) -> None:
    with start(["sleep", "600"]) as process:
        there.lock("claim", path, "--pid", str(process.pid), agent="carol").ok()
        if changed:
            there.write(path, "half done\n")
        process.signal(signal.SIGKILL).wait()


# -- modes


def test_what_others_rely_on_is_not_to_be_changed(repo: Repo) -> None:
    repo.lock("claim", FREE, "--shared", agent="carol").ok()
    assert "'README.md' is held by carol (shared)" in _commits(repo, FREE, agent="bob", code=1).err


def test_relying_on_a_file_is_no_permission_to_change_it(repo: Repo) -> None:
    repo.lock("claim", FREE, "--shared", agent="bob").ok()
    refused = _commits(repo, FREE, agent="bob", code=1).err
    typed(repo, next_command(refused)).ok()
    assert _commits(repo, FREE, agent="bob").err == ""


def test_an_announcement_warns_and_stops_nobody(repo: Repo) -> None:
    repo.lock("claim", OWN, "--intent", "--reason", "soon", agent="carol").ok()
    said = _commits(repo, OWN, agent="bob").err
    assert "warning: 'src/api.py' is announced by carol" in said and '"soon"' in said and said.count("\n") == 1


# -- families, people, one worktree


@pytest.mark.parametrize(
    ("holder", "committer", "code"),
    [
        ("eve", "eve/child", 0),
        ("eve/child", "eve", 0),
        ("eve", "eve/child/grandchild", 0),
        ("eve/child", "eve/other", 1),
        ("eve", "evelyn", 1),
    ],
)
def test_a_family_works_under_each_other_s_leases_and_siblings_do_not(
    holder: str, committer: str, code: int, repo: Repo
) -> None:
    repo.lock("claim", FREE, agent=holder).ok()
    assert (f"is held by {holder}" in _commits(repo, FREE, agent=committer, code=code).err) == (code == 1)


def test_two_agents_in_one_worktree_commit_their_own_parts(repo: Repo) -> None:
    repo.write(HELD, "alice is at it\n")
    repo.write(OWN, "bob is at it\n")
    assert f"'{HELD}' is held by alice" in repo.git("commit", "-am", "x", agent="bob", check=False).ended(1).err
    assert repo.git("commit", "--quiet", "-m", "x", OWN, agent="bob").err == ""
    assert repo.read(HELD) == "alice is at it\n"
    assert repo.git("commit", "--quiet", "-am", "x", agent="alice").err == "" and is_clean(repo)


def test_a_commit_between_another_s_add_and_commit_takes_nothing_of_it(repo: Repo) -> None:
    repo.write(OWN, "bob is at it\n")
    repo.git("add", OWN)
    repo.write(HELD, "alice is at it\n")
    assert f"'{OWN}' is held by bob" in repo.git("commit", "-am", "x", agent="alice", check=False).ended(1).err
    assert repo.git("commit", "--quiet", "-m", "alice's", HELD, agent="alice").err == ""
    assert repo.commit("bob's", agent="bob").ok().err == ""
    assert repo.git("show", "--name-only", "--format=").lines == [OWN] and is_clean(repo)


def test_a_person_is_held_off_and_holds_others_off(repo: Repo) -> None:
    assert "(you are dana@example.com)" in _commits(repo, HELD, agent=None, code=1).err
    repo.git("reset", "--quiet", "--hard")
    repo.lock("claim", FREE, agent=None).ok()
    assert "'README.md' is held by dana@example.com" in _commits(repo, FREE, agent="bob", code=1).err
    assert _commits(repo, FREE, agent=None).err == ""


def test_the_name_on_the_commit_says_nothing_of_who_makes_it(repo: Repo) -> None:
    repo.write(HELD, "1\n")
    refused = repo.git("commit", "-am", "x", "--author", "alice <alice>", agent="bob", check=False).ended(1)
    assert "(you are bob)" in refused.err


def test_one_agent_works_under_its_lease_in_every_worktree(repo: Repo) -> None:
    there = repo.worktree("there")
    assert _commits(there, HELD, agent="alice").err == "" and _commits(repo, HELD, agent="alice").err == ""


def test_a_name_that_can_not_be_an_agent_s_is_could_not_check(repo: Repo) -> None:
    refused = _commits(repo, OWN, agent="-x", code=1).err
    assert refused.startswith("git-lock: could not check, so this is refused: '-x' can't name an agent")


# -- somebody else at the same index


def test_what_is_added_while_hooks_run_is_judged_before_it_is_committed(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    hook = repo.common_dir / "hooks/pre-commit.before-git-lock"
    hook.write_text(f"#!/bin/sh\necho late >{HELD}\ngit add {HELD}\n")
    hook.chmod(0o755)
    refused = _commits(repo, OWN, agent="bob", code=1).err
    assert f"'{HELD}' is held by alice" in refused and "--no-verify" not in refused and refused.count("refused") == 1


def test_a_formatter_that_adds_what_it_mended_is_no_trouble(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    hook = repo.common_dir / "hooks/pre-commit.before-git-lock"
    hook.write_text(f"#!/bin/sh\necho mended >>{OWN}\ngit add {OWN}\n")
    hook.chmod(0o755)
    assert _commits(repo, OWN, agent="bob").err == "" and repo.read(OWN).endswith("mended\n") and is_clean(repo)


def test_worktrees_that_commit_at_once_stop_nobody(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    there = repo.worktree("there")
    env = {name: child_environment(agent=name) for name in ("alice", "bob")}
    rounds = 50 if is_soak() else 4
    for number in range(rounds):
        there.write(HELD, f"{number}\n")
        repo.write(OWN, f"{number}\n")
        jobs = [
            Job(["git", "commit", "-qam", "x"], there.path, env["alice"]),
            Job(["git", "commit", "-qam", "x"], repo.path, env["bob"]),
        ]
        assert [(done.code, done.err) for done in run_at_once(jobs)] == [(0, ""), (0, "")]
    assert is_clean(repo) and is_clean(there)
    assert repo.git("rev-list", "--count", "HEAD").out == f"{rounds + 1}\n"


# -- leases that are given back


@pytest.fixture
def releasing(tmp_path: Path) -> Repo:
    return guarded(tmp_path, policy='[policy]\nrelease_on = "commit"').here


def test_a_lease_whose_paths_are_all_committed_is_given_back_and_it_is_said(releasing: Repo) -> None:
    said = _commits(releasing, OWN, agent="bob").err
    assert said == "git-lock: released 'src/api.py', all committed (policy release_on = \"commit\")\n"
    assert "nobody" in releasing.lock("who", OWN).ok().out


def test_a_lease_with_another_change_under_it_stays(releasing: Repo) -> None:
    releasing.write("src/auth/token.py", "not yet\n")
    assert _commits(releasing, HELD, agent="alice").err == ""
    releasing.git("add", "src/auth/token.py")
    assert "released 'src/auth/*'" in releasing.commit("x", agent="alice").err


def test_a_lease_that_the_commit_did_not_touch_stays(releasing: Repo) -> None:
    releasing.lock("claim", FREE, agent="bob").ok()
    assert "README" not in _commits(releasing, OWN, agent="bob").err
    assert "bob" in releasing.lock("who", FREE).ok().out


def test_no_lease_is_given_back_inside_a_rebase(releasing: Repo) -> None:
    releasing.git("checkout", "--quiet", "-b", "topic")
    _commits(releasing, OWN, agent="bob")
    releasing.lock("claim", OWN, agent="bob").ok()
    releasing.git("checkout", "--quiet", "-b", "base", "main")
    _commits(releasing, HELD, agent="alice")
    releasing.git("checkout", "--quiet", "topic")
    assert "released" not in releasing.git("rebase", "base", agent="bob").err
    assert [event["claim"] for event in history(releasing, "release")] == [OWN, "src/auth/*"]


def test_a_merge_that_settles_a_conflict_gives_back_as_well(releasing: Repo) -> None:
    releasing.git("branch", "side")
    _commits(releasing, OWN, agent="bob", text="here")
    releasing.git("checkout", "--quiet", "side")
    releasing.lock("claim", OWN, agent="bob").ok()
    _commits(releasing, OWN, agent="bob", text="there")
    releasing.lock("claim", OWN, agent="bob").ok()
    releasing.git("merge", "main", agent="bob", check=False).ended(1)
    assert "released 'src/api.py'" in _commits(releasing, OWN, agent="bob", text="settled").err
