"""``git lock trust``: a person approves the set-up commands of a repository."""

import os

from gitlock.domain.policy import MAP_FILE
from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.approving import SHORT, setup_at
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import VALUE, Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, write
from gitlock.entrypoints.wording import clock, stamp, visible
from gitlock.errors import UnsafeError, UsageError
from gitlock.git.changes import resolve_commit
from gitlock.stores.files.layout import Layout
from gitlock.stores.files.trusted import Approval, TrustBook
from gitlock.stores.opening import masked
from gitlock.wiring.bystanders import why_no_person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.usecases.spawning.trusting import Setup
    from gitlock.wiring.site import Site

LEAST = 6  # characters of a digest that name it
YES = "yes"


class Subject(Value):
    """What is to be approved: the set-up of the map file ``path`` as of ``commit``."""

    __slots__ = ("commit", "path", "setup")

    def __init__(self, path: str, commit: str, setup: "Setup") -> None:
        self.path = path
        self.commit = commit
        self.setup = setup


def answer(given: Given) -> Answer:
    """Shows the commands and asks; or lists approvals, or takes one back."""
    chosen = [name for name in ("list", "revoke") if given.values.get(name)]
    if chosen and (given.arguments or given.text("at") or len(chosen) > 1):
        raise UsageError(f"--{chosen[0]} stands alone", hint=f"git lock trust --{chosen[0]}")
    site = site_of(given)
    book = TrustBook(Layout(site.folder, site.store.layout.shared))
    if given.flag("list"):
        return _listed(site, book)
    revoked = given.text("revoke")
    if revoked is not None:
        return _revoked(book, revoked)
    subject = _subject(site, book, given.arguments[0] if given.arguments else None, given.text("at") or "HEAD")
    if not subject.setup.commands:
        line = f"nothing to trust: {visible(subject.path)} at {subject.commit[:SHORT]} has no set-up commands"
        return Answer(lines=[line], data=_data(book, subject, "none"))
    if subject.setup.trusted:
        line = f"already trusted: {_what(subject)} ({subject.setup.digest[:SHORT]})"
        return Answer(lines=[line], data=_data(book, subject, "already"))
    _require_person(site)
    _show(site, subject)
    write(2, f"Run these in every new worktree of this clone? Type '{YES}' to trust them: ")
    if _typed() != YES:
        fault = envelope.error("not-trusted", "nothing was trusted", f"git lock trust --at {subject.commit[:SHORT]}")
        return Answer(exitcodes.REFUSED, fault=fault, data=_data(book, subject, "declined"))
    source = f"{subject.path} at {subject.commit[:SHORT]}"
    book.add(
        Approval(
            subject.setup.digest, commands=subject.setup.commands, source=source, by=site.agent.id, at=site.now().wall
        )
    )
    lines = [f"trusted {_what(subject)} ({subject.setup.digest[:SHORT]}); git lock spawn runs them from now on"]
    notes = [hint(f"to take it back: git lock trust --revoke {subject.setup.digest[:SHORT]}")]
    return Answer(lines=lines, notes=notes, data=_data(book, subject, "trusted"))


def _subject(site: "Site", book: TrustBook, file: str | None, at: str) -> Subject:
    git = site.repository.git
    try:
        commit = resolve_commit(git, at)
    except UsageError:
        if at != "HEAD":
            raise
        raise UsageError(
            "there is no commit here yet, and what is committed counts", hint=f"git add {MAP_FILE} && git commit",
            id="unborn",
        ) from None  # fmt: skip
    path = MAP_FILE if file is None else _below_top(site, file)
    if file is not None and git.try_run("cat-file", "-e", f"{commit}:{path}")[0]:
        raise UsageError(
            f"'{path}' is not in the commit {commit[:SHORT]}; what is committed counts",
            hint=f"git add {word(path)} && git commit",
        )
    return Subject(path, commit, setup_at(site, book, commit, path))


def _below_top(site: "Site", file: str) -> str:
    top = site.repository.top or ""
    place = os.path.normpath(os.path.join(top, site.repository.prefix, file))
    path = os.path.relpath(place, top or os.curdir)
    if path.startswith(".."):
        raise UsageError(f"'{file}' is not in this worktree")
    return path


def _require_person(site: "Site") -> None:
    why = why_no_person(site.agent, site.environ)
    if why is not None:
        raise UnsafeError(
            f"only a person can trust set-up commands, and {why}",
            hint="a person runs, in a terminal of their own: git lock trust", id="not-a-person",
        )  # fmt: skip
    if not (os.isatty(0) and os.isatty(2)):
        raise UnsafeError(
            "trust is given by a person at a terminal, and there is none here",
            hint="run it in a terminal, without redirection: git lock trust", id="no-terminal",
        )  # fmt: skip


def _show(site: "Site", subject: Subject) -> None:
    origin = site.repository.git.line("config", "--get", "remote.origin.url")
    write(2, f"{visible(subject.path)} at {subject.commit[:SHORT]} wants these commands run in new worktrees:")
    write(2, "")
    for command in subject.setup.commands:
        write(2, f"    {visible(command)}")
    write(2, "")
    if subject.setup.files:
        write(2, "They name these files, whose content is trusted with them (not what those run in turn):")
        for path, blob in subject.setup.files:
            write(2, f"    {visible(path)}  (git cat-file blob {blob[:SHORT]})")
        write(2, "")
    write(2, f"Clone:  {visible(site.repository.common_dir)}")
    write(2, f"Origin: {visible(masked(origin)) if origin else 'none'} (only shown: it proves nothing)")


def _typed() -> str:
    """A line from the terminal, without spaces around it."""
    data = b""
    while not data.endswith(b"\n") and len(data) < 1024:
        chunk = os.read(0, 1024)
        if not chunk:
            break
        data += chunk
    return data.decode("utf-8", "replace").strip()


def _what(subject: Subject) -> str:
    count = len(subject.setup.commands)
    return f"{count} set-up command{'' if count == 1 else 's'} of {visible(subject.path)}"


def _listed(site: "Site", book: TrustBook) -> Answer:
    lines = []
    for one in book.all():
        lines.append(
            f"{one.digest[:SHORT]}  {visible(one.source, 60)}, by {visible(one.by)}, {clock(one.at, site.now().wall)}"
        )
        lines += [f"    {visible(command)}" for command in one.commands]
    return Answer(lines=lines or ["nothing is trusted in this clone"], data=_data(book, None, None))


def _revoked(book: TrustBook, digest: str) -> Answer:
    found = [one for one in book.all() if one.digest.startswith(digest)] if len(digest) >= LEAST else []
    if len(found) != 1:
        said = f"names {len(found)} approvals" if found else f"names no approval (at least {LEAST} characters of one)"
        raise UsageError(f"'{digest}' {said}", hint="git lock trust --list")
    book.remove(found[0].digest)
    return Answer(
        lines=[f"no longer trusted: {found[0].digest[:SHORT]}, {visible(found[0].source, 60)}"],
        data={**_data(book, None, None), "revoked": found[0].digest},
    )


def _data(book: TrustBook, subject: Subject | None, state: str | None) -> dict[str, object]:
    texts = [one for approval in book.all() for one in approval.commands]
    shown = None
    if subject is not None:
        texts += [subject.path, *subject.setup.commands, *(path for path, _ in subject.setup.files)]
        shown = {
            "file": envelope.name(subject.path),
            "commit": subject.commit,
            "commands": [envelope.name(text) for text in subject.setup.commands],
            "files": [{"path": envelope.name(path), "blob": blob} for path, blob in subject.setup.files],
            "digest": subject.setup.digest,
        }
    return {
        "setup": shown,
        "state": state,
        "trusted": [
            {
                "digest": one.digest,
                "commands": [envelope.name(text) for text in one.commands],
                "source": envelope.name(one.source),
                "by": envelope.name(one.by),
                "at": stamp(one.at),
            }
            for one in book.all()
        ],
        "revoked": None,
        **envelope.raw(texts),
    }


COMMAND = Command(
    "trust",
    "a person approves set-up commands",
    answer,
    text=(
        f"Shows the set-up commands of {MAP_FILE} (or FILE) as of HEAD, and asks whether new worktrees of this clone "
        "may run them. Trust is for exactly this content, the files that the commands name included: one byte "
        "changed, and it is gone. Only a person at a terminal can give it; an agent is refused."
    ),
    arguments="[FILE]",
    most=1,
    options=(
        Option("--at", kind=VALUE, metavar="COMMIT", help="As of this commit (HEAD)."),
        Option("--list", help="What is trusted in this clone."),
        Option("--revoke", kind=VALUE, metavar="ID", help="Take an approval back."),
    ),
    codes=(exitcodes.DONE, exitcodes.USAGE, exitcodes.REFUSED),
    examples=("git lock trust", "git lock trust --list", "git lock trust --revoke 5f2c1a9b30"),
)
