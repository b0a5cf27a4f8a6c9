"""``git lock note``: the one file that all who work on a branch share."""

import os

from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, warning
from gitlock.entrypoints.wording import clock, stamp, visible
from gitlock.errors import RepositoryError, UsageError
from gitlock.stores.files.notes import TEXT_LIMIT, Note, NoteBook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.wiring.site import Site


def answer(given: Given) -> Answer:
    """Prints the branch's note, or replaces it whole."""
    ways = [name for name in ("set", "file") if given.text(name) is not None]
    if len(ways) > 1 or (ways and (given.flag("history") or given.flag("raw"))):
        raise UsageError("--set, --file and --history exclude one another, and --raw is for reading")
    site = site_of(given)
    branch = _branch(given, site)
    book = NoteBook(site.store.layout)
    if ways:
        return _replaced(given, site, book, branch)
    if given.flag("history"):
        return _versions(site, book, branch)
    note = book.read(branch)
    if note is None:
        nothing: dict[str, object] = {"branch": envelope.name(branch), "note": None}
        hint = f"hint: git lock note --branch {visible(branch)} --set TEXT"
        return Answer(notes=[f"'{visible(branch)}' has no note", hint], data=nothing)
    by = f"note of '{visible(branch)}', by {visible(note.agent)} at {clock(note.at, site.now().wall)}"
    data = {"branch": envelope.name(branch), "note": note_json(note)}
    if given.flag("raw"):
        return Answer(raw=note.text.encode("utf-8", "surrogateescape"), notes=[by], data=data)
    return Answer(lines=shown_lines(note.text), notes=[by], data=data)


def shown_lines(text: str) -> list[str]:
    """Somebody else's text, line by line, with whatever could move a cursor or hide something escaped."""
    body = text.removesuffix("\n")
    return ["\t".join(visible(part) for part in line.split("\t")) for line in body.split("\n")] if body else []


def note_json(note: Note) -> dict[str, object]:
    """A note, or one that it was."""
    shape = {"text": envelope.name(note.text), "agent": note.agent, "at": stamp(note.at)}
    return {**shape, **envelope.raw([note.text])}


def _branch(given: Given, site: "Site") -> str:
    named = given.text("branch")
    git = site.repository.git
    if named is not None:
        full = named if named.startswith("refs/heads/") else f"refs/heads/{named}"
        if git.try_run("check-ref-format", full)[0] != 0 or named.startswith("-"):
            raise UsageError(f"'{visible(named)}' can't be the name of a branch", hint="git branch --list")
        return full.removeprefix("refs/heads/")
    found = git.line("symbolic-ref", "-q", "HEAD")
    if found is None or not found.startswith("refs/heads/"):
        raise RepositoryError(
            "no branch is checked out here (HEAD is detached), so it is not known whose note is meant",
            hint="git lock note --branch NAME", id="no-branch",
        )  # fmt: skip
    return found.removeprefix("refs/heads/")


def _replaced(given: Given, site: "Site", book: NoteBook, branch: str) -> Answer:
    text = given.text("set")
    if text is None:
        text = _read(given.text("file") or "-")
    elif text and not text.endswith("\n"):
        text += "\n"
    now = site.now().wall
    note = Note(branch, text, site.agent.id, site.agent.kind, now)
    replaced = book.has(branch)
    book.write(note)
    notes = []
    if site.repository.git.try_run("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")[0] != 0:
        notes.append(warning(f"there is no branch '{visible(branch)}' yet"))
    size = len(text.encode("utf-8", "surrogateescape"))
    lines = [f"the note of '{visible(branch)}' is {'replaced' if replaced else 'set'} ({size} bytes)"]
    if replaced:
        lines.append(f"  what it was: git lock note --branch {word(branch)} --history")
    return Answer(lines=lines, notes=notes, data={"branch": envelope.name(branch), "note": note_json(note)})


def _read(path: str) -> str:
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            data = file.read(TEXT_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"can't read '{visible(path)}': {error.strerror}") from None
    if len(data) > TEXT_LIMIT:
        size = f"more than {TEXT_LIMIT}" if path == "-" else str(os.stat(path).st_size)
        raise UsageError(
            f"the text has {size} bytes, and a note may have {TEXT_LIMIT}",
            hint="put it into a file, commit that, and name it in the note",
        )
    return data.decode("utf-8", "surrogateescape")


def _versions(site: "Site", book: NoteBook, branch: str) -> Answer:
    found, fault = book.versions(branch)
    notes = [warning(f"some history is missing: {fault}")] if fault else []
    now = site.now().wall
    lines = []
    for note in found:
        lines += [f"{visible(note.agent)} at {clock(note.at, now)}:", *("    " + row for row in shown_lines(note.text))]
    data = {
        "branch": envelope.name(branch), "versions": [note_json(one) for one in found], "complete": fault is None,
    }  # fmt: skip
    return Answer(lines=lines or [f"'{visible(branch)}' never had a note"], notes=notes, data=data)


COMMAND = Command(
    "note",
    "the one file that a branch's agents share",
    answer,
    text=(
        "Prints the note of the branch that is checked out. There is exactly one for each branch; it is replaced "
        "whole, the last writer wins, and what it was stays in history. Control characters are shown escaped, as the "
        "text is somebody else's; --raw prints it as it is."
    ),
    options=(
        Option("-b", "--branch", kind=VALUE, metavar="BRANCH", help="The note of another branch."),
        Option("--set", kind=VALUE, metavar="TEXT", help="Replace it by TEXT."),
        Option("-F", "--file", kind=VALUE, metavar="FILE", help="Replace it by what is in FILE ('-': standard input)."),
        Option("--history", help="Every text that it had, oldest first."),
        Option("--raw", help="Print the text byte for byte, and nothing escaped."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.UNCHECKED),
    examples=("git lock note", "git lock note --set 'the API of src/auth is frozen'", "git lock note -F plan.md"),
)
