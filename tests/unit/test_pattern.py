"""The syntax of patterns, their canonical text, and anchors."""

import sys

import pytest

from gitlock.domain.pattern import PLAIN, Fold, anchor_candidates, anchors_may_meet, escape, parse_pattern
from gitlock.domain.segment import lowered
from gitlock.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("src/auth", "src/auth"),
        ("/src/auth", "src/auth"),
        ("./src/auth", "src/auth"),
        ("././src//auth", "src/auth"),
        ("src/./auth", "src/auth"),
        ("src/auth/", "src/auth/"),
        ("src/auth//", "src/auth/"),
        ("src/auth/.", "src/auth/"),
        ("src/auth/*", "src/auth/*"),
        ("src/auth/**", "src/auth/**"),
        ("a**b", "a*b"),
        ("***", "*"),
        ("x/****/y", "x/*/y"),
        ("**/**", "**/**"),
        (r"a\bc", r"a\bc"),
        ("[!a]", "[!a]"),
        ("[^a]", "[^a]"),
        ("{a,b}.py", "{a,b}.py"),
        ("!x", "!x"),
        ("a b\n", "a b\n"),
        ("caf\udce9", "caf\udce9"),
    ],
)
def test_the_canonical_text_is_what_was_typed_but_for_dots_slashes_and_rows_of_stars(typed: str, text: str) -> None:
    pattern = parse_pattern(typed)
    assert pattern.text == text
    assert parse_pattern(text) == pattern and hash(parse_pattern(text)) == hash(pattern)


def test_three_spellings_of_what_lies_below_stay_apart() -> None:
    assert len({parse_pattern(text) for text in ("src/auth/", "src/auth/*", "src/auth/**", "src/auth")}) == 4


@pytest.mark.parametrize(
    ("typed", "literal"),
    [
        ("src/auth", "src/auth"),
        (r"app/\[id\]/page.tsx", "app/[id]/page.tsx"),
        (r"a\*", "a*"),
        (r"\!x", "!x"),
        ("{a}", "{a}"),
        ("src/auth/", None),
        ("src/*", None),
        ("**/x", None),
        ("[a]", None),
    ],
)
def test_a_pattern_without_wildcard_and_slash_at_the_end_is_literal(typed: str, literal: str | None) -> None:
    assert parse_pattern(typed).literal == literal


@pytest.mark.parametrize(
    "typed",
    [
        "", "/", ".", "./", "//",
        "..", "../x", "src/..", "src/../x", r"src/\../x", r"src/\./x",
        "a\\", "a\\/b", "[a\\",
        "[", "[a", "[]", "[!]", "[^]", "[a/b]", "a[",
        "[z-a]", "[b-\\a]", "[a-[]",
        "[[:nope:]]", "[[::]]", "[[:ALPHA:]]",
        "[[.a.]]", "[[=a=]]", "app/[[...slug]]/page.tsx",
        "a\0b",
        "x" * 1025, "/".join("x" * 65),
    ],
)  # fmt: skip
def test_what_would_silently_match_nothing_is_refused(typed: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_pattern(typed)
    assert refused.value.id == "bad-pattern"
    assert len(str(refused.value)) < 200


def test_a_bracket_that_is_never_closed_is_answered_with_how_to_escape_it() -> None:
    with pytest.raises(UsageError) as refused:
        parse_pattern("src/[id")
    assert refused.value.hint == r"write '\[' for the character itself"


def test_a_reversed_range_is_answered_with_the_right_one() -> None:
    with pytest.raises(UsageError) as refused:
        parse_pattern("[z-a]")
    assert refused.value.hint == "write 'a-z'"


def test_the_longest_patterns_are_taken() -> None:
    assert len(parse_pattern("x" * 1024).text) == 1024
    assert len(parse_pattern("/".join("x" * 64)).segments) == 64


@pytest.mark.parametrize(
    "path", ["src/auth", "app/[id]/page.tsx", "!important", "a*b?c", "back\\slash", "caf\udce9", "!", "[[...s]]"]
)
def test_an_escaped_path_is_a_pattern_of_exactly_that_path(path: str) -> None:
    assert parse_pattern(escape(path)).literal == path
    assert not escape(path).startswith("!")


@pytest.mark.parametrize(
    ("typed", "anchor"),
    [
        ("src/auth", "src/auth"),
        ("src/auth/", "src/auth/"),
        ("src/auth/*", "src/auth/"),
        ("src/auth/**", "src/auth/"),
        ("src/auth/*.py", "src/auth/"),
        ("src/**/login.*", "src/"),
        ("**/x", ""),
        ("*", ""),
        ("Src/README.md", "src/readme.md"),
        (r"app/\[id\]/page.tsx", "app/[id]/page.tsx"),
        ("src/é/x", "src/"),
        ("é", ""),
        ("src/caf\udce9.py", "src/"),
    ],
)
def test_the_anchor_is_the_literal_beginning_up_to_what_folding_could_change(typed: str, anchor: str) -> None:
    assert parse_pattern(typed).anchor == anchor


def test_the_anchors_that_can_concern_a_path_are_its_folders_and_itself() -> None:
    assert anchor_candidates("src/Auth/login.py") == ("", "src", "src/", "src/auth", "src/auth/", "src/auth/login.py")
    assert anchor_candidates("x") == ("", "x")


INTO_ASCII = [char for char in map(chr, range(128, sys.maxunicode + 1)) if Fold(True, True).name(char).isascii()]


@pytest.mark.parametrize("folded", INTO_ASCII)
def test_an_anchor_is_found_by_every_character_that_folds_into_ascii(folded: str) -> None:
    pattern = parse_pattern(escape(Fold(True, True).name(folded)) + "/x")
    assert pattern.anchor in anchor_candidates(f"{folded}/x")


@pytest.mark.parametrize(
    ("a", "b", "may"),
    [
        ("src/auth", "src/auth", True),
        ("src/auth", "src/auth/", True),
        ("src/auth", "src/", True),
        ("src/auth", "src", True),
        ("src/auth", "", True),
        ("src/auth/", "src/auth/deep/x.py", True),
        ("src/auth", "src/authors", False),
        ("src/auth/", "src/authors/", False),
        ("src/a.py", "src/b.py", False),
    ],
)
def test_anchors_meet_where_one_holds_the_other(a: str, b: str, may: bool) -> None:
    assert anchors_may_meet(a, b) is may
    assert anchors_may_meet(b, a) is may


def test_folding_is_done_once_and_keeps_the_number_of_characters() -> None:
    for char in map(chr, range(1, sys.maxunicode + 1)):
        assert len(lowered(char)) == 1 and lowered(lowered(char)) == lowered(char)


@pytest.mark.parametrize(
    ("fold", "name", "folded"),
    [
        (PLAIN, "ÀÉ", "ÀÉ"),
        (Fold(True, False), "README", "readme"),
        (Fold(True, False), "Straße", "straße"),
        (Fold(True, False), "ΑΣ", "\u03b1\u03c3"),  # never the final sigma, whatever follows
        (Fold(False, True), "e\u0301", "é"),
        (Fold(True, True), "E\u0301", "é"),
        (Fold(True, True), "caf\udce9", "caf\udce9"),
        (Fold(True, False), "İ", "İ"),
    ],
)
def test_names_are_folded_a_character_at_a_time(fold: Fold, name: str, folded: str) -> None:
    assert fold.name(name) == folded
