"""A name in a hint: a shell reads it as that one word."""

import subprocess

import pytest

from gitlock.domain.quoting import word


@pytest.mark.parametrize("text", ["a/b.py", "it's", "", "a b", "$HOME", "`x`", "a\\b", "--", "*", "~", "é", '"', "!x"])
def test_a_shell_reads_it_as_it_was(text: str) -> None:
    read = subprocess.run(["sh", "-c", f"printf '<%s>' {word(text)}"], capture_output=True, check=True)
    assert read.stdout.decode() == f"<{text}>"
