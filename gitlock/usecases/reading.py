"""From claim arguments to what they mean: keys and patterns. Nothing is guessed silently: ``Taken`` says what an
argument was taken for.

The order is the contract's: a prefix that fixes the reading, a declared key, a path that is there, a pattern, a
semantic key, a path that is not there yet.
"""

from gitlock.domain.key import RESERVED, looks_like_key, path_key, semantic_key
from gitlock.domain.pattern import Fold, escape, parse_pattern
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, UsageError
from gitlock.usecases.places import exists, has_glob, literal_place, pattern_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.holding import Wanted
    from gitlock.domain.policy import KeyRule, Policy
    from gitlock.git.repository import Repository

LITERAL, PATTERN, KEY, DECLARED, EXCLUSION = "path", "pattern", "key", "declared key", "exclusion"
STAGED = "staged path"
BRACE_LIMIT = 64  # alternatives that one argument may expand to
ARGUMENT_LIMIT = 4096  # characters: no path is longer (PATH_MAX), and no pattern as long


class Argument(Value):
    """One argument; ``form`` is ``any``, or the option that fixed its reading: path, glob or key."""

    __slots__ = ("form", "text")

    def __init__(self, text: str, form: str = "any") -> None:
        self.text = text
        self.form = form


class Taken(Value):
    """What one argument was taken for: ``kind`` is one of the words above, ``patterns`` its pattern texts."""

    __slots__ = ("kind", "name", "patterns", "rule", "text")

    def __init__(
        self,
        text: str,
        kind: str,
        patterns: tuple[str, ...] = (),
        name: str | None = None,
        rule: "KeyRule | None" = None,
    ) -> None:
        self.text = text
        self.kind = kind
        self.patterns = patterns
        self.name = name
        self.rule = rule


class Reading(Value):
    """What all arguments together ask for."""

    __slots__ = ("exclude", "include", "keys", "names", "taken")

    def __init__(self, taken: tuple[Taken, ...]) -> None:
        include: list[str] = []
        exclude: list[str] = []
        names: list[str] = []
        for one in taken:
            target = exclude if one.kind == EXCLUSION else include
            target += [text for text in one.patterns if text not in target]
            if one.name is not None and one.name not in names:
                names.append(one.name)
            if one.rule is not None:
                include += [text for text in one.rule.paths if text[:1] != "!" and text not in include]
                exclude += [text[1:] for text in one.rule.paths if text[:1] == "!" and text[1:] not in exclude]
        self.taken = taken
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self.names = tuple(names)
        self.keys = (*names, *(path_key(text, parse_pattern(text).literal) for text in include))

    @property
    def title(self) -> str:
        """What people will call it."""
        return " ".join([*self.names, *self.include, *("!" + text for text in self.exclude)])


def read_claims(arguments: "tuple[Argument, ...]", repository: "Repository", policy: "Policy", fold: Fold) -> Reading:
    """What is claimed; ``UsageError`` for what can't be read, and for exclusions alone."""
    if not arguments:
        raise UsageError("say what to claim: a path, a pattern in quotes, or a key", hint="git lock claim 'src/auth/*'")
    reading = Reading(tuple(read_argument(argument, repository, policy, fold) for argument in arguments))
    if not reading.include and not reading.names:
        raise UsageError(
            "only exclusions are given, which claims nothing",
            id="bad-pattern",
            hint=f"name what is claimed as well, as in: git lock claim 'src/**' {arguments[0].text!r}",
        )
    return reading


def read_argument(argument: Argument, repository: "Repository", policy: "Policy", fold: Fold) -> Taken:
    """What one argument means."""
    if len(argument.text) > ARGUMENT_LIMIT:
        many = len(argument.text)
        raise UsageError(f"an argument of {many} characters is too long: {ARGUMENT_LIMIT} at most", id="bad-path")
    try:
        return _read(argument, repository, policy, fold)
    except RecursionError:
        raise UsageError(f"'{argument.text[:60]}…' is nested too deep", id="bad-pattern") from None


def _read(argument: Argument, repository: "Repository", policy: "Policy", fold: Fold) -> Taken:
    text, form = argument.text, argument.form
    if not text:
        raise UsageError("an empty argument claims nothing", id="bad-path")
    if form == "path":
        return _literal(text, text, repository)
    if form == "glob":
        return _pattern(text, text, repository)
    if form == "key":
        return _key(text, policy, fold)
    head, colon, rest = text.partition(":")
    if colon and head in RESERVED:
        if not rest:
            raise UsageError(f"'{text}' names nothing", id="bad-path", hint=f"for a file of that name: ./{text}")
        return _pattern(text, rest, repository) if head == "glob" else _literal(text, rest, repository)
    if text.startswith(":("):
        return _magic(text, repository)
    rule = policy.key_named(text, fold)
    if rule is not None:
        return Taken(text, DECLARED, name=rule.name, rule=rule)
    if text[0] == "!":
        if len(text) == 1:
            raise UsageError("'!' excludes nothing: a pattern must follow it", id="bad-pattern")
        inner = _read(Argument(text[1:]), repository, policy, fold)
        if not inner.patterns:
            raise UsageError(f"'{text}': only paths can be excluded, not keys", id="bad-pattern")
        return Taken(text, EXCLUSION, inner.patterns)
    place = _existing(text, repository)
    if place is not None:
        return Taken(text, LITERAL, (_all_or(place, folder=text.endswith("/")),))
    if has_glob(text) or text.startswith(("./", "/")) or _braces(text):
        return _pattern(text, text, repository)
    if looks_like_key(text):
        return _key(text, policy, fold)
    return _literal(text, text, repository)


def read_wanted(
    arguments: "tuple[Argument, ...]", repository: "Repository", policy: "Policy", fold: Fold
) -> "tuple[Wanted, ...]":
    """What release, renew and status name. The text itself counts first, so that what is gone, was renamed, or can
    no longer be read as a claim can still be named."""
    from gitlock.domain.holding import Wanted

    found = []
    for argument in arguments:
        try:
            taken = read_argument(argument, repository, policy, fold)
        except GitlockError as error:
            found.append(Wanted(argument.text, frozenset((argument.text,)), fault=error))
            continue
        spellings = {argument.text, *taken.patterns}
        for pattern in taken.patterns:
            spellings.add(path_key(pattern, parse_pattern(pattern).literal))
        if taken.name is not None:
            spellings.add(taken.name)
        if argument.form == "any" and repository.prefix and not taken.name:
            spellings.discard(argument.text)  # below the top, the bare text names another path
        paths = taken.rule.paths if taken.rule is not None and taken.rule.takes != "whole" else taken.patterns
        include = () if taken.kind == EXCLUSION or taken.name else tuple(paths)
        found.append(Wanted(argument.text, frozenset(spellings), name=taken.name, include=include))
    return tuple(found)


def whole_keys(reading: Reading, policy: "Policy", fold: Fold) -> "tuple[tuple[KeyRule, ...], tuple[str, ...]]":
    """The declared keys that the claim touches, and the names of those that it takes as well (``takes = "whole"``)."""
    from gitlock.domain.footprint import Footprint
    from gitlock.domain.overlap import overlap

    if not policy.keys:
        return (), ()
    footprint = Footprint.of(reading.include, reading.exclude)
    touched = tuple(rule for rule in policy.keys if overlap(rule.footprint, footprint, fold).meets)
    taken = tuple(rule.name for rule in touched if rule.takes == "whole" and rule.name not in reading.names)
    return touched, taken


def expand_braces(text: str) -> list[str]:
    """``a{b,c}`` as ``ab`` and ``ac``, as a shell would; braces without a comma stay as they are."""
    start = _braces(text)
    if start is None:
        return [text]
    begin, end, commas = start
    pieces = [text[a + 1 : b] for a, b in zip((begin, *commas), (*commas, end), strict=True)]
    results = [text[:begin] + piece + tail for tail in expand_braces(text[end + 1 :]) for piece in pieces]
    found = [deeper for result in results for deeper in (expand_braces(result) if _braces(result) else [result])]
    if len(found) > BRACE_LIMIT:
        raise UsageError(f"'{text}' expands to more than {BRACE_LIMIT} patterns", id="bad-pattern")
    return list(dict.fromkeys(found))


def _braces(text: str) -> "tuple[int, int, tuple[int, ...]] | None":
    depth, begin, at = 0, -1, 0
    commas: list[int] = []
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "{":
            if depth == 0:
                begin, commas = at, []
            depth += 1
        elif char == "," and depth == 1:
            commas.append(at)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and commas:
                return begin, at, tuple(commas)
        at += 1
    return None


def _existing(text: str, repository: "Repository") -> str | None:
    try:
        place = literal_place(repository, text)
    except UsageError:
        if has_glob(text):
            return None  # an absolute pattern, or one whose folder is a link to elsewhere
        import os

        if text.startswith("/") and not os.path.lexists(text):
            return None
        raise
    return place if exists(repository, place) else None


def _all_or(place: str, *, folder: bool) -> str:
    if not place:
        return "**"
    return parse_pattern(escape(place) + ("/" if folder else "")).text


def _literal(text: str, path: str, repository: "Repository") -> Taken:
    return Taken(text, LITERAL, (_all_or(literal_place(repository, path), folder=path.endswith("/")),))


def _pattern(text: str, pattern: str, repository: "Repository") -> Taken:
    parts = expand_braces(pattern)
    found = tuple(parse_pattern(pattern_place(repository, part)).text for part in parts)
    plain = all(parse_pattern(one).literal is not None for one in found)
    return Taken(text, LITERAL if plain else PATTERN, found)


def _key(text: str, policy: "Policy", fold: Fold) -> Taken:
    rule = policy.key_named(text, fold)
    if rule is not None:
        return Taken(text, DECLARED, name=rule.name, rule=rule)
    return Taken(text, KEY, name=semantic_key(text))


def _magic(text: str, repository: "Repository") -> Taken:
    """Git's long pathspec magic (gitglossary(7)): glob, icase, exclude, literal, top."""
    inside, closed, rest = text[2:].partition(")")
    words = [word.strip() for word in inside.split(",") if word.strip()]
    unknown = [word for word in words if word not in ("glob", "icase", "exclude", "literal", "top")]
    if not closed or not rest or unknown:
        why = f"'{unknown[0]}' is not understood" if unknown else "it must be :(magic)path"
        raise UsageError(f"'{text}': {why} (glob, icase, exclude, literal and top are)", id="bad-pattern")
    if "literal" in words and "glob" in words:
        raise UsageError(f"'{text}': literal and glob exclude each other", id="bad-pattern")
    top = "top" in words
    found: tuple[str, ...]
    if "literal" in words:
        found = (_all_or(literal_place(repository, rest, from_top=top), folder=rest.endswith("/")),)
    else:
        found = (parse_pattern(pattern_place(repository, rest, from_top=top)).text,)
    if "icase" in words:
        found = tuple(_either_case(one) for one in found)
    kind = EXCLUSION if "exclude" in words else LITERAL if "literal" in words else PATTERN
    return Taken(text, kind, found)


def _either_case(pattern: str) -> str:
    """The pattern with every letter outside brackets standing for both its cases."""
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            out.append(pattern[at : at + 2])
            at += 1
        elif char == "[":
            end = pattern.index("]", at + 2) if "]" in pattern[at + 2 :] else len(pattern) - 1
            out.append(pattern[at : end + 1])
            at = end
        elif char.lower() != char.upper() and len(char.lower()) == len(char.upper()) == 1:
            out.append(f"[{char.lower()}{char.upper()}]")
        else:
            out.append(char)
        at += 1
    return parse_pattern("".join(out)).text
