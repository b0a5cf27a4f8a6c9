"""The quick way to read a map file says what ``tomllib`` says, or nothing."""

import re
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from gitlock.wiring.plaintoml import read_plain
from tests.kit.program import ROOT

_WORD = st.sampled_from(["a", "b", "policy", "key", "x-1", "", "a.b", '"q"'])
_VALUE = st.sampled_from(
    ['"text"', "'text'", '""', '"a # b"', '"a\\tb"', '"""x"""', "''''''", "1", "0", "01", "1_0", "1.5", "true", "false",
     "[]", '["a"]', '["a", \'b\',]', '["a" "b"]', "[,]", '["a",,]', "[1]", "{}", "2020-01-01", "", "nan", '"', '"a" b'],
)  # fmt: skip
_SPACE = st.sampled_from(["", " ", "\t", "  ", "\r", "\x01", "\u00a0", "é"])
_LINE = st.one_of(
    st.builds(lambda a, w, b, v, c: f"{a}{w}{b}={b}{v}{c}", _SPACE, _WORD, _SPACE, _VALUE, _SPACE),
    st.builds(lambda a, w, b: f"{a}[{b}{w}{b}]{a}", _SPACE, _WORD, _SPACE),
    st.builds(lambda a, w, b: f"{a}[[{b}{w}]]{a}", _SPACE, _WORD, _SPACE),
    st.builds(lambda a, b: f"{a}# comment{b}", _SPACE, _SPACE),
    st.builds(lambda v: f"a = {v} # comment", _VALUE),
    st.text("ab=[]\"'#, \t\\1", max_size=12),
)


@settings(max_examples=1500)
@given(st.lists(_LINE, max_size=6))
def test_where_it_reads_a_text_both_say_the_same(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = read_plain(text)
    assert found is None or found == tomllib.loads(text)


def test_the_example_of_the_documentation_is_read_by_it() -> None:
    page = (ROOT / "docs" / "map-file.md").read_text()
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert examples and all(read_plain(text) == tomllib.loads(text) for text in examples)
