"""May a worktree go? What is found in, every reason against it out."""

import pytest

from gitlock.domain.retiring import BranchWork, Facts, Held, Inside, Permit, Refusal, Trouble, refusals, show_size
from gitlock.domain.worktree import READY, SPAWNED, Worktree

TREE = Worktree(
    id="1", agent="a", path="/w", branch="agent/a", made_branch=True, base="0" * 40, base_name="main", tip="0" * 40,
    slot=1, port=1, state=READY, setup="none", sparse=False, made=1.0, origin=SPAWNED, owner="",
)  # fmt: skip


def found(asker: str = "boss", **facts: object) -> list[Refusal]:
    return refusals(TREE, Facts(**facts), asker, "/home", limit=100)  # type: ignore[arg-type]


def ids(asker: str = "boss", **facts: object) -> list[str]:
    return [one.id for one in found(asker, **facts)]


def held(agent: str = "a", liveness: str = "unknown", claim: str | None = "x", *, ours: bool = False) -> tuple[Held]:
    return (Held(agent, claim, liveness, 7 if liveness == "alive" else None, ours),)


def test_nothing_found_is_no_reason() -> None:
    assert ids() == []


def test_a_branch_that_is_pushed_or_merged_is_no_reason() -> None:
    assert ids(branches=(BranchWork("x", "1", pushed="origin/x"), BranchWork("y", "2", proof="squashed"))) == []


def test_a_branch_of_which_nothing_is_known_is_one() -> None:
    assert ids(branches=(BranchWork("x", "1", certain=False),)) == ["unmerged"]


@pytest.mark.parametrize(
    ("asker", "liveness", "expected"),
    [
        ("boss", "unknown", ["holder"]),
        ("boss", "alive", ["holder"]),
        ("a", "unknown", []),
        ("a", "alive", ["holder"]),
    ],
)
def test_a_lease_of_ones_own_counts_only_with_a_live_process(asker: str, liveness: str, expected: list[str]) -> None:
    assert ids(asker, held=held(liveness=liveness)) == expected


def test_the_process_that_asks_does_not_stand_in_its_own_way() -> None:
    assert ids("a", held=held(liveness="alive", ours=True)) == []


def test_ones_own_shell_is_said_once() -> None:
    assert ids(here=True, inside=(Inside(1, "sh", ours=True),)) == ["current-folder"]


def test_a_check_that_failed_is_a_reason_that_nothing_goes_over() -> None:
    (one,) = found(unchecked=(Trouble("its files", "no"),))
    assert not Permit(force=True, discard=True, keep=True).covers(one)


@pytest.mark.parametrize(
    ("size", "permit", "covered"),
    [
        (100, Permit(force=True), True),
        (101, Permit(force=True), False),
        (101, Permit(force=True, discard=True), True),
        (1, Permit(), False),
    ],
)
def test_ignored_files_yield_to_force_only_where_they_can_be_saved(size: int, permit: Permit, covered: bool) -> None:
    (one,) = found(ignored=((".env", size),))
    assert permit.covers(one) is covered


def test_many_paths_are_counted_and_few_of_them_named() -> None:
    (one,) = found(untracked=tuple(f"f{n}" for n in range(8)))
    assert one.what == "8 untracked files: 'f0', 'f1', 'f2', 'f3', 'f4' and 3 more"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (16 << 20, "16 MiB"), (1 << 50, "1024 TiB")]
)
def test_sizes_as_people_read_them(size: int, text: str) -> None:
    assert show_size(size) == text
