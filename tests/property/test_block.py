"""A block in somebody's file: every byte around it stays, and taking it out gives the file back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitlock.domain.block import BEGIN, END, BadBlock, find_block, put_block, take_block

# What matters are line endings, marks of other things, and the file's end.
files = st.text(st.sampled_from("a# \t\r\né\ufeff<!->"), max_size=40).map(str.encode)
texts = st.lists(st.text(st.sampled_from("b `é"), max_size=6), min_size=1, max_size=4).map("\n".join)


@given(files, texts)
@example(b"", "b")
@example(b"a", "b")
@example(b"\n", "b")
@example(b"a\r\n", "b")
@example(b"a\n\r\n", "b")
@example("\ufeff".encode(), "b")
def test_what_was_put_in_can_be_taken_out_to_the_byte(data: bytes, text: str) -> None:
    assert take_block(put_block(data, text)) == data


@given(files, texts, texts)
def test_a_newer_text_takes_the_place_of_the_older(data: bytes, old: str, new: str) -> None:
    assert put_block(put_block(data, old), new) == put_block(data, new)


@given(files, files, texts, texts)
def test_every_byte_around_a_block_stays(before: bytes, after: bytes, old: str, new: str) -> None:
    block = f"{BEGIN}\n{old}\n{END}".encode()
    written = put_block(before + b"\n" + block + b"\n" + after, new)
    assert written.startswith(before + b"\n" + BEGIN.encode()) and written.endswith(END.encode() + b"\n" + after)


def test_a_file_that_was_made_for_the_block_goes_with_it() -> None:
    assert take_block(put_block(None, "b")) is None


def test_a_file_that_was_empty_before_stays() -> None:
    assert take_block(put_block(b"", "b")) == b""


def test_a_block_has_the_line_endings_of_its_file() -> None:
    assert put_block(b"a\r\n", "b\nc") == f"a\r\n\r\n{BEGIN}\r\nb\r\nc\r\n{END}\r\n".encode()


def test_a_mark_within_a_line_is_none() -> None:
    assert find_block(f"the block begins at {BEGIN}\n".encode()) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{BEGIN}\nb\n", "the block that begins in line 1 has no"),
        (f"a\n{END}\n", "in line 2 has no"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "there are 2 blocks, in lines 1, 3"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "the marks in lines 1, 2, 3"),
        (f"{END}\n{BEGIN}\n", "in line 1 has no"),
    ],
)
def test_marks_that_do_not_delimit_one_block_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadBlock, match=why):
        put_block(text.encode(), "b")


@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"caf\xe9\n"])
def test_what_is_not_utf_8_is_refused(data: bytes) -> None:
    with pytest.raises(BadBlock, match="not UTF-8"):
        put_block(data, "b")


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```md"])
def test_a_block_that_is_shown_in_a_code_fence_is_left_alone(fence: str) -> None:
    data = f"a\n{fence}\n{BEGIN}\nb\n{END}\n{fence.strip().removesuffix('md')}\n".encode()
    with pytest.raises(BadBlock, match="in line 3 stands in the code fence of line 2"):
        put_block(data, "c")
    with pytest.raises(BadBlock, match="in line 3 stands in the code fence of line 2"):
        take_block(data)


def test_nothing_is_put_into_a_code_fence_that_is_not_closed() -> None:
    with pytest.raises(BadBlock, match="the code fence that line 2 opens is not closed"):
        put_block(b"a\n````\n```\n", "b")


def test_a_closed_code_fence_is_in_nobodys_way() -> None:
    data = b"```sh\na\n```\n`` `b` ``\n"
    assert take_block(put_block(data, "b")) == data
