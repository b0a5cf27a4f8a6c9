"""What may be typed as a claim: it is read, or refused in a sentence; never a traceback, never without end."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import contains, overlap
from gitlock.domain.pattern import PLAIN, Fold, parse_pattern
from gitlock.domain.policy import BUILT_IN
from gitlock.domain.quoting import word
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError
from gitlock.git.repository import Repository
from gitlock.stores.codec import anchor_entries
from gitlock.usecases.reading import Argument, Reading, read_claims, read_wanted
from tests.fuzz.hostile import any_text, arguments, assert_speakable, bounded, pieced
from tests.git.standin import at
from tests.kit.repo import Repo

FORMS = st.sampled_from(["any", "path", "glob", "key"])
FOLDS = st.sampled_from([PLAIN, Fold(True, False), Fold(False, True), Fold(True, True)])
hostile = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder: Path = tmp_path_factory.mktemp("claims")
    return at(Repo.new(folder, {"src/login.py": "1\n", "app/[id]/page.tsx": "1\n", "a": "1\n"}))


def read_or_refused(read: Callable[[], Reading]) -> Reading | None:
    """What it is taken for; None where it is refused, in printable words."""
    try:
        with bounded():
            return read()
    except GitlockError as error:
        assert_speakable(error)
        return None


@hostile
@given(st.lists(st.tuples(arguments, FORMS), min_size=1, max_size=3), FOLDS)
@example([("{a," * 1300 + "b" + "}" * 1300, "any")], PLAIN)
@example([("{a,b}" * 800, "any")], PLAIN)
@example([("!" * 4000 + "a", "any")], PLAIN)
@example([("a/" * 60_000, "any")], PLAIN)
@example([("/" * 100_000, "any")], PLAIN)
@example([("{" * 4000, "glob")], PLAIN)
@example([(":(exclude)" * 400 + "a", "any")], PLAIN)
def test_a_claim_is_read_or_refused(repository: Repository, typed: list[tuple[str, str]], fold: Fold) -> None:
    given_words = tuple(Argument(text, form) for text, form in typed)
    reading = read_or_refused(lambda: read_claims(given_words, repository, BUILT_IN, fold))
    assume(reading is not None)
    assert reading is not None
    for text in (*reading.include, *reading.exclude):
        assert parse_pattern(text).text == text, "a pattern is read again as it is written down"
        assert not text.startswith((".git/", "../", "/")), "nothing outside the worktree, and nothing of git's own"
    assert reading.include or reading.names


@hostile
@given(st.lists(st.tuples(arguments, FORMS), min_size=1, max_size=3))
def test_whatever_is_typed_may_be_given_to_release_and_status(
    repository: Repository, typed: list[tuple[str, str]]
) -> None:
    with bounded():
        wanted = read_wanted(tuple(Argument(text, form) for text, form in typed), repository, BUILT_IN, PLAIN)
    assert len(wanted) == len(typed)


@given(any_text)
def test_a_pattern_is_read_or_refused(text: str) -> None:
    try:
        with bounded():
            pattern = parse_pattern(text)
    except GitlockError:
        return
    assert parse_pattern(pattern.text).text == pattern.text
    footprint = Footprint.of((pattern.text,), ())
    assert overlap(footprint, footprint, PLAIN).meets or not contains(footprint, footprint, PLAIN)
    entries = anchor_entries(footprint, ())
    assert all(entry.isprintable() and frozenset('"\\|').isdisjoint(entry) for entry in entries)


@given(pieced, pieced, FOLDS)
def test_two_patterns_are_compared_with_bounded_work_and_alike_both_ways(one: str, other: str, fold: Fold) -> None:
    try:
        first, second = (Footprint.of((parse_pattern(text).text,), ()) for text in (one, other))
    except GitlockError:
        return
    with bounded():
        there, back = overlap(first, second, fold), overlap(second, first, fold)
    assert (there.meets, there.exact) == (back.meets, back.exact)


@given(any_text)
def test_what_is_shown_can_be_printed(text: str) -> None:
    assert visible(text).isprintable()
    assert word(text).isprintable()
