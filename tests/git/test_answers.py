"""What a hook's stub asks git while Python starts is believed only where it is exactly as expected."""

import subprocess
from pathlib import Path

import pytest

from gitlock.entrypoints.hooks.answers import Answers, parse_answers
from gitlock.git.changes import parse_name_status
from gitlock.git.config import WANTED, finish_config
from gitlock.git.process import Child
from gitlock.templates import read_template
from tests.kit.program import child_environment
from tests.kit.repo import Repo

MAP = b'version = 1\n# a line that looks like an end: =0\0 and =0\0\n'


def said(repo: Repo, hook: str = "pre-commit") -> bytes:
    """What the stub's own function says in this repository."""
    text = read_template("hook.sh")
    body = text[text.index("gl_ask() {") : text.index("# The question.")]
    script = f"gl_hook={hook} gl_wanted='{WANTED}'\n{body}\ngl_ask 2>/dev/null"
    return subprocess.run(
        ["sh", "-c", script], cwd=repo.path, env=child_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ).stdout


@pytest.fixture
def changed(repo: Repo) -> Repo:
    """Something is staged, with names that are hard to tell from ends."""
    repo.commit("map", {".gitlock.toml": MAP})
    repo.git("config", "gitlock.mode", "warn")
    repo.git("config", "--add", "gitlock.odd", "two\nlines =0")
    for name in ("=0", "a\nb", "caf\udce9"):
        repo.write(name, "x")
    repo.git("add", "--all")
    return repo


def known(child: Child | None) -> bytes:
    assert child is not None
    return child.finish()[1]


def test_the_answers_are_those_that_we_would_have_got(changed: Repo) -> None:
    answers = parse_answers("pre-commit", said(changed))
    assert answers.config is not None
    settings = finish_config(answers.config)
    assert (settings["gitlock.mode"], settings["gitlock.odd"]) == ("warn", "two\nlines =0")
    assert settings["user.email"] == "dana@example.com"
    assert known(answers.map_file).count(MAP) == 2
    assert sorted(change.path for change in parse_name_status(known(answers.staged))) == ["=0", "a\nb", "caf\udce9"]


def test_a_repository_without_anything(tmp_path: Path) -> None:
    repo = Repo.new(tmp_path)
    answers = parse_answers("pre-commit", said(repo))
    assert known(answers.map_file) == b"HEAD:.gitlock.toml missing\n:.gitlock.toml missing\n"
    assert known(answers.staged) == b""


def test_other_hooks_are_not_told_what_is_staged(changed: Repo) -> None:
    answers = parse_answers("post-commit", said(changed, "post-commit"))
    assert answers.staged is None
    assert known(answers.map_file).count(MAP) == 2


def nothing(answers: Answers) -> bool:
    return answers.config is None and answers.map_file is None and answers.staged is None


def test_no_answer_that_is_cut_short_is_believed(changed: Repo) -> None:
    """Cut anywhere, what counts as known is whole, and what is not whole counts as not asked."""
    data = said(changed)
    whole = parse_answers("pre-commit", data)
    for end in range(len(data)):
        answers = parse_answers("pre-commit", data[:end])
        assert nothing(answers), f"believed after {end} of {len(data)} bytes"
    assert not nothing(whole)


def test_a_git_that_failed_is_asked_again(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "unborn")
    repo.path.mkdir()
    repo.git("init", "--quiet")
    assert nothing(parse_answers("pre-commit", said(repo)))  # there is no HEAD to compare with
    assert nothing(parse_answers("pre-commit", said(Repo(tmp_path))))


@pytest.mark.parametrize("data", [b"", b"=0\0", b"=1\0", b"=128\0=0\0=0\0", b"garbage", b"\0\0\0", b"a\nb\0=0\0=0\0"])
def test_nonsense_is_not_believed(data: bytes) -> None:
    assert nothing(parse_answers("pre-commit", data))


def test_the_stub_asks_what_we_would_ask() -> None:
    from gitlock.git.changes import _STAGED

    text = " ".join(read_template("hook.sh").replace("\\\n", " ").split())
    assert f"git -c core.fsmonitor=false {' '.join(_STAGED)} HEAD --" in text


def test_a_stub_that_asks_for_other_settings_is_not_believed(repo: Repo) -> None:
    """As after an upgrade: the stub of before knows nothing of a setting that came since."""
    repo.install()
    repo.git("config", "gitlock.mode", "warn")
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text(hook.read_text().replace(WANTED, "^nothing$"))
    repo.lock("claim", "README.md").ok()
    repo.write("README.md", "other")
    passed = repo.git("commit", "-am", "x", agent="bob")
    assert "goes on (mode warn)" in passed.err
