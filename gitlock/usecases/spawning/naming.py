"""What a new worktree is to be called: its branch, its place, the commit that it begins from. Every clash is found
before anything is made, and named."""

import os

from gitlock.domain.quoting import word
from gitlock.domain.value import Value
from gitlock.domain.worktree import CREATING, RETIRING
from gitlock.errors import ConfigError, UnsafeError, UsageError
from gitlock.git import branches
from gitlock.git.checkouts import list_checkouts
from gitlock.git.worktrees import require_outside
from gitlock.usecases.spawning.ground import main_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.policy import Policy
    from gitlock.domain.worktree import Worktree
    from gitlock.usecases.spawning.ground import Ground

PATH, BRANCH = "../{repo}.agents/{agent}", "agent/{agent}"  # the built-in templates


class Base(Value):
    """Where a worktree begins: ``oid``, and ``name`` as people know it; ``behind`` is how many commits it is behind
    ``upstream`` (None: there is none to be behind)."""

    __slots__ = ("behind", "name", "oid", "upstream")

    def __init__(self, oid: str, name: str, upstream: str | None, behind: int | None) -> None:
        self.oid = oid
        self.name = name
        self.upstream = upstream
        self.behind = behind


class Names(Value):
    """``tip`` is where the branch is, or is to be put; ``is_new`` whether it is to be made."""

    __slots__ = ("base", "branch", "is_new", "path", "tip")

    def __init__(self, branch: str, path: str, base: Base, tip: str, is_new: bool) -> None:
        self.branch = branch
        self.path = path
        self.base = base
        self.tip = tip
        self.is_new = is_new


def settle(
    ground: "Ground",
    agent: str,
    *,
    branch: str | None,
    base: str | None,
    path: str | None,
    policy: "Policy",
    records: "Iterable[Worktree]",
) -> Names:
    """All names of a worktree for ``agent``. ``UsageError`` for what can't be a name, ``UnsafeError`` for what is in
    the way, which it names. Only under the lock: what is free now is free only as long as nobody else makes any."""
    git = ground.git
    wanted = branch if branch is not None else _filled(policy, "branch", BRANCH, agent, "")
    branches.require_valid(git, wanted)
    place = _place(ground, agent, path, policy)
    begin = resolve_base(ground, base)
    room = branches.look_up(git, wanted, folds_case=ground.fold.case)
    if room.clash is not None:
        differs = "differs from it in case alone" if room.clash.lower() == wanted.lower() else "can't be beside it"
        raise UnsafeError(
            f"git can't have a branch '{wanted}': the branch '{room.clash}' {differs}",
            hint=f"git lock spawn {agent} --branch NAME", id="branch-clash",
        )  # fmt: skip
    if room.tip is not None and base is not None:
        raise UnsafeError(
            f"the branch '{wanted}' is there already, so --base can't say where it begins",
            hint=f"leave --base out to go on with it, or name another: git lock spawn {agent} --branch NAME",
            id="branch-exists",
        )
    if room.tip is not None:
        _refuse_in_use(ground, agent, wanted, records)
    _refuse_taken(place, records, agent)
    require_outside(git, place, ground.repository.common_dir)
    return Names(wanted, place, begin, room.tip or begin.oid, room.tip is None)


def refuse_second(agent: str, records: "Iterable[Worktree]", *, folds_case: bool) -> None:
    """``UnsafeError`` where the agent has a worktree already, or another agent's name differs in case alone where that
    is no difference."""
    for one in records:
        if one.agent == agent:
            raise UnsafeError(f"'{agent}' has a worktree: {_doing(one)}", hint=_advice(one), id="has-worktree")
        if folds_case and one.agent.lower() == agent.lower():
            raise UnsafeError(
                f"'{agent}' and '{one.agent}', who has the worktree '{one.path}', differ in case alone, which is no "
                "difference here", hint="choose another name", id="agent-clash",
            )  # fmt: skip


def _doing(record: "Worktree") -> str:
    words = {CREATING: "is being made at this moment", RETIRING: "was to be removed, which was broken off"}
    return f"'{record.path}' {words.get(record.state, 'is there')}"


def _advice(record: "Worktree") -> str:
    if record.state == RETIRING:
        return f"git lock retire {record.agent}"
    return "git lock agents" if record.state == CREATING else f"cd {word(record.path)}"


def resolve_base(ground: "Ground", text: str | None) -> Base:
    """The commit that ``text`` names, seen from the calling worktree; HEAD where nothing is named."""
    git = ground.repository.git
    if text is not None:
        from gitlock.git.changes import resolve_commit

        oid, name = resolve_commit(git, text), text
    else:
        found = git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        name = (git.line("symbolic-ref", "--quiet", "--short", "HEAD") if found is None else _head(ground)) or "HEAD"
        if found is None:
            raise UnsafeError(
                f"'{name}' has no commit yet: there is nothing to begin from",
                hint="git commit --allow-empty -m first", id="unborn",
            )  # fmt: skip
        oid = found
    upstream = branches.upstream_of(git, name) if name != "HEAD" else None
    return Base(oid, name, *(upstream if upstream is not None else (None, None)))


def _head(ground: "Ground") -> str | None:
    from gitlock.git.repository import read_small

    text = read_small(os.path.join(ground.repository.git_dir, "HEAD")) or ""
    if text.startswith("ref: refs/heads/") and not text.startswith("ref: refs/heads/.invalid"):
        return text[16:].rstrip("\n")
    return ground.repository.git.line("symbolic-ref", "--quiet", "--short", "HEAD")


def _filled(policy: "Policy", field: str, built_in: str, agent: str, repo: str) -> str:
    """A template of the map file's with ``{repo}`` and ``{agent}`` filled in."""
    template = policy.spawn.get(field, built_in)
    assert isinstance(template, str)
    text = template.replace("{agent}", agent).replace("{repo}", repo)
    if not text or "{agent}" not in template:
        where = f"{policy.source}:{policy.lines.get(f'spawn.{field}', 1)}"
        raise ConfigError(f"{where}: '{field}' must hold {{agent}}: every agent needs its own", hint=f"correct {where}")
    return text


def _place(ground: "Ground", agent: str, path: str | None, policy: "Policy") -> str:
    if path is not None:
        place = path
    else:
        main, repo = main_place(ground.repository, ground.git)
        # A sub-agent's would lie inside its parent's worktree; no agent's name holds a '~'.
        place = os.path.join(main, _filled(policy, "path", PATH, agent.replace("/", "~"), repo))
    place = os.path.normpath(place)
    if os.path.lexists(place) and not _is_empty_folder(place):
        raise UnsafeError(
            f"'{place}' is there already, and is not an empty folder", hint=f"ls -la {word(place)}", id="path-taken"
        )
    return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _is_empty_folder(path: str) -> bool:
    try:
        return not os.path.islink(path) and not os.listdir(path)
    except OSError:
        return False


def _refuse_in_use(ground: "Ground", agent: str, branch: str, records: "Iterable[Worktree]") -> None:
    for one in list_checkouts(ground.git):
        if one.branch == branch and not one.bare:
            whose = next((f" of {record.agent}" for record in records if record.path == one.path), "")
            raise UnsafeError(
                f"the branch '{branch}' is checked out in the worktree{whose} at '{one.path}'",
                hint=f"git lock spawn {agent} --branch NAME --base {branch}", id="branch-in-use",
            )  # fmt: skip


def _refuse_taken(place: str, records: "Iterable[Worktree]", agent: str) -> None:
    for one in records:
        if one.path == place:
            raise UnsafeError(
                f"'{place}' belongs to {one.agent}, though nothing is there now",
                hint=f"git lock spawn {agent} --path DIR", id="path-taken",
            )  # fmt: skip


def wanted_path(text: str, folder: str) -> str:
    """A folder as it was typed, as an absolute path."""
    if not text or "\0" in text:
        raise UsageError("--path must name a folder", id="bad-path")
    return os.path.normpath(os.path.join(folder, text))
