"""The trailers of a commit: under whose leases its paths were changed. Declarations, not signatures.

    Lock-Agent: alice
    Lock-Lease: 85ab310262fe store=9d0f3c1a7be24466 fence=40 schema:main src/auth/* !src/auth/gen/**
    Lock-Bypass: the build is broken, and alice is away

A claim is its semantic keys, its patterns, and its exclusions, each of these behind a ``!``; words are separated by one
space. A word with a colon is a key. A pattern is quoted as git quotes names (``"…"`` with octal bytes, and a backslash
before quotes and backslashes) where it holds a space, a quote, a backslash, a colon or anything but printable ASCII, or
begins with a ``!``. So every claim comes back as it was, in any encoding of the message. A claim that makes a long line
is spread over several, each with all exclusions: together they cover the same.

Receipts are read wherever in a message they stand, since squash merges move trailers, and may be indented. A Lock-Agent
line is about the lines below it, until the next one.
"""

from gitlock.domain.agent import valid_agent
from gitlock.domain.lease import EPOCH_LIMIT, EPOCH_STEP
from gitlock.domain.pattern import parse_pattern
from gitlock.domain.signing import BARE, NAMES, Receipt, plain_reason, quoted, rendered
from gitlock.domain.value import Value
from gitlock.errors import GitlockError, UsageError

__all__ = ["Declared", "Receipt", "declared", "parts", "quoted", "rendered"]

LONG = 1 << 20  # characters of a message; of a longer one, only the lines that may say something are made
TELLING_LIMIT = 100_000  # of these lines
RECEIPTS_LIMIT = 10_000  # receipts of one message
WORD_LIMIT = 24_000  # characters of a quoted pattern: the longest, all of it escaped
LINE_LIMIT = 100_000  # characters; a single argument of a program may be no longer

_SQUASHED = "Squashed commit of the following:"  # how git begins the indented list of what was squashed
_SHORTENED = "this paragraph is too long to be trailers"
_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Declared(Value):
    """What one message says: the agents it names and its receipts, in order and without doubles, and the reasons of
    its bypasses."""

    __slots__ = ("agents", "bypass", "receipts")

    def __init__(
        self, agents: tuple[str, ...] = (), receipts: tuple[Receipt, ...] = (), bypass: tuple[str, ...] = ()
    ) -> None:
        self.agents = agents
        self.receipts = receipts
        self.bypass = bypass


def declared(message: bytes | str) -> Declared:
    """What a message declares. Whatever is not written exactly as ``rendered`` writes it is passed over."""
    return _read(_lines(message))


def parts(message: bytes | str) -> tuple[Declared, Declared]:
    """What the trailers of a message declare, as `git interpret-trailers` finds them (its last paragraph); and what
    stands elsewhere in the message of a commit that was squashed of several. A log that is merely quoted is neither."""
    lines = _lines(message)
    at = _trailers_at(lines)
    own = [line for line in lines[at:] if line[:1] not in (" ", "\t")]
    is_list = any(line.startswith(_SQUASHED) for line in lines[:at])
    return _read(own), _read(lines[:at] if is_list else [line for line in lines[:at] if line[:1] not in (" ", "\t")])


def _lines(message: bytes | str) -> list[str]:
    text = message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")
    if len(text) <= LONG:
        return text.split("\n")
    body, _, tail = text.rstrip().rpartition("\n\n")
    return [*_telling(body), "", *(tail.split("\n") if len(tail) <= LONG else [*_telling(tail), _SHORTENED])]


def _telling(text: str) -> list[str]:
    """The lines of a long text that may say something to us, found without making all of them."""
    found = []
    lower = text.lower() + "\n"
    if len(lower) != len(text) + 1:
        lower = text.replace("L", "l") + "\n"  # a letter whose small form is longer
    at = 0
    if "\n" + _SQUASHED in "\n" + text:
        found.append(_SQUASHED)
    while (at := lower.find("lock-", at)) >= 0:
        start = lower.rfind("\n", 0, at) + 1
        end = lower.find("\n", at)
        if not lower[start:at].strip(" \t"):
            found.append(text[start:end])
        at = end
        if len(found) > TELLING_LIMIT:
            raise GitlockError(f"a commit's message has more than {TELLING_LIMIT} lines that begin with 'lock-'",
                               id="message-too-long")  # fmt: skip
    return found


def _trailers_at(lines: list[str]) -> int:
    """Where the trailers of a message begin; behind its end where it has none. They are a last paragraph, below the
    subject, that holds nothing else; or one of git's own among them, and they are a quarter of it
    (git-interpret-trailers(1))."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    if not start:
        return len(lines)
    trailers = others = 0
    is_gits = False
    for line in lines[start:end]:
        name, colon, _ = line.partition(":")
        if line.startswith(("Signed-off-by: ", "(cherry picked from commit ")):
            is_gits = True
            trailers += 1
        elif colon and name.rstrip().replace("-", "a").isalnum() and name.isascii():
            trailers += 1
        elif line[:1] not in (" ", "\t"):
            others += 1
    fits = trailers and (not others or (is_gits and trailers * 3 >= others))
    return start if fits else len(lines)


def _read(lines: list[str]) -> Declared:
    agents: dict[str, None] = {}
    bypass: dict[str, None] = {}
    found: dict[Receipt, None] = {}
    agent = ""
    last: Receipt | None = None
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.strip(" \t").lower()
        if not colon or name[:5] != "lock-":
            continue
        value = value.strip(" \t\r")
        if name == "lock-agent":
            agent = _agent(value)
            if agent:
                agents[agent] = None
            last = None
        elif name == "lock-bypass":
            bypass[plain_reason(value) or "no reason was given"] = None
        elif name == "lock-lease" and len(found) < RECEIPTS_LIMIT:
            receipt = _receipt(value, agent)
            if receipt is None:
                continue
            if last is not None and receipt.replace(include=()) == last.replace(include=()):
                del found[last]  # one claim, spread over several lines
                more = [text for text in receipt.include if text not in set(last.include)]
                receipt = receipt.replace(include=(*last.include, *more))
            found[receipt] = None
            last = receipt
    return Declared(tuple(agents), tuple(found), tuple(bypass))


def _agent(value: str) -> str:
    try:
        return valid_agent(value)
    except UsageError:
        return ""


def _receipt(value: str, agent: str) -> Receipt | None:
    if len(value) > LINE_LIMIT or not value.isascii():
        return None
    lease, _, rest = value.partition(" ")
    store, _, rest = rest.partition(" ")
    fence, _, claim = rest.partition(" ")
    number = fence[6:]
    if not (0 < len(lease) <= 64 and _ID.issuperset(lease)) or store[:6] != "store=" or fence[:6] != "fence=":
        return None
    store = store[6:]
    if not (0 < len(store) <= 64 and _ID.issuperset(store)) or not (number.isdigit() and len(number) < 17):
        return None
    if not 0 < int(number) < EPOCH_STEP * EPOCH_LIMIT:
        return None
    try:
        keys, include, exclude = _claim(claim)
    except (ValueError, UsageError):
        return None
    return Receipt(
        lease=lease, store=store, fence=int(number), keys=keys, include=include, exclude=exclude, agent=agent
    )


def _claim(text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Keys, patterns and exclusions; ``ValueError`` or ``UsageError`` unless every word is one of them."""
    from gitlock.domain.key import looks_like_key  # who writes receipts does without

    keys: list[str] = []
    include: list[str] = []
    exclude: list[str] = []
    at = 0
    while at < len(text):
        out = text[at] == "!"
        at += out
        if text[at : at + 1] == '"':
            word, at = _unquoted(text, at)
        else:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            word, at = text[at:end], end
            if not out and ":" in word:
                if not looks_like_key(word):
                    raise ValueError(word)
                keys.append(word)
                word = ""
            elif not word or word[0] == "!" or not BARE.issuperset(word):
                raise ValueError(word)
        if word:
            if parse_pattern(word).text != word:
                raise ValueError(word)
            (exclude if out else include).append(word)
        if at < len(text):
            if text[at] != " " or at + 1 == len(text):
                raise ValueError(text)
            at += 1
    if not keys and not include:
        raise ValueError(text)
    return tuple(keys), tuple(include), tuple(exclude)


def _unquoted(text: str, start: int) -> tuple[str, int]:
    """The word whose quote begins at ``start``, and where it has ended."""
    out = bytearray()
    at = start + 1
    while at < len(text) and at - start < WORD_LIMIT:
        char = text[at]
        if char == '"':
            return out.decode("utf-8", "surrogateescape"), at + 1
        at += 1
        if char != "\\":
            out += char.encode("ascii")
            continue
        letter = text[at : at + 1]
        if letter in NAMES:
            out.append(NAMES[letter])
            at += 1
        else:
            octal = text[at : at + 3]
            if len(octal) != 3 or not frozenset("01234567").issuperset(octal) or octal > "377":
                raise ValueError(octal)
            out.append(int(octal, 8))
            at += 3
    raise ValueError(text)
