"""The engine's answers against brute force: every path of a small world is tried.

The world of a chunk of pairs is complete for the patterns of the chunk, so that "no path of it is in both" means that
there is none at all. How that is made sure: what a pattern can still match after some text depends only on which of its
beginnings match that text. Texts with the same beginnings matched are therefore alike, and one of each kind is enough.
``_closed`` collects a kind at a time by putting one more letter (name) behind each, until no new kind turns up: names
over the chunk's letters first, then paths over those names. Letters that no pattern of the chunk mentions are alike
too; "z" stands for them, since a negated class would otherwise look as if it matched nothing.

The matcher is Python's ``re``, on expressions that are made from the drawn tokens, not from the engine's parser.
"""

import random
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pathspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitlock.domain.coverage import Coverage
from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import contains, covers, overlap
from gitlock.domain.pattern import PLAIN, Fold, anchor_candidates, anchors_may_meet, escape, parse_pattern
from gitlock.errors import UsageError
from tests.kit.program import is_soak

CHUNKS, PAIRS = (200, 5_000) if is_soak() else (20, 500)
FOLDS = [PLAIN, PLAIN, Fold(True, False), Fold(False, True), Fold(True, True)]


class Token(NamedTuple):
    """A piece of one name: how it is spelled, and what it matches under each folding of Unicode (False, True)."""

    text: str
    matches: tuple[str, str]  # regular expressions; case is dealt with by ``_Drawn.expression``


def _literal(char: str, text: str = "") -> Token:
    return Token(text or char, (re.escape(char), re.escape(char)))


LETTERS = [_literal("a"), _literal("b"), _literal("."), _literal("A"), _literal("b", "\\b")]
E, E_ACUTE = _literal("e"), Token("e\u0301", ("e\u0301", "é"))  # two characters, where Unicode is not folded
ACCENTED = [_literal("É"), E_ACUTE, _literal("é")]
WILD = [
    Token("?", ("[^/]",) * 2), Token("*", ("[^/]*",) * 2), Token("**", ("[^/]*",) * 2), Token("*", ("[^/]*",) * 2),
    Token("[ab]", ("[ab]",) * 2), Token("[!a]", ("[^a/]",) * 2), Token("[^A.]", ("[^A./]",) * 2),
    Token("[a-c]", ("[a-c]",) * 2), Token("[[:upper:]b]", ("[A-Zb]",) * 2), Token("[]a]", (r"[\]a]",) * 2),
]  # fmt: skip


class Drawn(NamedTuple):
    """A pattern as it was drawn: the tokens of each name, None for "**"."""

    names: tuple[tuple[Token, ...] | None, ...]
    below: bool

    @property
    def text(self) -> str:
        names = ["**" if name is None else "".join(token.text for token in name) for name in self.names]
        return "/".join(names) + "/" * self.below

    def beginnings(self, fold: Fold) -> list[str]:
        """Expressions for what matches its first name, its first two and so on, and at last the whole pattern."""
        found = []
        whole = ""
        for name in self.names:
            if name is None:
                whole += "(?:[^/]+/)*"
                found.append(whole)
            else:
                whole += f"{_name_expression(name, fold)}/"
                found.append(whole)
        last = self.names[-1]
        star = last is not None and all(token.text in ("*", "**") for token in last)
        literal = last is not None and all(token in LETTERS or token in ACCENTED for token in last)
        if self.below:
            whole += "(?:[^/]+/)+"
        elif last is None or star:
            whole = whole + "(?:[^/]+/)*" if star else whole + "[^/]+/"
        elif literal:
            whole += "(?:[^/]+/)*"
        found.append(whole)
        return found


def _name_expression(name: Iterable[Token], fold: Fold) -> str:
    """Names never are empty, hence the look ahead. Classes are folded before they are negated: by the flag i."""
    expression = "".join(token.matches[fold.unicode] for token in name)
    return f"(?=[^/])(?i:{expression})" if fold.case else f"(?=[^/]){expression}"


def _closed(letters: Iterable[str], matchers: list[Callable[[str], object]], deepest: int) -> list[str]:
    """One text for each kind, see above."""
    letters = list(letters)
    kinds: dict[tuple[bool, ...], str] = {}
    layer = [""]
    for _ in range(deepest):
        longer = []
        for text in layer:
            for letter in letters:
                kind = tuple([bool(match(text + letter)) for match in matchers])
                if kind not in kinds:
                    kinds[kind] = text + letter
                    longer.append(text + letter)
        layer = longer
        if not layer:
            return list(kinds.values())
    raise AssertionError("this world does not close")


class World:
    """Patterns, and a set of paths that is complete for them; a set of paths is an integer with a bit for each."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.draw = draw
        self.fold = draw.choice(FOLDS)
        letters = LETTERS + (ACCENTED if draw.random() < 0.4 else [])
        names = [tuple(draw.choices(letters, k=draw.randint(1, 2))) for _ in range(3)]
        names += [tuple(draw.choice(draw.choice((letters, WILD))) for _ in range(draw.randint(1, 4))) for _ in range(5)]
        names = [n for n in names if self._name(n) not in ("", ".", "..", "**")] + [(WILD[1],)]
        patterns: dict[str, Drawn] = {}
        while len(patterns) < 14:
            drawn = [None if draw.random() < 0.25 else draw.choice(names) for _ in range(draw.randint(1, 3))]
            pattern = Drawn(tuple(drawn), draw.random() < 0.15)
            patterns[pattern.text] = pattern
        self.patterns = list(patterns)
        parts = [_name_expression(name[:k], self.fold) for name in names for k in range(1, len(name) + 1)]
        half = [(*name[:k], E) for name in names for k in range(len(name)) if name[k] == E_ACUTE]
        parts += [_name_expression(name, self.fold) for name in half]
        folded = [letter.matches[self.fold.unicode].replace("\\", "") for letter in letters]
        alphabet = {self.fold.name(char) if self.fold.case else char for text in folded for char in text} | set("bcz]")
        words = _closed(sorted(alphabet), [re.compile(part).fullmatch for part in {*parts}], 12)
        whole = [re.compile(_name_expression(name, self.fold)).fullmatch for name in names]
        kinds = {tuple([bool(match(word)) for match in whole]): word for word in words[::-1]}
        beginnings = sorted({part for pattern in patterns.values() for part in pattern.beginnings(self.fold)})
        begins: list[Callable[[str], object]] = [re.compile(part).fullmatch for part in beginnings]
        paths = _closed([word + "/" for word in kinds.values()], begins, 12)
        self.paths = [path[:-1] for path in paths]
        self.match = {text: re.compile(one.beginnings(self.fold)[-1]).fullmatch for text, one in patterns.items()}
        self.bits = {text: self._set(match) for text, match in self.match.items()}

    @staticmethod
    def _name(tokens: Iterable[Token]) -> str:
        return "".join(token.text for token in tokens)

    def _set(self, match: Callable[[str], object]) -> int:
        return sum(1 << k for k, path in enumerate(self.paths) if match(path + "/"))

    def footprint(self) -> "Asked":
        """One of random patterns."""
        include = self.draw.sample(self.patterns, self.draw.choice((1, 1, 2, 3)))
        exclude = self.draw.sample(self.patterns, self.draw.choice((0, 0, 1, 2, 3)))
        bits = 0
        for text in include:
            bits |= self.bits[text]
        for text in exclude:
            bits &= ~self.bits[text]
        return Asked(Footprint.of(include, exclude), bits, include, exclude)

    def covers(self, asked: "Asked", path: str) -> bool:
        """What ``re`` says."""
        folded = self.fold.name(path) + "/"
        included = any(self.match[text](folded) for text in asked.include)
        return included and not any(self.match[text](folded) for text in asked.exclude)


class Asked(NamedTuple):
    """A footprint, the paths of it as a set, and the texts of its patterns."""

    footprint: Footprint
    paths: int
    include: list[str]
    exclude: list[str]


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_every_answer_is_that_of_brute_force(seed: int) -> None:
    world = World(seed)
    drawn = [world.footprint() for _ in range(PAIRS)]
    for ours, theirs in zip(drawn, drawn[1:] + drawn[:1], strict=True):
        a, b = ours.footprint, theirs.footprint
        there, back = overlap(a, b, world.fold), overlap(b, a, world.fold)
        assert there == back, (a, b)
        assert there.exact and there.meets == bool(ours.paths & theirs.paths), (a, b, there, world.fold)
        if there.meets:
            path = there.witness
            assert path and covers(a, path, world.fold) and covers(b, path, world.fold), (a, b, there)
            assert world.covers(ours, path) and world.covers(theirs, path), (a, b, there)
        assert contains(a, b, world.fold) == (theirs.paths & ~ours.paths == 0), (a, b, world.fold)


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_coverage_and_covers_say_of_every_path_what_re_says(seed: int) -> None:
    world = World(seed)
    drawn = [world.footprint() for _ in range(40)]
    coverage = Coverage([(k, asked.footprint) for k, asked in enumerate(drawn)], world.fold)
    for number, path in enumerate(world.paths):
        expected = [k for k, asked in enumerate(drawn) if asked.paths >> number & 1]
        assert coverage.tags_covering(path) == expected, path
        assert [k for k, asked in enumerate(drawn) if covers(asked.footprint, path, world.fold)] == expected, path


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_an_anchor_never_hides_a_pattern(seed: int) -> None:
    world = World(seed)
    anchors = {text: parse_pattern(text).anchor for text in world.patterns}
    for text, paths in world.bits.items():
        for number, path in enumerate(world.paths):
            if paths >> number & 1:
                for spelling in (path, path.upper()) if world.fold.case else (path,):
                    assert anchors[text] in anchor_candidates(spelling), (text, spelling)
        for other, more in world.bits.items():
            assert anchors_may_meet(anchors[text], anchors[other]) or not paths & more, (text, other)


def _parses(text: str) -> bool:
    try:
        parse_pattern(text)
    except UsageError:
        return False
    return True


CHARACTERS = st.characters(exclude_characters="/\0", exclude_categories=()) | st.sampled_from("ab.AÉé\u0301*?[]!-\\")
ANY_PATTERN = st.text(CHARACTERS | st.just("/"), min_size=1, max_size=12).filter(_parses)
ANY_PATH = st.lists(
    st.text(CHARACTERS, min_size=1, max_size=4).filter(lambda name: name not in (".", "..")), min_size=1, max_size=4
).map("/".join)
ANY_FOLD = st.sampled_from([PLAIN, Fold(True, False), Fold(False, True), Fold(True, True)])


@given(ANY_PATTERN)
def test_the_canonical_text_parses_to_the_same_pattern(text: str) -> None:
    pattern = parse_pattern(text)
    again = parse_pattern(pattern.text)
    assert again == pattern
    assert (again.segments, again.below, again.literal) == (pattern.segments, pattern.below, pattern.literal)


@given(ANY_PATH, ANY_FOLD)
def test_an_escaped_path_covers_that_path_and_what_is_below_and_nothing_beside(path: str, fold: Fold) -> None:
    footprint = Footprint.of([escape(path)])
    assert covers(footprint, path, fold) and covers(footprint, path + "/x", fold)
    assert not covers(footprint, path + "y", fold)
    assert not covers(footprint, "other/" + path, fold)


@given(st.lists(ANY_PATTERN, min_size=1, max_size=2), st.lists(ANY_PATTERN, max_size=2), ANY_PATH, ANY_FOLD)
def test_footprints_that_cover_one_path_meet(include: list[str], exclude: list[str], path: str, fold: Fold) -> None:
    one, other = Footprint.of(include, exclude), Footprint.of([escape(path), "b/**"])
    if covers(one, path, fold):
        assert overlap(one, other, fold).meets and overlap(other, one, fold).meets
    met = overlap(one, other, fold)
    assert met == overlap(other, one, fold)
    if met.witness is not None:
        assert covers(one, met.witness, fold) and covers(other, met.witness, fold)
    if contains(one, other, fold):
        assert covers(one, path, fold)


SHARED_NAMES = st.lists(
    st.sampled_from(["a", "b", "ab", ".a", "a*", "*b", "?", "[ab]", "[a-c]x", "a?b", "*.a", r"\*", r"a\?", "*", "**"]),
    min_size=1,
    max_size=4,
)
SHARED = st.builds(lambda names, slash: "/".join(names) + slash, SHARED_NAMES, st.sampled_from(["", "/"]))
PLAIN_PATHS = st.lists(st.sampled_from(["a", "b", "ab", "axb", ".a", "b.a", "cx", "*", "a?"]), min_size=1, max_size=5)


@given(SHARED, PLAIN_PATHS)
def test_covers_agrees_with_pathspec_where_the_languages_say_the_same(text: str, names: list[str]) -> None:
    assume(not text.endswith("**/"))  # there it is only what is in folders below; here "**" may cross none
    path = "/".join(names)
    theirs = pathspec.GitIgnoreSpec.from_lines(["/" + text], backend="simple")
    ours = covers(Footprint.of([text]), path)
    last = text.rpartition("/")[2]
    if last in ("", "*", "**") or parse_pattern(last).literal is not None:
        assert ours == theirs.match_file(path)
    else:  # gitignore also takes what is below a folder of such a name
        above = ["/".join(names[:k]) for k in range(1, len(names))]
        assert (ours or any(covers(Footprint.of([text]), folder) for folder in above)) == theirs.match_file(path)
