"""Keys: the structured names that claims map to."""

import pytest

from gitlock.domain.key import KEY_LIMIT, looks_like_key, path_key, semantic_key
from gitlock.errors import UsageError

GOOD = [
    "deploy:staging", "schema:main", "a:b", "1:2", "db:eu/west-1", "a:b:c", "x:_y.z", "a.b-c_d:e",
    "n:" + "x" * (KEY_LIMIT - 2),
]  # fmt: skip
BAD = [
    "", "deploy", ":x", "x:", ":", "-a:b", ".a:b", "_a:b", "/a:b", "a b:c", "a:b c", "a:b*", "a:é", "é:a", "a:\n",
    "path:x", "file:x", "glob:x", "a:\x1b[0m", "a:b\u202e", "n:" + "x" * (KEY_LIMIT - 1), "a:\udcff", "a:b\\c", "a:(b)",
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_a_semantic_key_is_kept_as_it_is(text: str) -> None:
    assert looks_like_key(text) and semantic_key(text) == text


@pytest.mark.parametrize("text", BAD, ids=repr)
def test_anything_else_is_no_key(text: str) -> None:
    assert not looks_like_key(text)
    with pytest.raises(UsageError) as refused:
        semantic_key(text)
    assert refused.value.id == "bad-key"


@pytest.mark.parametrize("text", ["PATH:x", "Glob:x", "files:x"])
def test_only_the_exact_prefixes_are_taken_for_paths(text: str) -> None:
    assert looks_like_key(text)


def test_a_literal_pattern_has_a_file_key() -> None:
    assert path_key("app/\\[id\\]", "app/[id]") == "file:app/[id]"


def test_a_pattern_with_a_wildcard_has_a_glob_key() -> None:
    assert path_key("src/*", None) == "glob:src/*"
