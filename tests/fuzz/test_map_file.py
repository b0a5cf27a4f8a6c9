"""``.gitlock.toml`` comes with the repository, from anybody: it is a policy, or an error that names file and line."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitlock.domain.pattern import PLAIN
from gitlock.domain.policy import Policy
from gitlock.errors import ConfigError
from gitlock.wiring.mapfile import parse_map_file
from tests.fuzz.hostile import any_text, assert_speakable, bounded

WHOLE = b"""\
version = 1

[policy]
mode = "enforce"
unclaimed = "reject"
open = ["docs/**", "!docs/secret"]
receipts = true
grant_after = "10m"

[defaults]
ttl = "1h"

[spawn]
path = "../{repo}.agents/{agent}"
setup = ["make"]

[[key]]
name = "schema:main"
paths = ["db/migrations/**", "db/schema.sql"]
takes = "whole"
ttl = "2h"
mode = "warn"
"""
NAMES = (
    "version", "policy", "mode", "humans", "unclaimed", "open", "receipts", "grant_after", "on_error", "defaults",
    "ttl", "auto_ttl", "spawn", "path", "branch", "setup", "key", "name", "paths", "takes", "x",
)  # fmt: skip
VALUES = st.one_of(
    st.sampled_from([
        "1", "0", "-1", "1.0", "true", "nan", "inf", "1e999", "0x1", "9" * 5000, "0x" + "f" * 9000, "[]", "{}", "[1]",
        "[[]]", "2024-01-01", "1979-05-27T07:32:00Z", "25:61:00", '""', "''", '"""\n"""', "'1h'", "'enforce'", "'0s'",
        "'9999d'", "'-1h'", "['**']", "['!a']", "['']", "['[z-a]']", "['a\\\\']", "['../a']", "['/etc']", "[" * 900,
        "{a." * 300, "'\\ud800'", '"\\ud800"',
    ]),
    any_text.map(lambda text: '"' + text.encode("unicode_escape").decode() + '"'),
    any_text.map(lambda text: "['" + text.replace("'", "") + "']"),
)  # fmt: skip
LINES = st.one_of(
    st.tuples(st.sampled_from(NAMES), VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.sampled_from([
        "", "# comment", "[policy]", "[defaults]", "[spawn]", "[[key]]", "[key]", "[[policy]]", "[policy.mode]", "[x]",
    ]),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), VALUES).map(lambda triple: "{}.{} = {}".format(*triple)),
)  # fmt: skip


def parsed(data: bytes) -> Policy | None:
    """The policy; None where the file is refused, as it must be."""
    try:
        with bounded():
            return parse_map_file(data)
    except ConfigError as error:
        assert_speakable(error)
        assert_names_a_line(str(error), data)
        return None


def assert_names_a_line(said: str, data: bytes) -> None:
    """As editors understand it, and one that the file has."""
    where = re.match(r"\.gitlock\.toml(?::(\d+): | is larger)", said)
    assert where is not None, said
    assert int(where[1] or 1) <= data.count(b"\n") + 1


def damaged(data: bytes, edits: list[tuple[int, bytes]]) -> bytes:
    """With pieces written over, or put in."""
    for at, piece in edits:
        at %= len(data) + 1
        data = data[:at] + piece + data[at + len(piece) % 3 :]
    return data


@given(st.lists(LINES, max_size=12).map("\n".join))
@example("version = " + "9" * 5000)
@example("version = 0x" + "f" * 9000)
@example("version = 1\n[policy]\nmode = 0x" + "f" * 9000)
@example("version = 1\n" + "a." * 100_000 + "b = 1")
@example("version = 1\nx = {" + "a." * 100_000 + "b = 1}")
@example("version = 1\n[" + "a." * 100_000 + "b]")
@example("version = 1\n['a'" + ".'a'" * 100_000 + "]")
@example("version = 1\n" + "".join(f"[[key]]\nname = 'a:{number}'\npaths = ['x']\n" for number in range(5000)))
@example("version = 1\n" + "[policy]\n" * 50_000)
@example("version = 1\nx = " + "[" * 100_000)
def test_a_map_file_is_a_policy_or_an_error_with_a_line(text: str) -> None:
    policy = parsed(text.encode("utf-8", "surrogatepass"))
    if policy is not None:
        assert policy.mode in ("enforce", "warn", "off")
        assert all(0 <= rule.footprint.is_empty <= 1 for rule in policy.keys)
        policy.mode_for("agent", "db/schema.sql", PLAIN)


@given(st.lists(st.tuples(st.integers(0, 4000), st.binary(max_size=12)), min_size=1, max_size=4))
def test_a_damaged_map_file_is_a_policy_or_an_error_with_a_line(edits: list[tuple[int, bytes]]) -> None:
    policy = parsed(damaged(WHOLE, edits))
    assert policy is None or policy.mode in ("enforce", "warn", "off")


def test_the_whole_map_file_is_a_policy() -> None:
    assert parsed(WHOLE) is not None


@pytest.mark.parametrize("text", ["version = true", "version = 1.0", "version = 2", "version = '1'", "version = [1]"])
def test_a_version_is_a_whole_number_and_one(text: str) -> None:
    assert parsed(text.encode()) is None
