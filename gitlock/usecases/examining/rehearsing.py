"""Does git really ask us? A made-up lease, a made-up change, and the hook that git runs for a commit.

Nothing is committed, and nothing that counts is read or written: index and store lie in a folder of their own.
"""

import os
import tempfile

from gitlock.domain.lease import EXCLUSIVE, Holder, Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.value import Value
from gitlock.git.hooks.running import BY_GIT, run_ours
from gitlock.git.process import Git
from gitlock.stores.files.store import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitlock.domain.instant import Instant
    from gitlock.git.hooks import Hook
    from gitlock.git.repository import Repository

REFUSED, ASKED, SILENT = "refused", "asked", "silent"

_VIOLATION = "22"
# A plain index, and nobody's hook that runs whenever one is written.
_PLAIN = (
    "core.splitIndex=false", "index.sparse=false", "core.untrackedCache=false",
    f"core.hooksPath={os.devnull}", "hook.post-index-change.enabled=false",
)  # fmt: skip
# As git would call them, and so that the stub takes none of its short cuts.
_ARGUMENTS = {
    "post-checkout": ("1" * 40, "1" * 40, "1"), "post-merge": ("0",), "post-rewrite": ("rebase",),
    "pre-push": ("rehearsal", "rehearsal"),
}  # fmt: skip
_DROPPED = ("GITLOCK_BYPASS", "GITLOCK_GIT_PID", "GIT_INDEX_FILE", "_PRE_COMMIT_SKIP_POST_CHECKOUT")


class Rehearsal(Value):
    """``answer``: ``refused`` as a real commit would be, ``asked`` (a hook that was only to show that it is asked),
    ``silent`` (no answer of ours). ``said`` are its lines; not ``by_git``: only our part of a hook was run."""

    __slots__ = ("answer", "by_git", "hook", "said")

    def __init__(self, hook: str, answer: str, said: tuple[str, ...], by_git: bool) -> None:
        self.hook = hook
        self.answer = answer
        self.said = said
        self.by_git = by_git


def rehearse(repository: "Repository", hook: "Hook", now: "Callable[[], Instant]") -> Rehearsal:
    """One hook of one worktree. Under ``enforce``, whatever the policy is: the question is whether git asks."""
    with tempfile.TemporaryDirectory(prefix="git-lock-rehearsal-") as place:
        name = os.path.basename(place)
        _make_store(place, name, now)
        _make_index(repository, place, name)
        message = os.path.join(place, "message")
        arguments = _ARGUMENTS.get(hook.name, ())
        if hook.name in ("prepare-commit-msg", "commit-msg"):
            arguments = (message, "message")[: 1 + (hook.name == "prepare-commit-msg")]
        kept = {key: value for key, value in repository.git.environ.items() if key not in _DROPPED}
        pretended = {**kept, "GITLOCK_PROBE": place, "GIT_INDEX_FILE": os.path.join(place, "index")}
        here = repository.replace(git=Git(repository.top, kept))
        way, text = run_ours(here, hook, arguments, pretended)
    rows = text.splitlines()
    mark = f"git-lock: rehearsal {name} {hook.name} "
    answers = [row.removeprefix(mark) for row in rows if row.startswith(mark)]
    said = tuple(row.replace(name, "(made up)") for row in rows if not row.startswith(mark))
    if answers == [_VIOLATION]:
        return Rehearsal(hook.name, REFUSED, said, by_git=way == BY_GIT)
    if answers == ["asked"] and hook.name != "pre-commit":
        return Rehearsal(hook.name, ASKED, said, by_git=way == BY_GIT)
    return Rehearsal(hook.name, SILENT, (*said, *answers), by_git=way == BY_GIT)


def _make_store(place: str, path: str, now: "Callable[[], Instant]") -> None:
    """A store in which another agent holds the path."""

    def plan(snapshot: Snapshot) -> tuple[Edits, None]:
        lease = Lease(
            id="rehearsal", agent="another", kind="agent", mode=EXCLUSIVE, keys=(f"file:{path}",), include=(path,),
            exclude=(), reason="a rehearsal", fence=1, acquired=snapshot.now.wall, renewed=snapshot.now, ttl=3600.0,
            token_hash="0" * 64, holder=Holder(host=""),
        )  # fmt: skip
        return Edits(put=(lease,), counter=1), None

    FileStore(os.path.join(place, "agentlocks"), now).update(plan)


def _make_index(repository: "Repository", place: str, path: str) -> None:
    """An index as of HEAD with one more file."""
    environ = {**repository.git.environ, "GIT_INDEX_FILE": os.path.join(place, "index")}
    git = Git(repository.require_top(), environ)
    plain = [word for setting in _PLAIN for word in ("-c", setting)]
    if git.try_run("rev-parse", "-q", "--verify", "HEAD^{commit}")[0] == 0:
        git.run(*plain, "read-tree", "HEAD")
    nothing = os.fsdecode(git.run("hash-object", "-t", "blob", os.devnull)).strip()
    git.run(*plain, "update-index", "--add", "--cacheinfo", f"100644,{nothing},{path}")
