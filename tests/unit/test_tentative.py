"""Leases that were taken for an edit, and what becomes of an agent's leases when a call, a turn or a session ends."""

from pathlib import Path

from gitlock.domain.claim import plan_claim
from gitlock.domain.lease import Holder, Lease
from gitlock.domain.leaving import leaves, plan_leave, plan_pass_on
from gitlock.domain.pattern import PLAIN, escape
from gitlock.domain.session import WORKING, Session
from gitlock.domain.sitting import Sitting, remember, sitting_of
from gitlock.domain.standing import DOUBTFUL, GONE, LIVE, ORPHANED, Facts, nothing_known, standing
from gitlock.domain.tentative import calls_of, plan_settle, plan_turn_over
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.presence import waits_for_person
from tests.kit.agents import HERE, NOTHING_KNOWN, a_claim, a_lease, enforced, snapshot_of
from tests.kit.clock import ManualClock


def tentative(*calls: str, path: str = "a.py") -> Lease:
    return a_lease(path).replace(extra={"tentative": list(calls)})


def test_an_edit_that_happened_makes_its_lease_firm() -> None:
    edits, gone = plan_settle(snapshot_of(tentative("t1")), "alice", "t1", happened=True)
    assert [calls_of(lease) for lease in edits.put] == [()] and not gone and not edits.drop


def test_an_edit_that_did_not_happen_gives_its_lease_back_but_no_other() -> None:
    lease, other, firm = tentative("t1"), tentative("t2", path="b.py"), a_lease("c.py")
    edits, gone = plan_settle(snapshot_of(lease, other, firm), "alice", "t1", happened=False)
    assert edits.drop == (lease.id,) and gone == (lease,) and not edits.put


def test_a_lease_that_another_call_needs_stays() -> None:
    edits, gone = plan_settle(snapshot_of(tentative("t1", "t2")), "alice", "t1", happened=False)
    assert [calls_of(lease) for lease in edits.put] == [("t2",)] and not gone


def test_a_claim_in_so_many_words_makes_it_firm() -> None:
    edits, _ = plan_claim(
        snapshot_of(tentative("t1")), a_claim("a.py"), fold=PLAIN, facts=NOTHING_KNOWN, mode_of=enforced
    )
    assert [calls_of(lease) for lease in edits.put] == [()]


def test_what_is_tentative_at_the_end_of_a_turn_is_kept_only_where_something_was_edited() -> None:
    lease, edited = tentative("t1"), tentative("t2", path="b.py")
    edits, gone = plan_turn_over(snapshot_of(lease, edited), "alice", {lease.id: False, edited.id: True})
    assert gone == (lease,) and [calls_of(one) for one in edits.put] == [()]


def test_a_session_that_ends_leaves_only_the_paths_that_are_changed() -> None:
    wide = a_lease("src/**")
    clean = a_lease("docs/x.md")
    edits, gone, kept = plan_leave(
        snapshot_of(wide, clean), lambda one: leaves(one, "alice", None), {"/tree": ["src/[a].py", "README"]}, PLAIN
    )
    assert gone == (clean,) and [one.id for one in kept] == [wide.id]
    assert [(one.include, one.keys) for one in edits.put] == [((escape("src/[a].py"),), ("file:src/[a].py",))]


def test_where_nobody_could_look_all_of_it_stays() -> None:
    lease = a_lease("src/**")
    _, gone, kept = plan_leave(snapshot_of(lease), lambda _: True, {"/tree": None}, PLAIN)
    assert not gone and [one.include for one in kept] == [("src/**",)]


def test_what_was_left_stands_while_its_paths_are_changed_and_is_taken_up_by_its_agents_next_beat() -> None:
    from gitlock.domain.beat import plan_beat

    lease = a_lease("a.py")
    edits, _, _ = plan_leave(snapshot_of(lease), lambda _: True, {"/tree": ["a.py"]}, PLAIN)
    (left,) = edits.put
    now = ManualClock()()
    facts = Facts(nothing_known)
    assert standing(left, now, facts) == DOUBTFUL
    assert standing(left, now, facts.with_dirty({left.id: True})) == ORPHANED
    assert standing(left, now, facts.with_dirty({left.id: False})) == GONE
    (back,) = plan_beat(snapshot_of(left), "alice")[0].put
    assert standing(back, now, facts) == LIVE


def test_a_session_of_an_agent_that_is_more_than_it_takes_only_its_own_along() -> None:
    mine = a_lease("a.py", holder=HERE.replace(session="claude-1"))
    childs = a_lease("b.py", agent="alice/x", holder=HERE.replace(session="claude-1/x"))
    given = a_lease("c.py")
    command = a_lease("d.py", holder=HERE.replace(session="claude-1", extra={"apart": True}))
    found = [leaves(one, "alice", "claude-1") for one in (mine, childs, given, command)]
    assert found == [True, True, False, False]
    assert leaves(given, "alice", None) and not leaves(a_lease("a.py", agent="alicia"), "alice", None)


def test_the_leases_of_a_sub_agent_pass_to_its_parent_under_the_same_fence() -> None:
    child = a_lease("a.py", agent="alice/x", fence=7)
    double = a_lease("b.py", agent="alice/x")
    other = a_lease("c.py", agent="alice/y")
    edits, passed = plan_pass_on(snapshot_of(child, double, other, a_lease("b.py")), "alice/x", PLAIN)
    assert [(one.agent, one.fence) for one in passed] == [("alice", 7)]
    assert edits.drop == (double.id,) and len(edits.put) == 1


def a_session(**changes: object) -> Session:
    session = Session(
        id="alice-6d0f2a11", agent="alice", kind="agent", program=None, holder=HERE, worktree_id=None, state=WORKING,
        since=0.0, message="", waited=0.0, started=0.0, active=0.0,
    )  # fmt: skip
    return session.replace(**changes)


def test_what_hooks_remember_survives_the_record() -> None:
    sitting = Sitting().said("request 1", 5.0).began("t1", 6.0).was_refused("a.py", 7.0).with_later("x")
    assert sitting_of(remember(a_session(), sitting)) == sitting
    assert sitting_of(a_session(extra={"hooks": {"heard": [1], "calls": "x", "later": 3}})) == Sitting()


def test_a_tool_call_that_has_not_ended_keeps_a_lapsed_lease_up_to_an_hour(tmp_path: Path) -> None:
    from gitlock.domain.session import session_id

    layout = Layout(str(tmp_path / "agentlocks"))
    lease = a_lease("a.py", holder=Holder("host", worktree="/tree", session="claude-1"))
    session = a_session(id=session_id("alice", "claude-1", "/tree"), holder=lease.holder)
    SessionBook(layout).write(remember(session, Sitting().began("t1", 1000.0)))

    def excused(wall: float, liveness: str = "unknown") -> bool:
        return waits_for_person(layout, lease, lambda _: liveness, wall)

    assert excused(1500.0) and not excused(5000.0) and not excused(1500.0, "dead")
    SessionBook(layout).write(remember(session, Sitting().began("t1", 1000.0).ended("t1")))
    assert not excused(1500.0)
