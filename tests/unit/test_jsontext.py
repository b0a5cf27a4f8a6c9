"""JSON without the json package: the same meaning, stricter numbers."""

import json
import math
import random
import subprocess
import sys

import pytest

from gitlock.jsontext import dumps, loads
from tests.kit.program import ROOT


def finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


VALUES: list[object] = [
    None, True, False, 0, -7, 2**53, 1.5, -0.25, 1e-9, "", "a", "é日\U0001f600", "\x00\x1f\x7f", '"\\/',
    "\u2028", [], {}, [1, [2, [None]]], {"a": {"b": []}, "": 0}, "\udcff\udc80",
]  # fmt: skip

BAD = [
    "", " ", "nul", "{", "[", "[1,]", "{1:2}", "{'a':1}", '"', '"\n"', '"\x00"', "1 2", "[1] x", "NaN",
    "Infinity", "-Infinity", "[NaN]", "1e999", "[-1e999]", "01", "+1", ".5", "1.", "\ufeff1", "tru e", "9" * 5000,
    "[" * 100_000, '{"a":' * 100_000, "// c\n1", "'a'", '"\\x41"', '"\\u12"', "\x0c1",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_survives_the_round_trip(value: object) -> None:
    assert loads(dumps(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_others_read_what_we_write(value: object) -> None:
    assert json.loads(dumps(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_we_read_what_others_write(value: object) -> None:
    assert loads(json.dumps(value, indent=1)) == value


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_output_is_ascii_on_one_line(value: object) -> None:
    text = dumps(value)
    assert text.isascii() and text.isprintable()


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:12]))
def test_whatever_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), [float("nan")]], ids=repr)
def test_a_number_that_json_cannot_say_is_not_written(value: object) -> None:
    with pytest.raises(ValueError):
        dumps(value)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"a": b""}], ids=lambda value: type(value).__name__)
def test_a_thing_that_json_cannot_say_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)


def test_a_tuple_is_written_as_a_list() -> None:
    assert dumps(("a", (1,))) == '["a",[1]]'


def test_space_around_a_value_is_passed_over() -> None:
    assert loads(" \t\r\n{ }\n") == {}


def test_garbage_is_either_read_as_json_reads_it_or_refused() -> None:
    rng = random.Random(7)
    alphabet = '{}[]",:0123456789.eE+-truefalsn \\u"\n'
    for _ in range(3000):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randint(0, 12)))
        try:
            ours: object = loads(text)
        except ValueError:
            ours = ValueError
        try:
            theirs: object = json.loads(text, parse_float=finite, parse_constant=finite)
        except ValueError:
            theirs = ValueError
        assert ours == theirs, text


# Without site and with nothing imported, as the hooks start.
ALONE = f"""
import sys
sys.path.append({str(ROOT)!r})
from gitlock.jsontext import loads
for text in {BAD!r}:
    try:
        loads(text)
    except ValueError:
        continue
    sys.exit(f"read: {{text!r}}")
sys.exit("json was imported" if "json" in sys.modules else 0)
"""


def test_whatever_is_no_json_is_a_value_error_also_where_nothing_has_imported_json() -> None:
    done = subprocess.run([sys.executable, "-I", "-S", "-"], input=ALONE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
