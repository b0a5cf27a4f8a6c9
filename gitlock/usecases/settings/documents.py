"""One settings file as a document with or without us: JSON, or (OpenCode) a plugin that is ours as a whole."""

from gitlock.digest import sha256_hex
from gitlock.domain import registering
from gitlock.domain.jsonc import Broken
from gitlock.domain.programs import PLUGIN
from gitlock.domain.quoting import word
from gitlock.domain.registering import ABSENT, BLANK, INCOMPLETE, SET_UP, Looked, Marks, Odd
from gitlock.templates import read_template
from gitlock.usecases.settings.disk import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.programs import Place, Program

BROKEN = "broken"

PLUGIN_FILE = "agents/opencode.ts"
_MARK = "// git-lock setup wrote this file, and keeps it up to date as long as nobody changes it: sha256 "
_BY_HAND = "changed by hand, so setup leaves it as it is"


def look(program: "Program", place: "Place", data: bytes) -> Looked:
    """What the file says of us; ``broken`` with a reason where it can't be read as what it should be."""
    if program.shape == PLUGIN:
        return _look_at_plugin(data)
    text, why = _decoded(data)
    if text is None:
        return Looked(BROKEN, why)
    if not text.strip(BLANK):
        return Looked(ABSENT)
    try:
        return registering.look(program, place, text)
    except Broken as broken:
        return Looked(BROKEN, _where(broken))


def with_us(
    program: "Program", place: "Place", data: bytes | None, marks: Marks, path: str
) -> tuple[bytes, Marks]:
    """The file with everything of ours; the same bytes where nothing is to be done. ``UnsafeError`` (with ``path``)
    where nothing can be added without doubt."""
    if program.shape == PLUGIN:
        return _plugin_over(data, path), marks
    if data is None:
        text, marks = registering.put(program, place, "{}\n", Marks())
        return text.encode(), marks
    text_or_none, why = _decoded(data)
    if text_or_none is None:
        raise Refused(path, why, hint=f"ls -l {word(path)}", id="settings-broken")
    try:
        text, marks = registering.put(program, place, text_or_none, marks)
    except Broken as broken:
        raise Refused(path, _where(broken), id="settings-broken", hint=_mend(path, broken.line)) from None
    except Odd as odd:
        what = f"can't be added to: {odd.what} (line {odd.line})"
        raise Refused(path, what, id="settings-broken", hint=_mend(path, odd.line)) from None
    return text.encode("utf-8", "surrogatepass"), marks


def without_us(
    program: "Program", place: "Place", data: bytes, marks: Marks | None, path: str, *, made: bool
) -> bytes | None:
    """The file without us; None where nothing is left of one that we ``made``."""
    if program.shape == PLUGIN:
        looked = _look_at_plugin(data)
        if looked.why == _BY_HAND:
            raise Refused(path, "is ours, but somebody has changed it", hint=f"rm {word(path)}", id="settings-changed")
        return data if looked.state == ABSENT else None
    text, why = _decoded(data)
    if text is None:
        raise Refused(path, why, hint=f"ls -l {word(path)}", id="settings-broken")
    try:
        left = registering.take(program, place, text, marks)
        if made and left != text and registering.is_bare(program, left):
            return None
    except Broken as broken:
        raise Refused(path, _where(broken), id="settings-broken", hint=_mend(path, broken.line)) from None
    except Odd as odd:
        what = f"can't be taken out of: {odd.what} (line {odd.line})"
        raise Refused(path, what, id="settings-broken", hint=_mend(path, odd.line)) from None
    return left.encode("utf-8", "surrogatepass")


def by_hand(program: "Program", place: "Place") -> str:
    """The whole document of a project that has nothing but us, for whoever adds it by hand."""
    if program.shape == PLUGIN:
        return plugin().decode()
    return registering.fresh(program, place)


def plugin() -> bytes:
    """OpenCode's plugin of this version: a line that says whose it is, then the template."""
    body = read_template(PLUGIN_FILE).encode()
    return f"{_MARK}{sha256_hex(body)}\n".encode() + body


def _look_at_plugin(data: bytes) -> Looked:
    data = data.replace(b"\r\n", b"\n")  # as git may check a shared one out
    head, _, body = data.partition(b"\n")
    if not head.startswith(_MARK.encode()):
        return Looked(ABSENT)
    if head[len(_MARK) :].strip() != sha256_hex(body).encode():
        return Looked(SET_UP, _BY_HAND)
    return Looked(SET_UP) if data == plugin() else Looked(INCOMPLETE, "it is of another version")


def _plugin_over(data: bytes | None, path: str) -> bytes:
    if data is None:
        return plugin()
    looked = _look_at_plugin(data)
    if looked.state == ABSENT:
        raise Refused(path, "is a file that git-lock did not write", hint=f"mv {word(path)} {word(path + '.other')}")
    return data if looked.state == SET_UP else plugin()


def _decoded(data: bytes) -> tuple[str | None, str]:
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, f"is not UTF-8 (line {line}, byte {error.start + 1})"


def _where(broken: Broken) -> str:
    return f"is no JSON that can be read: {broken.what} (line {broken.line}, column {broken.column})"


def _mend(path: str, line: int) -> str:
    return f"mend it, and run this again: sed -n {line}p {word(path)}"
