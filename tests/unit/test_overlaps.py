"""Three facts for each path and pair of worktrees; and "not known" is never "no"."""

import pytest

from gitlock.domain.lease import INTENT, Holder, Lease
from gitlock.domain.overlaps import Meeting, Place, account, meetings, narrowest, with_conflicts
from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.touched import COMMITTED, UNSTAGED, Sight, Touched
from tests.kit.agents import a_lease


def place(path: str, agent: str, *touched: str, kind: str = UNSTAGED) -> Place:
    seen = tuple(Touched(name, (kind,)) for name in touched)
    sight = Sight(
        head="1", branch=agent, base=None, base_name=None, ahead=0, behind=0, unpushed=None, touched=seen
    )
    return Place(path, (agent,), sight)


def dark(path: str, agent: str) -> Place:
    return Place(path, (agent,), None, "it did not answer")


def lease(agent: str, place: str, *include: str, mode: str = "exclusive") -> Lease:
    return a_lease(*include, agent=agent, mode=mode, holder=Holder("host", worktree=place))


def facts(found: list[Meeting]) -> list[tuple[str, str, str, str]]:
    return [(one.path, one.reserved, one.changed, one.conflict) for one in found]


def test_what_two_have_changed_is_changed_and_its_merge_not_known_yet() -> None:
    found = meetings([place("/a", "alice", "x", "y"), place("/b", "bob", "x")], [], PLAIN)
    assert facts(found) == [("x", "no", "yes", "unknown")]


def test_what_one_has_changed_and_the_other_reserved_can_not_conflict() -> None:
    found = meetings([place("/a", "alice", "src/x"), place("/b", "bob")], [lease("bob", "/b", "src/**")], PLAIN)
    assert facts(found) == [("src/x", "yes", "yes", "no")]
    assert (found[0].changed_in, found[0].by) == (("/a",), ("bob",))


def test_what_nobody_else_wants_is_no_meeting() -> None:
    assert meetings([place("/a", "alice", "x"), place("/b", "bob", "y")], [lease("alice", "/a", "x")], PLAIN) == []


def test_one_s_own_reservation_is_no_meeting_from_wherever_it_is_held() -> None:
    places = [place("/a", "alice", "x"), place("/b", "bob")]
    assert meetings(places, [lease("alice", "/elsewhere", "x"), lease("alice/child", "/a", "x")], PLAIN) == []


def test_an_announcement_reserves_nothing() -> None:
    places = [place("/a", "alice", "x"), place("/b", "bob")]
    assert meetings(places, [lease("bob", "/b", "x", mode=INTENT)], PLAIN) == []


def test_a_reservation_from_no_known_worktree_is_one_too() -> None:
    found = meetings([place("/a", "alice", "x")], [lease("bob", "/gone", "x")], PLAIN)
    assert [(one.a, one.b, one.by) for one in found] == [("/a", None, ("bob",))]


def test_what_a_worktree_that_can_t_be_looked_at_has_changed_is_unknown() -> None:
    found = meetings([place("/a", "alice", "x"), dark("/b", "bob")], [lease("bob", "/b", "x")], PLAIN)
    assert facts(found) == [("x", "yes", "yes", "unknown")]
    assert found[0].unseen == ("/b",)


def test_without_the_store_nothing_is_known_of_reservations() -> None:
    found = meetings([place("/a", "alice", "x"), place("/b", "bob", "x")], None, PLAIN)
    assert facts(found) == [("x", "unknown", "yes", "unknown")]


def test_each_pair_has_its_own_answer() -> None:
    places = [place("/a", "alice", "x"), place("/b", "bob", "x"), place("/c", "carl", "x")]
    found = with_conflicts(meetings(places, [], PLAIN), {("/a", "/b"): frozenset(["x"]), ("/a", "/c"): frozenset()})
    assert [(one.pair, one.conflict) for one in found] == [
        (("/a", "/b"), "yes"), (("/a", "/c"), "no"), (("/b", "/c"), "unknown"),
    ]  # fmt: skip


@pytest.mark.parametrize("listed", ["x", "x~main", "x/below"])
def test_a_conflict_is_known_by_the_names_that_git_gives_it(listed: str) -> None:
    found = meetings([place("/a", "alice", "x"), place("/b", "bob", "x")], [], PLAIN)
    assert with_conflicts(found, {("/a", "/b"): frozenset([listed])})[0].conflict == "yes"


def test_names_that_differ_in_case_meet_where_the_file_system_folds_it() -> None:
    places = [place("/a", "alice", "X"), place("/b", "bob", "x")]
    assert (len(meetings(places, [], PLAIN)), len(meetings(places, [], Fold(True, False)))) == (0, 1)


# -- what one has changed against what it claims


def test_what_is_changed_but_unclaimed_is_listed_committed_or_not() -> None:
    here = place("/a", "alice", "a", "b", kind=COMMITTED)
    found = account(here, [lease("alice", "/a", "a")], PLAIN)
    assert found is not None and [one.path for one in found.unclaimed] == ["b"]


def test_a_claim_of_which_nothing_is_touched_is_listed() -> None:
    found = account(place("/a", "alice", "x"), [lease("alice", "/a", "docs/**"), lease("alice", "/a", "x")], PLAIN)
    assert found is not None and [(one.lease.include, one.narrower) for one in found.unused] == [(("docs/**",), ())]


def test_a_claim_that_is_broader_than_what_is_touched_names_the_one_that_would_do() -> None:
    found = account(place("/a", "alice", "src/a.py"), [lease("alice", "/a", "src/**")], PLAIN)
    assert found is not None and [one.narrower for one in found.unused] == [("src/a.py",)]


def test_a_claim_of_just_what_is_touched_is_not_complained_of() -> None:
    found = account(place("/a", "alice", "a", "b"), [lease("alice", "/a", "a", "b")], PLAIN)
    assert found is not None and found.unused == ()


def test_many_touched_paths_are_claimed_as_their_folder() -> None:
    assert narrowest([f"src/deep/{n}.py" for n in range(9)]) == ("src/deep/",)


def test_a_name_with_a_wildcard_is_named_so_that_it_means_itself() -> None:
    assert narrowest(["app/[id]/page.tsx"]) == ("app/\\[id\\]/page.tsx",)


def test_with_two_agents_in_one_worktree_nobody_knows_whose_its_changes_are() -> None:
    here = place("/a", "alice", "x").replace(agents=("alice", "bob"))
    family = here.replace(agents=("alice", "alice/child"))
    assert [one.shared for one in (account(here, [], PLAIN), account(family, [], PLAIN)) if one] == [True, False]


def test_of_a_worktree_that_can_t_be_looked_at_nothing_is_said() -> None:
    assert account(dark("/a", "alice"), [], PLAIN) is None
