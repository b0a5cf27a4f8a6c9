"""May an agent's worktree go? Pure: what was found there in, every reason against it out.

The order of the reasons is the order in which one should look at them. A check that could not be made is a reason of
its own (``unchecked``): not knowing counts as no.
"""

from gitlock.domain.agent import related
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.domain.worktree import Worktree

SHOWN = 5  # paths, commits or processes that one sentence names

ALIVE = "alive"

FORCE, DISCARD, KEEP = "--force", "--discard-ignored", "--keep-branch"


class Refusal(Value):
    """One reason why it stays. ``whose`` is the agent that it is about, where it is one; ``next`` is the command that
    helps, as its words. ``yields`` are the options that go on over it, any of ``--force`` (which saves first),
    ``--discard-ignored`` and ``--keep-branch``; none where nothing does."""

    __slots__ = ("id", "next", "what", "whose", "yields")

    def __init__(
        self, id: str, what: str, next: tuple[str, ...], *, whose: str | None = None, yields: tuple[str, ...] = ()
    ) -> None:
        self.id = id
        self.what = what
        self.next = next
        self.whose = whose
        self.yields = yields


class Inside(Value):
    """A process whose current folder is in the worktree; ``ours`` is one that we run under."""

    __slots__ = ("name", "ours", "pid")

    def __init__(self, pid: int, name: str, ours: bool) -> None:
        self.pid = pid
        self.name = name
        self.ours = ours


class Held(Value):
    """Something that says that an agent is at work there: a lease (``claim`` is its title) or a session (None)."""

    __slots__ = ("agent", "claim", "liveness", "ours", "pid")

    def __init__(self, agent: str, claim: str | None, liveness: str, pid: int | None, ours: bool) -> None:
        self.agent = agent
        self.claim = claim
        self.liveness = liveness
        self.pid = pid
        self.ours = ours


class BranchWork(Value):
    """A branch that was worked on there, and what became of its work. ``proof`` names how it was found in ``target``
    (None: it was not), ``pushed`` is a remote's branch that has it; ``ahead`` counts what neither has. ``certain`` is
    False where a check could not be made."""

    __slots__ = ("ahead", "certain", "name", "proof", "pushed", "target", "tip")

    def __init__(
        self,
        name: str,
        tip: str,
        *,
        ahead: int = 0,
        proof: str | None = None,
        target: str | None = None,
        pushed: str | None = None,
        certain: bool = True,
    ) -> None:
        self.name = name
        self.tip = tip
        self.ahead = ahead
        self.proof = proof
        self.target = target
        self.pushed = pushed
        self.certain = certain


class Trouble(Value):
    """Something about one place: a submodule, a check that failed; with the command that helps."""

    __slots__ = ("next", "what", "where")

    def __init__(self, where: str, what: str, next: tuple[str, ...] = ()) -> None:
        self.where = where
        self.what = what
        self.next = next


class Facts(Value):
    """All that was found. ``changed`` and ``untracked`` are paths; ``hidden`` are changed paths that git was told not
    to look at. ``ignored`` pairs each ignored file that can't be made again with its size in bytes. ``lost`` are
    commits that nothing else reaches, as ``oid subject``. ``here`` is whether the caller stands in it. ``away`` are
    paths below it that belong to somebody else: (kind, path) with the kinds ``worktree``, ``repository``, ``mount``.
    ``locked`` is somebody else's reason on git's own lock."""

    __slots__ = (
        "away", "branches", "changed", "escape", "head", "held", "here", "hidden", "ignored", "inside", "locked",
        "lost", "operation", "submodules", "unchecked", "untracked",
    )  # fmt: skip

    def __init__(
        self,
        *,
        here: bool = False,
        inside: tuple[Inside, ...] = (),
        held: tuple[Held, ...] = (),
        away: tuple[tuple[str, str], ...] = (),
        locked: str | None = None,
        operation: str = "none",
        escape: str | None = None,
        changed: tuple[str, ...] = (),
        untracked: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        ignored: tuple[tuple[str, int], ...] = (),
        submodules: tuple[Trouble, ...] = (),
        lost: tuple[str, ...] = (),
        branches: tuple[BranchWork, ...] = (),
        unchecked: tuple[Trouble, ...] = (),
        head: str | None = None,
    ) -> None:
        self.here = here
        self.inside = inside
        self.held = held
        self.away = away
        self.locked = locked
        self.operation = operation
        self.escape = escape
        self.changed = changed
        self.untracked = untracked
        self.hidden = hidden
        self.ignored = ignored
        self.submodules = submodules
        self.lost = lost
        self.branches = branches
        self.unchecked = unchecked
        self.head = head


class Permit(Value):
    """What the caller said it accepts."""

    __slots__ = ("discard", "force", "keep")

    def __init__(self, *, force: bool = False, discard: bool = False, keep: bool = False) -> None:
        self.force = force
        self.discard = discard
        self.keep = keep

    def covers(self, refusal: Refusal) -> bool:
        """Whether the caller's word goes on over this reason."""
        given = {FORCE: self.force, DISCARD: self.discard, KEEP: self.keep}
        return any(given[word] for word in refusal.yields)


def refusals(worktree: "Worktree", facts: Facts, asker: str, home: str, *, limit: int) -> list[Refusal]:
    """Every reason against removing it. ``asker`` is who wants it, ``home`` a folder that stays. ``limit`` is how
    large (bytes) ignored files may be together to be saved by ``--force``."""
    again = ("git", "lock", "retire", worktree.agent)
    found = [*_occupied(facts, asker, home, again), *_elsewhere(worktree, facts)]
    found += _unfinished(worktree, facts, again)
    found += _ignored(facts, again, limit)
    found += [
        Refusal("submodule", f"submodule '{one.where}': {one.what}", one.next) for one in facts.submodules
    ]
    found += _commits(worktree, facts, again)
    found += [
        Refusal("unchecked", f"could not check {one.where}: {one.what}", one.next or ("git", "lock", "doctor"))
        for one in facts.unchecked
    ]
    return found


def _occupied(facts: Facts, asker: str, home: str, again: tuple[str, ...]) -> list[Refusal]:
    found = []
    if facts.here:
        found.append(Refusal("current-folder", "it is your own current folder", ("cd", home)))
    inside = [one for one in facts.inside if not (facts.here and one.ours)]
    if inside:
        named = _some([f"{one.pid} ({one.name})" for one in inside])
        plural = "processes have" if len(inside) > 1 else "a process has"
        what = f"{plural} the current folder there: {named}"
        found.append(Refusal("process-inside", what, ("ps", "-fp", str(inside[0].pid)), yields=(FORCE,)))
    for one in facts.held:
        if one.ours or (one.liveness != ALIVE and related(one.agent, asker)):
            continue
        sure = "its process is alive" if one.liveness == ALIVE else "nothing proves that it is gone"
        helps: tuple[str, ...]
        if one.claim is not None:
            what = f"{one.agent} still holds '{one.claim}', and {sure}"
            helps = ("git", "lock", "release", "--all", "--agent", one.agent)
        else:
            pid = f" (process {one.pid})" if one.pid is not None else ""
            what = f"a session of {one.agent}{pid} is alive"
            helps = ("ps", "-fp", str(one.pid)) if one.pid is not None else (*again, FORCE)
        found.append(Refusal("holder", what, helps, whose=one.agent, yields=(FORCE,)))
    return found


def _elsewhere(worktree: "Worktree", facts: Facts) -> list[Refusal]:
    found = []
    words = {
        "worktree": ("nested-worktree", "another worktree lies inside it"),
        "repository": ("nested-repository", "another repository lies inside it"),
        "mount": ("mount", "another file system is mounted inside it"),
    }
    for kind, (name, what) in words.items():
        paths = [path for where, path in facts.away if where == kind]
        if not paths:
            continue
        helps = {
            "worktree": ("git", "worktree", "move", paths[0], f"{worktree.path}.inner"),
            "repository": ("mv", paths[0], f"{worktree.path}.inner"),
            "mount": ("umount", paths[0]),
        }
        found.append(Refusal(name, f"{what}: {_paths(paths)}", helps[kind]))
    if facts.locked is not None:
        reason = f": {facts.locked}" if facts.locked else ""
        what = f"somebody has locked it with git worktree lock{reason}"
        found.append(Refusal("locked", what, ("git", "worktree", "unlock", worktree.path)))
    return found


def with_article(kind: str) -> str:
    """``a rebase``, ``an am``."""
    return f"{'an' if kind[:1] in tuple('aeiou') else 'a'} {kind}"


def _unfinished(worktree: "Worktree", facts: Facts, again: tuple[str, ...]) -> list[Refusal]:
    found = []
    there = ("git", "-C", worktree.path)
    if facts.operation != "none":
        back = tuple((facts.escape or "git bisect reset").split()[1:])
        what = f"{with_article(facts.operation)} is in progress"
        found.append(Refusal("operation", what, (*there, *back), yields=(FORCE,)))
    if facts.changed:
        what = f"{_count(facts.changed, 'uncommitted change')}: {_paths(facts.changed)}"
        found.append(Refusal("uncommitted", what, (*there, "status"), yields=(FORCE,)))
    if facts.hidden:
        what = f"{_count(facts.hidden, 'change')} that git was told to overlook: {_paths(facts.hidden)}"
        helps = (*there, "update-index", "--no-assume-unchanged", "--no-skip-worktree", facts.hidden[0])
        found.append(Refusal("hidden", what, helps, yields=(FORCE,)))
    if facts.untracked:
        what = f"{_count(facts.untracked, 'untracked file')}: {_paths(facts.untracked)}"
        found.append(Refusal("untracked", what, (*again, FORCE), yields=(FORCE,)))
    return found


def _ignored(facts: Facts, again: tuple[str, ...], limit: int) -> list[Refusal]:
    if not facts.ignored:
        return []
    paths = [path for path, _ in facts.ignored]
    size = sum(size for _, size in facts.ignored)
    what = f"{_count(paths, 'ignored file')} that can't be made again ({show_size(size)}): {_paths(paths)}"
    if size <= limit:
        return [Refusal("ignored", what, (*again, FORCE), yields=(FORCE, DISCARD))]
    what += f"; that is more than the {show_size(limit)} that --force saves"
    return [Refusal("ignored", what, (*again, DISCARD), yields=(DISCARD,))]


def _commits(worktree: "Worktree", facts: Facts, again: tuple[str, ...]) -> list[Refusal]:
    found = []
    if facts.lost:
        what = f"{_count(facts.lost, 'commit')} that no branch, tag or remote has: {_some(list(facts.lost), quote='')}"
        helps = ("git", "branch", f"{worktree.agent}-kept", facts.lost[0].partition(" ")[0])
        found.append(Refusal("lost-commits", what, helps, yields=(FORCE,)))
    for one in facts.branches:
        if one.proof is not None or one.pushed is not None:
            continue
        if not one.certain:
            what = f"could not check whether '{one.name}' is merged or pushed"
        else:
            into = f" into {one.target}" if one.target is not None else ""
            count = f"{one.ahead} commit{'' if one.ahead == 1 else 's'}"
            what = f"branch '{one.name}' has {count} neither merged{into} nor pushed"
        found.append(Refusal("unmerged", what, (*again, KEEP), yields=(KEEP, FORCE)))
    return found


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def show_size(size: int) -> str:
    """Bytes as people read them: ``12 B``, ``3.4 KiB``, ``16 MiB``."""
    number, step = float(size), 0
    while number >= 1024 and step < len(_UNITS) - 1:
        number, step = number / 1024, step + 1
    return f"{number:.1f}".removesuffix(".0") + f" {_UNITS[step]}"


def _count(things: "tuple[object, ...] | list[str]", noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def _paths(paths: "tuple[str, ...] | list[str]") -> str:
    return _some(list(paths))


def _some(texts: list[str], quote: str = "'") -> str:
    named = ", ".join(f"{quote}{text}{quote}" for text in texts[:SHOWN])
    return named + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")
