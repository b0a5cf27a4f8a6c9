"""What a commit says of the leases that it was made under, written: a receipt, and the trailers of a message.

``gitlock.domain.receipt`` says what they look like, and reads them; apart from it, since a hook only writes them.
"""

from gitlock.domain.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitlock.domain.footprint import Footprint
    from gitlock.domain.lease import Lease

AGENT, LEASE, BYPASS = "Lock-Agent", "Lock-Lease", "Lock-Bypass"

LINE_AIM = 2_000  # characters after which a claim goes on in another line
REASON_LIMIT = 200  # characters of a bypass's reason

BARE = frozenset("!#$%&'()*+,-./0123456789;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~")
NAMES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
LETTERS = {code: "\\" + letter for letter, code in NAMES.items()}


class Receipt(Value):
    """One lease that a commit was made under. ``agent`` is the committer, who may work under a parent's or child's
    lease ("" where the message does not say); ``keys`` are the claim's semantic keys."""

    __slots__ = ("agent", "exclude", "fence", "include", "keys", "lease", "store")

    def __init__(
        self,
        *,
        lease: str,
        store: str,
        fence: int,
        keys: tuple[str, ...] = (),
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        agent: str = "",
    ) -> None:
        self.lease = lease
        self.store = store
        self.fence = fence
        self.keys = keys
        self.include = include
        self.exclude = exclude
        self.agent = agent

    @classmethod
    def of(cls, lease: "Lease", store: str, agent: str) -> "Receipt":
        """The receipt of a lease in the store of that name, for what ``agent`` commits."""
        return cls(
            lease=lease.id, store=store, fence=lease.fence, keys=lease.names, include=lease.include,
            exclude=lease.exclude, agent=agent,
        )  # fmt: skip

    @property
    def epoch(self) -> int:
        """The epoch of the store that gave the fence; fences compare within one store and epoch only."""
        from gitlock.domain.lease import EPOCH_STEP  # who only writes receipts does without

        return (self.fence - 1) // EPOCH_STEP + 1

    @property
    def footprint(self) -> "Footprint":
        """The paths that it is about; empty for a pure key."""
        from gitlock.domain.footprint import Footprint

        return Footprint.of(self.include, self.exclude)

    @property
    def title(self) -> str:
        """The claim as people write it."""
        return " ".join([*self.keys, *self.include, *("!" + text for text in self.exclude)])


def rendered(agent: str, receipts: "Iterable[Receipt]", bypass: str | None = None) -> tuple[str, ...]:
    """The trailer lines of one commit; none where there is nothing to say."""
    lines = []
    for one in receipts:
        lead = f"{LEASE}: {one.lease} store={one.store} fence={one.fence}"
        keys = "".join([" " + key for key in one.keys])
        tail = "".join([" !" + quoted(text) for text in one.exclude])
        text = ""
        for include in one.include:
            text += " " + quoted(include)
            if len(text) > LINE_AIM:
                lines.append(lead + keys + text + tail)
                text = ""
        if text or not one.include:
            lines.append(lead + keys + text + tail)
    if bypass is not None:
        lines.append(f"{BYPASS}: {plain_reason(bypass) or 'no reason was given'}")
    return (f"{AGENT}: {agent}", *lines) if lines else ()


def quoted(text: str) -> str:
    """A pattern as one word of a receipt."""
    if text and text[0] != "!" and BARE.issuperset(text):
        return text
    out = []
    for code in text.encode("utf-8", "surrogateescape"):
        if code in LETTERS:
            out.append(LETTERS[code])
        elif 0x20 <= code < 0x7F:
            out.append(chr(code))
        else:
            out.append(f"\\{code:03o}")
    return '"' + "".join(out) + '"'


def plain_reason(text: str) -> str:
    """A reason as part of one line."""
    return " ".join("".join([char if char.isprintable() else " " for char in text]).split())[:REASON_LIMIT]
