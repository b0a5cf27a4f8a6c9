"""Who a branch is: whose claims count for what it changes.

First come those whom its own commits name, and they count for all of it. What a merge has brought in (another branch
that has not landed, the requests of a merge queue) is the work of those whom *its* commits name: they count where the
branch's own commits have changed nothing. A commit that was squashed of several carries the receipts of all; each
counts for what that commit changes. So a foreign name in a message, or in what was merged, opens nothing else.

Which paths each commit changes costs git some time, and is asked only where there is such a foreign name.
"""

from gitlock.domain.agent import related
from gitlock.domain.covering import covering
from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gitlock.domain.merging import Commit, Standing
    from gitlock.domain.pattern import Fold
    from gitlock.domain.receipt import Receipt

    Proof = tuple[Receipt, Commit]


class Part(Value):
    """What one merge has brought in: ``agents`` whom its commits name, and the ``commits``."""

    __slots__ = ("agents", "commits")

    def __init__(self, agents: tuple[str, ...], commits: "tuple[Commit, ...]") -> None:
        self.agents = agents
        self.commits = commits


class Authors:
    """The authors of the commits ``own`` of a branch. ``work`` tells what each of them changes, by its id; it is called
    at most once. ``agents`` are who the branch is, for people to read; ``kind`` is ``human`` where every one is an
    address of a commit's author or committer, and where nobody is named at all (people work without claims; a program
    has its hooks)."""

    def __init__(
        self,
        own: "tuple[Commit, ...]",
        work: "Callable[[], Mapping[str, Iterable[str]]]",
        held: "tuple[Standing, ...]",
        branch: str | None,
        paths: int,
        fold: "Fold",
    ) -> None:
        self._own = own
        self._ask = work
        self._work: dict[str, frozenset[str]] | None = None
        self._fold = fold
        line = [commit for commit in own if not commit.part]
        self._parts = _parts(own)
        self._squashed = [commit for commit in own if commit.squashed.agents]
        signed = tuple(dict.fromkeys(agent for commit in line for agent in commit.signed.agents))
        brought = [agent for part in self._parts.values() for agent in part.agents]
        named = dict.fromkeys([*signed, *brought, *(a for commit in self._squashed for a in commit.squashed.agents)])
        there = {} if signed else _at_work(held, branch, line)
        self._line = signed or tuple(there)
        self.agents = self._line or tuple(named)
        if named:
            people = {one for commit in own for one in commit.people}
            self.kind = "human" if people.issuperset(named) else "agent"
        else:
            self.kind = "human" if all(kind == "human" for kind in there.values()) else "agent"
        self._covering: Callable[[str], list[tuple[Proof, bool]]] = covering(
            [
                (((one, commit), is_signed), one.footprint)
                for commit in own
                for is_signed, said in ((True, commit.signed), (False, commit.squashed))
                for one in said.receipts
                if one.include
            ],
            paths,
            fold,
        )
        self._changed: dict[int, frozenset[str]] = {}

    def own(self, agent: str, path: str) -> bool:
        """Whether what this agent holds of a path is the branch's own."""
        if _is_one(agent, self._line):
            return True
        for commit in self._squashed:
            if _is_one(agent, commit.squashed.agents) and path in self._by(commit):
                return True
        found = [number for number, part in self._parts.items() if _is_one(agent, part.agents)]
        return any(path in self._by_part(number) for number in found) and path not in self._by_part(0)

    def proofs(self, path: str) -> "list[Proof]":
        """The receipts that cover a path and count for it, each with its commit."""
        found = []
        for (receipt, commit), is_signed in self._covering(path):
            if not is_signed:
                counts = path in self._by(commit)
            else:
                part = commit.part
                counts = not part or _is_one(receipt.agent, self._line) or path in self._by_part(part)
            if counts:
                found.append((receipt, commit))
        return found

    def went_on(self, path: str, since: float) -> bool:
        """Whether the branch has changed a path after a moment (UTC seconds) in a commit that has no receipt for it."""
        covered = {commit.id for (_, commit), _ in self._covering(path)}
        later = [commit for commit in self._own if commit.time > since and commit.id not in covered]
        return any(path in self._by(commit) for commit in later)

    def _by(self, commit: "Commit") -> frozenset[str]:
        if self._work is None:
            self._work = {name: frozenset(paths) for name, paths in self._ask().items()}
        return self._work.get(commit.id, frozenset())

    def _by_part(self, part: int) -> frozenset[str]:
        found = self._changed.get(part)
        if found is None:
            commits = self._parts[part].commits if part else [one for one in self._own if not one.part]
            found = self._changed[part] = frozenset().union(*(self._by(commit) for commit in commits))
        return found


def _parts(own: "tuple[Commit, ...]") -> dict[int, Part]:
    found: dict[int, list[Commit]] = {}
    for commit in own:
        if commit.part:
            found.setdefault(commit.part, []).append(commit)
    return {
        number: Part(tuple(dict.fromkeys(a for one in commits for a in one.signed.agents)), tuple(commits))
        for number, commits in found.items()
    }


def _at_work(held: "tuple[Standing, ...]", branch: str | None, line: "list[Commit]") -> dict[str, str]:
    """Where no commit of the branch's own names anybody: who works on it, with their kinds. By their leases, and by
    the commits' own authors: people are called by their addresses."""
    people = {one for commit in line for one in commit.people}
    return {
        one.lease.agent: one.lease.kind
        for one in held
        if (branch is not None and one.lease.holder.branch == branch) or one.lease.agent in people
    }


def _is_one(agent: str, of: "Iterable[str]") -> bool:
    return any(related(agent, one) for one in of)
