"""The merge check's decision: held, overtaken, unclaimed, and what only warns."""

import pytest

from gitlock.domain.change import Change
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED, Holder, Lease
from gitlock.domain.merging import Commit, Evidence, Judged, Other, Standing, judge_merge
from gitlock.domain.pattern import PLAIN
from gitlock.domain.policy import KeyRule, Policy
from gitlock.domain.receipt import Declared, Receipt
from tests.kit.agents import a_lease

PATH = "src/a.py"


def receipt(agent: str, *include: str, fence: int = 5, store: str = "s1") -> Receipt:
    return Receipt(lease=f"{agent}{fence}", store=store, fence=fence, include=include or (PATH,), agent=agent)


def commit(
    *receipts: Receipt, time: float = 100.0, paths: tuple[str, ...] = (PATH,), people: tuple[str, ...] = (),
    bypass: tuple[str, ...] = (), agents: tuple[str, ...] = (),
) -> Commit:  # fmt: skip
    named = agents or tuple(dict.fromkeys(one.agent for one in receipts))
    return Commit("c" * 40, time, Declared(named, receipts, bypass), people, paths)


def held(
    agent: str, *include: str, fence: int = 9, store: str = "s1", mode: str = EXCLUSIVE, branch: str | None = None,
    acquired: float = 200.0, kind: str = "agent",
) -> Standing:  # fmt: skip
    lease: Lease = a_lease(*(include or (PATH,)), agent=agent, fence=fence, mode=mode, kind=kind)
    return Standing(lease.replace(acquired=acquired, holder=Holder("", branch=branch)), store, 1, "w", 0.0)


def judged(
    *, own: tuple[Commit, ...] = (), landed: tuple[Commit, ...] = (), holding: tuple[Standing, ...] = (),
    paths: tuple[str, ...] = (PATH,), policy: Policy | None = None, branch: str | None = "work",
    others: tuple[Other, ...] = (),
) -> Judged:  # fmt: skip
    changes = [Change(path, "M") for path in paths]
    evidence = Evidence(branch=branch, changes=changes, own=own, landed=landed, held=holding, others=others)
    return judge_merge(evidence, policy or Policy(), PLAIN)


def kinds(found: Judged) -> list[str]:
    return [one.kind for one in found.findings]


ALICE = commit(receipt("alice"))

# -- held


def test_a_path_that_the_branch_has_a_receipt_for_may_land() -> None:
    found = judged(own=(ALICE,))
    assert (found.answer, found.agents, found.notices) == ("clear", ("alice",), ())


@pytest.mark.parametrize("mode", [EXCLUSIVE, SHARED])
def test_a_path_that_another_holds_may_not(mode: str) -> None:
    found = judged(own=(commit(receipt("alice", "other")),), holding=(held("bob", mode=mode),))
    assert kinds(found) == ["held"] and found.findings[0].held is not None


def test_what_the_branch_s_own_agents_parents_or_children_hold_is_in_nobodys_way() -> None:
    for agent in ("alice", "alice/helper"):
        assert judged(own=(ALICE,), holding=(held(agent),)).answer == "clear"
    assert judged(own=(commit(receipt("alice/helper")),), holding=(held("alice"),)).answer == "clear"


def test_a_sibling_s_lease_is_another_s() -> None:
    found = judged(own=(commit(receipt("lead/a", "other")),), holding=(held("lead/b"),))
    assert kinds(found) == ["held"]


def test_a_receipt_with_a_lower_fence_shows_that_the_work_was_done_before() -> None:
    found = judged(own=(ALICE,), holding=(held("bob", fence=6),))
    assert found.answer == "clear" and [one.kind for one in found.notices] == ["held-since"]


def test_a_receipt_with_a_higher_fence_shows_that_it_was_not() -> None:
    assert kinds(judged(own=(ALICE,), holding=(held("bob", fence=4),))) == ["held"]


@pytest.mark.parametrize(("acquired", "answer"), [(99.0, "violation"), (101.0, "clear")])
def test_where_fences_do_not_compare_the_times_of_commit_and_grant_do(acquired: float, answer: str) -> None:
    assert judged(own=(ALICE,), holding=(held("bob", store="s2", acquired=acquired),)).answer == answer


def test_an_announcement_warns() -> None:
    found = judged(own=(ALICE,), holding=(held("bob", mode=INTENT),))
    assert found.answer == "clear" and [one.kind for one in found.notices] == ["announced"]


def test_without_receipts_the_branch_is_whoever_s_lease_says_that_it_works_there() -> None:
    found = judged(holding=(held("alice", branch="work"), held("bob", "src/b.py", branch="elsewhere")))
    assert (found.agents, found.answer) == (("alice",), "clear")


def test_without_anything_it_is_nobody_and_every_lease_another_s() -> None:
    found = judged(holding=(held("alice", branch="other"),))
    assert (found.agents, kinds(found)) == ((), ["held"])


# -- unclaimed


def test_a_path_without_a_receipt_is_unclaimed() -> None:
    assert kinds(judged(own=(ALICE,), paths=(PATH, "b"))) == ["unclaimed"]


@pytest.mark.parametrize(
    "policy",
    [Policy(open_paths=("src/**",)), Policy(unclaimed="allow"), Policy(unclaimed="claim"), Policy(receipts=False)],
)
def test_unless_the_policy_asks_for_no_claim_or_for_no_receipts(policy: Policy) -> None:
    assert judged(policy=policy).answer == "clear"


def test_a_receipt_of_any_commit_of_the_branch_counts() -> None:
    assert judged(own=(commit(bypass=("x",), agents=("alice",)), ALICE)).answer == "clear"


def test_an_excluded_path_is_not_covered() -> None:
    own = commit(receipt("alice", "src/").replace(exclude=(PATH,)))
    assert kinds(judged(own=(own,))) == ["unclaimed"]


# -- overtaken


def test_a_later_fence_of_another_that_has_landed_overtakes() -> None:
    found = judged(own=(ALICE,), landed=(commit(receipt("bob", fence=6)),))
    (finding,) = found.findings
    assert finding.kind == "overtaken" and finding.receipt is not None and finding.receipt.fence == 6
    assert finding.own is not None and finding.own.fence == 5


def test_an_earlier_fence_does_not() -> None:
    assert judged(own=(ALICE,), landed=(commit(receipt("bob", fence=4)),)).answer == "clear"


def test_the_branch_s_latest_receipt_is_what_counts() -> None:
    again = commit(receipt("alice", fence=7))
    assert judged(own=(again, ALICE), landed=(commit(receipt("bob", fence=6)),)).answer == "clear"


def test_what_the_branch_s_own_agents_have_landed_overtakes_nobody() -> None:
    assert judged(own=(ALICE,), landed=(commit(receipt("alice", fence=6)),)).answer == "clear"


def test_a_landed_change_of_another_path_does_not_matter() -> None:
    landed = commit(receipt("bob", "src/", fence=6), paths=("src/b.py",))
    assert judged(own=(ALICE,), landed=(landed,)).answer == "clear"


def test_a_landed_change_under_a_receipt_for_something_else_does_not_matter() -> None:
    assert judged(own=(ALICE,), landed=(commit(receipt("bob", "db/", fence=6)),)).answer == "clear"


@pytest.mark.parametrize("theirs", [receipt("bob", store="s2"), receipt("bob", fence=2_000_000_000)])
def test_a_fence_of_another_store_or_epoch_only_warns_and_is_named(theirs: Receipt) -> None:
    found = judged(own=(ALICE,), landed=(commit(theirs),))
    assert found.answer == "clear" and [one.receipt for one in found.notices] == [theirs]


def test_in_a_squash_each_agent_s_receipts_are_its_own() -> None:
    landed = commit(receipt("carol", "db/", fence=8), receipt("bob", fence=6), paths=(PATH, "db/x"))
    (finding,) = judged(own=(ALICE,), landed=(landed,)).findings
    assert finding.receipt is not None and finding.receipt.agent == "bob"


# -- the rest


def test_another_branch_that_changes_the_path_too_is_named() -> None:
    found = judged(own=(ALICE,), others=(Other("theirs", (PATH,)),))
    assert found.answer == "clear" and [(one.kind, one.name) for one in found.notices] == [("ahead", "theirs")]


def test_a_bypass_is_shown() -> None:
    found = judged(own=(commit(receipt("alice"), bypass=("in a hurry",)),))
    assert [one.name for one in found.notices] == ["in a hurry"]


def test_in_warn_nothing_stops() -> None:
    found = judged(policy=Policy(mode="warn"))
    assert found.answer == "clear" and [one.mode for one in found.findings] == ["warn"]


def test_a_declared_key_s_mode_stands_above_the_file_s() -> None:
    policy = Policy(mode="warn", keys=(KeyRule("a:b", (PATH,), mode="enforce"),))
    assert judged(policy=policy).answer == "violation"


@pytest.mark.parametrize(
    ("own", "mode"),
    [
        ((), "warn"),
        ((commit(receipt("dana@example.com", "x"), people=("dana@example.com",)),), "warn"),
        ((commit(receipt("claude-1", "x"), people=("dana@example.com",)),), "enforce"),
    ],
)
def test_what_holds_for_people_holds_where_the_agents_are_the_commits_authors(
    own: tuple[Commit, ...], mode: str
) -> None:
    assert [one.mode for one in judged(own=own, policy=Policy(humans="warn")).findings] == [mode]


def test_off_judges_nothing() -> None:
    assert judged(policy=Policy(mode="off"), holding=(held("bob"),)).findings == ()
