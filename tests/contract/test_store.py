"""What every store owes (gitlock/stores/protocol.py), once for each store."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitlock.domain.lease import Ended, Holder
from gitlock.domain.pattern import Pattern, parse_pattern
from gitlock.domain.queue import Waiter
from gitlock.domain.snapshot import NOTHING, Edits, Event, Snapshot
from gitlock.stores.files.history import read_history
from gitlock.stores.files.store import FileStore
from gitlock.stores.memory import MemoryStore
from tests.kit.agents import a_lease
from tests.kit.clock import ManualClock

if TYPE_CHECKING:
    from gitlock.stores.protocol import LeaseStore


class Subject:
    """A store, and ways to look at it from outside."""

    def __init__(self, store: "LeaseStore", clock: ManualClock, again: "Callable[[], LeaseStore]") -> None:
        self.store = store
        self.clock = clock
        self.again = again

    def write(self, **edits: object) -> None:
        self.store.update(lambda _: (Edits(**edits), None))  # type: ignore[arg-type]

    def traces(self) -> dict[str, bytes]:
        """Everything that a write would change."""
        if isinstance(self.store, FileStore):
            folder = Path(self.store.layout.folder)
            files = [path for path in folder.parent.rglob("*") if path.is_file()]
            return {f"{path} {path.stat().st_mtime_ns}": path.read_bytes() for path in files}
        return {"revision": str(self.store.read().revision).encode()}

    def history(self) -> list[str]:
        if isinstance(self.store, FileStore):
            return [str(event["verb"]) for event in read_history(self.store.layout)[0]]
        assert isinstance(self.store, MemoryStore)
        return [event.verb for event in self.store.history]


@pytest.fixture(params=["memory", "files"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
    clock = ManualClock()
    if request.param == "memory":
        memory = MemoryStore(clock)
        yield Subject(memory, clock, lambda: memory)
        memory.close()
    else:
        folder = str(tmp_path / "agentlocks")
        files = FileStore(folder, clock)
        yield Subject(files, clock, lambda: FileStore(folder, clock))
        files.close()


def ids(snapshot: Snapshot) -> set[str]:
    return {lease.id for lease in snapshot.leases.all()}


# -- reading


def test_a_store_begins_with_nothing_held(subject: Subject) -> None:
    found = subject.store.read()
    assert (ids(found), list(found.ended.all()), found.revision, found.counter) == (set(), [], 0, 0)


def test_now_is_the_clock_of_the_store(subject: Subject) -> None:
    subject.clock.advance(17)
    assert subject.store.read().now == subject.clock()


def test_reading_writes_nothing(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    before = subject.traces()
    subject.store.read()
    assert subject.traces() == before


def test_reading_an_untouched_store_writes_nothing(subject: Subject) -> None:
    before = subject.traces()
    subject.store.read()
    assert subject.traces() == before


def test_a_store_that_was_written_to_has_a_name_and_keeps_it(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    name = subject.store.read().store
    subject.write(put=(a_lease("b"),))
    assert name and subject.again().read().store == name


def test_a_snapshot_stays_as_it_was_read(subject: Subject) -> None:
    first = a_lease("a")
    subject.write(put=(first,))
    found = subject.store.read()
    subject.write(put=(a_lease("b"),), drop=(first.id,))
    assert ids(found) == {first.id}


def test_what_is_written_can_be_read_elsewhere(subject: Subject) -> None:
    lease = a_lease("src/*", names=("deploy:staging",), exclude=("src/gen/**",), reason='new "login"\n')
    subject.write(put=(lease,), counter=7)
    found = subject.again().read()
    assert (list(found.leases.all()), found.counter) == ([lease], 7)


@pytest.mark.parametrize("name", ["über", "n\udcffo", "a|b", 'a"b', "a\\\\b", "tab\there", "日本", ":key"])
def test_a_name_of_any_bytes_is_kept_and_found(subject: Subject, name: str) -> None:
    lease = a_lease(f"{name}/x")
    subject.write(put=(lease,))
    around = frozenset((parse_pattern(f"{name}/x").anchor,))
    assert list(subject.again().read().leases.around(around, frozenset())) == [lease]


# -- updating


def test_the_outcome_is_the_plans(subject: Subject) -> None:
    assert subject.store.update(lambda snapshot: (NOTHING, ("seen", snapshot.revision))) == ("seen", 0)


def test_a_plan_sees_what_was_written_last(subject: Subject) -> None:
    lease = a_lease("a")
    subject.again().update(lambda _: (Edits(put=(lease,)), None))
    assert subject.store.update(lambda snapshot: (NOTHING, ids(snapshot))) == {lease.id}


def test_all_edits_of_a_plan_are_seen_together(subject: Subject) -> None:
    old, lapsed, new = a_lease("a"), a_lease("b"), a_lease("c")
    forgotten = Ended(a_lease("d"), "expired", 1.0)
    subject.write(put=(old, lapsed), ended=(forgotten,))
    subject.write(
        put=(new,), drop=(old.id, lapsed.id), ended=(Ended(lapsed, "taken", 2.0, by="bob"),),
        forget=(forgotten.lease.id,), counter=9,
    )  # fmt: skip
    found = subject.again().read()
    seen = (ids(found), [ended.lease.id for ended in found.ended.all()], found.counter, found.revision)
    assert seen == ({new.id}, [lapsed.id], 9, 2)


def test_a_plan_that_fails_changes_nothing(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    before = subject.traces()

    def broken(_: Snapshot) -> tuple[Edits, None]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        subject.store.update(broken)
    assert subject.traces() == before


def test_a_plan_that_fails_leaves_the_store_usable(subject: Subject) -> None:
    def broken(_: Snapshot) -> tuple[Edits, None]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        subject.store.update(broken)
    lease = a_lease("a")
    subject.write(put=(lease,))
    assert ids(subject.store.read()) == {lease.id}


def test_each_write_is_the_next_revision(subject: Subject) -> None:
    revisions = []
    for name in "abc":
        subject.write(put=(a_lease(name),))
        revisions.append(subject.again().read().revision)
    assert revisions == [1, 2, 3]


def test_empty_edits_write_nothing(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    before = subject.traces()
    subject.write()
    assert subject.traces() == before


def test_events_alone_are_no_reason_to_write(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    subject.write(events=(Event("nothing", "alice", "a"),))
    assert (subject.store.read().revision, subject.history()) == (1, [])


def test_a_lease_that_is_put_again_is_replaced(subject: Subject) -> None:
    lease = a_lease("a")
    subject.write(put=(lease, a_lease("b")))
    changed = lease.replace(include=("a", "c"), ttl=5.0)
    subject.write(put=(changed,))
    assert [one for one in subject.store.read().leases.all() if one.id == lease.id] == [changed]


def test_what_an_edit_does_not_name_stays(subject: Subject) -> None:
    leases = tuple(a_lease(name) for name in "abcde")
    subject.write(put=leases)
    subject.write(drop=(leases[1].id,), put=(leases[3].replace(ttl=9.0),))
    assert ids(subject.again().read()) == {leases[n].id for n in (0, 2, 3, 4)}


@pytest.mark.parametrize("field", ["drop", "told", "forget", "leave"])
def test_an_unknown_id_is_passed_over(subject: Subject, field: str) -> None:
    lease = a_lease("a")
    subject.write(put=(lease,), ended=(Ended(a_lease("b"), "taken", 1.0),))
    subject.write(**{field: ("ffffffffffff",)})
    found = subject.store.read()
    assert (ids(found), len(list(found.ended.all()))) == ({lease.id}, 1)


def test_the_counter_stays_where_nobody_counts_on(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),), counter=41)
    subject.write(put=(a_lease("b"),))
    assert subject.again().read().counter == 41


def test_ended_leases_are_kept_in_order(subject: Subject) -> None:
    ended = [Ended(a_lease(name), "taken", at, by="bob") for at, name in enumerate("abc", 1)]
    for one in ended:
        subject.write(ended=(one,))
    assert list(subject.again().read().ended.all()) == ended


def test_an_ended_lease_that_was_told_is_marked(subject: Subject) -> None:
    one, other = (Ended(a_lease(name), "taken", 1.0, by="bob") for name in "ab")
    subject.write(ended=(one, other))
    subject.write(told=(one.lease.id,))
    assert [ended.told for ended in subject.store.read().ended.all()] == [True, False]


def test_what_a_later_version_wrote_survives_a_rewrite(subject: Subject) -> None:
    lease = a_lease("a", holder=Holder("host", extra={"gpu": 2}))
    lease = lease.replace(extra={"priority": {"level": [1, None, True]}})
    ended = Ended(lease, "taken", 1.0, extra={"cause": "x"})
    subject.write(put=(lease,), ended=(ended,))
    subject.write(put=(next(iter(subject.again().read().leases.all())).replace(ttl=7.0),), told=(lease.id,))
    found = subject.again().read()
    (after,), (told,) = found.leases.all(), found.ended.all()
    assert (after.extra, after.holder.extra, told.extra) == (lease.extra, {"gpu": 2}, {"cause": "x"})


def waiter(name: str, order: int, agent: str = "bob") -> Waiter:
    lease = a_lease("a")
    return Waiter(
        id=name, order=order, agent=agent, kind="agent", mode="exclusive", keys=("file:a",), include=("a",),
        exclude=(), reason="why", ttl=60.0, since=1.0, seen=lease.renewed, holder=lease.holder, process=lease.holder,
        extra={"later": 1},
    )  # fmt: skip


def test_the_queue_keeps_its_order(subject: Subject) -> None:
    one, two, three = (waiter(name, order) for order, name in enumerate("xyz", 1))
    subject.write(queue=(one,), order=1)
    subject.write(queue=(two,), order=2)
    subject.write(queue=(three, one.replace(passed=3)), order=3)
    subject.write(leave=("y",))
    found = subject.again().read()
    assert (list(found.waiters.ordered()), found.order) == ([one.replace(passed=3), three], 3)


def test_an_agents_places_are_found(subject: Subject) -> None:
    subject.write(queue=(waiter("x", 1), waiter("y", 2, "bo"), waiter("z", 3)), order=3)
    assert [one.id for one in subject.store.read().waiters.of(("bob",))] == ["x", "z"]


# -- finding


def test_leases_are_found_by_the_whole_name_of_their_agent(subject: Subject) -> None:
    agents = ["a", "a/b", "ab", "b/a"]
    subject.write(put=tuple(a_lease(f"p{n}", agent=agent) for n, agent in enumerate(agents)))
    assert [lease.agent for lease in subject.store.read().leases.of(("a", "ab"))] == ["a", "ab"]


def test_ended_leases_are_found_by_the_whole_name_of_their_agent(subject: Subject) -> None:
    agents = ["a", "a/b", "ab"]
    subject.write(ended=tuple(Ended(a_lease("p", agent=agent), "taken", 1.0) for agent in agents))
    assert [ended.lease.agent for ended in subject.store.read().ended.of(("a",))] == ["a"]


def test_counting_needs_no_reading(subject: Subject) -> None:
    subject.write(put=tuple(a_lease(name) for name in "abc"))
    assert subject.store.read().leases.count() == 3


NEAR: list[tuple[tuple[str, ...], str]] = [
    (("src/auth",), "src/auth"), (("src/*.py",), "src/"), (("x", "src/a.py"), "src/a.py"), (("**/b",), ""),
    (("SRC/a",), "src/a"),
]  # fmt: skip


@pytest.mark.parametrize(("include", "anchor"), NEAR)
def test_a_lease_is_found_by_the_anchor_of_any_of_its_patterns(
    subject: Subject, include: tuple[str, ...], anchor: str
) -> None:
    lease = a_lease(*include)
    subject.write(put=(a_lease("elsewhere/y"), lease))
    assert lease in subject.store.read().leases.near(frozenset((anchor,)), frozenset())


def test_a_lease_is_found_by_its_key_in_any_case(subject: Subject) -> None:
    lease = a_lease("src/x", names=("Deploy:Staging",))
    subject.write(put=(a_lease(names=("deploy:production",)), lease))
    assert list(subject.store.read().leases.near(frozenset(), frozenset(("deploy:staging",)))) == [lease]


AROUND = ["src", "src/", "src/auth/*", "src/auth/login.py", "**/login.py", "*", "docs/**", "srcs", "src.py"]


@pytest.mark.parametrize("wanted", AROUND)
def test_every_lease_that_may_meet_a_pattern_is_found(subject: Subject, wanted: str) -> None:
    leases = tuple(a_lease(text, "other/place") for text in AROUND)
    subject.write(put=leases)
    found = subject.store.read().leases.around(frozenset((parse_pattern(wanted).anchor,)), frozenset())
    assert {lease.id for lease in leases if _may_meet(lease.include[0], wanted)} <= {lease.id for lease in found}


def _may_meet(one: str, other: str) -> bool:
    """By the folders that both begin with, compared name by name."""

    def lead(pattern: Pattern) -> list[str]:
        names = []
        for segment in pattern.segments:
            if not isinstance(segment, str):
                break
            names.append(segment)
        return names

    return all(a == b for a, b in zip(lead(parse_pattern(one)), lead(parse_pattern(other)), strict=False))


# -- the rest


def test_a_note_is_history_and_nothing_else(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    subject.store.note((Event("bypass", "alice", "a", note="why"),))
    assert (subject.store.read().revision, subject.history()) == (1, ["bypass"])


def test_history_has_the_events_of_what_was_written(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),), events=(Event("claim", "alice", "a"), Event("lapse", "bob", "a")))
    assert subject.history() == ["claim", "lapse"]


def test_a_note_never_fails(subject: Subject) -> None:
    subject.store.note((Event("note", "n\udcff", "\0", note="\ud800"),))
    assert subject.store.read().revision == 0


def test_waiting_for_a_revision_that_is_past_returns(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    subject.store.wait(0, 60.0)
    assert subject.store.read().revision == 1


def test_waiting_ends_when_nothing_happens(subject: Subject) -> None:
    subject.store.wait(0, 0.05)
    assert subject.store.read().revision == 0


def test_waiting_ends_when_somebody_writes(subject: Subject) -> None:
    subject.write(put=(a_lease("a"),))
    waiting = threading.Thread(target=subject.again().wait, args=(1, 60.0))
    waiting.start()
    subject.write(put=(a_lease("b"),))
    waiting.join(30.0)
    assert not waiting.is_alive()


def test_threads_lose_no_update(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "agentlocks"), ManualClock())

    def work() -> None:
        for _ in range(20):
            store.update(lambda snapshot: (Edits(counter=snapshot.counter + 1), None))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read().counter == 80
