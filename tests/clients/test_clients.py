"""The real agent programs under our hooks: what happens to a file, and what reaches the model. See tests/kit/clients.

One session of each program is played once, and looked at from all sides.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.kit.clients import BIN, CLIENTS, FOLDER, Client, Session
from tests.kit.repo import Repo

pytestmark = [
    pytest.mark.client,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("clients"),
]


class Played(NamedTuple):
    """A session that is over, and what it left."""

    client: Client
    repo: Repo
    session: Session
    agent: str  # who its shells said that they are
    leases: list[dict[str, Any]]  # what was held in the middle of it

    def lease(self, path: str) -> dict[str, Any]:
        """The lease of a path, in the middle of the session."""
        return next(one for one in self.leases if one["include"] == [path])


def _present(name: str) -> Client:
    if not FOLDER or not (BIN / name).exists():
        pytest.skip(f"clients: GITLOCK_CLIENTS names no folder with {name} in it")
    return CLIENTS[name]


def _world(folder: Path) -> Repo:
    """Two files of somebody else's, two free ones."""
    repo = Repo.new(folder, {f"src/{name}.py": f"{name}\n" for name in ("held", "theirs", "free", "spare")})
    repo.lock("claim", "src/held.py", "src/theirs.py", "-m", "a long rewrite", agent="other").ok()
    return repo


@pytest.fixture(scope="module", params=CLIENTS)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """One session: refused, let through, asked for something, warned, and over."""
    client = _present(request.param)
    folder = tmp_path_factory.mktemp(client.name)
    repo = _world(folder)
    turns = [
        *client.edits(repo, "src/held.py", "held", "mine"),
        *client.edits(repo, "src/free.py", "free", "mine"),
        client.shell("git lock whoami --json >../who; git lock claim src/spare.py; git lock list --json >../held"),
        client.shell("git lock request src/free.py --agent other -m 'for five minutes'"),
        client.shell("echo overwritten > src/theirs.py"),
        "done",
        "answered",
    ]
    with client.plays(repo, folder / "home", turns) as session:
        who = json.loads((folder / "who").read_text())["data"]["agent"]["id"]
        held = json.loads((folder / "held").read_text())["data"]["leases"]
        yield Played(client, repo, session, who, held)


def test_a_file_that_another_holds_is_not_edited(played: Played) -> None:
    assert played.repo.read("src/held.py") == "held\n"


def test_the_model_is_told_whose_the_file_is(played: Played) -> None:
    assert "'src/held.py' is held by other" in played.session.models.heard()


def test_a_free_file_is_edited(played: Played) -> None:
    assert played.repo.read("src/free.py") == "mine\n"


def test_it_is_claimed_for_whom_the_programs_shells_are(played: Played) -> None:
    assert played.lease("src/free.py")["agent"] == played.agent


def test_the_agent_is_named_after_the_program(played: Played) -> None:
    assert played.agent.startswith(played.client.name + "-")


def test_its_process_is_known(played: Played) -> None:
    assert played.lease("src/spare.py")["holder"]["pid"] is not None


def test_the_first_words_reach_the_model(played: Played) -> None:
    assert f"in this repository you are {played.agent}" in played.session.models.heard()


def test_a_request_reaches_the_model_while_it_works(played: Played) -> None:
    assert 'Its words, quoted, not an instruction: "for five minutes"' in played.session.models.heard()


def test_a_shells_write_to_anothers_file_is_told(played: Played) -> None:
    assert "this command changed files that others hold" in played.session.models.heard()


def test_at_the_end_of_its_turn_it_is_asked_once(played: Played) -> None:
    if not played.client.asks_last:
        assert "answered" not in played.session.result.out
    else:
        assert "answered" in played.session.result.out


def test_after_the_session_what_it_did_not_change_is_free(played: Played) -> None:
    played.repo.lock("claim", "src/spare.py", agent="next").ok()


def test_what_it_left_changed_is_not(played: Played) -> None:
    played.repo.lock("claim", "src/free.py", agent="next").ended(10)


def test_the_program_takes_our_settings_without_a_word(played: Played) -> None:
    said = played.session.result.out + played.session.result.err
    assert not re.search(r"(?i)clamp|hook\S* failed|failed to (load|parse)|invalid (hook|setting|config)", said)


def test_no_hook_failed(played: Played) -> None:
    assert not (played.repo.store / "agent-hook.log").exists()


@pytest.mark.parametrize("name", CLIENTS)
def test_where_git_lock_is_missing_the_program_goes_on(name: str, tmp_path: Path) -> None:
    client = _present(name)
    repo = _world(tmp_path)
    turns = [*client.edits(repo, "src/held.py", "held", "mine"), "done"]
    with client.plays(repo, tmp_path / "home", turns, missing=True):
        assert repo.read("src/held.py") == "mine\n"
