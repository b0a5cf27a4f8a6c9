"""Who a branch is: its own commits' agents for all of it, merged and squashed ones for what is theirs."""

from gitlock.domain.authors import Authors
from gitlock.domain.change import Change
from gitlock.domain.lease import Holder
from gitlock.domain.merging import Commit, Evidence, Judged, Standing, judge_merge
from gitlock.domain.pattern import PLAIN
from gitlock.domain.policy import Policy
from gitlock.domain.receipt import Declared, Receipt
from tests.kit.agents import a_lease

MINE, THEIRS = "src/mine.py", "src/theirs.py"


def said(agent: str, include: str, fence: int = 5) -> Declared:
    receipt = Receipt(lease=f"{agent}{fence}", store="s1", fence=fence, include=(include,), agent=agent)
    return Declared((agent,), (receipt,))


def commit(
    name: str, says: Declared, *paths: str, part: int = 0, time: float = 100.0, signed: Declared | None = None,
    squashed: Declared | None = None,
) -> Commit:  # fmt: skip
    return Commit(name, time, says, ("dev@example.org",), paths, signed=signed, squashed=squashed, part=part)


def held(agent: str, path: str, *, fence: int = 9, branch: str | None = None) -> Standing:
    lease = a_lease(path, agent=agent, fence=fence)
    return Standing(lease.replace(acquired=200.0, holder=Holder("", branch=branch)), "s1", 1, "w", 0.0)


def judged(own: tuple[Commit, ...], *holding: Standing, paths: tuple[str, ...] = (MINE, THEIRS)) -> Judged:
    changes = [Change(path, "M") for path in paths]
    evidence = Evidence(branch="work", changes=changes, own=own, landed=(), held=holding)
    return judge_merge(evidence, Policy(unclaimed="allow"), PLAIN)


def found(judgement: Judged) -> list[tuple[str, str]]:
    return [(one.path, one.kind) for one in judgement.findings]


ALICE = commit("a1", said("alice", "docs/"), MINE)
BOB = commit("b1", said("bob", "docs/"), THEIRS, part=1)


def test_what_a_merge_brought_in_is_its_authors() -> None:
    assert found(judged((ALICE, BOB), held("bob", THEIRS))) == []


def test_but_they_do_not_stand_for_what_the_branch_itself_has_changed() -> None:
    assert found(judged((ALICE, BOB), held("bob", MINE))) == [(MINE, "held")]
    both = commit("a2", Declared(), THEIRS)
    assert found(judged((ALICE, both, BOB), held("bob", THEIRS))) == [(THEIRS, "held")]


def test_nor_for_what_another_merge_brought_in() -> None:
    carol = commit("c1", said("carol", "docs/"), MINE, part=2)
    assert found(judged((BOB, carol), held("bob", MINE), held("carol", MINE))) == [(MINE, "held")]


def test_a_receipt_of_what_was_merged_does_not_cover_the_branch_s_own_work() -> None:
    wide = commit("b1", said("bob", "src/"), THEIRS, part=1)
    changes = [Change(MINE, "M"), Change(THEIRS, "M")]
    evidence = Evidence(branch="work", changes=changes, own=(ALICE, wide), landed=(), held=())
    assert found(judge_merge(evidence, Policy(), PLAIN)) == [(MINE, "unclaimed")]


def test_one_s_own_receipt_covers_it_wherever_it_was_merged_from() -> None:
    pulled = commit("a0", said("alice", "src/"), THEIRS, part=1)
    evidence = Evidence(branch="work", changes=[Change(MINE, "M")], own=(ALICE, pulled), landed=(), held=())
    assert found(judge_merge(evidence, Policy(), PLAIN)) == []


def test_those_whose_commits_were_squashed_stand_for_what_that_commit_changes() -> None:
    squash = commit("s1", said("bob", "docs/"), THEIRS, signed=Declared(), squashed=said("bob", "docs/"))
    assert found(judged((ALICE, squash), held("bob", THEIRS))) == []
    assert found(judged((ALICE, squash), held("bob", MINE))) == [(MINE, "held")]


def test_a_name_that_is_only_quoted_stands_for_nothing() -> None:
    quoting = commit("a1", said("bob", "src/"), MINE, signed=said("alice", "docs/"))
    assert found(judged((quoting,), held("bob", MINE))) == [(MINE, "held")]


def test_without_receipts_it_is_whoever_made_the_commits() -> None:
    plain = commit("p1", Declared(), MINE)
    assert found(judged((plain,), held("dev@example.org", MINE))) == []
    assert found(judged((plain,), held("other@example.org", MINE))) == [(MINE, "held")]


def test_work_that_went_on_without_a_receipt_was_not_done_before() -> None:
    first = commit("a1", said("alice", MINE), MINE)
    assert found(judged((first,), held("bob", MINE))) == []
    after = commit("a2", Declared(), MINE, time=300.0)
    assert found(judged((after, first), held("bob", MINE))) == [(MINE, "held")]
    elsewhere = commit("a2", Declared(), THEIRS, time=300.0)
    assert found(judged((elsewhere, first), held("bob", MINE))) == []


def test_git_is_asked_only_where_there_is_a_foreign_name() -> None:
    asked: list[str] = []

    def work() -> dict[str, tuple[str, ...]]:
        asked.append("work")
        return {}

    authors = Authors((ALICE, commit("b2", Declared(), THEIRS, part=1)), work, (), "work", 2, PLAIN)
    assert authors.own("alice", MINE) and not authors.own("bob", MINE) and authors.proofs("docs/x")
    assert asked == []
