"""Leases as records: strict about types, kind to what a later version added."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from gitlock import jsontext
from gitlock.domain.lease import Ended, Holder, Lease
from gitlock.domain.overlap import overlap
from gitlock.domain.pattern import Fold, anchor_candidates, parse_pattern
from gitlock.errors import StoreCorrupt
from gitlock.stores.codec import (
    SEPARATOR,
    decode_ended,
    decode_lease,
    encode_ended,
    encode_lease,
    entries_of,
    plain_anchor,
)
from tests.kit.agents import a_lease

FULL = a_lease(
    "src/*", "app/\\[id\\]", names=("Deploy:Staging",), exclude=("src/gen/**",), mode="shared",
    reason='"x"\n\u202e', fence=41,
    holder=Holder("host", "/tree", "main", "s-1", 4711, 99, "pid:[1]", "boot", "/tree/.git"),
)  # fmt: skip
TAKEN = Ended(FULL, "taken", 5.0, by="bob", by_claim="src/a", by_fence=42, note="n", told=True)


def record() -> dict[str, Any]:
    """FULL as it would be read from a file."""
    read = jsontext.loads(jsontext.dumps(encode_lease(FULL)))
    assert isinstance(read, dict)
    return read


LEASES = {"full": FULL, "a path": a_lease("a"), "a key": a_lease(names=("a:b",), holder=Holder(""))}


@pytest.mark.parametrize("lease", LEASES.values(), ids=LEASES.keys())
def test_a_lease_survives_the_round_trip(lease: Lease) -> None:
    assert decode_lease(jsontext.loads(jsontext.dumps(encode_lease(lease))), "here") == lease


@pytest.mark.parametrize("ended", [TAKEN, Ended(a_lease("a"), "expired", 1.0)], ids=["taken", "expired"])
def test_an_ended_lease_survives_the_round_trip(ended: Ended) -> None:
    assert decode_ended(jsontext.loads(jsontext.dumps(encode_ended(ended))), "here") == ended


def test_a_record_begins_with_what_it_is_found_by() -> None:
    assert jsontext.dumps(encode_lease(FULL)).startswith('{"at":"app/[id]|src/|:deploy:staging","agent":"alice",')


def test_a_token_is_never_in_a_record() -> None:
    assert "secret" not in jsontext.dumps(encode_lease(a_lease("a", token="secret")))


def test_fields_of_a_later_version_are_kept() -> None:
    later = record()
    later["priority"] = [1, {"a": None}]
    later["holder"]["gpu"] = 2
    again = encode_lease(decode_lease(later, "here"))
    assert (again["priority"], again["holder"]["gpu"]) == ([1, {"a": None}], 2)  # type: ignore[index]


def test_a_later_versions_field_of_an_ended_lease_is_kept() -> None:
    later = {**encode_ended(TAKEN), "lease": record(), "cause": {"x": 1}}
    assert encode_ended(decode_ended(later, "here"))["cause"] == {"x": 1}


def test_a_mode_that_nobody_knows_is_the_strongest_and_is_kept() -> None:
    lease = decode_lease({**record(), "mode": "upgradable"}, "here")
    assert (lease.mode, encode_lease(lease)["mode"]) == ("exclusive", "upgradable")


@pytest.mark.parametrize("pid", [0, 1])
def test_a_process_id_that_means_something_else_to_the_kernel_is_none(pid: int) -> None:
    changed = record()
    changed["holder"]["pid"] = pid
    assert decode_lease(changed, "here").holder.pid is None


def _set(*path: str, to: object) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        for name in path[:-1]:
            record = record[name]
        record[path[-1]] = to

    return change


FAULTS = {
    "an agent that is a number": _set("agent", to=7),
    "an id that is null": _set("id", to=None),
    "keys that are a text": _set("keys", to="file:a"),
    "a key that is a number": _set("keys", to=[1]),
    "include that is null": _set("include", to=None),
    "a pattern that is none": _set("include", to=["src/[z-a]"]),
    "an exclusion that is none": _set("exclude", to=["a\\"]),
    "a fence that is a text": _set("fence", to="41"),
    "a fence that is true": _set("fence", to=True),
    "a fence with a fraction": _set("fence", to=41.0),
    "a negative fence": _set("fence", to=-1),
    "a fence beyond all fences": _set("fence", to=2**53),
    "a ttl of zero": _set("ttl", to=0),
    "a negative ttl": _set("ttl", to=-60.0),
    "a ttl beyond a week": _set("ttl", to=604801),
    "a ttl that is true": _set("ttl", to=True),
    "a ttl that is a text": _set("ttl", to="1h"),
    "a time before time": _set("renewed", to=-1.0),
    "a time that no calendar shows": _set("acquired", to=1e14),
    "a monotonic time before the boot": _set("renewed_mono", to=-0.5),
    "a monotonic time beyond measure": _set("renewed_mono", to=1e300),
    "a boot that is a number": _set("boot", to=1),
    "a holder that is a text": _set("holder", to="host"),
    "a holder that is null": _set("holder", to=None),
    "a host that is null": _set("holder", "host", to=None),
    "a negative process id": _set("holder", "pid", to=-1),
    "a process id that is a text": _set("holder", "pid", to="4711"),
    "a worktree that is a list": _set("holder", "worktree", to=[]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_record_with_a_fault_is_corrupt(fault: str) -> None:
    broken = record()
    FAULTS[fault](broken)
    with pytest.raises(StoreCorrupt, match="here"):
        decode_lease(broken, "here")


@pytest.mark.parametrize("name", [name for name in record() if name != "at"])
def test_a_record_without_a_field_is_corrupt(name: str) -> None:
    broken = record()
    del broken[name]
    with pytest.raises(StoreCorrupt):
        decode_lease(broken, "here")


@pytest.mark.parametrize("name", sorted(record()["holder"]))
def test_a_holder_without_a_field_is_corrupt(name: str) -> None:
    broken = record()
    del broken["holder"][name]
    with pytest.raises(StoreCorrupt):
        decode_lease(broken, "here")


@pytest.mark.parametrize("name", ["why", "at", "by", "by_claim", "by_fence", "note", "told", "lease"])
def test_an_ended_record_without_a_field_is_corrupt(name: str) -> None:
    broken: dict[str, Any] = {**encode_ended(TAKEN), "lease": record()}
    del broken[name]
    with pytest.raises(StoreCorrupt):
        decode_ended(broken, "here")


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", [], [1]], ids=repr)
def test_what_is_no_record_is_corrupt(value: object) -> None:
    with pytest.raises(StoreCorrupt):
        decode_lease(value, "here")


def test_decoding_leaves_the_record_as_it_was() -> None:
    given = record()
    before = copy.deepcopy(given)
    decode_lease(given, "here")
    assert given == before


# -- what a lease is found by


def test_a_lease_is_found_by_its_anchors_and_its_keys() -> None:
    assert entries_of(FULL) == ["app/[id]", "src/", ":deploy:staging"]


@pytest.mark.parametrize("anchor", ["src/a|b/c", 'src/a"b', "src/a\\b/", "src/\x07/x", "src/\u202e/y"])
def test_an_anchor_is_cut_before_what_json_or_the_separator_would_spoil(anchor: str) -> None:
    assert plain_anchor(anchor) == "src/"


def test_an_anchor_that_looks_like_a_key_is_none() -> None:
    assert plain_anchor(":deploy:staging") == ""


@pytest.mark.parametrize("path", ["a|b/c", 'x"y/z', "über/x", "\udcff/x", ":key/x", "K/elvin", "\u212a/x", "src/a.py"])
def test_what_covers_a_path_is_found_by_one_of_the_paths_anchors(path: str) -> None:
    lease = a_lease(path.replace("\\", "\\\\"))
    fold = Fold(True, True)
    candidates = set(anchor_candidates(path))
    candidates |= {text.encode("ascii", "ignore").decode() for text in candidates}
    assert overlap(lease.footprint, lease.footprint, fold).meets and candidates.intersection(entries_of(lease))


def test_no_entry_holds_the_separator() -> None:
    lease = a_lease("a|b", "c|d/*", names=("a:b",))
    assert all(SEPARATOR not in entry for entry in entries_of(lease)) and parse_pattern("a|b").literal == "a|b"
