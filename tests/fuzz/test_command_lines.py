"""Any words after ``git lock``, any arguments and environment of a hook: an answer that can be shown, and a code that
means something; never a traceback."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitlock.entrypoints.cli.main import main
from gitlock.entrypoints.cli.options import COMMON, FLAG, Option
from gitlock.entrypoints.cli.running import load
from gitlock.entrypoints.cli.table import COMMANDS
from tests.fuzz.hostile import arguments, bounded, printable
from tests.kit.program import is_soak
from tests.kit.repo import Repo

# Left out: what waits, runs something else, writes outside the repository, or ends the process (agent-hook and mcp
# have tests like these of their own).
NOT_TRIED = ("run", "wait", "acquire", "install-man", "complete-words", "agent-hook", "mcp")
WAITING = ("wait", "timeout", "watch", "print_token", "fix", "yes", "write", "token", "help")
CODES = (0, 1, 2, 3, 4, 5, 10, 12, 13, 15, 17, 18, 19, 20, 21, 22)

VALUES = st.one_of(
    arguments,
    st.sampled_from([
        "0", "-1", "9" * 5000, "1e9", "1s", "99999999d", "0x10", "\uff11\uff12", "\u00b2", "1h1h", "nan", "",
        "/dev/null", "/dev/zero", "/nowhere/x", "2030-01-01", "alice", "a/../b", "root.lock", "x" * 200,
    ]),
)  # fmt: skip

UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
hostile = settings(suppress_health_check=UNCHECKED, max_examples=2000 if is_soak() else 150)
hostile_and_slow = settings(suppress_health_check=UNCHECKED, max_examples=1000 if is_soak() else 40)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """One of the commands, with some of its own options and some that it has not."""
    name = draw(st.sampled_from([name for name in COMMANDS if name not in NOT_TRIED]))
    options: list[Option] = [one for one in (*load(name).options, *COMMON) if one.key not in WAITING]
    words = [name]
    for option in draw(st.lists(st.sampled_from(options), max_size=3)):
        spelled = draw(st.sampled_from(option.names))
        if option.kind == FLAG:
            words.append(spelled)
        else:
            value = draw(VALUES)
            words += draw(st.sampled_from([[spelled, value], [f"{spelled}={value}"]]))
    words += draw(st.lists(arguments, max_size=3))
    return words


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo.new(tmp_path_factory.mktemp("words"), {"src/a": "1\n"})
    repo.lock("claim", "src/*", "deploy:x", "-m", "why", agent="alice").ok()
    repo.lock("claim", "docs/", agent="bob").ok()
    return repo


@pytest.fixture
def repo(used: Repo, tmp_path: Path) -> Repo:
    """A copy, which is not the original's: that is gone from where it says it lives."""
    shutil.copytree(used.path, tmp_path / "repo", symlinks=True)
    return Repo(tmp_path / "repo")


@hostile
@given(words=command_lines())
@example(words=["claim", "a", "--pid", "9" * 5000])
@example(words=["claim", "a", "--pid", "\uff11\uff12"])
@example(words=["claim", "a", "--ttl", "9" * 5000 + "d"])
@example(words=["history", "--limit", "9" * 5000])
@example(words=["history", "--limit", "\u00b2"])
@example(words=["history", "--since", "9" * 5000 + "d"])
@example(words=["claim", "a", "--token-file", "/nowhere/x"])
@example(words=["release", "a", "--token-file", "/dev/zero"])
@example(words=["grant", "../../state"])
@example(words=["\x1b[31m"])
@example(words=["claim", "--\x1b[31m=x"])
def test_any_words_get_an_answer(
    repo: Repo, words: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("GITLOCK_AGENT", "alice")
    with bounded():
        code = main(words)
    out, err = capfd.readouterr()
    assert code in CODES, err
    assert printable(err.encode()) and ("always" in " ".join(words) or printable(out.encode()))
    assert code != 1 or err.startswith("git-lock: ") or out.startswith('{"schema"')


VARIABLES = st.sampled_from([
    "GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GITLOCK_AGENT", "GITLOCK_KIND",
    "GITLOCK_STORE", "GITLOCK_BYPASS", "GITLOCK_GIT_PID", "GITLOCK_PROBE", "GITLOCK_TOKEN", "GITLOCK_LEASES",
    "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "GIT_REFLOG_ACTION", "GITHEAD_x", "CI", "USER", "HOME", "LANG", "TZ",
    "COLUMNS", "GIT_EDITOR",
])  # fmt: skip
HOOKS = st.sampled_from([
    "pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit", "commit-msg", "post-checkout",
    "post-merge", "post-rewrite", "pre-push", "x", "", "--framework",
])  # fmt: skip


@hostile_and_slow
@given(
    words=st.lists(st.one_of(HOOKS, arguments), min_size=1, max_size=4),
    env=st.dictionaries(VARIABLES, arguments, max_size=4),
)
@example(words=["pre-commit"], env={"GITLOCK_PROBE": "\t"})
def test_a_hook_with_any_words_and_environment_answers(repo: Repo, words: list[str], env: dict[str, str]) -> None:
    result = repo.lock("hook", *words, agent="alice", env=dict(env))
    assert "Traceback" not in result.err, result
    assert result.code in (0, 2, 20, 22, 23), result
    assert printable(result.raw_out) and printable(result.raw_err), result
