"""The document on the disk against chance: what is written is read back, what a later version wrote survives, and
damage is never read as "nothing is held"."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitlock import jsontext
from gitlock.domain.instant import Instant
from gitlock.domain.lease import MODES, TTL_LIMIT, Ended, Holder, Lease
from gitlock.domain.overlap import overlap
from gitlock.domain.pattern import Fold, escape
from gitlock.domain.snapshot import Edits, anchors_of
from gitlock.errors import StoreCorrupt, StoreError
from gitlock.stores.codec import decode_ended, decode_lease, encode_ended, encode_lease
from gitlock.stores.files.losing import new_epoch
from gitlock.stores.files.state import format_state, parse_state
from gitlock.stores.files.store import FileStore
from gitlock.stores.files.table import LineTable
from gitlock.stores.memory import MemoryTable
from tests.kit.agents import Worker, a_lease
from tests.kit.clock import ManualClock
from tests.kit.program import is_soak

MANY = settings(max_examples=20_000 if is_soak() else 100)

# Any text at all: what is not UTF-8 is in surrogates, as the file system gives it.
texts = st.text(st.characters(), max_size=8) | st.text(st.sampled_from("a|\"\\/:\udcff\x00\u202eé \n"), max_size=8)
names = st.text(st.sampled_from("aAbé.\udcff|\"\\[]*?!: \u212a"), min_size=1, max_size=4).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
patterns = st.one_of(paths.map(escape), st.sampled_from(["*", "**", "src/*", "**/a", "A/**", "é/*.a", "a/"]))
keys = st.sampled_from(["deploy:x", "Deploy:X", "a:b/c"])
numbers = st.integers(0, 2**37) | st.floats(0, 1e9, allow_nan=False).map(lambda number: round(number, 3))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(texts.map("x-".__add__), json_values, max_size=2)
holders = st.builds(
    Holder, texts, st.none() | texts, st.none() | texts, st.none() | texts, st.none() | st.integers(2, 2**22),
    st.none() | st.integers(0, 2**40), st.none() | texts, texts, st.none() | texts, extras,
)  # fmt: skip


@st.composite
def leases(draw: st.DrawFn) -> Lease:
    base = a_lease(*draw(st.lists(patterns, max_size=3)), names=tuple(draw(st.lists(keys, max_size=2))))
    return base.replace(
        agent=draw(texts), kind=draw(texts), mode=draw(st.sampled_from(MODES)), reason=draw(texts),
        exclude=tuple(draw(st.lists(patterns, max_size=2))), fence=draw(st.integers(0, 2**50)),
        acquired=float(draw(numbers)), renewed=Instant(float(draw(numbers)), float(draw(numbers)), draw(texts)),
        ttl=float(draw(st.floats(0.001, TTL_LIMIT))), holder=draw(holders), extra=draw(extras),
    )  # fmt: skip


# -- round trips


@MANY
@given(leases())
def test_a_lease_survives_the_round_trip(lease: Lease) -> None:
    text = jsontext.dumps(encode_lease(lease))
    assert text.isascii() and "\n" not in text
    assert decode_lease(jsontext.loads(text), "here") == lease


ends = st.tuples(texts, numbers, st.none() | texts, st.none() | st.integers(0, 2**50), texts)


@MANY
@given(leases(), ends, st.booleans(), extras)
def test_an_ended_lease_survives_the_round_trip(
    lease: Lease, rest: tuple[str, float, str | None, int | None, str], told: bool, extra: dict[str, object]
) -> None:
    why, at, by, fence, note = rest
    ended = Ended(lease, why, float(at), by, by, fence, note, told, extra)
    assert decode_ended(jsontext.loads(jsontext.dumps(encode_ended(ended))), "here") == ended


@MANY
@given(json_values)
def test_json_says_what_the_standard_librarys_says(value: object) -> None:
    assert jsontext.loads(jsontext.dumps(value)) == json.loads(json.dumps(value)) == json.loads(jsontext.dumps(value))


@MANY
@given(json_values)
def test_a_record_of_any_shape_is_read_or_corrupt(value: object) -> None:
    with pytest.raises(StoreCorrupt):
        decode_lease(value, "here")


# -- finding


tables = st.lists(leases(), max_size=6, unique_by=lambda lease: lease.id)


@MANY
@given(tables, leases(), st.booleans(), st.booleans())
def test_a_lease_that_meets_is_never_passed_over(held: list[Lease], wish: Lease, case: bool, form: bool) -> None:
    rows = [jsontext.dumps(encode_lease(lease)).encode() for lease in held]
    fold = Fold(case, form)
    wanted = {
        lease.id
        for lease in held
        if {name.lower() for name in lease.names} & {name.lower() for name in wish.names}
        or (lease.include and wish.include and overlap(lease.footprint, wish.footprint, fold).meets)
    }
    for table in (LineTable(rows, "here"), MemoryTable(tuple(held))):
        found = table.around(anchors_of(wish.footprint), frozenset(name.lower() for name in wish.names))
        assert wanted <= {lease.id for lease in found}


@MANY
@given(tables, st.lists(texts, max_size=2))
def test_an_agents_leases_are_exactly_its_own(held: list[Lease], others: list[str]) -> None:
    rows = [jsontext.dumps(encode_lease(lease)).encode() for lease in held]
    agents = [*others, *(lease.agent for lease in held[:1])]
    assert LineTable(rows, "here").of(agents) == [lease for lease in held if lease.agent in agents]


# -- what a later version wrote


@settings(max_examples=2000 if is_soak() else 40)
@given(header=extras, lease=extras, holder=extras, ended=extras, rows=st.lists(json_values, max_size=2))
def test_unknown_fields_survive_every_rewrite(
    tmp_path_factory: pytest.TempPathFactory,
    header: dict[str, object],
    lease: dict[str, object],
    holder: dict[str, object],
    ended: dict[str, object],
    rows: list[object],
) -> None:
    clock = ManualClock()
    store = FileStore(str(tmp_path_factory.mktemp("store") / "agentlocks"), clock)
    held = a_lease("a", renewed=clock(), holder=Holder("host", extra=holder)).replace(extra=lease)
    store.update(lambda _: (Edits(put=(held,), ended=(Ended(held, "taken", 1.0, extra=ended),), counter=1), None))
    _rewrite(store, header, rows)
    clock.advance(500.0)
    Worker(store, "alice").mine()
    found = parse_state(Path(store.layout.state).read_bytes(), "here")
    (after,), (told,) = store.read().leases.all(), store.read().ended.all()
    assert (after.extra, after.holder.extra, told.extra, told.told) == (lease, holder, ended, True)
    assert {name: found.header[name] for name in header} == header
    assert [jsontext.loads(row.decode()) for row in found.sections["x-later"]] == rows


def _rewrite(store: FileStore, header: dict[str, object], rows: list[object]) -> None:
    """As a later version might have written it: more fields in the header, and a section of its own."""
    state = parse_state(Path(store.layout.state).read_bytes(), "here")
    state.header.update(header)
    state.sections["x-later"] = [jsontext.dumps(row).encode() for row in rows]
    Path(store.layout.state).write_bytes(format_state(state))


# -- damage


def _document() -> bytes:
    clock = ManualClock()
    state = new_epoch("0123456789abcdef", 2, 41, 17, "was repaired", None, clock.wall)
    held = [a_lease(f"src/{name}", "docs/*", agent=name, fence=number) for number, name in enumerate("abcdef", 1)]
    state.sections["leases"] = [jsontext.dumps(encode_lease(lease)).encode() for lease in held]
    return format_state(state)


DOCUMENT = _document()
HELD = parse_state(DOCUMENT, "here").sections["leases"]

Damage = Callable[[bytes], bytes]
places = st.integers(0, len(DOCUMENT) - 1)


def _cut(start: int, length: int) -> Damage:
    return lambda data: data[:start] + data[start + length :]


def _fill(start: int, filling: bytes) -> Damage:
    return lambda data: data[:start] + filling + data[start + len(filling) :]


def _insert(start: int, filling: bytes) -> Damage:
    return lambda data: data[:start] + filling + data[start:]


def _flip(at: int, bit: int) -> Damage:
    return lambda data: data[:at] + bytes((data[at] ^ (1 << bit),)) + data[at + 1 :] if at < len(data) else data


def _swap_lines(one: int, other: int) -> Damage:
    def swap(data: bytes) -> bytes:
        rows = data.split(b"\n")
        one_, other_ = one % len(rows), other % len(rows)
        rows[one_], rows[other_] = rows[other_], rows[one_]
        return b"\n".join(rows)

    return swap


def _drop_line(number: int) -> Damage:
    def drop(data: bytes) -> bytes:
        rows = data.split(b"\n")
        del rows[number % len(rows)]
        return b"\n".join(rows)

    return drop


damages = st.one_of(
    st.builds(_flip, places, st.integers(0, 7)),
    st.builds(_cut, places, st.integers(1, 5000)),
    st.builds(_fill, places, st.binary(min_size=1, max_size=20)),
    st.builds(_fill, places, st.integers(1, 4096).map(bytes)),
    st.builds(_insert, places, st.binary(min_size=1, max_size=8)),
    st.builds(_insert, places, st.sampled_from([b"\n", b"],\n", b'"leases":[\n', b"{}"])),
    st.builds(_swap_lines, st.integers(0, 30), st.integers(0, 30)),
    st.builds(_drop_line, st.integers(0, 30)),
)


@settings(max_examples=200_000 if is_soak() else 1000)
@given(st.lists(damages, min_size=1, max_size=3))
@example([_cut(0, len(DOCUMENT))])
def test_damage_is_never_read_as_something_else(damage: list[Damage]) -> None:
    data = DOCUMENT
    for one in damage:
        data = one(data)
    try:
        found = parse_state(data, "here")
    except StoreError:
        return
    assert found.sections["leases"] == HELD


@settings(max_examples=50_000 if is_soak() else 300)
@given(st.lists(damages, min_size=1, max_size=3))
def test_damage_under_a_fitting_checksum_is_read_or_refused_and_never_breaks_us(damage: list[Damage]) -> None:
    body = DOCUMENT[: DOCUMENT.rindex(b'"crc32"')]
    for one in damage:
        body = one(body)
    sealed = body + b'"crc32":"%08x"}\n' % zlib.crc32(body)
    try:
        found = parse_state(sealed, "here")
        for lease in LineTable(found.sections["leases"], "here").all():
            decode_lease(jsontext.loads(jsontext.dumps(encode_lease(lease))), "here")
    except StoreError:
        return
    assert found.header["format"] == "gitlock/1"


@settings(max_examples=5000 if is_soak() else 60)
@given(st.lists(damages, min_size=1, max_size=3))
def test_a_store_that_was_damaged_is_not_empty_to_a_reader(
    tmp_path_factory: pytest.TempPathFactory, damage: list[Damage]
) -> None:
    folder = tmp_path_factory.mktemp("store") / "agentlocks"
    folder.mkdir(mode=0o700)
    data = DOCUMENT
    for one in damage:
        data = one(data)
    (folder / "state.json").write_bytes(data)
    try:
        found = FileStore(str(folder), ManualClock()).read().leases.count()
    except StoreError as error:
        found = len(HELD) if error.hint else 0
    assert found == len(HELD)
