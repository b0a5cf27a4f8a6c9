"""What the completion scripts ask for while somebody is typing: quick, harmless, and silent whatever happens."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.result import Result

HEAVY = {"click", "rich", "re", "json", "subprocess", "typing", "enum", "dataclasses", "pathlib", "tomllib", "pathspec"}


def words(repo: Repo, kind: str, agent: str = "alice", cwd: str | None = None) -> list[str]:
    """The words of that kind."""
    result = repo.lock("complete-words", kind, agent=agent, cwd=cwd).ok()
    assert result.err == ""
    return result.lines


def assert_silent(result: Result) -> None:
    """It says nothing, and nothing is wrong."""
    assert (result.code, result.out, result.err) == (0, "", "")


def test_your_own_claims_are_first(repo: Repo) -> None:
    repo.lock("claim", "a", agent="bob").ok()
    repo.lock("claim", "b", agent="alice").ok()
    assert words(repo, "claims") == ["b", "a"]


def test_where_others_are_meant_theirs_are_first(repo: Repo) -> None:
    repo.lock("claim", "b", agent="alice").ok()
    repo.lock("claim", "a", agent="bob").ok()
    assert words(repo, "others") == ["a", "b"]


def test_each_part_of_a_claim_is_a_word(repo: Repo) -> None:
    repo.lock("claim", "deploy:staging", "src/*.py", "!src/x.py", "docs/").ok()
    assert set(words(repo, "claims")) == {"deploy:staging", "src/*.py", "docs/"}


@pytest.mark.parametrize(
    "claim",
    ["src/a.py", "src/", "src/*.py", "*.md", "web/b", "web/**", "**/x", "**", "src/[id]/p.tsx", "src/deep"],
)
@pytest.mark.parametrize("folder", ["", "src", "src/deep", "web"])
def test_a_word_names_its_claim_from_every_folder(tmp_path: Path, claim: str, folder: str) -> None:
    repo = Repo.new(tmp_path, {"src/deep/c": "1", "src/[id]/p.tsx": "1", "web/b": "1"})
    repo.lock("claim", claim).ok()
    (word,) = words(repo, "claims", cwd=folder or None)
    repo.lock("release", word, cwd=folder or None).ok()
    assert repo.json("list")["data"]["leases"] == []


@pytest.mark.parametrize("name", ["-q", "!x", ":(top)x", "file:x", "a:b", "[id]", "a b", "#x", "~x", "\\x"])
def test_a_word_names_its_claim_whatever_it_looks_like(tmp_path: Path, name: str) -> None:
    repo = Repo.new(tmp_path, {name: "1"})
    repo.lock("claim", f"--path={name}").ok()
    (word,) = words(repo, "claims")
    repo.lock("release", word).ok()
    assert repo.json("list")["data"]["leases"] == []


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\u202eb", b"caf\xe9".decode(errors="surrogateescape")])
def test_what_a_terminal_can_not_show_is_no_word(repo: Repo, name: str) -> None:
    repo.lock("claim", f"--path={name}").ok()
    assert_silent(repo.lock("complete-words", "claims"))


def test_keys_are_those_of_the_map_file_and_those_held(repo: Repo) -> None:
    repo.write(".gitlock.toml", 'version = 1\n[[key]]\nname = "schema:main"\npaths = ["db/**"]\n')
    repo.lock("claim", "deploy:staging").ok()
    assert words(repo, "keys") == ["schema:main", "deploy:staging"]


def test_a_broken_map_file_costs_only_its_own_keys(repo: Repo) -> None:
    repo.lock("claim", "deploy:staging").ok()
    repo.write(".gitlock.toml", "version = ")
    assert words(repo, "keys") == ["deploy:staging"]


def test_agents_are_those_who_hold_something(repo: Repo) -> None:
    repo.lock("claim", "a", agent="alice").ok()
    repo.lock("claim", "b", agent="alice/tests").ok()
    assert words(repo, "agents", agent="bob") == ["alice", "alice/tests"]


def test_a_lease_of_another_that_expired_is_no_word(repo: Repo) -> None:
    repo.lock("claim", "a", "--ttl", "1s", agent="bob").ok()
    until(lambda: words(repo, "claims") == [])


def test_looking_renews_nothing_and_writes_nothing(repo: Repo) -> None:
    repo.lock("claim", "a").ok()
    before = {path: path.stat().st_mtime_ns for path in sorted(repo.store.rglob("*"))}
    words(repo, "claims")
    assert {path: path.stat().st_mtime_ns for path in sorted(repo.store.rglob("*"))} == before


def test_looking_makes_no_store(repo: Repo) -> None:
    words(repo, "claims")
    assert not repo.store.exists()


@pytest.mark.parametrize("kind", ["claims", "others", "keys", "agents", "requests", "nonsense", ""])
def test_outside_a_repository_it_is_silent(run_lock: Callable[..., Result], kind: str) -> None:
    assert_silent(run_lock("complete-words", kind))


@pytest.mark.parametrize("kind", ["claims", "others", "keys", "agents", "requests"])
def test_with_a_broken_store_it_is_silent(repo: Repo, kind: str) -> None:
    repo.lock("claim", "a").ok()
    (repo.store / "state.json").write_text("{")
    assert_silent(repo.lock("complete-words", kind))


def test_with_a_name_that_can_not_be_it_is_silent(repo: Repo) -> None:
    assert_silent(repo.lock("complete-words", "claims", agent="not a name"))


def test_with_a_broken_git_configuration_it_is_silent(repo: Repo) -> None:
    (repo.path / ".git/config").write_text("[")
    assert_silent(repo.lock("complete-words", "claims"))


def test_it_is_not_in_the_help(repo: Repo) -> None:
    assert "complete-words" not in repo.lock("-h").ok().out


def test_it_loads_nothing_heavy(repo: Repo) -> None:
    repo.lock("claim", "a").ok()
    command = [sys.executable, "-X", "importtime", "-P", "-m", "gitlock", "complete-words", "claims"]
    loaded = {line.rpartition("|")[2].strip() for line in repo.run(*command, agent="alice").ok().err.splitlines()}
    assert "gitlock.usecases.words" in loaded and not loaded & HEAVY
