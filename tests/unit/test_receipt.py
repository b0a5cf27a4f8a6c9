"""Receipts as text: written and read back exactly, whatever a message holds."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlock.domain.lease import EPOCH_STEP
from gitlock.domain.pattern import parse_pattern
from gitlock.domain.receipt import LINE_LIMIT, LONG, Declared, Receipt, declared, parts, rendered
from gitlock.errors import UsageError

ALICE = Receipt(lease="85ab310262fe", store="9d0f3c1a", fence=40, include=("src/auth/*",), agent="alice")
BOB = Receipt(lease="d307f83b7359", store="9d0f3c1a", fence=41, include=("db/x.sql",), agent="bob")


def _canonical(text: str) -> str:
    try:
        return parse_pattern(text).text
    except UsageError:
        return ""


# What a file system may hold: any character, and bytes that are no UTF-8.
_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\udc80\udcff"))
_PATTERNS = st.tuples(*[st.lists(_NAMES.map(_canonical).filter(bool), max_size=4, unique=True).map(tuple)] * 2)


@given(_PATTERNS, st.lists(st.sampled_from(["schema:main", "a:b/c", "deploy:x-1"]), max_size=2, unique=True))
def test_a_claim_comes_back_exactly(patterns: tuple[tuple[str, ...], tuple[str, ...]], keys: list[str]) -> None:
    include, exclude = patterns
    receipt = ALICE.replace(include=include or ("a",), exclude=exclude, keys=tuple(keys))
    lines = rendered("alice", [receipt])
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert declared("subject\n\n" + "\n".join(lines)).receipts == (receipt,)


def test_a_long_claim_is_spread_over_lines_and_comes_back_as_one() -> None:
    receipt = ALICE.replace(include=tuple(f"src/part{n}/**" for n in range(2_000)), exclude=("src/gen",))
    lines = rendered("alice", [receipt])
    assert len(lines) > 10 and max(map(len, lines)) < 3_000
    assert declared("\n".join(lines)).receipts == (receipt,)


def test_an_agents_line_is_about_the_lines_below_it_until_the_next() -> None:
    text = "\n".join([*rendered("alice", [ALICE]), "Signed-off-by: x", *rendered("bob", [BOB])])
    assert declared(text) == Declared(("alice", "bob"), (ALICE, BOB))


def test_a_receipt_above_every_agents_line_is_nobodys() -> None:
    assert declared(rendered("alice", [ALICE])[1]).receipts == (ALICE.replace(agent=""),)


@pytest.mark.parametrize("lead", ["    ", "\t", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_they_are_found_anywhere_in_a_message(lead: str, end: str) -> None:
    rows = ["* first (#12)", "", *(lead + row for row in rendered("alice", [ALICE])), "", "* second", "text"]
    assert declared(end.join(rows).encode()).receipts == (ALICE,)


def test_the_same_receipt_twice_counts_once() -> None:
    lines = "\n".join(rendered("alice", [ALICE]))
    assert declared(f"{lines}\n\n{lines}") == Declared(("alice",), (ALICE,))


@pytest.mark.parametrize(
    "line",
    [
        "85ab store=x fence=1",
        "85ab store=x fence=0 a",
        "85ab store=x fence=-1 a",
        "85ab store=x fence=1e3 a",
        "85ab store=x fence=99999999999999999 a",
        "85ab store= fence=1 a",
        "85ab fence=1 store=x a",
        " store=x fence=1 a",
        "85ab store=x fence=1 a  b",
        '85ab store=x fence=1 "a',
        '85ab store=x fence=1 "a\\q"',
        '85ab store=x fence=1 "\\777"',
        '85ab store=x fence=1 "a"b',
        '85ab store=x fence=1 ""',
        "85ab store=x fence=1 !a",
        "85ab store=x fence=1 !!a b",
        "85ab store=x fence=1 ../a",
        "85ab store=x fence=1 a//b",
        "85ab store=x fence=1 [z-a]",
        "85ab store=x fence=1 file:a",
        "85ab store=x fence=1 café",
        "85ab/.. store=x fence=1 a",
        "85ab store=x fence=1 " + "a" * LINE_LIMIT,
    ],
)
def test_what_is_not_written_exactly_so_is_passed_over(line: str) -> None:
    assert declared(f"Lock-Agent: alice\nLock-Lease: {line}") == Declared(("alice",))


@pytest.mark.parametrize("name", ["", "a b", "../x", "-rf", "\x1b[31m", "a" * 101, "x.lock", "café"])
def test_what_cant_name_an_agent_names_none(name: str) -> None:
    assert declared(f"Lock-Agent: {name}").agents == ()


@given(st.binary(max_size=300) | st.lists(st.sampled_from(
    ["Lock-Agent:", "Lock-Lease:", " ", "85ab", "store=x", "fence=1", '"', "\\", "!", "a:b", "\n", "\udc80"]
)).map("".join))  # fmt: skip
def test_no_message_makes_it_fail(message: bytes | str) -> None:
    assert isinstance(declared(message), Declared)


def test_a_reason_stays_one_plain_line() -> None:
    lines = rendered("alice", [], "two\nlines \x1b[31mred\u202e")
    assert lines == ("Lock-Agent: alice", "Lock-Bypass: two lines [31mred")
    assert declared("\n".join(lines)).bypass == ("two lines [31mred",)


def test_the_fence_tells_the_epoch() -> None:
    assert [ALICE.replace(fence=n).epoch for n in (1, EPOCH_STEP, EPOCH_STEP + 1)] == [1, 1, 2]


def test_nothing_to_say_is_no_line() -> None:
    assert rendered("alice", []) == ()


# -- whose they are

SAID, NOBODY = Declared(("alice",), (ALICE,)), Declared()
BLOCK = "\n".join(rendered("alice", [ALICE]))


@pytest.mark.parametrize(
    "message",
    [
        f"subject\n\n{BLOCK}\n",
        f"subject\n\nbody: text\n\nReviewed-by: x\n{BLOCK}\n\n\n",
        f"subject\n\na line that is no trailer\nSigned-off-by: x\n{BLOCK}",
        f"subject\n\n{BLOCK}\n(cherry picked from commit 1234)\n",
    ],
)
def test_trailers_are_what_git_takes_for_trailers(message: str) -> None:
    assert parts(message) == (SAID, NOBODY)
    done = subprocess.run(["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True)
    assert BLOCK in done.stdout


@pytest.mark.parametrize("message", [f"* one\n\n{BLOCK}\n\n* two\n\ntext", f"subject\n\ntext\n{BLOCK}", BLOCK])
def test_elsewhere_they_are_those_of_what_was_squashed(message: str) -> None:
    assert parts(message) == (NOBODY, SAID)


def test_git_s_own_list_of_what_was_squashed_is_indented() -> None:
    rows = [f"    {row}" for row in BLOCK.split("\n")]
    assert parts("\n".join(["Squashed commit of the following:", "", "commit 12", "", *rows])) == (NOBODY, SAID)


def test_a_log_that_is_quoted_says_nothing() -> None:
    rows = [f"    {row}" for row in BLOCK.split("\n")]
    assert parts("\n".join(["subject", "", "On top of:", "", "commit 12", "", *rows])) == (NOBODY, NOBODY)


@pytest.mark.parametrize("end", ["\n\n" + BLOCK, ""])
def test_a_long_message_hides_nothing(end: str) -> None:
    message = "subject\n\n" + BLOCK + "\n\n" + "a line of text\n" * (5 * LONG // 15) + end
    assert len(message) > 4 * LONG and declared(message) == SAID
    assert parts(message)[0 if end else 1] == SAID
