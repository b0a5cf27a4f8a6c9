"""Asking holders to let go: what a grant hands over, and the book in which requests stand."""

import threading
from pathlib import Path

import pytest

from gitlock.domain.claim import Granted, Refused
from gitlock.domain.lease import SHARED
from gitlock.domain.request import (
    BREAKING,
    ESCALATION,
    FREED,
    GRANTED,
    OPEN,
    RELEASE,
    TEXT_LIMIT,
    NotHeld,
    Request,
    cut,
    plan_grant,
)
from gitlock.errors import UnsafeError, UsageError
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.requests import ASKER_LIMIT, KEPT, LIMIT, RequestBook
from tests.kit.agents import HERE, a_claim
from tests.kit.clock import START
from tests.kit.queueing import Line

# -- a grant


def granted(line: Line, holder: str, asker: str, *wanted: str, **more: object) -> object:
    paths, names = [one for one in wanted if ":" not in one], tuple(one for one in wanted if ":" in one)
    claim = a_claim(*paths, agent=asker, names=names, **more)  # type: ignore[arg-type]
    return line.store.update(lambda s: plan_grant(s, holder, claim, fold=line.fold, facts=line.facts))


def held(line: Line) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for lease in line.store.read().leases.all():
        found.setdefault(lease.agent, []).append(lease.title)
    return found


@pytest.mark.parametrize(
    ("lease", "asked", "after"),
    [
        (("src/a",), ("src/a",), {"bob": ["src/a"]}),
        (("src/*",), ("src/a",), {"alice": ["src/* !src/a"], "bob": ["src/a"]}),
        (("src/a", "src/b"), ("src/a",), {"alice": ["src/b"], "bob": ["src/a"]}),
        (("src/a", "src/b"), ("src/*",), {"bob": ["src/*"]}),
        (("deploy:a",), ("deploy:a",), {"bob": ["deploy:a"]}),
        (("deploy:a", "deploy:b"), ("deploy:a",), {"alice": ["deploy:b"], "bob": ["deploy:a"]}),
        (("deploy:a", "src/a"), ("deploy:a",), {"alice": ["src/a"], "bob": ["deploy:a"]}),
    ],
)
def test_a_grant_hands_over_what_was_asked_and_leaves_the_rest(
    lease: tuple[str, ...], asked: tuple[str, ...], after: dict[str, list[str]]
) -> None:
    line = Line()
    line.holds("alice", *lease)
    assert isinstance(granted(line, "alice", "bob", *asked), Granted)
    assert held(line) == after


def test_a_grant_is_one_step_with_a_new_fence_for_the_asker_and_the_old_one_for_the_holder() -> None:
    line = Line()
    before = line.holds("alice", "src/*")
    revision = line.store.read().revision
    answer = granted(line, "alice", "bob", "src/a")
    assert isinstance(answer, Granted) and answer.lease.fence > before.fence
    assert line.store.read().revision == revision + 1
    assert [lease.fence for lease in line.store.read().leases.of(("alice",))] == [before.fence]


def test_nothing_is_granted_of_what_is_not_held() -> None:
    line = Line()
    line.holds("alice", "lib/a")
    assert isinstance(granted(line, "alice", "bob", "src/a"), NotHeld)


def test_a_grant_past_somebody_who_waits_since_before_is_refused_whole() -> None:
    line = Line()
    line.holds("alice", "src/*")
    line.waits("carol", "src/a")
    answer = granted(line, "alice", "bob", "src/a")
    assert isinstance(answer, Refused) and [one.agent for one in answer.ahead] == ["carol"]
    assert held(line) == {"alice": ["src/*"]}


def test_whoever_waits_for_it_first_may_be_granted_it_and_needs_its_place_no_more() -> None:
    line = Line()
    line.holds("alice", "src/*")
    line.waits("bob", "src/a")
    line.waits("carol", "src/a")
    assert isinstance(granted(line, "alice", "bob", "src/a"), Granted)
    assert line.queue == ["carol"]


def test_what_a_third_one_holds_of_it_can_not_be_granted() -> None:
    line = Line()
    line.holds("alice", "src/a")
    line.holds("carol", "src/b")
    answer = granted(line, "alice", "bob", "src/*")
    assert isinstance(answer, Refused) and [one.lease.agent for one in answer.conflicts] == ["carol"]
    assert held(line) == {"alice": ["src/a"], "carol": ["src/b"]}


def test_a_grant_to_share_gives_a_shared_lease() -> None:
    line = Line()
    line.holds("alice", "src/a")
    answer = granted(line, "alice", "bob", "src/a", mode=SHARED)
    assert isinstance(answer, Granted) and answer.lease.mode == SHARED


# -- the book


def a_request(
    name: str = "r1", *, asker: str = "bob", kind: str = RELEASE, at: float = START, **more: object
) -> Request:
    fields: dict[str, object] = {
        "to": ("alice",), "claim": "src/a", "keys": ("file:src/a",), "include": ("src/a",), "exclude": (),
        "mode": "exclusive", "ttl": 600.0, "text": "please", "asker_kind": "agent", "holder": HERE,
    }  # fmt: skip
    return Request(id=name, asker=asker, kind=kind, at=at, **{**fields, **more})  # type: ignore[arg-type]


@pytest.fixture
def book(tmp_path: Path) -> RequestBook:
    return RequestBook(Layout(str(tmp_path / "agentlocks")), 10.0)


def fill(book: RequestBook, folder: Path, request: Request) -> None:
    """As many as there may be, each of another agent's: copies of one that was written."""
    book.add(request)
    data = (folder / "agentlocks" / "requests" / "r1.json").read_bytes()
    for number in range(2, LIMIT + 1):
        copy = data.replace(b'"asker":"bob"', b'"asker":"agent%d"' % number)
        (folder / "agentlocks" / "requests" / f"r{number}.json").write_bytes(copy)


@pytest.mark.parametrize(
    ("kind", "agent", "is_person", "asked"),
    [
        (RELEASE, "alice", False, True),
        (RELEASE, "alice/helper", False, True),
        (RELEASE, "carol", True, False),
        (ESCALATION, "carol", True, True),
        (ESCALATION, "carol", False, False),
        (BREAKING, "alice", True, True),
        (BREAKING, "bob", True, False),
    ],
)
def test_a_request_is_for_those_who_hold_it_and_other_matters_for_any_other_person(
    kind: str, agent: str, is_person: bool, asked: bool
) -> None:
    assert a_request(kind=kind).is_for(agent, "human" if is_person else "agent") is asked


def test_a_request_is_read_as_it_was_written(book: RequestBook) -> None:
    request = a_request(text="\x1b[31m\u202e\udc80 \"'\n", holder=HERE.replace(worktree="/n\udcffo"))
    book.add(request)
    assert book.find("r1") == request and book.all() == [request]


def test_a_long_text_is_cut_and_marked() -> None:
    assert (cut("x" * TEXT_LIMIT), cut("x" * 9999)) == ("x" * TEXT_LIMIT, "x" * (TEXT_LIMIT - 1) + "…")


def test_a_claim_that_no_request_can_hold_is_refused(book: RequestBook) -> None:
    with pytest.raises(UsageError):
        book.add(a_request(include=tuple(f"src/{'x' * 200}{number}" for number in range(400))))
    assert book.all() == []


def test_an_asker_has_only_so_many_open_requests(book: RequestBook) -> None:
    for number in range(ASKER_LIMIT):
        book.add(a_request(f"r{number}"))
    with pytest.raises(UnsafeError):
        book.add(a_request("more"))
    book.add(a_request("other", asker="carol"))
    assert len(book.all()) == ASKER_LIMIT + 1


def test_answered_requests_make_room_for_new_ones(book: RequestBook, tmp_path: Path) -> None:
    fill(book, tmp_path, a_request(state=GRANTED, answered_at=START))
    book.add(a_request("new"))
    names = {one.id for one in book.all()}
    assert len(names) == LIMIT and "new" in names


def test_open_requests_do_not(book: RequestBook, tmp_path: Path) -> None:
    fill(book, tmp_path, a_request())
    with pytest.raises(UnsafeError):
        book.add(a_request("more"))


def test_of_two_answers_at_once_the_first_counts(book: RequestBook) -> None:
    book.add(a_request())
    seen = []

    def answer(state: str) -> None:
        def change(now: Request) -> Request | None:
            seen.append(now.state)
            return now.answered(state, "alice", "", START) if now.state == OPEN else None

        book.change("r1", change)

    crowd = [threading.Thread(target=answer, args=(state,)) for state in (GRANTED, FREED) * 4]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert seen.count(OPEN) == 1


def test_an_answer_that_was_heard_is_out_of_the_way_and_still_there(book: RequestBook) -> None:
    book.add(a_request(state=GRANTED, answered_at=START))
    book.put_aside("r1")
    assert book.all() == []
    assert [one.id for one in book.all(heard=True)] == ["r1"] and book.find("r1") is not None


def test_what_is_old_is_swept(book: RequestBook) -> None:
    book.add(a_request("old"))
    book.add(a_request("aside", state=GRANTED, answered_at=START))
    book.put_aside("aside")
    book.add(a_request("new", at=START + KEPT))
    assert book.sweep(START + KEPT + 1) == 2
    assert [one.id for one in book.all(heard=True)] == ["new"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"kind":1}', b"x" * (1 << 17)])
def test_a_request_that_can_not_be_read_is_passed_over(book: RequestBook, tmp_path: Path, data: bytes) -> None:
    book.add(a_request())
    (tmp_path / "agentlocks" / "requests" / "r2.json").write_bytes(data)
    assert [one.id for one in book.all()] == ["r1"]


@pytest.mark.parametrize("name", ["", "../state", "a/b", ".", "é", "r1\n"])
def test_no_name_leads_out_of_the_book(book: RequestBook, name: str) -> None:
    book.add(a_request())
    assert book.find(name) is None
