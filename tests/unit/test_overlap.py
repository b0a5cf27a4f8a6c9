"""What patterns cover, and whether footprints meet: the rules, in examples. That they hold everywhere is for
tests/property/test_overlap_exact.py.
"""

import random
import sys

import pytest

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import APART, STEPS, UNDECIDED, Budget, contains, covers, overlap
from gitlock.domain.pattern import PLAIN, Fold, escape
from gitlock.domain.segment import PLAIN as NO_FOLD
from gitlock.domain.segment import Bracket, CharSet

IGNORE_CASE = Fold(True, False)
UNICODE = Fold(False, True)
BOTH = Fold(True, True)


def of(*texts: str) -> Footprint:
    """A footprint as it is typed: ``!`` excludes."""
    return Footprint.of([t for t in texts if t[0] != "!"], [t[1:] for t in texts if t[0] == "!"])


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        ("src/auth", ["src/auth", "src/auth/x", "src/auth/x/y"], ["src", "src/authors", "src/authors/x", "x/src/auth"]),
        ("src/auth/", ["src/auth/x", "src/auth/x/y"], ["src/auth", "src/authx/y"]),
        ("src/auth/*", ["src/auth/x", "src/auth/.x", "src/auth/x/y/z"], ["src/auth", "src/x"]),
        ("src/auth/**", ["src/auth/x", "src/auth/x/y/z"], ["src/auth", "src/x"]),
        ("src/auth/**/", ["src/auth/x", "src/auth/x/y/z"], ["src/auth"]),
        ("src/*/", ["src/a/x", "src/a/b/c"], ["src/a", "src"]),
        ("*", ["x", ".x", "x/y/z"], []),
        ("**", ["x", ".x", "x/y/z"], []),
        ("***", ["x", "x/y/z"], []),
        ("**/", ["x", "x/y/z"], []),
        ("**/*", ["x", "x/y/z"], []),
        ("x/**/*", ["x/y", "x/y/z"], ["x"]),
        ("*.py", ["a.py", ".py"], ["a.py/x", "src/a.py", "a.pyc"]),
        ("*.d/", ["x.d/a", "x.d/a/b"], ["x.d", "x/a"]),
        ("**/*.py", ["a.py", "x/y/a.py"], ["x/a.py/b"]),
        ("**/auth", ["auth", "x/auth", "x/auth/y/z"], ["x/authors"]),
        ("**/auth/", ["auth/x", "x/auth/y/z"], ["x/auth"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b/c"], ["a", "b", "xa/b"]),
        ("a/**/**/b", ["a/b", "a/x/b"], ["a"]),
        ("a/**/*.c", ["a/x.c", "a/b/x.c"], ["x.c", "a/x.c/d"]),
        ("login.?", ["login.x"], ["login.", "login.xy", "login.x/y"]),
        ("a?b", ["axb", "a.b"], ["ab", "a/b"]),
        ("a*b", ["ab", "axxb"], ["a/b", "abc"]),
        ("*a*b*", ["ab", "xaxbx"], ["ba", "a/b"]),
        ("[ab]", ["a", "b"], ["c", "ab", "a/x"]),
        ("[a]", ["a"], ["b", "a/x"]),
        ("[!ab]x", ["cx", ".x"], ["ax", "x", "/x"]),
        ("[^ab]x", ["cx"], ["bx"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("[a-c]", ["a", "b", "c"], ["d", "-"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[-a]", ["a", "-"], ["b"]),
        ("[a-c-e]", ["b", "-", "e"], ["d"]),
        (r"[\]\-x]", ["]", "-", "x"], ["\\"]),
        ("[[]", ["["], ["]"]),
        ("[[:]", ["[", ":"], ["x"]),
        ("[[:alpha:]1]", ["a", "Z", "1"], ["2", "é", ":"]),
        ("[[:digit:]-z]", ["0", "-", "z"], ["a"]),
        ("[![:space:]]", ["a"], [" ", "\t"]),
        ("[[:xdigit:][:punct:]]", ["f", "F", "9", "~", "_"], ["g", "é"]),
        ("x[.-0]y", ["x.y", "x0y"], ["x/y"]),
        (r"a\*", ["a*", "a*/x"], ["ab"]),
        (r"a\?", ["a?", "a?/x"], ["ab"]),
        (r"app/\[id\]/page.tsx", ["app/[id]/page.tsx"], ["app/i/page.tsx"]),
        ("app/[id]/page.tsx", ["app/i/page.tsx", "app/d/page.tsx"], ["app/[id]/page.tsx"]),
        ("{a,b}", ["{a,b}", "{a,b}/x"], ["a", "b"]),
        ("!x", ["!x"], ["x"]),
        ("caf?", ["caf\udce9", "café"], ["caf"]),
        ("caf\udce9", ["caf\udce9", "caf\udce9/x"], ["café"]),
        ("[\udce0-\udcff]", ["\udce9"], ["é"]),
    ],
)
def test_what_a_pattern_covers(pattern: str, covered: list[str], not_covered: list[str]) -> None:
    footprint = Footprint.of([pattern])
    assert [path for path in covered if not covers(footprint, path)] == []
    assert [path for path in not_covered if covers(footprint, path)] == []


def test_a_star_segment_last_covers_any_depth() -> None:
    for text in ("src/*", "src/**", "src/***", "src/"):
        assert covers(of(text), "src/a/b/c/d") and not covers(of(text), "src")


def test_an_exclusion_takes_out_what_it_covers() -> None:
    footprint = of("src/**", "!**/*.md", "!src/vendor")
    assert covers(footprint, "src/a.py")
    assert not covers(footprint, "src/a.md") and not covers(footprint, "src/vendor/x/y.py")


def test_an_empty_footprint_covers_nothing_and_meets_nothing() -> None:
    empty = of()
    assert empty.is_empty and not covers(empty, "x") and overlap(empty, of("**")) == APART == overlap(of("**"), empty)
    assert contains(empty, empty) and contains(of("x"), empty) and not contains(empty, of("x"))


@pytest.mark.parametrize(
    ("pattern", "name", "fold"),
    [
        ("README.md", "readme.MD", IGNORE_CASE),
        ("src/*.PY", "SRC/a.py", IGNORE_CASE),
        ("[a-c]", "B", IGNORE_CASE),
        ("[A-C]", "b", IGNORE_CASE),
        ("[[:upper:]]", "b", IGNORE_CASE),
        ("É", "é", IGNORE_CASE),
        ("[À-Ý]", "é", IGNORE_CASE),
        ("[Ā-ͯ]", "ğ", IGNORE_CASE),
        ("k", "\u212a", IGNORE_CASE),
        ("[\u2100-\u2fff]", "K", IGNORE_CASE),
        ("Straße", "STRAßE", IGNORE_CASE),
        ("café", "cafe\u0301", UNICODE),
        ("cafe\u0301", "café", UNICODE),
        ("caf?", "cafe\u0301", UNICODE),
        ("caf[è-ê]", "cafe\u0301", UNICODE),
        ("\u212b", "Å", UNICODE),
        ("[\u212b]", "Å", UNICODE),
        ("CAFE\u0301", "café", BOTH),
    ],
)
def test_names_that_compare_equal_are_covered(pattern: str, name: str, fold: Fold) -> None:
    assert covers(of(pattern), name, fold)
    assert overlap(of(pattern), of(escape(name)), fold).meets


@pytest.mark.parametrize(
    ("pattern", "name", "fold"),
    [
        ("README.md", "readme.md", PLAIN),
        ("[!a]", "A", IGNORE_CASE),
        ("[!A]", "a", IGNORE_CASE),
        ("[!A-Z]", "q", IGNORE_CASE),
        ("straße", "strasse", IGNORE_CASE),
        ("café", "cafe\u0301", PLAIN),
        ("cafe*", "cafe\u0301", UNICODE),
        ("caf?", "cafe\u0301", PLAIN),
    ],
)
def test_names_that_compare_unequal_are_not_covered(pattern: str, name: str, fold: Fold) -> None:
    assert not covers(of(pattern), name, fold)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (["src/*.go"], ["src/*.py"]),
        (["**/*.py"], ["**/*.ts"]),
        (["src/foo"], ["src/foobar"]),
        (["src/auth/"], ["src/auth.py"]),
        (["*.py"], ["src/**"]),
        (["a?"], ["a"]),
        (["[a-c]*"], ["[d-f]*"]),
        (["*a"], ["*b"]),
        (["a/b/c.?"], ["a/*.d"]),
        (["src/**", "!src/**"], ["**"]),
        (["src/**", "!**/*.py"], ["src/**/*.py"]),
        (["**", "!*.*"], ["*.py"]),
        (["**", "!src"], ["src/auth"]),
        (["src/a*", "!src/?"], ["src/a"]),
        (["*.?", "!*.[!a]"], ["*.b"]),
        (["**", "!**/*.*"], ["**/.*"]),
        (["x"], ["y"]),
        ([r"[!\a]", "!?"], ["*"]),
    ],
)
def test_footprints_without_a_path_in_common_are_apart(a: list[str], b: list[str]) -> None:
    assert overlap(of(*a), of(*b)) == APART == overlap(of(*b), of(*a))


@pytest.mark.parametrize(
    ("a", "b", "witness"),
    [
        (["src/**/login.*"], ["src/auth/*.ts"], "src/auth/login.ts"),
        (["src/auth"], ["src/auth/login.py"], "src/auth/login.py"),
        (["src/auth/*"], ["src/auth"], "src/auth/x"),
        (["**/auth"], ["src/auth/**"], "src/auth/x"),
        (["**/a"], ["b/**"], "b/a"),
        (["*.py"], ["*.py"], "x.py"),
        (["**"], ["**"], "x"),
        (["*test*"], ["*spec*"], "spectest"),
        ([".*"], [".*"], ".x"),
        ([".env*"], [".env.?"], ".env.x"),
        ([r"app/\[id\]/page.tsx"], ["app/**/page.*"], "app/[id]/page.tsx"),
        (["**", "!*.py", "!x*"], ["*.??"], "a.aa"),
        (["**", "!*.p[!y]"], ["*.p?"], "y.py"),
        (["src/**", "!src/x"], ["src/**", "!src/y"], "src/a"),
        (["*", "![a-z]*"], ["?"], "0"),
        (["a", "b"], ["b", "c"], "b"),
        (["caf?"], ["caf\udce9"], "caf\udce9"),
    ],
)
def test_a_meeting_comes_with_a_readable_path_that_both_cover(a: list[str], b: list[str], witness: str) -> None:
    met = overlap(of(*a), of(*b))
    assert (met.meets, met.exact, met.witness) == (True, True, witness)
    assert overlap(of(*b), of(*a)) == met
    assert covers(of(*a), witness) and covers(of(*b), witness)


def test_a_witness_is_spelled_as_the_patterns_are_where_case_does_not_count() -> None:
    assert overlap(of("Docs/README.md"), of("docs/readme.*"), IGNORE_CASE).witness == "Docs/README.md"


def test_patterns_that_differ_only_in_case_meet_only_where_case_does_not_count() -> None:
    assert overlap(of("README.md"), of("readme.md")) == APART
    assert overlap(of("README.md"), of("readme.md"), IGNORE_CASE).meets
    assert overlap(of("[A-M]?"), of("[k-z]?"), IGNORE_CASE).witness == "kx"


def test_only_a_sequence_that_no_name_can_hold_is_left_undecided() -> None:
    # In NFC an e is never followed by U+0301; which sequences can't occur is beyond this engine, so it does not vouch.
    assert overlap(of("[e]?"), of("?[\u0301]"), UNICODE) == UNDECIDED
    assert overlap(of("b?"), of("?[\u0301]"), UNICODE).witness == "b\u0301"


@pytest.mark.parametrize(
    ("outer", "inner", "contained"),
    [
        (["src"], ["src/auth"], True),
        (["src/**"], ["src/auth"], True),
        (["src/auth/**"], ["src/auth"], False),
        (["src/auth/"], ["src/auth/*"], True),
        (["**/*.py", "**/*.ts"], ["src/*.py", "lib/**/*.ts"], True),
        (["*.py", "*.pyi"], ["*.py?"], False),
        (["?", "??", "???*"], ["*.py"], True),
        (["[a-m]*", "[!a-m]*"], ["*.py"], True),
        (["[a-m]*", "[!a-m]*"], ["*"], False),
        (["src/**", "!src/vendor"], ["src/a"], True),
        (["src/**", "!src/vendor"], ["src/vendor/x"], False),
        (["src/**", "!src/vendor"], ["src/**", "!src/vendor"], True),
        (["src/**", "!src/vendor"], ["src/**", "!src/v*"], False),
        (["src/**", "!src/vendor/a"], ["src/**", "!src/vendor/"], True),
        (["*"], ["**"], True),
        (["a", "b"], ["a", "b", "c"], False),
    ],
)
def test_a_footprint_contains_another_if_it_covers_each_of_its_paths(
    outer: list[str], inner: list[str], contained: bool
) -> None:
    assert contains(of(*outer), of(*inner)) is contained


def test_a_claim_of_many_files_is_compared_by_place() -> None:
    ours = of(*[f"src/d{k}/f.py" for k in range(300)])
    theirs = of(*[f"src/d{k}/g.py" for k in range(300)], "src/d7")
    assert overlap(ours, theirs).witness == "src/d7/f.py"
    assert overlap(ours, of(*[f"src/d{k}/g.py" for k in range(300)])) == APART
    assert contains(ours, ours) and not contains(ours, theirs)


def test_a_wide_range_folds_as_a_narrow_one_does() -> None:
    wide = Bracket((("\x80", chr(0x10FFFF)),), False).chosen(IGNORE_CASE)
    assert isinstance(wide, CharSet)
    for code in range(0x80, 0x20000):
        small = IGNORE_CASE.name(chr(code))
        assert wide.holds(small), hex(code)
        narrow = Bracket(((chr(code), chr(code)),), False).chosen(IGNORE_CASE)
        assert narrow == small or (isinstance(narrow, CharSet) and narrow.holds(small)), hex(code)
    assert not wide.holds("a")


def test_no_character_of_a_set_is_one_that_a_folded_name_cannot_hold() -> None:
    upper = Bracket((("\x01", "@"), ("[", chr(0x10FFFF))), True)
    assert upper.chosen(NO_FOLD).letter == "A"  # type: ignore[union-attr]
    assert upper.chosen(IGNORE_CASE).letter == ""  # type: ignore[union-attr]
    assert overlap(of("[!\x01-@[-\U0010ffff]"), of("*")).witness == "A"
    assert overlap(of("[!\x01-@[-\U0010ffff]"), of("*"), IGNORE_CASE) == APART


def hostile() -> list[tuple[Footprint, Footprint]]:
    """Pairs that are made to cost as much as can be."""
    draw = random.Random(7)

    def name(length: int) -> str:
        return "".join(draw.choice(["*", "a", "b", "?", "[ab]", "[!a]", "[!b]"]) for _ in range(length))

    def deep(length: int) -> str:
        return "/".join(draw.choice(["**", "*a*", "*b?", "[ab]*", "?*", "*[!a]*b", "a", "*"]) for _ in range(length))

    classes = "".join(f"[{a}{b}]" for a in "abcdefghijklmnop" for b in "qrstuvwxyzABCDEF")
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [
        (of("/".join(["**", "*a*"] * 31), "!**/c*"), of("/".join(["**", "*b*"] * 31), "!**/*d")),
        (of("**", *[f"!**/*{c}*" for c in letters + letters.upper() + "0123456789"]), of("**/*.py")),
        (of("*" + "a?" * 40, "!*" + "c" + "?" * 60), of("*b" + "?" * 80, "!*d" + "?" * 70)),
        (of("*" + "*".join(letters) + "*", "!*z*y*"), of("*" + "*".join(letters[::-1]) + "*", "!*m*n*o*")),
        (of("*" + classes[:508] + "*x*"), of(classes)),
        (of("*" + classes[:508] + "*x*", *[f"!*{classes[k : k + 800]}*" for k in range(0, 256, 4)]), of(classes)),
        (
            of("**", *["!**/a/" + "*/" * k + "b" for k in range(30)]),
            of("**/[ab]", *["!**/b/" + "*/" * k for k in range(30)]),
        ),
    ]
    for _ in range(5):
        far = [[f"!{deep(60)}" for _ in range(32)] for _ in range(2)]
        pairs.append((of(deep(60), *far[0]), of(deep(60), *far[1])))
        wanted, unwanted = [f"*{name(60)}*" for _ in range(2)], [[f"!*{name(k)}*" for _ in range(32)] for k in (9, 12)]
        pairs.append((of(wanted[0], *unwanted[0]), of(wanted[1], *unwanted[1])))
    return pairs


def test_a_hostile_pair_is_answered_within_the_budget() -> None:
    undecided = 0
    for a, b in hostile():
        for fold in (PLAIN, IGNORE_CASE):
            budgets = [Budget() for _ in range(3)]
            there, back = overlap(a, b, fold, budgets[0]), overlap(b, a, fold, budgets[1])
            contains(a, b, fold, budgets[2])
            assert there == back
            assert all(budget.left > -STEPS // 4 for budget in budgets)  # the last step may be a large one
            assert there.exact == (budgets[0].left >= 0)
            undecided += there == UNDECIDED
    assert undecided  # the corpus is hostile indeed


def test_a_larger_budget_decides_what_a_small_one_leaves_open() -> None:
    a, b = of("**", *[f"!**/*{c}*" for c in "xabc"]), of("**/*.py")
    assert overlap(a, b, PLAIN, Budget(10)) == UNDECIDED
    assert overlap(a, b).exact and overlap(a, b).meets
    assert not contains(of("[a-m]*", "[!a-m]*"), of("*.py"), PLAIN, Budget(10))
    assert contains(of("[a-m]*", "[!a-m]*"), of("*.py"))


def test_the_work_on_a_hostile_pair_is_bounded_by_the_budget() -> None:
    """Steps are what the engine says of itself; this counts its calls from outside."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    worst = 0
    for a, b in hostile():
        a.routes(), b.routes()
        calls = 0
        sys.setprofile(count)
        try:
            overlap(a, b)
        finally:
            sys.setprofile(None)
        worst = max(worst, calls)
    assert worst < 8 * STEPS
