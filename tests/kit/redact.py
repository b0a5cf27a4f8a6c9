"""What differs between two runs, as placeholders, so that a whole output can be compared.

    redact(result.out, tmp_path) == "alice holds src/login.py until <time>\\n"
"""

import json
import os
import re
from pathlib import Path
from typing import Any

# In this order: the longer form before the form that is a part of it.
_RULES: tuple[tuple[str, str], ...] = (
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC|[+-]\d\d:?\d\d)?", "<time>"),
    (r"\b\d{4}-\d\d-\d\d\b", "<date>"),
    (r"\b[0-2]?\d:[0-5]\d(?::[0-5]\d)?\b", "<clock>"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b[0-9a-f]{64}\b", "<hash>"),
    (r"\b[0-9a-f]{40}\b", "<commit>"),
    (r"\b[0-9a-f]{32}\b", "<token>"),
    (r"\b(pid|process) \d+\b", r"\1 <pid>"),
    (
        r"\b(in|for|after|within|less than) \d+(?:\.\d+)? ?(?:ms|[smhd]|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?)\b",
        r"\1 <span>",
    ),
    # an abbreviated commit or id: hexadecimal, with a digit and a letter, so that words and counts stay
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,31}\b", "<id>"),
)
_COMPILED = tuple((re.compile(pattern), text) for pattern, text in _RULES)


def redact(text: str, *folders: Path, also: dict[str, str] | None = None) -> str:
    """Replaces times, ids, tokens and the given folders; ``also`` maps regular expressions to further placeholders."""
    for folder in folders:
        for form in sorted({str(folder), os.path.realpath(folder)}, key=len, reverse=True):
            text = text.replace(form, "<tmp>")
    home = os.environ.get("HOME")
    if home:
        text = text.replace(home, "<home>")
    for pattern, placeholder in (also or {}).items():
        text = re.sub(pattern, placeholder, text)
    for rule, placeholder in _COMPILED:
        text = rule.sub(placeholder, text)
    return text


# Fields of the JSON whose value differs between two runs, whatever it looks like.
_VARYING = {"id", "token", "pid", "host", "boot", "session", "started", "ppid"}


def redact_json(document: Any, *folders: Path) -> Any:
    """The same for a document: text by its look, and the fields that vary by their name (null stays null)."""
    if isinstance(document, dict):
        return {
            name: f"<{name}>" if name in _VARYING and _is_leaf(value) else redact_json(value, *folders)
            for name, value in document.items()
        }
    if isinstance(document, list):
        return [redact_json(value, *folders) for value in document]
    if isinstance(document, str):
        return redact(document, *folders)
    return document


def redact_json_text(text: str, *folders: Path) -> str:
    """The same for the text of a document, indented for reading."""
    return json.dumps(redact_json(json.loads(text), *folders), indent=2, ensure_ascii=False)


def _is_leaf(value: object) -> bool:
    return value is not None and not isinstance(value, (dict, list))
