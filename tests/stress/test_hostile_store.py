"""A store that can't be read, or has foreign things in it: never "free", never blocked, nothing overwritten; and what
the hint says mends it, keeps the evidence, lets the fences grow on and tells the former holders."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.hostile import MORE_QUESTIONS, World, expect_doubt, hint_of, make_socket, picture

MEND = "git lock doctor --fix"
Hostile = Callable[[bytes], bytes]


FENCE = 2  # the highest of the story


def _huge(name: str) -> Hostile:
    return lambda data: data.replace(b'"%s":' % name.encode(), b'"%s":1%s' % (name.encode(), b"0" * 400), 1)


# name → what becomes of the document, and whether alice's lease can still be read in what is left
DOCUMENTS: dict[str, tuple[Hostile, bool]] = {
    "nothing at all": (lambda _: b"", False),
    "a line's end": (lambda _: b"\n", False),
    "nul bytes": (lambda data: bytes(len(data)), False),
    "cut in the last line": (lambda data: data[:-5], True),
    "cut in the middle": (lambda data: data[: len(data) // 3], False),
    "one bit": (lambda data: data.replace(b"new login", b"new l/gin"), True),
    "edited by hand": (lambda data: data.replace(b'"alice"', b'"mallory"'), False),
    "a lease taken out by hand": (lambda data: b"\n".join(r for r in data.split(b"\n") if b"alice" not in r), False),
    "a byte order mark": (lambda data: b"\xef\xbb\xbf" + data, True),
    "utf-16": (lambda data: data.decode().encode("utf-16"), False),
    "windows line ends": (lambda data: data.replace(b"\n", b"\r\n"), True),
    "two documents": (lambda data: data + data, True),
    "a merge conflict": (lambda data: b"<<<<<<< a\n" + data + b"=======\n" + data + b">>>>>>> b\n", True),
    "another document": (lambda _: b'{"leases": []}', False),
    "an empty object": (lambda _: b"{}", False),
    "null": (lambda _: b"null", False),
    "no text": (lambda _: bytes(range(256)) * 40, False),
    "deep nesting": (lambda _: b"[" * 200_000, False),
    "deep nesting in a field": (lambda d: d.replace(b'"notice":""', b'"notice":' + b'{"a":' * 50_000, 1), True),
    "a huge number": (_huge("revision"), True),
    "a huge epoch": (_huge("epoch"), True),
    "a huge fence": (_huge("counter"), True),
    "a plausible, wrong epoch": (lambda data: data.replace(b'"epoch":1', b'"epoch":8999999', 1), True),
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_a_document_that_does_not_count_is_never_answered_from(world: World, what: str) -> None:
    world.put("state.json", DOCUMENTS[what][0](world.state.read_bytes()))
    world.expect_no_answer(MEND)


def test_no_question_at_all_is_answered_from_it(world: World) -> None:
    world.put("state.json", b"")
    world.expect_no_answer(questions=MORE_QUESTIONS)


@pytest.mark.parametrize("what", DOCUMENTS)
def test_the_hint_mends_it_and_keeps_what_was_there(world: World, what: str) -> None:
    fence, broken = world.fence(), DOCUMENTS[what][0](world.state.read_bytes())
    world.put("state.json", broken)
    world.follow_hint("list").ok()
    kept = [path.read_bytes() for path in (world.store / "evidence").iterdir()]
    new = world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"]
    assert kept == [broken] and fence < new < 2**53


@pytest.mark.parametrize("what", [what for what, (_, told) in DOCUMENTS.items() if told])
def test_former_holders_are_told(world: World, what: str) -> None:
    world.put("state.json", DOCUMENTS[what][0](world.state.read_bytes()))
    world.follow_hint("list").ok()
    told = [world.repo.lock("mine", agent="alice") for _ in range(2)]
    assert [result.code for result in told] == [13, 0] and "'src/*' (fence 2) was lost" in told[0].err


def test_everybody_is_told_of_a_new_epoch(world: World) -> None:
    world.put("state.json", b"")
    world.follow_hint("list").ok()
    assert "a new epoch began" in world.repo.lock("list", agent="carol").ok().err


def test_a_commit_works_again_once_it_is_mended(world: World) -> None:
    world.put("state.json", b"")
    world.follow_hint("list").ok()
    world.repo.lock("claim", "src/login.py", agent="bob").ok()
    assert world.repo.commit("bob's", agent="bob").code == 0


def test_mending_twice_keeps_both_and_counts_on(world: World) -> None:
    fences = [world.fence()]
    for broken in (b"one", b"two"):
        world.put("state.json", broken)
        world.follow_hint("list").ok()
        fences.append(world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"])
    assert sorted(fences) == fences and len(list((world.store / "evidence").iterdir())) == 2


def test_fences_go_on_growing_when_the_mark_is_gone_as_well(world: World) -> None:
    fence = world.fence()
    world.put("state.json", world.state.read_bytes()[:-5])
    world.mark.unlink()
    world.follow_hint("list").ok()
    assert world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"] > fence


def test_fences_go_on_growing_when_nothing_at_all_is_left(world: World) -> None:
    world.put("state.json", b"")
    world.mark.unlink()
    world.follow_hint("list").ok()
    assert world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"] > 10**9


def test_nothing_is_mended_that_is_not_broken(world: World) -> None:
    before = world.pictures()
    world.repo.lock("doctor", "--fix", agent="bob").ok()
    assert world.pictures() == before


# -- a later version


def test_a_later_format_is_never_guessed_at(world: World) -> None:
    world.put("state.json", b'{"format": "gitlock/2", "leases": []}\n')
    world.expect_no_answer("pip install --upgrade git-lock")


def test_a_later_format_is_not_mended_away(world: World) -> None:
    world.put("state.json", b'{"format":"gitlock/2","leases":[]}\n')
    before = picture(world.state)
    world.repo.lock("doctor", "--fix", agent="bob").ended(20)
    assert picture(world.state) == before


def test_fields_of_a_later_version_live_on_beside_us(world: World) -> None:
    import zlib

    head, rest = world.state.read_bytes().split(b"\n", 1)
    body = head[:-1] + b',"later":[1],\n' + rest[: rest.rindex(b'"crc32"')]
    world.put("state.json", body + b'"crc32":"%08x"}\n' % zlib.crc32(body))
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    assert world.repo.state()["later"] == [1]


# -- foreign things in the place of a file


def a_link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.write_bytes(b"precious")
    path.symlink_to(elsewhere)


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "nowhere")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "in it").write_bytes(b"precious")


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


FOREIGN: list[Callable[[Path], None]] = [a_link, a_dangling_link, a_pipe, a_folder, make_socket, a_device]


def replaced(world: World, name: str, foreign: Callable[[Path], None]) -> Path:
    """Something foreign in the place of a file of the store."""
    path = world.mark if name == "mark" else world.store / name
    path.unlink(missing_ok=True)
    foreign(path)
    return path


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda one: one.__name__)
def test_something_else_in_the_states_place_is_never_answered_from(
    world: World, foreign: Callable[[Path], None]
) -> None:
    replaced(world, "state.json", foreign)
    world.expect_no_answer(MEND)


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda one: one.__name__)
def test_it_is_put_aside_as_it_was_and_a_new_epoch_begins(world: World, foreign: Callable[[Path], None]) -> None:
    fence = world.fence()
    path = replaced(world, "state.json", foreign)
    before = picture(path)
    world.follow_hint("list").ok()
    (kept,) = (world.store / "evidence").iterdir()
    new = world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"]
    assert picture(kept) == before and new > fence


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda one: one.__name__)
def test_something_else_in_the_guards_place_stops_writers_and_not_readers(
    world: World, foreign: Callable[[Path], None]
) -> None:
    replaced(world, "guard", foreign)
    before = world.pictures()
    expect_doubt(world.repo.lock("claim", "docs/b.md", agent="bob"), MEND)
    assert "src/*" in world.repo.lock("list", agent="bob").ok().out
    world.repo.lock("check", agent="bob").ended(22)
    assert world.pictures() == before


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda one: one.__name__)
def test_a_guard_is_mended_without_a_new_epoch(world: World, foreign: Callable[[Path], None]) -> None:
    before = picture(replaced(world, "guard", foreign))
    world.follow_hint("claim", "docs/b.md").ok()
    (kept,) = (world.store / "evidence").iterdir()
    assert picture(kept) == before and len(world.repo.json("list")["data"]["leases"]) == 2


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda one: one.__name__)
def test_what_lies_in_the_temporarys_place_is_never_written_through(
    world: World, foreign: Callable[[Path], None]
) -> None:
    replaced(world, "state.json.tmp", foreign)
    result = world.repo.lock("claim", "docs/b.md", agent="carol")
    if result.code:
        expect_doubt(result, MEND)
        world.follow_hint("claim", "docs/b.md").ok()
        world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    elsewhere = world.store.parent / "elsewhere"
    assert not elsewhere.exists() or elsewhere.read_bytes() == b"precious"
    assert len(world.repo.json("list")["data"]["leases"]) == 3


def test_a_temporary_that_a_crash_left_stands_in_nobodys_way(world: World) -> None:
    world.put("state.json.tmp", b"half of it")
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    assert not (world.store / "state.json.tmp").exists()


MARKS: dict[str, Callable[[Path], None]] = {one.__name__: one for one in FOREIGN}
MARKS["garbage"] = lambda path: (path.write_bytes(b"\0garbage"), None)[1]
MARKS["nothing"] = lambda path: (path.write_bytes(b""), None)[1]


@pytest.mark.parametrize("what", MARKS)
def test_a_mark_that_cannot_be_read_costs_nothing_but_its_protection(world: World, what: str) -> None:
    replaced(world, "mark", MARKS[what])
    world.repo.lock("check", agent="bob").ended(22)
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    elsewhere = world.store.parent / "elsewhere"
    assert not elsewhere.exists() or elsewhere.read_bytes() == b"precious"


@pytest.mark.parametrize("what", MARKS)
def test_a_mark_that_cannot_be_read_does_not_make_a_lost_state_free(world: World, what: str) -> None:
    replaced(world, "mark", MARKS[what])
    world.state.unlink()
    world.expect_no_answer(MEND)
    world.follow_hint("list").ok()
    assert world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"] > FENCE


@pytest.mark.parametrize("what", MARKS)
def test_doctor_sees_and_mends_a_mark_without_a_new_epoch(world: World, what: str) -> None:
    replaced(world, "mark", MARKS[what])
    refused = world.repo.lock("doctor", agent="bob").ended(20)
    assert hint_of(refused) == MEND
    world.repo.lock("doctor", "--fix", agent="bob").ok()
    revision = json.loads(world.mark.read_bytes())["revision"]
    assert revision == world.repo.state()["revision"] and len(world.repo.json("list")["data"]["leases"]) == 2


NO_FOLDERS = [*(one for one in FOREIGN if one is not a_folder), Path.touch]


@pytest.mark.parametrize("foreign", NO_FOLDERS, ids=lambda one: one.__name__)
def test_something_else_in_the_folders_place_is_never_answered_from(
    world: World, foreign: Callable[[Path], None]
) -> None:
    world.store.rename(world.store.with_name("moved"))
    foreign(world.store)
    world.expect_no_answer(MEND)


@pytest.mark.parametrize("foreign", NO_FOLDERS, ids=lambda one: one.__name__)
def test_what_lay_in_the_folders_place_is_put_beside_it(world: World, foreign: Callable[[Path], None]) -> None:
    fence = world.fence()
    world.store.rename(world.store.with_name("moved"))
    foreign(world.store)
    before = picture(world.store)
    world.follow_hint("list").ok()
    new = world.repo.json("claim", "docs/b.md", agent="carol")["data"]["lease"]["fence"]
    assert picture(world.store.with_name("agentlocks.aside-0")) == before and new > fence


def test_a_link_to_a_good_store_is_not_followed(world: World) -> None:
    world.store.rename(world.store.with_name("moved"))
    world.store.symlink_to("moved")
    world.expect_no_answer(MEND)


@pytest.mark.parametrize("foreign", [a_link, a_pipe, a_folder, make_socket], ids=lambda one: one.__name__)
def test_foreign_things_in_other_places_are_passed_over(world: World, foreign: Callable[[Path], None]) -> None:
    for name in ("history.spool", "mode", "history.db", "README"):
        replaced(world, name, foreign)
        (world.store.parent / "elsewhere").unlink(missing_ok=True)
    world.repo.lock("claim", "docs/b.md", agent="carol").ok()
    world.repo.lock("check", agent="bob").ended(22)
    refused = world.repo.commit("bob's", agent="bob", check=False)
    assert refused.code == 1 and "held by alice" in refused.err, refused
