"""Places in the queue: who keeps one, whom it keeps from what, and what a row of it is on the disk."""

import pytest

from gitlock.domain.footprint import Footprint
from gitlock.domain.lease import EXCLUSIVE, INTENT, SHARED
from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.queue import OFFER, PASSES, TICKET_TTL, Waiter, excludes, keeps_place, may_pass
from gitlock.domain.snapshot import anchors_of
from gitlock.errors import StoreCorrupt
from gitlock.jsontext import dumps, loads
from gitlock.stores.files.queue_rows import WaiterLines, decode_waiter, edited_queue, encode_waiter
from tests.kit.agents import HERE, a_claim
from tests.kit.clock import ManualClock
from tests.kit.queueing import PROCESS

CLOCK = ManualClock()


def a_waiter(
    *include: str, agent: str = "bob", order: int = 1, ticket: bool = False, names: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (), mode: str = EXCLUSIVE, **more: object,
) -> Waiter:  # fmt: skip
    claim = a_claim(*include, agent=agent, names=names, exclude=exclude, mode=mode)
    now = CLOCK()
    return Waiter(
        id=f"t{order}", order=order, agent=agent, kind="agent", mode=mode, keys=claim.keys, include=include,
        exclude=exclude, reason='say "why",\n', ttl=600.0, since=now.wall, seen=now, holder=HERE,
        process=None if ticket else PROCESS, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def there(_: Waiter) -> bool:
    return True


def gone(_: Waiter) -> bool:
    return False


# -- keeping a place


@pytest.mark.parametrize("process", [there, gone])
def test_a_process_keeps_its_place_for_as_long_as_it_waits(process: object) -> None:
    assert keeps_place(a_waiter("a"), CLOCK(), process) is (process is there)  # type: ignore[arg-type]


def test_a_ticket_needs_no_process() -> None:
    assert keeps_place(a_waiter("a", ticket=True), CLOCK(), gone)


@pytest.mark.parametrize(("later", "kept"), [(OFFER, True), (OFFER + 0.1, False)])
def test_a_ticket_keeps_its_place_for_the_window_of_its_offer(later: float, kept: bool) -> None:
    ticket = a_waiter("a", ticket=True, offered=CLOCK())
    assert keeps_place(ticket, CLOCK().plus(later), there) is kept


@pytest.mark.parametrize(("later", "kept"), [(TICKET_TTL, True), (TICKET_TTL + 1, False)])
def test_a_silent_ticket_loses_its_place_after_a_day(later: float, kept: bool) -> None:
    assert keeps_place(a_waiter("a", ticket=True), CLOCK().plus(later), there) is kept


# -- what a place keeps from others


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ((EXCLUSIVE, "src/*"), (EXCLUSIVE, "src/a"), True),
        ((EXCLUSIVE, "src/*"), (EXCLUSIVE, "lib/a"), False),
        ((SHARED, "src/*"), (SHARED, "src/a"), False),
        ((SHARED, "src/*"), (EXCLUSIVE, "src/a"), True),
        ((INTENT, "src/*"), (EXCLUSIVE, "src/a"), False),
        ((EXCLUSIVE, "src/*"), (INTENT, "src/a"), False),
    ],
)
def test_a_place_keeps_from_others_what_a_lease_would(
    one: tuple[str, str], other: tuple[str, str], meet: bool
) -> None:
    waiter = a_waiter(one[1], mode=one[0])
    assert excludes(waiter, "carol", other[0], (), Footprint.of((other[1],)), PLAIN) is meet


@pytest.mark.parametrize("agent", ["bob", "bob/helper"])
def test_nobody_is_kept_from_anything_by_its_own(agent: str) -> None:
    assert not excludes(a_waiter("a"), agent, EXCLUSIVE, (), Footprint.of(("a",)), PLAIN)


@pytest.mark.parametrize(("fold", "meet"), [(PLAIN, False), (Fold(True, False), True)])
def test_keys_that_differ_in_case_meet_where_names_do(fold: Fold, meet: bool) -> None:
    assert excludes(a_waiter(names=("Deploy:X",)), "carol", EXCLUSIVE, ("deploy:x",), Footprint.of(()), fold) is meet


def test_whether_somebody_is_blocked_is_asked_only_of_one_who_could_be_passed() -> None:
    def blocked(_: Waiter) -> bool:
        raise AssertionError("this costs more than all the rest")

    assert not may_pass(a_waiter("src/**"), (), Footprint.of(("**",)), PLAIN, blocked)
    assert not may_pass(a_waiter("src/**", passed=PASSES), (), Footprint.of(("src/a",)), PLAIN, blocked)


# -- on the disk


@pytest.mark.parametrize(
    "waiter",
    [
        a_waiter("src/*", "docs/**", exclude=("docs/gen",), names=("deploy:x",)),
        a_waiter("n\udcffo", ticket=True, offered=CLOCK(), passed=3),
        a_waiter(names=("deploy:x",), mode=SHARED, extra={"later": [1]}),
    ],
)
def test_a_row_is_read_as_it_was_written(waiter: Waiter) -> None:
    assert decode_waiter(loads(dumps(encode_waiter(waiter))), "here") == waiter


@pytest.mark.parametrize(
    "change",
    [
        {"order": -1}, {"order": True}, {"agent": 1}, {"keys": "x"}, {"include": ["["]}, {"ttl": None}, {"seen": 1e300},
        {"process": 1}, {"holder": None}, {"offered": "x"}, {"passed": 1.5},
    ],
    ids=str,
)  # fmt: skip
def test_a_row_that_is_not_understood_is_damage(change: dict[str, object]) -> None:
    with pytest.raises(StoreCorrupt):
        decode_waiter({**encode_waiter(a_waiter("a")), **change}, "here")


def rows(*waiters: Waiter) -> WaiterLines:
    return WaiterLines([dumps(encode_waiter(one)).encode() for one in waiters], "here")


QUEUE = (
    a_waiter("src/a.py", order=3, agent="bob"),
    a_waiter("src/**", order=5, agent="carol"),
    a_waiter("docs/x", "lib/y", order=8, agent="dave"),
    a_waiter(names=("deploy:X",), order=9, agent="erin"),
)


@pytest.mark.parametrize(
    ("before", "texts", "names", "found"),
    [
        (None, ("src/a.py",), (), ["carol", "bob"]),
        (5, ("src/a.py",), (), ["bob"]),
        (4, ("**",), (), ["bob"]),
        (3, ("**",), (), []),
        (None, ("lib",), (), ["dave"]),
        (None, ("**",), ("deploy:x",), ["erin", "dave", "carol", "bob"]),
        (None, (), ("deploy:x",), ["erin"]),
        (None, (), (), []),
    ],
)
def test_those_before_a_place_are_found_the_nearest_first(
    before: int | None, texts: tuple[str, ...], names: tuple[str, ...], found: list[str]
) -> None:
    around = anchors_of(Footprint.of(texts))
    assert [one.agent for one in rows(*QUEUE).backwards(before, around, frozenset(names))] == found


def test_outlines_tell_who_wants_the_same_without_reading_the_rest() -> None:
    alike = (a_waiter("a", agent="bob"), a_waiter("a", agent="carol"), a_waiter("a", agent="dave", mode=SHARED))
    wants, agents, wholes = zip(*rows(*alike).outlines(None, frozenset()), strict=True)
    assert (wants[0] == wants[1], wants[0] == wants[2], agents) == (True, False, ("bob", "carol", "dave"))
    assert [whole() for whole in wholes] == list(alike)


def test_a_row_whose_text_looks_like_a_row_is_found_by_its_own_fields() -> None:
    sly = a_waiter("a", order=4).replace(reason=dumps(encode_waiter(a_waiter("b", order=7, agent="carol"))))
    lines = rows(sly)
    assert lines.find("t4") == sly and lines.find("t7") is None
    assert list(lines.backwards(5, anchors_of(Footprint.of(("a",))), frozenset())) == [sly]
    assert [agent for _, agent, _ in lines.outlines(None, frozenset())] == ["bob"]


def test_an_edit_replaces_removes_and_appends_and_carries_the_rest_over() -> None:
    before = [dumps(encode_waiter(one)).encode() for one in QUEUE]
    after = edited_queue(before, ("t5",), (QUEUE[0].replace(passed=2), a_waiter("z", order=10)))
    found = WaiterLines(after, "here")
    assert [one.order for one in found.ordered()] == [3, 8, 9, 10]
    first = found.find("t3")
    assert first is not None and first.passed == 2
    assert after[1:3] == before[2:]
