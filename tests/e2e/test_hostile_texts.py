"""Whatever a name, a reason or a folder holds: only what can be printed reaches a terminal, and JSON stays JSON."""

import os
import shutil
from pathlib import Path

import pytest

from tests.kit.repo import Repo
from tests.kit.result import Result

ESC = "\x1b]0;owned\x07\x1b[31m\x1b[2J"
HOSTILE = {
    "odd": f"a{ESC}b\x07\x08\nc\r\nd\x0b\te\x9bm\x85\u2028\u2029f",
    "unseen": "a\u202egpj.exe\u2066b\u200f\u200b\u2060\ufeff\u00ad\U000e0041c",
    "half": "a\udce9\udcffb",
    "markup": "[bold red]a[/] \\[b] :smile: %s %n {0} $(x) `y`",
    "long": "x" * 3000,
}


def assert_printable(result: Result) -> None:
    """Both streams hold printable characters and line ends, and end with one."""
    for stream in (result.raw_out, result.raw_err):
        text = stream.decode("utf-8")
        odd = {char for char in text if char != "\n" and not char.isprintable()}
        assert not odd, f"{odd!r} in\n{result!r}"
        assert text[-1:] in ("", "\n")
    assert "Traceback" not in result.err, repr(result)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every test gets a copy of: a file that bob holds."""
    repo = Repo.new(tmp_path_factory.mktemp("pattern"), files={"a.py": "x"})
    repo.install()
    return repo.path


@pytest.fixture
def repo(pattern: Path, tmp_path: Path) -> Repo:
    copy = Repo(tmp_path / "repo")
    shutil.copytree(pattern, copy.path, symlinks=True, ignore=shutil.ignore_patterns("agentlocks*"))
    return copy


def file_name(text: str) -> str:
    return text.replace("/", "_")[:80]


LOOKING = [
    ["list"], ["list", "--all"], ["status", "."], ["who", "."], ["which", "a.py"], ["history", "--all"], ["mine"], [],
    ["whoami"], ["doctor"],
]  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_reason(repo: Repo, kind: str) -> None:
    text = HOSTILE[kind]
    assert_printable(repo.lock("claim", "a.py", "-m", text).ok())
    for words in LOOKING:
        assert_printable(repo.lock(*words))
    assert_printable(repo.lock("claim", "a.py", agent="bob").ended(10))
    assert_printable(repo.lock("check", "a.py", agent="bob").ended(22))
    answer = repo.json("list")
    kept = answer["data"]["leases"][0]["reason"]
    assert kept == (text if kind != "half" else "a\\xe9\\xffb")


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_path(repo: Repo, kind: str) -> None:
    name = file_name(HOSTILE[kind])
    Path(os.fsdecode(os.fsencode(repo.path / name))).write_text("x")
    assert_printable(repo.lock("claim", "--path", name, "-m", "why").ok())
    for words in LOOKING:
        assert_printable(repo.lock(*words))
    assert_printable(repo.lock("claim", "--path", name, agent="bob").ended(10))
    assert_printable(repo.lock("check", "--", name, agent="bob").ended(22))
    assert_printable(repo.lock("release", "--path", name).ok())
    assert_printable(repo.lock("release", "--path", name).ended(13))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_commit_that_is_refused(repo: Repo, kind: str) -> None:
    name = file_name(HOSTILE[kind])
    repo.lock("claim", "--path", name, "-m", HOSTILE[kind]).ok()
    Path(os.fsdecode(os.fsencode(repo.path / name))).write_text("x")
    repo.git("--literal-pathspecs", "add", "--", name)
    refused = repo.git("commit", "-m", "x", agent="bob", check=False).ended(1)
    assert_printable(refused)
    assert "refused" in refused.err


ARGUMENTS = [
    ["claim", "{}"], ["claim", "{}[z-a]"], ["claim", "!{}"], ["claim", "/{}/../../{}"], ["claim", "--key", "{}"],
    ["claim", ":({})x"], ["claim", "a.py", "--ttl", "{}"], ["claim", "a.py", "--pid", "{}"], ["release", "{}"],
    ["renew", "{}"], ["status", "{}"], ["who", "../{}"], ["which", "{}"], ["check", "{}"],
    ["check", "--range", "{}..{}"],
    ["list", "--under", "{}"], ["list", "{}"], ["history", "--since", "{}"], ["history", "--limit", "{}"],
    ["history", "--path", "{}"], ["whoami", "--agent", "{}"], ["whoami", "--kind", "{}"], ["--{}"], ["{}"],
    ["claim", "--{}"], ["install", "--hooks", "{}"], ["claim", "a.py", "--token-file", "/nowhere/{}"],
    ["release", "a.py", "--token-file", "/nowhere/{}"], ["release", "a.py", "--token-file", "{}"],
]  # fmt: skip


@pytest.mark.parametrize("words", ARGUMENTS, ids=" ".join)
def test_an_argument(repo: Repo, words: list[str]) -> None:
    for text in (HOSTILE["odd"] + HOSTILE["unseen"] + HOSTILE["half"], HOSTILE["long"]):
        typed = [word.format(text, text) for word in words]
        assert_printable(repo.lock(*typed))
        answer = repo.lock(*typed, "--json")
        assert_printable(answer)
        assert answer.json()["code"] == answer.code


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_agent_s_name(repo: Repo, kind: str) -> None:
    refused = repo.lock("claim", "a.py", agent=None, env={"GITLOCK_AGENT": HOSTILE[kind]})
    assert_printable(refused.ended(2))
    assert not (repo.store / "state.json").exists()


@pytest.mark.parametrize(
    "variable", ["CLAUDE_CODE_SESSION_ID", "GITLOCK_KIND", "GITLOCK_STORE", "GITLOCK_BYPASS", "CODEX_THREAD_ID"]
)
def test_a_variable(repo: Repo, variable: str) -> None:
    for text in (ESC, HOSTILE["half"]):
        for words in (["whoami"], ["claim", "a.py"], ["list"]):
            assert_printable(repo.lock(*words, agent=None, env={variable: text}))


def test_a_mail_address(repo: Repo) -> None:
    repo.git("config", "user.email", f"dana{ESC}@example.com")
    assert repo.lock("whoami", agent=None).ok().out.startswith("dana_")


@pytest.mark.parametrize("kind", ["unseen", "half", "markup"])
def test_a_branch(repo: Repo, kind: str) -> None:
    name = HOSTILE[kind].translate({ord(char): "_" for char in " [:\\~^?*$"})
    repo.git("checkout", "-q", "-b", name)
    repo.lock("claim", "a.py").ok()
    for words in (*LOOKING, ["list", "--json"]):
        assert_printable(repo.lock(*words))


@pytest.mark.parametrize("kind", ["odd", "half", "unseen", "markup"])
def test_a_folder_that_the_repository_is_in(tmp_path: Path, kind: str) -> None:
    repo = Repo.new(tmp_path, files={"a.py": "x"}, name=file_name(HOSTILE[kind]))
    for words in (["install"], ["claim", "a.py"], ["list"], ["list", "--json"], ["mine"], ["who", "../x"], ["doctor"],
                  ["uninstall"]):  # fmt: skip
        assert_printable(repo.lock(*words))
    (repo.store / "state.json").write_text("broken")
    assert_printable(repo.lock("list").ended(20))


@pytest.mark.parametrize(
    "text", [f"x = '{ESC}'", f"version = 1\n[policy]\nmode = '{ESC}'", f"version = 1\n['{ESC}']", "\xff"]
)
def test_a_map_file(repo: Repo, text: str) -> None:
    repo.write(".gitlock.toml", text.encode("latin-1"))
    for words in (["claim", "a.py"], ["which", "a.py"], ["doctor"], ["list"], []):
        assert_printable(repo.lock(*words))
    repo.git("add", ".gitlock.toml")
    assert_printable(repo.git("commit", "-m", "x", agent="bob", check=False))


OLD_LOCALES: list[dict[str, str | None]] = [
    {"LC_ALL": "C", "LANG": None},
    {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
]


@pytest.mark.parametrize("locale", OLD_LOCALES, ids=str)
def test_the_locale_does_not_change_which_file_is_meant(repo: Repo, locale: dict[str, str | None]) -> None:
    repo.lock("claim", "café.py", "-m", "naïve – ünïcode", env=locale).ok()
    repo.lock("claim", "café.py", agent="bob").ended(10)
    repo.write("café.py", "x")
    repo.git("add", "café.py")
    assert_printable(repo.git("commit", "-m", "x", agent="bob", check=False, env=locale).ended(1))
    for words in (["list"], ["status", "café.py"], ["history"], ["mine"]):
        assert_printable(repo.lock(*words, env=locale).ok())
    assert repo.lock("list", "--json", env=locale).raw_out.isascii()
    repo.lock("release", "café.py", env=locale).ok()
