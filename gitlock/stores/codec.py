"""Leases and ended leases as JSON records and back. The format is a public promise: docs/protocol.md.

Reading is strict about types (what is not understood is corrupt, never guessed) and keeps fields that a later
version added.
"""

from gitlock.domain.footprint import Footprint
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EPOCH_LIMIT, EPOCH_STEP, EXCLUSIVE, MODES, TTL_LIMIT, Ended, Holder, Lease
from gitlock.domain.pattern import parse_pattern
from gitlock.errors import StoreCorrupt, UsageError

SEPARATOR = "|"  # between the entries of "at"; no entry holds it
_AWKWARD = frozenset('"\\|')  # would need escaping: the anchor is cut before a segment that holds one

_LEASE_FIELDS = frozenset((
    "at", "agent", "id", "kind", "mode", "keys", "include", "exclude", "reason", "fence", "acquired", "renewed",
    "renewed_mono", "boot", "ttl", "token_sha256", "holder",
))  # fmt: skip
_HOLDER_FIELDS = frozenset((
    "host", "worktree", "branch", "session", "pid", "started", "pid_space", "boot", "clone",
))  # fmt: skip
_ENDED_FIELDS = frozenset(("agent", "why", "at", "by", "by_claim", "by_fence", "note", "told", "lease"))
WALL_LIMIT = 253402300800.0  # the year 10000: what no calendar can show is damage


def plain_anchor(anchor: str) -> str:
    """An anchor that stands in a record without escapes: cut before the first awkward segment, so it may only find
    more, never less."""
    if anchor[:1] == ":":
        return ""  # a colon in front marks a key
    if _AWKWARD.isdisjoint(anchor) and anchor.isprintable():
        return anchor
    kept = ""
    for segment in anchor.split("/"):
        if not (_AWKWARD.isdisjoint(segment) and segment.isprintable()):
            break
        kept += segment + "/"
    return kept


def entries_of(lease: Lease) -> list[str]:
    """What a lease is found by: the anchors of its patterns, and ``:name`` for each semantic key."""
    return anchor_entries(lease.footprint, lease.names)


def anchor_entries(footprint: Footprint, names: tuple[str, ...]) -> list[str]:
    """The same for any claim."""
    found = {plain_anchor(pattern.anchor) for pattern in footprint.include}
    return sorted(found) + sorted({":" + name.lower() for name in names})


def encode_lease(lease: Lease) -> dict[str, object]:
    """The record of a lease. ``at`` and ``agent`` come first: readers find leases by them without parsing the rest."""
    return {
        "at": SEPARATOR.join(entries_of(lease)),
        "agent": lease.agent,
        "id": lease.id,
        "kind": lease.kind,
        "mode": lease.mode,
        "keys": lease.keys,
        "include": lease.include,
        "exclude": lease.exclude,
        "reason": lease.reason,
        "fence": lease.fence,
        "acquired": lease.acquired,
        "renewed": lease.renewed.wall,
        "renewed_mono": lease.renewed.mono,
        "boot": lease.renewed.boot,
        "ttl": lease.ttl,
        "token_sha256": lease.token_hash,
        "holder": encode_holder(lease.holder),
        **lease.extra,
    }


def decode_lease(record: object, where: str) -> Lease:
    """The lease of a record, or ``StoreCorrupt`` that names ``where`` and the field."""
    read = Fields(record, where)
    ttl = read.number("ttl")
    if not 0 < ttl <= TTL_LIMIT:
        raise StoreCorrupt(f"{where}: 'ttl' is {ttl}")
    mode = read.text("mode")
    extra = read.others(_LEASE_FIELDS)
    if mode not in MODES:
        # A later version's mode: the strongest reading is the safe one, and what was written is kept.
        extra["mode"] = mode
        mode = EXCLUSIVE
    include, exclude = read.texts("include"), read.texts("exclude")
    try:
        for text in (*include, *exclude):
            parse_pattern(text)
    except UsageError as error:
        raise StoreCorrupt(f"{where}: {error}") from None
    return Lease(
        id=read.text("id"),
        agent=read.text("agent"),
        kind=read.text("kind"),
        mode=mode,
        keys=read.texts("keys"),
        include=include,
        exclude=exclude,
        reason=read.text("reason"),
        fence=read.whole("fence"),
        acquired=read.wall("acquired"),
        renewed=Instant(read.wall("renewed"), read.number("renewed_mono"), read.text("boot")),
        ttl=ttl,
        token_hash=read.text("token_sha256"),
        holder=decode_holder(read.of("holder"), where),
        extra=extra,
    )


def encode_holder(holder: Holder) -> dict[str, object]:
    """The record of a holder, inside another."""
    return {
        "host": holder.host,
        "worktree": holder.worktree,
        "branch": holder.branch,
        "session": holder.session,
        "pid": holder.pid,
        "started": holder.started,
        "pid_space": holder.pid_space,
        "boot": holder.boot,
        "clone": holder.clone,
        **holder.extra,
    }


def decode_holder(record: object, where: str) -> Holder:
    """The holder of a record, or ``StoreCorrupt``."""
    read = Fields(record, where)
    return Holder(
        host=read.text("host"),
        worktree=read.text_or_none("worktree"),
        branch=read.text_or_none("branch"),
        session=read.text_or_none("session"),
        pid=read.pid(),
        started=read.whole_or_none("started"),
        pid_space=read.text_or_none("pid_space"),
        boot=read.text("boot"),
        clone=read.text_or_none("clone"),
        extra=read.others(_HOLDER_FIELDS),
    )


def encode_ended(ended: Ended) -> dict[str, object]:
    """The record of an ended lease."""
    return {
        "agent": ended.lease.agent,
        "why": ended.why,
        "at": ended.at,
        "by": ended.by,
        "by_claim": ended.by_claim,
        "by_fence": ended.by_fence,
        "note": ended.note,
        "told": ended.told,
        "lease": encode_lease(ended.lease),
        **ended.extra,
    }


def decode_ended(record: object, where: str) -> Ended:
    """The ended lease of a record, or ``StoreCorrupt``."""
    read = Fields(record, where)
    return Ended(
        lease=decode_lease(read.of("lease"), where),
        why=read.text("why"),
        at=read.wall("at"),
        by=read.text_or_none("by"),
        by_claim=read.text_or_none("by_claim"),
        by_fence=read.whole_or_none("by_fence"),
        note=read.text("note"),
        told=read.flag("told"),
        extra=read.others(_ENDED_FIELDS),
    )


class Fields:
    """A record's fields, read with strict types: no ``true`` for 1, no negative or endless numbers."""

    __slots__ = ("record", "where")

    def __init__(self, record: object, where: str) -> None:
        if type(record) is not dict:
            raise StoreCorrupt(f"{where}: not a record")
        self.record: dict[str, object] = record
        self.where = where

    def of(self, name: str) -> object:
        if name not in self.record:
            raise self.fault(name)
        return self.record[name]

    def fault(self, name: str) -> StoreCorrupt:
        return StoreCorrupt(f"{self.where}: '{name}' is missing or not understood")

    def text(self, name: str) -> str:
        value = self.of(name)
        if type(value) is not str:
            raise self.fault(name)
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self.of(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.of(name)
        if type(value) is not list or not all(type(item) is str for item in value):
            raise self.fault(name)
        return tuple(value)

    def number(self, name: str) -> float:
        value = self.of(name)
        if type(value) is int and 0 <= value < 1e15:
            return float(value)
        if type(value) is not float or not 0 <= value < 1e15:
            raise self.fault(name)
        return value

    def wall(self, name: str) -> float:
        """A time that a calendar can show."""
        value = self.number(name)
        if value >= WALL_LIMIT:
            raise self.fault(name)
        return value

    def whole(self, name: str) -> int:
        value = self.of(name)
        if type(value) is not int or not 0 <= value < EPOCH_STEP * EPOCH_LIMIT:
            raise self.fault(name)
        return value

    def whole_or_none(self, name: str) -> int | None:
        return None if self.of(name) is None else self.whole(name)

    def others(self, known: frozenset[str]) -> dict[str, object]:
        """The fields beside these: what a later version added."""
        return {name: value for name, value in self.record.items() if name not in known}

    def flag(self, name: str) -> bool:
        value = self.of(name)
        if type(value) is not bool:
            raise self.fault(name)
        return value

    def pid(self) -> int | None:
        """A process id that may be asked about: 0, 1 and negative ones mean other things to the kernel."""
        value = self.whole_or_none("pid")
        return value if value is None or value > 1 else None
