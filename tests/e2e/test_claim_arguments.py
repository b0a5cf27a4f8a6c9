"""What a typed claim becomes, from the words on the command line to the lease: the same identity for every spelling,
and a printed line for every reading."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kit.program import child_environment
from tests.kit.repo import Repo
from tests.kit.result import Result

FILES: dict[str, str | bytes] = {
    "app/[id]/page.tsx": "x",
    "app/i/page.tsx": "x",
    "[[...slug]].tsx": "x",
    "src/auth/login.py": "x",
    "src/auth/token.py": "x",
    "src/auth/deep/x.py": "x",
    "src/authors.py": "x",
    "db/schema.sql": "x",
    "db/migrations/1.sql": "x",
}

MAP = """\
version = 1

[[key]]
name = "schema:main"
paths = ["db/migrations/**", "db/schema.sql"]
takes = "whole"

[[key]]
name = "deploy:staging"
paths = ["deploy/**"]
"""


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every test gets a copy of."""
    repo = Repo.new(tmp_path_factory.mktemp("pattern"), files={**FILES, ".gitlock.toml": MAP})
    (repo.path / "alias").symlink_to("src/auth")
    return repo.path


@pytest.fixture
def tree(pattern: Path, tmp_path: Path) -> Repo:
    """A repository with odd names, a map file, a linked folder inside, and a link to all of it from outside."""
    repo = Repo(tmp_path / "repo")
    shutil.copytree(pattern, repo.path, symlinks=True)
    (tmp_path / "outside").symlink_to(repo.path)
    return repo


def lease(repo: Repo, *words: str, cwd: str | Path | None = None, **more: Any) -> dict[str, Any]:
    """The lease that a claim makes."""
    data = repo.json("claim", *words, cwd=cwd, **more)["data"]
    found = data["lease"]
    assert isinstance(found, dict)
    return found


def included(repo: Repo, *words: str, cwd: str | Path | None = None) -> list[str]:
    found = lease(repo, *words, cwd=cwd)["include"]
    assert isinstance(found, list)
    return found


# -- identity


SPELLINGS = [
    ("src/auth/login.py", "."),
    ("./src/auth/login.py", "."),
    ("src//auth/./login.py", "."),
    ("src/nowhere/../auth/login.py", "."),
    ("alias/login.py", "."),
    ("login.py", "src/auth"),
    ("../auth/login.py", "src/auth"),
    ("login.py", "alias"),
    ("{repo}/src/auth/login.py", "src"),
    ("{outside}/src/auth/login.py", "."),
    ("src/auth/login.py", "{outside}"),
]


@pytest.mark.parametrize(("text", "cwd"), SPELLINGS)
def test_every_spelling_of_a_path_is_one_claim(tree: Repo, text: str, cwd: str) -> None:
    places = {"repo": str(tree.path), "outside": str(tree.path.parent / "outside")}
    assert included(tree, text.format(**places), cwd=cwd.format(**places)) == ["src/auth/login.py"]


def test_a_worktree_s_path_is_the_main_tree_s(tree: Repo) -> None:
    linked = tree.worktree("linked")
    assert included(linked, str(linked.path / "src/auth/login.py")) == ["src/auth/login.py"]
    tree.lock("claim", "src/auth/login.py", agent="bob").ended(10)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("app/[id]/page.tsx", "app/\\[id\\]/page.tsx"),
        ("[[...slug]].tsx", "\\[\\[...slug\\]\\].tsx"),
        ("app/[id]", "app/\\[id\\]"),
    ],
)
def test_what_is_there_is_no_pattern_though_it_looks_like_one(tree: Repo, text: str, meant: str) -> None:
    assert included(tree, text) == [meant]


def test_a_file_that_looks_like_a_pattern_excludes_nothing_else(tree: Repo) -> None:
    tree.lock("claim", "app/[id]/page.tsx").ok()
    tree.lock("claim", "app/i/page.tsx", agent="bob").ok()
    tree.lock("claim", "app/*/page.tsx", agent="carol").ended(10)


def test_a_name_is_no_prefix(tree: Repo) -> None:
    tree.lock("claim", "src/auth").ok()
    tree.lock("claim", "src/authors.py", agent="bob").ok()
    tree.lock("claim", "src/auth/deep/x.py", agent="carol").ended(10)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("src/[z-a].py", "bad-pattern"),
        ("src/new\\", "bad-pattern"),
        ("!src/auth/login.py", "bad-pattern"),
        ("!x", "bad-pattern"),
        ("!", "bad-pattern"),
        ("", "bad-path"),
        ("..", "bad-path"),
        ("../sibling", "bad-path"),
        ("/etc/passwd", "bad-path"),
        (".git/config", "bad-path"),
        ("src/../.git", "bad-path"),
        ("path:", "bad-path"),
        ("*/../x", "bad-pattern"),
        (":(what)x", "bad-pattern"),
    ],
)
def test_what_names_nothing_is_refused(tree: Repo, text: str, id: str) -> None:
    answer = tree.json("claim", text)
    assert (answer["code"], answer["error"]["id"]) == (2, id)
    assert tree.json("list")["data"]["leases"] == []


def test_a_new_line_in_a_name_is_kept(tree: Repo) -> None:
    tree.write("two\nlines.txt", "x")
    assert included(tree, "two\nlines.txt") == ["two\nlines.txt"]
    assert "'two\\nlines.txt'" in tree.lock("list").out or "two\\nlines.txt" in tree.lock("list").out


def test_a_name_that_is_no_utf8_is_kept_as_bytes(tree: Repo) -> None:
    Path(os.fsdecode(os.fsencode(tree.path) + b"/caf\xe9.txt")).touch()
    first = lease(tree, "caf\udce9.txt")
    assert first["raw"] == {"caf\\xe9.txt": "Y2Fm6S50eHQ=", "file:caf\\xe9.txt": "ZmlsZTpjYWbpLnR4dA=="}
    tree.lock("claim", "caf*", agent="bob").ended(10)
    tree.lock("claim", "café.txt", agent="bob").ok()
    tree.lock("release", "caf\udce9.txt").ok()


NFC, NFD = "caf\u00e9.txt", "cafe\u0301.txt"


def test_two_forms_of_a_name_are_one_where_the_disk_makes_them_one(tree: Repo) -> None:
    tree.lock("claim", NFC).ok()
    tree.lock("claim", NFD, agent="bob").ok()
    tree.lock("release", NFD, agent="bob").ok()
    tree.git("config", "core.precomposeunicode", "true")
    tree.lock("claim", NFD, agent="bob").ended(10)


def test_two_cases_of_a_name_are_one_where_the_disk_makes_them_one(tree: Repo) -> None:
    tree.lock("claim", "src/auth/login.py").ok()
    tree.lock("claim", "SRC/Auth/LOGIN.py", agent="bob").ok()
    tree.lock("release", "SRC/Auth/LOGIN.py", agent="bob").ok()
    tree.git("config", "core.ignorecase", "true")
    tree.lock("claim", "SRC/Auth/LOGIN.py", agent="bob").ended(10)
    tree.lock("release", "SRC/auth/Login.py").ok()


def test_keys_of_two_cases_exclude_each_other_there_too(tree: Repo) -> None:
    tree.git("config", "core.ignorecase", "true")
    tree.lock("claim", "env:prod").ok()
    tree.lock("claim", "ENV:Prod", agent="bob").ended(10)


# -- readings


@pytest.mark.parametrize(
    ("words", "include", "exclude", "keys"),
    [
        (["src/{auth,other}/*.py"], ["src/auth/*.py", "src/other/*.py"], [], []),
        (["src/**", "!src/auth/deep"], ["src/**"], ["src/auth/deep"], []),
        (["env:prod"], [], [], ["env:prod"]),
        (["schema:main"], ["db/migrations/**", "db/schema.sql"], [], ["schema:main"]),
        (["path:src/*"], ["src/\\*"], [], []),
        (["file:env:prod"], ["env:prod"], [], []),
        (["glob:src/*"], ["src/*"], [], []),
        ([":(glob)src/**/*.py"], ["src/**/*.py"], [], []),
        ([":(icase)b.go"], ["[bB].[gG][oO]"], [], []),
        (["src", ":(exclude)src/auth"], ["src"], ["src/auth"], []),
        ([":(literal)a*"], ["a\\*"], [], []),
        (["--path", "src/*", "--glob", "x/*", "--key", "a:b"], ["src/\\*", "x/*"], [], ["a:b"]),
        (["--path=-x", "--", "-y"], ["-y", "-x"], [], []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_reading(tree: Repo, words: list[str], include: list[str], exclude: list[str], keys: list[str]) -> None:
    found = lease(tree, *words)
    assert (found["include"], found["exclude"]) == (include, exclude)
    assert [key for key in found["keys"] if not key.startswith(("file:", "glob:"))] == keys


def test_top_magic_is_relative_to_the_top(tree: Repo) -> None:
    assert included(tree, "*", cwd="src/auth") == ["src/auth/*"]
    assert included(tree, ":(top)src/*", cwd="src/auth") == ["src/*"]
    assert included(tree, "/app/*", cwd="src/auth") == ["app/*"]


def test_a_key_that_takes_the_whole_is_taken_with_any_of_its_paths(tree: Repo) -> None:
    tree.lock("claim", "db/schema.sql").ok()
    refused = tree.lock("claim", "db/migrations/1.sql", agent="bob").ended(10)
    assert "schema:main" in refused.err


def test_a_key_of_parts_is_only_shown(tree: Repo) -> None:
    assert "touches the key deploy:staging, without taking it" in tree.lock("claim", "deploy/a.sh").ok().out
    tree.lock("claim", "deploy/b.sh", agent="bob").ok()


# -- what is said


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["src/auth/login.py"], ["src/auth/login.py is taken as a path", "covers 1 tracked file today"]),
        (["src/auth/*"], ["src/auth/* is taken as a pattern", "covers 3 tracked files today"]),
        (["src/auth"], ["src/auth is taken as a path", "covers 3 tracked files today"]),
        (["env:prod"], ["env:prod is taken as a key"]),
        (["schema:main"], ["schema:main is taken as a declared key", "covers 2 tracked files today"]),
        (
            ["src", "!src/auth"],
            ["src is taken as a path", "!src/auth keeps out src/auth", "covers 1 tracked file today"],
        ),
        (["./src/*.py"], ["./src/*.py is taken as a pattern: src/*.py", "covers 1 tracked file today"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_it_says_what_it_took_and_what_that_covers(tree: Repo, words: list[str], lines: list[str]) -> None:
    said = tree.lock("claim", *words).ok()
    assert [line.strip() for line in said.lines[1:]] == lines


def test_a_claim_of_nothing_that_is_there_warns(tree: Repo) -> None:
    said = tree.lock("claim", "src/auth/lgoin.py").ok()
    assert "covers 0 tracked files today" in said.out
    assert "warning: no tracked file is covered today" in said.err


def test_a_wildcard_that_matches_a_folder_says_how_to_have_what_is_in_it(tree: Repo) -> None:
    said = tree.lock("claim", "src/auth*").ok()
    assert "covers 1 tracked file today" in said.out
    assert "'src/auth' is a folder" in said.err and "src/auth/" in said.err


def by_shell(repo: Repo, line: str) -> Result:
    """A line as a person types it: the shell expands what is not quoted."""
    done = subprocess.run(
        ["sh", "-c", line], cwd=repo.path, env=child_environment(agent="alice"), capture_output=True, check=False
    )
    return Result(["sh", "-c", line], done.returncode, done.stdout, done.stderr, repo.path)


@pytest.mark.parametrize(("typed", "quoted"), [("src/auth/*", "'src/auth/*'"), ("src/auth/*.py", "'src/auth/*.py'")])
def test_a_pattern_that_the_shell_expanded_is_noticed(tree: Repo, typed: str, quoted: str) -> None:
    said = by_shell(tree, f"git lock claim {typed}").ok()
    assert f"quoted, {quoted} would cover new ones too" in said.err


def test_a_quoted_pattern_needs_no_such_word(tree: Repo) -> None:
    assert "quoted" not in by_shell(tree, "git lock claim 'src/auth/*'").ok().err


# -- --staged


def test_what_is_staged_is_claimed(tree: Repo) -> None:
    tree.write("src/auth/login.py", "y")
    tree.write("new [1].txt", "y")
    tree.git("mv", "src/authors.py", "src/writers.py")
    tree.git("rm", "-q", "db/schema.sql")
    tree.git("--literal-pathspecs", "add", "src/auth/login.py", "new [1].txt")
    tree.write("src/auth/token.py", "not staged")
    found = lease(tree, "--staged", cwd="src")
    assert found["include"] == [
        "db/schema.sql",
        "new \\[1\\].txt",
        "src/auth/login.py",
        "src/authors.py",
        "src/writers.py",
    ]
    tree.lock("check").ok()


def test_what_is_mine_already_is_not_claimed_again(tree: Repo) -> None:
    tree.lock("claim", "src/auth/*").ok()
    tree.write("src/auth/login.py", "y")
    tree.write("other.txt", "y")
    tree.git("add", "src/auth/login.py", "other.txt")
    assert included(tree, "--staged") == ["other.txt"]
    said = tree.lock("claim", "--staged").ok()
    assert said.out == "already yours: everything that is staged\n"
    assert tree.json("claim", "--staged")["data"]["lease"] is None


def test_what_i_share_is_not_mine_to_change_yet(tree: Repo) -> None:
    tree.lock("claim", "src/auth/login.py", "--shared").ok()
    tree.write("src/auth/login.py", "y")
    tree.git("add", "src/auth/login.py")
    assert lease(tree, "--staged")["mode"] == "exclusive"


def test_nothing_staged_is_a_mistake(tree: Repo) -> None:
    said = tree.lock("claim", "--staged").ended(2)
    assert said.err == "git-lock: nothing is staged\nhint: git add what you have changed, or name what to claim\n"


def test_a_staged_path_that_another_holds_is_refused_by_its_name(tree: Repo) -> None:
    tree.lock("claim", "src/auth/*", agent="bob").ok()
    tree.write("src/auth/login.py", "y")
    tree.write("other.txt", "y")
    tree.git("add", "src/auth/login.py", "other.txt")
    said = tree.lock("claim", "--staged", cwd="src").ended(10)
    assert "--path auth/login.py" in said.err
    assert "--staged" not in said.err
    assert tree.json("mine")["data"]["leases"] == []
