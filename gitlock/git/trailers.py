"""Commit messages as git reads them: which rows are text, and trailers added by git's own machinery."""

from gitlock.domain.value import Value
from gitlock.git.process import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git

_CUT = b" ------------------------ >8 ------------------------"
_CHOICES = b"#;@!$%^&|:"  # what core.commentChar=auto chooses from, in git's order


class Comments(Value):
    """What begins a comment line; empty where nothing does, since no editor was opened and git keeps every line."""

    __slots__ = ("lead",)

    def __init__(self, lead: bytes) -> None:
        self.lead = lead


NONE = Comments(b"")


def comments_of(git: "Git", message: bytes) -> Comments:
    """Those of a message that is edited: ``core.commentChar``, and where that is ``auto``, what the rows at the end of
    the message begin with."""
    status, out, _ = git.try_run("config", "-z", "--get-regexp", r"^core\.comment(char|string)$")
    rows = out.split(b"\0")[:-1] if status == 0 else []
    lead = rows[-1].partition(b"\n")[2] if rows else b"#"
    if lead == b"auto":
        last = message.rstrip().rpartition(b"\n")[2]
        lead = last[:1] if last[:1] and last[:1] in _CHOICES else b"#"
    return Comments(lead or b"#")


def text_rows(message: bytes, comments: Comments) -> list[bytes]:
    """The rows that will be in the commit: no comments, nothing below a scissors line, no blank ones."""
    rows = []
    for row in message.split(b"\n"):
        if comments.lead and row.startswith(comments.lead):
            if row.rstrip() == comments.lead + _CUT:
                break
            continue
        if row.strip():
            rows.append(row.rstrip())
    return rows


def add_trailers(git: "Git", path: str, message: bytes, lines: tuple[str, ...], comments: Comments) -> None:
    """Adds these trailers at the end of the message in the file; ``message`` is what it holds."""
    settings = ["-c", "trailer.separators=:"]  # the user's may hold one that stands in our values
    if not comments.lead:
        starts = {row[:1] for row in message.split(b"\n")}
        free = next((char for char in "#;@!$%^&|:" if char.encode() not in starts), "#")
        settings += ["-c", f"core.commentChar={free}"]
    elif len(comments.lead) == 1 and comments.lead.isascii():
        settings += ["-c", f"core.commentChar={comments.lead.decode()}"]  # where it was "auto", git would not know
    words: list[str] = []
    for line in lines:
        words += ("--trailer", line)
    # --no-divider: a line "---" is text in a commit's message.
    status, _, err = git.try_run(
        *settings, "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "add",
        "--if-missing", "add", *words, path,
    )  # fmt: skip
    if status:
        raise failure(("interpret-trailers",), status, err)
