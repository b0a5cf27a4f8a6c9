"""The judge: it has its own table of what was truly granted, reads the documents by itself, and knows patterns only as
sets of paths. Of git-lock it takes nothing."""

import json
from typing import Any, NamedTuple

from tests.sim.world import Saw, World

# One path for each set of patterns that cover it. A name covers what is below it, so that ``c`` meets ``*/1``.
PATHS = {
    "a/1": {"a/1"}, "a/2": {"a/2"}, "b/1": {"b/1"}, "c": {"c", "c/1"},
    "a/*": {"a/1", "a/2", "a/3"}, "b/*": {"b/1", "b/3"}, "*/1": {"a/1", "b/1", "c/1", "d/1"},
    "**": {"a/1", "a/2", "a/3", "b/1", "b/3", "c", "c/1", "d/1", "e"},
}  # fmt: skip
MAKING = ("claim", "steal", "grant")
PASSES = 8
DAY = 86400.0
# Bounds that differ by less are called by rounding, not by the rule.
BLUR = 0.01


class Broken(AssertionError):
    """An invariant does not hold: which one, in a word, and how."""

    def __init__(self, rule: str, how: str) -> None:
        super().__init__(f"{rule}: {how}")
        self.rule = rule


def extent(record: dict[str, Any]) -> frozenset[str]:
    """The paths and keys of a lease or a waiter."""
    paths: set[str] = set()
    for text in record["include"]:
        paths |= PATHS[text]
    for text in record["exclude"]:
        paths -= PATHS[text]
    return frozenset(paths | {key for key in record["keys"] if key[:5] not in ("file:", "glob:")})


def paths_of(record: dict[str, Any]) -> frozenset[str]:
    """The paths alone."""
    return frozenset(one for one in extent(record) if ":" not in one)


def related(one: str, other: str) -> bool:
    """A child works under its parent's leases."""
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def exclude_each_other(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the two may not be held at once."""
    modes = {one["mode"], other["mode"]}
    if "intent" in modes or modes == {"shared"} or related(one["agent"], other["agent"]):
        return False
    return not extent(one).isdisjoint(extent(other))


class Op:
    """What a process is about, as it was asked: not what a plan has made of it."""

    def __init__(
        self,
        verb: str,
        agent: str,
        *,
        include: tuple[str, ...] = (),
        keys: tuple[str, ...] = (),
        mode: str = "exclusive",
        by: str = "",
        force: bool = False,
    ) -> None:
        self.verb = verb
        self.agent = agent  # in whose name leases are made
        self.by = by or agent  # who gives up something of its own
        self.include = include
        self.keys = keys
        self.mode = mode
        self.force = force
        self.order: int | None = None  # the place in the queue that it has
        self.saw = Saw(0.0, 0, frozenset())
        self.clean: set[str] = set()  # leases whose files were truly unchanged when it looked
        self.made: str | None = None
        self.gone: list[str] = []

    @property
    def wanted(self) -> frozenset[str]:
        """Everything, where nothing is named."""
        return extent({"include": self.include or ("**",), "exclude": (), "keys": self.keys})

    def __str__(self) -> str:
        how = ("" if self.mode == "exclusive" else f" ({self.mode})") + (" by force" if self.force else "")
        return f"{self.by} {self.verb} {' '.join((*self.keys, *self.include))}{how}"


class Since(NamedTuple):
    """From when a lease's time counts, truly."""

    mono: float
    boots: int


class Checker:
    """Looks at every document the moment it can be seen."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.doc: dict[str, Any] | None = None
        self.since: dict[str, Since] = {}
        self.over: set[str] = set()  # leases that have ended: they never come back
        self.granted: dict[str, int] = {}  # what was acknowledged and has not ended since
        self.released: set[str] = set()  # acknowledged as well
        self.highest = 0  # fence
        self.epoch = 1
        self.grants = 0

    def broken(self, rule: str, how: str) -> Broken:
        """For those who see something that I can't."""
        return Broken(rule, how)

    # -- what happens

    def saw(self) -> Saw:
        """What is true now, for a plan that is made now."""
        waiting = set()
        for one in (self.doc or {"waiters": ()})["waiters"]:
            process = one["process"]
            if process is None:
                recent = one["boot"] == f"boot-{self.world.boots}" and self.world.mono - one["seen_mono"] < DAY - 1
                offered = one["offered_mono"]
                if recent and (offered is None or self.world.mono - offered < 119):
                    waiting.add(one["id"])
            elif process["boot"] == f"boot-{self.world.boots}" and any(
                (it.pid, it.started) == (process["pid"], process["started"]) and it.alive and not it.paused
                for it in self.world.processes
            ):
                waiting.add(one["id"])
        return Saw(self.world.mono, self.world.boots, frozenset(waiting))

    def published(self, op: Op, data: bytes) -> None:
        """A new document can be seen."""
        after = json.loads(data)
        before = self.doc
        if before is None or self.world.lost:
            self._began_anew(after)
            before = {"leases": (), "waiters": (), "ended": (), "revision": 0, "epoch": after["epoch"]}
        if (after["epoch"], after["revision"]) <= (before["epoch"], before["revision"]):
            raise Broken("revisions", f"revision {after['revision']} came after {before['revision']}")
        old = {one["id"]: one for one in before["leases"]}
        new = {one["id"]: one for one in after["leases"]}
        if len(new) != len(after["leases"]):
            raise Broken("all or nothing", "a lease is there twice")
        told = {one["lease"]["id"]: one["why"] for one in after["ended"]}
        for name, lease in old.items():
            if name not in new:
                self._ended(op, lease, told.get(name))
            elif new[name] is not lease:
                self._changed(op, lease, new[name])
        for name, lease in new.items():
            if name not in old or old[name]["fence"] != lease["fence"]:
                self._granted(op, lease, before)
            if name not in old or _times(lease) != _times(old[name]):
                self.since[name] = Since(op.saw.mono, op.saw.boots)
        self.doc = after
        self._excludes(op, after)

    def acknowledged(self, op: Op, fence: int | None = None) -> None:
        """A process has told its caller that it is done: that must outlive everything."""
        safe = json.loads(self.world.disk.safe) if self.world.disk.safe else {"leases": ()}
        on_plate = {one["id"] for one in safe["leases"]}
        if op.made is not None and fence is not None and op.made not in self.over and not self.world.lost:
            if op.made not in on_plate:
                raise Broken("acknowledged", f"{op}: acknowledged, and not on the disk to last")
            self.granted[op.made] = fence
        for name in op.gone:
            if name in on_plate:
                raise Broken("acknowledged", f"{op}: its end was acknowledged, and is not on the disk to last")
            self.released.add(name)

    def power_came_back(self) -> None:
        """What is there now is all there is."""
        if self.world.lost or self.doc is None:
            return
        state = self.world.disk.state
        if state is None and not self.granted and not self.released:
            self.doc, self.highest = None, 0  # the very first document, which nobody was told of
            return
        if state is None or not state.endswith(b"}\n"):
            raise Broken("power", f"the power cut left {state!r}")
        self.doc = json.loads(state)
        there = {one["id"]: one for one in self.doc["leases"]}
        for name, fence in self.granted.items():
            if name not in there or there[name]["fence"] < fence:  # more: it was made exclusive since
                raise Broken("power", f"the power cut took lease {name} (fence {fence}), which was acknowledged")
        back = self.released & there.keys()
        if back:
            raise Broken("power", f"the power cut brought back {back}, whose end was acknowledged")
        self.over -= there.keys()
        # A fence that was never acknowledged may be given again.
        self.highest = max([0, *self.granted.values(), self.doc["counter"]])

    def store_was_lost(self) -> None:
        """Deleted, or put back from an older copy: what was held can't be told any more."""
        self.granted.clear()
        self.released.clear()

    def found_lost(self, *, truly: bool) -> None:
        """A process says that the store was lost (when it looked; since then somebody may have begun anew)."""
        if not truly:
            raise Broken("lost", "a store that is all right was taken for lost")

    # -- the rules

    def _began_anew(self, after: dict[str, Any]) -> None:
        if self.doc is not None and after["epoch"] <= self.epoch:
            raise Broken("epoch", f"the store was lost, and epoch {after['epoch']} is not above {self.epoch}")
        self.over |= self.since.keys()
        self.world.lost = False

    def _excludes(self, op: Op, after: dict[str, Any]) -> None:
        self.epoch = max(self.epoch, after["epoch"])
        leases = [one for one in after["leases"] if self._left(one) > BLUR and not self._is_old(one)]
        for number, one in enumerate(leases):
            for other in leases[:number]:
                if exclude_each_other(one, other):
                    raise Broken("exclusion", f"{op}: {_name(one)} and {_name(other)} are held at once")

    def _granted(self, op: Op, lease: dict[str, Any], before: dict[str, Any]) -> None:
        self.grants += 1
        if op.verb not in MAKING or lease["agent"] != op.agent:
            raise Broken("made", f"{op}: made {_name(lease)}")
        if tuple(lease["include"]) != op.include or lease["exclude"] or extent(lease) != op.wanted:
            raise Broken("all or nothing", f"{op}: made {_name(lease)}, which is not what was asked for, whole")
        if lease["mode"] != op.mode:
            raise Broken("mode", f"{op}: made {_name(lease)} in another mode")
        if lease["id"] in self.over:
            raise Broken("over", f"{op}: {_name(lease)} had ended, and came back")
        if lease["fence"] <= self.highest:
            raise Broken("fence", f"{op}: fence {lease['fence']} is not above {self.highest}")
        self.highest = lease["fence"]
        op.made = lease["id"]
        if op.verb == "claim" and op.mode != "intent":
            self._in_order(op, lease, before)

    def _in_order(self, op: Op, lease: dict[str, Any], before: dict[str, Any]) -> None:
        for waiter in before["waiters"]:
            if op.order is not None and waiter["order"] >= op.order:
                continue
            if waiter["id"] not in op.saw.waiting or not exclude_each_other(waiter, lease):
                continue
            blocked = any(
                exclude_each_other(waiter, one) and (self._is_old(one) or self._left(one, op.saw.mono) > -BLUR)
                for one in before["leases"]
            )
            if not (blocked and extent(lease) < extent(waiter) and waiter["passed"] < PASSES):
                who = f"{waiter['agent']}, who waits for {waiter['include']} since before"
                raise Broken("order", f"{op}: went before {who}")

    def _ended(self, op: Op, lease: dict[str, Any], why: str | None) -> None:
        name, mine = lease["id"], related(lease["agent"], op.by)
        self.over.add(name)
        self.granted.pop(name, None)
        gives = (op.verb == "release" and lease["agent"] == op.by) or (op.verb == "grant" and mine)
        if gives and (not op.include or paths_of(lease) <= op.wanted):
            op.gone.append(name)
            return
        if op.verb == "sweep" and (self._is_old(lease) or self._left(lease, op.saw.mono) <= -DAY + BLUR):
            return
        if why is None:
            raise Broken("told", f"{op}: {_name(lease)} ended, and its holder will not hear of it")
        meets = exclude_each_other({**lease, "agent": op.agent, **_record(op)}, lease)
        lapsed = self._is_old(lease) or self._left(lease, op.saw.mono) < BLUR
        if op.verb in ("break", "steal") and not mine:
            if not extent(lease).isdisjoint(op.wanted) and (op.force or lapsed or self._is_dead(lease)):
                return
            if op.verb == "steal" and meets and (lapsed or self._may_go(op, lease)):
                return
        elif op.verb in ("claim", "grant") and meets and (lapsed or self._may_go(op, lease)):
            return
        raise Broken("early end", f"{op}: ended {_name(lease)}, which had {self._left(lease):.2f} s left ({why})")

    def _may_go(self, op: Op, lease: dict[str, Any]) -> bool:
        """Its holder is gone, and when somebody looked, nothing was changed (a moment later it may be)."""
        return self._is_dead(lease) and lease["id"] in op.clean

    def _changed(self, op: Op, old: dict[str, Any], new: dict[str, Any]) -> None:
        mine = related(old["agent"], op.by)
        if old["agent"] != new["agent"]:
            raise Broken("changed", f"{op}: {_name(old)} became {_name(new)}")
        if _times(old) != _times(new):
            own = new["agent"] in (op.agent, op.by) or op.agent.startswith(new["agent"] + "/")
            if not own and not self._is_old(old):
                raise Broken("renewed", f"{op}: renewed {_name(old)}")
            if round(op.saw.mono, 3) != new["renewed_mono"]:
                raise Broken("time", f"{op}: {_name(new)} counts from {new['renewed_mono']}, and it was {op.saw.mono}")
        if old["fence"] != new["fence"]:
            upgrade = (old["mode"], new["mode"]) == ("shared", "exclusive")
            if not (upgrade and op.verb in MAKING and new["agent"] == op.agent):
                raise Broken("fence", f"{op}: {_name(old)} has the fence {new['fence']} now")
            return
        if old["mode"] != new["mode"]:
            raise Broken("changed", f"{op}: {_name(old)} became {_name(new)}")
        if extent(old) != extent(new):
            if op.verb not in ("release", "grant") or not mine:
                raise Broken("changed", f"{op}: {_name(old)} became {_name(new)}")
            if extent(new) != paths_of(old) - op.wanted:  # its keys stood for the whole
                raise Broken("narrowed", f"{op}: narrowed {_name(old)} to {_name(new)}")

    # -- what is true

    def _left(self, lease: dict[str, Any], at: float | None = None) -> float:
        since = self.since.get(lease["id"], Since(lease["renewed_mono"], self.world.boots))
        return float(lease["ttl"]) - ((self.world.mono if at is None else at) - since.mono)

    def _is_old(self, lease: dict[str, Any]) -> bool:
        """Of another boot: only the wall clock could tell, and it may lie."""
        since = self.since.get(lease["id"])
        known = lease["boot"] == f"boot-{self.world.boots}" and (since is None or since.boots == self.world.boots)
        return not known

    def _is_dead(self, lease: dict[str, Any]) -> bool:
        holder = lease["holder"]
        if holder["pid"] is None or holder["pid_space"] != "here":
            return False
        return holder["boot"] != f"boot-{self.world.boots}" or not any(
            it.pid == holder["pid"] and it.started == holder["started"] and it.alive
            for it in self.world.programs.values()
        )


def _record(op: Op) -> dict[str, Any]:
    return {"include": list(op.include), "exclude": [], "keys": list(op.keys), "mode": op.mode}


def _times(lease: dict[str, Any]) -> tuple[object, ...]:
    return lease["renewed_mono"], lease["boot"], lease["ttl"]


def _name(lease: dict[str, Any]) -> str:
    texts = [*lease["include"], *(f"!{text}" for text in lease["exclude"])]
    return f"{lease['agent']}'s {lease['mode']} {' '.join(texts)} (fence {lease['fence']}, {lease['id']})"
