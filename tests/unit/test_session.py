"""Sessions and other small files of the store: their names, their states, and what becomes of broken ones."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitlock.domain.filename import file_name
from gitlock.domain.lease import Holder
from gitlock.domain.session import IDLE, WAITING, WORKING, Session, session_id
from gitlock.errors import StoreForeign
from gitlock.stores.files import records
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.scratch import scratch_folder
from gitlock.stores.files.sessions import SessionBook
from gitlock.usecases.muster import is_stale, sweep_sessions

DAY = 86400.0


def a_session(**changes: object) -> Session:
    session = Session(
        id="alice-1", agent="alice", kind="agent", program="claude", holder=Holder("host", worktree="/tree"),
        worktree_id=None, state=WORKING, since=100.0, message="", waited=0.0, started=100.0, active=100.0,
    )  # fmt: skip
    return session.replace(**changes)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path / "agentlocks"))


# -- names of files


@pytest.mark.parametrize("name", ["alice", "claude-5b0cf1e2", "a.b_c-d", "9"])
def test_a_plain_name_is_its_own_file_name(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["Alice", "a/b", "d@example.com", ".hidden", "-x", "con", "nul.txt", "a.", "é", "x" * 200, "a~b", "..", "\udcff"],
)
def test_any_other_name_is_harmless_as_a_file_name(name: str) -> None:
    found = file_name(name)
    assert found.isascii() and found == found.lower() and "/" not in found and found[0] not in ".-" and len(found) <= 80


def test_names_that_differ_never_share_a_file_also_where_case_is_folded() -> None:
    names = ["alice", "Alice", "ALICE", "a/b", "a_b", "A/b", "a/B", file_name("Alice"), "é", "É", "x" * 61, "x" * 62]
    assert len({file_name(name).lower() for name in names}) == len(names)


def test_sessions_of_one_program_have_files_of_their_own() -> None:
    one, other = (session_id("alice", session, "/tree") for session in ("claude-1", "CLAUDE-1"))
    assert one.lower() != other.lower()


def test_without_a_program_a_session_is_the_agent_in_its_worktree() -> None:
    assert len({session_id(agent, None, place) for agent in ("a", "b") for place in ("/x", "/y")}) == 4


# -- states


def test_the_time_that_is_waited_for_a_person_adds_up() -> None:
    session = a_session()
    for at, state in ((110.0, WAITING), (140.0, WORKING), (150.0, WAITING), (155.0, IDLE)):
        session = session.now_in(state, at)
    assert session.waited == 35.0


def test_another_question_does_not_begin_the_wait_anew() -> None:
    session = a_session().now_in(WAITING, 110.0, "one").now_in(WAITING, 120.0, "two")
    assert (session.since, session.message) == (110.0, "two")


# -- on the disk


def test_a_session_is_read_as_it_was_written(layout: Layout) -> None:
    book = SessionBook(layout)
    written = a_session(touched=("a", "b\udcff"), touched_at=7.0, hook_at=8.0, extra={"later": [1]})
    book.write(written)
    assert book.find("alice-1") == written


@pytest.mark.parametrize("text", ["", "{", "[]", '{"agent": 1}', "\0" * 100])
def test_a_session_that_can_t_be_read_is_passed_over(layout: Layout, text: str) -> None:
    book = SessionBook(layout)
    book.write(a_session())
    Path(layout.sessions, "broken.json").write_text(text)
    assert [one.id for one in book.all()] == ["alice-1"]


def test_links_and_pipes_among_the_sessions_are_passed_over(layout: Layout) -> None:
    book = SessionBook(layout)
    book.write(a_session())
    os.symlink("alice-1.json", Path(layout.sessions, "link.json"))
    os.mkfifo(Path(layout.sessions, "pipe.json"))
    assert [one.id for one in book.all()] == ["alice-1"]


def test_a_name_that_leads_elsewhere_is_no_record(layout: Layout) -> None:
    SessionBook(layout).write(a_session())
    assert records.read(layout.sessions, "../sessions/alice-1") is None


@pytest.mark.parametrize(
    ("liveness", "silent", "stale"),
    [("alive", 30 * DAY, False), ("dead", 2 * DAY, True), ("dead", 60.0, False), ("unknown", 2 * DAY, False),
     ("unknown", 8 * DAY, True)],
)  # fmt: skip
def test_a_session_is_forgotten_only_when_it_says_nothing_any_more(liveness: str, silent: float, stale: bool) -> None:
    assert is_stale(a_session(), liveness, 100.0 + silent) is stale


def test_a_sweep_takes_what_is_stale_and_what_a_killed_writer_left(layout: Layout) -> None:
    book = SessionBook(layout)
    book.write(a_session())
    left = Path(layout.sessions, ".alice-1.99.tmp")
    left.write_text("half")
    os.utime(left, (0, 0))
    assert sweep_sessions(book, lambda _: "dead", 1e9) == 2
    assert os.listdir(layout.sessions) == []


# -- scratch folders


def test_a_scratch_folder_is_its_agents_alone_also_in_a_shared_repository(tmp_path: Path) -> None:
    shared = Layout(str(tmp_path / "agentlocks"), 0o060)
    folder = Path(scratch_folder(shared, "alice"))
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder.parent)]
    assert modes == [0o700, 0o700]


def test_a_scratch_folder_that_was_opened_to_others_is_closed_again(layout: Layout) -> None:
    folder = Path(scratch_folder(layout, "alice"))
    folder.chmod(0o777)
    assert Path(scratch_folder(layout, "alice")).stat().st_mode & 0o777 == 0o700


def test_agents_whose_names_differ_in_case_do_not_share(layout: Layout) -> None:
    assert scratch_folder(layout, "Bob").lower() != scratch_folder(layout, "bob").lower()


@pytest.mark.parametrize("at", ["agents", "agents/alice", "agents/alice/scratch"])
def test_no_link_is_followed_to_a_scratch_folder(layout: Layout, tmp_path: Path, at: str) -> None:
    place = Path(layout.folder, at)
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(StoreForeign, match="is not a folder"):
        scratch_folder(layout, "alice")


def test_threads_of_one_process_write_a_record_beside_one_another(tmp_path: Path) -> None:
    """As those of a server do: each to a temporary file of its own."""
    layout = Layout(str(tmp_path / "agentlocks"))
    layout.make()

    def write(number: int) -> None:
        records.write(layout, layout.sessions, "one", {"number": number, "text": "x" * 500}, lasting=False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(200)))  # raises what any of them has raised
    assert os.listdir(layout.sessions) == ["one.json"]
    assert records.read(layout.sessions, "one") is not None
