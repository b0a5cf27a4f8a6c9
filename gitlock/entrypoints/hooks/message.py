"""Receipts into the commit message: the trailers that the gate has left for it.

prepare-commit-msg adds them where the message already has text, commit-msg where they are not there yet. A message
without text stays without: git then makes no commit, as the author wants. Nothing here ever stops one.

The stub does the plain case itself (``-m`` and ``-F``, no receipts in the text yet), with git alone.
"""

import os

from gitlock.entrypoints.hooks.marker import (
    drop_receipt,
    git_pid,
    judged_by_this_git,
    keep_template,
    kept_template,
    receipt_left,
)
from gitlock.entrypoints.hooks.voice import say
from gitlock.entrypoints.wording import visible
from gitlock.errors import GitlockError, RepositoryError
from gitlock.git.trailers import NONE, Comments, add_trailers, comments_of, text_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.entrypoints.hooks.setting import Setting

MESSAGE_LIMIT = 16 << 20  # bytes
_OURS = (b"lock-agent:", b"lock-lease:", b"lock-bypass:")
_NO_TEXT = (b"signed-off-by:", *_OURS)  # git does not count the first as text either


def before_message(setting: "Setting", path: str, source: list[str]) -> None:
    """prepare-commit-msg, once the commit was found good; ``source`` is what git says of where the message is from."""
    git_dir, environ = setting.repository.git_dir, setting.environ
    lines = setting.receipt or receipt_left(git_dir, environ)
    try:
        if source == ["commit", "HEAD"]:
            lines = _with_all_of_the_amended(setting, lines)
        if not lines:
            return
        message = _read(path)
        if source == ["template"]:
            # Git makes no commit of a template that nobody has edited: commit-msg will compare.
            keep_template(git_dir, environ, message)
            return
        edited = environ.get("GIT_EDITOR") != ":"
        comments = comments_of(setting.repository.git, message) if edited or not source else NONE
        if _has_text(message, comments):
            _sign(setting, path, message, lines, comments)
    except (GitlockError, OSError) as error:
        _complain(error)
        drop_receipt(git_dir)


def after_message(setting: "Setting", path: str) -> int:
    """commit-msg: the message as its author has left it."""
    if not setting.managed:
        return 0
    git_dir, environ = setting.repository.git_dir, setting.environ
    try:
        lines = receipt_left(git_dir, environ)
        if not lines and not judged_by_this_git(git_dir, environ):
            lines = _made_now(setting)
        if not lines:
            return 0
        message = _read(path)
        edited = environ.get("GIT_EDITOR") != ":"
        comments = comments_of(setting.repository.git, message)
        if _has_text(message, comments):
            template = kept_template(git_dir, environ)
            if template is None or not _is_untouched(message, template, comments):
                _sign(setting, path, message, lines, comments if edited else NONE)
        elif edited:
            _write(path, b"\n".join([row for row in message.split(b"\n") if not row.lower().startswith(_OURS)]))
    except (GitlockError, OSError) as error:
        _complain(error)
    return 0


def _made_now(setting: "Setting") -> tuple[str, ...]:
    """The trailers, where no gate of this git process has left any: a manager may run this hook of ours only."""
    from gitlock.entrypoints.hooks.gate import changed, receipt
    from gitlock.git.operation import operation
    from gitlock.usecases.check import check

    if git_pid(setting.environ) and setting.policy.general_mode(setting.site.agent.kind) == "off":
        return ()
    site = setting.site
    changes, _ = changed("commit-msg", setting, operation(setting.repository.git_dir), None)
    checked = check(
        site.store, changes, agent=site.agent, policy=setting.policy, fold=site.fold, facts=site.facts,
        git=site.repository.git, holder=site.holder, take=False,
        seat_of=site.seat_of,
    )  # fmt: skip
    passes = ("bypass", site.bypass) if site.bypass and checked.decision.violations else None
    return receipt(setting, checked, passes)


def _with_all_of_the_amended(setting: "Setting", lines: tuple[str, ...]) -> tuple[str, ...]:
    """An amend is judged by what it adds; its receipts are those of the whole commit, so that one which was made
    before the claim can be given them."""
    from gitlock.entrypoints.hooks.gate import receipt
    from gitlock.git.changes import empty_tree, staged_against
    from gitlock.usecases.check import check

    git, site = setting.repository.git, setting.site
    if setting.policy.general_mode(site.agent.kind) == "off" or not setting.policy.receipts:
        return lines
    parents = (git.line("rev-list", "--parents", "-1", "HEAD", "--") or "").split()[1:]
    if len(parents) > 1:
        return lines  # what the other side has brought is nobody's work here
    checked = check(
        site.store, staged_against(git, parents[0] if parents else empty_tree(git)), agent=site.agent,
        policy=setting.policy, fold=site.fold, facts=site.facts, git=git, holder=site.holder, take=False,
        seat_of=site.seat_of,
    )  # fmt: skip
    found = receipt(setting, checked, None)
    return (*(lines or found[:1]), *(line for line in found[1:] if line not in lines))


def _sign(setting: "Setting", path: str, message: bytes, lines: tuple[str, ...], comments: Comments) -> None:
    """Adds what is missing. An older receipt of the same lease by the same agent is replaced."""
    head, wanted = lines[0].encode(), [line.encode() for line in lines[1:]]
    ids = {_lease_id(line) for line in wanted} - {b""}
    agent = b""
    there: set[bytes] = set()
    kept = []
    for row in message.split(b"\n"):
        bare = row.rstrip()
        if bare.startswith(b"Lock-Agent:"):
            agent = bare
        if bare in wanted and (agent == head or bare.startswith(b"Lock-Bypass:")):
            there.add(bare)
        elif agent == head and _lease_id(bare) in ids:
            continue
        kept.append(row)
    if all(line in there for line in wanted):
        return
    rest = b"\n".join(kept)
    if rest != message:
        _write(path, rest)
    missing = [line.decode() for line in wanted if line not in there]
    add_trailers(
        setting.repository.git, path, rest, tuple(missing if agent == head else (lines[0], *missing)), comments
    )


def _lease_id(row: bytes) -> bytes:
    return row[12:].partition(b" ")[0] if row.startswith(b"Lock-Lease: ") else b""


def _has_text(message: bytes, comments: Comments) -> bool:
    return any(not row.lower().startswith(_NO_TEXT) for row in text_rows(message, comments))


def _is_untouched(message: bytes, template: bytes, comments: Comments) -> bool:
    """Whether git will find that the template was not edited."""
    rows, first = text_rows(message, comments), text_rows(template, comments)
    rest = rows[len(first) :]
    return rows[: len(first)] == first and all(row.lower().startswith(_NO_TEXT) for row in rest)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        message = file.read(MESSAGE_LIMIT + 1)
    if len(message) > MESSAGE_LIMIT:
        raise RepositoryError("the commit message is too long", id="bad-message")
    return message


def _write(path: str, message: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0))
    try:
        view = memoryview(message)
        while view:
            view = view[os.write(fd, view) :]
    finally:
        os.close(fd)


def _complain(error: GitlockError | OSError) -> None:
    text = error.message if isinstance(error, GitlockError) else error.strerror or "it can't be read"
    say(f"git-lock: warning: the commit goes on without receipts in its message: {visible(text)}")
