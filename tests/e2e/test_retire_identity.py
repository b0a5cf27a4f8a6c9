"""Record, badge, git's entry and the folder must name one another, or nothing is removed: S40 to S42, S47, S53, S56."""

import os
import shutil
from pathlib import Path

import pytest

from gitlock.domain.worktree import Worktree
from tests.kit.repo import Repo
from tests.kit.retiring import book_of, house, record_of
from tests.kit.worktrees import files_of


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path, files={"a.py": "1\n"})


def refused(repo: Repo, *words: str) -> str:
    """The id of the error of a refusal."""
    answer = repo.json("retire", *words)
    assert answer["code"] == 17, answer
    assert answer["error"]["next"]
    found = answer["error"]["id"]
    assert isinstance(found, str)
    return found


def _empty(link: Path, repo: Repo) -> None:
    link.write_text("")


def _points_home(link: Path, repo: Repo) -> None:
    link.write_text(f"gitdir: {repo.path}/.git\n")


def _a_folder(link: Path, repo: Repo) -> None:
    link.unlink()
    link.mkdir()


def _gone(link: Path, repo: Repo) -> None:
    link.unlink()


@pytest.mark.parametrize("damage", [_empty, _points_home, _a_folder, _gone])
def test_a_damaged_link_removes_nothing_also_by_force(repo: Repo, damage: object) -> None:
    tree = house(repo)
    damage(tree.path / ".git", repo)  # type: ignore[operator]
    before = files_of(repo.path), sorted(os.listdir(repo.common_dir))
    assert refused(repo, "a", "--force") == "not-the-worktree"
    assert (files_of(repo.path), sorted(os.listdir(repo.common_dir))) == before
    assert tree.read("a.py") == "1\n" and record_of(repo) is not None


def test_a_clone_at_its_place_is_left_alone(repo: Repo) -> None:
    tree = house(repo)
    shutil.rmtree(tree.path)
    repo.git("clone", "--quiet", str(repo.path), str(tree.path))
    assert refused(repo, "a", "--force") == "not-the-worktree"
    repo.lock("retire", "a", "--gone").ok()
    assert (tree.path / ".git/config").exists() and record_of(repo) is None


def test_another_worktree_at_its_place_is_left_alone(repo: Repo) -> None:
    tree, other = house(repo), house(repo, "b")
    shutil.rmtree(tree.path)
    other.path.rename(tree.path)
    assert refused(repo, "a", "--force") == "not-the-worktree"
    assert refused(repo, "b", "--force") == "missing"
    assert tree.read("a.py") == "1\n"


def test_an_empty_folder_at_its_place_counts_as_missing(repo: Repo) -> None:
    tree = house(repo)
    shutil.rmtree(tree.path)
    tree.path.mkdir()
    assert refused(repo, "a", "--force") == "missing"
    repo.lock("retire", "a", "--gone").ok()
    assert "agent/a" not in repo.git("worktree", "list").out


def test_what_is_away_is_not_gone(repo: Repo) -> None:
    tree = house(repo)
    house(repo, "b")
    tree.write("staged.py", "s\n")
    tree.git("add", "staged.py")
    away = tree.path.with_name("away")
    tree.path.rename(away)
    assert refused(repo, "a", "--force") == "missing"
    repo.lock("retire", "b").ok()
    repo.lock("retire", "--all-merged").ok()
    repo.lock("gc").ok()
    repo.lock("doctor", "--fix")
    away.rename(tree.path)
    assert tree.git("status", "--porcelain").out == "A  staged.py\n"


def test_what_was_staged_in_a_folder_that_is_gone_is_saved_first(repo: Repo) -> None:
    tree = house(repo)
    tree.write("staged.py", "s\n")
    tree.git("add", "staged.py")
    shutil.rmtree(tree.path)
    answer = repo.json("retire", "a", "--gone")
    assert answer["data"]["worktrees"][0]["refusals"][0]["id"] == "uncommitted"
    saved = repo.json("retire", "a", "--gone", "--force")["data"]["snapshot"]
    repo.lock("restore", saved).ok()
    assert tree.git("status", "--porcelain").out == "A  staged.py\n"


def test_a_worktree_that_was_moved_by_git_is_still_known(repo: Repo) -> None:
    tree = house(repo)
    repo.git("worktree", "move", "--force", "--force", str(tree.path), "../moved")
    repo.lock("retire", "a").ok()
    assert not (repo.path.parent / "moved").exists()


def test_a_badge_of_another_is_no_proof(repo: Repo) -> None:
    tree, other = house(repo), house(repo, "b")
    badge = Path(tree.git("rev-parse", "--git-dir").out.strip(), "gitlock-agent")
    badge.write_text(Path(other.git("rev-parse", "--git-dir").out.strip(), "gitlock-agent").read_text())
    assert refused(repo, "a", "--force") in ("missing", "not-the-worktree")
    assert tree.read("a.py") == "1\n"


def test_a_worktree_of_another_tools_is_never_removed(repo: Repo) -> None:
    foreign = repo.worktree("foreign")
    answer = repo.json("retire", str(foreign.path), "--force")
    assert (answer["code"], answer["error"]["id"]) == (17, "not-ours")
    assert answer["error"]["next"] == f"git lock spawn --adopt {foreign.path} NAME"
    assert foreign.read("a.py") == "1\n"


def test_the_main_worktree_is_never_removed(repo: Repo) -> None:
    house(repo)
    assert refused(repo, str(repo.path), "--force") == "not-ours"


def test_an_adopted_worktree_keeps_its_branch(repo: Repo) -> None:
    foreign = repo.worktree("foreign")
    repo.lock("spawn", "--adopt", str(foreign.path), "a").ok()
    (one,) = repo.json("retire", "a")["data"]["worktrees"]
    assert (one["removed"], one["branch_deleted"]) == (True, False)
    assert one["branch_kept_because"] == "it was there before the worktree"
    assert not foreign.path.exists()


def test_a_worktree_can_be_named_by_its_folder_and_by_its_id(repo: Repo) -> None:
    tree, other = house(repo), house(repo, "b")
    record = record_of(repo, "b")
    assert record is not None
    repo.lock("retire", os.path.relpath(tree.path, repo.path)).ok()
    repo.lock("retire", record.id).ok()
    assert not tree.path.exists() and not other.path.exists()


def test_two_of_one_name_are_told_apart_by_their_ids(repo: Repo) -> None:
    first = house(repo)
    house(repo, branch="agent/again", path=repo.path.parent / "again")
    assert refused(repo, "a") == "ambiguous"
    mine = next(one for one in book_of(repo).all() if one.path == str(first.path))
    repo.lock("retire", mine.id).ok()
    assert [_name(one) for one in book_of(repo).all()] == ["again"]


def _name(record: Worktree) -> str:
    return Path(record.path).name


def test_a_detached_one_has_no_name_but_its_agents(repo: Repo) -> None:
    for agent in ("a", "b"):
        house(repo, agent).git("checkout", "--quiet", "--detach")
    assert repo.json("retire", "(detached)")["error"]["id"] == "no-such-worktree"
    assert len(book_of(repo).all()) == 2


def test_a_place_that_is_used_again_is_another_worktree(repo: Repo) -> None:
    tree = house(repo)
    tree.lock("claim", "a.py", "--token-file", str(repo.path / ".git/token"), agent=None).ok()
    old = record_of(repo)
    assert old is not None
    repo.lock("retire", "a", "--force").ok()
    house(repo, "b", path=tree.path).lock("claim", "a.py", agent=None).ok()
    assert repo.json("retire", old.id)["error"]["id"] == "no-such-worktree"
    released = repo.lock("release", "a.py", "--token-file", str(repo.path / ".git/token"), agent="a")
    assert released.code in (12, 13), released
    assert [lease["agent"] for lease in repo.json("list")["data"]["leases"]] == ["b"]


def test_git_itself_does_not_remove_it(repo: Repo) -> None:
    tree = house(repo)
    tree.commit("mine", {"b.py": "b\n"})
    assert repo.git("worktree", "remove", "--force", str(tree.path), check=False).code == 128
    shutil.rmtree(tree.path)
    repo.git("worktree", "prune")
    assert refused(repo, "a") == "missing"
    repo.lock("retire", "a", "--gone", "--keep-branch").ok()
    assert repo.git("log", "-1", "--format=%s", "agent/a").out == "mine\n"


def test_nothing_of_that_name(repo: Repo) -> None:
    answer = repo.json("retire", "nobody")
    assert (answer["code"], answer["error"]["id"]) == (2, "no-such-worktree")


@pytest.mark.parametrize("words", [[], ["a", "--all-merged"], ["--all-merged", "--force"], ["a", "b"]])
def test_words_that_make_no_sense(repo: Repo, words: list[str]) -> None:
    house(repo)
    assert repo.json("retire", *words)["code"] == 2
    assert record_of(repo) is not None


def test_leases_of_whoever_works_at_its_place_by_now_are_left_alone(repo: Repo) -> None:
    tree = house(repo)
    other = house(repo, "b")
    shutil.rmtree(tree.path)
    repo.git("worktree", "move", "--force", "--force", str(other.path), str(tree.path))
    tree.lock("claim", "f.py", agent="b").ok()
    repo.lock("retire", "a", "--gone", agent="boss").ok()
    assert "f.py" in repo.lock("mine", agent="b").ok().out
