"""A commit asks first, in every shape of repository and with every way to commit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.gate import FREE, HELD, OWN, guarded, map_file
from tests.kit.repo import Repo
from tests.kit.result import Result
from tests.kit.shapes import SHAPES, Place, is_clean, traces

CHANGED = "ONE\ntwo\nthree\n"

Way = Callable[[Repo, str, str], Result]


def _commit(repo: Repo, *args: str, agent: str, input: str | None = None) -> Result:
    return repo.git("commit", "--quiet", *args, agent=agent, check=False, input=input)


def _staged(*args: str) -> Way:
    def way(repo: Repo, path: str, agent: str) -> Result:
        repo.git("add", path)
        return _commit(repo, *args, agent=agent)

    return way


# By what git tells the hook of the index: the index itself, its copy, the copy of a part.
MODES: dict[str, Way] = {
    "commit": _staged("-m", "x"),
    "commit -a": lambda repo, path, agent: _commit(repo, "-am", "x", agent=agent),
    "commit PATH": lambda repo, path, agent: _commit(repo, "-m", "x", path, agent=agent),
    "commit -n -a": lambda repo, path, agent: _commit(repo, "-n", "-am", "x", agent=agent),
}
WAYS: dict[str, Way] = {
    **MODES,
    "commit -i": lambda repo, path, agent: _commit(repo, "-m", "x", "-i", path, agent=agent),
    "commit -p": lambda repo, path, agent: _commit(repo, "-p", "-m", "x", agent=agent, input="y\n"),
    "commit --amend": _staged("--amend", "--no-edit"),
    "commit -F": lambda repo, path, agent: _commit(repo, "-a", "-F", "-", agent=agent, input="x\n"),
    "commit with the editor": lambda repo, path, agent: _commit(repo, "-a", "-e", "-m", "x", agent=agent),
    "commit --fixup": lambda repo, path, agent: _commit(repo, "-a", "--fixup=HEAD", agent=agent),
    "commit -n": _staged("-n", "-m", "x"),
    "commit -n PATH": lambda repo, path, agent: _commit(repo, "-n", "-m", "x", path, agent=agent),
}


def assert_guards(place: Place, way: Way, *, staged: bool) -> None:
    """A held path is refused and nothing has moved; an own one passes and leaves nothing behind."""
    repo = place.here
    repo.write(HELD, CHANGED)
    if staged:
        repo.git("add", HELD)
    before = traces(repo)
    refused = way(repo, HELD, "bob").ended(1)
    assert f"'{HELD}' is held by alice" in refused.err and refused.err.count("refused") == 1
    assert traces(repo) == before
    repo.git("reset", "--quiet", "--hard")
    repo.write(OWN, CHANGED)
    head = repo.head
    passed = way(repo, OWN, "bob").ok()
    assert "git-lock" not in passed.err
    assert repo.git("diff", "--name-only", head, "HEAD").lines == [OWN] and is_clean(repo)
    assert traces(repo)["settings"] == before["settings"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_commit_asks_first(way: str, tmp_path: Path) -> None:
    assert_guards(guarded(tmp_path), WAYS[way], staged=way in ("commit", "commit --amend", "commit -n"))


@pytest.mark.parametrize("way", MODES)
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "the main worktree"])
def test_every_shape_of_repository_is_guarded(shape: str, way: str, tmp_path: Path) -> None:
    assert_guards(guarded(tmp_path, SHAPES[shape]), MODES[way], staged=way == "commit")


def test_only_what_is_committed_is_judged(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, CHANGED)
    repo.git("add", HELD)
    repo.write(OWN, CHANGED)
    assert _commit(repo, "-m", "only mine", OWN, agent="bob").ok().err == ""
    assert repo.git("diff", "--cached", "--name-only").lines == [HELD]


def test_what_is_staged_beside_an_included_path_is_judged_too(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, CHANGED)
    repo.git("add", HELD)
    repo.write(OWN, CHANGED)
    assert f"'{HELD}'" in _commit(repo, "-m", "x", "-i", OWN, agent="bob").ended(1).err


def test_what_is_only_in_the_worktree_is_not_judged(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, CHANGED)
    repo.write("src/auth/untracked.py", "new\n")
    repo.write(OWN, CHANGED)
    repo.git("add", OWN)
    assert _commit(repo, "-m", "x", agent="bob").ok().err == ""


def test_an_amend_is_judged_by_what_it_adds(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.commit("alice's", {HELD: CHANGED}, agent="alice")
    assert _commit(repo, "--amend", "-m", "a better message", agent="bob").ok().err == ""
    repo.write(OWN, CHANGED)
    assert _commit(repo, "-a", "--amend", "--no-edit", agent="bob").ok().err == ""
    repo.write(HELD, "none of it\n")
    assert f"'{HELD}'" in _commit(repo, "-a", "--amend", "--no-edit", agent="bob").ended(1).err


def test_an_empty_commit_changes_nothing_and_passes(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    assert _commit(repo, "--allow-empty", "-m", "x", agent="carol").ok().err == ""


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, CHANGED)
    assert "git-lock" not in _commit(repo, "-a", "--dry-run", agent="bob").err


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
def test_the_first_commit_is_judged_by_the_file_that_it_brings(options: tuple[str, ...], tmp_path: Path) -> None:
    repo = Repo(tmp_path / "new")
    repo.path.mkdir()
    repo.git("init", "--quiet", *options)
    repo.install()
    refused = repo.commit("x", {FREE: "1\n", OWN: "1\n"}, agent="bob", check=False).ended(1)
    assert f"'{FREE}' is not claimed by you" in refused.err
    repo.write(".gitlock.toml", map_file('[policy]\nunclaimed = "allow"'))
    repo.git("add", ".gitlock.toml")
    assert repo.commit("x", agent="bob").ok().err == ""


def test_a_commit_from_a_subfolder_is_judged_from_the_top(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.write(HELD, CHANGED)
    refused = repo.git("commit", "-m", "x", "auth/login.py", agent="bob", check=False, cwd="src").ended(1)
    assert f"'{HELD}' is held by alice" in refused.err
    repo.write(OWN, CHANGED)
    assert repo.git("commit", "--quiet", "-m", "x", "api.py", agent="bob", cwd="src").err == ""


def test_an_index_of_one_s_own_is_the_one_that_is_judged(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    env = {"GIT_INDEX_FILE": str(tmp_path / "another index")}
    repo.git("read-tree", "HEAD", env=env)
    repo.write(HELD, CHANGED)
    repo.git("add", HELD, env=env)
    assert f"'{HELD}'" in repo.git("commit", "-m", "x", env=env, agent="bob", check=False).ended(1).err
    assert repo.git("diff", "--cached", "--name-only").out == ""


@pytest.mark.parametrize("setting", ["core.splitIndex=true", "index.version=4", "core.untrackedCache=true"])
def test_the_form_of_the_index_does_not_matter(setting: str, tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("config", *setting.split("="))
    repo.git("update-index", "--force-write-index")
    assert_guards(Place(repo, repo), MODES["commit"], staged=True)


def test_an_orphan_branch_begins_with_everything_in_it(tmp_path: Path) -> None:
    repo = guarded(tmp_path).here
    repo.git("checkout", "--quiet", "--orphan", "anew")
    refused = repo.commit("x", agent="bob", check=False).ended(1)
    assert f"'{HELD}' is held by alice" in refused.err and f"'{FREE}' is not claimed by you" in refused.err
    assert f"'{OWN}'" not in refused.err
