"""Planted bugs: each makes one function of the protocol wrong, as somebody might write it. The checker must find every
one of them, or it proves nothing."""

from collections.abc import Generator, Iterable
from typing import Any

from gitlock import jsontext
from gitlock.domain.holding import plan_renew
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, SHARED, Lease
from gitlock.domain.snapshot import Edits, Snapshot
from gitlock.domain.standing import DEAD, UNKNOWN
from gitlock.stores.codec import encode_lease
from gitlock.stores.files.mark import Mark
from gitlock.stores.files.state import State, format_state, fresh
from gitlock.stores.files.table import NoWaiters
from tests.sim.checker import Op
from tests.sim.protocol import Protocol
from tests.sim.running import Mutate


def seen_with(snapshot: Snapshot, **other: Any) -> Snapshot:
    """The same snapshot with something else in it."""
    fields = {name: getattr(snapshot, name) for name in Snapshot.__slots__}
    return Snapshot(**{**fields, **other})


def no_guard(protocol: Protocol) -> None:
    """Everybody writes at once."""
    protocol.guarded = False


def plan_before_the_guard(protocol: Protocol) -> None:
    """What was read before the guard was had is planned on."""
    original = protocol.lock

    def update(process: Any, op: Op, plan: Any) -> Generator[str, None, Any]:
        state = yield from protocol.load(begin=True)
        yield from original(process)
        snapshot = protocol.snapshot(state)
        op.saw = protocol.checker.saw()
        edits, outcome = plan(snapshot)
        if not edits.is_empty:
            after = protocol.edited(state, snapshot, edits)
            yield from protocol.publish(op, format_state(after))
            protocol.world.disk.mark = Mark(after.store, after.epoch, after.counter, after.revision)
        protocol.unlock(process)
        return outcome

    protocol.update = update  # type: ignore[method-assign]


def wall_clock(protocol: Protocol) -> None:
    """Leases are judged by the wall clock, which anybody may put forward or back."""
    snapshot_of = protocol.snapshot

    def snapshot(state: State) -> Snapshot:
        found = snapshot_of(state)
        return seen_with(found, now=Instant(found.now.wall, found.now.mono, "some other boot"))

    protocol.snapshot = snapshot  # type: ignore[method-assign]
    original = protocol.edited

    def edited(state: State, snapshot: Snapshot, edits: Edits) -> State:
        put = tuple(_of_this_boot(protocol, lease, snapshot) for lease in edits.put)
        return original(state, snapshot, edits.replace(put=put))

    protocol.edited = edited  # type: ignore[method-assign]


def _of_this_boot(protocol: Protocol, lease: Lease, found: Snapshot) -> Lease:
    now = Instant(found.now.wall, found.now.mono, f"boot-{protocol.world.boots}")
    return lease.replace(renewed=now) if lease.renewed.boot == "some other boot" else lease


def release_without_identity(protocol: Protocol) -> None:
    """Whoever names a lease ends it."""
    original = protocol.plan_release

    def plan(snapshot: Snapshot, agent: str, wanted: Any, fold: Any) -> Any:
        return original(snapshot, agent, wanted, fold, proves=lambda _: True)

    protocol.plan_release = plan  # type: ignore[assignment]


def fence_of_those_that_are_held(protocol: Protocol) -> None:
    """The next fence is one above those of the leases that are there, not of all that there were."""
    original = protocol.plan_claim
    protocol.plan_claim = lambda snapshot, claim, **more: original(
        seen_with(snapshot, counter=max((lease.fence for lease in snapshot.leases.all()), default=0)), claim, **more
    )


def two_renames(protocol: Protocol) -> None:
    """A claim of two patterns is written one pattern after the other."""
    publish = protocol.publish

    def in_two(op: Op, data: bytes) -> Generator[str, None, None]:
        state = protocol.parsed(data)
        assert state is not None
        snapshot = protocol.snapshot(state)
        new = [lease for lease in snapshot.leases.all() if lease.agent == op.agent and len(lease.include) > 1]
        if new and op.verb == "claim":
            leases = [lease.replace(include=lease.include[:1], keys=lease.keys[:-1]) for lease in new]
            others = [lease for lease in snapshot.leases.all() if lease not in new]
            yield from publish(op, format_state(_with_leases(state, [*others, *leases])))
        yield from publish(op, data)

    protocol.publish = in_two  # type: ignore[method-assign]


def _with_leases(state: State, leases: Iterable[Lease]) -> State:
    rows = [jsontext.dumps(encode_lease(lease)).encode() for lease in leases]
    return State(state.header, {**state.sections, "leases": rows}, "two renames")


def barging(protocol: Protocol) -> None:
    """Whoever comes when something is free takes it, whoever has been waiting."""
    original = protocol.plan_claim

    def plan(snapshot: Snapshot, claim: Any, *, place: Any = None, **more: Any) -> Any:
        if place is None:
            snapshot = seen_with(snapshot, waiters=NoWaiters())
        return original(snapshot, claim, place=place, **more)

    protocol.plan_claim = plan


def last_come_first_served(protocol: Protocol) -> None:
    """Who has a place in the queue takes it for the first one."""
    original = protocol.plan_claim

    def plan(snapshot: Snapshot, claim: Any, *, place: Any = None, **more: Any) -> Any:
        if place is not None:
            place = place.replace(order=0)
        return original(snapshot, claim, place=place, **more)

    protocol.plan_claim = plan


def renewed_from_memory(protocol: Protocol) -> None:
    """Whoever renews writes down the leases that it remembers, whatever has become of them since."""
    remembered: dict[str, dict[str, Lease]] = {}

    def plan(snapshot: Snapshot, agent: str, wanted: Any, ttl: Any, fold: Any) -> Any:
        known = remembered.setdefault(agent, {})
        known.update((lease.id, lease) for lease in snapshot.leases.of((agent,)))
        leases = [lease for lease in snapshot.leases.all() if lease.id not in known]
        return plan_renew(snapshot.with_leases([*leases, *known.values()]), agent, wanted, ttl, fold)

    protocol.plan_renew = plan


def orphans_freed(protocol: Protocol) -> None:
    """A dead holder's lease goes, whatever it left uncommitted."""
    protocol.is_dirty = lambda _: False


def silent_is_dead(protocol: Protocol) -> None:
    """A process that can't be seen is taken for dead."""
    original = protocol.liveness
    protocol.liveness = lambda lease: DEAD if original(lease) == UNKNOWN and lease.holder.pid else original(lease)


def shared_beside_exclusive(protocol: Protocol) -> None:
    """Who wants it shared does not look whether somebody has it exclusively."""
    original = protocol.plan_claim

    def plan(snapshot: Snapshot, claim: Any, **more: Any) -> Any:
        if claim.mode == SHARED:
            own = [lease for lease in snapshot.leases.all() if lease.agent == claim.agent or lease.mode != EXCLUSIVE]
            snapshot = snapshot.with_leases(own)
        return original(snapshot, claim, **more)

    protocol.plan_claim = plan


def upgraded_beside_others(protocol: Protocol) -> None:
    """Shared becomes exclusive though others share it."""
    original = protocol.plan_claim

    def plan(snapshot: Snapshot, claim: Any, **more: Any) -> Any:
        if claim.mode == EXCLUSIVE:
            snapshot = snapshot.with_leases(
                lease for lease in snapshot.leases.all() if lease.agent == claim.agent or lease.mode != SHARED
            )
        return original(snapshot, claim, **more)

    protocol.plan_claim = plan


def epoch_not_raised(protocol: Protocol) -> None:
    """A store that was lost begins as a new one does."""
    protocol.begun = lambda mark, seen, data: fresh(mark.store)  # type: ignore[method-assign]


def unsynced_file(protocol: Protocol) -> None:
    """The name is given before the content is on the plate."""
    disk = protocol.world.disk
    disk.sync = lambda: None  # type: ignore[method-assign]


def unsynced_folder(protocol: Protocol) -> None:
    """The content is on the plate, its name may not be."""
    disk = protocol.world.disk
    disk.sync_folder = lambda: None  # type: ignore[method-assign]


def lost_write(protocol: Protocol) -> None:
    """Success is told before anything is written; who writes it down may be killed."""
    publish = protocol.publish

    def later(op: Op, data: bytes) -> Generator[str, None, None]:
        if len(data) % 7:
            yield from publish(op, data)
        else:
            op.made = protocol.world.new_id()

    protocol.publish = later  # type: ignore[method-assign]


def removed_before_the_rename(protocol: Protocol) -> None:
    """The old document is removed before the new one has its name."""
    publish = protocol.publish

    def in_the_open(op: Op, data: bytes) -> Generator[str, None, None]:
        protocol.world.disk.state = None
        yield "remove"
        yield from publish(op, data)

    protocol.publish = in_the_open  # type: ignore[method-assign]


def written_in_place(protocol: Protocol) -> None:
    """No temporary file: readers see half a document."""
    publish = protocol.publish

    def in_place(op: Op, data: bytes) -> Generator[str, None, None]:
        protocol.world.disk.state = data[: len(data) // 2]
        yield "write half"
        yield from publish(op, data)

    protocol.publish = in_place  # type: ignore[method-assign]


def partial_narrowing(protocol: Protocol) -> None:
    """Whoever gives up a part of a lease is told so, and keeps it."""
    original = protocol.plan_release

    def plan(snapshot: Snapshot, agent: str, wanted: Any, fold: Any) -> Any:
        edits, answer = original(snapshot, agent, wanted, fold)
        put = tuple(
            lease.replace(exclude=lease.exclude[:-1]) if lease in answer.narrowed and lease.exclude else lease
            for lease in edits.put
        )
        return edits.replace(put=put), answer

    protocol.plan_release = plan  # type: ignore[assignment]


def narrowed_too_far(protocol: Protocol) -> None:
    """Whoever gives up a part loses the whole lease."""
    original = protocol.plan_release

    def plan(snapshot: Snapshot, agent: str, wanted: Any, fold: Any) -> Any:
        edits, answer = original(snapshot, agent, wanted, fold)
        gone = {lease.id for lease in answer.narrowed}
        put = tuple(lease for lease in edits.put if lease.id not in gone)
        return edits.replace(put=put, drop=(*edits.drop, *gone)), answer

    protocol.plan_release = plan  # type: ignore[assignment]


def ended_in_silence(protocol: Protocol) -> None:
    """Whose lease is taken over is not told."""
    original = protocol.plan_claim

    def plan(snapshot: Snapshot, claim: Any, **more: Any) -> Any:
        edits, answer = original(snapshot, claim, **more)
        return edits.replace(ended=()), answer

    protocol.plan_claim = plan


def swept_early(protocol: Protocol) -> None:
    """``gc`` takes away what has lapsed a moment ago."""
    original = protocol.plan_sweep

    def plan(snapshot: Snapshot) -> Any:
        edits, count = original(snapshot)
        lapsed = tuple(lease.id for lease in snapshot.leases.all() if lease.left(snapshot.now) <= 0)
        return edits.replace(drop=lapsed), count

    protocol.plan_sweep = plan


def broken_without_force(protocol: Protocol) -> None:
    """Break and steal do not ask whether the holder is there."""
    original = protocol.plan_break

    def plan(snapshot: Snapshot, agent: str, wanted: Any, *, force: bool, **more: Any) -> Any:
        return original(snapshot, agent, wanted, force=True, **more)

    protocol.plan_break = plan


def everybody_renews(protocol: Protocol) -> None:
    """A heartbeat renews what is there, whoever has it."""
    original = protocol.with_beat

    def beat(edits: Any, snapshot: Snapshot, agent: str, seat_of: Any = None) -> Any:
        edits, found = original(edits, snapshot, agent, seat_of)
        touched = {*edits.drop, *(lease.id for lease in edits.put)}
        more = tuple(
            lease.renewed_at(snapshot.now) for lease in snapshot.leases.all() if lease.id not in touched
        )
        return edits.replace(put=edits.put + more), found

    protocol.with_beat = beat


MUTANTS: dict[str, Mutate] = {
    mutant.__name__: mutant
    for mutant in (
        no_guard, plan_before_the_guard, wall_clock, release_without_identity, fence_of_those_that_are_held,
        two_renames, barging, last_come_first_served, renewed_from_memory, orphans_freed, silent_is_dead,
        shared_beside_exclusive, upgraded_beside_others, epoch_not_raised, unsynced_file, unsynced_folder, lost_write,
        removed_before_the_rename, written_in_place, partial_narrowing, narrowed_too_far, ended_in_silence, swept_early,
        broken_without_force, everybody_renews,
    )
}  # fmt: skip
