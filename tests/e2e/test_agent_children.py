"""Sub-agents, as each program tells of them: they work under their parent, and leave it what they hold."""

from pathlib import Path

import pytest

from tests.kit.programs import Program
from tests.kit.repo import Repo
from tests.kit.retiring import house

WITH_CHILDREN = ("claude", "codex", "cursor", "copilot", "opencode")
SESSIONS = {
    **dict.fromkeys(WITH_CHILDREN, "5b0cf1e2-0001-4000-8000-000000000001"), "opencode": "ses_0123456789abcdefPARENTAA",
}  # fmt: skip
CHILD, SIBLING = "ses_0123456789abcdefCHILDBBB", "ses_0123456789abcdefCHILDCCC"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A managed repository where nobody holds anything."""
    repo = Repo.new(tmp_path, files={"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.lock("install", agent=None).ok()
    return repo


@pytest.fixture(params=WITH_CHILDREN)
def parent(request: pytest.FixtureRequest, repo: Repo) -> Program:
    """A session of each program that has sub-agents."""
    one = Program(request.param, repo, SESSIONS[request.param])
    one.tells("start", source="startup")
    return one


def holder(repo: Repo, path: str = "src/a.py") -> str:
    """Who holds a path."""
    (lease,) = [one for one in repo.json("list")["data"]["leases"] if path in one["include"]]
    return str(lease["agent"])


def root(parent: Program) -> str:
    """The parent's name."""
    return f"{parent.name}-{'PARENTAA' if parent.name == 'opencode' else '5b0cf1e2'}"


def test_what_a_sub_agent_holds_is_its_parents_when_it_ends(repo: Repo, parent: Program) -> None:
    child = parent.begins_child(CHILD)
    child.does("src/a.py", "2\n")
    assert holder(repo).startswith(f"{root(parent)}/")
    child.ends_as_child()
    assert holder(repo) == root(parent)


def test_a_sub_agent_stops_neither_its_parent_nor_is_stopped_by_it(repo: Repo, parent: Program) -> None:
    child = parent.begins_child(CHILD)
    assert child.does("src/a.py", "2\n").may_run
    assert parent.edits("src/a.py").may_run
    assert parent.does("src/b.py", "2\n").may_run
    assert child.edits("src/b.py").may_run


def test_siblings_stop_one_another_until_one_has_ended(repo: Repo, parent: Program) -> None:
    one, other = parent.begins_child(CHILD), parent.begins_child(SIBLING)
    one.does("src/a.py", "2\n")
    assert not other.edits("src/a.py").may_run
    one.ends_as_child()
    assert other.edits("src/a.py").may_run


def test_a_sub_agent_of_another_session_is_stopped(repo: Repo, parent: Program) -> None:
    stranger = Program("claude", repo, "77aa55cc-0002-4000-8000-000000000002").begins_child("a17f")
    assert parent.begins_child(CHILD).does("src/a.py", "2\n").may_run
    assert not stranger.edits("src/a.py").may_run
    assert stranger.edits("src/b.py").may_run


def test_the_end_of_the_parent_gives_back_what_a_sub_agent_never_handed_on(repo: Repo, parent: Program) -> None:
    parent.begins_child(CHILD).does("src/a.py", "1\n")  # as it was: nothing to be lost
    parent.tells("end", reason="other")
    assert repo.json("list")["data"]["leases"] == []


def test_a_sub_agent_is_one_session_until_it_ends(repo: Repo, parent: Program) -> None:
    child = parent.begins_child(CHILD)
    child.does("src/a.py", "2\n")
    child.ends_as_child()
    states = [row["state"] for row in repo.json("agents")["data"]["agents"] if "/" in (row["agent"] or "")]
    assert states == ["done"]


def test_a_sub_agent_of_a_program_that_names_it_once_is_known_in_other_repositories(repo: Repo, tmp_path: Path) -> None:
    other = Repo.new(tmp_path, name="other", files={"x.py": "1\n"})
    other.lock("install", agent=None).ok()
    parent = Program("opencode", repo, SESSIONS["opencode"])
    parent.tells("start")
    child = parent.begins_child(CHILD)
    child.edits(str(other.path / "x.py"))
    assert holder(other, "x.py") == "opencode-PARENTAA/CHILDBBB"
    assert parent.edits(str(other.path / "x.py")).may_run


def test_what_is_handed_on_is_held_in_the_parents_session(repo: Repo, parent: Program) -> None:
    child = parent.begins_child(CHILD)
    if parent.name == "opencode":
        child.as_child = {"parentID": parent.session}  # our plugin says so at every event, as far as it knows
    child.does("src/a.py", "2\n")
    child.ends_as_child()
    (lease,) = repo.json("list")["data"]["leases"]
    assert lease["holder"]["session"] == root(parent)


@pytest.mark.parametrize("name", WITH_CHILDREN)
def test_in_a_worktree_of_an_agents_own_the_parents_end_gives_back_as_much(repo: Repo, name: str) -> None:
    alice = house(repo, "alice")
    parent = Program(name, alice, SESSIONS[name])
    other = Program("gemini", alice, "77aa55cc-0002-4000-8000-000000000002")
    parent.tells("start", source="startup")
    child = parent.begins_child(CHILD)
    child.does("src/a.py", "1\n")
    assert holder(repo).startswith("alice/")
    other.does("src/b.py", "1\n")
    parent.tells("end", reason="other")
    assert [one["include"] for one in repo.json("list")["data"]["leases"]] == [["src/b.py"]]  # another session's


@pytest.mark.parametrize("name", WITH_CHILDREN)
def test_and_its_own_end_hands_them_to_the_worktrees_agent(repo: Repo, name: str) -> None:
    parent = Program(name, house(repo, "alice"), SESSIONS[name])
    parent.tells("start", source="startup")
    child = parent.begins_child(CHILD)
    child.does("src/a.py", "2\n")
    child.ends_as_child()
    assert holder(repo) == "alice"
