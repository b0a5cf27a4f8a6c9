"""What a repository looks like before and after a fault, and whether a command's effect is there: whole, or not at all.

An *effect* is a function of the two looks that answers ``WHOLE``, ``NONE``, or in words what is half done.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitlock.domain.lease import Lease
from gitlock.git.hooks.stub import BEFORE, provenance
from gitlock.stores.clock import SystemClock
from gitlock.stores.files.store import FileStore

WHOLE, NONE = "whole", "none"
PATIENCE = 1.0  # seconds that the store's guard is waited for: whoever was killed must not be in the way for longer


def store_of(repository: Path) -> FileStore:
    """The store of a repository, as any other process opens it."""
    return FileStore(str(repository / ".git/agentlocks"), SystemClock().now, guard_timeout=PATIENCE)


class Seen(NamedTuple):
    """One look."""

    leases: dict[str, Lease]  # by agent and title
    counter: int
    waiting: tuple[str, ...]  # the agents that wait
    ended: int
    hooks: dict[str, bytes]
    index_file: bytes
    config_file: bytes

    @property
    def highest(self) -> int:
        """The highest fence that it shows."""
        return max([self.counter, *(lease.fence for lease in self.leases.values())])

    def of(self, agent: str) -> dict[str, Lease]:
        """One agent's leases."""
        return {name: lease for name, lease in self.leases.items() if lease.agent == agent}


def look(repository: Path) -> Seen:
    """Raises ``StoreError`` where the store can't be read."""
    git_dir = repository / ".git"
    snapshot = store_of(repository).read()
    return Seen(
        leases={f"{lease.agent}: {lease.title}": lease for lease in snapshot.leases.all()},
        counter=snapshot.counter,
        waiting=tuple(waiter.agent for waiter in snapshot.waiters.ordered()),
        ended=len(list(snapshot.ended.all())),
        hooks={file.name: file.read_bytes() for file in sorted(git_dir.glob("hooks/*")) if file.is_file()},
        index_file=(git_dir / "index").read_bytes(),
        config_file=(git_dir / "config").read_bytes(),
    )


Effect = Callable[[Seen, Seen], str]


def _fences(seen: Seen) -> dict[str, int]:
    return {name: lease.fence for name, lease in seen.leases.items()}


def nothing(before: Seen, after: Seen) -> str:
    """The command changes no lease (but may renew them)."""
    return WHOLE if _fences(before) == _fences(after) else f"{before.leases} became {after.leases}"


def takes(name: str) -> Effect:
    """One lease more, with everything that was asked for in it."""

    def effect(before: Seen, after: Seen) -> str:
        old, new = _fences(before), _fences(after)
        if new == old:
            return NONE
        added = {key: value for key, value in new.items() if key not in old}
        kept = {key: value for key, value in new.items() if key in old}
        if list(added) != [name] or kept != old:
            return f"{old} became {new}"
        return WHOLE if added[name] > before.highest else f"fence {added[name]} is not above {before.highest}"

    return effect


def takes_over(name: str, count: int) -> Effect:
    """One lease more, and so many lapsed ones of others less, whose holders will hear of it."""

    def effect(before: Seen, after: Seen) -> str:
        old, new = _fences(before), _fences(after)
        if new == old:
            return NONE
        gone = old.keys() - new.keys()
        whole = new.keys() - old.keys() == {name} and len(gone) == count == after.ended - before.ended
        return WHOLE if whole and new[name] > before.highest else f"{old} became {new}"

    return effect


def becomes(old_name: str, new_name: str | None) -> Effect:
    """One lease under another title (None: it is gone), the fence unchanged."""

    def effect(before: Seen, after: Seen) -> str:
        old, new = _fences(before), _fences(after)
        if new == old:
            return NONE
        wanted = {key: value for key, value in old.items() if key != old_name}
        if new_name is not None:
            wanted[new_name] = old[old_name]
        return WHOLE if new == wanted else f"{old} became {new}"

    return effect


def gives_back_all(agent: str) -> Effect:
    """All leases of an agent are gone, or none."""

    def effect(before: Seen, after: Seen) -> str:
        old, new = _fences(before), _fences(after)
        rest = {key: value for key, value in old.items() if key not in before.of(agent)}
        return NONE if new == old else WHOLE if new == rest else f"{old} became {new}"

    return effect


def renews(agent: str) -> Effect:
    """All leases of an agent count from a later instant, or none does."""

    def effect(before: Seen, after: Seen) -> str:
        if _fences(before) != _fences(after):
            return f"{before.leases} became {after.leases}"
        later = {after.leases[name].renewed.mono > lease.renewed.mono for name, lease in before.of(agent).items()}
        return WHOLE if later == {True} else NONE if later == {False} else "only some are renewed"

    return effect


def queues(agent: str) -> Effect:
    """One waiter more."""

    def effect(before: Seen, after: Seen) -> str:
        if _fences(before) != _fences(after):
            return f"{before.leases} became {after.leases}"
        if after.waiting == before.waiting:
            return NONE
        return WHOLE if after.waiting == (*before.waiting, agent) else f"{before.waiting} became {after.waiting}"

    return effect


def installs(names: tuple[str, ...]) -> Effect:
    """Each hook is still the old one, or ours with the old one chained; the effect is whole when all are ours."""

    def effect(before: Seen, after: Seen) -> str:
        ours = 0
        for name in names:
            old, new = before.hooks.get(name), after.hooks.get(name)
            chained = after.hooks.get(name + BEFORE)
            if new is not None and provenance(new) == "pristine":
                ours += 1
                if chained != old:
                    return f"{name}: the hook of before is not chained"
            elif new != old or chained not in (None, old):
                return f"{name}: neither the old hook nor ours"
        return WHOLE if ours == len(names) else NONE

    return effect


def uninstalls(names: tuple[str, ...]) -> Effect:
    """Each hook is still ours with the old one chained, or the old one in its place; whole when ours are all gone."""

    def effect(before: Seen, after: Seen) -> str:
        gone = 0
        for name in names:
            old, ours = before.hooks.get(name + BEFORE), before.hooks.get(name)
            now = (after.hooks.get(name), after.hooks.get(name + BEFORE))
            if now not in ((ours, old), (old, None)):
                return f"{name}: {now}"
            gone += now == (old, None)
        return WHOLE if gone == len(names) else NONE

    return effect
