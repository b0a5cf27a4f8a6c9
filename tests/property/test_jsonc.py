"""What is put into a document and taken out again leaves it byte for byte as it was, however it is written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlock.domain.jsonc import ARRAY, OBJECT, Broken, Node, append, drop, parse, put, render, style_of

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(), one, max_size=4))
BLANKS = st.sampled_from([
    "", "", " ", "\n", "\n  ", "\r\n\t", " // note, {it}\n", "/* \" [1, */", "\n  // one\n  // two\n  ", " /**/ ", "\r",
])  # fmt: skip


@st.composite
def documents(draw: st.DrawFn, depth: int = 3) -> str:
    """An object with comments, odd white space and trailing commas wherever JSON with comments has them."""
    lead = draw(st.sampled_from(["", "\ufeff"])) + draw(BLANKS)
    return lead + draw(_containers(depth, "{}")) + draw(BLANKS)


@st.composite
def _containers(draw: st.DrawFn, depth: int, brackets: str) -> str:
    names = st.sampled_from(["a", "b", 'q"\n', "hooks", "é\U0001f512"])
    keys: list[str] = draw(st.lists(names, unique=True, max_size=3))
    parts = []
    for key in keys:
        value = draw(_values(depth - 1))
        row = f"{json.dumps(key)}{draw(BLANKS)}:{draw(BLANKS)}" if brackets == "{}" else ""
        parts.append(draw(BLANKS) + row + value + draw(BLANKS))
    has_last_comma = bool(parts) and draw(st.booleans())
    inner = ",".join(parts) + ("," if has_last_comma else "") + draw(BLANKS)
    return brackets[0] + inner + brackets[1]


@st.composite
def _values(draw: st.DrawFn, depth: int) -> str:
    if depth and draw(st.booleans()):
        return draw(_containers(depth, draw(st.sampled_from(["{}", "[]"]))))
    return json.dumps(draw(SCALARS))


def _places(node: Node, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    found = [(path, node.kind)] if node.kind in (OBJECT, ARRAY) else []
    for at, one in enumerate(node.children):
        found += _places(one.node, (*path, at if one.key is None else one.key))
    return found


@given(documents(), st.data())
def test_what_is_added_and_taken_out_leaves_every_byte(text: str, data: st.DataObject) -> None:
    path, kind = data.draw(st.sampled_from(_places(parse(text))))
    key = "git-lock" if kind == OBJECT else None
    value = data.draw(VALUES)
    longer, rest = append(text, path, key, value)
    node = parse(longer).at(path)
    assert node is not None
    assert node.children[-1].node.value() == value
    assert drop(longer, (*path, key or len(node.children) - 1), rest) == text


@given(documents(), st.data())
def test_two_things_that_were_added_are_taken_out_in_any_order(text: str, data: st.DataObject) -> None:
    first, rest = append(text, (), "one", {"x": [1]})
    second, _ = append(first, (), "two", "y")
    names = data.draw(st.permutations(["one", "two"]))
    for name in names:
        second = drop(second, (name,), rest)
    assert parse(second).value() == parse(text).value()
    if names == ["two", "one"]:
        assert second == text


@given(documents(), documents(), st.data())
def test_what_others_add_after_us_stays(text: str, other: str, data: st.DataObject) -> None:
    path, kind = data.draw(st.sampled_from(_places(parse(text))))
    ours, rest = append(text, path, "git-lock" if kind == OBJECT else None, 1)
    theirs, _ = append(ours, path, "theirs" if kind == OBJECT else None, other)
    here = parse(theirs).at(path)
    assert here is not None
    left = parse(drop(theirs, (*path, "git-lock" if kind == OBJECT else len(here.children) - 2), rest)).at(path)
    before = parse(text).at(path)
    assert left is not None and before is not None
    assert [one.node.value() for one in left.children] == [*(one.node.value() for one in before.children), other]


@given(documents(), VALUES)
def test_without_a_memory_the_values_are_the_same_all_the_same(text: str, value: object) -> None:
    longer, _ = append(text, (), "git-lock", value)
    assert parse(drop(longer, ("git-lock",))).value() == parse(text).value()


@given(documents(), st.sampled_from([None, "", "\n", ",\n", ", // x\n", "/**/,"]), st.data())
def test_whatever_is_taken_out_with_whatever_memory_the_rest_says_the_same(
    text: str, rest: str | None, data: st.DataObject
) -> None:
    full = [path for path, _ in _places(parse(text)) if (node := parse(text).at(path)) is not None and node.children]
    if not full:
        return
    path = data.draw(st.sampled_from(full))
    node = parse(text).at(path)
    assert node is not None
    at = data.draw(st.integers(0, len(node.children) - 1))
    step = at if node.kind == ARRAY else str(node.children[at].key)
    wanted = parse(text).value()
    inner: Any = wanted
    for one in path:
        inner = inner[one]
    del inner[step]
    assert parse(drop(text, (*path, step), rest)).value() == wanted


def test_a_comment_before_what_is_taken_out_does_not_swallow_what_is_behind() -> None:
    assert parse(drop('{ // mine\n"a": 1}', ("a",))).value() == {}
    assert parse(drop('{ // mine\n"a": 1, "b": 2}', ("a",))).value() == {"b": 2}


def test_a_comma_that_was_there_once_is_not_put_behind_nothing() -> None:
    text, rest = append('{"a": 1,\n}', (), "b", 2)
    assert parse(drop(text.replace('"a": 1,', ""), ("b",), rest)).value() == {}


def test_a_document_of_very_many_values_is_refused() -> None:
    with pytest.raises(Broken, match="more than 20000 values"):
        parse("[" + "1," * 20_000 + "]")


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_on_plain_json_we_agree_with_python(value: object, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse(text).value() == json.loads(text)


@given(VALUES)
def test_what_is_rendered_is_json(value: object) -> None:
    text = render(value, style_of("", parse("{}")))
    assert json.loads(text) == value


@given(st.text(alphabet='{}[]",:/*\\ \n\r0.1-+eEtrufalsn', max_size=30))
def test_what_python_refuses_is_refused_unless_for_comments_and_commas(text: str) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if not any(mark in text for mark in ("/", ",")):
            with pytest.raises(Broken):
                parse(text)
    else:
        assert parse(text).value() == value


@given(documents(), VALUES, st.data())
def test_a_value_is_replaced_in_its_place(text: str, value: object, data: st.DataObject) -> None:
    path, _ = data.draw(st.sampled_from(_places(parse(text))))
    root = parse(put(text, path, value))
    node = root.at(path)
    assert node is not None and node.value() == value


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ('{"a": }', 1, 7),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3),
        ('{"a": 1} x', 1, 10),
        ("{'a': 1}", 1, 2),
        ('{"a": "x\n"}', 1, 9),
        ("{/* no end", 1, 2),
        ('{"a": NaN}', 1, 7),
        ("[" * 101, 1, 101),
    ],
)
def test_what_is_broken_is_broken_in_a_place(text: str, line: int, column: int) -> None:
    with pytest.raises(Broken) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_indentation_and_line_ends_are_the_documents_own() -> None:
    text, _ = append('{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}\r\n', ("a",), "c", [{}])
    assert text == '{\r\n\t"a": {\r\n\t\t"b": 1,\r\n\t\t"c": [\r\n\t\t\t{}\r\n\t\t]\r\n\t}\r\n}\r\n'
