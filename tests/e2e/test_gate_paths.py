"""Which paths a commit changes: both sides of a rename, deletions, modes, links, submodules, and names of any kind."""

import os
import unicodedata
from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, map_file, next_command, typed
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import is_clean

LOGIN = "'src/auth/login.py'"


@pytest.fixture
def guarded_repo(tmp_path: Path) -> Repo:
    return guarded(tmp_path).here


def _refused(repo: Repo, agent: str = "bob") -> str:
    return repo.git("commit", "-m", "x", agent=agent, check=False).ended(1).err


def _passes(repo: Repo, agent: str = "bob") -> Result:
    done = repo.git("commit", "--quiet", "-m", "x", agent=agent)
    assert done.err == ""
    return done


def _stage(repo: Repo, name: str) -> None:
    """Stages a file of just this name, whatever git makes of it otherwise."""
    blob = repo.git("hash-object", "-w", "--stdin", input="1\n").out.strip()
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")


# -- renames, deletions, kinds


def test_a_rename_out_of_a_held_folder_is_refused_and_shows_both_names(guarded_repo: Repo) -> None:
    guarded_repo.lock("claim", "docs/", agent="bob").ok()
    (guarded_repo.path / "docs").mkdir()
    guarded_repo.git("mv", HELD, "docs/login.py")
    said = _refused(guarded_repo)
    assert f"{LOGIN} (renamed to 'docs/login.py') is held by alice" in said and "1 path is" in said


def test_a_rename_into_a_held_folder_is_refused_and_shows_both_names(guarded_repo: Repo) -> None:
    guarded_repo.git("mv", OWN, "src/auth/api.py")
    assert "'src/auth/api.py' (was 'src/api.py') is held by alice" in _refused(guarded_repo)


def test_a_rename_whose_both_sides_are_one_s_own_passes(guarded_repo: Repo) -> None:
    guarded_repo.git("mv", HELD, "src/auth/signin.py")
    assert _passes(guarded_repo, "alice").code == 0 and is_clean(guarded_repo)


@pytest.mark.parametrize("setting", ["diff.renames=copies", "diff.relative=true", "status.renames=false"])
def test_no_setting_hides_a_side_of_a_rename(setting: str, guarded_repo: Repo) -> None:
    guarded_repo.git("config", *setting.split("="))
    guarded_repo.git("mv", "src/auth", "src/login")
    said = guarded_repo.git("commit", "-m", "x", agent="bob", check=False, cwd="src/login").ended(1).err
    assert LOGIN in said and "'src/login/token.py'" in said and "4 paths are" in said


def test_a_commit_that_only_deletes_a_held_file_is_refused(guarded_repo: Repo) -> None:
    guarded_repo.git("rm", "--quiet", HELD)
    assert f"{LOGIN} (deleted) is held by alice" in _refused(guarded_repo)


def test_a_commit_that_only_deletes_an_own_file_passes(guarded_repo: Repo) -> None:
    guarded_repo.git("rm", "--quiet", OWN)
    assert _passes(guarded_repo).code == 0


def test_a_file_that_is_gone_from_the_index_and_still_there_is_a_deletion(guarded_repo: Repo) -> None:
    guarded_repo.git("rm", "--quiet", "--cached", HELD)
    assert f"{LOGIN} (deleted) is held by alice" in _refused(guarded_repo)


def test_a_change_of_mode_alone_is_a_change(guarded_repo: Repo) -> None:
    guarded_repo.git("update-index", "--chmod=+x", HELD)
    assert f"{LOGIN} is held by alice" in _refused(guarded_repo)


def test_a_link_in_the_place_of_a_held_file_is_a_change(guarded_repo: Repo) -> None:
    (guarded_repo.path / HELD).unlink()
    (guarded_repo.path / HELD).symlink_to("token.py")
    guarded_repo.git("add", HELD)
    assert f"{LOGIN} is held by alice" in _refused(guarded_repo)


def test_a_link_that_points_elsewhere_is_a_change_of_the_link_alone(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    link = repo.path / "link"
    link.symlink_to("src/auth/login.py")
    repo.git("add", "link")
    assert "'link' is not claimed by you" in _refused(repo)
    repo.lock("claim", "link", agent="bob").ok()
    _passes(repo)
    link.unlink()
    link.symlink_to(OWN)
    repo.git("add", "link")
    assert _passes(repo).code == 0


def test_a_folder_in_the_place_of_a_held_file_changes_both(guarded_repo: Repo) -> None:
    guarded_repo.lock("claim", FREE, agent="alice").ok()
    (guarded_repo.path / FREE).unlink()
    guarded_repo.write(f"{FREE}/part.md", "1\n")
    guarded_repo.git("add", "--all")
    said = _refused(guarded_repo)
    assert f"'{FREE}' (deleted) is held by alice" in said and f"'{FREE}/part.md' is held by alice" in said


def test_a_file_in_the_place_of_a_held_folder_deletes_what_was_in_it(guarded_repo: Repo) -> None:
    guarded_repo.git("rm", "--quiet", "-r", "src/auth")
    guarded_repo.write("src/auth", "a file now\n")
    guarded_repo.git("add", "--all")
    said = _refused(guarded_repo)
    assert f"{LOGIN} (deleted) is held by alice" in said and "'src/auth' is not claimed by you" in said


def test_a_file_that_is_only_announced_to_git_is_not_committed_and_not_judged(guarded_repo: Repo) -> None:
    guarded_repo.write("src/auth/new.py", "1\n")
    guarded_repo.git("add", "--intent-to-add", "src/auth/new.py")
    guarded_repo.write(OWN, "1\n")
    guarded_repo.git("add", OWN)
    assert _passes(guarded_repo).code == 0
    assert guarded_repo.git("status", "--porcelain").lines == [" A src/auth/new.py"]


@pytest.mark.parametrize("ignore", [None, "all"])
def test_the_pointer_of_a_submodule_is_one_path(ignore: str | None, tmp_path: Path) -> None:
    lib = Repo.new(tmp_path, name="lib")
    repo = guarded(tmp_path).here
    repo.lock("claim", "lib", ".gitmodules", agent="alice").ok()
    repo.git("submodule", "--quiet", "add", str(lib.path), "lib")
    if ignore:
        repo.git("config", "-f", ".gitmodules", "submodule.lib.ignore", ignore)
    repo.git("add", ".gitmodules")
    _passes(repo, "alice")
    Repo(repo.path / "lib").commit("newer", {"more": "1\n"})
    repo.git("update-index", "lib")
    assert "'lib' is held by alice" in _refused(repo)


# -- names

ODD = {
    "a space": "odd/a b.txt",
    "quotes": "odd/it's \"so\".txt",
    "a newline": "odd/a\nb.txt",
    "a tab": "odd/a\tb.txt",
    "a byte that is not UTF-8": os.fsdecode(b"odd/caf\xe9.txt"),
    "letters beyond ASCII": "odd/\u0161patn\u011b.txt",
    "a leading dash": "-odd.txt",
    "a leading colon": ":odd.txt",
    "a leading exclamation mark": "!odd.txt",
    "brackets": "app/[id]/[[...all]].tsx",
    "braces": "odd/{a,b}.txt",
    "a star": "odd/*.txt",
    "a question mark": "odd/a?.txt",
    "a backslash": "odd/a\\b.txt",
    "the form of a key": "deploy:staging",
    "a dollar": "odd/$HOME `x`.txt",
    "a direction mark": "odd/\u202etxt.exe",
}


@pytest.mark.parametrize("kind", ODD)
def test_any_name_is_held_and_claimed_by_what_a_message_says(kind: str, tmp_path: Path) -> None:
    name = ODD[kind]
    repo = guarded(tmp_path).here
    assert "is not claimed by you" in repo.commit("x", {name: "1\n"}, agent="bob", check=False).ended(1).err
    refused = _refused(repo)
    typed(repo, next_command(refused)).ok()
    _passes(repo)
    repo.git("--literal-pathspecs", "rm", "--quiet", "--cached", "--", name)
    held = _refused(repo, "alice")
    assert "is held by bob" in held and held.isprintable() is False and "\u202e" not in held
    assert "bob" in typed(repo, next_command(held)).ok().out
    repo.lock("release", "--all", agent="bob").ok()
    typed(repo, next_command(_refused(repo, "alice")), agent="alice").ok()
    _passes(repo, "alice")


@pytest.mark.parametrize("kind", ["brackets", "a star", "a question mark", "braces"])
def test_a_claim_that_a_message_names_covers_no_other_file(kind: str, tmp_path: Path) -> None:
    others = {"app/i/a.tsx": "1\n", "odd/a.txt": "1\n", "odd/ab.txt": "1\n", "odd/b.txt": "1\n"}
    repo = guarded(tmp_path, files={ODD[kind]: "1\n", **others}).here
    repo.git("--literal-pathspecs", "rm", "--quiet", "--", ODD[kind])
    typed(repo, next_command(_refused(repo))).ok()
    _passes(repo)
    repo.git("rm", "--quiet", "--", *others)
    assert _refused(repo).count("is not claimed by you") == len(others)


def test_a_command_that_a_message_names_works_where_git_was_called(guarded_repo: Repo) -> None:
    guarded_repo.write(FREE, "1\n")
    guarded_repo.write("src/new.py", "1\n")
    guarded_repo.git("add", "--all")
    said = guarded_repo.git("commit", "-m", "x", agent="bob", check=False, cwd="src/auth").ended(1).err
    typed(guarded_repo, next_command(said), cwd="src/auth").ok()
    _passes(guarded_repo)


def test_many_paths_are_claimed_by_their_folders(guarded_repo: Repo) -> None:
    names = [f"many/{folder}/{number}" for folder in range(30) for number in range(5)]
    said = guarded_repo.commit("x", dict.fromkeys(names, "1\n"), agent="bob", check=False).ended(1).err
    assert "150 paths are not claimed by you" in said and "... and 140 more" in said and len(said.splitlines()) < 16
    assert next_command(said) == "git lock claim many/"
    typed(guarded_repo, next_command(said)).ok()
    _passes(guarded_repo)


# -- one name, two spellings


def test_names_that_differ_only_in_case_are_one_where_the_disk_folds_case(guarded_repo: Repo) -> None:
    guarded_repo.git("config", "core.ignoreCase", "true")
    _stage(guarded_repo, "SRC/Auth/Login.PY")
    assert "'SRC/Auth/Login.PY' is held by alice through 'src/auth/*'" in _refused(guarded_repo)


def test_names_that_differ_only_in_case_are_two_elsewhere(guarded_repo: Repo) -> None:
    guarded_repo.git("config", "core.ignoreCase", "false")
    guarded_repo.lock("claim", "SRC/Auth/Login.PY", agent="bob").ok()
    assert guarded_repo.commit("x", {"SRC/Auth/Login.PY": "1\n"}, agent="bob").ok().err == ""


@pytest.mark.parametrize(("precompose", "code"), [("true", 1), ("false", 0)])
def test_two_unicode_forms_of_a_name_are_one_where_they_are_to_git(
    precompose: str, code: int, guarded_repo: Repo
) -> None:
    composed = "docs/caf\u00e9.txt"
    guarded_repo.git("config", "core.precomposeUnicode", precompose)
    guarded_repo.lock("claim", composed, agent="alice").ok()
    if code == 0:
        guarded_repo.lock("claim", unicodedata.normalize("NFD", composed), agent="bob").ok()
    _stage(guarded_repo, unicodedata.normalize("NFD", composed))
    done = guarded_repo.git("commit", "-m", "x", agent="bob", check=False).ended(code)
    assert ("is held by alice" in done.err) == (code == 1)


def test_the_map_file_is_a_path_like_any_other(tmp_path: Path) -> None:
    repo = guarded(tmp_path, policy="").here
    repo.write(".gitlock.toml", map_file('[policy]\nmode = "off"'))
    repo.git("add", ".gitlock.toml")
    assert "'.gitlock.toml' is not claimed by you" in _refused(repo)
