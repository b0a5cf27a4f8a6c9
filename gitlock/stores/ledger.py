"""A ledger as text, one record a line, and back. The format is a public promise: docs/ledger.md.

    {"format":"gitlock-ledger/1","writer":"…","store":"…","epoch":1,"fence":41,"published":1764470352.0}
    {"lease":{"id":"…","agent":"alice",…}}
    {"release":{"why":"released","at":…,"by":null,…,"lease":{…}}}

It comes from other people's clones: read strictly, within bounds, and believed in what it says about itself only. Kinds
of records and fields that a later version added are passed over; another format is refused.
"""

from gitlock import jsontext
from gitlock.domain.agent import KINDS, valid_agent
from gitlock.domain.instant import Instant
from gitlock.domain.lease import EXCLUSIVE, MODES, TTL_LIMIT, Ended, Holder, Lease
from gitlock.domain.ledger import SHOWN, Ledger
from gitlock.domain.pattern import parse_pattern
from gitlock.errors import StoreCorrupt, StoreTooNew, UsageError
from gitlock.stores.codec import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

FORMAT = "gitlock-ledger/1"
SIZE_LIMIT = 4 << 20  # bytes; ten thousand leases take half of it
TEXT_LIMIT = 4096  # characters of one pattern, key or reason
_ID = frozenset("0123456789abcdef")
_ID_LIMIT = 64

_LEASE, _RELEASE, _INCLUDE = b'{"lease":', b'{"release":', b'"include":['
_UNPLAIN = frozenset(b"*?[\\!\x7f") | frozenset(range(128, 256))  # what a plain name does not hold

_HEADER_FIELDS = frozenset(("format", "writer", "store", "epoch", "fence", "published"))


def format_ledger(ledger: Ledger) -> bytes:
    """The text of a ledger; ``ValueError`` for one that is larger than readers read."""
    header = {
        "format": FORMAT,
        "writer": ledger.writer,
        "store": ledger.store,
        "epoch": ledger.epoch,
        "fence": ledger.fence,
        "published": ledger.published,
        **ledger.extra,
    }
    lines = [jsontext.dumps(header)]
    lines += [jsontext.dumps({"lease": _encoded(lease)}) for lease in ledger.leases]
    lines += [jsontext.dumps({"release": _encoded_release(one)}) for one in ledger.releases]
    data = ("\n".join(lines) + "\n").encode()
    if len(data) > SIZE_LIMIT:
        raise ValueError(f"a ledger of {len(data)} bytes is too large")
    return data


def parse_ledger(data: bytes, where: str, wanted: "Callable[[bytes], bool] | None" = None) -> Ledger:
    """The ledger of a text; ``StoreCorrupt`` that names ``where`` and the line, ``StoreTooNew`` for a later format.

    With ``wanted``, only the live leases are read, and of these only lines for which that says yes (see
    ``may_concern``): of thousands hardly any has to do with a question.
    """
    if len(data) > SIZE_LIMIT:
        raise StoreCorrupt(f"{where}: larger than {SIZE_LIMIT >> 20} MiB")
    lines = data.split(b"\n")
    if lines.pop():
        raise StoreCorrupt(f"{where}: it is cut short")
    if not lines:
        raise StoreCorrupt(f"{where}: it is empty")
    head = _record(lines[0], f"{where}:1")
    _refuse_other_formats(head, where)
    read = Fields(head, f"{where}:1")
    writer = read.text("writer")
    if not is_writer(writer):
        raise read.fault("writer")
    store = read.text("store")
    if len(store) > _ID_LIMIT or not store.isprintable():
        raise read.fault("store")
    leases: dict[str, Lease] = {}
    releases: dict[str, Ended] = {}
    for number, line in enumerate(lines[1:], 2):
        if wanted is not None and line.endswith(b"}") and (
            line.startswith(_RELEASE) or (line.startswith(_LEASE) and not wanted(line))
        ):
            continue
        place = f"{where}:{number}"
        record = Fields(_record(line, place), place)
        if "lease" in record.record:
            lease = _decoded(record.of("lease"), place, writer)
            leases[lease.id] = lease
        elif "release" in record.record:
            ended = _decoded_release(record.of("release"), place, writer)
            releases[ended.lease.id] = ended
    return Ledger(
        writer=writer,
        store=store,
        epoch=read.whole("epoch"),
        fence=read.whole("fence"),
        published=read.wall("published"),
        leases=tuple(leases.values()),
        releases=tuple(one for one in releases.values() if one.lease.id not in leases),
        extra=read.others(_HEADER_FIELDS),
    )


def may_concern(line: bytes, anchors: "AbstractSet[bytes]") -> bool:
    """Whether the lease of a line may cover a path with one of these anchors (``domain.pattern.anchor_candidates``).
    False is certain: nothing but plain names is told apart without parsing, and a quote inside a text is escaped."""
    start = line.find(_INCLUDE)
    end = line.find(b"]", start)
    if start < 0 or end < 0:
        return True
    part = line[start + len(_INCLUDE) : end].lower()
    if not part:
        return False  # a pure key covers no path
    if not _UNPLAIN.isdisjoint(part) or b"//" in part or b"./" in part or b'"/' in part:
        return True
    return any(name.rstrip(b"/") in anchors for name in part[1:-1].split(b'","'))


def is_writer(text: str) -> bool:
    """Whether it can name a writer, and so a ref: as ``stores.files.writer`` makes them."""
    return 0 < len(text) <= _ID_LIMIT and _ID.issuperset(text)


def _refuse_other_formats(head: object, where: str) -> None:
    found = head.get("format") if isinstance(head, dict) else None
    if found == FORMAT:
        return
    name, _, number = found.partition("/") if isinstance(found, str) else ("", "", "")
    if name == "gitlock-ledger" and number.isascii() and number.isdigit() and len(number) < 10 and int(number) > 1:
        raise StoreTooNew(
            f"{where} has the format '{found}' of a later git-lock; this one reads '{FORMAT}'",
            hint="pip install --upgrade git-lock",
        )
    raise StoreCorrupt(f"{where}: it is no ledger")


def _record(line: bytes, place: str) -> object:
    try:
        return jsontext.loads(line.decode("utf-8"))
    except ValueError:
        raise StoreCorrupt(f"{place}: this line is not understood") from None


def _encoded(lease: Lease) -> dict[str, object]:
    return {
        "id": lease.id,
        "agent": lease.agent,
        "kind": lease.kind,
        "mode": lease.mode,
        "keys": lease.keys,
        "include": lease.include,
        "exclude": lease.exclude,
        "reason": lease.reason[:TEXT_LIMIT],
        "fence": lease.fence,
        "acquired": lease.acquired,
        "renewed": lease.renewed.wall,
        "ttl": lease.ttl,
        "branch": lease.holder.branch,
        **lease.extra,
    }


def _decoded(record: object, place: str, writer: str) -> Lease:
    read = Fields(record, place)
    ttl = read.number("ttl")
    if not 0 < ttl <= TTL_LIMIT:
        raise read.fault("ttl")
    name = read.text("id")
    if not is_writer(name):
        raise read.fault("id")
    extra: dict[str, object] = {name: True for name in SHOWN if read.record.get(name) is True}
    mode = read.text("mode")
    if mode not in MODES:  # a later version's: the strongest reading is the safe one
        extra["mode"] = mode
        mode = EXCLUSIVE
    kind = read.text("kind")
    keys, include, exclude = read.texts("keys"), read.texts("include"), read.texts("exclude")
    reason, branch = read.text("reason"), read.text_or_none("branch")
    try:
        agent = valid_agent(read.text("agent"))
        for text in (*include, *exclude):
            parse_pattern(text)
    except UsageError as error:
        raise StoreCorrupt(f"{place}: {error}") from None
    if any(len(text) > TEXT_LIMIT for text in (*keys, *include, *exclude, reason, branch or "")):
        raise StoreCorrupt(f"{place}: a text is longer than {TEXT_LIMIT} characters")
    fence = read.whole("fence")
    if not fence or not keys:
        raise read.fault("keys" if fence else "fence")
    return Lease(
        id=name,
        agent=agent,
        kind=kind if kind in KINDS else "agent",
        mode=mode,
        keys=keys,
        include=include,
        exclude=exclude,
        reason=reason,
        fence=fence,
        acquired=read.wall("acquired"),
        renewed=Instant(read.wall("renewed"), 0.0, ""),
        ttl=ttl,
        token_hash="",
        holder=Holder("", branch=branch, clone=writer),
        extra=extra,
    )


def _encoded_release(ended: Ended) -> dict[str, object]:
    return {
        "why": ended.why,
        "at": ended.at,
        "by": ended.by,
        "by_claim": None if ended.by_claim is None else ended.by_claim[:TEXT_LIMIT],
        "by_fence": ended.by_fence,
        "lease": _encoded(ended.lease),
    }


def _decoded_release(record: object, place: str, writer: str) -> Ended:
    read = Fields(record, place)
    by, by_claim, why = read.text_or_none("by"), read.text_or_none("by_claim"), read.text("why")
    if by is not None:
        try:
            valid_agent(by)
        except UsageError as error:
            raise StoreCorrupt(f"{place}: {error}") from None
    if len(why) > _ID_LIMIT or len(by_claim or "") > TEXT_LIMIT:
        raise read.fault("why")
    return Ended(
        _decoded(read.of("lease"), place, writer), why, read.wall("at"), by=by, by_claim=by_claim,
        by_fence=read.whole_or_none("by_fence"),
    )  # fmt: skip
