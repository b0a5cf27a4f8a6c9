"""``git lock install-man``: the manual page for installers that leave it out, so that ``git lock --help`` opens it."""

import os

from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, UnsafeError
from gitlock.templates import read_template
from gitlock.wiring.manual import PAGE, belongs_to_installer, is_searched, page_place

MARK = b"the manual page of git-lock"  # in the first line of every page that we made


def answer(given: Given) -> Answer:
    """Puts the page in its place, or takes it away."""
    place = page_place(given.arguments[0] if given.arguments else None)
    there = _content(place)
    if there is not None and MARK not in there.partition(b"\n")[0]:
        raise UnsafeError(f"'{place}' is a page that git-lock did not write", hint=f"ls -l {word(place)}")
    return _remove(place, there) if given.flag("remove") else _install(place, there)


def _install(place: str, there: bytes | None) -> Answer:
    page = _page()
    changed = there != page
    if changed:
        if there is not None and belongs_to_installer(place):
            raise UnsafeError(
                f"'{place}' belongs to another installation of git-lock, and is not the page of this one",
                hint="git lock --version",
            )
        _write(place, page)
    lines = [f"{'installed' if changed else 'already there:'} {visible(place)}"]
    notes = []
    if is_searched(place):
        lines.append("git lock --help opens it")
    else:
        root = os.path.dirname(os.path.dirname(place))
        notes = [warning(f"man does not look in '{visible(root)}'"), hint(f'export MANPATH={word(root)}:"$MANPATH"')]
    return Answer(lines=lines, notes=notes, data={"path": envelope.name(place), "changed": changed})


def _remove(place: str, there: bytes | None) -> Answer:
    if there is None:
        fault = envelope.error("no-such-page", f"there is no manual page at '{visible(place)}'", "git lock install-man")
        return Answer(exitcodes.ERROR, fault=fault, data={"path": envelope.name(place), "changed": False})
    if belongs_to_installer(place):
        raise UnsafeError(f"'{place}' was put there together with the program, and goes away with it")
    try:
        os.unlink(place)
    except OSError as error:
        raise GitlockError(f"can't remove '{place}': {error.strerror}") from None
    return Answer(lines=[f"removed {visible(place)}"], data={"path": envelope.name(place), "changed": True})


def _page() -> bytes:
    try:
        return read_template(PAGE).encode()
    except FileNotFoundError:
        raise GitlockError(
            "this installation of git-lock has no manual page", hint="git lock -h", id="no-such-page"
        ) from None


def _content(place: str) -> bytes | None:
    try:
        with open(place, "rb") as file:
            return file.read(1 << 20)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GitlockError(f"can't read '{place}': {error.strerror}") from None


def _write(place: str, page: bytes) -> None:
    from gitlock.stores.files.atomic import replace_file

    folder = os.path.dirname(place)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise GitlockError(
            f"can't make '{folder}': {error.strerror}", hint="git lock install-man ~/.local/share/man"
        ) from None
    try:
        replace_file(place, page, 0o644)
    except GitlockError as error:
        raise GitlockError(error.message, hint="git lock install-man ~/.local/share/man") from None


COMMAND = Command(
    "install-man",
    "put the manual page where man looks",
    answer,
    text=(
        "Puts git-lock.1 where `man` looks, so that `git lock --help` opens it: into DIR (a folder that holds man1), "
        "or beside the program. Needed only where the installer leaves manual pages out, as `uv tool install` does."
    ),
    arguments="[DIR]",
    most=1,
    options=(Option("--remove", help="Take it away again."),),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.USAGE, exitcodes.REFUSED),
    examples=("git lock install-man", "git lock install-man ~/.local/share/man", "git lock install-man --remove"),
)
