"""Ledgers: what is published, what a reader makes of it later, and what a hostile one can't do."""

import json

import pytest

from gitlock import jsontext
from gitlock.domain.instant import Instant
from gitlock.domain.lease import Ended, Holder, Lease
from gitlock.domain.ledger import RECENT, Ledger, ledger_of, needs_publishing
from gitlock.domain.pattern import anchor_candidates
from gitlock.domain.standing import Facts, nothing_known
from gitlock.errors import StoreCorrupt, StoreTooNew
from gitlock.stores.ledger import SIZE_LIMIT, format_ledger, may_concern, parse_ledger
from tests.kit.agents import HERE, a_lease, snapshot_of
from tests.kit.clock import START, ManualClock

FACTS = Facts(nothing_known)
WRITER = "0123abcd"
SECRET_HOLDER = Holder(
    "host-of-alice", worktree="/home/alice/tree", branch="login", session="session-1", pid=4711, boot="b", started=1
)


def published(*leases: Lease, before: Ledger | None = None, now: Instant | None = None) -> Ledger:
    return ledger_of(snapshot_of(*leases, now=now), WRITER, FACTS, clone=HERE.clone, before=before)


def later(seconds: float) -> Instant:
    clock = ManualClock()
    clock.advance(seconds)
    return clock()


def test_of_a_shared_store_each_clone_publishes_its_own() -> None:
    assert ledger_of(snapshot_of(a_lease("src/*")), WRITER, FACTS, clone="/another/.git").leases == ()


def test_only_what_means_something_elsewhere_is_published() -> None:
    text = format_ledger(published(a_lease("src/*", holder=SECRET_HOLDER, token="secret", reason="new login"))).decode()
    assert "new login" in text
    assert "login" in text
    for secret in ("host-of-alice", "/home/alice", "session-1", "4711", "token", "sha256"):
        assert secret not in text


def test_a_ledger_comes_back_as_it_was_written() -> None:
    ended = Ended(a_lease("docs/*"), "taken", START, by="bob", by_claim="docs/x", by_fence=9)
    snapshot = snapshot_of(a_lease("src/*", exclude=("src/gen/**",), names=("deploy:a",)), ended=(ended,))
    ledger = ledger_of(snapshot, WRITER, FACTS, clone=HERE.clone)
    assert len(ledger.releases) == 1
    assert parse_ledger(format_ledger(ledger), "here") == ledger


def test_a_lease_has_the_time_that_it_had_less_what_has_passed() -> None:
    ledger = published(a_lease("src/*", ttl=600.0), now=later(100))
    assert ledger.left(ledger.leases[0], START + 100) == 500
    assert ledger.left(ledger.leases[0], START + 400) == 200
    assert ledger.live(START + 601) == ()


def test_a_live_lease_reads_as_one_of_the_readers_time() -> None:
    lease = published(a_lease("src/*", ttl=600.0)).live(START + 100)[0]
    assert lease.left(Instant(START + 100, 5.0, "another boot")) == 500


def test_a_suspended_writer_publishes_the_time_that_its_store_counts() -> None:
    clock = ManualClock()
    clock.suspend(10_000)
    ledger = published(a_lease("src/*", ttl=600.0), now=clock())
    assert ledger.left(ledger.leases[0], clock.wall) == 600


def test_a_ledger_of_the_future_gives_no_lease_more_than_its_ttl() -> None:
    ledger = published(a_lease("src/*", ttl=600.0)).replace(published=START + 86400)
    assert ledger.left(ledger.leases[0], START) <= 600
    assert not ledger.replace(published=START + 30 * 86400).live(START)


def test_what_is_not_held_any_more_is_listed_as_ended_for_a_week() -> None:
    first = published(a_lease("src/*"))
    second = published(before=first, now=later(60))
    assert [one.lease.include for one in second.releases] == [("src/*",)]
    third = published(before=second, now=later(RECENT + 120))
    assert third.releases == ()
    assert not third.speaks(START + RECENT + 120)


def test_a_lapsed_lease_ended_when_it_lapsed() -> None:
    first = published(a_lease("src/*", ttl=600.0))
    assert published(before=first, now=later(5000)).releases[0].at == START + 600


def test_an_expired_lease_is_not_published() -> None:
    assert published(a_lease("src/*", ttl=600.0), now=later(601)).leases == ()


@pytest.mark.parametrize(
    ("seconds", "news"), [(0, False), (30, False), (70, True)], ids=["at once", "a little", "over a tenth of its ttl"]
)
def test_a_renewal_is_news_when_it_moves_the_end_by_a_tenth(seconds: float, news: bool) -> None:
    lease = a_lease("src/*", ttl=600.0)
    before = published(lease)
    now = later(seconds)
    assert needs_publishing(published(lease.renewed_at(now), before=before, now=now), before) is news


def test_what_says_the_same_is_published_again_after_hours_and_only_if_it_says_something() -> None:
    lease = a_lease("src/*", ttl=7 * 86400.0)
    before = published(lease)
    assert not needs_publishing(published(lease, before=before, now=later(3600)), before)
    assert needs_publishing(published(lease, before=before, now=later(7 * 3600)), before)
    assert not needs_publishing(published(), None)


# -- what others write

GOOD = format_ledger(published(a_lease("src/*")))


def changed(line: int, **fields: object) -> bytes:
    """The good ledger with other fields in its header (1) or its lease (2)."""
    rows = GOOD.decode().splitlines()
    record = json.loads(rows[line - 1])
    (record if line == 1 else record["lease"]).update(fields)
    rows[line - 1] = json.dumps(record)
    return ("\n".join(rows) + "\n").encode()


HOSTILE = [
    b"",
    b"\n",
    GOOD[:-1],
    GOOD + b"{\n",
    GOOD + b"\xff\xfe\n",
    GOOD + b"[" * 5000 + b"\n",
    GOOD + b'{"lease":null}\n',
    b"\0" * 100,
    b" " * (SIZE_LIMIT + 1),
    changed(1, format="gitlock/1"),
    changed(1, format=7),
    changed(1, writer="../../heads/main"),
    changed(1, published=-1),
    changed(1, published=1e300),
    changed(1, fence=True),
    changed(1, store="x" * 100),
    changed(2, agent="\x1b[2J"),
    changed(2, agent="a" * 101),
    changed(2, id="x\ny"),
    changed(2, ttl=1e9),
    changed(2, ttl=0),
    changed(2, include=["[z-a]"]),
    changed(2, include=["*" * 5000]),
    changed(2, include="src"),
    changed(2, reason="r" * 5000),
    changed(2, keys=[]),
    changed(2, fence=0),
    changed(2, branch=3),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_ledger_is_refused_by_name(number: int) -> None:
    with pytest.raises(StoreCorrupt, match=r"refs/agentlocks/beef"):
        parse_ledger(HOSTILE[number], "refs/agentlocks/beef")


def test_a_later_format_is_refused_with_the_way_on() -> None:
    with pytest.raises(StoreTooNew) as refusal:
        parse_ledger(changed(1, format="gitlock-ledger/2"), "there")
    assert "upgrade" in (refusal.value.hint or "")


def test_kinds_of_records_and_fields_of_a_later_version_are_passed_over() -> None:
    ledger = parse_ledger(changed(1, colour="red") + b'{"wish":{"id":"x"}}\n', "there")
    assert len(ledger.leases) == 1
    assert ledger.extra == {"colour": "red"}


def test_a_lease_of_an_unknown_mode_is_read_as_exclusive_and_an_unknown_kind_as_an_agent() -> None:
    lease = parse_ledger(changed(2, mode="hologram", kind="alien"), "there").leases[0]
    assert (lease.mode, lease.kind) == ("exclusive", "agent")


# -- what of it concerns a question


def _line(*include: str) -> bytes:
    return format_ledger(published(a_lease(*include))).split(b"\n")[1]


@pytest.mark.parametrize(
    "include",
    ["src/a.py", "SRC/A.py", "src", "src/", "./src//a.py", "src/*", "**/*.py", "*", "src/[a]*", "s\\rc/a.py", "./src"],
)
def test_whatever_may_cover_a_path_is_read(include: str) -> None:
    anchors = {anchor.encode() for anchor in anchor_candidates("src/a.py")}
    line = _line("x").replace(b'"include":["x"]', b'"include":' + jsontext.dumps([include]).encode())
    assert may_concern(line, anchors)
    assert may_concern(line.replace(b'"include":', b'"include" : '), anchors)


@pytest.mark.parametrize("include", [("src/b.py",), ("src/a.pyx", "docs/"), ()])
def test_what_lies_elsewhere_is_passed_over(include: tuple[str, ...]) -> None:
    anchors = {anchor.encode() for anchor in anchor_candidates("src/a.py")}
    line = _line("x").replace(b'"include":["x"]', b'"include":' + jsontext.dumps(list(include)).encode())
    assert not may_concern(line, anchors)


def test_what_is_no_record_is_a_fault_even_where_hardly_anything_is_wanted() -> None:
    data = format_ledger(published(a_lease("a")))
    assert parse_ledger(data, "x", lambda _: False).leases == ()
    for broken in (data[:-3] + b"\n", data + b"x\n", data.replace(b'{"lease"', b'["lease"')):
        with pytest.raises(StoreCorrupt):
            parse_ledger(broken, "x", lambda _: False)
