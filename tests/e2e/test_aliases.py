"""A path means what it means where the user stands, also when git starts us somewhere else."""

import stat
from pathlib import Path

import pytest

from tests.kit.repo import Repo

FILES = {"src/login.py": "1\n", "src/deep/a.py": "1\n", "login.py": "1\n"}

# Each takes a lease on the file of that name in the folder that the user stands in.
ALIASES = {
    "l": "!git lock claim",
    "direct": "!git-lock claim",
    "function": '!f() { git lock claim "$@"; }; f',
    "several": "!true && git lock claim",
    "plain": "lock claim",
    "options": "-c user.name=x lock claim",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.new(tmp_path, FILES)
    for name, text in ALIASES.items():
        repo.git("config", f"alias.{name}", text)
    return repo


def held(repo: Repo) -> list[str]:
    """The patterns of all leases."""
    return [text for lease in repo.json("list")["data"]["leases"] for text in lease["include"]]


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_used_in_a_subfolder_takes_paths_from_there(repo: Repo, alias: str) -> None:
    repo.git(alias, "login.py", cwd="src", agent="alice")
    assert held(repo) == ["src/login.py"]


def test_an_alias_used_at_the_top_takes_paths_from_the_top(repo: Repo) -> None:
    repo.git("l", "login.py", agent="alice")
    assert held(repo) == ["login.py"]


def test_an_alias_with_a_folder_named_takes_paths_from_there(repo: Repo) -> None:
    repo.git("-C", "src/deep", "l", "../login.py", agent="alice")
    assert held(repo) == ["src/login.py"]


def test_a_pattern_of_an_alias_is_anchored_where_the_user_stands(repo: Repo) -> None:
    repo.git("l", "*.py", cwd="src", agent="alice")
    assert held(repo) == ["src/*.py"]


def test_an_alias_works_in_a_linked_worktree(repo: Repo) -> None:
    there = repo.worktree("there")
    there.git("l", "login.py", cwd="src", agent="alice")
    assert held(repo) == ["src/login.py"]


def test_an_alias_that_goes_elsewhere_takes_paths_from_there(repo: Repo) -> None:
    repo.git("config", "alias.elsewhere", "!cd src/deep && git lock claim")
    repo.git("elsewhere", "a.py", cwd="src", agent="alice")
    assert held(repo) == ["src/deep/a.py"]


def test_an_alias_that_goes_to_another_repository_takes_paths_from_its_top(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, FILES, name="other")
    repo.git("config", "alias.other", f"!git -C '{other.path}' lock claim")
    repo.git("other", "login.py", cwd="src", agent="alice")
    assert held(other) == ["login.py"]


@pytest.mark.parametrize("line", ["git lock claim login.py", "exec git lock claim login.py"])
@pytest.mark.parametrize(
    ("hook", "command"),
    [
        ("pre-commit", ("commit", "--allow-empty", "-m", "x")),
        ("post-commit", ("commit", "--allow-empty", "-m", "x")),
        ("post-checkout", ("checkout", "-b", "new")),
        ("pre-push", ("push", "origin", "HEAD:new")),
        ("pre-rebase", ("rebase", "--force-rebase", "HEAD")),
    ],
)
def test_in_a_hook_a_path_is_relative_to_where_the_hook_runs(
    repo: Repo, hook: str, command: tuple[str, ...], line: str
) -> None:
    repo.git("remote", "add", "origin", str(repo.clone("origin").path))
    file = repo.write(f".git/hooks/{hook}", f"#!/bin/sh\n{line}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    repo.git(*command, cwd="src", agent="alice")
    assert held(repo) == ["login.py"]


def test_in_a_hook_that_an_alias_led_to_a_path_is_relative_to_where_the_hook_runs(repo: Repo) -> None:
    file = repo.write(".git/hooks/post-checkout", "#!/bin/sh\ngit lock claim login.py\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    repo.git("config", "alias.sw", "!git checkout")
    repo.git("sw", "-b", "new", cwd="src", agent="alice")
    assert held(repo) == ["login.py"]


def test_a_command_of_a_rebase_takes_paths_from_where_it_runs(repo: Repo) -> None:
    repo.commit("second", {"b": "1\n"})
    repo.git("rebase", "--exec", "git lock claim login.py", "HEAD~1", cwd="src", agent="alice")
    assert held(repo) == ["login.py"]


def test_an_agent_program_started_by_an_alias_takes_paths_from_where_it_stands(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ngit lock claim login.py\n:\n")
    program.chmod(0o755)
    repo.git("config", "alias.ai", f"!{program}")
    repo.git("ai", cwd="src", agent="alice")
    assert held(repo) == ["login.py"]


def test_a_prefix_that_names_no_folder_here_says_nothing(repo: Repo) -> None:
    repo.lock("claim", "login.py", env={"GIT_PREFIX": "gone/"}).ok()
    assert held(repo) == ["login.py"]
