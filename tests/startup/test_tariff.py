"""What the hooks and the verbs that agents repeat may load: a fixed list, measured in real processes.

Every module costs a start a tenth of a millisecond, and some of Python's own cost more than the interpreter itself.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from gitlock.bundling import AGENT, EVENT, GIT, GROUPS, HOOK, JUDGE, PLAIN, PYTHON, REST, VERB, named
from gitlock.git.config import WANTED
from tests.kit.program import ROOT, child_environment
from tests.kit.repo import Repo

FORBIDDEN = {
    "anyio", "argparse", "asyncio", "click", "collections", "contextlib", "dataclasses", "datetime", "enum",
    "functools", "git", "hashlib", "importlib.metadata", "inspect", "json", "logging", "mcp", "pathlib", "pathspec",
    "pydantic", "re", "redis", "rich", "subprocess", "threading", "tomllib", "typing",
}  # fmt: skip

# Beyond what `import os` loads in a bare interpreter: clocks, signals for the guard's timer, and parts of the library
# that are written in C (built in, or each a small file).
ALLOWED = {"_signal", "gc", "marshal", "time", "zipimport", *PYTHON.split()}

# Runs an entry point as it is started, and writes down what was loaded when it ends, which it does by os._exit.
PROBE = """
import os, sys
report, start, *words = sys.argv[1:]
end = os._exit
def tell(code):
    with open(report, "w") as file:
        file.write("\\n".join(sorted(sys.modules)))
    end(code)
os._exit = tell
sys.argv = ["git-lock", *words]
if start == "nothing":
    tell(0)
sys.path.append(ROOT)
if start == "planted":
    import json
if start == "hook":
    from gitlock.entrypoints.hooks.main import main
    main(words)
if start == "event":
    from gitlock.entrypoints.agents.main import main
    main(words)
from gitlock.entrypoints.cli.main import main
tell(main(words))
"""


class Loaded(NamedTuple):
    """What one process had loaded when it ended, and how it ended."""

    code: int
    modules: set[str]

    @property
    def ours(self) -> set[str]:
        return {name for name in self.modules if name.partition(".")[0] == "gitlock"}


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every test gets a copy of."""
    repo = Repo.new(tmp_path_factory.mktemp("pattern"), files={f"src/{n}.py": "x" for n in range(9)})
    repo.write("src/1.py", "y")
    repo.git("add", "src/1.py")
    return repo.path


@pytest.fixture
def repo(pattern: Path, tmp_path: Path) -> Repo:
    """alice holds what is staged; bob holds something else."""
    copy = Repo(tmp_path / "repo")
    shutil.copytree(pattern, copy.path, symlinks=True)
    copy.lock("claim", "src/1.py", "src/2.py", "-m", "a reason").ok()
    copy.lock("claim", "src/3.py", "deploy:staging", agent="bob").ok()
    return copy


def loaded(
    repo: Repo, start: str, *words: str, env: dict[str, str | None] | None = None, input: str = ""
) -> Loaded:
    """What the process has loaded, without `site` and its .pth files, when it has done its work."""
    report = repo.path.parent / "report"
    probe = PROBE.replace("ROOT", repr(str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", probe, str(report), start, *words],
        cwd=repo.path, env=child_environment(env, agent="alice"), capture_output=True, input=input.encode(),
    )  # fmt: skip
    assert report.exists(), done.stderr.decode()
    return Loaded(done.returncode, set(report.read_text().split("\n")))


IN_HOOK: dict[str, str | None] = {"GIT_INDEX_FILE": ".git/index", "GITLOCK_GIT_PID": "12345"}

# How each is called where there is nothing to complain of, and how it ends.
QUIET: dict[str, tuple[list[str], int]] = {
    "hook pre-commit": (["hook", "pre-commit"], 0),
    "hook pre-merge-commit": (["hook", "pre-merge-commit"], 0),
    "hook prepare-commit-msg": (["hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG", "message"], 0),
    "hook commit-msg": (["hook", "commit-msg", ".git/COMMIT_EDITMSG"], 0),
    "hook post-commit": (["hook", "post-commit"], 0),
    "hook post-checkout": (["hook", "post-checkout", "1" * 40, "2" * 40, "1"], 0),
    "hook post-merge": (["hook", "post-merge", "0"], 0),
    "hook post-rewrite": (["hook", "post-rewrite", "rebase"], 0),
    "claim": (["verb", "claim", "src/4.py", "-m", "why"], 0),
    "claim, a pattern": (["verb", "claim", "docs/**", "!docs/gen"], 0),
    "claim, already mine": (["verb", "claim", "src/1.py"], 0),
    "release": (["verb", "release", "src/1.py"], 0),
    "renew": (["verb", "renew", "--ttl", "2h"], 0),
    "mine": (["verb", "mine"], 0),
    "check": (["verb", "check"], 0),
    "check, a path": (["verb", "check", "src/1.py"], 0),
    "whoami": (["verb", "whoami"], 0),
}
LOUD: dict[str, tuple[list[str], int]] = {
    "claim, refused": (["verb", "claim", "src/3.py"], 10),
    "claim, in json": (["verb", "claim", "src/4.py", "--json"], 0),
    "check, a violation": (["verb", "check", "src/3.py"], 22),
    "release, not mine": (["verb", "release", "src/3.py"], 12),
    "mine, in json": (["verb", "mine", "--json"], 0),
    "no map file": (["verb", "claim", "x", "--ttl", "never"], 2),
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What an interpreter has loaded that has done nothing but ``import os``."""
    nowhere = Repo(tmp_path_factory.mktemp("bare") / "here")
    nowhere.path.mkdir()
    return loaded(nowhere, "nothing").modules


@pytest.mark.parametrize("case", [*QUIET, *LOUD])
def test_nothing_dear_is_loaded(repo: Repo, bare: set[str], case: str) -> None:
    words, code = {**QUIET, **LOUD}[case]
    found = loaded(repo, *words, env=IN_HOOK if words[0] == "hook" else None)
    assert found.code == code
    assert not found.modules & FORBIDDEN
    assert found.modules - found.ours - bare <= ALLOWED


@pytest.mark.parametrize("case", QUIET)
def test_what_is_loaded_of_ours_is_on_the_list(repo: Repo, case: str) -> None:
    words, code = QUIET[case]
    found = loaded(repo, *words, env=IN_HOOK if words[0] == "hook" else None)
    assert found.code == code
    names = (HOOK, JUDGE) if case == "hook pre-commit" else (*GROUPS.values(), REST)
    listed = {*named(" ".join(names)), "gitlock"}
    assert found.ours <= listed, f"add to gitlock.bundling, or load it later: {sorted(found.ours - listed)}"


def asked_by_the_stub(repo: Repo) -> Loaded:
    """pre-commit, with the answers that a stub has from git."""
    map_file = "HEAD:.gitlock.toml missing\n:.gitlock.toml missing\n"
    staged = repo.git("diff-index", "--cached", "--name-status", "-z", "HEAD", "--").out
    config = repo.git("config", "-z", "--get-regexp", WANTED).out
    answers = "".join(f"{answer}=0\0" for answer in (config, map_file, staged))
    return loaded(repo, "hook", "--asked", WANTED, "pre-commit", env=IN_HOOK, input=answers)


def test_the_lists_of_the_commit_hook_hold_what_it_loads_and_nothing_else(repo: Repo) -> None:
    listed = {name for name in named(f"{HOOK} {JUDGE}") if name.partition(".")[0] == "gitlock"}
    first = asked_by_the_stub(repo)  # remembers the mode
    assert first.code == 0
    assert listed ^ first.ours <= {"gitlock"}
    plain = {name for name in named(HOOK) if name.partition(".")[0] == "gitlock"}
    assert plain ^ asked_by_the_stub(repo).ours <= {"gitlock"}


@pytest.mark.parametrize("case", ["claim", "release", "renew", "mine", "check"])
def test_the_list_of_a_verb_holds_nothing_else(repo: Repo, case: str) -> None:
    found = loaded(repo, *QUIET[case][0])
    listed = {name for name in named(f"{GIT} {VERB} {GROUPS[case]}") if name.partition(".")[0] == "gitlock"}
    sometimes = {"gitlock", "gitlock.domain.witness"}  # the second by whoever meets somebody
    assert listed - found.ours <= sometimes
    away = found.ours - listed - sometimes
    assert not away, f"add to the group {case} of gitlock.bundling: {sorted(away)}"


def an_edit(repo: Repo, path: str) -> str:
    """What Claude Code writes before an edit."""
    return (
        f'{{"session_id": "5b0cf1e2-0001", "cwd": "{repo.path}", "hook_event_name": "PreToolUse", "tool_name": "Edit", '
        f'"tool_use_id": "t1", "tool_input": {{"file_path": "{path}"}}}}'
    )


@pytest.mark.parametrize("path", ["src/1.py", "src/3.py", "src/4.py", "/tmp/elsewhere"])
def test_before_an_edit_nothing_dear_is_loaded(repo: Repo, bare: set[str], path: str) -> None:
    found = loaded(repo, "event", "--harness", "claude", input=an_edit(repo, path))
    assert found.code == 0
    assert not found.modules & FORBIDDEN
    assert found.modules - found.ours - bare <= ALLOWED


def test_the_list_of_the_edit_hook_holds_what_it_loads_and_nothing_else(repo: Repo) -> None:
    edit = an_edit(repo, "src/1.py")
    loaded(repo, "event", "--harness", "claude", input=edit)  # makes the session's record
    found = loaded(repo, "event", "--harness", "claude", input=edit)
    listed = {name for name in named(f"{EVENT} {PLAIN}") if name.partition(".")[0] == "gitlock"}
    assert listed ^ found.ours <= {"gitlock"}


def test_after_an_edit_without_news_it_loads_the_same(repo: Repo) -> None:
    edit = an_edit(repo, "src/1.py")
    after = edit.replace("PreToolUse", "PostToolUse")
    for event in (edit, after, edit):
        loaded(repo, "event", "--harness", "claude", input=event)
    found = loaded(repo, "event", "--harness", "claude", input=after)
    listed = {name for name in named(f"{EVENT} {PLAIN}") if name.partition(".")[0] == "gitlock"}
    assert listed ^ found.ours <= {"gitlock"}


def test_where_the_path_is_held_by_a_pattern_it_loads_its_second_list(repo: Repo) -> None:
    repo.lock("claim", "docs/**").ok()
    edit = an_edit(repo, "docs/x.md")
    loaded(repo, "event", "--harness", "claude", input=edit)
    found = loaded(repo, "event", "--harness", "claude", input=edit)
    listed = {name for name in named(f"{EVENT} {PLAIN} {AGENT}") if name.partition(".")[0] == "gitlock"}
    assert listed ^ found.ours <= {"gitlock"}


def test_where_git_lock_has_nothing_to_say_it_loads_nothing_more(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other")
    found = loaded(other, "event", "--harness", "claude", input=an_edit(other, "x.py"))
    listed = {name for name in named(EVENT) if name.partition(".")[0] == "gitlock"}
    assert found.ours <= listed


def test_a_planted_import_is_seen(repo: Repo) -> None:
    assert loaded(repo, "planted", "whoami").modules & FORBIDDEN >= {"json", "re", "enum"}


def imports_at_its_top(name: str) -> set[str]:
    """Which of our modules a module loads when it is loaded."""
    path = ROOT / name.replace(".", "/")
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {
        one
        for one in found
        if (ROOT / one.replace(".", "/")).exists() or (ROOT / f"{one.replace('.', '/')}.py").exists()
    }


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_in_an_order_in_which_it_can_be_loaded(name: str) -> None:
    firsts = {"hook": "", "git": "", "event": ""}
    known = {**firsts, "judge": HOOK, "verb": GIT, "plain": EVENT, "agent": f"{EVENT} {PLAIN}"}
    before = known.get(name, f"{GIT} {VERB}")
    group = GROUPS[name]
    there = {"gitlock", *named(before)}
    for name in named(group):
        if name.startswith("gitlock."):
            missing = {one for one in imports_at_its_top(name) if one in named(group)} - there
            assert not missing, f"{name} comes before {sorted(missing)}"
        there.add(name)


def test_every_command_is_loaded_alone(repo: Repo) -> None:
    others = {f"gitlock.entrypoints.cli.commands.{name}" for name in ("claim", "release", "list", "install", "check")}
    assert not loaded(repo, "verb", "mine").modules & others


def test_the_forbidden_are_what_they_are_called() -> None:
    """A name that was misspelt would forbid nothing."""
    from importlib.util import find_spec

    away = {"git", "redis", "pathspec"}  # none of them is needed for the tests
    assert [name for name in sorted(FORBIDDEN - away) if find_spec(name) is None] == []


AT_PRESENCE = {"gitlock.wiring.liveness", "gitlock.stores.files.sessions", "gitlock.usecases.presence"}


def test_where_there_are_no_sessions_no_process_is_looked_at(repo: Repo) -> None:
    assert not loaded(repo, "verb", "whoami", env={"GITLOCK_AGENT": None}).modules & AT_PRESENCE


def test_a_session_that_was_just_heard_of_is_not_written_again(repo: Repo) -> None:
    env: dict[str, str | None] = {"GITLOCK_AGENT": None, "CLAUDE_CODE_SESSION_ID": "5b0cf1e2"}
    first, second = (loaded(repo, "verb", *words, env=env).modules for words in (["claim", "x"], ["release", "x"]))
    assert "gitlock.usecases.presence" in first
    assert not second & AT_PRESENCE
