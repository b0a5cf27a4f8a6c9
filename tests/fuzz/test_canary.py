"""Secrets, looked for in every place where they must not be: a token is in the answer that made it and in the file that
was named for it; a password in a store's address is nowhere."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.processes import until
from tests.kit.repo import Repo
from tests.kit.result import Result

PASSWORD = "canary-p4ssw0rd"
LOOKING = [
    [], ["list", "--all", "--json"], ["list"], ["status", "a", "--json"], ["who", "a", "--json"], ["history", "--all"],
    ["history", "--all", "--json"], ["mine", "--json"], ["renew", "--json"], ["check", "a", "--json"], ["doctor"],
    ["claim", "a", "--json"], ["whoami", "--json"], ["inbox", "--all"],
]  # fmt: skip

# Stands before git on the PATH and notes what git is called with, and what it could tell its own children.
NOTING_GIT = """\
#!/bin/sh
{ tr '\\0' '\\n' </proc/$$/environ; printf '%s\\n' "$@"; } >>"$NOTES"
exec "$REAL_GIT" "$@"
"""


class Places:
    """Where a secret could turn up."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo = repo
        self.notes = folder / "notes"
        self.bin = folder / "bin"
        self.bin.mkdir()
        git = self.bin / "git"
        git.write_text(NOTING_GIT)
        git.chmod(0o755)
        self.said: list[Result] = []

    def lock(
        self, *words: str, agent: str = "alice", env: dict[str, str] | None = None, input: str | None = None
    ) -> Result:
        """Runs git-lock, and notes what it said and what git was told."""
        real = shutil.which("git")
        assert real is not None
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        more = {"REAL_GIT": real, "NOTES": str(self.notes), "PATH": path, **(env or {})}
        result = self.repo.lock(*words, agent=agent, env=more, input=input)
        self.said.append(result)
        return result

    def look_around(self, agent: str = "alice") -> None:
        """Every command that tells something."""
        for words in LOOKING:
            self.lock(*words, agent=agent)

    def found(self, secret: str) -> list[str]:
        """Each place where it is."""
        where = [repr(result.argv[1:]) for result in self.said if secret in result.out or secret in result.err]
        if self.notes.exists() and secret in self.notes.read_text(errors="replace"):
            where.append("what git was told")
        for file in self.repo.path.rglob("*"):
            if file.is_file() and secret.encode() in file.read_bytes():
                where.append(str(file.relative_to(self.repo.path)))
        return where


@pytest.fixture
def places(repo: Repo, tmp_path: Path) -> Places:
    repo.install()
    (tmp_path / "noting").mkdir()
    return Places(repo, tmp_path / "noting")


def test_a_token_that_was_printed_is_nowhere_else(places: Places) -> None:
    token = places.lock("claim", "a", "--json").json()["data"]["token"]
    made = places.said.pop()
    assert token in made.out and token not in made.err
    places.look_around()
    places.look_around("bob")
    places.lock("release", "a")
    places.look_around()
    assert places.found(token) == []


def test_a_token_in_a_file_is_nowhere_else(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "token"
    places.lock("claim", "a", "--token-file", str(file)).ok()
    token = file.read_text().strip()
    assert len(token) == 32 and file.stat().st_mode & 0o077 == 0
    places.look_around()
    places.lock("release", "a", "--token-file", str(file), agent="bob").ok()
    places.look_around()
    assert places.found(token) == []


@pytest.mark.parametrize("how", ["variable", "standard input"])
def test_a_token_that_is_shown_is_not_passed_on(places: Places, how: str) -> None:
    token = places.lock("claim", "a", "--json").json()["data"]["token"]
    places.said.clear()
    if how == "variable":
        places.lock("release", "a", agent="bob", env={"GITLOCK_TOKEN": token}).ok()
    else:
        places.lock("release", "a", "--token-file", "-", agent="bob", input=token).ok()
    assert places.found(token) == []


def test_a_token_that_is_wrong_is_not_told_either(places: Places) -> None:
    places.lock("claim", "a").ok()
    wrong = "0123456789abcdef" * 2
    places.lock("release", "a", agent="bob", env={"GITLOCK_TOKEN": wrong}).ended(12)
    places.look_around()
    assert places.found(wrong) == []


def environments() -> Iterator[tuple[int, bytes]]:
    """The arguments and the environment of every process that we may look at."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc to look for processes in")
def test_the_token_of_a_run_is_in_its_child_alone(repo: Repo, tmp_path: Path) -> None:
    file = tmp_path / "seen"
    script = 'printf "%s" "$GITLOCK_TOKEN" >"$0.new"; mv "$0.new" "$0"; exec sleep 600'
    with repo.start("run", "a", "--export-token", "--", "sh", "-c", script, str(file)) as running:
        until(file.exists, "the child's note")
        token = file.read_text()
        assert len(token) == 32
        have = [pid for pid, text in environments() if token.encode() in text]
        assert len(have) == 1 and running.pid not in have


@pytest.mark.parametrize("where", ["variable", "setting"])
def test_a_password_in_a_store_s_address_is_nowhere(places: Places, where: str) -> None:
    address = f"redis://user:{PASSWORD}@127.0.0.1:1/0"
    env = {"GITLOCK_STORE": address} if where == "variable" else {}
    if where == "setting":
        places.repo.git("config", "gitlock.store", address)
    for words in (*LOOKING, ["claim", "b"], ["hook", "pre-commit"], ["hook", "post-commit"], ["gc"]):
        result = places.lock(*words, env=env)
        assert PASSWORD not in result.out + result.err, result
    allowed = [".git/config"] if where == "setting" else []
    places.notes.unlink()  # whoever may read git's settings and our environment knows it already
    assert places.found(PASSWORD) == allowed
