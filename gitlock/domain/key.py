"""Keys: the structured names that a claim maps to.

``file:src/auth/login.py`` (a literal path, and all below it), ``glob:src/auth/*`` (a pattern), and semantic keys such
as ``deploy:staging`` that mean whatever the team says they mean.
"""

from gitlock.errors import UsageError

RESERVED = ("path", "file", "glob")  # prefixes that fix how an argument is read; never a semantic key's namespace
KEY_LIMIT = 80  # characters: a key is shown in full in every table

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_CHARACTERS = _LETTERS | frozenset("._-:/")


def looks_like_key(text: str) -> bool:
    """Whether ``text`` has the form ``namespace:name`` of a semantic key."""
    space, colon, name = text.partition(":")
    return bool(colon and space and name) and space not in RESERVED and _fault(text) is None


def semantic_key(text: str) -> str:
    """``text`` itself if it may be a semantic key, else ``UsageError`` that says which rule it breaks."""
    space, colon, name = text.partition(":")
    fault = _fault(text)
    if fault is None and not (colon and space and name):
        fault = "it must have the form namespace:name"
    if fault is None and space in RESERVED:
        fault = f"the namespace '{space}' is taken for paths"
    if fault:
        raise UsageError(f"'{text}' can't be a key: {fault}", id="bad-key")
    return text


def path_key(include: str, literal: str | None) -> str:
    """The key of one included pattern: its literal path, or its text."""
    return f"glob:{include}" if literal is None else f"file:{literal}"


def _fault(text: str) -> str | None:
    if not text or text[0] not in _LETTERS:
        return "it must start with a letter or digit"
    if len(text) > KEY_LIMIT:
        return f"it is longer than {KEY_LIMIT} characters"
    if not _CHARACTERS.issuperset(text):
        return "it may hold only letters, digits and . _ - : /"
    return None
