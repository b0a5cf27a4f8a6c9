"""The one decision: may these paths be changed by this agent?"""

import pytest

from gitlock.domain.change import Change
from gitlock.domain.decision import CLEAR, VIOLATION, Decision, decide
from gitlock.domain.lease import Ended, Lease
from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.policy import BUILT_IN, KeyRule, Policy
from gitlock.domain.standing import Facts
from tests.kit.agents import HERE, NOTHING_KNOWN, a_lease, snapshot_of
from tests.kit.clock import ManualClock

ANCHORED = HERE.replace(pid=4711)
Changes = list[Change] | str


def judged(
    changes: Changes,
    *leases: Lease,
    agent: str = "alice",
    kind: str = "agent",
    policy: Policy = BUILT_IN,
    facts: Facts = NOTHING_KNOWN,
    ended: tuple[Ended, ...] = (),
    fold: Fold = PLAIN,
    after: float = 0.0,
) -> Decision:
    """What is decided about changes, ``after`` seconds; a text is paths between spaces."""
    clock = ManualClock()
    clock.advance(after)
    paths = [Change(path, "M") for path in changes.split()] if isinstance(changes, str) else changes
    snapshot = snapshot_of(*leases, now=clock(), ended=ended)
    return decide(paths, snapshot, agent, kind, policy, fold, facts)


def kinds(decision: Decision) -> dict[str, str]:
    return {finding.path: finding.kind for finding in decision.findings}


# -- rule 1: another holds it


@pytest.mark.parametrize("mode", ["exclusive", "shared"])
def test_what_another_holds_is_held(mode: str) -> None:
    decision = judged("src/a", a_lease("src/*", agent="bob", mode=mode))
    assert kinds(decision) == {"src/a": "held"} and decision.answer == VIOLATION


def test_a_finding_names_whose_it_is() -> None:
    lease = a_lease("src/*", agent="bob")
    assert [finding.lease for finding in judged("src/a", lease).findings] == [lease]


def test_what_is_held_by_another_as_well_as_by_oneself_is_held() -> None:
    assert kinds(judged("a", a_lease("a", mode="shared"), a_lease("a", agent="bob", mode="shared"))) == {"a": "held"}


def test_an_exclusive_holder_is_named_before_a_shared_one() -> None:
    decision = judged("a", a_lease("a", agent="bob", mode="shared"), a_lease("a", agent="carol"))
    assert [one.lease.agent for one in decision.findings if one.lease is not None] == ["carol"]


def test_held_stands_above_open_and_allowed() -> None:
    policy = Policy(open_paths=("**",), unclaimed="allow")
    assert kinds(judged("a", a_lease("a", agent="bob"), policy=policy)) == {"a": "held"}


def test_a_siblings_lease_is_anothers() -> None:
    assert kinds(judged("a", a_lease("a", agent="team/one"), agent="team/two")) == {"a": "held"}


def test_anothers_announcement_is_shown_and_stops_nothing() -> None:
    lease = a_lease("src/*", agent="bob", mode="intent")
    decision = judged("src/a", lease, a_lease("src/a"))
    assert decision.answer == CLEAR and decision.announced == (("src/a", lease),)


def test_an_expired_announcement_is_not_shown() -> None:
    assert judged("a", a_lease("a", agent="bob", mode="intent", ttl=60.0), a_lease("a"), after=61.0).announced == ()


def test_anothers_expired_lease_stops_nothing() -> None:
    assert judged("a", a_lease("a", agent="bob", ttl=60.0), a_lease("a"), after=61.0).answer == CLEAR


def test_a_dead_holders_lease_is_to_be_looked_at() -> None:
    lease = a_lease("a", agent="bob", holder=ANCHORED)
    assert judged("a", lease, facts=Facts(lambda _: "dead")).doubtful == (lease,)


def test_a_dead_holder_that_left_changes_still_holds() -> None:
    lease = a_lease("a", agent="bob", holder=ANCHORED)
    decision = judged("a", lease, facts=Facts(lambda _: "dead", {lease.id: True}))
    assert [(one.kind, one.standing) for one in decision.findings] == [("held", "orphaned")]


def test_a_dead_holder_that_left_nothing_does_not() -> None:
    lease = a_lease("a", agent="bob", holder=ANCHORED)
    decision = judged("a", lease, a_lease("a"), facts=Facts(lambda _: "dead", {lease.id: False}))
    assert decision.answer == CLEAR


def test_case_decides_only_where_the_file_system_tells_it() -> None:
    lease = a_lease("SRC/A.py", agent="bob")
    policy = Policy(unclaimed="allow")
    decisions = [judged("src/a.py", lease, policy=policy, fold=fold) for fold in (PLAIN, Fold(True, False))]
    assert [decision.answer for decision in decisions] == [CLEAR, VIOLATION]


# -- rule 2: one's own


@pytest.mark.parametrize("holder", ["alice", "alice/helper", "alice/a/b"])
def test_what_the_family_holds_is_fine(holder: str) -> None:
    assert judged("src/a", a_lease("src/*", agent=holder)).answer == CLEAR


def test_what_the_parent_holds_is_fine() -> None:
    assert judged("src/a", a_lease("src/*", agent="team"), agent="team/one").answer == CLEAR


def test_the_leases_that_were_used_are_named() -> None:
    one, other = a_lease("src/*"), a_lease("docs")
    assert judged("src/a src/b", one, other).used == (one,)


@pytest.mark.parametrize("mode", ["shared", "intent"])
def test_relying_on_a_path_or_announcing_it_is_no_leave_to_change_it(mode: str) -> None:
    assert kinds(judged("a", a_lease("a", mode=mode))) == {"a": "unclaimed"}


def test_an_own_lapsed_lease_that_nobody_overlapped_counts() -> None:
    assert judged("a", a_lease("a", ttl=60.0), after=3600.0).answer == CLEAR


# -- rule 3: overtaken


def taken(by: str = "bob", agent: str = "alice") -> Ended:
    return Ended(a_lease("src/*", agent=agent), "taken", 1.0, by=by, by_claim="src/a", by_fence=9)


def test_what_was_taken_over_since_is_overtaken() -> None:
    decision = judged("src/b", ended=(taken(),))
    assert kinds(decision) == {"src/b": "overtaken"} and decision.findings[0].ended == taken().replace(
        lease=decision.findings[0].ended.lease  # type: ignore[union-attr]
    )


def test_a_childs_work_is_overtaken_with_its_parents_lease() -> None:
    assert kinds(judged("src/b", agent="alice/helper", ended=(taken(),))) == {"src/b": "overtaken"}


def test_claiming_it_again_settles_that() -> None:
    assert judged("src/b", a_lease("src/b"), ended=(taken(),)).answer == CLEAR


def test_somebody_else_was_not_overtaken() -> None:
    assert kinds(judged("src/b", agent="carol", ended=(taken(),))) == {"src/b": "unclaimed"}


@pytest.mark.parametrize("why", ["expired", "broken", "released", "lost"])
def test_an_end_that_nobody_took_anything_by_is_no_overtaking(why: str) -> None:
    ended = Ended(a_lease("src/*"), why, 1.0, by="bob")
    assert kinds(judged("src/b", ended=(ended,))) == {"src/b": "unclaimed"}


def test_being_overtaken_stands_above_open() -> None:
    assert kinds(judged("src/b", ended=(taken(),), policy=Policy(open_paths=("**",)))) == {"src/b": "overtaken"}


# -- rules 4 and 5: open, and unclaimed


def test_an_open_path_is_fine() -> None:
    assert kinds(judged("docs/a src/b", policy=Policy(open_paths=("docs/**",)))) == {"src/b": "unclaimed"}


def test_an_unclaimed_path_is_rejected() -> None:
    decision = judged("a")
    assert kinds(decision) == {"a": "unclaimed"} and decision.answer == VIOLATION


def test_an_unclaimed_path_may_be_taken_where_the_policy_says_so() -> None:
    decision = judged("a b", a_lease("a"), policy=Policy(unclaimed="claim"))
    assert decision.takeable == ("b",) and decision.answer == CLEAR


def test_an_unclaimed_path_passes_where_the_policy_allows() -> None:
    assert judged("a", policy=Policy(unclaimed="allow")).answer == CLEAR


# -- the answer


def test_every_finding_is_listed_in_the_order_of_the_paths() -> None:
    assert list(kinds(judged("c a b", a_lease("a", agent="bob")))) == ["c", "a", "b"]


def test_a_warning_is_no_violation() -> None:
    decision = judged("a", policy=Policy(mode="warn"))
    assert kinds(decision) == {"a": "unclaimed"} and decision.answer == CLEAR


def test_off_finds_nothing() -> None:
    assert judged("a", a_lease("a", agent="bob"), policy=Policy(mode="off")).findings == ()


def test_each_path_has_the_mode_of_its_key() -> None:
    policy = Policy(mode="warn", keys=(KeyRule("x:db", ("db/**",), mode="enforce"),))
    decision = judged("db/a src/b", policy=policy)
    assert [one.path for one in decision.violations] == ["db/a"] and len(decision.findings) == 2


def test_people_are_let_off_where_the_policy_says_so() -> None:
    assert judged("a", kind="human", policy=Policy(humans="off")).findings == ()


def test_nothing_changed_is_clear() -> None:
    assert judged("", a_lease("**", agent="bob")).answer == CLEAR


def test_a_deletion_is_a_change() -> None:
    decision = judged([Change("src/a", "D")], a_lease("src/*", agent="bob"))
    assert [(one.kind, one.status) for one in decision.findings] == [("held", "D")]


def test_a_folder_that_a_file_replaces_is_a_change_of_what_was_in_it() -> None:
    changes = [Change("src/auth", "A"), Change("src/auth/login.py", "D")]
    assert kinds(judged(changes, a_lease("src/auth/login.py", agent="bob"), policy=Policy(unclaimed="allow"))) == {
        "src/auth/login.py": "held"
    }


def test_a_name_that_is_not_utf8_is_judged_as_its_bytes() -> None:
    lease = a_lease("caf\udce9/*", agent="bob")
    assert kinds(judged([Change("caf\udce9/x", "M")], lease)) == {"caf\udce9/x": "held"}


def test_a_pure_key_covers_no_path() -> None:
    assert kinds(judged("deploy:x", a_lease(names=("deploy:x",), agent="bob"))) == {"deploy:x": "unclaimed"}
