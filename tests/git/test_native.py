"""Our lines in a hook manager's own files: added where they belong, taken out again, and nothing else touched."""

import os
from pathlib import Path

import pytest
import yaml

from gitlock.errors import UnsafeError
from gitlock.git.hooks import HOOKS, MANAGERS, MARKS, Added, add, additions, store_of
from gitlock.git.hooks.yamltext import insert
from tests.git.standin import at, give_back, snapshot, write_hook
from tests.kit.repo import Repo

LINES = ("git-lock:", "  run: git-lock hook pre-commit")
ITEM = ("- repo: local", "  hooks:", "  - id: git-lock")


def _add(repo: Repo, name: str, folder: str = "") -> Added:
    here = at(repo)
    store, mode = store_of(here)
    wanted = additions(name, HOOKS, str(repo.path), folder or str(repo.path / ".githooks"))
    return add(here, wanted, store, mode, bare_script=name == "husky")


def _inserted(text: str, keys: tuple[str, ...], lines: tuple[str, ...] = LINES) -> bytes:
    after, ours = insert(text.encode(), keys, lines, MARKS)
    assert after.count(ours) == 1
    assert after.replace(ours, b"") == text.encode(), "without our lines it is what it was"
    return after


# -- YAML, with PyYAML as the judge of what was written


@pytest.mark.parametrize("text", [
    "",
    "pre-push:\n  commands:\n    x:\n      run: make\n",
    "# a comment\n\npre-push: {}\n",
    "---\npre-push:\n  parallel: true",
    "pre-commit:\n  parallel: true\n",
    "pre-commit:\n    parallel: true\n    commands:\n        x:\n            run: |\n                pre-commit:\n",
    "pre-commit: # first\n  commands: # these\n\n    # one\n    x:\n      run: make\npre-push:\n  x: y\n",
    '"pre-commit":\n  "commands":\n    x: {run: make}\n',
    "pre-commit:\npre-push:\n  x: y\n",
    "pre-commit:\n  commands:\n",
    "a: |\n  pre-commit:\n    commands:\nb: 1\n",
])  # fmt: skip
def test_a_mapping_gets_our_lines_where_they_belong(text: str) -> None:
    after = yaml.safe_load(_inserted(text, ("pre-commit", "commands")))
    assert after["pre-commit"]["commands"].pop("git-lock") == {"run": "git-lock hook pre-commit"}
    before = yaml.safe_load(text) or {}
    before["pre-commit"] = before.get("pre-commit") or {}
    before["pre-commit"]["commands"] = before["pre-commit"].get("commands") or {}
    assert after == before


@pytest.mark.parametrize("text", [
    "repos:\n- repo: x\n  hooks: []\n",
    "repos:\n  - repo: x\n    hooks: []\n",
    "fail_fast: true\nrepos:\n\n# ours\n-   repo: x\n    hooks: []\nci:\n  skip: []\n",
    "repos:\n",
    "minimum_pre_commit_version: '3'\n",
    "repos:\r\n- repo: x\r\n  hooks: []\r\n",
])  # fmt: skip
def test_a_list_gets_our_item_first(text: str) -> None:
    after = yaml.safe_load(_inserted(text, ("repos",), ITEM))
    assert after["repos"].pop(0) == {"repo": "local", "hooks": [{"id": "git-lock"}]}
    before = yaml.safe_load(text) or {}
    assert after == {**before, "repos": before.get("repos") or []}


@pytest.mark.parametrize(("text", "keys"), [
    ("pre-commit: {commands: {}}\n", ("pre-commit", "commands")),
    ("pre-commit: &a\n  x: y\n", ("pre-commit", "commands")),
    ("pre-commit:\n  commands: {}\n", ("pre-commit", "commands")),
    ("pre-commit:\n  - x\n", ("pre-commit", "commands")),
    ("pre-commit:\n  commands:\n  - x\n", ("pre-commit", "commands")),
    ("pre-commit:\n  x: y\npre-commit:\n  x: y\n", ("pre-commit", "commands")),
    ("{pre-commit: 1}\n", ("pre-commit", "commands")),
    ("pre-commit:\n\tx: y\n", ("pre-commit", "commands")),
    ("a: 1\n---\nb: 2\n", ("pre-commit", "commands")),
    ("a: 1\n...\n", ("pre-commit", "commands")),
    ("%YAML 1.2\n---\na: 1\n", ("pre-commit", "commands")),
    ('a: "x\ny: z"\n"', ("pre-commit", "commands")),
    ("a: 1\r\nb: 2\n", ("pre-commit", "commands")),
    ("\ufeffa: 1\n", ("pre-commit", "commands")),
    ("repos: []\n", ("repos",)),
    ("repos:\n  x: y\n", ("repos",)),
    ("? a\n: b\n", ("repos",)),
])  # fmt: skip
def test_what_can_t_be_read_without_doubt_is_refused(text: str, keys: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"."):
        insert(text.encode(), keys, ITEM if keys == ("repos",) else LINES, MARKS)


def test_what_is_not_utf_8_is_refused() -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        insert(b"a: \xff\n", ("repos",), ITEM, MARKS)


# -- the managers' files


_FILES = {
    "husky": {".husky/pre-commit": "npm test\n", ".husky/post-commit": "#!/usr/bin/env bash\nexit 0"},
    "lefthook": {"lefthook-local.yml": "pre-commit:\n  commands:\n    x:\n      run: make\n"},
    "overcommit": {".overcommit.yml": "PreCommit:\n  RuboCop:\n    enabled: true\n"},
    "pre-commit": {".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks: []\n"},
    "prek": {".pre-commit-config.yaml": "repos: # all\n  - repo: local\n    hooks: []\n"},
    "hooks-path": {".githooks/pre-commit": "#!/bin/sh\nmake lint\nexit 0\n"},
    "global": {"elsewhere/pre-commit": "#!/usr/bin/bash -e\nmake lint\n"},
}


def _folder(repo: Repo, name: str) -> str:
    return str(repo.path / ("elsewhere" if name == "global" else ".githooks"))


def _project(repo: Repo, name: str) -> None:
    for path, text in _FILES[name].items():
        file = repo.write(path, text)
        file.chmod(0o750)


@pytest.mark.parametrize("name", MANAGERS)
def test_uninstall_takes_exactly_our_lines_out(name: str, repo: Repo) -> None:
    _project(repo, name)
    before = {path: value[:2] for path, value in snapshot(repo.path).items()}
    assert _add(repo, name, _folder(repo, name)).written
    give_back(repo)
    repo.store.rmdir()
    after = {path: value[:2] for path, value in snapshot(repo.path).items()}
    assert {path: after[path] for path in before} == before
    assert not {path for path in set(after) - set(before) if (repo.path / path).is_file()}


@pytest.mark.parametrize("name", MANAGERS)
def test_adding_twice_is_as_once(name: str, repo: Repo) -> None:
    _project(repo, name)
    _add(repo, name, _folder(repo, name))
    before = snapshot(repo.path)
    again = _add(repo, name, _folder(repo, name))
    assert (again.written, bool(again.unchanged)) == ((), True)
    assert snapshot(repo.path) == before


@pytest.mark.parametrize("name", MANAGERS)
def test_files_that_were_not_there_are_gone_again(name: str, repo: Repo) -> None:
    before = {path for path in snapshot(repo.path) if (repo.path / path).is_file()}
    _add(repo, name, _folder(repo, name))
    give_back(repo)
    assert {path for path in snapshot(repo.path) if (repo.path / path).is_file()} == before


@pytest.mark.parametrize("name", [name for name in MANAGERS if name not in ("husky", "hooks-path", "global")])
def test_what_was_written_is_good_yaml(name: str, repo: Repo) -> None:
    _project(repo, name)
    _add(repo, name)
    (path,) = _FILES[name]
    assert yaml.safe_load(repo.read(path))


def test_somebody_s_own_line_that_asks_us_is_not_doubled(repo: Repo) -> None:
    repo.write(".husky/pre-commit", 'git-lock hook pre-commit "$@"\n')
    assert str(repo.path / ".husky/pre-commit") in _add(repo, "husky").unchanged
    assert repo.read(".husky/pre-commit").count("git-lock hook") == 1


def test_an_edit_inside_our_lines_is_left_and_named(repo: Repo) -> None:
    _project(repo, "hooks-path")
    _add(repo, "hooks-path")
    hook = repo.path / ".githooks/pre-commit"
    hook.write_text(hook.read_text().replace("not checked", "no check"))
    back = give_back(repo)
    assert [(Path(path).name, "by hand" in reason) for path, reason in back.left] == [("pre-commit", True)]


def test_what_a_colleague_has_added_to_the_project_is_not_ours_to_take_out(repo: Repo) -> None:
    _project(repo, "hooks-path")
    _add(repo, "hooks-path")
    clone = repo.clone()
    clone.write(".githooks/pre-commit", repo.read(".githooks/pre-commit"))
    assert give_back(clone).restored == ()
    assert "git-lock hook" in clone.read(".githooks/pre-commit")


# -- refused, all or nothing


def _link(repo: Repo) -> None:
    repo.write("real", "#!/bin/sh\n").chmod(0o755)
    (repo.path / ".githooks/post-commit").symlink_to("../real")


def _not_executable(repo: Repo) -> None:
    write_hook(repo.path / ".githooks/post-commit", "exit 0", mode=0o644)


def _another_language(repo: Repo) -> None:
    repo.write(".githooks/post-commit", "#!/usr/bin/env python3\n").chmod(0o755)


def _carriage_returns(repo: Repo) -> None:
    repo.write(".githooks/post-commit", "#!/bin/sh\r\nexit 0\r\n").chmod(0o755)


def _no_first_line(repo: Repo) -> None:
    repo.write(".githooks/post-commit", "exit 0\n").chmod(0o755)


def _binary(repo: Repo) -> None:
    repo.write(".githooks/post-commit", b"\x7fELF\0").chmod(0o755)


def _folder_in_its_place(repo: Repo) -> None:
    (repo.path / ".githooks/post-commit").mkdir()


@pytest.mark.parametrize("case", [_link, _not_executable, _another_language, _carriage_returns, _no_first_line, _binary,
                                  _folder_in_its_place])  # fmt: skip
def test_one_file_that_is_refused_leaves_all_as_they_were(case: object, repo: Repo) -> None:
    write_hook(repo.path / ".githooks/pre-commit", "exit 0")
    assert callable(case)
    case(repo)
    before = snapshot(repo.path / ".githooks")
    with pytest.raises(UnsafeError) as caught:
        _add(repo, "hooks-path")
    assert "post-commit" in caught.value.message
    assert snapshot(repo.path / ".githooks") == before


def test_a_folder_that_is_a_link_is_refused(repo: Repo) -> None:
    (repo.path.parent / "outside").mkdir()
    os.symlink("../outside", repo.path / ".husky")
    with pytest.raises(UnsafeError):
        _add(repo, "husky")
    assert not list((repo.path.parent / "outside").iterdir())
