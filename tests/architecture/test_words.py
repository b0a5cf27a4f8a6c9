"""What no file of this project may say: where it was written, where packages come from, what is left undone."""

import re

import pytest

from tests.architecture.source import ROOT, project_files


def _joined(text: str) -> str:
    """The words are written with a ~ inside, so that this file does not break its own rule."""
    return text.replace("~", "")


FORBIDDEN = {
    "a path of somebody's machine": _joined(r"(?<![\w.\-])/(?:wo~rk|ro~ot|fa~rm|tmp/d~ev)/"),
    "the host of a package registry": _joined(
        r"\b(?:py~pi\.org|python~hosted\.org|np~mjs\.(?:org|com)|d~eb\.debian\.org|cra~tes\.io)\b"
    ),
    "something left undone": _joined(r"\b(?:TO~DO|FIX~ME|XX~X)\b"),
    "how it was worked on": _joined(r"(?i)\b(?:ses~sion \d+|iss~ue #\w*|pull re~quest #\w*)"),
}


def _lines_that_say(pattern: str) -> list[str]:
    found = []
    for name in project_files():
        content = (ROOT / name).read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{name}:{number}: {line.strip()[:120]}")
    return found


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    found = _lines_that_say(FORBIDDEN[what])
    assert not found, f"{what}:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a path of somebody's machine", "see /ro~ot/x"),
        ("the host of a package registry", "https://py~pi.org/simple"),
        ("something left undone", "# TO~DO: later"),
        ("how it was worked on", "fixes iss~ue #12"),
    ],
)
def test_a_planted_word_is_seen(what: str, text: str) -> None:
    assert re.search(FORBIDDEN[what], _joined(text))
