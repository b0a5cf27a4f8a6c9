"""What each claim argument means: the order of the readings, and what is refused."""

from pathlib import Path

import pytest

from gitlock.domain.pattern import PLAIN, Fold
from gitlock.domain.policy import KeyRule, Policy
from gitlock.errors import UsageError
from gitlock.git.process import Git
from gitlock.git.repository import Repository
from gitlock.usecases.reading import Argument, Reading, Taken, expand_braces, read_argument, read_claims, read_wanted

POLICY = Policy(
    keys=(
        KeyRule("schema:main", ("db/**", "!db/notes/*"), takes="whole", line=3),
        KeyRule("deploy:staging", ("deploy/staging/**",), line=8),
        KeyRule("there:too", ("x/**",), line=12),
    )
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A tree that holds a few things with odd names."""
    for name in ("app/[id]/page.tsx", "[[...slug]]", "there:too", "!bang", "src/a.py", "a{b,c}", "-dash", "star*"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return Repository(Git(None, {}), str(tmp_path / ".git"), str(tmp_path / ".git"), str(tmp_path), "", False)


def taken(repository: Repository, text: str, form: str = "any", fold: Fold = PLAIN) -> Taken:
    return read_argument(Argument(text, form), repository, POLICY, fold)


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("src/a.py", "path", "src/a.py"),
        ("src", "path", "src"),
        ("src/", "path", "src/"),
        (".", "path", "**"),
        ("src/new.py", "path", "src/new.py"),
        ("new/", "path", "new/"),
        ("app/[id]/page.tsx", "path", "app/\\[id\\]/page.tsx"),
        ("app/[id]/new.tsx", "pattern", "app/[id]/new.tsx"),
        ("[[...slug]]", "path", "\\[\\[...slug\\]\\]"),
        ("star*", "path", "star\\*"),
        ("src/*", "pattern", "src/*"),
        ("src/**/*.py", "pattern", "src/**/*.py"),
        ("./src/*.py", "pattern", "src/*.py"),
        ("/src/*.py", "pattern", "src/*.py"),
        ("./new.py", "path", "new.py"),
        ("a{b,c}", "path", "a{b,c}"),
        ("-dash", "path", "-dash"),
        ("path:src/*", "path", "src/\\*"),
        ("file:deploy:staging", "path", "deploy:staging"),
        ("glob:src/a.py", "path", "src/a.py"),
        ("glob:star*", "pattern", "star*"),
        (":(literal)src/*", "path", "src/\\*"),
        (":(glob)src/*", "pattern", "src/*"),
        (":(top)src/*", "pattern", "src/*"),
        (":(icase)a1.py", "pattern", "[aA]1.[pP][yY]"),
        (":(top,glob)src/**", "pattern", "src/**"),
    ],
)
def test_paths_and_patterns(repository: Repository, text: str, kind: str, meant: str) -> None:
    found = taken(repository, text)
    assert (found.kind, found.patterns) == (kind, (meant,))


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("env:prod", "key", "env:prod"),
        ("a:b/c.d_e-f:g", "key", "a:b/c.d_e-f:g"),
        ("schema:main", "declared key", "schema:main"),
        ("there:too", "declared key", "there:too"),
    ],
)
def test_keys(repository: Repository, text: str, kind: str, name: str) -> None:
    found = taken(repository, text)
    assert (found.kind, found.name) == (kind, name)


def test_what_is_there_is_meant_rather_than_a_key(repository: Repository) -> None:
    (Path(repository.top or "") / "env:prod").touch()
    assert taken(repository, "env:prod").kind == "path"
    assert taken(repository, "env:prod", "key").kind == "key"


def test_a_declared_key_is_found_whatever_its_case_where_case_is_folded(repository: Repository) -> None:
    assert taken(repository, "SCHEMA:Main", fold=Fold(True, False)).name == "schema:main"
    assert taken(repository, "SCHEMA:Main").kind == "key"


@pytest.mark.parametrize(
    ("form", "text", "kind"),
    [("path", "src/*", "path"), ("path", "env:prod", "path"), ("path", "!x", "path"), ("glob", "star*", "pattern"),
     ("glob", "env:prod", "path"), ("key", "src:a", "key"), ("key", "schema:main", "declared key")],
)  # fmt: skip
def test_an_option_forces_one_reading(repository: Repository, form: str, text: str, kind: str) -> None:
    assert taken(repository, text, form).kind == kind


@pytest.mark.parametrize(
    ("text", "pattern"),
    [("!src/gen/**", "src/gen/**"), ("!src/a.py", "src/a.py"), (":(exclude)src/gen", "src/gen"), ("!./x", "x")],
)
def test_exclusions(repository: Repository, text: str, pattern: str) -> None:
    found = taken(repository, text)
    assert (found.kind, found.patterns) == ("exclusion", (pattern,))


def test_an_exclusion_of_what_is_there_is_still_one(repository: Repository) -> None:
    assert taken(repository, "!bang").kind == "exclusion"
    assert taken(repository, "path:!bang").patterns == ("\\!bang",)


@pytest.mark.parametrize(
    ("form", "text", "id"),
    [
        ("any", "", "bad-path"),
        ("any", "path:", "bad-path"),
        ("any", "!", "bad-pattern"),
        ("any", "!env:prod", "bad-pattern"),
        ("any", "src/[z-a].py", "bad-pattern"),
        ("any", "src/[ab", "bad-pattern"),
        ("any", "src/*\\", "bad-pattern"),
        ("any", "new\\", "bad-pattern"),
        ("any", "../x", "bad-path"),
        ("any", "/etc/passwd", "bad-path"),
        ("any", ".git/config", "bad-path"),
        ("any", "*/../x", "bad-pattern"),
        ("any", ":(nonsense)x", "bad-pattern"),
        ("any", ":(glob", "bad-pattern"),
        ("any", ":(glob)", "bad-pattern"),
        ("any", ":(glob,literal)x", "bad-pattern"),
        ("any", "a\0b", "bad-path"),
        ("any", "x" * 2000 + "*", "bad-pattern"),
        ("key", "no-colon", "bad-key"),
        ("key", "path:x", "bad-key"),
        ("key", "a:" + "b" * 80, "bad-key"),
        ("key", "a:ü", "bad-key"),
        ("key", "-a:b", "bad-key"),
    ],
)
def test_what_cannot_be_read_is_refused(repository: Repository, form: str, text: str, id: str) -> None:
    with pytest.raises(UsageError) as caught:
        taken(repository, text, form)
    assert caught.value.id == id


def claims(repository: Repository, *texts: str) -> Reading:
    return read_claims(tuple(Argument(text) for text in texts), repository, POLICY, PLAIN)


def test_a_claim_of_exclusions_alone_is_refused(repository: Repository) -> None:
    with pytest.raises(UsageError) as caught:
        claims(repository, "!src/a.py", "!src/*")
    assert caught.value.id == "bad-pattern"


def test_nothing_claims_nothing(repository: Repository) -> None:
    with pytest.raises(UsageError):
        claims(repository)


def test_a_declared_key_brings_its_paths(repository: Repository) -> None:
    reading = claims(repository, "schema:main")
    assert (reading.include, reading.exclude, reading.names) == (("db/**",), ("db/notes/*",), ("schema:main",))


def test_what_is_named_twice_is_claimed_once(repository: Repository) -> None:
    reading = claims(repository, "src/a.py", "./src/a.py", "env:prod", "env:prod", "!x", "!x")
    assert (reading.include, reading.exclude, reading.names) == (("src/a.py",), ("x",), ("env:prod",))


def test_keys_name_paths_and_patterns_apart(repository: Repository) -> None:
    assert claims(repository, "src/a.py", "src/*", "env:prod").keys == ("env:prod", "file:src/a.py", "glob:src/*")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/{a,b}.py", ["src/a.py", "src/b.py"]),
        ("{a,b}{1,2}", ["a1", "b1", "a2", "b2"]),
        ("a{b,{c,d}}", ["ab", "ac", "ad"]),
        ("a{,b}", ["a", "ab"]),
        ("a{b}", ["a{b}"]),
        ("a{b", ["a{b"]),
        ("a\\{b,c}", ["a\\{b,c}"]),
        ("{a,a}", ["a"]),
    ],
)
def test_braces_are_expanded_as_a_shell_does(text: str, found: list[str]) -> None:
    assert sorted(expand_braces(text)) == sorted(found)


def test_braces_that_explode_are_refused() -> None:
    with pytest.raises(UsageError):
        expand_braces("{a,b}" * 7)


def test_what_can_no_longer_be_read_can_still_be_named(repository: Repository) -> None:
    (wanted,) = read_wanted((Argument("../elsewhere"),), repository, POLICY, PLAIN)
    assert wanted.fault is not None
    assert "../elsewhere" in wanted.spellings


def test_below_the_top_the_bare_text_names_no_path_of_the_top(repository: Repository) -> None:
    below = repository.replace(prefix="src/")
    (wanted,) = read_wanted((Argument("a.py"),), below, POLICY, PLAIN)
    assert "src/a.py" in wanted.spellings
    assert "a.py" not in wanted.spellings
