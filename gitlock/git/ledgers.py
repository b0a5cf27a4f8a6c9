"""Ledgers on their way: one ref a writer, ``refs/agentlocks/<writer>``, at a commit that holds nothing but the text.

The commit has no parent: a ledger is a statement of now, and nobody needs the earlier ones; so a clone or a fetch never
carries more than one small commit a writer, and the remote's own clean-up drops what was replaced. Every push says
what it replaces (``--force-with-lease``), and no writer touches another's ref.

What is fetched lies under ``refs/agentlocks-remote/<remote>/``, there at the text itself instead of a commit: `git log
--all` shows history, and this is none. The commit can be made again from the text, since nothing of it depends on who
makes it where; that is how we know what we pushed last.

Nothing here asks at a terminal, runs a hook, touches a branch, tag, index or worktree, or takes longer than it may.
"""

import os

from gitlock.errors import RemoteRefused, RemoteUnreachable, UsageError
from gitlock.git.process import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PUBLISHED = "refs/agentlocks/"
FETCHED = "refs/agentlocks-remote/"
FILE = "ledger"  # the one entry of a commit's tree
LEDGERS_LIMIT = 2000  # refs that are read

REMOTES = ("remote",)  # how git is asked for the names of all remotes

# What git and a server say to a push that meant to replace another value, the latter of pushes at one moment.
_ELSEWHERE = ("(stale info)", "(fetch first)", "already exists", "failed to update ref", "cannot lock ref")

_SILENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",  # the same for Git Credential Manager
    "SSH_ASKPASS_REQUIRE": "never",  # and for ssh
}


# -- texts and commits


def put_text(git: Git, data: bytes) -> str:
    """Puts a ledger's text into the object store; its name."""
    return os.fsdecode(git.feed("hash-object", "-w", "--stdin", stdin=data)).rstrip("\n")


def commit_of(git: Git, blob: str, published: float) -> str:
    """The commit of a text: the same one whoever makes it, wherever."""
    tree = os.fsdecode(git.run("mktree", stdin=f"100644 blob {blob}\t{FILE}\n".encode())).rstrip("\n")
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "git-lock"), ("EMAIL", "git-lock@localhost"), ("DATE", f"@{int(published)} +0000"))
    }
    maker = Git(git.folder, {**git.environ, **who})
    words = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", "-m", "git-lock: a ledger", tree)
    return os.fsdecode(maker.run(*words)).rstrip("\n")


def read_texts(git: Git, prefix: str, limit: int) -> dict[str, bytes | None]:
    """The text of each ref below ``prefix``, by the rest of its name; None where there is none, it has more than
    ``limit`` bytes, or there are too many."""
    out = git.run(*listing(prefix))
    places: dict[str, str] = {}
    found: dict[str, bytes | None] = {}
    for row in os.fsdecode(out).splitlines():
        oid, kind, ref = row.split(" ", 2)
        found[ref[len(prefix) :]] = None
        if len(places) < LEDGERS_LIMIT:
            places[ref[len(prefix) :]] = f"{oid}:{FILE}" if kind == "commit" else oid
    if not places:
        return {}
    asked = "".join([place + "\n" for place in places.values()]).encode()
    sizes = git.feed("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=asked).splitlines()
    small = {}
    for (name, place), answer in zip(places.items(), sizes, strict=True):
        words = answer.split(b" ")
        if words[0] == b"blob" and int(words[1]) <= limit:
            small[name] = place
    if small:
        rest = git.feed("cat-file", "--batch", stdin="".join([place + "\n" for place in small.values()]).encode())
        for name in small:
            head, _, rest = rest.partition(b"\n")
            size = int(head.split(b" ")[2])
            found[name], rest = rest[:size], rest[size + 1 :]
    return found


def listing(prefix: str) -> tuple[str, ...]:
    """How git is asked what lies below a prefix."""
    return "for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", prefix


def text_at(git: Git, oid: str, limit: int) -> bytes | None:
    """The text of a commit as writers push it; None where it holds none, or one of more than ``limit`` bytes."""
    blob = git.line("rev-parse", "-q", "--verify", f"{oid}^{{commit}}:{FILE}")
    kind = git.line("cat-file", "-t", blob) if blob is not None else None
    if blob is None or kind != "blob" or int(git.run("cat-file", "-s", blob)) > limit:
        return None
    return git.run("cat-file", "blob", blob)


def read_text(git: Git, ref: str, limit: int) -> tuple[str, bytes] | None:
    """What lies at one ref of ``FETCHED``: the text's name, and the text; None where there is none."""
    blob = git.line("rev-parse", "-q", "--verify", ref + "^{blob}")
    if blob is None:
        return None
    size = git.line("cat-file", "-s", blob)
    if size is None or int(size) > limit:
        return None
    return blob, git.run("cat-file", "blob", blob)


# -- which remote


def remotes(git: Git) -> list[str]:
    """The names of all remotes."""
    return os.fsdecode(git.run(*REMOTES, ok=(0, 1))).splitlines()


def usual_remote(git: Git, branch: str | None, *, push: bool) -> str | None:
    """Where git itself would push this branch (or fetch it from), else ``origin``, else the only one there is."""
    known = remotes(git)
    settings = [f"branch.{branch}.remote"] if branch else []
    if push:
        settings = [*([f"branch.{branch}.pushRemote"] if branch else []), "remote.pushDefault", *settings]
    for name in settings:
        value = git.line("config", "--get", name)
        if value in known:
            return value
    return "origin" if "origin" in known else known[0] if len(known) == 1 else None


def fetched_prefix(remote: str) -> str:
    """Below which the ledgers of a remote lie after a fetch. A remote's name may hold slashes."""
    return f"{FETCHED}{remote.replace('%', '%25').replace('/', '%2F')}/"


def remotes_with(git: Git, name: str) -> list[str]:
    """The remotes of which a ledger of this name lies here."""
    out = git.run("for-each-ref", "--format=%(refname)", f"{FETCHED}*/{name}")
    found = set(os.fsdecode(out).splitlines())
    return [remote for remote in remotes(git) if fetched_prefix(remote) + name in found] if found else []


# -- over the wire


def push(
    git: Git, remote: str, ref: str, commit: str | None, expected: str | None, *, no_hooks: str, timeout: float
) -> bool:
    """Sets a ref of ours at the remote, or removes it (``commit`` None), if it is at ``expected`` now (None: nowhere).

    True when the remote has said yes, False where the ref is elsewhere; ``RemoteUnreachable``, ``RemoteRefused``.
    """
    status, out, err = _silent(git, remote, no_hooks).bounded(
        "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
        f"--force-with-lease={ref}:{expected or ''}", "--", remote, f"{commit or ''}:{ref}", timeout=timeout,
    )  # fmt: skip
    if status == 0:
        return True
    for row in os.fsdecode(out).splitlines():
        words = row.split("\t")
        if words[0] == "!" and len(words) == 3:
            if any(one in words[2] for one in _ELSEWHERE):
                return False
            raise RemoteRefused(
                f"'{remote}' does not take the ledger: {words[2]}",
                hint=f"have it take pushes to {PUBLISHED}*, or set publish = \"never\" in .gitlock.toml",
            )
    raise _unreachable(remote, status, err, timeout)


def where_it_is(git: Git, remote: str, ref: str, *, no_hooks: str, timeout: float) -> str | None:
    """The commit that a ref of the remote is at, asked of the remote."""
    status, out, err = _silent(git, remote, no_hooks).bounded("ls-remote", "--", remote, ref, timeout=timeout)
    if status != 0:
        raise _unreachable(remote, status, err, timeout)
    for row in os.fsdecode(out).splitlines():
        oid, _, name = row.partition("\t")
        if name == ref:
            return oid
    return None


def default_branch(git: Git, remote: str, *, no_hooks: str, timeout: float) -> str | None:
    """The name of the branch that a remote's HEAD is on, asked of the remote; None where it does not say."""
    status, out, err = _silent(git, remote, no_hooks).bounded(
        "ls-remote", "--symref", "--", remote, "HEAD", timeout=timeout
    )
    if status != 0:
        raise _unreachable(remote, status, err, timeout)
    lead = "ref: refs/heads/"
    rows = [row for row in os.fsdecode(out).splitlines() if row.startswith(lead) and row.endswith("\tHEAD")]
    return rows[0].removeprefix(lead).removesuffix("\tHEAD") if rows else None


def fetch(git: Git, remote: str, *, no_hooks: str, timeout: float) -> None:
    """Brings everyone's ledgers here, and forgets those that are not there any more."""
    prefix = fetched_prefix(remote)
    status, _, err = _silent(git, remote, no_hooks).bounded(
        "fetch", "--quiet", "--prune", "--no-prune-tags", "--no-tags", "--no-write-fetch-head", "--no-auto-gc",
        "--recurse-submodules=no", "--no-show-forced-updates", "--no-filter", "--refmap=", "--", remote,
        f"+{PUBLISHED}*:{prefix}*", timeout=timeout,
    )  # fmt: skip
    if status != 0:
        raise _unreachable(remote, status, err, timeout)
    _to_texts(git, prefix, no_hooks)


def fetch_branch(git: Git, remote: str, there: str, here: str, *, no_hooks: str, timeout: float) -> None:
    """Brings one branch of a remote up to date here, as its remote-tracking ref."""
    status, _, err = _silent(git, remote, no_hooks).bounded(
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--recurse-submodules=no",
        "--refmap=", "--", remote, f"+{there}:{here}", timeout=timeout,
    )  # fmt: skip
    if status != 0:
        raise _unreachable(remote, status, err, timeout)


def keep(git: Git, ref: str, blob: str | None, no_hooks: str) -> None:
    """Sets one ref of ``FETCHED`` to a text, or removes it."""
    _update(git, [f"update {ref} {blob}" if blob else f"delete {ref}"], no_hooks)


def _to_texts(git: Git, prefix: str, no_hooks: str) -> None:
    out = git.run("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", prefix)
    rows = [row.split(" ", 2) for row in os.fsdecode(out).splitlines()]
    commits = {ref: oid for oid, kind, ref in rows if kind == "commit"}
    if not commits:
        return
    asked = "".join([f"{oid}:{FILE}\n" for oid in commits.values()]).encode()
    found = git.feed("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).splitlines()
    changes = []
    for ref, row in zip(commits, found, strict=True):
        words = os.fsdecode(row).split(" ")
        if len(words) == 2 and words[1] == "blob":
            changes.append(f"update {ref} {words[0]} {commits[ref]}")
    _update(git, changes, no_hooks)


def _update(git: Git, lines: "Iterable[str]", no_hooks: str) -> None:
    text = "".join([line + "\n" for line in lines]).encode()
    if text:
        git.feed("-c", f"core.hooksPath={no_hooks}", "update-ref", "--stdin", stdin=text)


def _silent(git: Git, remote: str, no_hooks: str) -> Git:
    """A git that asks nothing and runs no hook, and for which what the remote's settings add to a push is not so."""
    if remote.startswith("-"):
        raise UsageError(f"'{remote}' can't name a remote")
    environ = {**git.environ, **_SILENT}
    settings = [
        ("core.hooksPath", no_hooks),
        (f"remote.{remote}.mirror", "false"),
        ("push.pushOption", ""),
        ("fetch.writeCommitGraph", "false"),
    ]
    count = environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    for at, (name, value) in enumerate(settings, first):
        environ[f"GIT_CONFIG_KEY_{at}"] = name
        environ[f"GIT_CONFIG_VALUE_{at}"] = value
    environ["GIT_CONFIG_COUNT"] = str(first + len(settings))
    return Git(git.folder, environ)


def _unreachable(remote: str, status: int | None, err: str, timeout: float) -> RemoteUnreachable:
    if status is None:
        why = f"gave no answer within {timeout:g} s"
    else:
        said = [row.strip() for row in err.splitlines() if row.strip()]
        fatal = next((row for row in said if row.startswith(("fatal: ", "error: "))), said[0] if said else "")
        why = f"is out of reach: {fatal.partition(': ')[2] or fatal or f'git ended with {status}'}"
    return RemoteUnreachable(f"'{remote}' {why}", hint=f"git ls-remote {remote}")
