"""From what is typed to a place below the top: one identity for every spelling, and nothing outside."""

from pathlib import Path

import pytest

from gitlock.errors import UsageError
from gitlock.git.process import Git
from gitlock.git.repository import Repository
from gitlock.usecases.places import literal_place, pattern_place


def at(top: Path, prefix: str = "", *, bare: bool = False) -> Repository:
    """The repository at ``top``, with the current folder ``prefix``."""
    return Repository(Git(None, {}), str(top / ".git"), str(top / ".git"), None if bare else str(top), prefix, bare)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A tree with src/auth/login.py, a link to that folder inside it, and a link to the tree from outside."""
    tree = tmp_path / "tree"
    (tree / "src/auth").mkdir(parents=True)
    (tree / "src/auth/login.py").touch()
    (tree / "alias").symlink_to("src/auth")
    (tree / "away").symlink_to(tmp_path)
    (tmp_path / "outside").symlink_to(tree)
    return tree


SAME = [
    "src/auth/login.py",
    "./src/auth/login.py",
    "src//auth/login.py",
    "src/./auth/login.py",
    "src/other/../auth/login.py",
    "../tree/src/auth/login.py",
    "alias/login.py",
    "{top}/src/auth/login.py",
    "{top}/alias/../../src/auth/login.py",
    "{outside}/src/auth/login.py",
    "{outside}/alias/login.py",
]


@pytest.mark.parametrize("text", SAME)
def test_every_spelling_of_a_file_is_one_place(top: Path, text: str) -> None:
    typed = text.format(top=top, outside=top.parent / "outside")
    assert literal_place(at(top), typed) == "src/auth/login.py"


@pytest.mark.parametrize("text", SAME)
def test_every_spelling_of_a_file_is_one_pattern(top: Path, text: str) -> None:
    typed = text.format(top=top, outside=top.parent / "outside")
    assert pattern_place(at(top), typed) == "src/auth/login.py"


@pytest.mark.parametrize(
    ("prefix", "text", "place"),
    [
        ("src/", "auth/login.py", "src/auth/login.py"),
        ("src/auth/", "../x", "src/x"),
        ("src/auth/", ".", "src/auth"),
        ("src/auth/", "..", "src"),
        ("src/auth/", "../..", ""),
        ("", ".", ""),
        ("", "src/", "src"),
        ("", "src", "src"),
        ("", "not/there/yet", "not/there/yet"),
        ("", "alias", "alias"),
        ("", "alias/", "src/auth"),
        ("", "a\nb", "a\nb"),
        ("", "caf\udce9", "caf\udce9"),
        ("", "-x", "-x"),
        ("", " ", " "),
    ],
)
def test_a_path_is_relative_to_where_it_is_typed(top: Path, prefix: str, text: str, place: str) -> None:
    assert literal_place(at(top, prefix), text) == place


@pytest.mark.parametrize(
    ("prefix", "text", "pattern"),
    [
        ("", "*.py", "*.py"),
        ("src/", "*.py", "src/*.py"),
        ("src/auth/", "../*.py", "src/*.py"),
        ("src/", "**/*.py", "src/**/*.py"),
        ("", "./src/*", "src/*"),
        ("", "src//auth/./*", "src/auth/*"),
        ("", "alias/*.py", "src/auth/*.py"),
        ("src/", "/*.py", "*.py"),
        ("", "/src/*", "src/*"),
        ("", "{top}/src/*", "src/*"),
        ("", "{top}/**", "**"),
        ("", "src/auth/", "src/auth/"),
        ("", ".", "**"),
        ("src/", ".", "src/"),
        ("", "new[1]/*", "new[1]/*"),
        ("", "src/a?/../b", None),
        ("", "*/..", None),
    ],
)
def test_a_pattern_is_anchored_where_it_is_typed(top: Path, prefix: str, text: str, pattern: str | None) -> None:
    typed = text.format(top=top)
    if pattern is None:
        with pytest.raises(UsageError):
            pattern_place(at(top, prefix), typed)
    else:
        assert pattern_place(at(top, prefix), typed) == pattern


def test_what_is_special_in_the_folder_above_is_no_wildcard(top: Path) -> None:
    (top / "app/[id]").mkdir(parents=True)
    assert pattern_place(at(top, "app/[id]/"), "*.tsx") == "app/\\[id\\]/*.tsx"


@pytest.mark.parametrize("text", ["..", "../x", "/", "/etc/passwd", "src/../../x", "away/x", "{parent}/tree2/x", "/*"])
def test_a_path_outside_is_refused(top: Path, text: str) -> None:
    (top.parent / "tree2").mkdir()
    with pytest.raises(UsageError) as caught:
        literal_place(at(top), text.format(parent=top.parent))
    assert caught.value.id == "bad-path"
    assert caught.value.hint


@pytest.mark.parametrize(
    "text", [".git", ".git/config", "./.git/x", "src/../.git/x", ".GIT/x", "sub/.git/HEAD", "sub/.Git"]
)
def test_git_s_own_folder_is_refused(top: Path, text: str) -> None:
    for place in (literal_place, pattern_place):
        with pytest.raises(UsageError) as caught:
            place(at(top), text)
        assert caught.value.id == "bad-path"


def test_a_name_that_only_looks_like_git_s_is_a_name(top: Path) -> None:
    assert literal_place(at(top), ".gitignore") == ".gitignore"
    assert literal_place(at(top), "x/.github/y") == "x/.github/y"


def test_no_name_holds_a_nul(top: Path) -> None:
    for place in (literal_place, pattern_place):
        with pytest.raises(UsageError):
            place(at(top), "a\0b")


def test_a_bare_repository_has_places_without_a_disk(top: Path) -> None:
    bare = at(top, bare=True)
    assert literal_place(bare, "a/./b/../c//d") == "a/c/d"
    with pytest.raises(UsageError):
        literal_place(bare, "a/../../b")
