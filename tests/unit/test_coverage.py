"""Many footprints, many paths: the answers are those of ``covers``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlock.domain.coverage import Coverage
from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import covers
from gitlock.domain.pattern import PLAIN, Fold


def test_the_tags_come_in_the_order_in_which_they_were_given() -> None:
    texts = ["src/auth/*", "**/*.py", "src", "src/auth/login.py", "lib"]
    coverage = Coverage([(text, Footprint.of([text])) for text in texts])
    assert coverage.tags_covering("src/auth/login.py") == texts[:4]
    assert coverage.tags_covering("src/auth") == ["src"]
    assert coverage.tags_covering("lib") == ["lib"]
    assert coverage.tags_covering("docs/x.md") == []


def test_no_footprint_covers_nothing() -> None:
    assert Coverage([]).tags_covering("src/x.py") == []
    assert Coverage([("key", Footprint((), ()))]).tags_covering("src/x.py") == []


def test_a_tag_is_named_once_however_many_of_its_patterns_cover_the_path() -> None:
    coverage = Coverage([("a", Footprint.of(["src", "src/**", "**/*.py"]))])
    assert coverage.tags_covering("src/x.py") == ["a"]


def test_an_exclusion_counts_only_for_its_own_footprint() -> None:
    coverage = Coverage([("a", Footprint.of(["src/**"], ["**/*.md", "src/vendor"])), ("b", Footprint.of(["**/*.md"]))])
    assert coverage.tags_covering("src/x.py") == ["a"]
    assert coverage.tags_covering("src/x.md") == ["b"]
    assert coverage.tags_covering("src/vendor/deep/x.py") == []
    assert coverage.tags_covering("src/vendors/x.py") == ["a"]


def test_a_file_is_not_taken_for_the_folder_of_its_name() -> None:
    texts = {"below": "src/a/*", "all": "src/a", "file": "src/?"}
    coverage = Coverage([(tag, Footprint.of([text])) for tag, text in texts.items()])
    assert coverage.tags_covering("src/a") == ["all", "file"]
    assert coverage.tags_covering("src/a/x") == ["below", "all"]
    assert coverage.tags_covering("src/a") == ["all", "file"]


def test_patterns_side_by_side_do_not_run_into_one_another() -> None:
    texts = ["a/?", "b/c", "?", "**/x/*.c", "**/y", "a/**/[z]"]
    coverage = Coverage([(text, Footprint.of([text])) for text in texts])
    for path in ("a/b", "a/b/c", "b/c", "b", "x/y", "x/q.c", "y/q.c", "a/z", "a/b/z", "z"):
        assert coverage.tags_covering(path) == [text for text in texts if covers(Footprint.of([text]), path)]


def test_a_path_of_thousands_of_folders_is_no_trouble() -> None:
    coverage = Coverage([("a", Footprint.of(["**/x/**/y"])), ("b", Footprint.of(["d/**/x"]))])
    assert coverage.tags_covering("d/" * 5000 + "x/y") == ["a", "b"]


@pytest.mark.parametrize("fold", [Fold(True, False), Fold(True, True)])
def test_case_is_folded_as_elsewhere(fold: Fold) -> None:
    coverage = Coverage([("a", Footprint.of(["Src/*.PY"])), ("b", Footprint.of(["**/É/[A-C]"]))], fold)
    assert coverage.tags_covering("sRC/x.py") == ["a"]
    assert coverage.tags_covering("x/é/b") == ["b"]


NAMES = st.sampled_from(["a", "b", "ab", "a.b", ".a", "A", "é", "e\u0301", "caf\udce9"])
GLOBS = st.text("ab.A*?é", min_size=1, max_size=4).filter(lambda text: text not in (".", ".."))
CLASSES = st.sampled_from(["[ab]", "[!a]", "[[:upper:]]*", "*[a-]", "x[!x]?"])
PATTERNS = st.builds(
    lambda names, slash: "/".join(names) + slash,
    st.lists(NAMES | GLOBS | CLASSES | st.just("**") | st.just("*"), min_size=1, max_size=4),
    st.sampled_from(["", "", "", "/"]),
)
FOOTPRINTS = st.builds(Footprint.of, st.lists(PATTERNS, max_size=3), st.lists(PATTERNS, max_size=2))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
FOLDS = st.sampled_from([PLAIN, Fold(True, False), Fold(False, True), Fold(True, True)])


@given(st.lists(FOOTPRINTS, max_size=6), st.lists(PATHS, max_size=12), FOLDS)
def test_coverage_says_what_covers_says(footprints: list[Footprint], paths: list[str], fold: Fold) -> None:
    coverage = Coverage(list(enumerate(footprints)), fold)
    for path in paths + paths[::-1]:
        assert coverage.tags_covering(path) == [k for k, one in enumerate(footprints) if covers(one, path, fold)]
