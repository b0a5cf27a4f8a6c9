"""The one authoritative document, as text."""

import json
import zlib

import pytest

from gitlock.domain.lease import EPOCH_LIMIT
from gitlock.errors import StoreCorrupt, StoreError, StoreTooNew
from gitlock.stores.files.state import State, format_state, fresh, parse_state


def state(**header: object) -> State:
    base = fresh("0123456789abcdef", epoch=2, counter=41, revision=17)
    sections: dict[str, list[bytes]] = dict(base.sections)
    sections |= {"leases": [b'{"at":"a"}', b'{"at":"b"}'], "ended": [b'{"agent":"x"}']}
    return State({**base.header, **header}, sections, "here")


DATA = format_state(state())


def sealed(body: bytes) -> bytes:
    """The bytes with a checksum that fits."""
    return body + b'"crc32":"%08x"}\n' % zlib.crc32(body)


def body() -> bytes:
    return DATA[: DATA.rindex(b'"crc32"')]


def test_a_state_survives_the_round_trip() -> None:
    again = parse_state(DATA, "here")
    assert (again.header, again.sections) == (state().header, state().sections)


def test_writing_what_was_read_gives_the_same_bytes() -> None:
    assert format_state(parse_state(DATA, "here")) == DATA


def test_it_is_one_json_document() -> None:
    document = json.loads(DATA)
    assert (document["revision"], [lease["at"] for lease in document["leases"]]) == (17, ["a", "b"])


def test_it_has_one_record_a_line() -> None:
    assert b'\n{"at":"a"},\n{"at":"b"}\n' in DATA


def test_a_fresh_state_holds_nothing() -> None:
    found = parse_state(format_state(fresh("x")), "here")
    assert (found.revision, found.counter, found.epoch, set(map(tuple, found.sections.values()))) == (0, 0, 1, {()})


def test_header_fields_of_a_later_version_are_kept() -> None:
    assert parse_state(format_state(state(later={"a": [1]})), "here").header["later"] == {"a": [1]}


def test_sections_of_a_later_version_are_kept() -> None:
    one = state()
    one.sections["requests"] = [b'{"id":1}']
    assert parse_state(format_state(one), "here").sections["requests"] == [b'{"id":1}']


@pytest.mark.parametrize("cut", range(len(DATA)))
def test_a_state_that_was_cut_short_is_corrupt(cut: int) -> None:
    with pytest.raises(StoreCorrupt):
        parse_state(DATA[:cut], "here")


@pytest.mark.parametrize("at", range(0, len(DATA), 3))
def test_a_state_with_one_changed_byte_is_not_read(at: int) -> None:
    with pytest.raises(StoreError):
        parse_state(DATA[:at] + bytes((DATA[at] ^ 1,)) + DATA[at + 1 :], "here")


BROKEN = {
    "nothing": b"",
    "a line's end": b"\n",
    "nul bytes": b"\0" * len(DATA),
    "a byte order mark": b"\xef\xbb\xbf" + DATA,
    "utf-16": DATA.decode().encode("utf-16"),
    "no text at all": bytes(range(256)),
    "another document": b'{"leases":[]}\n',
    "an empty object": b"{}",
    "deep nesting": b"[" * 100_000,
    "deep nesting, sealed": sealed(b"[" * 100_000 + b"\n"),
    "something behind it": DATA + b"\n",
    "twice": DATA + DATA,
    "windows line ends": DATA.replace(b"\n", b"\r\n"),
    "a merge conflict": b"<<<<<<< ours\n" + DATA + b"=======\n" + DATA + b">>>>>>> theirs\n",
    "no checksum": body() + b"}\n",
    "an empty checksum": body() + b'"crc32":"00000000"}\n',
    "no sections": sealed(body().split(b"\n")[0] + b"\n"),
    "a section that does not end": sealed(body().replace(b"],\n", b"", 1)),
    "a missing section": sealed(body().replace(b'"ended":[', b'"later":[')),
    "a nameless section": sealed(body().replace(b'"ended":[', b"[")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_anything_else_is_corrupt_and_says_how_to_mend_it(what: str) -> None:
    with pytest.raises(StoreCorrupt, match="here") as found:
        parse_state(BROKEN[what], "here")
    assert found.value.hint == "git lock doctor --fix"


HEADERS: dict[str, dict[str, object]] = {
    "a revision that is a text": {"revision": "17"},
    "a negative revision": {"revision": -1},
    "a revision that is true": {"revision": True},
    "a huge counter": {"counter": 10**30},
    "a counter with a fraction": {"counter": 1.5},
    "a huge epoch": {"epoch": EPOCH_LIMIT},
    "a store that is a number": {"store": 7},
    "no store": {"store": None},
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_is_not_understood_is_corrupt(what: str) -> None:
    head, rest = body().split(b"\n", 1)
    header = {**json.loads(head.rstrip(b",") + b"}"), **HEADERS[what]}
    with pytest.raises(StoreCorrupt):
        parse_state(sealed(json.dumps(header).encode()[:-1] + b",\n" + rest), "here")


@pytest.mark.parametrize("name", ["gitlock/2", "gitlock/10", "gitlock/999999999"])
def test_a_later_format_is_never_guessed_at(name: str) -> None:
    with pytest.raises(StoreTooNew, match="later git-lock"):
        parse_state(b'{"format":"%s","anything":[]}\n' % name.encode(), "here")


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_a_later_format_is_known_however_it_is_laid_out(indent: int | str | None) -> None:
    with pytest.raises(StoreTooNew):
        parse_state(json.dumps({"format": "gitlock/2", "leases": {}}, indent=indent).encode(), "here")


NO_FORMATS = [
    "gitlock/0", "gitlock/01", "gitlock/", "gitlock", "other/2", "gitlock/²", "gitlock/-2", "gitlock/" + "9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("name", NO_FORMATS)
def test_a_format_that_is_none_is_corrupt(name: str) -> None:
    with pytest.raises(StoreCorrupt):
        parse_state(json.dumps({"format": name}).encode() + b"\n", "here")
