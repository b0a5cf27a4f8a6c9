"""A store that was deleted, put back from an older copy, copied with its repository, or moved: noticed, said, and the
fences go on growing."""

import json
import shutil
from pathlib import Path

import pytest

from tests.kit.hostile import World, picture
from tests.kit.repo import Repo

MEND = "git lock doctor --fix"
READING: list[tuple[str, ...]] = [("list",), ("check",), ("who", "src/login.py"), ("mine",)]
EPOCH = 1_000_000_000  # fences of the second epoch are above this


def fence_of(repo: Repo, path: str = "docs/b.md", agent: str = "carol") -> int:
    """The fence of a new claim."""
    fence = repo.json("claim", path, agent=agent)["data"]["lease"]["fence"]
    assert isinstance(fence, int)
    return fence


# -- deleted


@pytest.mark.parametrize("what", ["the folder", "the state"])
def test_a_store_that_was_deleted_is_not_empty(world: World, what: str) -> None:
    shutil.rmtree(world.store) if what == "the folder" else world.state.unlink()
    world.expect_no_answer(MEND, questions=READING)


@pytest.mark.parametrize("what", ["the folder", "the state"])
def test_the_next_claim_begins_a_new_epoch_above_all_fences_and_says_so(world: World, what: str) -> None:
    shutil.rmtree(world.store) if what == "the folder" else world.state.unlink()
    result = world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    assert "the lease store was deleted, and a new epoch began" in result.err
    assert fence_of(world.repo, "docs/a.md") > EPOCH


def test_everybody_hears_of_the_new_epoch(world: World) -> None:
    shutil.rmtree(world.store)
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    said = [world.repo.lock(*words, agent="alice").err for words in (("mine",), ("list",), ("check",))]
    assert all("a new epoch began" in text for text in said)


def test_the_hint_of_a_deleted_store_helps(world: World) -> None:
    shutil.rmtree(world.store)
    world.follow_hint("list").ok()
    assert fence_of(world.repo) > EPOCH


def test_a_store_that_is_deleted_again_and_again_counts_on(world: World) -> None:
    fences = []
    for _ in range(3):
        shutil.rmtree(world.store)
        fences.append(fence_of(world.repo))
    assert fences == [EPOCH + 1, 2 * EPOCH + 1, 3 * EPOCH + 1]


def test_a_store_without_its_mark_is_the_store(world: World) -> None:
    world.mark.unlink()
    assert len(world.repo.json("list")["data"]["leases"]) == 2


def test_a_lost_mark_comes_back_with_the_next_write(world: World) -> None:
    world.mark.unlink()
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    assert json.loads(world.mark.read_bytes())["revision"] == world.repo.state()["revision"]


# -- put back from an older copy


def grown_old(world: World) -> bytes:
    """A copy of the state from before carol's claim; the store itself goes on."""
    old = world.state.read_bytes()
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    return old


def test_an_older_copy_is_noticed(world: World) -> None:
    world.put("state.json", grown_old(world))
    world.expect_no_answer(MEND, questions=READING)


def test_an_older_copy_of_the_whole_folder_is_noticed(world: World) -> None:
    shutil.copytree(world.store, world.store.with_name("backup"))
    grown_old(world)
    shutil.rmtree(world.store)
    world.store.with_name("backup").rename(world.store)
    world.expect_no_answer(MEND, questions=READING)


def test_the_next_claim_keeps_the_older_copy_and_tells_its_holders(world: World) -> None:
    old = grown_old(world)
    world.put("state.json", old)
    fence = fence_of(world.repo, agent="dave")
    (kept,) = (world.store / "evidence").iterdir()
    told = world.repo.lock("mine", agent="alice")
    assert fence > EPOCH and kept.read_bytes() == old and told.code == 13 and "was lost" in told.err


def test_the_hint_of_an_older_copy_helps(world: World) -> None:
    world.put("state.json", grown_old(world))
    world.follow_hint("list").ok()
    assert fence_of(world.repo, agent="dave") > EPOCH


def test_the_state_of_another_repository_is_noticed(world: World, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other")
    for name in "abcdef":
        other.lock("claim", name).ok()
    world.put("state.json", (other.store / "state.json").read_bytes())
    world.expect_no_answer(MEND, questions=READING)


def test_a_mark_that_lags_behind_is_no_loss(world: World) -> None:
    old = world.mark.read_bytes()
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    world.mark.write_bytes(old)
    assert len(world.repo.json("list")["data"]["leases"]) == 3


# -- copied and moved


def copied(world: World) -> World:
    """``cp -r`` of the whole repository."""
    there = world.repo.path.with_name("copy")
    world.repo.run("cp", "-r", str(world.repo.path), str(there)).ok()
    return World(Repo(there))


def test_a_copied_repository_inherits_no_lease_and_says_so(world: World) -> None:
    result = copied(world).repo.lock("list", agent="bob").ok()
    assert "src/*" not in result.out and "is a copy of" in result.err


def test_in_a_copy_everybody_begins_anew(world: World) -> None:
    copy = copied(world)
    copy.repo.lock("claim", "src/login.py", agent="bob").ok()
    assert copy.repo.commit("bob's", agent="bob").code == 0


def test_in_a_copy_the_fences_go_on(world: World) -> None:
    assert fence_of(copied(world).repo) > EPOCH


def test_the_original_goes_on_as_it_was(world: World) -> None:
    world.repo.lock("check", agent="bob").ended(22)  # notes that bob's worktree has been moved here
    copy = copied(world)
    before = world.pictures()
    copy.repo.lock("claim", "src/login.py", agent="bob").ok()
    world.repo.lock("check", agent="bob").ended(22)
    assert world.pictures() == before


def test_a_copy_goes_on_by_itself_once_it_was_written_to(world: World) -> None:
    copy = copied(world)
    copy.repo.lock("claim", "src/login.py", agent="bob").ok()
    shutil.rmtree(world.repo.path)
    assert [lease["agent"] for lease in copy.repo.json("list")["data"]["leases"]] == ["bob"]


def test_a_copy_whose_first_write_was_cut_off_before_the_mark_is_not_lost(world: World) -> None:
    copy = copied(world)
    mark = copy.mark.read_bytes()
    copy.repo.lock("claim", "src/login.py", agent="bob").ok()
    copy.mark.write_bytes(mark)
    assert [lease["agent"] for lease in copy.repo.json("list")["data"]["leases"]] == ["bob"]


def test_a_copy_of_a_copy_begins_anew_as_well(world: World) -> None:
    copy = copied(world)
    copy.repo.lock("claim", "src/login.py", agent="bob").ok()
    there = copy.repo.path.with_name("again")
    copy.repo.run("cp", "-r", str(copy.repo.path), str(there)).ok()
    assert Repo(there).json("list")["data"]["leases"] == []


def test_a_repository_that_was_moved_keeps_its_leases(world: World) -> None:
    there = world.repo.path.with_name("moved")
    world.repo.path.rename(there)
    result = Repo(there).lock("list", agent="bob").ok()
    assert "src/*" in result.out and "copy" not in result.err


def test_whoever_worked_in_it_goes_on_after_a_move(world: World) -> None:
    there = world.repo.path.with_name("moved")
    world.repo.path.rename(there)
    assert fence_of(Repo(there), agent="alice") == 3


def test_another_repository_in_the_old_place_makes_no_copy_of_it(world: World, tmp_path: Path) -> None:
    there = world.repo.path.with_name("moved")
    old = world.repo.path
    old.rename(there)
    Repo.new(tmp_path, name=old.name).lock("claim", "x").ok()
    assert len(Repo(there).json("list")["data"]["leases"]) == 2


def test_a_clone_has_a_store_of_its_own(world: World) -> None:
    assert world.repo.clone().json("list")["data"]["leases"] == []


def test_another_spelling_of_the_place_is_the_same_store(world: World) -> None:
    link = world.repo.path.with_name("link")
    link.symlink_to(world.repo.path)
    Repo(link).lock("claim", "docs/b.md", agent="carol").ok()
    assert len(world.repo.json("list")["data"]["leases"]) == 3 and picture(link) == str(world.repo.path)
