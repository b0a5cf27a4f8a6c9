"""Claims that look at the branch they are made on: --until-merged lasts while it does, --fresh refuses a stale base."""

import time
from pathlib import Path

import pytest

from gitlock.domain.instant import Instant
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.stores.clock import SystemClock
from gitlock.stores.opening import open_store
from tests.kit.repo import Repo
from tests.kit.schemas import assert_fits

WEEK = 7 * 86400.0


@pytest.fixture
def clone(tmp_path: Path) -> Repo:
    """A clone of a bare hub, on the branch ``work``."""
    clone = Repo.new(tmp_path, files={"src/a.py": "a\n", "docs/x.md": "x\n"}, bare=True, name="hub.git").clone()
    clone.git("switch", "-q", "-c", "work")
    return clone


def held(repo: Repo) -> list[str]:
    return [" ".join(one["include"]) for one in repo.json("list")["data"]["leases"]]


def land(repo: Repo, *how: str) -> None:
    """Merges ``work`` into main, and pushes that."""
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", *how, "work")
    if "--squash" in how:
        repo.git("commit", "-q", "-m", "squashed", env={"GITLOCK_BYPASS": "a test"})
    repo.git("push", "-q", "origin", "main")


# -- until merged


def test_it_has_the_longest_ttl_and_says_so(clone: Repo) -> None:
    assert clone.json("claim", "--until-merged", "src/*")["data"]["lease"]["ttl_s"] == WEEK


def test_the_merge_check_tells_of_what_ended_with_its_branch(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.commit("work", {"src/a.py": "new\n"}, agent="alice")
    land(clone, "--no-ff")
    assert "ended 'src/*'" in clone.lock("ci", "--base", "origin/main", "--head", "work").ok().err


def test_the_merge_check_tells_of_published_leases_whose_branch_is_merged(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.commit("work", {"src/a.py": "new\n"}, agent="alice")
    clone.git("push", "-q", "origin", "work")
    clone.lock("publish").ok()
    other = Repo(clone.path.parent / "hub.git").clone("other")
    other.git("merge", "-q", "--no-ff", "-mx", "origin/work")
    other.git("push", "-q", "origin", "main")
    assert "until 'work' is merged, and it is" in " ".join(other.lock("ci", "--base", "origin/main").ok().err.split())


def test_a_branch_without_work_is_not_merged(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.lock("gc").ok()
    assert held(clone) == ["src/*"]


def test_a_branch_that_only_follows_its_base_is_not_merged(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    other = Repo(clone.path.parent / "hub.git").clone("other")
    other.commit("theirs", {"docs/x.md": "theirs\n"})
    other.git("push", "-q", "origin", "main")
    clone.git("pull", "-q", "--ff-only", "origin", "main")
    clone.lock("gc").ok()
    assert held(clone) == ["src/*"]


def test_it_goes_on_while_the_branch_is_ahead(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.commit("work", {"src/a.py": "new\n"}, agent="alice")
    clone.lock("gc").ok()
    assert held(clone) == ["src/*"]


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only", "--squash"])
def test_it_ends_when_the_base_contains_the_work(clone: Repo, how: str) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.commit("work", {"src/a.py": "new\n"}, agent="alice")
    if how == "--squash":
        clone.lock("gc").ok()  # any command of the kind notices that there is work
    land(clone, how)
    assert "contains 'work'" in clone.lock("gc", agent="bob").ok().out
    assert held(clone) == []
    assert "was merged" in clone.lock("mine").ended(13).err


def test_it_ends_with_the_branch(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.git("switch", "-q", "main")
    clone.git("branch", "-q", "-D", "work")
    answer = clone.json("gc")
    assert_fits("gc", answer)
    assert [one["ended"]["why"] for one in answer["data"]["ended"]] == ["abandoned"]
    assert held(clone) == []


def test_a_base_that_is_gone_leaves_it_adrift_and_says_so(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "src/*").ok()
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    answer = clone.json("gc")
    assert_fits("gc", answer)
    assert len(answer["data"]["adrift"]) == 1
    assert held(clone) == ["src/*"]


def test_whoever_commits_renews_it(clone: Repo) -> None:
    """Another agent's hook: the claim's own agent may be gone for days."""
    clone.install()
    clone.lock("claim", "--until-merged", "src/*").ok()
    _age(clone, 2 * 86400)
    clone.lock("claim", "docs/*", agent="bob").ok()
    clone.commit("docs", {"docs/x.md": "new\n"}, agent="bob")
    assert _left(clone) > WEEK - 3600


def _age(repo: Repo, seconds: float) -> None:
    """As if the store's leases had been renewed that long ago."""
    store = open_store("files", str(repo.common_dir), SystemClock())

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        then = Instant(snapshot.now.wall - seconds, 0.0, "an earlier boot")
        return Edits(put=tuple(lease.replace(renewed=then) for lease in snapshot.leases.all())), None

    store.update(plan)


def _left(repo: Repo) -> float:
    state = repo.state()
    lease = next(one for one in state["leases"] if one["agent"] == "alice")
    return float(lease["ttl"] - (time.time() - lease["renewed"]))


def test_on_the_base_itself_or_without_a_branch_it_is_refused(clone: Repo) -> None:
    clone.git("switch", "-q", "main")
    assert "never merged itself" in clone.lock("claim", "--until-merged", "src/*").ended(2).err
    clone.git("switch", "-q", "--detach")
    assert "none is checked out" in clone.lock("claim", "--until-merged", "src/*").ended(2).err
    assert held(clone) == []


def test_it_excludes_a_ttl(clone: Repo) -> None:
    clone.lock("claim", "--until-merged", "--ttl", "1h", "src/*").ended(2)


def test_an_own_claim_becomes_one(clone: Repo) -> None:
    clone.lock("claim", "src/*").ok()
    answer = clone.json("claim", "--until-merged", "src/*")
    assert_fits("claim", answer)
    assert answer["data"]["lease"]["ttl_s"] == WEEK


# -- fresh


def test_a_fresh_base_is_claimed(clone: Repo) -> None:
    clone.lock("claim", "--fresh", "src/*").ok()


def test_a_stale_base_is_18_and_names_who_changed_what(clone: Repo) -> None:
    other = Repo(clone.path.parent / "hub.git").clone("other")
    other.commit("theirs", {"src/a.py": "theirs\n"})
    other.git("push", "-q", "origin", "main")
    refused = clone.lock("claim", "--fresh", "src/*").ended(18)
    for text in ("'origin/main' has changed 'src/a.py'", "theirs", "git rebase origin/main"):
        assert text in refused.err
    answer = clone.json("claim", "--fresh", "src/*")
    assert_fits("claim", answer)
    assert answer["error"]["id"] == "stale-base"
    assert held(clone) == []
    clone.lock("claim", "--fresh", "docs/*").ok()  # of other paths it is fresh
    clone.git("rebase", "-q", "origin/main")
    clone.lock("claim", "--fresh", "src/*").ok()


def test_a_remote_out_of_reach_is_20_and_nothing_is_claimed(clone: Repo) -> None:
    clone.git("remote", "set-url", "origin", "/nowhere/hub.git")
    clone.lock("claim", "--fresh", "src/*").ended(20)
    assert held(clone) == []


def test_without_any_upstream_it_is_not_known(repo: Repo) -> None:
    assert "no upstream" in repo.lock("claim", "--fresh", "README.md").ended(20).err


def test_a_key_without_paths_is_always_fresh(clone: Repo) -> None:
    clone.git("remote", "set-url", "origin", "/nowhere/hub.git")
    clone.lock("claim", "--fresh", "deploy:staging").ok()
