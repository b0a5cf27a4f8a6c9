"""Which tools a matcher takes, and that no matcher keeps us busy."""

import pytest

from gitlock.domain.toolmatcher import takes


@pytest.mark.parametrize(
    "matcher",
    ["", "*", "Edit", "Write|Edit", "Write, Edit", "E.*", "^(Write|Edit)$", "^(?:Ed|Wr)it", "[A-F]dit", "[^a-z]dit",
     r"\w+", "(x|)Edit", "Edi?t+", ".*", "(E|d)+", r"E\S*"],
)  # fmt: skip
def test_a_list_or_an_expression_takes_what_it_names(matcher: str) -> None:
    assert takes(matcher, "Edit")


@pytest.mark.parametrize(
    "matcher", ["Edits", "Write|Bash", "^dit", "Edi$", "[a-f]dit", "(Edit", "Edit)", "+", "[E", "Edit\\"]
)
def test_what_it_does_not_name_or_what_is_no_expression_takes_nothing(matcher: str) -> None:
    assert not takes(matcher, "Edit")


def test_what_is_not_read_here_is_believed() -> None:
    assert takes("(?!Read).*", "Edit") and takes(r"(.)\1", "Edit")


@pytest.mark.parametrize(
    "matcher",
    ["(((((((.*)*)*)*)*)*)*)*Z", "(((.?){60}){60}){60}Z", "(" * 5000, "Z{99999999999999999999}", "(|a)*" * 100_000],
    ids=["stars in stars", "counts in counts", "brackets", "a huge count", "long"],
)  # fmt: skip
def test_an_expression_made_to_take_for_ever_is_answered(matcher: str) -> None:
    assert takes(matcher, "apply_patch") in (True, False)
