"""What a push brings: the commits that are not there yet, what each of them says, and which paths it changes.

However many refs there are, git is asked a fixed number of questions; only a merge in which somebody did something
takes one of its own.
"""

import os

from gitlock.domain.change import Change
from gitlock.domain.value import Value
from gitlock.errors import GitFailed
from gitlock.git.merges import mechanical_merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.git.process import Git

_PATHS = (
    "diff-tree", "--stdin", "--root", "-r", "-c", "--no-renames", "--ignore-submodules=none", "--name-status", "-z",
)  # fmt: skip


class Update(Value):
    """One ref that a push changes: from ``old`` to ``new`` at the other side, both None where there is nothing."""

    __slots__ = ("new", "old", "ref", "source")

    def __init__(self, source: str, new: str | None, ref: str, old: str | None) -> None:
        self.source = source
        self.new = new
        self.ref = ref
        self.old = old


class Commit(Value):
    """``time`` is the committer's (UTC seconds), ``people`` are author's and committer's addresses. ``changes`` are
    what it did: of a merge, what git's own would not have done; ``exact`` is False where that isn't known (an octopus,
    a git before 2.38), and there may be too many."""

    __slots__ = ("changes", "exact", "message", "oid", "parents", "people", "time")

    def __init__(
        self, oid: str, parents: tuple[str, ...], time: float, message: bytes, changes: tuple[Change, ...] = (),
        exact: bool = True, people: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.oid = oid
        self.people = people
        self.parents = parents
        self.time = time
        self.message = message
        self.changes = changes
        self.exact = exact

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.lstrip(b"\n").partition(b"\n")[0].decode("utf-8", "replace")


def pushed_updates(lines: bytes) -> list[Update]:
    """What git writes to pre-push: ``<local ref> <local oid> <remote ref> <remote oid>``, one a line (githooks(5))."""
    found = []
    for line in os.fsdecode(lines).split("\n"):
        words = line.split(" ")
        if len(words) >= 4:  # a local ref may be an expression with spaces: "HEAD@{1 day ago}"
            source, (new, ref, old) = " ".join(words[:-3]), words[-3:]
            found.append(Update(source, _some(new), ref, _some(old)))
    return found


def received_updates(lines: bytes) -> list[Update]:
    """What git writes to pre-receive: ``<old oid> <new oid> <ref>``, one a line."""
    rows = [line.split(" ", 2) for line in os.fsdecode(lines).split("\n") if line.count(" ") >= 2]
    return [Update("", _some(new), ref, _some(old)) for old, new, ref in rows]


def _some(oid: str) -> str | None:
    return oid if oid.strip("0") else None


def known(git: "Git", oids: "Iterable[str]") -> set[str]:
    """Those of these objects that are here."""
    asked = sorted(set(oids))
    if not asked:
        return set()
    out = git.feed("cat-file", "--batch-check=%(objectname)", stdin="".join([oid + "\n" for oid in asked]).encode())
    return {row for row in os.fsdecode(out).splitlines() if " " not in row}


def tips_below(git: "Git", prefix: str) -> dict[str, str]:
    """What the refs below a prefix name, by ref."""
    rows = os.fsdecode(git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)).splitlines()
    return {ref: oid for oid, _, ref in (row.partition(" ") for row in rows)}


def commits_between(git: "Git", tips: "Iterable[str]", without: "Iterable[str]") -> tuple[list[str], set[str]]:
    """The commits that ``tips`` reach and ``without`` don't, and those where the two meet."""
    asked = "".join([f"{oid}\n" for oid in sorted(set(tips))] + [f"^{oid}\n" for oid in sorted(set(without))])
    if not asked:
        return [], set()
    rows = os.fsdecode(git.feed("rev-list", "--stdin", "--boundary", stdin=asked.encode())).splitlines()
    return [row for row in rows if row[0] != "-"], {row[1:] for row in rows if row[0] == "-"}


def messages(git: "Git", oids: list[str]) -> list[Commit]:
    """What these commits say of themselves; their changes are not looked at."""
    if not oids:
        return []
    data = git.feed("cat-file", "--batch", stdin="".join([oid + "\n" for oid in oids]).encode())
    found, at = [], 0
    for oid in oids:
        end = data.index(b"\n", at)
        head = data[at:end].split(b" ")
        if len(head) != 3:
            raise GitFailed(("cat-file",), 1, f"the commit {oid} is not here")
        size = int(head[2])
        found.append(_parsed(oid, data[end + 1 : end + 1 + size]))
        at = end + 2 + size
    return found


def _parsed(oid: str, text: bytes) -> Commit:
    header, _, message = text.partition(b"\n\n")
    parents, people, time = [], [], 0.0
    for line in header.split(b"\n"):
        if line.startswith(b"parent "):
            parents.append(line[7:].decode())
        elif line.startswith((b"author ", b"committer ")):
            people.append(line.rpartition(b"<")[2].partition(b">")[0].decode("utf-8", "replace"))
            words = line.split(b" ")
            time = float(words[-2]) if len(words) > 2 and words[-2].isdigit() else 0.0
    return Commit(oid, tuple(parents), time, message, people=tuple(people))


def with_changes(git: "Git", commits: list[Commit]) -> list[Commit]:
    """The same with what each of them changes."""
    if not commits:
        return []
    out = git.feed(*_PATHS, stdin="".join([one.oid + "\n" for one in commits]).encode())
    changes: dict[str, list[Change]] = {}
    fields = os.fsdecode(out).split("\0")
    here: list[Change] = []
    at = 0
    while at < len(fields) - 1:
        if len(fields[at]) >= 40:
            here = changes.setdefault(fields[at], [])
            at += 1
        else:
            here.append(Change(fields[at + 1], fields[at][0]))
            at += 2
    return [_own_part(git, one, changes.get(one.oid, [])) for one in commits]


def _own_part(git: "Git", commit: Commit, changes: list[Change]) -> Commit:
    """Of a merge, what differs from every parent is not yet what somebody did: git merges files by itself."""
    if len(commit.parents) < 2 or not changes:
        return commit.replace(changes=tuple(changes))
    mechanical = mechanical_merge(git, *commit.parents) if len(commit.parents) == 2 else None
    if mechanical is None:
        return commit.replace(changes=tuple(changes), exact=False)
    tree, conflicts = mechanical
    out = git.run("diff-tree", "-r", "--no-renames", "--ignore-submodules=none", "--name-only", "-z", tree, commit.oid)
    made = {*os.fsdecode(out).split("\0"), *conflicts}
    return commit.replace(changes=tuple(change for change in changes if change.path in made))
