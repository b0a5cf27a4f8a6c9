"""What a team wants done: the map file as values. Reading and checking the file is ``gitlock.wiring.mapfile``."""

from gitlock.domain.footprint import Footprint
from gitlock.domain.pattern import Fold
from gitlock.domain.value import Value

MAP_FILE = ".gitlock.toml"
MAP_FILE_LIMIT = 1 << 20  # bytes

ENFORCE, WARN, OFF = "enforce", "warn", "off"
MODES = (ENFORCE, WARN, OFF)
SEVERITY = {OFF: 0, WARN: 1, ENFORCE: 2}


class KeyRule(Value):
    """One ``[[key]]`` of the map file. ``line`` is where it begins; ``mode`` and ``ttl`` are None where not set."""

    __slots__ = ("line", "mode", "name", "paths", "takes", "ttl")

    def __init__(
        self,
        name: str,
        paths: tuple[str, ...],
        takes: str = "parts",
        ttl: float | None = None,
        mode: str | None = None,
        line: int = 0,
    ) -> None:
        self.name = name
        self.paths = paths
        self.takes = takes
        self.ttl = ttl
        self.mode = mode
        self.line = line

    @property
    def footprint(self) -> Footprint:
        """The paths that it names; a ``!pattern`` among them excludes."""
        return Footprint.of(
            tuple(text for text in self.paths if text[:1] != "!"),
            tuple(text[1:] for text in self.paths if text[:1] == "!"),
        )


class Policy(Value):
    """The policy in force. ``source`` is where it came from (for messages), ``lines`` where each setting stands.

    ``override`` is ``git config gitlock.mode``, which stands above every mode of the file.
    """

    __slots__ = (
        "auto_ttl", "breaking", "grant_after", "humans", "keys", "lines", "mode", "on_error", "on_missing",
        "open_paths", "override", "publish", "receipts", "release_on", "source", "spawn", "ttl",
        "unclaimed", "verify",
    )  # fmt: skip

    def __init__(
        self,
        *,
        mode: str = ENFORCE,
        unclaimed: str = "reject",
        humans: str = ENFORCE,
        on_error: str = "closed",
        on_missing: str = "open",
        verify: str = "always",
        open_paths: tuple[str, ...] = (),
        receipts: bool = True,
        release_on: str = "never",
        publish: str = "push",
        grant_after: float | None = None,
        breaking: str = "reason",
        ttl: float = 3600.0,
        auto_ttl: float = 900.0,
        spawn: "dict[str, object] | None" = None,
        keys: tuple[KeyRule, ...] = (),
        source: str = "built in",
        lines: "dict[str, int] | None" = None,
        override: str | None = None,
    ) -> None:
        self.mode = mode
        self.unclaimed = unclaimed
        self.humans = humans
        self.on_error = on_error
        self.on_missing = on_missing
        self.verify = verify
        self.open_paths = open_paths
        self.receipts = receipts
        self.release_on = release_on
        self.publish = publish
        self.grant_after = grant_after
        self.breaking = breaking
        self.ttl = ttl
        self.auto_ttl = auto_ttl
        self.spawn = spawn or {}
        self.keys = keys
        self.source = source
        self.lines = lines or {}
        self.override = override

    def keys_of(self, path: str, fold: Fold) -> tuple[KeyRule, ...]:
        """The declared keys that a path belongs to."""
        if not self.keys:
            return ()
        from gitlock.domain.overlap import covers

        return tuple(rule for rule in self.keys if covers(rule.footprint, path, fold))

    def key_named(self, name: str, fold: Fold) -> KeyRule | None:
        """The declared key of that name."""
        wanted = name.lower() if fold.case else name
        for rule in self.keys:
            if (rule.name.lower() if fold.case else rule.name) == wanted:
                return rule
        return None

    def mode_for(self, kind: str, path: str | None, fold: Fold) -> str:
        """What a violation on ``path`` by an agent of this ``kind`` does.

        A declared key's own mode stands above the file's; where several keys meet, the strictest counts. For people
        it is the weaker of that and ``humans``.
        """
        if self.override is not None:
            return self.override
        own = [rule.mode for rule in self.keys_of(path, fold) if rule.mode] if path is not None and self.keys else []
        mode = max(own, key=SEVERITY.__getitem__) if own else self.mode
        if kind == "human" and SEVERITY[self.humans] < SEVERITY[mode]:
            return self.humans
        return mode

    def general_mode(self, kind: str) -> str:
        """The mode that holds where no declared key says otherwise."""
        return self.mode_for(kind, None, Fold(False, False))

    def is_open(self, path: str, fold: Fold) -> bool:
        """Whether anyone may change it unclaimed."""
        if not self.open_paths:
            return False
        from gitlock.domain.overlap import covers

        return covers(KeyRule("open", self.open_paths).footprint, path, fold)


BUILT_IN = Policy()
