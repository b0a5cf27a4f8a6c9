"""`git lock overlap`: what agents reserve, change, and would conflict in, while they work."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.repo import Repo
from tests.kit.retiring import house
from tests.kit.schemas import assert_fits


@pytest.fixture
def world(tmp_path: Path) -> tuple[Repo, Repo, Repo]:
    """A repository with some files, and a worktree each for alice and bob."""
    repo = Repo.new(tmp_path, files={name: "".join(f"{n}\n" for n in range(9)) for name in "abcefgm"})
    return repo, house(repo, "alice"), house(repo, "bob")


def overlap(repo: Repo, *words: str, code: int = 0, **more: Any) -> dict[str, Any]:
    answer = repo.json("overlap", *words, agent=None, **more)
    assert_fits("overlap", answer)
    assert answer["code"] == code
    data: dict[str, Any] = answer["data"]
    return data


def facts(data: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {one["path"]: (one["reserved"], one["changed"], one["conflict"]) for one in data["overlaps"]}


def touch_everything(there: Repo, text: str) -> None:
    """One of each kind of change."""
    there.commit("a", {"a": text})
    there.write("b", text)
    there.git("add", "b")
    there.write("c", text)
    there.write("d", b"\0" + text.encode())
    there.git("mv", "e", "f2")
    there.git("rm", "-q", "g")
    (there.path / "m").chmod(0o755)


def test_every_kind_of_change_meets_its_like(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    touch_everything(alice, "alice\n")
    touch_everything(bob, "bob\n")
    data = overlap(repo)
    clash, same = ("no", "yes", "yes"), ("no", "yes", "no")
    assert facts(data) == {"a": clash, "b": clash, "c": clash, "d": clash, "e": same, "f2": same, "g": same, "m": same}
    kinds = {one["path"]: [side["kinds"] for side in one["sides"]] for one in data["overlaps"]}
    assert (kinds["a"], kinds["b"], kinds["d"]) == ([["committed"]] * 2, [["staged"]] * 2, [["untracked"]] * 2)
    assert all(one["sides"][0]["gone"] for one in data["overlaps"] if one["path"] in "eg")


def test_looking_changes_nothing(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    for there in (alice, bob):
        touch_everything(there, f"{there.path.name}\n")

    def sight() -> list[object]:
        told = [repo.git("for-each-ref").out, repo.git("count-objects", "-v").out]
        indexes = [Path(one.git("rev-parse", "--absolute-git-dir").out.strip(), "index") for one in (alice, bob)]
        return [*told, *(index.read_bytes() for index in indexes)]

    before = sight()
    overlap(repo)
    repo.lock("agents").ok()
    assert sight() == before


def test_changes_in_different_parts_of_a_file_are_both_there_and_would_merge(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    alice.write("a", "first\n" + alice.read("a"))
    bob.write("a", bob.read("a") + "last\n")
    assert facts(overlap(repo)) == {"a": ("no", "yes", "no")}


def test_what_is_reserved_and_changed_by_another_is_a_violation_to_come(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    alice.lock("claim", "a", agent=None).ok()
    bob.write("a", "bob\n")
    assert facts(overlap(repo, "--exit-code", code=22)) == {"a": ("yes", "yes", "no")}
    assert "a: changed by bob, reserved by alice" in repo.lock("overlap").ok().out


def test_an_edit_through_a_shell_is_seen_by_others(world: tuple[Repo, Repo, Repo]) -> None:
    repo, _, bob = world
    bob.run("sed", "-i", "s/1/one/", "a")
    (found,) = [one for one in overlap(repo)["agents"] if one["agents"] == ["bob"]]
    assert found["unclaimed"] == [{"path": "a", "kinds": ["unstaged"], "gone": False}]


def test_claims_against_what_was_really_changed(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, _ = world
    alice.lock("claim", "a", "src/**", agent=None).ok()
    alice.lock("claim", "docs/**", agent=None).ok()
    alice.write("src/x.py", "x\n")
    alice.write("a", "x\n")
    (found,) = [one for one in overlap(repo)["agents"] if one["agents"] == ["alice"]]
    narrower = {one["claim"]: one["narrower"] for one in found["unused"]}
    assert narrower == {"a src/**": ["a", "src/x.py"], "docs/**": []}


def test_a_worktree_that_can_t_be_looked_at_is_never_taken_for_clean(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    alice.lock("claim", "a", agent=None).ok()
    bob.write("a", "bob\n")
    (alice.path / ".git").write_text("gitdir: /nowhere\n")
    data = overlap(repo)
    assert facts(data) == {"a": ("yes", "yes", "unknown")}
    assert [one["worktree"] for one in data["unknown"]] == [str(alice.path)]
    assert "what alice has changed is not known" in repo.lock("overlap").ok().out


def test_with_nothing_found_but_not_all_seen_the_code_says_so(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, _ = world
    assert overlap(repo, "--exit-code")["unknown"] == []
    (alice.path / ".git").write_text("gitdir: /nowhere\n")
    assert overlap(repo, "--exit-code", code=20)["overlaps"] == []


def test_only_those_who_are_named_and_the_paths_that_are_asked_for(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    for there in (repo, alice, bob):
        there.write("a", f"{there.path.name}\n")
        there.write("src/x", f"{there.path.name}\n")
    data = overlap(repo, "alice", "--path", "src")
    assert {(one["path"], frozenset(one["reserved_by"])) for one in data["overlaps"]} == {("src/x", frozenset())}
    assert len(data["overlaps"]) == 2
    repo.lock("overlap", "nobody").ended(2)


def test_a_conflict_is_found_from_any_folder(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    for there in (alice, bob):
        there.write("src/x", f"{there.path.name}\n")
    repo.write("src/y", "")
    assert facts(overlap(repo, cwd="src"))["src/x"] == ("no", "yes", "yes")


def test_paths_are_relative_to_where_one_stands(world: tuple[Repo, Repo, Repo]) -> None:
    _, alice, bob = world
    for there in (alice, bob):
        there.write("src/x", f"{there.path.name}\n")
    assert list(facts(overlap(alice, "--path", "x", cwd="src"))) == ["src/x"]


def test_names_of_paths_are_shown_as_data(world: tuple[Repo, Repo, Repo]) -> None:
    repo, alice, bob = world
    for there in (alice, bob):
        there.write("\x1b[2Jevil", f"{there.path.name}\n")
    assert "\x1b" not in repo.lock("overlap").ok().out
    assert list(facts(overlap(repo))) == ["\x1b[2Jevil"]


def test_where_nothing_meets_it_says_so(repo: Repo) -> None:
    assert repo.lock("overlap").ok().out == "no overlaps\n"
